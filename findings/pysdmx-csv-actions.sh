#!/usr/bin/env bash
# pysdmx 1.21.0: of an SDMX-CSV file with rows to append and rows to delete (ACTION I and D), read_sdmx
# returns those of one action only. The others are in no data set of the message.
# Why it matters: a correction deletes a cell that was sent by mistake. The deletion is lost without an
# error, and the cell stays in the publication.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pysdmx[data]==1.21.0"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import os
import tempfile

from pysdmx.io import read_sdmx

path = os.path.join(tempfile.mkdtemp(), "data.csv")
with open(path, "w") as file:
    file.write("STRUCTURE,STRUCTURE_ID,ACTION,REF_AREA,OBS_VALUE\n")
    for action, country in (("I", "AT"), ("I", "BE"), ("D", "CY")):
        file.write(f"dataflow,ESTAT:DF_SBS(1.0),{action},{country},5\n")
for data in read_sdmx(path).data:
    print(data.action, data.data["REF_AREA"].tolist())
PY
diff "$folder/seen" - <<'SEEN'
Information ['AT', 'BE']
SEEN
