"""Delimited text, from bytes to records: SDMX-CSV and national CSV, and findings for
files that are not well-formed.

The formats differ in their separator, their decimal sign and the columns that name the structure
(`header.py`). Reading is the same for all: find the records and their lines at the level of bytes, set
aside records without the header's number of fields, and split the rest into columns of text: by bytes
(`fields.py`), or by pandas where a field is quoted or long. Codes lose their labels. This module does
not know the meaning of a column.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.encoding import as_utf_8, line_at, readable
from sdc_tasks.intake.formats.fields import FieldBytes
from sdc_tasks.intake.formats.groups import UNSAID, Group, spread
from sdc_tasks.intake.formats.header import LABEL, OF_FORMAT, CsvHeader, first_of, read_header
from sdc_tasks.intake.formats.records import Concepts, Records
from sdc_tasks.model.table import Bools, Ints

MAX_RECORD = 65_536  # bytes; the longest real record has a few hundred
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LF, _QUOTE = 10, 34
_OPEN = ("", "~")  # what a dimension holds that is left open


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The well-formed records of the file; None where the whole file cannot be read (the
    findings say why). A file of more than `most` lines is not parsed: the positions of its
    fields would take many times its memory.
    """
    data = _plain(data, found)
    header = None if found.refused else read_header(data.partition(b"\n")[0], concepts, found)
    if header is None:
        return None
    separator, names = header.separator, header.names
    if data.count(b"\n") > most or data.count(separator.encode()) > 2 * most * len(names):
        found.add(
            "140",
            f"the file has more than {most} lines, or too many fields for them: send the table and nothing "
            f"else",
        )
        return None
    layout = _layout(data, separator, found)
    if layout is None:
        return None
    good = _good_records(layout, len(names), found)
    _refuse_cut_field(data, header, layout, good, found)
    if not layout.start.size:
        found.add("140", "the file has a header but no record: send the complete table")
    if not good.size:
        return None
    records = Records(
        header.wire, layout.line[good], _columns(data, layout, good, separator, names, concepts)
    )
    _refuse_several(records, header, found)
    return _without_partial(records, concepts, found) if header.partial else records


def first(data: bytes, column: str) -> str:
    """The text of a column in the first record, empty where there is none: a guess, without parsing."""
    lines = (line for line in readable(data).splitlines() if line.strip())
    return first_of(next(lines, ""), next(lines, ""), column)


def _plain(data: bytes, found: Findings) -> bytes:
    """The text as UTF-8 without byte order mark and with LF line ends. Adds a finding where it is no text."""
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        found.add("140", "the file is empty: send the complete table")
    elif data.startswith(b"PK\x03\x04"):
        found.add(
            "140",
            "the file is an archive or a workbook, although its name says text: give it the name of what it "
            "is",
        )
    elif data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found.add("140", "the file looks like XML: send SDMX-ML as .xml, or SDMX-CSV")
    else:
        data = as_utf_8(data, found)
        if not found.refused and (control := _CONTROL.search(data)):
            message = "a control character (such as NUL) in the text: export the file again as UTF-8"
            found.add("140", message, line_at(data, control.start()))
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if not found.refused and b"\r" in data:
        found.add(
            "140",
            "a carriage return without a line feed: end every line with LF or CR LF",
            line_at(data, data.index(b"\r")),
        )
    return data


@dataclass(frozen=True)
class _Layout:
    """The position of each record of the file: bytes `start` to `end` (without the header),
    its first line, its number of fields; and the `separators` of the whole file. `quoted`:
    whether there is any quotation mark.
    """

    start: Ints
    end: Ints
    line: Ints
    fields: Ints
    separators: Ints
    quoted: bool
    terminated: bool


