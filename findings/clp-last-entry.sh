#!/usr/bin/env bash
# cylp 0.94.1 (Clp): a model has as many rows and columns as its last entry says. Rows and columns without
# entries at the end vanish, bounds and all, without a word.
# Why it matters: a relation whose cells are all published has no entry in the attacker's model, only a
# right-hand side. Where that contradicts the rest, Clp answers optimal; where a column is last, the answer
# has fewer cells.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "cylp==0.94.1" "numpy==2.4.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import numpy as np
from cylp.cy import CyClpSimplex, CyCoinPackedMatrix

row, column = (np.array([0], dtype=np.int32) for _ in range(2))
clp = CyClpSimplex()
clp.logLevel = 0
lower, upper, cost = np.array([0.0, 3.0]), np.array([10.0, 10.0]), np.array([1.0, 1.0])
least, most = np.array([2.0, 1.0]), np.array([1e100, 1e100])  # the second row is 0 >= 1
clp.loadProblem(CyCoinPackedMatrix(True, row, column, np.array([1.0])), lower, upper, cost, least, most)
print("2 rows, 2 columns stated;", clp.nRows, "row,", clp.nCols, "column solved:", clp.primal())
print("x =", clp.primalVariableSolution.tolist())
PY
diff "$folder/seen" - <<'SEEN'
2 rows, 2 columns stated; 1 row, 1 column solved: optimal
x = [2.0]
SEEN
