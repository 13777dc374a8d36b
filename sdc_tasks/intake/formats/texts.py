"""Many texts in little memory: one behind the other as UTF-8. As objects, a million numbers of eight digits
take ten times as much.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import overload

AT_A_TIME = 1 << 12  # texts, of those that one goes through


def in_parts(texts: Iterable[str]) -> Iterator[list[str]]:
    """The same texts, some at a time."""
    them = iter(texts)
    while part := list(islice(them, AT_A_TIME)):
        yield part


class PackedTexts(Sequence[str]):
    """Texts that are only ever added."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._data, self._end = bytearray(), array("q", [0])
        self.extend(texts)

    def extend(self, texts: Iterable[str]) -> None:
        for each in map(str.encode, texts):
            self._data += each
            self._end.append(len(self._data))

    def __len__(self) -> int:
        return len(self._end) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        which = range(len(self))[at]
        return self._one(which) if isinstance(which, int) else [self._one(each) for each in which]

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), AT_A_TIME):
            ends = self._end[first : first + AT_A_TIME + 1]
            base = ends[0]
            data = bytes(self._data[base : ends[-1]])
            text = data.decode()
            if len(text) == len(data):  # ASCII, so that a character is a byte
                yield from [text[a - base : b - base] for a, b in pairwise(ends)]
            else:
                yield from [data[a - base : b - base].decode() for a, b in pairwise(ends)]

    def _one(self, at: int) -> str:
        return self._data[self._end[at] : self._end[at + 1]].decode()