def _layout(data: bytes, separator: str, found: Findings) -> _Layout | None:
    """Finds the records, with quotation marks as in RFC 4180. None where the quotation or
    the length of a record is wrong.
    """
    raw = np.frombuffer(data, dtype=np.uint8)
    line_ends = np.flatnonzero(raw == _LF)
    separators = np.flatnonzero(raw == ord(separator))
    record_ends = line_ends
    if (quotes := np.flatnonzero(raw == _QUOTE)).size:
        if (wrong := _wrong_quote(raw, quotes, ord(separator))) is not None:
            message = (
                "a quotation mark is not closed, or inside an unquoted field: quote whole "
                "fields; is the file complete?"
            )
            found.add("140", message, line_at(data, wrong))
            return None
        outside = [np.searchsorted(quotes, at) % 2 == 0 for at in (line_ends, separators)]
        record_ends, separators = line_ends[outside[0]], separators[outside[1]]
    terminated = data.endswith(b"\n")
    ends = record_ends if terminated else np.append(record_ends, len(data))
    starts = np.append(0, ends[:-1] + 1)
    if (long := np.flatnonzero(ends - starts > MAX_RECORD)).size:
        message = f"a record of more than {MAX_RECORD} bytes: check quotation marks and line ends"
        found.add("140", message, line_at(data, int(starts[long[0]])))
        return None
    fields = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    kept = np.flatnonzero(ends > starts)[1:]  # not the empty lines, not the header
    return _Layout(
        starts[kept],
        ends[kept],
        np.searchsorted(line_ends, starts[kept]) + 1,
        fields[kept],
        separators,
        bool(quotes.size),
        terminated,
    )


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
        found.add(
            "140", "the file ends in the middle of a line: send it again, complete", int(layout.line[-1])
        )
        bad = bad[:-1]
    found.each(
        "150/904-1",
        bad,
        layout.line,
        lambda row: (
            f"{layout.fields[row]} fields where the header has {width} columns: check separator and decimal "
            f"sign"
        ),
    )
    return np.flatnonzero(layout.fields == width)


def _refuse_cut_field(data: bytes, header: CsvHeader, layout: _Layout, good: Ints, found: Findings) -> None:
    """Refuses a last field that may be cut short, an empty one too: the file has no final line
    break. A quoted field is whole.
    """
    if layout.terminated or not good.size or good[-1] < len(layout.start) - 1:
        return
    last = data.rsplit(header.separator.encode(), 1)[-1]
    if not last.strip().endswith(b'"'):
        found.add(
            "140",
            f"the file ends inside column {len(header.names)}, which may be cut short: end the last line "
            f"with a line break",
            int(layout.line[-1]),
        )


def _columns(
    data: bytes,
    layout: _Layout,
    good: Ints,
    separator: str,
    names: Sequence[str | None],
    concepts: Concepts,
) -> dict[str, tuple[list[str], Ints]]:
    """The good records as one column for each concept of the domain or the format."""
    labelled = LABEL.encode() in data
    split = None if layout.quoted else _split_by_bytes(data, layout, good, names)
    found = {}
    for name, (texts, which) in (split or _split_by_pandas(data, layout, good, separator, names)).items():
        if labelled:
            texts = [_without_label(text.strip(), name in concepts.numbers) for text in texts]
        found[name] = concepts.all_plain(name, texts), which
    return found


def _split_by_bytes(
    data: bytes, layout: _Layout, good: Ints, names: Sequence[str | None]
) -> dict[str, tuple[list[str], Ints]] | None:
    """The columns of a text without quotation marks; None where a field is long."""
    found: dict[str, tuple[list[str], Ints]] = {}
    start, end, between = layout.start[good], layout.end[good], _between(layout, good, len(names))
    bytes_of = FieldBytes(data)
    for number, name in enumerate(names):
        if name is not None:
            begin = start if number == 0 else between[:, number - 1] + 1
            stop = end if number == len(names) - 1 else between[:, number]
            if (column := bytes_of.column(begin, stop)) is None:
                return None
            found[name] = column
    return found


def _between(layout: _Layout, good: Ints, width: int) -> Ints:
    """(records, width − 1): the separators between the fields of the good records."""
    if not width - 1 or not good.size:
        return np.empty((len(good), 0), dtype=np.int64)
    first = np.searchsorted(layout.separators, layout.start[good])
    if len(good) == len(layout.start):  # no other separators stand between theirs
        found: Ints = layout.separators[first[0] :].reshape(len(good), width - 1)
    else:
        found = layout.separators[first[:, None] + np.arange(width - 1)]
    return found


