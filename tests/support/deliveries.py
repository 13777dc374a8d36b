"""Small national tables, drawn in the test, and the files an NSI would send for them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.intake import Delivery, read

PERIOD = "2024"
SECRET = "748591"  # the value of the primary cell below: no finding, result, repr or log may hold it

# Value and flag of each cell; a dot is a cell without a record. Lines 2 to 10 of the file, row by row.
HEALTHY = """
            _T         S       L
    TOTAL   749391 F   400 F   748991 F
    C       700 F      300 D   400 D
    D       748691 F   100 D   748591 A
"""

DOMAIN = """
id: small
title: A table of three activities and three size classes
structure_id: "NSI:SMALL(1.0)"
areas: {dimension: REF_AREA, codelist: areas.csv}
aggregates:
  - {code: EU, label: Union, members: all, partial_code: EU_PARTIAL}
indicators:
  - {code: TURNOVER, label: Turnover, unit: EUR, unit_multiplier: 3}
hierarchies:
  - {dimension: ACTIVITY, codelist: activities.csv}
  - {dimension: SIZECLASS, codelist: sizes.csv}
flags:
  F: {role: public}
  A: {role: primary, rule: {kind: percent, percent: 10}}
  M: {role: primary, rule: {kind: p_percent, p: 10}}
  O: {role: primary, rule: {kind: nk, n: 1, k: 85}}
  D: {role: secondary}
"""

HEADER = "FREQ,REF_AREA,INDICATOR,ACTIVITY,SIZECLASS,TIME_PERIOD,OBS_VALUE,UNIT_MEASURE,UNIT_MULT,OBS_STATUS,CONF_STATUS,UNITS"  # noqa: E501
HEADER += ",SHARE_1,SHARE_2"


def small_domain(folder: Path, old: str = "", new: str = "") -> Domain:
    """The domain above, with one piece of its file replaced."""
    (folder / "areas.csv").write_text("code,parent\nAT,EU\nBE,EU\n")
    (folder / "activities.csv").write_text("code,parent\nTOTAL,\nC,TOTAL\nD,TOTAL\n")
    (folder / "sizes.csv").write_text("code,parent\n_T,\nS,_T\nL,_T\n")
    assert old in DOMAIN
    (folder / "small.yaml").write_text(DOMAIN.replace(old, new))
    return load_domain(folder / "small.yaml")


def cells(drawing: str) -> list[tuple[str, str, str, str]]:
    """(activity, size, value, flag) of every cell of a drawing that has a record."""
    head, *rows = [row.split() for row in drawing.strip().splitlines()]
    found = []
    for activity, *entries in rows:
        for size in head:
            if (value := entries.pop(0)) != ".":
                found.append((activity, size, value, entries.pop(0)))
    return found


def sdmx_1(drawing: str = HEALTHY, country: str = "AT") -> str:
    """SDMX-CSV 1.0."""
    records = [
        f"NSI:SMALL(1.0),A,{country},TURNOVER,{activity},{size},{PERIOD},{value},EUR,3,A,{flag},,,"
        for activity, size, value, flag in cells(drawing)
    ]
    return "\n".join([f"DATAFLOW,{HEADER}", *records, ""])


def sdmx_2(drawing: str = HEALTHY) -> str:
    """SDMX-CSV 2.0."""
    head, *records = sdmx_1(drawing).splitlines()
    return "\n".join(
        [
            head.replace("DATAFLOW", "STRUCTURE,STRUCTURE_ID,ACTION"),
            *(_as_2(record) for record in records),
            "",
        ]
    )


def national(drawing: str = HEALTHY) -> bytes:
    """What NSIs really send: semicolons, decimal comma, byte order mark, CR LF. The
    drawing has no comma of its own.
    """
    return (
        sdmx_1(drawing)
        .replace(",", ";")
        .replace(".", ",")
        .replace("SMALL(1,0)", "SMALL(1.0)")
        .replace("\n", "\r\n")
        .encode("utf-8-sig")
    )


def deliver(domain: Domain, folder: Path, content: str | bytes, period: str = PERIOD) -> Delivery:
    """What intake says of a file with this content."""
    data = content if isinstance(content, bytes) else content.encode()
    found = re.search(rb"[,;]A[,;]([A-Z]{2})[,;]", data)  # frequency and country of the first record
    path = (
        folder / f"{found[1].decode() if found and found[1].decode() in domain.countries else 'AT'}_2024.csv"
    )
    path.write_bytes(data)
    return read(path, domain, period)


def codes(delivery: Delivery) -> list[tuple[str, int | None, str | None]]:
    """(code, line, cell) of each finding, after making sure that nothing said of the delivery holds the
    secret.
    """
    assert SECRET not in repr(delivery)
    assert SECRET not in str(delivery.findings)
    return [(finding.code, finding.line, finding.cell) for finding in delivery.findings]


def _as_2(record: str) -> str:
    return "dataflow," + record.replace("NSI:SMALL(1.0),", "NSI:SMALL(1.0),I,")


def scaled(delivery: Path, prime: int) -> list[dict[str, str]]:
    """Multiplies the values of a file in place, which keeps its table additive and makes them
    unmistakable. Returns its records.
    """
    text = delivery.read_bytes().decode("utf-8-sig")
    separator = ";" if ";" in text.splitlines()[0] else ","
    records = list(csv.DictReader(io.StringIO(text), delimiter=separator))
    for record in records:
        record["OBS_VALUE"] = str(int(record["OBS_VALUE"].removesuffix(",0")) * prime)
    written = io.StringIO()
    writer = csv.DictWriter(written, records[0], delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    delivery.write_text(written.getvalue(), encoding="utf-8")
    return records
