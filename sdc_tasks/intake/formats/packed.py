"""Files that hold one other file: gzip, and zip with one entry. What they hold is counted as it is
unpacked, so none outgrows its bound.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import PurePath

from sdc_tasks.intake.findings import Findings

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


def unpack(data: bytes, file: str, most: Callable[[str], int], found: Findings) -> tuple[bytes, str] | None:
    """The content and the name of the one file in these bytes; the bytes themselves where the
    name says that they are not packed.

    `most`: the largest size of a file of a name. None, with a finding, where it is damaged or holds more.
    """
    if not is_packed(file):
        return data, file
    try:
        return (
            _from_gzip(data, file, most, found)
            if PurePath(file).suffix.lower() == ".gz"
            else _from_zip(data, most, found)
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
        return (_from_zip(data, lambda _: most, Findings(), cut=True) or (b"", ""))[0]
    except DAMAGED:
        return b""


def _from_gzip(
    data: bytes, file: str, most: Callable[[str], int], found: Findings
) -> tuple[bytes, str] | None:
    name = inner_name(file)
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        return _bounded(stream.read(most(name) + 1), name, most(name), found)


def _from_zip(
    data: bytes, most: Callable[[str], int], found: Findings, cut: bool = False
) -> tuple[bytes, str] | None:
    if not _one_entry(data):
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
        name = PurePath(entry.filename).name
        with archive.open(entry) as stream:
            inside = stream.read(most(name) + (0 if cut else 1))
    return (inside, name) if cut else _bounded(inside, name, most(name), found)


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


def _one_entry(data: bytes) -> bool:
    told = directory(data)
    return told is not None and told[0] == 1 and told[1] <= _ENTRY_BYTES


def _bounded(inside: bytes, name: str, most: int, found: Findings) -> tuple[bytes, str] | None:
    if len(inside) > most:
        found.add(
            "140",
            f"the file unpacks to more than {most} bytes, which no table needs: send the table and nothing "
            f"else",
        )
        return None
    return inside, name
