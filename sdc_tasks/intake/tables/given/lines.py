"""Small text files of fields between separators: their lines with numbers, refused where they are none."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdc_tasks.errors import InvalidInput
from sdc_tasks.untrusted import separator_of, unpacked


@dataclass(frozen=True)
class Line:
    """The fields of a line, without the spaces around them."""

    path: Path
    number: int
    fields: tuple[str, ...]

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.path}, line {self.number}"

    def refused(self, why: str) -> InvalidInput:
        return InvalidInput(f"{self.place}: {why}")

    def number_of(self, field: int, what: str) -> float:
        """A field as a finite number."""
        text = self.fields[field]
        try:
            found = math.nan if "_" in text else float(text)
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            raise self.refused(f"{what} is not a number. Remedy: digits and a decimal point, no separators")
        return found


def read_lines(path: Path, remedy: str) -> list[Line]:
    """The lines of a file that are not blank; `,` `;` or tab separates fields, whichever the first line has
    most of.

    Raises InvalidInput if there are none; `remedy` says what to give.
    """
    try:
        text = unpacked(path).decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}). Remedy: {remedy}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not a text in UTF-8. Remedy: save it as UTF-8") from error
    head = next((line for line in text.splitlines() if line.strip()), "")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(head))
    found = [
        Line(path, rows.line_num, tuple(field.strip() for field in row))
        for row in rows
        if any(field.strip() for field in row)
    ]
    if not found:
        raise InvalidInput(f"{path}: an empty file. Remedy: {remedy}")
    return found


def below_header(path: Path, needed: Sequence[str], remedy: str) -> tuple[dict[str, int], list[Line]]:
    """The position of each column by name, and the lines below the header. Raises
    InvalidInput if a needed column is missing.
    """
    head, *lines = read_lines(path, remedy)
    column = {name: i for i, name in enumerate(head.fields)}
    missing = [name for name in needed if name not in column]
    if missing or len(column) < len(head.fields):
        raise head.refused(f"the header needs the columns {', '.join(needed)}, each once. Remedy: {remedy}")
    for line in lines:
        if len(line.fields) != len(head.fields):
            raise line.refused(
                f"{len(line.fields)} fields, but {len(head.fields)} columns. Remedy: correct the line"
            )
    return column, lines
