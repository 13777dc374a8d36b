#!/usr/bin/env bash
# numpy 2.4.6 and pandas 3.1.1: the sum of the same columns differs with the layout in memory (rows or
# columns first), and a frame's sum differs from that of its array.
# Why it matters: a total recomputed elsewhere differs in its last digits, so a check of additivity by ==
# fails, and a figure next to a half is rounded otherwise. Compare within a tolerance, or sum exactly
# (math.fsum).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "numpy==2.4.6" "pandas==3.1.1"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import math

import numpy as np
import pandas as pd

cents = np.random.default_rng(1).integers(1, 10**6, (1000, 8)) / 100
exact = [math.fsum(column) for column in cents.T]
for name, sums in (
    ("rows first", cents.sum(axis=0)),
    ("columns first", np.asfortranarray(cents).sum(axis=0)),
    ("a frame", pd.DataFrame(cents).sum().to_numpy()),
):
    same, all_exact = bool((sums == cents.sum(axis=0)).all()), sums.tolist() == exact
    print(f"{name}: same as rows first: {same}; exact: {all_exact}")
PY
diff "$folder/seen" - <<'SEEN'
rows first: same as rows first: True; exact: False
columns first: same as rows first: False; exact: False
a frame: same as rows first: False; exact: False
SEEN
