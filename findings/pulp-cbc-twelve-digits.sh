#!/usr/bin/env bash
# PuLP 3.3.2 with its CBC: the model goes to the solver with twelve significant digits; with HiGHS it goes
# there whole.
# Why it matters: the right-hand sides of a table in cents have more digits. The solved relations are others
# than those stated: a difference of 0.25 is lost before the solver starts, and its optimum is that of
# another table.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2" "highspy==1.15.1"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import pulp

for name, solver in (("CBC", pulp.PULP_CBC_CMD(msg=False)), ("HiGHS", pulp.HiGHS(msg=False))):
    problem = pulp.LpProblem("difference", pulp.LpMinimize)
    total, rest = pulp.LpVariable("total", 1234567890124), pulp.LpVariable("rest")
    problem += rest
    problem += rest >= total - 1234567890123.75
    problem.solve(solver)
    print(name, pulp.LpStatus[problem.status], rest.value())
PY
diff "$folder/seen" - <<'SEEN'
CBC Optimal 0.0
HiGHS Optimal 0.25
SEEN
