#!/usr/bin/env bash
# PuLP 3.3.2 with its CBC: a solution comes back with eight significant digits; with HiGHS it comes back whole.
# Why it matters: an adjusted or rounded table that is read from such a solution does not add up, and a level
# that was met by a small margin is not. Solve the linear program again with the integers fixed, or round.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2" "highspy==1.15.1"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import pulp

for name, solver in (("CBC", pulp.PULP_CBC_CMD(msg=False)), ("HiGHS", pulp.HiGHS(msg=False))):
    problem = pulp.LpProblem("total", pulp.LpMinimize)
    x = pulp.LpVariable("x", 0)
    problem += x
    problem += x >= 123456789.25
    problem.solve(solver)
    print(name, pulp.LpStatus[problem.status], x.value())
PY
diff "$folder/seen" - <<'SEEN'
CBC Optimal 123456790.0
HiGHS Optimal 123456789.25
SEEN
