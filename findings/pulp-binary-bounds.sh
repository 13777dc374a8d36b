#!/usr/bin/env bash
# PuLP 3.3.2: a variable of category Binary gets the bounds 0 and 1, whatever bounds it is made with.
# Why it matters: a model that fixes a sense, a rounding direction or a cell by the bounds of a binary is not
# the model that is solved. The answer is called optimal, and breaks the bounds. An integer keeps its bounds.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import pulp

for category in (pulp.LpBinary, pulp.LpInteger):
    problem = pulp.LpProblem("fixed", pulp.LpMinimize)
    fixed = pulp.LpVariable("fixed_at_0", 0, 0, category)
    problem += -fixed
    problem.solve(pulp.PULP_CBC_CMD(msg=False))
    print(category, pulp.LpStatus[problem.status], fixed.lowBound, fixed.upBound, fixed.value())
PY
diff "$folder/seen" - <<'SEEN'
Binary Optimal 0 1 1.0
Integer Optimal 0 0 0.0
SEEN
