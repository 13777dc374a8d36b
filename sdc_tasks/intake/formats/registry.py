"""The registry of delivery formats. The name of a file decides which format reads it.

    discover ──▶ Format.read ──▶ Records, or findings

A new format needs a module beside `delimited.py` and `sdmx_ml.py` that returns `Records`, and a line here. It
reads any bytes, or refuses them with findings, and returns at most the given number of records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from sdc_tasks.intake.content import Content
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats import columnar, delimited, eurostat_tsv, json_message, sdmx_ml
from sdc_tasks.intake.formats.packed import inner_name, is_packed
from sdc_tasks.intake.formats.records import Concepts, Records
from sdc_tasks.intake.formats.workbook import reader as workbook

Read = Callable[[Content, Concepts, Findings, int], Records | None]
First = Callable[[bytes, str], str]


@dataclass(frozen=True)
class Format:
    """A kind of file. `read(content, concepts, found, most)` returns at most `most` records, or None
    where findings refuse the file. `first(data, concept)` is the text of the first record, as far as
    one sees it without reading: it only says whom to ask about a file that is refused. `record_bytes`:
    no table needs more for a record.
    """

    name: str
    suffixes: frozenset[str]
    read: Read
    first: First
    record_bytes: int


def _at_once(parse: Callable[[bytes, Concepts, Findings, int], Records | None]) -> Read:
    """A reader that needs all bytes at once."""
    return lambda content, concepts, found, most: parse(content.whole(), concepts, found, most)


DELIMITED = Format(
    "delimited text", frozenset({".csv", ".txt"}), _at_once(delimited.parse), delimited.first, 512
)  # a real record has 60 to 200 bytes
FORMATS = (
    DELIMITED,
    Format(
        "SDMX-ML", frozenset({".xml"}), sdmx_ml.parse, sdmx_ml.first, 4096
    ),  # a generic, flat one up to 2000
    Format(
        "Parquet or Arrow",
        frozenset({".parquet", ".pq", ".arrow", ".arrows", ".feather"}),
        _at_once(columnar.parse),
        columnar.first,
        512,
    ),
    Format("Eurostat TSV", frozenset({".tsv"}), _at_once(eurostat_tsv.parse), eurostat_tsv.first, 512),
    Format("Excel", frozenset({".xlsx"}), _at_once(workbook.parse), workbook.first, 512),
    Format(
        "SDMX-JSON or JSON-stat", frozenset({".json"}), _at_once(json_message.parse), json_message.first, 512
    ),
)
SUFFIXES = frozenset(suffix for each in FORMATS for suffix in each.suffixes)


def discover(file: str) -> Format | None:
    """The format of a file with this name; None where no format has its suffix."""
    suffix = PurePath(file).suffix.lower()
    return next((each for each in FORMATS if suffix in each.suffixes), None)


def may_be_read(file: str) -> bool:
    """Whether a file of this name is opened: a format has its suffix, or that of what it holds. Only its
    content tells what a zip holds.
    """
    return discover(inner_name(file)) is not None or (
        is_packed(file) and PurePath(file).suffix.lower() == ".zip"
    )
