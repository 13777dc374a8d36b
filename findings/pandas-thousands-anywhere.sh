#!/usr/bin/env bash
# pandas 3.1.1: read_csv with thousands='.' removes each point wherever it stands: 1.23 is read as 123, and
# the code 01.1 as 11.
# Why it matters: one figure with a decimal point in a file with decimal commas is a hundred times too
# large, without a warning; dotted codes of activities become other codes.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pandas==3.1.1"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import io

import pandas as pd

file = "nace;value\n01.1;1.234,5\n10.2;1.23\n"
print(pd.read_csv(io.StringIO(file), sep=";", decimal=",", thousands=".").to_dict("list"))
PY
diff "$folder/seen" - <<'SEEN'
{'nace': [11, 102], 'value': [1234.5, 123.0]}
SEEN
