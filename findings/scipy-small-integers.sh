#!/usr/bin/env bash
# SciPy 1.17.1: the product of two sparse matrices of 8-bit integers stays in 8 bits and wraps round; their
# sum() does not.
# Why it matters: which cell is part of which total is a matrix of ones, kept small. How many cells two
# totals share, or a chain of totals, is a product of two: 200 becomes -56.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "scipy==1.17.1" "numpy==2.4.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import numpy as np
from scipy.sparse import csr_array

total = csr_array(np.ones((1, 200), dtype=np.int8))
print("sum:", total.sum(), "product:", (total @ total.T).toarray().tolist())
PY
diff "$folder/seen" - <<'SEEN'
sum: 200 product: [[-56]]
SEEN
