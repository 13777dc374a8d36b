#!/usr/bin/env bash
# pandas 3.1.1: pivot_table and crosstab with aggfunc sum show a cell whose only value is missing as 0, and
# its margin, if all cells of the row are missing, as NaN.
# Why it matters: suppressed cells are missing values. In the pivot they are published as zeros, which no
# reader can tell from true ones; the total beside two zeros is missing.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pandas==3.1.1"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import pandas as pd

table = pd.DataFrame({"geo": ["AT", "AT", "BE", "BE"], "nace": ["C", "D"] * 2, "v": [None, None, 4.0, 8.0]})
print(table["v"].tolist())
print(table.pivot_table(index="geo", columns="nace", values="v", aggfunc="sum", margins=True).to_string())
PY
diff "$folder/seen" - <<'SEEN'
[nan, nan, 4.0, 8.0]
nace    C    D   All
geo                 
AT    0.0  0.0   NaN
BE    4.0  8.0  12.0
All   4.0  8.0  12.0
SEEN
