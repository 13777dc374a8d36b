#!/usr/bin/env bash
# SQLite (apsw 3.54.1.0), NumPy 2.4.6, Polars 2.1.0, PyArrow 25.0.1 and DuckDB 1.5.6 beside Python: the same
# doubles rounded to two digits have three results: 5.095 is 5.09 or 5.1, 8.765 is 8.77 or 8.76, 1.645 is
# 1.65 or 1.64.
# Why it matters: a table rounded in the warehouse, in the report and in a check differs in its last digit,
# and the difference tells on which side of the half the true value is. Round once, in one place.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "apsw==3.54.1.0" "numpy==2.4.6" "polars==2.1.0" "pyarrow==25.0.1" "duckdb==1.5.6"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import apsw
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

values = [5.095, 8.765, 1.645]
by_sql = apsw.Connection(":memory:").execute
for name, rounded in (
    ("Python", [round(value, 2) for value in values]),
    ("SQLite", [by_sql("SELECT round(?, 2)", (value,)).fetchall()[0][0] for value in values]),
    ("NumPy", np.round(values, 2).tolist()),
    ("Polars", pl.Series(values).round(2).to_list()),
    ("PyArrow", pc.round(pa.array(values), 2).to_pylist()),
    ("DuckDB", [duckdb.execute("SELECT round(?::DOUBLE, 2)", [value]).fetchone()[0] for value in values]),
):
    print(name, rounded)
PY
diff "$folder/seen" - <<'SEEN'
Python [5.09, 8.77, 1.65]
SQLite [5.09, 8.77, 1.65]
NumPy [5.1, 8.76, 1.64]
Polars [5.1, 8.76, 1.64]
PyArrow [5.1, 8.76, 1.64]
DuckDB [5.1, 8.77, 1.65]
SEEN
