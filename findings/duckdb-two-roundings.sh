#!/usr/bin/env bash
# DuckDB 1.5.6: a cast to an integer rounds the literal 2.5 to 3 and the same number as DOUBLE to 2; round()
# gives 3 for both.
# Why it matters: counts from a file are DECIMAL or DOUBLE as its first lines decide. The same half is
# rounded up in one delivery and down in the next, and margins rounded so do not agree.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "duckdb==1.5.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import duckdb

for value in ("0.5", "1.5", "2.5"):
    casts = duckdb.sql(f"SELECT {value}::INTEGER, {value}::DOUBLE::INTEGER, round({value}::DOUBLE)").fetchone()
    print(value, "as DECIMAL, as DOUBLE, round():", casts)
PY
diff "$folder/seen" - <<'SEEN'
0.5 as DECIMAL, as DOUBLE, round(): (1, 0, 1.0)
1.5 as DECIMAL, as DOUBLE, round(): (2, 2, 2.0)
2.5 as DECIMAL, as DOUBLE, round(): (3, 2, 3.0)
SEEN
