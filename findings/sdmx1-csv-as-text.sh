#!/usr/bin/env bash
# sdmx1 2.28.0: to_csv(rtype=str) returns columns padded with blanks, which is no CSV; with a path, the same
# call writes CSV.
# Why it matters: a program that sends the text instead of a file delivers what no SDMX reader takes,
# sdmx1's own included.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "sdmx1==2.28.0"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import pathlib
import tempfile

import sdmx
from sdmx.model import v21

structure = v21.DataStructureDefinition(id="SBS")
structure.dimensions.getdefault("GEO")
structure.measures.append(v21.PrimaryMeasure(id="OBS_VALUE"))
flow = v21.DataflowDefinition(id="SBS", maintainer=v21.Agency(id="ESTAT"), version="1.0", structure=structure)
data = v21.StructureSpecificDataSet(structured_by=structure, described_by=flow)
data.obs.append(v21.Observation(dimension=structure.make_key(v21.Key, {"GEO": "AT"}), value=12.5))
path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
sdmx.to_csv(data, path=path)
print(path.read_text(), end="")
print(sdmx.to_csv(data, rtype=str))
PY
diff "$folder/seen" - <<'SEEN'
STRUCTURE,STRUCTURE_ID,ACTION,GEO,OBS_VALUE
dataflow,ESTAT:SBS(1.0),I,AT,12.5
STRUCTURE   STRUCTURE_ID ACTION GEO  OBS_VALUE
 dataflow ESTAT:SBS(1.0)      I  AT       12.5
SEEN
