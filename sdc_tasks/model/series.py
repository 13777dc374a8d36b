"""What the name of a file says: which file it replaces, and which country sent it; and
what people say of a second file.

Files of one series have the same name, except for a declared version:
`AT_2024.csv`, `AT_2024_v2.csv` and `AT_2024_v10.csv` are one series, in this order. Files of other
names never replace one another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

ODD_NAME, NO_FORMAT = "its name has characters that are not text", "no format has this suffix"
_VERSION = re.compile(r"(?P<stem>.+)_v(?P<number>[1-9][0-9]{0,5})(?P<suffix>\.[^.]*(\.(gz|zip))?)?")


class Answer(StrEnum):
    """What a second file of a country is. keep: the accepted files stay, this one does not count. replace:
    this file counts instead of them. both: all are one delivery.
    """

    KEEP = "keep"
    REPLACE = "replace"
    BOTH = "both"


class Series(NamedTuple):
    """The name of a file without its version, and the version (0 where none is declared)."""

    name: str
    version: int


def name_at_fault(why: str) -> bool:
    """Whether a file is not read because of its name, whatever it holds. `why`: the reason as the intake
    tells it.
    """
    return ODD_NAME in why or NO_FORMAT in why


def series_of(file: str) -> Series:
    """The series to which a file of this name belongs."""
    if found := _VERSION.fullmatch(file):
        return Series(found["stem"] + (found["suffix"] or ""), int(found["number"]))
    return Series(file, 0)


def countries_in(file: str, countries: Iterable[str]) -> list[str]:
    """The countries whose codes are words in this name, in any case."""
    words = {word.upper() for word in re.split(r"[^A-Za-z0-9]", file)}
    return sorted(code for code in countries if code.upper() in words)
