"""The header of a delimited file: which concept each column holds, as SDMX-CSV 1.0, 2.0 and 2.1 write it.

    STRUCTURE[;]           the sub-field separator, where a concept may have several values
    CONF_STATUS[]          such a concept
    GEO: Area              with `labels=both`, a label; the records then hold codes with labels, `LU:
                           Luxembourg`
    GEO,Area               with `labels=name`, a column of labels behind each column of codes; STRUCTURE_NAME
                           says so. A label may be the code itself in another case: `INDICATOR,Indicator`.
                           Where one column of codes has none behind it, no column is a label
    SERIES_KEY, OBS_KEY    repeat the dimensions, and are not read
    LAST UPDATE            when Eurostat last changed the table

The order of the columns is free. A name is that of a concept of the domain in any case, as Eurostat writes
`geo`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from sdc_tasks.intake.findings import Findings, shown
from sdc_tasks.intake.formats.records import Concepts, WireFormat, concept_of

_SDMX_1, _SDMX_2 = ("DATAFLOW",), ("STRUCTURE", "STRUCTURE_ID")
_SEPARATED = {  # separator: decimal sign, and the name with the columns of SDMX-CSV 1 and of 2
    ",": (".", "SDMX-CSV 1.0", "SDMX-CSV 2"),
    ";": (",", "national CSV", "national CSV in the layout of SDMX-CSV 2"),
    "\t": (".", "tab-separated text", "tab-separated text in the layout of SDMX-CSV 2"),
}
FORMATS = {
    (separator, columns): WireFormat(name, decimal, columns)
    for separator, (decimal, *names) in _SEPARATED.items()
    for columns, name in zip((_SDMX_1, _SDMX_2), names, strict=True)
}
SEPARATORS = tuple(_SEPARATED)
LAST_UPDATE = "LAST UPDATE"
OF_FORMAT = ("DATAFLOW", "STRUCTURE", "STRUCTURE_ID", "ACTION", LAST_UPDATE)
_NAMED, _LABELS = "STRUCTURE_NAME", ":"  # the second stands for a column of labels; no column has that name
_UNREAD = {_NAMED, _LABELS, "SERIES_KEY", "OBS_KEY"}
_COLUMN = re.compile(r"([^\[\]:]+)(\[[^\[\]]*\])?(?:: .*)?")
LABEL = ": "  # between a code and its label


@dataclass(frozen=True)
class CsvHeader:
    """`names`: the concept of each column, None where a column is not read. `several`: the concepts that may
    have several values, which stand between `between`.
    """

    wire: WireFormat
    separator: str
    names: tuple[str | None, ...]
    several: frozenset[str]
    between: str

    @property
    def partial(self) -> bool:
        """Whether a record without a value may hold attributes of a part of a key."""
        return self.wire.structure_columns == _SDMX_2


def read_header(head: bytes, concepts: Concepts, found: Findings) -> CsvHeader | None:
    """The header in the first line. The separator is the one that gives known columns; it is
    never guessed.
    """
    known = known_columns(concepts)
    separator, texts = _separated(head, known)
    parsed = [_concept(text, known) for text in texts]
    names = _without_labels(texts, _own([name for name, _ in parsed], concepts), concepts)
    if len(known & set(names)) < 2:
        message = (
            "no known column in the first line: it must name the columns, separated by "
            "commas, semicolons or tabs"
        )
        found.add("140", message, 1)
        return None
    wire = FORMATS[separator, _structure_columns(names)]
    columns_fit(names, known, (*wire.structure_columns, *concepts.required), found)
    several, between = _several(parsed, known)
    if several and not between:
        found.add(
            "150/007",
            "columns with [] need a sub-field separator in the header of the first one, such as "
            "STRUCTURE[;]: add it",
            1,
        )
    return None if found.refused else CsvHeader(wire, separator, _read(names, known), several, between)


def _separated(head: bytes, known: Set[str]) -> tuple[str, list[str]]:
    """The separator that gives most known columns, and the texts of the columns."""
    splits = {separator: _split(head, separator) for separator in SEPARATORS}
    return max(splits.items(), key=lambda split: len({_concept(text, known)[0] for text in split[1]} & known))


def _own(names: list[str], concepts: Concepts) -> list[str]:
    """The columns under the names of the domain. Where there is one of the status, a column of the name that
    Eurostat gives it is one that nobody knows.
    """
    return names if concepts.obs_status in names else [concepts.own(name) for name in names]


def _several(parsed: Sequence[tuple[str, str | None]], known: Set[str]) -> tuple[frozenset[str], str]:
    """The concepts that may have several values, and what stands between these: the bracket of STRUCTURE."""
    brackets = [(name, bracket) for name, bracket in parsed if bracket is not None]
    between = next((bracket for name, bracket in brackets if name == "STRUCTURE" and bracket), "")[:1]
    return frozenset(name for name, _ in brackets if name in known and name != "STRUCTURE"), between


def _structure_columns(names: Sequence[str]) -> tuple[str, ...]:
    """The columns that name the structure, in the version of SDMX-CSV that the header shows."""
    return _SDMX_2 if {"STRUCTURE", "STRUCTURE_ID", "ACTION"} & set(names) else _SDMX_1


def _read(names: Sequence[str], known: Set[str]) -> tuple[str | None, ...]:
    return tuple(name if name in known else None for name in names)


def fitting_names(
    kind: str, names: Sequence[str], concepts: Concepts, found: Findings
) -> tuple[WireFormat, tuple[str | None, ...]] | None:
    """The format and the concept of each column of a table that is no text, None where a column
    is not read. None with findings.
    """
    known = known_columns(concepts)
    said = _without_labels(names, [_concept(name, known)[0] for name in names], concepts)
    layout = _structure_columns(said)
    columns_fit(said, known, (*layout[-1:], *concepts.required), found)
    return None if found.refused else (WireFormat(kind, ".", layout), _read(said, known))


def known_columns(concepts: Concepts) -> set[str]:
    """The columns of the domain and of the formats themselves."""
    return {*concepts.required, *concepts.optional, *OF_FORMAT}


def first_of(header: str, record: str, column: str) -> str:
    """The code of a column in a record, as far as one sees it without knowing the
    concepts; empty where there is none.
    """
    for separator in SEPARATORS:
        found = [_COLUMN.fullmatch(name) for name in _split(header.encode(), separator)]
        names = [match[1].strip().upper() if match else "" for match in found]
        if column.upper() in names:
            fields = _split(record.encode(), separator)
            return next(
                (text for name, text in zip(names, fields, strict=False) if name == column.upper()), ""
            ).partition(LABEL)[0]
    return ""


def _split(head: bytes, separator: str) -> list[str]:
    try:
        return [
            name.strip()
            for name in next(csv.reader([head.decode("utf-8")], delimiter=separator, strict=True))
        ]
    except (csv.Error, StopIteration):
        return []


def _concept(text: str, known: Set[str]) -> tuple[str, str | None]:
    """The concept in the text of a column, and what its brackets hold, None without brackets."""
    match = _COLUMN.fullmatch(text)
    if match is None:
        return text, None
    return concept_of(match[1].strip(), known), None if match[2] is None else match[2][1:-1]


def _without_labels(texts: Sequence[str], names: Sequence[str], concepts: Concepts) -> list[str]:
    """The concepts of the columns, with `_LABELS` in the place of a column of labels. `texts` are the columns
    as they are written, which tell a concept from a label that is like it in another case.

    Labels are for all columns of codes, or for none: a column that nobody knows, behind one of them alone, is
    no label, and is told. Numbers and periods may do without, and the columns of the format have none.
    """
    if _NAMED not in names:
        return list(names)
    found = _with_labels(texts, names, known_columns(concepts))
    labelled = {before for before, name in pairwise(found) if name == _LABELS}
    coded = set(concepts.required).difference(concepts.numbers, ["TIME_PERIOD"])
    return found if coded & set(found) <= labelled else list(names)


def _with_labels(texts: Sequence[str], names: Sequence[str], known: Set[str]) -> list[str]:
    """The same where any column may be one of labels that stands behind one of the domain."""
    ids = [match[1].strip() if (match := _COLUMN.fullmatch(text)) else text for text in texts]
    found: list[str] = []
    of_domain = known - set(OF_FORMAT)
    for said, name in zip(ids, names, strict=True):
        before = found[-1] if found else ""
        label = name not in known | _UNREAD or name == before or (said != name and name in ids)
        found.append(_LABELS if label and before in of_domain else name)
    return found


def columns_fit(names: Sequence[str], known: Set[str], required: tuple[str, ...], found: Findings) -> None:
    """Adds findings for concepts without a column or with two, and for columns without a concept."""
    for column in required:
        if column not in names:
            found.missing(f"column {column}", line=1)
    echoes = _echoes(names, known)
    if len(echoes) > 1:
        message = (
            f"{len(echoes)} columns, the first of them column {echoes[0] + 1}, have the name of the column "
            f"before them: labels have columns of their own in SDMX-CSV 2, with STRUCTURE_NAME. Send that, "
            f"or no labels"
        )
        found.add("150/007", message, 1)
        return
    for number, name in enumerate(names, start=1):
        if name in known and name in names[: number - 1]:
            found.add(
                "150/007",
                f"{_called(number, name, known)} repeats an earlier column: send each column once",
                1,
            )
        elif name in _UNREAD:
            found.pass_over()
        elif name not in known:
            found.unread(_called(number, name, known), 1)


def _echoes(names: Sequence[str], known: Set[str]) -> list[int]:
    """Where a known column has the name of the one before it."""
    return [at for at in range(1, len(names)) if names[at] in known and names[at] == names[at - 1]]


def _called(number: int, name: str, known: Set[str]) -> str:
    told = shown(name, known)
    return f"column {number} ({told})" if told else f"column {number}"
