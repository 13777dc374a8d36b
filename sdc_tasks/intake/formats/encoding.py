"""The encoding of a text: UTF-8, UTF-16, or Windows-1252. A mark at its beginning declares it; what
is guessed without one is told.

Codes and numbers are ASCII, so a wrong guess changes no value: it changes labels, or makes a code that no
list has.
"""

from __future__ import annotations

import codecs

from sdc_tasks.intake.findings import Findings
from sdc_tasks.model.findings import Severity

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LOOKED_AT = 512  # bytes


def as_utf_8(data: bytes, found: Findings) -> bytes:
    """The same text in UTF-8; a mark of UTF-8 stays. Adds a warning where the encoding was
    guessed, an error where none fits.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _read(data[len(mark) :], encoding, found)
    if (wide := _wide(data)) is not None:
        return _guessed(data, wide, "UTF-16, as every second byte is empty", None, found)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = line_at(data, error.start)
        return _guessed(data, "windows-1252", "Windows-1252, as this line is not UTF-8", line, found)
    return data


def readable(data: bytes) -> str:
    """The text, as far as one can read it: for a guess."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), _wide(data))
    return data.decode(encoding or "utf-8", "replace").lstrip("\ufeff")


def line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: ASCII text has an empty byte in every character."""
    start = data[:_LOOKED_AT]
    for high, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(start) > 1 and not any(start[high::2]) and all(start[1 - high :: 2]):
            return encoding
    return None


def _guessed(data: bytes, encoding: str, told: str, line: int | None, found: Findings) -> bytes:
    text = _read(data, encoding, found)
    if text is not data:
        found.add(
            "140",
            f"the encoding is not declared, and read as {told}: save the text as UTF-8",
            line,
            severity=Severity.WARNING,
        )
    return text


def _read(data: bytes, encoding: str, found: Findings) -> bytes:
    try:
        return data.decode(encoding).encode()
    except UnicodeError:
        found.add(
            "140",
            "the text is neither UTF-8 nor UTF-16 nor Windows-1252: save it as UTF-8",
            line_at(data, _first_wrong(data, encoding)),
        )
        return data


def _first_wrong(data: bytes, encoding: str) -> int:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start
    return 0
