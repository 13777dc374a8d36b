"""The formats of deliveries: discover, by the name of a file, who reads it.

    discover ──▶ Format.read ──▶ Records, or findings

A further format is a module beside `delimited.py` that returns `Records`, and a line here. Whatever it is sent, it reads or refuses it
with findings, within the number of records that it is told.
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
    """A kind of file. `read(data, concepts, found, most)`: its records, None where the findings refuse the file; no more than `most`."""

    name: str
    suffixes: frozenset[str]
    read: Read


FORMATS = (Format("delimited text", frozenset({".csv", ".txt"}), delimited.parse),)
SUFFIXES = frozenset(suffix for each in FORMATS for suffix in each.suffixes)


def discover(file: str) -> Format | None:
    """The format of a file of that name; None where no format has its suffix."""
    suffix = PurePath(file).suffix.lower()
    return next((each for each in FORMATS if suffix in each.suffixes), None)
