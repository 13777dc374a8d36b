"""A confidential table as other libraries write it: `python write.py ROWS.json FOLDER`, in an environment of
theirs. The rows are dictionaries of texts, the codes of a record and its attributes. Prints what a library
refuses to write.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import sdmx
from frictionless import Resource
from pysdmx.io import write_sdmx
from pysdmx.io.format import Format
from pysdmx.io.pd import PandasDataset
from pysdmx.model import Component, Components, Concept, DataType, Role, Schema
from sdmx.format.csv import v1, v2
from sdmx.message import DataMessage, Header
from sdmx.model import common, v21
from sdmxthon.model.component import Attribute, Dimension, PrimaryMeasure, TimeDimension
from sdmxthon.model.dataset import Dataset
from sdmxthon.model.definitions import DataStructureDefinition
from sdmxthon.model.descriptors import AttributeDescriptor, DimensionDescriptor, MeasureDescriptor
from sdmxthon.model.itemScheme import Agency
from sdmxthon.utils.enums import MessageTypeEnum

DIMENSIONS = ("FREQ", "REF_AREA", "INDICATOR", "ACTIVITY", "SIZECLASS", "TIME_PERIOD")
VALUE, AGENCY, ID, VERSION = "OBS_VALUE", "NSI", "ACCOUNTS", "1.0"
Rows = list[dict[str, str]]
CSV, XML = ("1_0_0", "2_0_0", "2_1_0"), ("2_1_STR", "2_1_GEN", "3_0", "3_1")


def of_pysdmx(rows: Rows, folder: Path) -> None:
    """A number that is not there is NaN, in CSV and in XML."""

    def component(name: str) -> Component:
        role = Role.DIMENSION if name in DIMENSIONS else Role.MEASURE if name == VALUE else Role.ATTRIBUTE
        kind = DataType.DOUBLE if name == VALUE else DataType.STRING
        return Component(
            id=name,
            required=name != "EMBARGO_TIME",
            role=role,
            concept=Concept(id=name, name=name.capitalize(), dtype=kind),
            local_dtype=kind,
            attachment_level="O" if role is Role.ATTRIBUTE else None,
        )

    schema = Schema(
        context="dataflow",
        agency=AGENCY,
        id=ID,
        version=VERSION,
        components=Components([component(name) for name in rows[0]]),
        name="A table",
    )
    frame = pd.DataFrame(rows)
    frame[VALUE] = frame[VALUE].replace("", None)

    def write(file: str, kind: str, **options: str) -> None:
        made = write_sdmx(
            PandasDataset(structure=schema, data=frame.copy()),
            getattr(Format, f"DATA_SDMX_{kind}"),
            **options,
        )
        (folder / file).write_text(str(made), encoding="utf-8")

    for version in CSV:
        write(f"pysdmx csv {version}.csv", f"CSV_{version}")
        for labels in ("both", "name"):
            write(f"pysdmx csv {version} {labels}.csv", f"CSV_{version}", labels=labels)
    for version in XML:
        write(f"pysdmx xml {version}.xml", f"ML_{version}")


def of_sdmx1(rows: Rows, folder: Path) -> None:
    agency = common.Agency(id=AGENCY)
    structure = v21.DataStructureDefinition(id=ID, maintainer=agency, version=VERSION)
    flow = v21.DataflowDefinition(id=ID, maintainer=agency, version=VERSION, structure=structure)
    for name in DIMENSIONS:
        structure.dimensions.getdefault(id=name)
    attributes = [name for name in rows[0] if name not in (*DIMENSIONS, VALUE)]
    for name in attributes:
        structure.attributes.getdefault(id=name)
    measure = structure.measures.getdefault(id=VALUE)
    observations = []
    for row in rows:
        made = v21.Observation(
            dimension=structure.make_key(v21.Key, {name: row[name] for name in DIMENSIONS}),
            value=float(row[VALUE]) if row[VALUE] else None,
            value_for=measure,
        )
        for name in attributes:
            if row[name]:
                told = common.AttributeValue(value=row[name], value_for=structure.attributes.get(name))
                made.attached_attribute[name] = told
        observations.append(made)
    data = v21.StructureSpecificDataSet(described_by=flow, structured_by=structure, obs=observations)
    for name, options in (("1.0", v1.FormatOptions()), ("2.0", v2.FormatOptions())):
        sdmx.to_csv(data, path=folder / f"sdmx1 csv {name}.csv", attributes="osgd", format_options=options)
    for name, kind in (("specific", v21.StructureSpecificDataSet), ("generic", v21.GenericDataSet)):
        message = DataMessage(header=Header(id="X", test=False, sender=agency), dataflow=flow)
        message.data.append(kind(described_by=flow, structured_by=structure, obs=list(observations)))
        (folder / f"sdmx1 xml {name}.xml").write_bytes(sdmx.to_xml(message, pretty_print=True))
    for action in common.ActionType:
        if action.name == "information":
            data.action = action
    message = DataMessage(header=Header(id="X", test=False, sender=agency), dataflow=flow)
    message.data.append(data)
    (folder / "sdmx1 xml with an action.xml").write_bytes(sdmx.to_xml(message))


def of_sdmxthon(rows: Rows, folder: Path) -> None:
    measure = PrimaryMeasure(id_=VALUE)
    dimensions = {
        name: (TimeDimension if name == "TIME_PERIOD" else Dimension)(id_=name, position=place)
        for place, name in enumerate(DIMENSIONS, start=1)
    }
    attributes = {
        name: Attribute(id_=name, relatedTo=measure, assignmentStatus="Conditional")
        for name in rows[0]
        if name not in (*DIMENSIONS, VALUE)
    }
    structure = DataStructureDefinition(
        id_=ID,
        version=VERSION,
        maintainer=Agency(id_=AGENCY),
        dimension_list=DimensionDescriptor(components=dimensions),
        measure_list=MeasureDescriptor(components={VALUE: measure}),
        attribute_list=AttributeDescriptor(components=attributes),
    )
    for name, kind in (
        ("specific", MessageTypeEnum.StructureSpecificDataSet),
        ("generic", MessageTypeEnum.GenericDataSet),
    ):
        for how, at in (("flat", "AllDimensions"), ("by series", "TIME_PERIOD")):
            data = Dataset(structure=structure, data=pd.DataFrame(rows))
            data.set_dimension_at_observation(at)
            path = folder / f"sdmxthon xml {name} {how}.xml"
            data.to_xml(str(path), message_type=kind, test="false")
    for version in (1, 2):
        data = Dataset(structure=structure, data=pd.DataFrame(rows))
        data.to_sdmx_csv(version, str(folder / f"sdmxthon csv {version}.0.csv"))


def named(rows: Rows) -> Rows:
    """With the column of the structure, which a plain table needs."""
    return [{"DATAFLOW": f"{AGENCY}:{ID}({VERSION})", **row} for row in rows]


def numbers(rows: Rows) -> list[dict[str, Any]]:
    return [{**row, VALUE: float(row[VALUE]) if row[VALUE] else None} for row in named(rows)]


def of_frictionless(rows: Rows, folder: Path) -> None:
    Resource(data=named(rows)).write(str(folder / "frictionless csv.csv"))
    Resource(data=numbers(rows)).write(str(folder / "frictionless parquet.parquet"))


def of_duckdb(rows: Rows, folder: Path) -> None:
    frame = pd.DataFrame(numbers(rows))
    frame[VALUE] = frame[VALUE].astype("float64")
    with duckdb.connect() as database:
        database.register("records", frame)
        for ending in ("csv", "parquet"):
            database.execute(f"COPY records TO '{folder}/duckdb {ending}.{ending}'")
        database.execute(f"COPY records TO '{folder}/duckdb csv bar.csv' (DELIMITER ';')")


def of_polars(rows: Rows, folder: Path) -> None:
    frame = pl.DataFrame(numbers(rows), infer_schema_length=None)
    frame.write_csv(folder / "polars csv.csv")
    frame.write_csv(folder / "polars csv tabs.txt", separator="\t")
    frame.write_parquet(folder / "polars parquet.parquet")
    frame.write_ipc(folder / "polars arrow.arrow")
    frame.with_columns(
        pl.col("ACTIVITY").cast(pl.Categorical), pl.col("CONF_STATUS").cast(pl.Enum(sorted(set("FCNEDS"))))
    ).write_ipc(folder / "polars arrow of codes.arrow")
    frame.write_csv(folder / "polars csv NA.csv", null_value="NA")


WRITERS: tuple[Callable[[Rows, Path], None], ...] = (
    of_pysdmx,
    of_sdmx1,
    of_sdmxthon,
    of_frictionless,
    of_duckdb,
    of_polars,
)

if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(sys.stderr):
        for writer in WRITERS:
            writer(told, Path(sys.argv[2]))
