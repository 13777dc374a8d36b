#!/usr/bin/env bash
# highspy 1.15.1: after a solve that ends as infeasible, the solution and the objective are still those of
# the solve before; that they are not valid is told elsewhere.
# Why it matters: an attack solves one model thousands of times with other bounds. A bound read without its
# status is that of another cell, and looks like any other.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "numpy<3"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import highspy
import numpy as np

solver = highspy.Highs()
solver.setOptionValue("output_flag", False)
solver.addVar(0, 30)
solver.changeColCost(0, 1.0)
solver.addRow(4, highspy.kHighsInf, 1, np.array([0], dtype=np.int32), np.array([1.0]))
for upper in (30, 3):
    solver.changeColBounds(0, 0, upper)
    solver.run()
    solution, objective = solver.getSolution(), solver.getInfo().objective_function_value
    print(f"at most {upper}, at least 4:", solver.getModelStatus(), solution.col_value, objective)
PY
diff "$folder/seen" - <<'SEEN'
at most 30, at least 4: HighsModelStatus.kOptimal [4.0] 4.0
at most 3, at least 4: HighsModelStatus.kInfeasible [4.0] 4.0
SEEN
