"""A published table as other libraries read it: `python read.py FOLDER`, in an environment of theirs. Prints
JSON: how it was read → its rows as dictionaries of texts, without what is empty; or the error.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import sdmx
from frictionless import Checklist, Package, validate
from pysdmx.io import read_sdmx
from sdmx.model import v30
from sdmxthon.api.api import read_sdmx as read_by_sdmxthon

Rows = list[dict[str, str]]


def texts(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Numbers as Python prints them, whole ones without a point."""
    found = []
    for row in rows:
        told = {str(name): value for name, value in row.items() if value is not None and value == value}
        found.append({name: _text(value) for name, value in told.items() if _text(value)})
    return found


def _text(value: object) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def of_pysdmx(file: Path) -> Rows:
    frame = read_sdmx(file, validate=False).data[0].data
    return texts(frame.to_dict("records"))


def of_sdmx1(file: Path) -> Rows:
    message = sdmx.read_sdmx(file)
    frame = sdmx.to_pandas(message.data[0], attributes="osgd").reset_index()
    return texts(frame.rename(columns={"value": "OBS_VALUE"}).to_dict("records"))


def of_sdmx1_beside(file: Path, attributes: tuple[str, ...]) -> Rows:
    """Beside a structure that has these attributes."""
    structure = v30.DataStructureDefinition(id="ACCOUNTS")
    for name in ("FREQ", "REF_AREA", "INDICATOR", "ACTIVITY", "SIZECLASS", "TIME_PERIOD"):
        structure.dimensions.getdefault(id=name)
    for name in attributes:
        structure.attributes.getdefault(id=name)
    structure.measures.getdefault(id="OBS_VALUE")
    return texts(
        sdmx.to_pandas(sdmx.read_sdmx(file, structure=structure).data[0]).reset_index().to_dict("records")
    )


def of_sdmxthon(file: Path) -> Rows:
    message = read_by_sdmxthon(str(file), validate=False)
    (data,) = message.payload.values()
    return texts(data.data.to_dict("records"))


def of_pandas(file: Path) -> Rows:
    return texts(pd.read_csv(file).to_dict("records"))


def of_duckdb(file: Path, options: str = "") -> Rows:
    reader = "read_parquet" if file.suffix == ".parquet" else "read_csv"
    made = duckdb.sql(f"SELECT * FROM {reader}('{file}'{options})")
    return texts(dict(zip(made.columns, row, strict=True)) for row in made.fetchall())


def of_polars(file: Path, **options: Any) -> Rows:
    frame = pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file, **options)
    return texts(frame.to_dicts())


def of_frictionless(folder: Path, name: str) -> Rows:
    package = Package(str(folder / "datapackage.json"))
    return texts(row.to_dict() for row in package.get_resource(name).read_rows())


def of_a_package(folder: Path, *skipped: str) -> Rows:
    """What frictionless says of the package: an error each."""
    report = validate(str(folder / "datapackage.json"), checklist=Checklist(skip_errors=list(skipped)))
    errors = [*report.errors, *(error for task in report.tasks for error in task.errors)]
    return [{"error": error.type} for error in errors]


READERS: Mapping[str, Callable[[Path], Rows]] = {
    "pysdmx table.csv": lambda folder: of_pysdmx(folder / "table.csv"),
    "pysdmx table.xml": lambda folder: of_pysdmx(folder / "table.xml"),
    "pysdmx table.json": lambda folder: of_pysdmx(folder / "table.json"),
    "sdmx1 table.xml": lambda folder: of_sdmx1(folder / "table.xml"),
    "sdmx1 table.xml, an older structure": lambda folder: of_sdmx1_beside(
        folder / "table.xml", ("OBS_STATUS", "CONF_STATUS", "UNIT_MEASURE", "UNIT_MULT", "DECIMALS")
    ),
    "sdmx1 table.json": lambda folder: of_sdmx1(folder / "table.json"),
    "sdmxthon table.csv": lambda folder: of_sdmxthon(folder / "table.csv"),
    "sdmxthon table.xml": lambda folder: of_sdmxthon(folder / "table.xml"),
    "sdmxthon table.json": lambda folder: of_sdmxthon(folder / "table.json"),
    "pandas table.csv": lambda folder: of_pandas(folder / "table.csv"),
    "DuckDB table.csv": lambda folder: of_duckdb(folder / "table.csv"),
    "DuckDB table.csv, all_varchar": lambda folder: of_duckdb(folder / "table.csv", ", all_varchar = true"),
    "DuckDB table.parquet": lambda folder: of_duckdb(folder / "table.parquet"),
    "polars table.csv": lambda folder: of_polars(folder / "table.csv"),
    "polars table.csv, infer_schema=False": lambda folder: of_polars(
        folder / "table.csv", infer_schema=False
    ),
    "polars table.parquet": lambda folder: of_polars(folder / "table.parquet"),
    "frictionless table.csv": lambda folder: of_frictionless(folder, "table-csv"),
    "frictionless table.parquet": lambda folder: of_frictionless(folder, "table-parquet"),
    "frictionless datapackage.json": lambda folder: of_a_package(folder),
    "frictionless datapackage.json, skip_errors": lambda folder: of_a_package(
        folder, "byte-count", "hash-count"
    ),
}


def main() -> None:
    found: dict[str, Any] = {}
    with contextlib.redirect_stdout(sys.stderr):
        for how, read in READERS.items():
            try:
                found[how] = read(Path(sys.argv[1]))
            except Exception as error:  # whatever a library raises is what the document must say of it
                found[how] = type(error).__name__
    print(json.dumps(found))


if __name__ == "__main__":
    main()
