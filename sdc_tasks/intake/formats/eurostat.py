"""The letters of Eurostat's dissemination, which stand for codes of OBS_STATUS: behind a value in its TSV, in
a column or a list of their own in its SDMX-CSV, SDMX-ML and JSON-stat.

    79000.0 e     a value and its OBS_STATUS            748591 @A    a value and its CONF_STATUS
    :             nobody has the value                  : c, : @C    confidential, and not sent
    : u           no value, with a status: to be sent

A value may have several, `bu` or `b u`; a record has one status.
"""

from __future__ import annotations

import re

# z: not applicable, which SDMX calls a missing value, as data cannot exist. The others are those of the code
# list in lower case.
_STATUS = {letter: letter.upper() for letter in "abdefhilmnopqsu"} | {"z": "M"}
_MATTERS = "mzohlq"  # of several, one that says that there is no value, or that it is hidden; else the first
_LETTERS = re.compile(rf"[{''.join(_STATUS)}](?: ?[{''.join(_STATUS)}])*")
_CELL = re.compile(r"(?P<value>:|[^\s:@]+)? ?(?P<flags>(?:[a-z]+ ?)*)(?:@(?P<conf>[A-Z]))?")
CONFIDENTIAL, UNSENT = "c", "x"


def status_of(letters: str) -> str:
    """The code of OBS_STATUS that these letters stand for; the text itself where it is something else."""
    if _LETTERS.fullmatch(letters) is None:
        return letters
    return _STATUS[next((letter for letter in letters if letter in _MATTERS), letters[0])]


def cell(text: str) -> tuple[str, str, str]:
    """Value, status and flag of a cell. What is not understood stays in the value, where it is no number."""
    if text.isalnum():  # no sign stands beside it: most values
        return text, "", ""
    match = _CELL.fullmatch(text)
    if match is None:
        return text, "", ""
    value, flags, conf = match["value"] or "", match["flags"].strip(), match["conf"] or ""
    if CONFIDENTIAL in flags:
        if conf not in ("", CONFIDENTIAL.upper()):
            return text, "", ""
        conf, flags = CONFIDENTIAL.upper(), " ".join(flags.replace(CONFIDENTIAL, "").split())
    status = status_of(flags)
    if value != ":":
        return value, status, conf
    if conf:
        return UNSENT, status, conf
    return ("" if status else value), status, conf
