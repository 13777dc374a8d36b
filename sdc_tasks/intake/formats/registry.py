"""The registry of delivery formats. The name of a file decides which format reads it.

    discover ──▶ Format.read ──▶ Records, or findings

A new format needs a module beside `delimited.py` that returns `Records`, and a line here. It reads any bytes, or refuses them with
findings, and returns at most the given number of records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats import delimited
from sdc_tasks.intake.formats.records import Concepts, Records

Read = Callable[[bytes, Concepts, Findings, int], Records | None]


@dataclass(frozen=True)
class Format:
    """A kind of file. `read(data, concepts, found, most)` returns at most `most` records, or None where findings refuse the file."""

    name: str
    suffixes: frozenset[str]
    read: Read


FORMATS = (Format("delimited text", frozenset({".csv", ".txt"}), delimited.parse),)
SUFFIXES = frozenset(suffix for each in FORMATS for suffix in each.suffixes)


def discover(file: str) -> Format | None:
    """The format of a file with this name; None where no format has its suffix."""
    suffix = PurePath(file).suffix.lower()
    return next((each for each in FORMATS if suffix in each.suffixes), None)
