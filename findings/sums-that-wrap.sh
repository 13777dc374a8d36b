#!/usr/bin/env bash
# Polars 2.1.0 and PyArrow 25.0.1: the sum of 32-bit integers in Polars and of 64-bit integers in PyArrow
# wraps round to a negative number without an error; Polars sums 8 bits in 64.
# Why it matters: a column of values in euros of 32 bits is common, and its total is not. A negative total
# is at least seen; one that wrapped twice is not.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "polars==2.1.0" "pyarrow==25.0.1"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

for kind, most in ((pl.Int8, 2**7 - 1), (pl.Int32, 2**31 - 1)):
    table = pl.DataFrame({"nace": ["C", "C"], "v": pl.Series([most, most], dtype=kind)})
    print("Polars", kind, table["v"].sum(), table.group_by("nace").agg(pl.col("v").sum()).rows())
print("PyArrow", pc.sum(pa.array([2**31 - 1] * 2, pa.int32())), pc.sum(pa.array([2**63 - 1] * 2)))
PY
diff "$folder/seen" - <<'SEEN'
Polars Int8 254 [('C', 254)]
Polars Int32 -2 [('C', -2)]
PyArrow 4294967294 -2
SEEN
