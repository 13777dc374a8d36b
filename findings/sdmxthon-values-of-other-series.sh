#!/usr/bin/env bash
# sdmxthon 2.6.11: a generic data set by series has its keys in the order of the rows and its observations
# sorted, so that a value stands under the key of another series; structure-specific, it stands under its own.
# Why it matters: a table that is sent so is well-formed and complete, and its values and flags are those of
# other cells. Sort the rows by their keys first, or write it flat.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "sdmxthon==2.6.11"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import re

import pandas as pd
from sdmxthon.model.component import Dimension, PrimaryMeasure, TimeDimension
from sdmxthon.model.dataset import Dataset
from sdmxthon.model.definitions import DataStructureDefinition
from sdmxthon.model.descriptors import AttributeDescriptor, DimensionDescriptor, MeasureDescriptor
from sdmxthon.model.itemScheme import Agency
from sdmxthon.utils.enums import MessageTypeEnum

rows = pd.DataFrame({"AREA": ["TOTAL", "A", "B"], "TIME_PERIOD": "2024", "OBS_VALUE": ["300", "100", "200"]})
structure = DataStructureDefinition(
    id_="SMALL",
    version="1.0",
    maintainer=Agency(id_="NSI"),
    dimension_list=DimensionDescriptor(
        components={
            "AREA": Dimension(id_="AREA", position=1),
            "TIME_PERIOD": TimeDimension(id_="TIME_PERIOD", position=2),
        }
    ),
    measure_list=MeasureDescriptor(components={"OBS_VALUE": PrimaryMeasure(id_="OBS_VALUE")}),
    attribute_list=AttributeDescriptor(components={}),
)
for kind, key, value in (
    ("GenericDataSet", 'id="AREA" value="([A-Z]+)"', 'ObsValue value="([0-9]+)"'),
    ("StructureSpecificDataSet", '<Series AREA="([A-Z]+)"', 'OBS_VALUE="([0-9]+)"'),
):
    data = Dataset(structure=structure, data=rows.copy())
    data.set_dimension_at_observation("TIME_PERIOD")
    text = data.to_xml(message_type=getattr(MessageTypeEnum, kind))
    print(f"{kind}: {dict(zip(re.findall(key, text), re.findall(value, text)))}")
PY
diff "$folder/seen" - <<'SEEN'
GenericDataSet: {'TOTAL': '100', 'A': '200', 'B': '300'}
StructureSpecificDataSet: {'A': '100', 'B': '200', 'TOTAL': '300'}
SEEN
