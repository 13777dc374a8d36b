"""Where the cells of a crossed table stand: one code in each dimension, and the families
in which codes add up ([2] §2.1).

A table without substructure is crossed from one family a dimension, a total and its parts. A
hierarchical table overlaps from such sub-tables: what is a part in one is a total in the next. Methods
of offices work on them one by one ([2] §4.3).

A JJ file tells relations alone. `recognised` finds the dimensions in them, or says that there are none:

- The grand total is a part of nothing. Each relation that it is the total of opens a dimension.
- Along a dimension all other codes are totals, so that its cells are parts of one relation only. That
  is how its tree is followed down.
- Any other cell is a part in two relations at least. Their totals stand one step higher in one dimension
  each. So in every dimension the
  cell stands as deep as the deepest of these totals.
- What was guessed so counts only if the relations of the grid are exactly those of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Family, Hierarchy, Ints, read_only


@dataclass(frozen=True)
class Grid:
    """`families[k]`: (total, parts) as positions in dimension k, which has `sizes[k]` codes. `cell`
    (∏ sizes): which cell of the problem stands at each position, in C order. Raises ValueError if a
    cell stands twice or not at all.
    """

    sizes: tuple[int, ...]
    families: tuple[tuple[Family, ...], ...]
    cell: Ints = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", read_only(np.asarray(self.cell, dtype=np.int64)))
        if not np.array_equal(np.sort(self.cell), np.arange(int(np.prod(self.sizes)))):
            raise ValueError("a grid holds every cell once")

    @cached_property
    def subtables(self) -> tuple[Subtable, ...]:
        """All sub-tables without substructure, from the top down; those of one level in the order of the
        codes.
        """
        whole = self.cell.reshape(self.sizes)
        found = []
        for chosen in product(*(self._blocks(axis) for axis in range(len(self.sizes)))):
            places = [np.array([total, *parts]) for total, parts, _ in chosen]
            found.append(Subtable(sum(depth for *_, depth in chosen), read_only(whole[np.ix_(*places)])))
        return tuple(sorted(found, key=lambda table: table.level))

    def _blocks(self, axis: int) -> list[tuple[int, tuple[int, ...], int]]:
        """(total, parts, depth of the total) of a dimension; a code outside of all families stands alone."""
        above = {part: total for total, parts in self.families[axis] for part in parts}
        blocks = []
        for total, parts in self.families[axis]:
            depth, code = 0, total
            while code in above:
                depth, code = depth + 1, above[code]
            blocks.append((total, parts, depth))
        alone = set(range(self.sizes[axis])) - set(above) - {total for total, _ in self.families[axis]}
        return blocks + [(code, (), 0) for code in sorted(alone)]


@dataclass(frozen=True)
class Subtable:
    """`cells` (size of the family in each dimension): cells of the problem; position 0
    of each dimension is the total.
    """

    level: int
    cells: Ints = field(repr=False)

    @cached_property
    def relations(self) -> sp.csr_array:
        """(m, number of its cells): −1 at a total, +1 at its parts; columns in C order."""
        return _relations(
            self.cells.shape, [((0, tuple(range(1, size))),) if size > 1 else () for size in self.cells.shape]
        )


def grid_of(axes: Sequence[Hierarchy]) -> Grid | None:
    """The grid of a table whose cells are the products of codes, in C order; None where a dimension has more
    than one tree: sub-tables would overlap in what is a part in both.
    """
    if any(axis.sums for axis in axes):
        return None
    sizes = tuple(len(axis.codes) for axis in axes)
    return Grid(sizes, tuple(axis.families for axis in axes), np.arange(int(np.prod(sizes))))


def recognised(M: sp.csr_array) -> Grid | None:
    """The grid whose relations are those of a matrix (m, n), whatever the order and signs of
    its rows; None if there is none.
    """
    joined = _joined(M)
    if joined is None:
        return None
    below, above = joined
    tops = [cell for cell, totals in enumerate(above) if not totals]
    if len(tops) != 1 or not below[tops[0]]:
        return None
    axes = [_axis(tops[0], parts, below, above) for parts in below[tops[0]]]
    lines, families = zip(*axes, strict=True)
    cell = _cell_at(tops[0], lines, above)
    if cell is None:
        return None
    grid = Grid(tuple(map(len, lines)), families, cell)
    mine = _relations(grid.sizes, grid.families)
    mine = sp.csr_array((mine.data, cell[mine.indices], mine.indptr), shape=mine.shape)
    return grid if sorted(_sums(mine)) == sorted(_sums(M)) else None


def _joined(M: sp.csr_array) -> tuple[list[list[list[int]]], list[list[int]]] | None:
    """Of each cell, the parts of every relation that it is the total of; and the totals that it is a part of.
    None where some relation is no sum of parts.
    """
    below: list[list[list[int]]] = [[] for _ in range(M.shape[1])]
    above: list[list[int]] = [[] for _ in range(M.shape[1])]
    for total, parts in _sums(M):
        if total < 0:
            return None
        below[total].append(parts)
        for part in parts:
            above[part].append(total)
    return below, above


def _sums(M: sp.csr_array) -> Iterator[tuple[int, list[int]]]:
    """(total, parts in order) of each relation; −1 for the total where it is no sum of parts. A
    relation of two reads as it is signed.
    """
    for start, end in zip(M.indptr[:-1], M.indptr[1:], strict=True):
        cells, signs = M.indices[start:end], M.data[start:end]
        for sign in (-1.0, 1.0):
            if (signs == sign).sum() == 1 and (signs == -sign).sum() == len(signs) - 1 > 0:
                yield int(cells[signs == sign][0]), sorted(cells[signs == -sign].tolist())
                break
        else:
            yield -1, []


def _axis(
    top: int, parts: list[int], below: list[list[list[int]]], above: list[list[int]]
) -> tuple[dict[int, int], tuple[Family, ...]]:
    """The cells along one dimension with their positions, and its families."""
    codes, families = {top: 0}, []
    waiting = [(top, parts)]
    for total, children in waiting:
        for child in children:
            codes.setdefault(child, len(codes))
        families.append((codes[total], tuple(codes[child] for child in children)))
        for child in children:
            waiting += [(child, each) for each in below[child] if all(len(above[cell]) == 1 for cell in each)]
    return codes, tuple(sorted(families))


def _cell_at(top: int, lines: Sequence[dict[int, int]], above: list[list[int]]) -> Ints | None:
    """(∏ sizes,): the cell at each position; None where two share one, or some cell has none."""
    sizes, count = tuple(map(len, lines)), len(above)
    if int(np.prod([float(size) for size in sizes])) != count:
        return None
    place = _places(top, lines, above)
    if place is None:
        return None
    cell = np.full(count, -1)
    cell[np.ravel_multi_index(place.T, sizes)] = np.arange(count)
    return None if (cell < 0).any() else cell


def _places(top: int, lines: Sequence[dict[int, int]], above: list[list[int]]) -> Ints | None:
    """(n, dimensions): the position of every cell; None if some cell has none."""
    place = _on_lines(top, lines, len(above))
    depth = [_depths(codes, above) for codes in lines]
    parts = _parts(above)
    missing = np.array([len(totals) for totals in above])
    ready = [top]
    for cell in ready:
        if place[cell, 0] < 0:
            told = place[above[cell]]
            place[cell] = [
                max(column.tolist(), key=depth[axis].__getitem__) for axis, column in enumerate(told.T)
            ]
        for part in parts[cell]:
            missing[part] -= 1
            if missing[part] == 0:
                ready.append(part)
    return place if len(ready) == len(above) else None


def _on_lines(top: int, lines: Sequence[dict[int, int]], count: int) -> Ints:
    """(n, dimensions): the position of the top and of the cells along one dimension; −1 elsewhere."""
    place = np.full((count, len(lines)), -1)
    place[top] = 0
    for axis, codes in enumerate(lines):
        for cell, code in codes.items():
            place[cell] = 0
            place[cell, axis] = code
    return place


def _parts(above: list[list[int]]) -> list[list[int]]:
    """Of each cell, the parts of all relations that it is the total of."""
    parts: list[list[int]] = [[] for _ in above]
    for cell, totals in enumerate(above):
        for total in totals:
            parts[total].append(cell)
    return parts


def _depths(codes: dict[int, int], above: list[list[int]]) -> list[int]:
    """How far below the top each position of a dimension stands; cells of a line come after their totals."""
    depths = [0] * len(codes)
    for cell, code in codes.items():
        depths[code] = 1 + depths[codes[above[cell][0]]] if above[cell] else 0
    return depths


def _relations(sizes: Sequence[int], families: Sequence[Sequence[Family]]) -> sp.csr_array:
    """(m, ∏ sizes): every family along every line of its dimension."""
    places = np.arange(int(np.prod(sizes))).reshape(tuple(sizes))
    rows, signs = [], []
    for axis, mine in enumerate(families):
        lines = np.moveaxis(places, axis, -1).reshape(-1, sizes[axis])
        for total, parts in mine:
            rows += list(lines[:, [total, *parts]])
            signs += [np.array([-1.0] + [1.0] * len(parts))] * len(lines)
    none = np.zeros(0)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return sp.csr_array(
        (np.concatenate([*signs, none]), np.concatenate([*rows, none.astype(np.int64)]), starts),
        shape=(len(rows), places.size),
    )
