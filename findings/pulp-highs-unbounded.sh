#!/usr/bin/env bash
# PuLP 3.3.2 with HiGHS 1.15.1: an integer program without a bound is reported as infeasible; with CBC it is
# reported as unbounded.
# Why it matters: in an attack, unbounded means that a reader learns nothing, infeasible that the published
# figures contradict one another. The two ask for opposite actions, and one solver's word stands for both.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2" "highspy==1.15.1"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import pulp

for name, solver in (("CBC", pulp.PULP_CBC_CMD(msg=False)), ("HiGHS", pulp.HiGHS(msg=False))):
    for category in (pulp.LpContinuous, pulp.LpInteger):
        problem = pulp.LpProblem("least", pulp.LpMinimize)
        cell = pulp.LpVariable("cell", cat=category)
        problem += cell
        problem += cell <= 3
        problem.solve(solver)
        print(name, category, pulp.LpStatus[problem.status])
PY
diff "$folder/seen" - <<'SEEN'
CBC Continuous Unbounded
CBC Integer Unbounded
HiGHS Continuous Unbounded
HiGHS Integer Infeasible
SEEN
