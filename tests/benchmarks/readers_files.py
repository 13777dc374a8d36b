"""One national table of a million cells, drawn from a seed, and the file of it in each
format. No reader's code writes them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from sdc_tasks.domains import Domain, load_domain

PERIOD, SEED = "2024", 20241122
ACTIVITIES, SIZES, INDICATORS = 1000, 500, ("TURNOVER", "WAGES")
STRUCTURE = "NSI:READERS(1.0)"
COLUMNS = (
    "FREQ",
    "REF_AREA",
    "INDICATOR",
    "ACTIVITY",
    "SIZECLASS",
    "TIME_PERIOD",
    "OBS_VALUE",
    "UNIT_MEASURE",
    "UNIT_MULT",
    "OBS_STATUS",
)
COLUMNS += ("CONF_STATUS", "UNITS", "SHARE_1", "SHARE_2")
PIECE = 20_000  # records that are written at a time

Table = dict[str, np.ndarray]


def domain(folder: Path, share: float = 1.0) -> Domain:
    """The domain of the table, with this share of its activities."""
    activities = [f"A{number:03}" for number in range(max(int(ACTIVITIES * share) - 1, 1))]
    sizes = [f"S{number:03}" for number in range(SIZES - 1)]
    (folder / "areas.csv").write_text("code,parent\nAT,EU\nBE,EU\n")
    (folder / "activities.csv").write_text(
        "\n".join(["code,parent", "TOTAL,", *(f"{code},TOTAL" for code in activities), ""])
    )
    (folder / "sizes.csv").write_text(
        "\n".join(["code,parent", "_T,", *(f"{code},_T" for code in sizes), ""])
    )
    indicators = "".join(
        f"\n  - {{code: {code}, label: {code}, unit: EUR, unit_multiplier: 3}}" for code in INDICATORS
    )
    (folder / "readers.yaml").write_text(
        f"""id: readers
title: A table to read
structure_id: "{STRUCTURE}"
areas: {{dimension: REF_AREA, codelist: areas.csv}}
aggregates:
  - {{code: EU, label: Union, members: all, partial_code: EU_PARTIAL}}
indicators:{indicators}
hierarchies:
  - {{dimension: ACTIVITY, codelist: activities.csv}}
  - {{dimension: SIZECLASS, codelist: sizes.csv}}
flags:
  F: {{role: public}}
  A: {{role: primary, rule: {{kind: percent, percent: 10}}}}
  D: {{role: secondary}}
