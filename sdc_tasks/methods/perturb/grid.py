"""What a reader sees of perturbed counts: a whole grid for each crossing, and which sums of its cells are
cells of another one.

A combination of codes that is in no file is published as 0, so it is a cell as any other. Where no published
crossing refines all others, the inner cells are a hidden block below, and what is two steps above them has
hidden blocks on its way: nobody sees these cells, but they are at least 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count import Crossings, Dummy
from sdc_tasks.methods.rounding.small_count.publication import Variable
from sdc_tasks.model.table import Ints

MOST_CELLS = 30_000_000  # of all grids together: four arrays of them fit in 1 GB
HIDDEN = -1  # published value of a cell that is not published
Map = npt.NDArray[np.int32]  # (codes of the finer block): the code of the coarser one, −1 for none


@dataclass(frozen=True)
class Block:
    """The cells of one crossing: `axes` are the dimensions that it names, increasing, `shape` the codes of
    each; `offset`: the number of its first cell among all. `begins`: the first of them.
    """

    variables: tuple[int, ...]
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def cells(self) -> slice:
        return slice(self.offset, self.offset + self.size)


@dataclass(frozen=True)
class Edge:
    """The cells of block `coarse` are sums of cells of block `fine` along one of its axes: over all of it,
    where `codes` is None, else of those that have one code there.
    """

    fine: int
    coarse: int
    axis: int
    codes: Map | None = field(default=None, repr=False)


@dataclass(frozen=True)
class PublishedGrid:
    """`published` (cells,): the value of each cell of all blocks, HIDDEN in a block that is not published."""

    blocks: tuple[Block, ...]
    edges: tuple[Edge, ...]
    published: Ints = field(repr=False)

    @property
    def shown_values(self) -> Ints:
        """(published cells,): their values."""
        values: Ints = self.published[self.published != HIDDEN]
        return values

    def shows(self, block: int) -> bool:
        """Whether a block is published."""
        mine = self.blocks[block]
        return mine.size > 0 and bool(self.published[mine.offset] != HIDDEN)


def grid_of(dummy: Dummy, values: Ints) -> PublishedGrid:
    """The grid of a publication with these values (P,) of the cells that occur. Raises InvalidInput where it
    is too large.
    """
    publication = dummy.publication
    crossings = [tuple(sorted(crossing)) for crossing in publication.crossings]
    hidden = _hidden(publication, crossings)
    blocks: list[Block] = []
    offset = 0
    for crossing in [*crossings, *hidden]:
        ordered = tuple(sorted(crossing, key=lambda v: publication.variables[v].dimension))
        block = Block(
            ordered,
            tuple(publication.variables[v].dimension for v in ordered),
            tuple(len(publication.variables[v].labels) for v in ordered),
            offset,
        )
        blocks.append(block)
        offset += block.size
        if offset > MOST_CELLS:
            raise InvalidInput(
                f"the publication has more than {MOST_CELLS} cells, empty ones too. Remedy: audit fewer "
                f"crossings at once"
            )
    published = np.zeros(offset, dtype=np.int64)
    for j, block in enumerate(blocks[: len(crossings)]):
        begin, end = int(dummy.offsets[j]), int(dummy.offsets[j + 1])
        published[block.offset + _places(dummy, block, dummy.example[begin:end])] = values[begin:end]
    for block in blocks[len(crossings) :]:
        published[block.cells] = HIDDEN
    return PublishedGrid(tuple(blocks), tuple(_edges(publication, blocks)), published)


def _hidden(publication: Crossings, crossings: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The finest crossing and those that lead to it, a dimension more each, as far as they are not published:
    from every crossing of codes, so that each cell is joined to the inner ones.
    """
    leaves = [v for v, variable in enumerate(publication.variables) if variable.is_leaf]
    there = set(crossings)
    found: dict[tuple[int, ...], None] = {}
    for crossing in crossings:
        if not set(crossing) <= set(leaves) or _is_refined(crossing, there):
            continue
        missing = [v for v in leaves if v not in crossing]
        for many in range(1, len(missing) + 1):
            above = tuple(sorted((*crossing, *missing[:many])))
            if above in there:
                break
            found[above] = None
    return list(found)


def _is_refined(crossing: tuple[int, ...], there: Collection[tuple[int, ...]]) -> bool:
    """Whether another crossing has one variable more."""
    return any(set(crossing) < set(other) and len(other) == len(crossing) + 1 for other in there)


def grid_codes(dummy: Dummy, block: Block) -> npt.NDArray[np.object_]:
    """(cells of the block, dimensions): the codes of each, the name of the total where it names none."""
    found = np.empty((block.size, len(dummy.cells.dimensions)), dtype=object)
    found[:] = dummy.publication.totals
    at = np.unravel_index(np.arange(block.size), block.shape) if block.shape else ()
    for v, axis, own in zip(block.variables, block.axes, at, strict=True):
        found[:, axis] = np.array(dummy.publication.variables[v].labels, dtype=object)[own]
    return found


def _places(dummy: Dummy, block: Block, members: Ints) -> Ints:
    """(members,): the place within a block of the cell that each inner cell is in."""
    place = np.zeros(len(members), dtype=np.int64)
    for v, size in zip(block.variables, block.shape, strict=True):
        variable = dummy.publication.variables[v]
        place = place * size + variable.group[dummy.cells.codes[variable.dimension, members]]
    return place


def _edges(publication: Crossings, blocks: Sequence[Block]) -> list[Edge]:
    """From each block to the coarser ones that it refines along one axis, with no block between them."""
    found: list[Edge] = []
    for f, fine in enumerate(blocks):
        for axis in range(len(fine.axes)):
            edges = [edge for c in range(len(blocks)) if (edge := _refined(publication, blocks, f, c, axis))]
            found += [
                edge
                for edge in edges
                if not any(_refined(publication, blocks, other.coarse, edge.coarse, axis) for other in edges)
            ]
    return found


def _refined(publication: Crossings, blocks: Sequence[Block], f: int, c: int, axis: int) -> Edge | None:
    """How block f refines block c along one axis; None where it does not."""
    fine, coarse = blocks[f], blocks[c]
    if len(fine.variables) <= axis:
        return None
    rest = fine.variables[:axis] + fine.variables[axis + 1 :]
    if coarse.variables == rest:
        return Edge(f, c, axis) if publication.variables[fine.variables[axis]].is_full else None
    if len(coarse.variables) != len(fine.variables):
        return None
    if coarse.variables[:axis] + coarse.variables[axis + 1 :] != rest:
        return None
    mine_at, theirs_at = fine.variables[axis], coarse.variables[axis]
    mine, theirs = publication.variables[mine_at], publication.variables[theirs_at]
    # of two levels with the same groups, a code over each code, the later one is above
    if (len(mine.labels), theirs_at) <= (len(theirs.labels), mine_at) or mine.dimension != theirs.dimension:
        return None
    codes = _codes_above(mine, theirs)
    return None if codes is None else Edge(f, c, axis, codes)


def _codes_above(fine: Variable, coarse: Variable) -> Map | None:
    """(codes of the finer level,): the code of the coarser level that each is in, −1 in none, −2 where it is
    empty; None where one is in several.
    """
    codes = np.full(len(fine.labels), -2, dtype=np.int32)
    for own, other in zip(fine.group.tolist(), coarse.group.tolist(), strict=True):
        if own < 0:
            if other >= 0:
                return None  # what is in no code of the finer block is in one of the coarser
        elif codes[own] == -2:
            codes[own] = other
        elif codes[own] != other:
            return None
    return codes
