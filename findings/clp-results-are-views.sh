#!/usr/bin/env bash
# cylp 0.94.1 (Clp): a solution that was read is a view of the solver's memory. The next solve writes over
# it.
# Why it matters: an attack keeps the least and the greatest value of each cell. Kept without a copy, both
# are those of the last solve: the interval looks narrower or wider than it is.
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
bounds = [np.array([value]) for value in (0.0, 10.0, 1.0, 2.0, 1e100)]
clp.loadProblem(CyCoinPackedMatrix(True, row, column, np.array([1.0])), *bounds)
clp.primal()
least = clp.primalVariableSolution
print("least value:", float(least[0]))
clp.setObjectiveCoefficient(0, -1.0)
clp.primal()
print("least value, after a solve for the greatest:", float(least[0]))
PY
diff "$folder/seen" - <<'SEEN'
least value: 2.0
least value, after a solve for the greatest: 10.0
SEEN
