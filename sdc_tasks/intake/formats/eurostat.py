"""The letters of Eurostat's dissemination, which stand for codes of OBS_STATUS: behind a value in its TSV.

A value may have several, `bu` or `b u`; a record has one status.
"""

from __future__ import annotations

import re

# z: not applicable, which SDMX calls a missing value, as data cannot exist. The others are those of the code
# list in lower case.
_STATUS = {letter: letter.upper() for letter in "abdefhilmnopqsu"} | {"z": "M"}
_MATTERS = "mzohlq"  # of several, one that says that there is no value, or that it is hidden; else the first
_LETTERS = re.compile(rf"[{''.join(_STATUS)}](?: ?[{''.join(_STATUS)}])*")


def status_of(letters: str) -> str:
    """The code of OBS_STATUS that these letters stand for; the text itself where it is something else."""
    if _LETTERS.fullmatch(letters) is None:
        return letters
    return _STATUS[next((letter for letter in letters if letter in _MATTERS), letters[0])]
