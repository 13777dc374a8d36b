#!/usr/bin/env bash
# SQLite (apsw 3.54.1.0): a column of type STRING stores the text '01' as the number 1 and '1E5' as 100000;
# a DECIMAL(18,2) loses cents beyond 15 digits. TEXT keeps what it is given.
# Why it matters: 01 and 1 are different activities, or the same cell written twice. Codes in a STRING
# column lose their zeros when they are stored, so no later check can see it.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "apsw==3.54.1.0"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import apsw

query = apsw.Connection(":memory:").execute
query("CREATE TABLE cell (code STRING, kept TEXT, amount DECIMAL(18, 2))")
for code in ("01", "1E5", "C10"):
    query("INSERT INTO cell VALUES (?, ?, ?)", (code, code, "12345678901234567.89"))
for row in query("SELECT kept, code, typeof(code), amount FROM cell"):
    print(row)
PY
diff "$folder/seen" - <<'SEEN'
('01', 1, 'integer', 12345678901234568)
('1E5', 100000, 'integer', 12345678901234568)
('C10', 'C10', 'text', 12345678901234568)
SEEN
