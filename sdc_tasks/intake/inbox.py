"""The content of an inbox: the deliveries, and everything else, which is not read.

Senders fill inboxes. A folder, a link, a pipe or a device there must not stop or delay the files of other
senders, and must not make this program read files elsewhere. So it opens only regular files, without
following links and without waiting, and reports everything else.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import IO

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.content import CHANGED, PIECE, Content, Read, UnreadableContentError, unchanged
from sdc_tasks.intake.formats.registry import may_be_read
from sdc_tasks.model.secret import Secret, name_of_delivery
from sdc_tasks.model.series import NO_FORMAT, ODD_NAME
from sdc_tasks.untrusted import opened_regular, printable

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
_SEND = (
    "Remedy: send it as SDMX-CSV, SDMX-ML or another format of deliveries, remove "
    "it, or list it under inbox.ignore in the domain file"
)
_REMEDY = "Remedy: put the file itself there, or remove this"


@dataclass(frozen=True)
class Inbox:
    """The names of the files to read, in order; and for everything else that is not ignored,
    name → reason why it is not read.
    """

    files: tuple[str, ...]
    unread: Mapping[str, str]


def look(inbox: Path, ignore: Iterable[str] = ()) -> Inbox:
    """The content of the inbox, except names that begin with a dot or match a pattern of `ignore`. The inbox
    may be any object with the methods of a path.

    Names under `unread` are made printable for messages, so they may differ from those in the folder. Raises
    OSError where the folder cannot be read.
    """
    files: list[str] = []
    unread: dict[str, str] = {}
    for path in inbox.iterdir():
        name = printable(path.name)
        if name.startswith(".") or any(fnmatchcase(name, pattern) for pattern in ignore):
            continue
        if name != path.name:
            unread[name] = f"{name}: {ODD_NAME}. Remedy: rename it, such as AT_2024.csv"
        elif why := _no_file(path):
            unread[name] = why
        elif not may_be_read(name):
            unread[name] = f"{name}: not read, because {NO_FORMAT}. {_SEND}"
        else:
            files.append(name)
    return Inbox(tuple(sorted(files)), dict(sorted(unread.items())))


def file_bytes(path: Path, most: int) -> bytes:
    """The bytes of a regular file, at most `most` + 1. Raises InvalidInput where it cannot
    be read or is not a regular file.
    """
    try:
        with _opened(path) as stream:
            return bytes(stream.read(most + 1))
    except OSError as error:
        raise _cannot_be_read(path, error) from error


def file_content(path: Path, most: int) -> Content:
    """The content of a regular file, at most `most` + 1 bytes, which are read when they are asked for. Raises
    InvalidInput as `file_bytes`.
    """
    return _read_once(path, most, lambda pieces: deque(pieces, maxlen=0))[0]


def named_content(path: Path, most: int, salt: Secret) -> tuple[Content, str]:
    """The same, and the digest that names it under the salt."""
    return _read_once(path, most, lambda pieces: name_of_delivery(pieces, salt))


def _read_once(path: Path, most: int, read: Callable[[Iterator[bytes]], Read]) -> tuple[Content, Read]:
    """The content, and what `read` makes of its first reading."""
    if not _local(path):
        content = Content.of(file_bytes(path, most))
        return content, read(content.pieces())
    try:
        with _opened(path) as stream:
            size = min(os.fstat(stream.fileno()).st_size, most + 1)
    except OSError as error:
        raise _cannot_be_read(path, error) from error

    try:
        again, found = unchanged(partial(_pieces, path, size, most), read)
    except UnreadableContentError as error:
        raise InvalidInput(f"{path}: {error}") from error
    return Content(size, again), found


def _pieces(path: Path, size: int, most: int) -> Iterator[bytes]:
    """The bytes of a file that had this size. Raises UnreadableContentError where it has another one by now;
    of a file that is longer than `most`, only its beginning is read.
    """
    left = size
    try:
        with _opened(path) as stream:
            while piece := stream.read(min(PIECE, left)):
                left -= len(piece)
                yield piece
            if left or (size <= most and stream.read(1)):
                raise UnreadableContentError(CHANGED)
    except OSError as error:
        raise UnreadableContentError(CHANGED) from error


def _cannot_be_read(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput(
        _no_file(path) or f"{path}: cannot be read ({error.strerror or type(error).__name__})"
    )


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb") if not _local(path) else opened_regular(path, follow=False)


def _local(path: object) -> bool:
    """Whether this is a local path, not an object store (which has no links and no pipes)."""
    return isinstance(path, Path)


def _no_file(path: Path) -> str | None:
    """The reason why this is not read; None for a regular file."""
    if not _local(path):
        return None if path.is_file() else f"{path.name}: a folder, not a file. {_REMEDY}"
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        return f"{path.name}: cannot be read ({error.strerror}). {_REMEDY}"
    if stat.S_ISREG(mode):
        return None
    return (
        f"{path.name}: {next((kind for test, kind in _KINDS if test(mode)), 'a device')}, "
        f"not a file. {_REMEDY}"
    )
