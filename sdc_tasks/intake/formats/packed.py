"""Files that hold one other file: gzip, and zip with one entry. What they hold is counted as it is
unpacked, so none outgrows its bound.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import IO, TYPE_CHECKING

from sdc_tasks.intake.content import CHANGED, PIECE, Content, UnreadableContentError
from sdc_tasks.intake.findings import Findings

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SUFFIXES = frozenset({".gz", ".zip"})
DAMAGED = (
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    struct.error,
    RuntimeError,
    NotImplementedError,
    ValueError,
)
_END = struct.Struct(
    "<4s4H2LH"
)  # of central directory: signature, disks, entries here, entries, its size, its place, comment
_ENTRY_BYTES = (
    1 << 17
)  # name, extra field and comment have at most 65 535 each; honest ones a hundred together
_LONGEST_END = _END.size + 65_535
_SEND = "send the file itself, or packed again"


def inner_name(file: str) -> str:
    """The name of the file that a gzip file of this name holds; of a zip file, where its name tells it."""
    path = PurePath(file)
    return path.stem if path.suffix.lower() in SUFFIXES else file


def is_packed(file: str) -> bool:
    return PurePath(file).suffix.lower() in SUFFIXES


def unpack(
    content: Content, file: str, most: Callable[[str], int], found: Findings
) -> tuple[Content, str] | None:
    """The content and the name of the one file in this content; the content itself where the
    name says that it is not packed.

    `most`: the largest size of a file of a name. None, with a finding, where it is damaged or holds more: it
    is unpacked once to know that, and once again as it is read.
    """
    if not is_packed(file):
        return content, file
    try:
        return (
            _from_gzip(content, file, most, found)
            if PurePath(file).suffix.lower() == ".gz"
            else _from_zip(content.whole(), most, found)
        )
    except DAMAGED:
        found.add("140", f"the file is not whole, or not packed as its name says: {_SEND}")
        return None


def peek(data: bytes, file: str, most: int) -> bytes:
    """The first bytes of what a file holds, empty where one does not see them."""
    if not is_packed(file):
        return data[:most]
    try:
        if PurePath(file).suffix.lower() == ".gz":
            return zlib.decompressobj(wbits=31).decompress(data, most)
        entry = _one_entry(data, Findings())
        if entry is None:
            return b""
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(entry) as stream:
            return stream.read(most)
    except DAMAGED:
        return b""


def _from_gzip(
    content: Content, file: str, most: Callable[[str], int], found: Findings
) -> tuple[Content, str] | None:
    name = inner_name(file)

    def opened() -> IO[bytes]:
        packed = io.BufferedReader(_Stream(content.pieces()), PIECE)
        return gzip.GzipFile(fileobj=packed)  # type: ignore[return-value]

    return _bounded(opened, name, most(name), found)


def _from_zip(data: bytes, most: Callable[[str], int], found: Findings) -> tuple[Content, str] | None:
    entry = _one_entry(data, found)
    if entry is None:
        return None
    name = PurePath(entry.filename).name

    def opened() -> IO[bytes]:
        return zipfile.ZipFile(io.BytesIO(data)).open(entry)

    return _bounded(opened, name, most(name), found)


def _one_entry(data: bytes, found: Findings) -> zipfile.ZipInfo | None:
    """The one entry of a zip file; None, with a finding, where it is not read."""
    told = directory(data)
    if told is None or told[0] != 1 or told[1] > _ENTRY_BYTES:
        found.add("140", f"a zip file must hold one file, and nothing else: {_SEND} alone")
        return None
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entry = archive.infolist()[0]
    if (
        entry.is_dir()
        or entry.flag_bits & 1
        or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    ):
        found.add(
            "140",
            f"the zip file is encrypted, or packed in a way that is not read here: {_SEND} without a "
            f"password",
        )
        return None
    return entry


def directory(data: bytes) -> tuple[int, int] | None:
    """The entries of a zip file and the bytes of its directory, as its end tells them, so that a directory of
    millions is not even looked at. None where the end is not that of one whole file.
    """
    end = data[-_LONGEST_END:]
    at = end.rfind(b"PK\x05\x06")
    if (
        at < 0 or len(end) - at < _END.size or end[max(at - 20, 0) :].startswith(b"PK\x06\x07")
    ):  # the last: zip64, for larger ones
        return None
    _, _, _, here, entries, size, _, comment = _END.unpack_from(end, at)
    return (entries, size) if here == entries and len(end) == at + _END.size + comment else None


def _bounded(
    opened: Callable[[], IO[bytes]], name: str, most: int, found: Findings
) -> tuple[Content, str] | None:
    """What a packed file holds, once it is known that it is whole and no larger than `most`."""
    size = 0
    for piece in _unpacked(opened):
        size += len(piece)
        if size > most:
            found.add(
                "140",
                f"the file unpacks to more than {most} bytes, which no table needs: send the table and "
                f"nothing else",
            )
            return None

    def pieces() -> Iterator[bytes]:
        left = size
        try:
            for piece in _unpacked(opened):
                left -= len(piece)
                if left < 0:
                    break
                yield piece
        except DAMAGED as error:
            raise UnreadableContentError(CHANGED) from error
        if left:
            raise UnreadableContentError(CHANGED)

    return Content(size, pieces), name


def _unpacked(opened: Callable[[], IO[bytes]]) -> Iterator[bytes]:
    with opened() as stream:
        while piece := stream.read(PIECE):
            yield piece


class _Stream(io.RawIOBase):
    """Pieces as a file that is read from its beginning to its end."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: WriteableBuffer) -> int:
        room = memoryview(into)
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        taken = self._left[: len(room)]
        room[: len(taken)] = taken
        self._left = self._left[len(taken) :]
        return len(taken)
