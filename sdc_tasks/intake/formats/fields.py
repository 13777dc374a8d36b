"""The fields of delimited text without quotation marks, a column at a time: eight bytes of every record at
once, no object for each field.

`delimited.py` splits text with quotation marks, or with long fields, by pandas. Both must give the same
columns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdc_tasks.model.table import Bools, Ints

_WORD = 8  # bytes
MANY = 1 << 17  # values; of fewer, sorting them is quicker than loading pandas
LONGEST_FIELD = 64  # bytes; of a longer one, pandas is as quick
_BEGINNING = np.array(
    [(1 << 8 * length) - 1 for length in range(_WORD)] + [2**64 - 1], dtype="<u8"
)  # keeps so many bytes of a word


def _numbered(values: npt.NDArray[np.uint64] | Ints) -> tuple[Ints, int]:
    """The number of each value, in the order in which they appear, and how many there are."""
    if not len(values) or (values == values[0]).all():
        return np.zeros(len(values), dtype=np.int64), 1
    if len(values) < MANY:
        _, first, sorted_ = np.unique(values, return_index=True, return_inverse=True)
        place = np.empty_like(first)
        place[np.argsort(first)] = np.arange(len(first))
        return place[sorted_], len(first)
    import pandas as pd  # imported here, as in `delimited.py`

    which, found = pd.factorize(values)
    return np.asarray(which, dtype=np.int64), len(found)


class FieldBytes:
    """The bytes of a text, of which fields are read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        padded = data + bytes(_WORD)
        self._words = np.ndarray(
            (len(data) + 1,), dtype="<u8", buffer=padded, strides=(1,)
        )  # one at each byte

    def column(self, start: Ints, end: Ints) -> tuple[list[str], Ints] | None:
        """The distinct texts of the fields at these bytes, in the order in which they appear, and the
        text of each; None if one is long.

        `start end`: (records,). Raises UnicodeDecodeError.
        """
        length = end - start
        longest = int(length.max(initial=0))
        if longest > LONGEST_FIELD:
            return None
        which: Ints = np.zeros(len(start), dtype=np.int64)
        different = 1
        for at in range(0, longest, _WORD):
            word = self._word(start, length, at)
            mine, found = _numbered(word)
            if at == 0:
                which, different = mine, found
            elif found > 1:
                which, different = _numbered(which * found + mine)
        first = np.zeros(different if len(start) else 0, dtype=np.int64)
        first[which[::-1]] = np.arange(len(start))[
            ::-1
        ]  # the last assignment counts: the first record of each text
        spans = zip(start[first].tolist(), end[first].tolist(), strict=True)
        joined = b"\n".join([self._data[begin:stop] for begin, stop in spans]).decode()
        return joined.split("\n") if first.size else [], which

    def same(self, start: Ints, end: Ints, text: bytes) -> Bools:
        """(records,): which of the fields at these bytes are this text."""
        found: Bools = end - start == len(text)
        for at in range(0, len(text), _WORD):
            piece = text[at : at + _WORD]
            words = self._words[np.minimum(start + at, len(self._data))] & _BEGINNING[len(piece)]
            found &= words == int.from_bytes(piece, "little")
        return found

    def _word(self, start: Ints, length: Ints, at: int) -> npt.NDArray[np.uint64]:
        """Eight bytes of each field from this one on, empty where the field is shorter."""
        words: npt.NDArray[np.uint64] = self._words[np.minimum(start + at, len(self._data)) if at else start]
        shortest, longest = int(length.min()), int(length.max())
        if shortest == longest:  # a column of codes: no mask for each
            words &= _BEGINNING[min(longest - at, _WORD)]
        elif shortest < at + _WORD:
            words &= _BEGINNING[np.clip(length - at, 0, _WORD)]
        return words
