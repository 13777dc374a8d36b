#!/usr/bin/env bash
# pandas 3.1.1: where each line of a CSV ends with one separator more than the header, read_csv shifts the
# columns: codes become the index, values stand under the name of the code.
# Why it matters: spreadsheets write such lines. No exception: the column obs_value is empty and the column
# nace holds the values, so a check of the values passes on nothing.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pandas==3.1.1"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import io

import pandas as pd

file = "nace,obs_value\nC10,1.5,\nC11,2.5,\n"
print(pd.read_csv(io.StringIO(file)).to_string())
print(pd.read_csv(io.StringIO(file), index_col=False).to_string())
PY
diff "$folder/seen" - <<'SEEN'
     nace  obs_value
C10   1.5        NaN
C11   2.5        NaN
  nace  obs_value
0  C10        1.5
1  C11        2.5
SEEN
