"""What a file holds, by pieces: half a gigabyte of SDMX-ML is read without being in memory at once.

A file may be read several times: for its digest, for its size, for its records. Another program may write it
meanwhile, so every whole reading must give the bytes of the first one, or nothing of it counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

Read = TypeVar("Read")
PIECE = 1 << 18  # bytes; of a file at a time


class UnreadableContentError(Exception):
    """The content is not what it was when it was read first: the message of the finding."""


CHANGED = "the file changed while it was read, or cannot be read to its end: send it again, whole"


@dataclass(frozen=True)
class Content:
    """The bytes of a file, or of what a packed file holds. `pieces` gives all of them, in order, as often as
    it is called; it raises UnreadableContentError where they are no longer what they were. `size`: how many
    they are.
    """

    size: int
    pieces: Callable[[], Iterator[bytes]] = field(repr=False)

    @classmethod
    def of(cls, data: bytes) -> Content:
        return cls(len(data), lambda: iter((data,)))

    def whole(self) -> bytes:
        """All bytes at once, for a format that cannot be read by pieces."""
        return b"".join(self.pieces())


def unchanged(
    pieces: Callable[[], Iterator[bytes]], read: Callable[[Iterator[bytes]], Read]
) -> tuple[Callable[[], Iterator[bytes]], Read]:
    """The same pieces, and what `read` makes of them: it goes through all of them now, as whoever writes
    during the first reading would else mix two files. A whole reading that gives other bytes raises
    UnreadableContentError at its end.
    """
    first = hashlib.sha256()
    found = read(_hashed(pieces(), first))

    def checked() -> Iterator[bytes]:
        again = hashlib.sha256()
        yield from _hashed(pieces(), again)
        if first.digest() != again.digest():
            raise UnreadableContentError(CHANGED)

    return checked, found


def _hashed(pieces: Iterator[bytes], into: hashlib._Hash) -> Iterator[bytes]:
    for piece in pieces:
        into.update(piece)
        yield piece
