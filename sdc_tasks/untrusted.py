"""Files and texts that others write: opened without waiting, unpacked within bounds, and never taken
for a formula by a spreadsheet.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from pyexpat import ParserCreate, XMLParserType
from typing import IO, TextIO

from sdc_tasks.errors import InvalidInput

SEPARATORS = ",;\t"
LONGEST_LINE = 1 << 20  # characters
ROOM, RATIO = 64 << 20, 100  # what a compressed file may unpack to: ROOM bytes, and RATIO times its own size


def opened_regular(path: Path, follow: bool) -> IO[bytes]:
    """Opens a regular file for reading; never waits for a pipe or a device. Raises OSError for anything else,
    and for a link where links are not followed.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    if stat.S_ISREG(os.fstat(file).st_mode):
        return os.fdopen(file, "rb")
    os.close(file)
    raise OSError(0, "no regular file")


def settings_text(path: Path, most: int, what: str) -> str:
    """The text of a file of settings, at most `most` bytes; messages call the file `what`. Raises
    InvalidInput.
    """
    try:
        with opened_regular(path, follow=True) as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise InvalidInput(
            f"{what}: cannot read {path} ({error.strerror}). Remedy: name a file that can be read"
        ) from error
    if len(data) > most:
        raise InvalidInput(
            f"{path}: more than {most} bytes, which no {what} needs. Remedy: check that this is the right "
            f"file"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: a {what} must be utf-8") from error


def unpacked(path: Path) -> bytes:
    """The content of a file, unpacked where its name ends in .gz. Raises OSError; InvalidInput where it is
    damaged or unpacks to more than an honest file does.
    """
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    most = ROOM + RATIO * path.stat().st_size
    try:
        with gzip.open(path) as stream:
            content = stream.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{path}: not a whole gzip file, as its name says. Remedy: send it again, or name it without .gz"
        ) from error
    if len(content) > most:
        raise _too_large(path, most)
    return content


def lines(path: Path, stream: TextIO) -> Iterator[str]:
    """The lines of an open text, for a reader that goes on line by line. Raises InvalidInput for a line that
    no table has, and where a compressed file unpacks to more than an honest one does.
    """
    most = ROOM + RATIO * path.stat().st_size
    told = 0
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise InvalidInput(
                f"{path}: a line of more than {LONGEST_LINE} characters. Remedy: a line for each record"
            )
        told += len(line)
        if told > most:
            raise _too_large(path, most)
        yield line


def _too_large(path: Path, most: int) -> InvalidInput:
    return InvalidInput(
        f"{path}: unpacks to more than {most} bytes. Remedy: check that this is the right file, and unpack "
        f"it first"
    )


def xml_parser(refused: Callable[[str], Exception], encoding: str | None = None) -> XMLParserType:
    """A parser of XML whose names have their namespace before a blank. It raises `refused(why)` for a
    document type, so that nothing that one declares is ever expanded.
    """

    def no_doctype(*_: object) -> None:
        raise refused("a document type (DOCTYPE), which no such file has")

    parser = ParserCreate(encoding, namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = no_doctype
    return parser


def separator_of(line: str) -> str:
    """Which of `,` `;` and tab separates the fields of a line of CSV: the one that it has
    most of outside quotation marks.
    """
    return max(SEPARATORS, key=re.sub(r'"[^"]*"', "", line).count)


def formula(text: str) -> bool:
    """Would a spreadsheet compute with this text, or drop its first character? A signed number is
    a number.
    """
    if text[:1] in ("=", "@", "\t", "\r"):
        return True
    return text[:1] in ("+", "-") and not text[1:].replace(".", "", 1).isdecimal()


def printable(name: str) -> str:
    """The name as it may stand in a log and on a page: what is not printable is escaped."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in name)


FORMULA = "begins as a formula does (= + - @), which a spreadsheet would compute. Remedy: write it otherwise"
