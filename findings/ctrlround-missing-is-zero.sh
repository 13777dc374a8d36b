#!/usr/bin/env bash
# CtrlRound 0.6.0: a cell without a value is rounded to 0 and counts as 0 in its margins, without a warning.
# Why it matters: a withheld cell goes out as a zero, and the totals beside it are too small by it. Readers
# take a printed zero for a true one.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "ctrlround==0.6.0" "pandas==3.1.1" "numpy==2.4.6"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import contextlib
import io

import pandas as pd
from CtrlRound import ctrl_round

table = pd.DataFrame({"r": list("AABB"), "c": list("xyxy"), "v": [None, 13.0, 21.0, 34.0]})
with contextlib.redirect_stdout(io.StringIO()):
    found = ctrl_round(table, by=["r", "c"], var="v", margins=[["r"], ["c"], []], rounding_base=5)
print(found["rounded_table"].sort_values(["r", "c"])["v"].tolist())
print(found["rounded_margins"].set_index("r").loc["A", "v"])
PY
diff "$folder/seen" - <<'SEEN'
[0.0, 15.0, 20.0, 35.0]
15.0
SEEN
