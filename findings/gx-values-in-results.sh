#!/usr/bin/env bash
# great-expectations 1.24.1: the result of a failed check holds the values that failed, with the result
# format that is used when none is asked for; an expectation on the maximum holds the largest value.
# Why it matters: results go to logs, Data Docs and task messages: places for people who must not see a
# confidential figure. Ask for BOOLEAN_ONLY each time.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "great-expectations==1.24.1" "pandas==2.3.3"
export GX_ANALYTICS_ENABLED=False
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import logging

import great_expectations as gx
import pandas as pd

logging.disable(logging.CRITICAL)
context = gx.get_context(mode="ephemeral")
context.variables.progress_bars = {"globally": False}
asset = context.data_sources.add_pandas("deliveries").add_dataframe_asset("cells")
whole = asset.add_batch_definition_whole_dataframe("whole")
batch = whole.get_batch({"dataframe": pd.DataFrame({"v": [123456.5, -77.25]})})
expect = gx.expectations
for rule in (
    expect.ExpectColumnValuesToBeBetween(column="v", min_value=0),
    expect.ExpectColumnMaxToBeBetween(column="v", max_value=1),
):
    for name, asked in (("none asked for", {}), ("BOOLEAN_ONLY", {"result_format": "BOOLEAN_ONLY"})):
        told = str(batch.validate(rule, **asked).result)
        print(type(rule).__name__, name, "tells a value:", "123456.5" in told or "-77.25" in told)
PY
diff "$folder/seen" - <<'SEEN'
ExpectColumnValuesToBeBetween none asked for tells a value: True
ExpectColumnValuesToBeBetween BOOLEAN_ONLY tells a value: False
ExpectColumnMaxToBeBetween none asked for tells a value: True
ExpectColumnMaxToBeBetween BOOLEAN_ONLY tells a value: False
SEEN
