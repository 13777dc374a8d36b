#!/usr/bin/env bash
# DuckDB 1.5.6: a CSV column that holds only the flag F is read as a boolean, and each F as false; with one
# C in the column, all stay text.
# Why it matters: F is SDMX's code for a free cell (CL_CONF_STATUS). A delivery in which no cell is
# confidential reads as one without flags, or with flags that no code list has, while the test delivery,
# which has a C, reads well.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "duckdb==1.5.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import os
import tempfile

import duckdb

for flags in ("FFF", "FFC"):
    path = os.path.join(tempfile.mkdtemp(), "delivery.csv")
    with open(path, "w") as file:
        file.write("geo,conf_status,obs_value\n")
        file.writelines(f"{geo},{flag},1.5\n" for geo, flag in zip(("AT", "BE", "CY"), flags))
    print(flags, duckdb.sql(f"SELECT conf_status FROM read_csv('{path}')").fetchall())
PY
diff "$folder/seen" - <<'SEEN'
FFF [(False,), (False,), (False,)]
FFC [('F',), ('F',), ('C',)]
SEEN
