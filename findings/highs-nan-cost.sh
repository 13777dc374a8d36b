#!/usr/bin/env bash
# highspy 1.15.1 and PySCIPOpt 6.3.0: a cost that is NaN is accepted; the solve ends as optimal, and the
# cell with that cost is at an arbitrary bound.
# Why it matters: a weight is often 1 divided by a value, or comes from a table with gaps. One missing
# weight does not stop the search for a table, and nothing in the status tells that the optimum means
# nothing.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "pyscipopt==6.3.0" "numpy<3"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import math

import highspy
import pyscipopt

solver = highspy.Highs()
solver.setOptionValue("output_flag", False)
solver.addVar(2, 10)
print("HiGHS:", solver.changeColCost(0, math.nan), solver.run(), solver.getModelStatus())

model = pyscipopt.Model()
model.hideOutput()
cell = model.addVar(lb=2, ub=10, obj=math.nan)
model.optimize()
print("SCIP:", model.getStatus(), "NaN" if math.isnan(model.getObjVal()) else "a number")
PY
diff "$folder/seen" - <<'SEEN'
HiGHS: HighsStatus.kOk HighsStatus.kOk HighsModelStatus.kOptimal
SCIP: optimal NaN
SEEN
