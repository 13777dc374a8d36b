"""Which file replaces which. Files of one series have the same name, except for a declared version.

`AT_2024.csv`, `AT_2024_v2.csv` and `AT_2024_v10.csv` are one series, in this order. Files of other names never replace one another.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_VERSION = re.compile(r"(?P<stem>.+)_v(?P<number>[1-9][0-9]{0,5})(?P<suffix>\.[^.]*)?")


class Series(NamedTuple):
    """The name of a file without its version, and the version (0 where none is declared)."""

    name: str
    version: int


def series_of(file: str) -> Series:
    """The series to which a file of this name belongs."""
    if found := _VERSION.fullmatch(file):
        return Series(found["stem"] + (found["suffix"] or ""), int(found["number"]))
    return Series(file, 0)
