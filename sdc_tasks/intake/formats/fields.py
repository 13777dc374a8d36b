"""The fields of delimited text without quotation marks, a column at a time: eight bytes of every record at
once, no object for each field.

`delimited.py` splits text with quotation marks, or with long fields, by pandas. Both must give the same
columns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdc_tasks.model.table import Ints

_WORD = 8  # bytes
LONGEST_FIELD = 64  # bytes; of a longer one, pandas is as quick
_BEGINNING = np.array(
    [(1 << 8 * length) - 1 for length in range(_WORD)] + [2**64 - 1], dtype="<u8"
)  # keeps so many bytes of a word


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
        import pandas as pd  # imported here, as in `delimited.py`

        length = end - start
        longest = int(length.max(initial=0))
        if longest > LONGEST_FIELD:
            return None
        which: Ints = np.zeros(len(start), dtype=np.int64)
        different = 1
        for at in range(0, longest, _WORD):
            word = self._word(start, length, at)
            mine, found = pd.factorize(word)
            if at == 0:
                which, different = np.asarray(mine, dtype=np.int64), len(found)
            elif len(found) > 1:
                both, pairs = pd.factorize(which * len(found) + np.asarray(mine, dtype=np.int64))
                which, different = np.asarray(both, dtype=np.int64), len(pairs)
        first = np.zeros(different if len(start) else 0, dtype=np.int64)
        first[which[::-1]] = np.arange(len(start))[
            ::-1
        ]  # the last assignment counts: the first record of each text
        spans = zip(start[first].tolist(), end[first].tolist(), strict=True)
        joined = b"\n".join([self._data[begin:stop] for begin, stop in spans]).decode()
        return joined.split("\n") if first.size else [], which

    def _word(self, start: Ints, length: Ints, at: int) -> npt.NDArray[np.uint64]:
        """Eight bytes of each field from this one on, empty where the field is shorter."""
        left = length - at
        words: npt.NDArray[np.uint64] = self._words[np.minimum(start + at, len(self._data))]
        words &= _BEGINNING[np.clip(left, 0, _WORD)]
        return words