"""
    )
    return load_domain(folder / "readers.yaml")


def table(of: Domain) -> Table:
    """Every cell of the table: texts of each column, empty where there is none."""
    chance = np.random.default_rng(SEED)
    keys = np.array(of.space.national_keys)
    number = len(keys)
    value = chance.integers(1, 10**8, number).astype(str)
    flag = chance.choice(["F", "A", "D"], number, p=[0.9, 0.05, 0.05])
    hidden = flag != "F"
    first = (chance.integers(300, 900, number) / 10).astype(str)
    second = (chance.integers(10, 300, number) / 10).astype(str)
    same = {
        "FREQ": "A",
        "REF_AREA": "AT",
        "TIME_PERIOD": PERIOD,
        "UNIT_MEASURE": "EUR",
        "UNIT_MULT": "3",
        "OBS_STATUS": "A",
    }
    found = {name: np.full(number, text) for name, text in same.items()}
    found |= {
        "INDICATOR": keys[:, 0],
        "ACTIVITY": keys[:, 1],
        "SIZECLASS": keys[:, 2],
        "OBS_VALUE": value,
        "CONF_STATUS": flag,
    }
    found["UNITS"] = np.where(hidden, chance.integers(1, 60, number).astype(str), "")
    found["SHARE_1"], found["SHARE_2"] = np.where(hidden, first, ""), np.where(hidden, second, "")
    return {name: found[name] for name in COLUMNS}


def _records(of: Table) -> Iterator[list[tuple[str, ...]]]:
    """The records, some at a time, as texts."""
    for start in range(0, len(of["FREQ"]), PIECE):
        yield list(zip(*(column[start : start + PIECE].tolist() for column in of.values()), strict=True))


def sdmx_csv(of: Table, path: Path) -> None:
    with path.open("w") as file:
        file.write(f"DATAFLOW,{','.join(COLUMNS)}\n")
        for records in _records(of):
            file.writelines(f"{STRUCTURE},{','.join(record)}\n" for record in records)


def eurostat_tsv(of: Table, path: Path) -> None:
    behind = {"TIME_PERIOD", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"}
    at = [number for number, name in enumerate(COLUMNS) if name not in behind]
    value, flag = COLUMNS.index("OBS_VALUE"), COLUMNS.index("CONF_STATUS")
    with path.open("w") as file:
        file.write(f"DATAFLOW,{','.join(COLUMNS[each] for each in at)}\\TIME_PERIOD\t{PERIOD}\n")
        for records in _records(of):
            file.writelines(
                f"{STRUCTURE},{','.join(record[each] for each in at)}\t{record[value]} @{record[flag]}\n"
                for record in records
            )


def sdmx_ml(of: Table, path: Path, generic: bool = False) -> None:
    """2.1, flat: the largest of the files."""
    space = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
    kind = "GenericData" if generic else "StructureSpecificData"
    key = COLUMNS[:6]
    with path.open("w") as file:
        file.write(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:{kind} xmlns:mes="{space}/message" '
            f'xmlns:com="{space}/common" '
            f'xmlns:gen="{space}/data/generic" '
            f'xmlns:ss="{space}/data/structurespecific">\n<mes:Header><mes:ID>X</mes:ID>'
            f'<mes:Test>false</mes:Test><mes:Structure structureID="S" '
            f'dimensionAtObservation="AllDimensions"><com:StructureUsage>'
            f'<Ref agencyID="NSI" id="READERS" '
            f'version="1.0"/></com:StructureUsage></mes:Structure></mes:Header>\n'
        )
        file.write('<mes:DataSet structureRef="S">\n' if generic else '<mes:DataSet ss:structureRef="S">\n')
        for records in _records(of):
            for record in records:
                said = dict(zip(COLUMNS, record, strict=True))
                if generic:
                    named = "".join(f'<gen:Value id="{name}" value="{said[name]}"/>' for name in key)
                    more = "".join(
                        f'<gen:Value id="{name}" value="{text}"/>'
                        for name, text in list(said.items())[7:]
                        if text
                    )
                    value = f'<gen:ObsValue value="{said["OBS_VALUE"]}"/>'
                    file.write(
                        f"<gen:Obs><gen:ObsKey>{named}</gen:ObsKey>{value}<gen:Attributes>{more}</gen:Attributes></gen:Obs>\n"
                    )
                else:
                    own = " ".join(f'{name}="{text}"' for name, text in said.items() if text)
                    file.write(f"<Obs {own}/>\n")
        file.write(f"</mes:DataSet>\n</mes:{kind}>\n")


def sdmx_json(of: Table, path: Path) -> None:
    """Flat, 2.1."""
    key, own = COLUMNS[:6], COLUMNS[7:]
    listed = {
        name: sorted(set(of[name].tolist()))
        for name in (*key, "UNIT_MEASURE", "UNIT_MULT", "OBS_STATUS", "CONF_STATUS")
    }
    at = {name: {text: number for number, text in enumerate(texts)} for name, texts in listed.items()}
    components = [
        {"id": name, **({"values": [{"id": text} for text in listed[name]]} if name in listed else {})}
        for name in own
    ]
    dimensions = [
        {"id": name, "keyPosition": place, "values": [{"id": text} for text in listed[name]]}
        for place, name in enumerate(key)
    ]
    described = {
        "links": [
            {"rel": "dataflow", "urn": f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={STRUCTURE}"}
        ],
        "dimensions": {"observation": dimensions},
        "measures": {"observation": [{"id": "OBS_VALUE"}]},
        "attributes": {"observation": components},
    }
    with path.open("w") as file:
        file.write(f'{{"meta":{{"id":"X","test":false}},"data":{{"structures":[{json.dumps(described)}],')
        file.write('"dataSets":[{"structure":0,"observations":{\n')
        comma = ""
        for records in _records(of):
            for record in records:
                said = dict(zip(COLUMNS, record, strict=True))
                place = ":".join(str(at[name][said[name]]) for name in key)
                more = ",".join(
                    str(at[name][said[name]]) if name in at else said[name] or "null" for name in own
                )
                file.write(f'{comma}"{place}":[{said["OBS_VALUE"]},{more}]\n')
                comma = ","
        file.write("}}]}}\n")


def parquet(of: Table, path: Path) -> None:
    """Codes as dictionaries, values and shares as float64, units as whole numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = {"DATAFLOW": pa.array(np.full(len(of["FREQ"]), STRUCTURE)).dictionary_encode()}
    for name, texts in of.items():
        if name in ("OBS_VALUE", "SHARE_1", "SHARE_2"):
            found[name] = pa.array(np.where(texts == "", "nan", texts).astype(float), from_pandas=True)
        elif name == "UNITS":
            found[name] = pa.array(np.where(texts == "", "0", texts).astype(np.int64), mask=texts == "")
        else:
            found[name] = pa.array(texts).dictionary_encode()
    pq.write_table(pa.table(found), path)


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _related(**parts: tuple[str, str]) -> str:
    inside = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{path}"/>'
        for name, (kind, path) in parts.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inside}</Relationships>'


