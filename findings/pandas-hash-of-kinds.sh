#!/usr/bin/env bash
# pandas 3.1.1: hash_pandas_object gives 5 and 5.0 different hashes, and gives the integers of all widths
# the same one.
# Why it matters: record keys of cell perturbation are often hashes of unit numbers. One unit without a
# number makes the column float, every key changes, and the same cell is perturbed otherwise: two releases
# can be averaged.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pandas==3.1.1"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import pandas as pd

first = pd.Series([5, 6, 7])
for name, numbers in (
    ("int32", first.astype("int32")),
    ("float64", first.astype(float)),
    ("one missing, nullable", pd.Series([5, 6, None], dtype="Int64")),
    ("one missing", pd.Series([5, 6, None])),
):
    same = pd.util.hash_pandas_object(numbers) == pd.util.hash_pandas_object(first)
    print(f"{name}: {numbers.dtype}, the first two units keep their keys: {bool(same[:2].all())}")
PY
diff "$folder/seen" - <<'SEEN'
int32: int32, the first two units keep their keys: True
float64: float64, the first two units keep their keys: False
one missing, nullable: Int64, the first two units keep their keys: True
one missing: float64, the first two units keep their keys: False
SEEN
