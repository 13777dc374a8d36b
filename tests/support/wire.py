"""The same records in every format that intake reads, written from those of SDMX-CSV 1.0 without a reader's
code.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from support.sdmx_ml import message

Rows = list[dict[str, str]]
DIMENSIONS = ("FREQ", "REF_AREA", "INDICATOR", "ACTIVITY", "SIZECLASS", "TIME_PERIOD")
NUMBERS = ("OBS_VALUE", "UNITS", "SHARE_1", "SHARE_2")


def rows(text: str) -> Rows:
    return list(csv.DictReader(io.StringIO(text)))


def delimited(text: str, separator: str = ",") -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows(text)[0]), delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(text))
    return stream.getvalue()


def sdmx_csv_2(text: str, action: str = "I") -> str:
    found = []
    for row in rows(text):
        structure = row.pop("DATAFLOW")
        found.append(",".join(["dataflow", structure, action, *row.values()]))
    head = text.splitlines()[0].replace("DATAFLOW", "STRUCTURE,STRUCTURE_ID,ACTION")
    return "\n".join([head, *found, ""])


def labelled(text: str) -> str:
    """SDMX-CSV 2.0 with `labels=both`."""
    head, *records = sdmx_csv_2(text).splitlines()
    names = head.split(",")
    coded = [name not in ("STRUCTURE", "ACTION", *NUMBERS) for name in names]
    labels = [name if name in ("STRUCTURE", "STRUCTURE_ID", "ACTION") else f"{name}: Name" for name in names]
    lines = [
        ",".join(
            f"{value}: Libellé" if yes and value else value
            for yes, value in zip(coded, r.split(","), strict=True)
        )
        for r in records
    ]
    return "\n".join([",".join(labels), *lines, ""])


def tsv(text: str) -> bytes:
    r"""Eurostat's TSV: everything but the observation in the key."""
    found, over = [], ""
    names: list[str] = []
    for row in rows(text):
        value, status, flag, over = (
            row.pop(name) for name in ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "TIME_PERIOD")
        )
        names = list(row)
        status = "" if status == "A" else f" {status.lower()}"
        found.append(f"{','.join(row.values())}\t{value}{status} @{flag}")
    return (
        "\n".join([f"{','.join(names)}\\TIME_PERIOD\t{over} ", *found, ""])
        .replace("REF_AREA", "ref_area", 1)
        .encode()
    )


def json_stat(text: str, without: str = "") -> bytes:
    """JSON-stat 2.0 as Eurostat's services write it, with every attribute in the key but one that it is
    `without`. Values stand at their places in the cube.
    """
    records = rows(text)
    agency, flow, version = re.split(r"[:()]", records[0]["DATAFLOW"])[:3]
    names = [name for name in records[0] if name not in ("DATAFLOW", "OBS_VALUE", "OBS_STATUS", without)]
    listed = {name: sorted({row[name] for row in records}) for name in names}
    values, statuses = {}, {}
    for row in records:
        place = 0
        for name in names:
            place = place * len(listed[name]) + listed[name].index(row[name])
        values[str(place)] = _number(row["OBS_VALUE"])
        if row["OBS_STATUS"] != "A":
            statuses[str(place)] = row["OBS_STATUS"].lower()
    ids = ["time" if name == "TIME_PERIOD" else name.lower() for name in names]
    dimensions = {
        each: {
            "label": name,
            "category": {
                "index": {code: at for at, code in enumerate(listed[name])},
                "label": {code: f"Label of {code}" for code in listed[name]},
            },
        }
        for each, name in zip(ids, names, strict=True)
    }
    return json.dumps(
        {
            "version": "2.0",
            "class": "dataset",
            "label": "A table",
            "source": "ESTAT",
            "updated": "2026-03-12T23:00:00+0100",
            "value": values,
            **({"status": statuses} if statuses else {}),
            "id": ids,
            "size": [len(listed[name]) for name in names],
            "dimension": dimensions,
            "extension": {
                "lang": "EN",
                "id": flow,
                "agencyId": agency,
                "version": version,
                "datastructure": {"id": flow, "agencyId": agency, "version": "24.0"},
                "annotation": [{"type": "UPDATE_DATA", "date": "2026-03-12T23:00:00+0100"}],
            },
        }
    ).encode()


def columnar(text: str) -> Any:
    """An Arrow table: values and shares as float64, units as whole numbers, codes as
    dictionaries, the rest as text.
    """
    import pyarrow as pa

    found = {}
    for name in rows(text)[0]:
        contents = [row[name] for row in rows(text)]
        if name in ("OBS_VALUE", "SHARE_1", "SHARE_2"):
            found[name] = pa.array([float(each) if each else None for each in contents], pa.float64())
        elif name in ("UNITS", "UNIT_MULT"):
            found[name] = pa.array([int(each) if each else None for each in contents], pa.int64())
        else:
            found[name] = pa.array(contents).dictionary_encode() if name in DIMENSIONS else pa.array(contents)
    return pa.table(found)


def parquet(text: str) -> bytes:
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(columnar(text), stream)
    return stream.getvalue()


