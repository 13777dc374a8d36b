#!/usr/bin/env bash
# sdmx1 2.28.0: to_pandas and to_csv leave out all attributes unless asked for by attributes='o'.
# Confidential, estimated and free cells look alike.
# Why it matters: the flag that says a cell must not be published is an attribute. A pipeline that reads a
# delivery this way has values without flags, and nothing is missing that would stop it.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "sdmx1==2.28.0"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import sdmx
from sdmx.model import v21

structure = v21.DataStructureDefinition(id="SBS")
structure.dimensions.getdefault("GEO")
structure.measures.append(v21.PrimaryMeasure(id="OBS_VALUE"))
flag = structure.attributes.getdefault("CONF_STATUS", related_to=v21.PrimaryMeasureRelationship())
data = v21.StructureSpecificDataSet(structured_by=structure)
for country, value, status in (("AT", 12.5, "F"), ("BE", 7.0, "C")):
    cell = v21.Observation(dimension=structure.make_key(v21.Key, {"GEO": country}), value=value)
    cell.attached_attribute["CONF_STATUS"] = v21.AttributeValue(value=status, value_for=flag)
    data.obs.append(cell)
print(sdmx.to_pandas(data).to_dict())
print(sdmx.to_pandas(data, attributes="o").to_dict("list"))
PY
diff "$folder/seen" - <<'SEEN'
{('AT',): 12.5, ('BE',): 7.0}
{'value': [12.5, 7.0], 'CONF_STATUS': ['F', 'C']}
SEEN