def excel(of: Table, path: Path) -> None:
    """As Excel writes it, with shared texts."""
    numeric = {"OBS_VALUE", "UNITS", "SHARE_1", "SHARE_2", "UNIT_MULT", "TIME_PERIOD"}
    names = ("DATAFLOW", *COLUMNS)
    shared: dict[str, int] = {}

    def cell(column: int, row: int, text: str, number: bool) -> str:
        if not text:
            return ""
        place = f"{chr(65 + column)}{row}"
        return (
            f'<c r="{place}"><v>{text}</v></c>'
            if number
            else f'<c r="{place}" t="s"><v>{shared.setdefault(text, len(shared))}</v></c>'
        )

    def line(row: int, texts: tuple[str, ...], head: bool = False) -> str:
        cells = (cell(at, row, text, names[at] in numeric and not head) for at, text in enumerate(texts))
        return f'<row r="{row}">{"".join(cells)}</row>'

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        archive.writestr("_rels/.rels", _related(r=("officeDocument", "xl/workbook.xml")))
        sheets = '<sheets><sheet name="Data" sheetId="1" r:id="s"/></sheets>'
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{sheets}</workbook>'
        )
        parts = {"s": ("worksheet", "worksheets/sheet1.xml"), "t": ("sharedStrings", "sharedStrings.xml")}
        archive.writestr("xl/_rels/workbook.xml.rels", _related(**parts))
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(f'<worksheet xmlns="{_MAIN}"><sheetData>{line(1, names, head=True)}'.encode())
            row = 1
            for records in _records(of):
                sheet.write(
                    "".join(
                        line(row + number, (STRUCTURE, *record))
                        for number, record in enumerate(records, start=1)
                    ).encode()
                )
                row += len(records)
            sheet.write(b"</sheetData></worksheet>")
        texts = "".join(f"<si><t>{text}</t></si>" for text in shared)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_MAIN}">{texts}</sst>')


# Format → suffix, writer, and the seconds of CPU and bytes of memory that a million
# records may take (None: only told).
FILES: dict[str, tuple[str, Callable[[Table, Path], None], float | None, float | None]] = {
    "SDMX-CSV": (".csv", sdmx_csv, 5, None),
    "Parquet": (".parquet", parquet, 2, None),
    "SDMX-ML 2.1 structure-specific": (".xml", sdmx_ml, 30, 1e9),
    "SDMX-ML 2.1 generic": (".xml", lambda of, path: sdmx_ml(of, path, generic=True), 30, 1e9),
    "SDMX-JSON": (".json", sdmx_json, None, None),
    "Eurostat TSV": (".tsv", eurostat_tsv, None, None),
    "Excel": (".xlsx", excel, None, None),
}
