"""Inner cells: the finest cells of a table of counts, the unique combinations of codes in its microdata ([4]
§1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Ints, read_only

Codes = npt.NDArray[np.int32]
TOTAL = "TOTAL"  # the sum over a whole dimension, where the dimension has no code for it
KEY_BITS = 62  # bits that a joint key may take
MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd multiplier: no two states of the mixer meet


@dataclass(frozen=True)
class InnerCells:
    """n inner cells, each a different combination of codes, in the order of their labels. The
    function `inner_cells` makes them.

    `labels[d]` are the codes of dimension d, sorted; `codes` (dimensions, n) are indices into them; `y` (n,)
    are the counts. Raises ValueError where the arrays do not fit together or a count is negative.
    """

    dimensions: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: Codes = field(repr=False)
    y: Ints = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", read_only(np.asarray(self.codes, dtype=np.int32)))
        object.__setattr__(self, "y", read_only(np.asarray(self.y, dtype=np.int64)))
        if self.codes.shape != (len(self.dimensions), len(self.y)) or len(self.labels) != len(
            self.dimensions
        ):
            raise ValueError("dimensions, labels, codes and counts do not fit together")
        if len(self.y) and self.y.min() < 0:
            raise ValueError("a count is negative")

    def __len__(self) -> int:
        return len(self.y)

    def key(self, i: int) -> str:
        """The codes of cell i, for messages."""
        return printed_key(self.labels[d][self.codes[d, i]] for d in range(len(self.dimensions)))

    def hashes(self) -> npt.NDArray[np.uint64]:
        """(n,): one number per cell, which depends on the labels of the cell alone."""
        mixed = np.zeros(len(self), dtype=np.uint64)
        for labels, codes in zip(self.labels, self.codes, strict=True):
            own = np.array(
                [
                    int.from_bytes(hashlib.blake2b(s.encode(), digest_size=8).digest(), "little")
                    for s in labels
                ],
                dtype=np.uint64,
            )
            mixed = (mixed * MIX) ^ own[codes]
        return mixed


def inner_cells(
    dimensions: Sequence[str], columns: Sequence[tuple[Codes, Sequence[str]]], counts: Ints | None
) -> tuple[InnerCells, Ints]:
    """Adds up records of equal codes. Returns the cells, and (records,): the cell of each record.

    A column is (codes of the records, labels of the codes). `counts` (records,); without them each record
    counts one.
    """
    labels, codes = [], []
    for own, names in columns:
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), dtype=np.int32)
        rank[order] = np.arange(len(names), dtype=np.int32)
        labels.append(tuple(names[i] for i in order))
        codes.append(rank[own])
    records = np.array(codes, dtype=np.int32)
    weights = np.ones(records.shape[1], dtype=np.int64) if counts is None else counts
    joint, _ = joint_codes(list(records), [len(names) for names in labels])
    if np.all(joint[1:] > joint[:-1]):
        return InnerCells(tuple(dimensions), tuple(labels), records, weights), np.arange(len(joint))
    _, first, which = np.unique(joint, return_index=True, return_inverse=True)
    y = np.zeros(len(first), dtype=np.int64)
    np.add.at(y, which, weights)
    return InnerCells(tuple(dimensions), tuple(labels), records[:, first], y), which


def joint_codes(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Ints, int]:
    """(keys, bound): one key in 0 … bound − 1 per row. Rows have the same key where all columns are equal;
    keys are in the order of the columns, the first column first.

    A key is a mixed radix number. Where it would need more than 62 bits, the keys of the columns so far are
    renumbered.
    """
    keys, bound = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if (bound * max(size, 1)).bit_length() > KEY_BITS:
            known, keys = np.unique(keys, return_inverse=True)
            bound = len(known)
        keys = keys * size + column
        bound *= max(size, 1)
    return keys, bound
