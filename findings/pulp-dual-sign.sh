#!/usr/bin/env bash
# PuLP 3.3.2: the multiplier (pi) of a row of a maximisation has one sign with CBC and the opposite sign
# with HiGHS 1.15.1; of a minimisation they agree.
# Why it matters: the upper bound of a cell is proved by the multipliers of the published relations. With
# the other solver the same arithmetic proves nothing, or a false bound. State each bound as a minimisation.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2" "highspy==1.15.1"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import pulp

for sense, sign in ((pulp.LpMinimize, 1), (pulp.LpMaximize, -1)):
    for name, solver in (("CBC", pulp.PULP_CBC_CMD(msg=False)), ("HiGHS", pulp.HiGHS(msg=False))):
        problem = pulp.LpProblem("price", sense)
        cell = pulp.LpVariable("cell", 0)
        problem += 3 * cell
        problem += sign * cell >= sign * 2, "limit"
        problem.solve(solver)
        print(pulp.LpSenses[sense], name, cell.value(), "multiplier", problem.constraints["limit"].pi)
PY
diff "$folder/seen" - <<'SEEN'
Minimize CBC 2.0 multiplier 3.0
Minimize HiGHS 2.0 multiplier 3.0
Maximize CBC 2.0 multiplier -3.0
Maximize HiGHS 2.0 multiplier 3.0
SEEN
