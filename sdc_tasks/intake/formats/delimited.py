"""Delimited text, from bytes to records: SDMX-CSV and national CSV, and findings for files that are not well-formed.

The formats differ in their separator, their decimal sign and the columns that name the structure (`FORMATS`). Reading is the same for
all: find the records and their lines at the level of bytes, set aside records without the header's number of fields, and let pandas split
the rest into columns of text. This module does not know the meaning of a column.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdc_tasks.intake.findings import Findings, shown
from sdc_tasks.intake.formats.records import Concepts, Records, WireFormat
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.table import Ints

MAX_RECORD = 65_536  # bytes; the longest real record has a few hundred
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LF, _QUOTE = 10, 34


_SDMX_1 = (("DATAFLOW",), "DATAFLOW")
_SDMX_2 = (("STRUCTURE", "STRUCTURE_ID", "ACTION"), "STRUCTURE_ID")
FORMATS = (
    WireFormat("SDMX-CSV 1.0", ",", ".", *_SDMX_1),
    WireFormat("SDMX-CSV 2.0", ",", ".", *_SDMX_2),
    WireFormat("national CSV", ";", ",", *_SDMX_1),
    WireFormat("national CSV in the layout of SDMX-CSV 2.0", ";", ",", *_SDMX_2),
)


def _known(concepts: Concepts) -> set[str]:
    """The columns of the domain and of the formats themselves."""
    return {*concepts.required, *concepts.optional, *(column for wire in FORMATS for column in wire.structure_columns)}


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The well-formed records of the file; None where the whole file cannot be read (the findings say why). A file of more than
    `most` lines is not parsed: the positions of its fields would take many times its memory.
    """
    data = _plain(data, found)
    if found.refused:
        return None
    head, _, _ = data.partition(b"\n")
    header = _header(head, concepts, found)
    if header is None:
        return None
    wire, names = header
    if data.count(b"\n") > most or data.count(wire.separator.encode()) > 2 * most * len(names):
        found.add("140", f"the file has more than {most} lines, or too many fields for them: send the table and nothing else")
        return None
    layout = _layout(data, wire.separator, found)
    if layout is None:
        return None
    good = _good_records(layout, len(names), found)
    if not layout.terminated and good.size and good[-1] == len(layout.start) - 1:
        _refuse_cut_field(data.rsplit(wire.separator.encode(), 1)[-1], len(names), int(layout.line[-1]), found)
    if not layout.start.size:
        found.add("140", "the file has a header but no record: send the complete table")
    if not good.size:
        return None
    return Records(wire, layout.line[good], _columns(data, layout, good, wire.separator, names, concepts))


def first(data: bytes, column: str) -> str:
    """The text of a column in the first record, empty where there is none: a guess, without parsing."""
    lines = (line for line in data.decode("utf-8-sig", "replace").splitlines() if line.strip())
    header, record = next(lines, ""), next(lines, "")
    for separator in (",", ";"):
        names = [name.strip(' "') for name in header.split(separator)]
        if column in names:
            fields, at = record.split(separator), names.index(column)
            return fields[at].strip(' "') if at < len(fields) else ""
    return ""


def _plain(data: bytes, found: Findings) -> bytes:
    """The text without byte order mark and with LF line ends. Adds a finding where it is not UTF-8 text."""
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        found.add("140", "the file is empty: send the complete table")
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        found.add("140", "the file is UTF-16: save it as UTF-8")
    elif data.startswith(b"PK\x03\x04"):
        found.add("140", "the file is an archive or a workbook: send plain CSV in UTF-8")
    elif data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found.add("140", "the file looks like XML: send SDMX-ML as .xml, or SDMX-CSV")
    elif control := _CONTROL.search(data):
        found.add("140", "a control character (such as NUL) in the text: export the file again as UTF-8", _line_at(data, control.start()))
    else:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            found.add("140", "the text is not UTF-8: save it as UTF-8", _line_at(data, error.start))
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if not found.refused and b"\r" in data:
        found.add("140", "a carriage return without a line feed: end every line with LF or CR LF", _line_at(data, data.index(b"\r")))
    return data


def _line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _header(head: bytes, concepts: Concepts, found: Findings) -> tuple[WireFormat, list[str]] | None:
    """The format and the column names. The separator is the one that gives known columns; it is never guessed."""
    known = _known(concepts)
    splits = {separator: _split(head, separator) for separator in (",", ";")}
    separator, names = max(splits.items(), key=lambda split: len(known & set(split[1])))
    if len(known & set(names)) < 2:
        found.add("140", "no known column in the first line: it must name the columns, separated by commas or semicolons", 1)
        return None
    columns = "STRUCTURE" if {"STRUCTURE", "STRUCTURE_ID", "ACTION"} & set(names) else "DATAFLOW"
    wire = next(wire for wire in FORMATS if wire.separator == separator and columns in wire.structure_columns)
    if not _columns_fit(names, known, (*wire.structure_columns, *concepts.required), found):
        return None
    return wire, names


def _split(head: bytes, separator: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([head.decode("utf-8")], delimiter=separator, strict=True))]
    except (csv.Error, StopIteration):
        return []


