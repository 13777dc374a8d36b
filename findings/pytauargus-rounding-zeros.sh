#!/usr/bin/env bash
# pytauargus 0.6.0: where controlled rounding finds no table to the base, it ends without an error, and the
# result is a table of zeros.
# Why it matters: zeros add up, so that no check of sums stops them on their way to a publication. Look whether
# anything but zeros came back.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pytauargus[dataframe]==0.6.0"
"$folder/env/bin/python" - > "$folder/all" 2>&1 <<'PY'
import pandas as pd
from pytauargus import protect

firms = pd.DataFrame(
    {
        "REGION": ["N"] * 6 + ["S"] * 6,
        "BRANCH": (["C"] * 3 + ["F"] * 3) * 2,
        "VALUE": [100.0, 5, 5, 10, 10, 10, 20, 20, 20, 30, 30, 30],
    }
)
table = protect(firms, ["REGION", "BRANCH"], "VALUE", "P(10,1)", "RND(1,100)").tables[0].dataframe()
print(f"seen: rounded cells sum up to {table['VALUE'].sum():g}, true ones to {table['cost'].sum():g}")
PY
grep -o "seen: .*" "$folder/all" | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
seen: rounded cells sum up to 0, true ones to 1160
SEEN
