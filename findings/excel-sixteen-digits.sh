#!/usr/bin/env bash
# openpyxl 3.1.5 and XlsxWriter 3.3.1: numbers go into a workbook with 16 significant digits, so pandas
# 3.1.1 reads back a third of these values as other numbers than were written.
# Why it matters: a table that went through a workbook is not the table that was certified: digests differ,
# and sums of its cells miss the published totals by a last digit.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "openpyxl==3.1.5" "xlsxwriter==3.3.1" "pandas==3.1.1" "numpy==2.4.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import os
import tempfile

import numpy as np
import pandas as pd

values = pd.DataFrame({"v": np.random.default_rng(1).integers(1, 2**53, 1000) / 2**40})
for engine in ("openpyxl", "xlsxwriter"):
    path = os.path.join(tempfile.mkdtemp(), "table.xlsx")
    values.to_excel(path, index=False, engine=engine)
    print(f"{engine}: {int((pd.read_excel(path)['v'] != values['v']).sum())} of {len(values)} changed")
PY
diff "$folder/seen" - <<'SEEN'
openpyxl: 317 of 1000 changed
xlsxwriter: 317 of 1000 changed
SEEN