def _columns_fit(names: list[str], known: set[str], required: tuple[str, ...], found: Findings) -> bool:
    for column in required:
        if column not in names:
            found.add("150/003", f"column {column} is missing: add it", 1)
    for number, name in enumerate(names, start=1):
        if name and name in names[: number - 1]:
            found.add("150/007", f"{_called(number, name, known)} repeats an earlier column: send each column once", 1)
        elif name not in known:
            message = f"{_called(number, name, known)} is not in the structure and is not read"
            found.add("150/007", message, 1, severity=Severity.WARNING)
    return not found.refused


def _called(number: int, name: str, known: set[str]) -> str:
    told = shown(name, known)
    return f"column {number} ({told})" if told else f"column {number}"


@dataclass(frozen=True)
class _Layout:
    """The position of each record of the file: bytes `start` to `end` (without the header), its first line, its number of fields."""

    start: Ints
    end: Ints
    line: Ints
    fields: Ints
    terminated: bool


def _layout(data: bytes, separator: str, found: Findings) -> _Layout | None:
    """Finds the records, with quotation marks as in RFC 4180. None where the quotation or the length of a record is wrong."""
    raw = np.frombuffer(data, dtype=np.uint8)
    line_ends = np.flatnonzero(raw == _LF)
    separators = np.flatnonzero(raw == ord(separator))
    record_ends = line_ends
    if (quotes := np.flatnonzero(raw == _QUOTE)).size:
        if (wrong := _wrong_quote(raw, quotes, ord(separator))) is not None:
            message = "a quotation mark is not closed, or inside an unquoted field: quote whole fields; is the file complete?"
            found.add("140", message, _line_at(data, wrong))
            return None
        outside = [np.searchsorted(quotes, at) % 2 == 0 for at in (line_ends, separators)]
        record_ends, separators = line_ends[outside[0]], separators[outside[1]]
    terminated = data.endswith(b"\n")
    ends = record_ends if terminated else np.append(record_ends, len(data))
    starts = np.append(0, ends[:-1] + 1)
    if (long := np.flatnonzero(ends - starts > MAX_RECORD)).size:
        message = f"a record of more than {MAX_RECORD} bytes: check quotation marks and line ends"
        found.add("140", message, _line_at(data, int(starts[long[0]])))
        return None
    fields = np.searchsorted(separators, ends) - np.searchsorted(separators, starts) + 1
    kept = np.flatnonzero(ends > starts)[1:]  # not the empty lines, not the header
    return _Layout(starts[kept], ends[kept], np.searchsorted(line_ends, starts[kept]) + 1, fields[kept], terminated)


def _wrong_quote(raw: npt.NDArray[np.uint8], quotes: Ints, separator: int) -> int | None:
    """The offset of a quotation mark that neither opens, closes nor is doubled inside a field."""
    edge = np.array([separator, _LF, _QUOTE], dtype=np.uint8)
    padded = np.concatenate([[_LF], raw, [_LF]])
    opening, closing = quotes[::2], quotes[1::2]
    wrong = np.append(opening[~np.isin(padded[opening], edge)], closing[~np.isin(padded[closing + 2], edge)])
    if len(quotes) % 2:
        wrong = np.append(wrong, quotes[-1])
    return int(wrong.min()) if wrong.size else None


def _good_records(layout: _Layout, width: int, found: Findings) -> Ints:
    """The records with as many fields as the header. Adds a finding for each other record."""
    bad = np.flatnonzero(layout.fields != width)
    if bad.size and not layout.terminated and bad[-1] == len(layout.fields) - 1:
        found.add("140", "the file ends in the middle of a line: send it again, complete", int(layout.line[-1]))
        bad = bad[:-1]
    found.each(
        "150/904-1",
        bad,
        layout.line,
        lambda row: f"{layout.fields[row]} fields where the header has {width} columns: check separator and decimal sign",
    )
    return np.flatnonzero(layout.fields == width)


def _refuse_cut_field(last: bytes, column: int, line: int, found: Findings) -> None:
    """Refuses a last field that may be cut short: the file has no final line break. An empty, quoted or one-letter field is whole."""
    last = last.strip()
    if last.endswith(b'"') or (len(last) <= 1 and not last.isdigit()):
        return
    found.add("140", f"the file ends inside column {column}, which may be cut short: end the last line with a line break", line)


def _columns(
    data: bytes, layout: _Layout, good: Ints, separator: str, names: list[str], concepts: Concepts
) -> dict[str, tuple[list[str], Ints]]:
    """The good records as one column for each concept of the domain or the format."""
    import pandas as pd  # imported here: `sdc cta` does not need it, and it takes a second

    known = [number for number, name in enumerate(names) if name in _known(concepts)]
    spans = zip(layout.start[good].tolist(), layout.end[good].tolist(), strict=True)
    frame = pd.read_csv(
        io.BytesIO(b"\n".join(data[start:end] for start, end in spans)),
        sep=separator,
        header=None,
        usecols=known,
        dtype=str,  # not "category": that would turn codes that look like numbers into numbers
        na_filter=False,
        low_memory=False,
        encoding="utf-8",
    )
    found = {}
    for number in known:
        which, texts = pd.factorize(frame[number].to_numpy(dtype=object))
        found[names[number]] = [str(text).strip() for text in texts], which.astype(np.int64)
    return found
