"""The same table as libraries write it that need a newer Python than this program does:
`python write_apart.py LIBRARY ROWS.json FOLDER`, in an environment of each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

DIMENSIONS = ("FREQ", "REF_AREA", "INDICATOR", "ACTIVITY", "SIZECLASS", "TIME_PERIOD")
VALUE, AGENCY, ID, VERSION = "OBS_VALUE", "NSI", "ACCOUNTS", "1.0"
Rows = list[dict[str, str]]


def of_tidysdmx(rows: Rows, folder: Path) -> None:
    import pandas as pd
    from pysdmx.model import Component, Components, Concept, DataType, Role, Schema
    from tidysdmx import qa_coerce_numeric, standardize_output

    def component(name: str) -> Component:
        role = Role.DIMENSION if name in DIMENSIONS else Role.MEASURE if name == VALUE else Role.ATTRIBUTE
        kind = DataType.DOUBLE if name == VALUE else DataType.STRING
        level = "O" if role is Role.ATTRIBUTE else None
        concept = Concept(id=name, dtype=kind)
        return Component(
            id=name, required=True, role=role, concept=concept, local_dtype=kind, attachment_level=level
        )

    def write(name: str, frame: pd.DataFrame, context: str = "dataflow", action: str = "I") -> None:
        parts = Components([component(each) for each in rows[0]])
        schema = Schema(context=context, agency=AGENCY, id=ID, version=VERSION, components=parts)
        made = standardize_output(frame, f"{AGENCY}:{ID}({VERSION})", schema, action)
        made.to_csv(folder / f"tidysdmx {name}.csv", index=False)

    frame = pd.DataFrame(rows)
    write("csv", frame)
    write("csv of a data structure", frame, "datastructure")
    write("csv of an agreement", frame, "provisionagreement")
    write("csv to update", frame, action="U")
    write("csv of numbers", qa_coerce_numeric(frame, numeric_columns=[VALUE]))


def of_sdmxlib(rows: Rows, folder: Path) -> None:
    import pyarrow as pa
    from sdmxlib.formats.sdmx_csv import write_sdmx_csv
    from sdmxlib.formats.sdmx_json import data_v1, data_v2
    from sdmxlib.model.concept import Concept
    from sdmxlib.model.dataflow import Dataflow
    from sdmxlib.model.datastructure import (
        AttachmentLevel,
        Attribute,
        DataStructure,
        Dimension,
        Measure,
        TimeDimension,
    )
    from sdmxlib.model.istring import InternationalString
    from sdmxlib.model.ref import Ref
    from sdmxlib.model.urn import SdmxUrn

    def concept(name: str) -> Ref[Concept]:
        urn = f"urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept={AGENCY}:CS({VERSION}).{name}"
        return Ref.unresolved(SdmxUrn.parse(urn))

    attributes = [name for name in rows[0] if name not in (*DIMENSIONS, VALUE)]
    structure = DataStructure(
        id=ID,
        maintainer=AGENCY,
        version=VERSION,
        name=InternationalString(en="Accounts"),
        dimensions=[Dimension(id=name, concept=concept(name)) for name in DIMENSIONS[:-1]],
        time_dimension=TimeDimension(concept=concept("TIME_PERIOD")),
        measures=[Measure(id=VALUE, concept=concept(VALUE))],
        attributes=[
            Attribute(id=name, concept=concept(name), attachment=AttachmentLevel.OBSERVATION)
            for name in attributes
        ],
    )
    values = [float(row[VALUE]) if row[VALUE] else None for row in rows]
    texts = {name: [row[name] or None for row in rows] for name in (*DIMENSIONS, *attributes)}
    batches = pa.table({VALUE: values, **texts}).to_batches()
    flow = Ref.unresolved(Dataflow.urn_for(agency=AGENCY, id=ID, version=VERSION))
    for version, writer in (("1.0", data_v1), ("2.0", data_v2)):
        made = writer.write_sdmx_json_data(
            batches,
            structure,
            flow,
            message_id="X",
            prepared=datetime(2026, 1, 1, tzinfo=UTC),
            sender_id=AGENCY,
            lang="en",
        )
        (folder / f"sdmxlib json {version}.json").write_bytes(b"".join(made))
    made = write_sdmx_csv(batches, structure, structure_id=f"{AGENCY}:{ID}({VERSION})")
    (folder / "sdmxlib csv.csv").write_bytes(b"".join(made))


WRITERS: Mapping[str, Callable[[Rows, Path], None]] = {"tidysdmx": of_tidysdmx, "sdmxlib": of_sdmxlib}

if __name__ == "__main__":
    told = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    WRITERS[sys.argv[1]](told, Path(sys.argv[3]))
