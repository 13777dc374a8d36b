#!/usr/bin/env bash
# highspy 1.15.1: its primal simplex method calls the least value of a cell, which is at least 0, unbounded
# once the totals of the table reach some 1e9; the dual method does not.
# Why it matters: who reads unbounded as the attacker learns nothing calls a cell protected. A cost that is
# never negative cannot be unbounded below: check a status by arithmetic.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "highspy==1.15.1" "numpy==2.4.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
from collections import Counter

import highspy
import numpy as np

ROWS, COLUMNS = 12, 10
CELLS = ROWS * COLUMNS
table = np.random.default_rng(1).integers(1, 1000, (ROWS, COLUMNS)).astype(float)
for unit in (1.0, 1e6):
    for method, number in (("dual", 1), ("primal", 4)):
        solver, found = highspy.Highs(), Counter()
        for option, value in (
            ("output_flag", False), ("solver", "simplex"), ("simplex_strategy", number), ("presolve", "off")
        ):
            solver.setOptionValue(option, value)
        for _ in range(CELLS):
            solver.addVar(0, highspy.kHighsInf)
        for at in (*np.arange(CELLS).reshape(ROWS, COLUMNS), *np.arange(CELLS).reshape(ROWS, COLUMNS).T):
            total = table.flat[at].sum() * unit
            solver.addRow(total, total, len(at), at.astype(np.int32), np.ones(len(at)))
        for cell in range(0, CELLS, 7):
            solver.changeColsCost(CELLS, np.arange(CELLS, dtype=np.int32), np.eye(CELLS)[cell])
            solver.run()
            found[solver.getModelStatus().name] += 1
        print(f"totals near {table.sum(axis=0).mean() * unit:.0e}, {method}:", dict(sorted(found.items())))
PY
diff "$folder/seen" - <<'SEEN'
totals near 6e+03, dual: {'kOptimal': 18}
totals near 6e+03, primal: {'kOptimal': 18}
totals near 6e+09, dual: {'kOptimal': 18}
totals near 6e+09, primal: {'kOptimal': 16, 'kUnbounded': 2}
SEEN
