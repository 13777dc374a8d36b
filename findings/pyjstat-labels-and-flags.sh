#!/usr/bin/env bash
# pyjstat 2.4.0: a JSON-stat cube as a data frame has labels in place of codes and no status, so two codes
# with the same label are the same cell twice, and a flag of secrecy is gone.
# Why it matters: written again as JSON-stat, the labels are the codes and the flags are lost: a
# confidential cell without a value looks like one that was never asked for.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pyjstat==2.4.0"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import json

from pyjstat import pyjstat

cube = {
    "version": "2.0", "class": "dataset", "id": ["nace"], "size": [2], "value": [1.5, None], "status": {"1": "c"},
    "dimension": {"nace": {"label": "nace", "category": {
        "index": ["C10.9", "C20.9"], "label": {"C10.9": "Other", "C20.9": "Other"}}}},
}
frame = pyjstat.Dataset.read(json.dumps(cube)).write("dataframe")
print(frame.to_dict("list"))
again = json.loads(pyjstat.Dataset.read(frame).write())
print(again["dimension"]["nace"]["category"]["index"], "status" in again)
PY
diff "$folder/seen" - <<'SEEN'
{'nace': ['Other', 'Other'], 'value': [1.5, nan]}
{'Other': 0} False
SEEN
