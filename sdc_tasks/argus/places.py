"""The files that a batch and its metadata name, and the fields on their lines.

They were written for Windows: backslashes, other cases, folders that are not there.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.jj import LARGEST
from sdc_tasks.untrusted import unpacked


@dataclass(frozen=True)
class BatchLine:
    """A line of a text file that is not blank."""

    path: Path
    number: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.path}, line {self.number}"

    def refused(self, why: str) -> InvalidInput:
        return InvalidInput(f"{self.place}: {why}")


def find(folder: Path, name: str, by: BatchLine) -> Path:
    """The file of this name: as it is written, else by its last part in the folder, in any case. Raises
    InvalidInput.
    """
    plain = Path(name.replace("\\", "/"))
    if not PureWindowsPath(name).drive and (folder / plain).is_file():
        return folder / plain
    last = PureWindowsPath(name).name.lower()
    beside = sorted(each for each in folder.iterdir() if each.is_file() and each.name.lower() == last)
    if not beside:
        raise by.refused(f"the file {last} is not in {folder}. Remedy: put it beside the batch")
    return beside[0]


def lines_of(path: Path) -> list[BatchLine]:
    """The lines of a file, in UTF-8, or else in Windows-1252. Raises InvalidInput where it cannot be read."""
    try:
        content = unpacked(path)
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read ({error.strerror}). Remedy: name a file that can be read"
        ) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    if "\0" in text:
        raise InvalidInput(f"{path}: a NUL byte, which no text holds. Remedy: save it as text")
    return [
        BatchLine(path, number, line)
        for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1)
        if line.strip()
    ]


def split_outside(text: str, sign: str) -> list[str]:
    """The parts of a command between these signs, which part nothing between quotation marks."""
    parts, rest = [""], re.split(r'("[^"]*")', text)
    for piece in rest:
        if piece.startswith('"') and piece.endswith('"') and len(piece) > 1:
            parts[-1] += piece
            continue
        first, *more = piece.split(sign)
        parts[-1] += first
        parts += more
    return [part.strip() for part in parts]


def fields_of(line: BatchLine, separator: str) -> list[str]:
    """The fields of a line without the blanks around them: between quotation marks a separator is none,
    and a quotation mark is doubled.

    Raises InvalidInput for a separator of several signs, and for quotation marks that do not end.
    """
    if len(separator) != 1 or separator == '"':
        raise line.refused(
            "a separator is one sign, and no quotation mark. Remedy: correct it where it is named"
        )
    try:
        return [
            text.strip()
            for text in next(csv.reader([line.text], delimiter=separator, skipinitialspace=True, strict=True))
        ]
    except (csv.Error, StopIteration) as error:
        raise line.refused(
            "quotation marks that do not fit. Remedy: double one that is part of a code"
        ) from error


def field_text(text: str, separator: str, quoted: bool = False) -> str:
    """A code as `fields_of` reads it back. `quoted`: between quotation marks also where it needs none."""
    needed = separator in text or '"' in text or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if quoted or needed else text


def number_in(line: BatchLine, text: str, what: str, most: float = LARGEST) -> float:
    """A number of at least 0 in a command. Raises InvalidInput."""
    try:
        found = float(text.strip().replace(",", ".")) if "_" not in text else -1.0
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise line.refused(f"{what} is no number of at least 0. Remedy: correct it")
    return found
