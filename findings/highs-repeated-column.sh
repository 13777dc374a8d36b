#!/usr/bin/env bash
# highspy 1.15.1: a row that names a column twice is not summed, as Clp and SciPy sum it, but refused in a
# return value alone; the model is solved without the row.
# Why it matters: a cell that stands in a relation twice (once for each of two linked codes) takes the whole
# relation out of the attacker's model, and the bounds found are wider than what a reader can compute.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "scipy==1.17.1" "numpy<3"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import highspy
import numpy as np
from scipy.sparse import coo_array

solver = highspy.Highs()
solver.setOptionValue("output_flag", False)
solver.addVar(0, 10)
solver.changeColCost(0, -1.0)
print("x + x = 4:", solver.addRow(4, 4, 2, np.array([0, 0], dtype=np.int32), np.array([1.0, 1.0])))
print(solver.getNumRow(), "rows,", solver.run(), solver.getModelStatus(), solver.getSolution().col_value)
print("SciPy:", coo_array(([1.0, 1.0], ([0, 0], [0, 0]))).tocsr().toarray())
PY
diff "$folder/seen" - <<'SEEN'
x + x = 4: HighsStatus.kError
0 rows, HighsStatus.kOk HighsModelStatus.kOptimal [10.0]
SciPy: [[2.]]
SEEN