def _split_by_pandas(
    data: bytes, layout: _Layout, good: Ints, separator: str, names: Sequence[str | None]
) -> dict[str, tuple[list[str], Ints]]:
    """The columns of any text."""
    import pandas as pd  # imported here: `sdc cta` does not need it, and it takes a second

    known = {number: name for number, name in enumerate(names) if name is not None}
    spans = zip(layout.start[good].tolist(), layout.end[good].tolist(), strict=True)
    frame = pd.read_csv(
        io.BytesIO(
            codecs.BOM_UTF8 + b"\n".join(data[start:end] for start, end in spans)
        ),  # pandas takes a mark away: not that of a field
        sep=separator,
        header=None,
        usecols=list(known),
        dtype=object,  # texts as they are; "category" would turn codes that look like numbers into numbers
        na_filter=False,
        low_memory=False,
        encoding="utf-8",
    )
    found = {}
    for number, name in known.items():
        which, texts = pd.factorize(frame[number].to_numpy(dtype=object))
        found[name] = list(texts), which.astype(np.int64)
    return found


def _without_label(text: str, number: bool) -> str:
    """The code of `LU: Luxembourg`. What is a number has no label but itself, so that nothing is cut off a
    value.
    """
    code, separator, label = text.partition(LABEL)
    if separator and (not code.strip() or (number and label.strip() != code)):
        return text  # a label without a code is no code
    return code.strip()


def _refuse_several(records: Records, header: CsvHeader, found: Findings) -> None:
    """Adds a finding for each record with several values of one concept."""
    for name in sorted(header.several):
        if header.between:
            several = records.where(name, lambda text: header.between in text)
            message = f"{name} has several values, or its values are marked as several: send one"
            found.each("150/007", np.flatnonzero(several), records.line, message)


def _without_partial(records: Records, concepts: Concepts, found: Findings) -> Records | None:
    """The observations, with what the other records say of a part of a key: those that have no value and not
    the whole key. A dimension that is left open is empty or ~.
    """
    dimensions = [name for name in concepts.dimensions if name in records.columns]
    is_open = {name: records.where(name, _OPEN.__contains__) for name in dimensions}
    partial = np.logical_or.reduce(list(is_open.values())) & records.among("OBS_VALUE", {""})
    if not partial.any():
        return records
    groups = _groups(records, concepts, partial, is_open)
    if partial.all():
        found.add("140", "no record has a value: send the complete table")
        return None
    _refuse_other_table(records, partial, found)
    kept = np.flatnonzero(~partial)
    texts, which = _numbered(records, kept)
    for name in sorted(spread(groups, texts, which, found)):
        message = (
            f"{name} is said twice of one observation, differently, by records of a part of "
            f"its key: say it once"
        )
        found.add("150/007", message, int(records.line[np.flatnonzero(partial)[0]]))
    columns = {
        name: ([*texts[name], ""], np.where(at == UNSAID, len(texts[name]), at)) for name, at in which.items()
    }
    return Records(records.format, records.line[kept], columns)


def _groups(
    records: Records, concepts: Concepts, partial: Bools, is_open: Mapping[str, Bools]
) -> list[Group]:
    """What each record of a part of a key says; `is_open`: the records that leave a dimension open."""
    said = [
        name
        for name in (*concepts.required, *concepts.optional)
        if name not in concepts.dimensions and records.has(name)
    ]
    groups: list[Group] = []
    for row in np.flatnonzero(partial).tolist():
        key = {name: records.text(name, row) for name in is_open if not is_open[name][row]}
        content = {name: text for name in said if (text := records.text(name, row))}
        groups.append(Group(key, content, "a part of a key", int(records.line[row])))
    return groups


def _refuse_other_table(records: Records, partial: Bools, found: Findings) -> None:
    """Adds a finding where a record of a part of a key has another structure or action than observations."""
    for name in filter(records.has, OF_FORMAT):
        which = records.which(name)
        if (other := np.setdiff1d(which[partial], which[~partial])).size:
            row = np.flatnonzero(partial & np.isin(which, other))[0]
            message = (
                f"{name} of a record of a part of a key is not that of an observation: a delivery "
                f"is one table, and deletes nothing"
            )
            found.add("SDC/action" if name == "ACTION" else "SDC/structure", message, int(records.line[row]))


def _numbered(records: Records, kept: Ints) -> tuple[dict[str, dict[str, int]], dict[str, Ints]]:
    """The numbers of the texts of each concept, and those of the kept records, UNSAID for the empty text."""
    texts: dict[str, dict[str, int]] = {}
    which: dict[str, Ints] = {}
    for name, (mine, at) in records.columns.items():
        texts[name] = {}
        numbers = np.array(
            [texts[name].setdefault(text, len(texts[name])) if text else UNSAID for text in mine],
            dtype=np.int64,
        )
        which[name] = numbers[at[kept]]
    return texts, which
