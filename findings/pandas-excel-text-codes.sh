#!/usr/bin/env bash
# pandas 3.1.1 with openpyxl 3.1.5: read_excel turns text cells into numbers: a column of the texts 01, 02
# and 10 is read as 1, 2, 10, although the workbook says that they are texts.
# Why it matters: offices format code columns as text to keep their zeros. The file keeps them, the reader
# does not: activity 01 is not found in the code list, or 01.1 and 01.10 become one cell.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pandas==3.1.1" "openpyxl==3.1.5"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import os
import tempfile

import openpyxl
import pandas as pd

path = os.path.join(tempfile.mkdtemp(), "delivery.xlsx")
book = openpyxl.Workbook()
for row in (("nace", "class"), ("01", "01.1"), ("02", "01.10"), ("10", "10.2")):
    book.active.append(row)
book.save(path)
print("kinds of cells:", {cell.data_type for row in openpyxl.load_workbook(path).active for cell in row})
print(pd.read_excel(path).to_dict("list"))
PY
diff "$folder/seen" - <<'SEEN'
kinds of cells: {'s'}
{'nace': [1, 2, 10], 'class': [1.1, 1.1, 10.2]}
SEEN
