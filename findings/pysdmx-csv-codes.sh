#!/usr/bin/env bash
# pysdmx 1.21.0: read_sdmx guesses the kinds of SDMX-CSV columns and turns them back into text: the code 01
# is read as 1, 01.1 and 01.10 both as 1.1, 1E1 as 10.0. One code with a letter in the column keeps all of
# them.
# Why it matters: codes are text in SDMX. Where all codes of a column look like numbers, activities are not
# found in the code list, or two cells become one; a delivery with another activity in it reads well.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pysdmx[data]==1.21.0"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import os
import tempfile

from pysdmx.io import read_sdmx

HEADER = "STRUCTURE,STRUCTURE_ID,ACTION,ACTIVITY,OBS_VALUE"
for codes in (("01", "02", "10"), ("01.1", "01.10", "47.9"), ("1E1", "2E1", "3E1"), ("01", "02", "C10")):
    path = os.path.join(tempfile.mkdtemp(), "data.csv")
    with open(path, "w") as file:
        file.write("\n".join([HEADER, *(f"dataflow,ESTAT:DF_SBS(1.0),I,{code},5" for code in codes), ""]))
    print(codes, read_sdmx(path).data[0].data["ACTIVITY"].tolist())
PY
diff "$folder/seen" - <<'SEEN'
('01', '02', '10') ['1', '2', '10']
('01.1', '01.10', '47.9') ['1.1', '1.1', '47.9']
('1E1', '2E1', '3E1') ['10.0', '20.0', '30.0']
('01', '02', 'C10') ['01', '02', 'C10']
SEEN
