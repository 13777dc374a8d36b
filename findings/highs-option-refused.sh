#!/usr/bin/env bash
# highspy 1.15.1: an option that the wheel cannot honour is refused in a return value alone; the solve goes on.
# Why it matters: whoever asks for the interior-point solver HiPO (or mistypes an option) gets the default
# solver and the answer "optimal", without an exception or a line on the console. Read every return value.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "numpy<3"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import highspy
import numpy as np

solver = highspy.Highs()
solver.setOptionValue("output_flag", False)
print("solver=hipo:", solver.setOptionValue("solver", "hipo"), "stays", solver.getOptionValue("solver")[1])
print("an unknown option:", solver.setOptionValue("no_such_option", 1.0))
solver.addVar(0, 10)
solver.changeColCost(0, -1.0)
solver.addRow(-highspy.kHighsInf, 4, 1, np.array([0], dtype=np.int32), np.array([1.0]))
print(solver.run(), solver.getModelStatus(), solver.getInfo().objective_function_value)
PY
diff "$folder/seen" - <<'SEEN'
solver=hipo: HighsStatus.kError stays choose
an unknown option: HighsStatus.kError
HighsStatus.kOk HighsModelStatus.kOptimal -4.0
SEEN
