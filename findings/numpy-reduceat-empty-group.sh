#!/usr/bin/env bash
# numpy 2.4.6: add.reduceat gives a group without members not 0, but the first value of the next group.
# Why it matters: totals by branch of a sorted table are sums of slices. A branch without cells gets the
# value of one cell of its neighbour, which may be confidential, and is published as a total.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "numpy==2.4.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import numpy as np

values, starts = np.array([10.0, 20.0, 30.0, 40.0]), [0, 2, 2]
print("members:", [values[a:b].tolist() for a, b in zip(starts, [*starts[1:], len(values)])])
print("totals:", np.add.reduceat(values, starts).tolist())
PY
diff "$folder/seen" - <<'SEEN'
members: [[10.0, 20.0], [], [30.0, 40.0]]
totals: [30.0, 30.0, 70.0]
SEEN
