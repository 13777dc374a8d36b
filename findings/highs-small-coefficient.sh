#!/usr/bin/env bash
# highspy 1.15.1: a coefficient of at most 1e-9 is dropped from the row. The call returns a warning, the
# solve is optimal, and its point breaks the row.
# Why it matters: shares and exchange rates between units of money can be that small: a relation in euros
# between figures in billions loses a part, and a table that breaks it is called optimal.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "numpy<3"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import highspy
import numpy as np

for coefficient in (1.1e-9, 1e-9):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for cost, upper in ((1.0, 4e9), (10.0, 10.0)):
        solver.addVar(0, upper)
        solver.changeColCost(solver.getNumCol() - 1, cost * 1e-9)
    at, entries = np.array([0, 1], dtype=np.int32), np.array([coefficient, 1.0])
    print(f"{coefficient:g} x + y = 3, x at least 1e9:", solver.addRow(3, 3, 2, at, entries))
    solver.changeColBounds(0, 1e9, 4e9)
    solver.run()
    x, y = solver.getSolution().col_value
    print(solver.getModelStatus(), "the left side is", round(coefficient * x + y, 3))
PY
diff "$folder/seen" - <<'SEEN'
1.1e-09 x + y = 3, x at least 1e9: HighsStatus.kOk
HighsModelStatus.kOptimal the left side is 3.0
1e-09 x + y = 3, x at least 1e9: HighsStatus.kWarning
HighsModelStatus.kOptimal the left side is 4.0
SEEN