def arrow(text: str, streamed: bool = False) -> bytes:
    import pyarrow as pa

    sink, table = io.BytesIO(), columnar(text)
    with (pa.ipc.new_stream if streamed else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def sdmx_json(text: str, series: bool = False) -> bytes:
    """SDMX-JSON 2.1: the unit at the data set, its power in a group of the area, units and shares as they
    are.
    """
    records = rows(text)
    structure = records[0]["DATAFLOW"]
    listed = {
        name: sorted({row[name] for row in records}) for name in (*DIMENSIONS, "OBS_STATUS", "CONF_STATUS")
    }
    level = {name: "dataSet" if len(listed[name]) == 1 else "observation" for name in DIMENSIONS}
    if series:
        level |= {name: "series" for name in DIMENSIONS if level[name] == "observation"} | {
            "TIME_PERIOD": "observation"
        }

    def component(name: str) -> dict[str, Any]:
        return {
            "id": name,
            "keyPosition": DIMENSIONS.index(name),
            "values": [{"id": value, "name": value} for value in listed[name]],
        }

    def key(row: Mapping[str, str], at: str) -> str:
        return ":".join(str(listed[name].index(row[name])) for name in DIMENSIONS if level[name] == at)

    own = ("OBS_STATUS", "CONF_STATUS")
    attributes = {
        "dataSet": [{"id": "UNIT_MEASURE"}],
        "dimensionGroup": [{"id": "UNIT_MULT", "values": [{"id": records[0]["UNIT_MULT"]}]}],
        "observation": [
            *({"id": name, "values": [{"id": value} for value in listed[name]]} for name in own),
            *({"id": name} for name in NUMBERS[1:]),
        ],
    }
    observations: dict[str, Any] = {}
    for row in records:
        content: list[Any] = [_number(row["OBS_VALUE"]), *(listed[name].index(row[name]) for name in own)]
        content += [_number(row.get(name, "")) for name in NUMBERS[1:]]
        while content[-1] is None:
            content.pop()
        place = (
            observations.setdefault(key(row, "series"), {"observations": {}})["observations"]
            if series
            else observations
        )
        place[key(row, "observation")] = content
    group = "".join(
        f"{0 if name == 'REF_AREA' else ''}{':' if name != DIMENSIONS[-1] else ''}" for name in DIMENSIONS
    )
    data_set = {
        "structure": 0,
        "action": "Replace",
        "attributes": [records[0]["UNIT_MEASURE"]],
        "dimensionGroupAttributes": {group: [0]},
        "series" if series else "observations": observations,
    }
    at = ("dataSet", "series", "observation")
    described = {
        "links": [
            {"rel": "dataflow", "urn": f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={structure}"}
        ],
        "dimensions": {each: [component(name) for name in DIMENSIONS if level[name] == each] for each in at},
        "measures": {"observation": [{"id": "OBS_VALUE"}]},
        "attributes": attributes,
    }
    return json.dumps(
        {"meta": {"id": "X", "test": False}, "data": {"structures": [described], "dataSets": [data_set]}}
    ).encode()


def book(text: str, title: str = "Delivery") -> Any:
    """A workbook of openpyxl with one sheet: numbers as numbers, the year and the power of ten too, codes as
    texts.
    """
    from openpyxl import Workbook

    made = Workbook()
    sheet = made.active
    sheet.title = title
    sheet.append(list(rows(text)[0]))
    numeric = (*NUMBERS, "TIME_PERIOD", "UNIT_MULT")
    for row in rows(text):
        sheet.append(
            [_number(content) if name in numeric else content or None for name, content in row.items()]
        )
    return made


def saved(made: Any) -> bytes:
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()


def _number(text: str) -> float | int | None:
    return None if not text else float(text) if "." in text else int(text)


def zipped(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


# Suffix and writer of each format.
FORMATS: dict[str, tuple[str, Callable[[str], bytes]]] = {
    "SDMX-CSV 1.0": (".csv", str.encode),
    "SDMX-CSV 2.0": (".csv", lambda text: sdmx_csv_2(text).encode()),
    "SDMX-CSV 2.1": (".csv", lambda text: sdmx_csv_2(text, "M").encode()),
    "labels": (".csv", lambda text: labelled(text).encode()),
    "tabs, UTF-16": (".txt", lambda text: delimited(text, "\t").encode("utf-16")),
    "Windows-1252, gzip": (".csv.gz", lambda text: gzip.compress(labelled(text).encode("windows-1252"))),
    "zip": (".zip", lambda text: zipped("sent.csv", text.encode())),
    "SDMX-ML 2.1": (".xml", lambda text: message(text).encode()),
    "SDMX-ML 2.1 generic": (".xml", lambda text: message(text, generic=True, levels=True).encode()),
    "SDMX-ML 3.0": (".xml", lambda text: message(text, "3_0", flat=True).encode()),
    "SDMX-ML 3.1": (".xml", lambda text: message(text, "3_1", flat=True).encode()),
    "SDMX-JSON flat": (".json", sdmx_json),
    "SDMX-JSON by series": (".json", lambda text: sdmx_json(text, series=True)),
    "Parquet": (".parquet", parquet),
    "Arrow file": (".feather", arrow),
    "Arrow stream": (".arrows", lambda text: arrow(text, streamed=True)),
    "Eurostat TSV": (".tsv", tsv),
    "JSON-stat": (".json", json_stat),
    "Excel": (".xlsx", lambda text: saved(book(text))),
}
