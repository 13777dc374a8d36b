#!/usr/bin/env bash
# cell-key-perturbation 3.1.0: the table that create_perturbed_table returns holds, beside the perturbed
# count, the true count, the cell key and the noise.
# Why it matters: the result of a function that protects a table is what one writes to a file. Publish its
# column count alone: the others tell the true figures, suppressed ones too.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "cell-key-perturbation==3.1.0" "pandas==3.1.1" "numpy==2.4.6"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import contextlib
import io

import pandas as pd
from cell_key_perturbation.create_perturbed_table import create_perturbed_table
from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule

persons = pd.DataFrame({"geo": ["AT"] * 52 + ["BE"] * 7, "record_key": range(59)})
with contextlib.redirect_stdout(io.StringIO()):
    table = create_perturbed_table(persons, generate_ptable_10_5_rule(), [], ["geo"], "record_key")
print(table.to_string(index=False))
PY
diff "$folder/seen" - <<'SEEN'
geo  pre_sdc_count  ckey  pcv  pvalue  count
 AT             52    46   52      -2     50
 BE              7   129    7      -7   <NA>
SEEN
