"""How a single code of a hierarchy may move so that all of its families still add up: the candidate *moves*
of the code.

If code i rises by 1, then so do one of its parts, one of the parts of this part, and so on down to a code
without parts. Above i either all totals rise up to the top, or on some level a sibling falls by 1 instead,
and with it a line of parts below that sibling. So a move is a vector on the codes of a dimension with entries
1 and −1 that obeys every family. The product of one move for each dimension obeys every relation of the
crossed table: a hypercube whose edges pass through the levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Family, Floats, Ints

Line = tuple[int, ...]
MOST_LINES, MOST_MOVES = 64, 4_000  # of one code: of more, the first ones
MOST_DENSE = 20_000  # entries of a matrix that is kept dense: 160 kB for each code


@dataclass(frozen=True)
class CodeMoves:
    """Some moves of one code: `codes` (s) that any of them changes; `signs` (moves, s): 1, −1, or 0
    where a move leaves a code alone.

    A move changes about twice as many codes as the hierarchy has levels, of a thousand or more: so a large
    matrix is sparse. A small one is dense, because moves are summed for each primary, and a sparse product
    takes longer to set up than to compute.
    """

    codes: Ints = field(repr=False)
    signs: Floats | sp.csr_array = field(repr=False)

    @property
    def number(self) -> int:
        """How many moves."""
        return int(self.signs.shape[0])

    @cached_property
    def moved(self) -> Floats | sp.csr_array:
        """(moves, s): 1 where a move changes a code."""
        return abs(self.signs) if sp.issparse(self.signs) else np.abs(self.signs)

    def sums(self, price: Floats) -> Floats:
        """(moves, …): for every move the sum over the codes that it changes. `price` (s, …): whole
        numbers, so that every sum is exact.
        """
        return np.asarray(self.moved @ price)

    def some(self, chosen: Ints) -> CodeMoves:
        """Some of the moves, and the codes that they change."""
        signs = self.signs[chosen]
        used = np.unique(signs.indices) if sp.issparse(signs) else np.flatnonzero(signs.any(axis=0))
        return CodeMoves(self.codes[used], signs[:, used])

    def one(self, move: int) -> tuple[Ints, Floats]:
        """The codes of one move, and their signs."""
        if sp.issparse(self.signs):
            mine = slice(self.signs.indptr[move], self.signs.indptr[move + 1])
            return self.codes[self.signs.indices[mine]], self.signs.data[mine]
        used = np.flatnonzero(self.signs[move])
        return self.codes[used], self.signs[move, used]


class Dimension:
    """The codes of one dimension, `size` of them, and the families in which they add up."""

    def __init__(self, size: int, families: tuple[Family, ...]) -> None:
        self.size = size
        self._parts = dict(families)
        self._above = {part: total for total, parts in families for part in parts}
        self._near: dict[int, CodeMoves] = {}
        self._every: dict[int, CodeMoves] = {}

    @cached_property
    def longest(self) -> int:
        """The most codes that a move changes."""
        return max(int(self.every(code).moved.sum(axis=1).max()) for code in range(self.size))

    def near(self, code: int) -> CodeMoves:
        """Of a code without parts: the moves with one sibling that has no parts either; of any other code
        every move.
        """
        if code not in self._near:
            siblings = [other for other in self._siblings(code) if other not in self._parts]
            few = [[(code, 1), (other, -1)] for other in siblings]
            self._near[code] = self.every(code) if code in self._parts or not few else _moves(few)
        return self._near[code]

    def every(self, code: int) -> CodeMoves:
        """All moves of a code, those with few codes first."""
        if code not in self._every:
            found: list[list[tuple[int, int]]] = []
            for down in self._lines(code):
                rises, top = list(down), code
                while True:
                    for other in self._siblings(top):
                        found += [
                            [*((each, 1) for each in rises), *((each, -1) for each in line)]
                            for line in self._lines(other)
                        ]
                    if top not in self._above:
                        found.append([(each, 1) for each in rises])
                        break
                    top = self._above[top]
                    rises.append(top)
            self._every[code] = _moves(sorted(found, key=lambda move: (len(move), move))[:MOST_MOVES])
        return self._every[code]

    def _siblings(self, code: int) -> Line:
        return tuple(part for part in self._parts.get(self._above.get(code, -1), ()) if part != code)

    def _lines(self, code: int) -> list[Line]:
        """The lines of parts from a code down to one without parts."""
        if code not in self._parts:
            return [(code,)]
        return [(code, *line) for part in self._parts[code] for line in self._lines(part)][:MOST_LINES]


def _moves(found: list[list[tuple[int, int]]]) -> CodeMoves:
    codes = sorted({code for code, _ in chain.from_iterable(found)})
    place = {code: i for i, code in enumerate(codes)}
    each = [sorted((place[code], sign) for code, sign in move) for move in found]
    starts = np.concatenate([[0], np.cumsum([len(move) for move in each])]).astype(np.int32)
    entries = list(chain.from_iterable(each))
    columns = np.array([column for column, _ in entries], dtype=np.int32)
    signs = np.array([sign for _, sign in entries], dtype=float)
    sparse = sp.csr_array((signs, columns, starts), shape=(len(found), len(codes)))
    return CodeMoves(np.array(codes), sparse.toarray() if len(found) * len(codes) <= MOST_DENSE else sparse)
