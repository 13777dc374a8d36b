#!/usr/bin/env bash
# highspy 1.15.1: the upper bound of a semi-continuous variable is cut at 1e5, and a feasible model is called
# infeasible. Every call returns "ok"; only the log, if it is shown, warns.
# Why it matters: "a cell stays or moves by at least its level" is a semi-continuous variable, and values of
# business statistics are above 1e5. Use a binary with a bound of your own.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "numpy<3"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import highspy
import numpy as np

for upper, least in ((9e4, 8e4), (2e5, 1.5e5), (highspy.kHighsInf, 1.5e5)):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.addVar(50.0, upper)
    solver.changeColIntegrality(0, highspy.HighsVarType.kSemiContinuous)
    solver.changeColCost(0, 1.0)
    solver.addRow(least, highspy.kHighsInf, 1, np.array([0], dtype=np.int32), np.array([1.0]))
    print(f"x = 0 or 50 ≤ x ≤ {upper:g}; x ≥ {least:g}:", solver.run(), solver.getModelStatus())
PY
diff "$folder/seen" - <<'SEEN'
x = 0 or 50 ≤ x ≤ 90000; x ≥ 80000: HighsStatus.kOk HighsModelStatus.kOptimal
x = 0 or 50 ≤ x ≤ 200000; x ≥ 150000: HighsStatus.kOk HighsModelStatus.kInfeasible
x = 0 or 50 ≤ x ≤ inf; x ≥ 150000: HighsStatus.kOk HighsModelStatus.kInfeasible
SEEN
