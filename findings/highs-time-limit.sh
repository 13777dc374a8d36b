#!/usr/bin/env bash
# highspy 1.15.1: the time limit of a linear program counts all solves of the object before it. Once they
# have taken that long, each later solve ends at once, without a step.
# Why it matters: an attacker model that is solved once a cell gives up on all cells after the first minute,
# if each was to have a minute. Add the run time so far to the limit; for an integer program the count
# begins anew.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "numpy==2.4.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import highspy
import numpy as np

draw, solver = np.random.default_rng(1), highspy.Highs()
solver.setOptionValue("output_flag", False)
for cost in draw.integers(1, 99, 300):
    solver.addVar(0, highspy.kHighsInf)
    solver.changeColCost(solver.getNumCol() - 1, float(cost))
for least in draw.integers(1, 1000, 200):
    at = np.sort(draw.choice(300, 30, replace=False)).astype(np.int32)
    solver.addRow(float(least), highspy.kHighsInf, 30, at, draw.uniform(0.5, 2, 30))
print("first:", solver.run(), solver.getModelStatus())
spent = solver.getRunTime()
for name, limit in (("half the time spent so far", spent / 2), ("a minute more", spent + 60)):
    solver.setOptionValue("time_limit", limit)
    solver.changeColCost(0, 1.0)
    print(f"limit {name}:", solver.run(), solver.getModelStatus())
PY
diff "$folder/seen" - <<'SEEN'
first: HighsStatus.kOk HighsModelStatus.kOptimal
limit half the time spent so far: HighsStatus.kWarning HighsModelStatus.kTimeLimit
limit a minute more: HighsStatus.kOk HighsModelStatus.kOptimal
SEEN
