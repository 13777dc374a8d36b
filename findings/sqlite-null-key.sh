#!/usr/bin/env bash
# SQLite (apsw 3.54.1.0): a TEXT PRIMARY KEY takes NULL, and takes it again. Other databases refuse it; so
# does a WITHOUT ROWID table.
# Why it matters: a cell without a code enters the warehouse, twice, beside a key that was to make cells
# unique. Totals over the table count it; joins by the key lose it. Say NOT NULL.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "apsw==3.54.1.0"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import apsw

query = apsw.Connection(":memory:").execute
for kind in ("", " WITHOUT ROWID"):
    query("DROP TABLE IF EXISTS cell")
    query(f"CREATE TABLE cell (code TEXT PRIMARY KEY, amount REAL){kind}")
    try:
        for amount in (1.0, 2.0):
            query("INSERT INTO cell VALUES (NULL, ?)", (amount,))
    except apsw.ConstraintError as error:
        print(type(error).__name__, end=" ")
    print(kind.strip() or "plain:", query("SELECT count(*) FROM cell").fetchall()[0][0], "cells without a key")
PY
diff "$folder/seen" - <<'SEEN'
plain: 2 cells without a key
ConstraintError WITHOUT ROWID 0 cells without a key
SEEN
