#!/usr/bin/env bash
# highspy 1.15.1: a model that is written to a file (MPS or LP) and read again has 15 significant digits, so
# bounds and coefficients change.
# Why it matters: a model kept as the proof of a bound is not the model that was solved: right-hand sides
# change, and a table at the edge of its interval can become infeasible.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "numpy<3"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import os
import tempfile

import highspy
import numpy as np

total, share = 1234567890.1234567, 1 / 3
for kind in ("mps", "lp"):
    solver, again = highspy.Highs(), highspy.Highs()
    for each in (solver, again):
        each.setOptionValue("output_flag", False)
    solver.addVar(0, highspy.kHighsInf)
    solver.addRow(total, highspy.kHighsInf, 1, np.array([0], dtype=np.int32), np.array([share]))
    path = os.path.join(tempfile.mkdtemp(), "model." + kind)
    print(kind, solver.writeModel(path), again.readModel(path), end=": ")
    read = again.getLp()
    print([float(read.row_lower_[0]) == total, float(read.a_matrix_.value_[0]) == share])
PY
diff "$folder/seen" - <<'SEEN'
mps HighsStatus.kWarning HighsStatus.kOk: [False, False]
lp HighsStatus.kWarning HighsStatus.kOk: [False, False]
SEEN
