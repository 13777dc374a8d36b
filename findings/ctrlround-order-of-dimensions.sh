#!/usr/bin/env bash
# CtrlRound 0.6.0: the same table rounds otherwise when its dimensions are named in another order; the order
# of its lines makes no difference.
# Why it matters: a publication rounded again by somebody who lists country and activity the other way round
# has other values. Two such tables together tell on which side of a multiple the true value is.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "ctrlround==0.6.0" "pandas==3.1.1" "numpy==2.4.6"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import contextlib
import io

import numpy as np
import pandas as pd
from CtrlRound import ctrl_round

draw = np.random.default_rng(5)
table = pd.DataFrame([(r, c, float(draw.integers(0, 60))) for r in "ABCDE" for c in "uvwxy"], columns=["r", "c", "v"])


def rounded(lines, by):
    with contextlib.redirect_stdout(io.StringIO()):
        found = ctrl_round(lines, by=by, var="v", margins=[["r"], ["c"], []], rounding_base=5)
    return found["rounded_table"].sort_values(["r", "c"])["v"].to_numpy()


first = rounded(table, ["r", "c"])
shuffled = rounded(table.sample(frac=1, random_state=2), ["r", "c"])
print("lines in another order:", int((shuffled != first).sum()), "of 25 cells differ")
print("dimensions in another order:", int((rounded(table, ["c", "r"]) != first).sum()), "of 25 cells differ")
PY
diff "$folder/seen" - <<'SEEN'
lines in another order: 0 of 25 cells differ
dimensions in another order: 6 of 25 cells differ
SEEN
