"""What published counts tell of the true ones to a reader who knows the perturbation table, but no key.

Totals are published with noise of their own, so they are no sums of the parts; still each cell and each
difference of overlapping tables says something (Enderle, Giessing & Tent 2018 and 2020 estimate how likely a
guess from one difference is). Here, without probabilities, the set of true tables that can have been
published as this one. The reader knows

    origins         a cell published as y has a count that the table can turn into y
                    (`PerturbationTable.origins`)
    sums            true counts add up, and none is below 0
    same people     cells with the same records have the same noise: where a cell and a total that it is in
                    are published differently, the total has more records

Sums of values are bounded in the same way, in units of their last decimal: what stands for the origins is in
`values.py`, and a total that is published differently has a unit more.

Two engines. `narrowed` takes bounds through all relations of the grid until none moves, in whole numbers
(`told` of them is always true, but may not be all): for tables of any size. `possible_values` (`exact.py`)
enumerates: it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.perturb.grid import HIDDEN, Block, Edge, PublishedGrid
from sdc_tasks.methods.perturb.ptable import PerturbationTable
from sdc_tasks.model.table import Bools, Ints

MOST_ROUNDS = 200
Counted = npt.NDArray[Any]  # of int32 where that is wide enough, else of int64


@dataclass(frozen=True)
class CountBounds:
    """`low` and `high` (cells,) of a grid: no true count that the reader cannot exclude is outside of
    them.
    """

    grid: PublishedGrid = field(repr=False)
    low: Counted = field(repr=False)
    high: Counted = field(repr=False)
    rounds: int

    @property
    def shown(self) -> Bools:
        """(cells,): the published ones."""
        return np.not_equal(self.grid.published, HIDDEN)

    @property
    def told(self) -> Bools:
        """(cells,): published cells whose count is told exactly."""
        equal: Bools = self.low == self.high
        return equal & self.shown

    def told_as(self, count: int) -> Bools:
        """(cells,): published cells whose count is told to be this one."""
        this: Bools = self.low == count
        return this & self.told


def origin_bounds(table: PerturbationTable, published: Ints) -> tuple[Ints, Ints]:
    """(n,), (n,): the least and the largest count that can be published as each value. Raises ValueError
    where none can.
    """
    # Above `window` the rows take turns, so that what holds of y holds of y + repeat.
    window = table.top + 2 * table.largest + table.repeat
    origins = [table.origins(y) for y in range(window + table.repeat)]
    low = np.array([each[0] if len(each) else -1 for each in origins], dtype=np.int64)
    high = np.array([each[-1] if len(each) else -1 for each in origins], dtype=np.int64)
    turned = np.maximum(0, (published - window) // table.repeat) * table.repeat
    at = published - turned
    if len(published) and (published.min() < 0 or low[at].min() < 0):
        raise ValueError("a value that this perturbation table publishes of no count")
    return low[at] + turned, high[at] + turned


def narrowed(grid: PublishedGrid, table: PerturbationTable, rounds: int = MOST_ROUNDS) -> CountBounds:
    """Bounds of every count after at most so many rounds through all relations; one round are the first
    differences. Raises ValueError where no true table can be published so.
    """
    return narrowed_from(grid, *origin_bounds(table, grid.shown_values), rounds)


def narrowed_from(grid: PublishedGrid, least: Ints, most: Ints, rounds: int = MOST_ROUNDS) -> CountBounds:
    """The same from what each published cell tells by itself, `least` and `most` (published cells,)."""
    seen = np.flatnonzero(grid.published != HIDDEN)
    top = int(most.max(initial=0))  # a hidden cell is in a published one
    longest = max((size for block in grid.blocks for size in block.shape), default=1)
    if top * longest >= 2**63:
        raise InvalidInput("sums of so many digits over so many codes. Remedy: give values in a larger unit")
    kind = np.int32 if top * longest < 2**31 else np.int64
    low: Counted = np.zeros(len(grid.published), dtype=kind)
    high: Counted = np.full(len(grid.published), top, dtype=kind)
    low[seen], high[seen] = least, most
    before, done = -1, 0
    while done < rounds:
        for edge in grid.edges:
            _take_along(grid, edge, low, high)
        done += 1
        if (low > high).any():
            raise ValueError("no true table can be published so")
        width = int(high.sum(dtype=np.int64)) - int(low.sum(dtype=np.int64))
        if width == before:
            break
        before = width
    return CountBounds(grid, low, high, done)


def _take_along(grid: PublishedGrid, edge: Edge, low: Counted, high: Counted) -> None:
    """Takes bounds through the relations of one edge, in place, in both directions."""
    fine, coarse = grid.blocks[edge.fine], grid.blocks[edge.coarse]
    part_low, part_high = _of(low, fine), _of(high, fine)
    own_low, own_high = _of(low, coarse), _of(high, coarse)
    limit = _spread(own_high, edge)
    if grid.shows(edge.fine) and grid.shows(edge.coarse):
        differ = _of(grid.published, fine) != _spread(_of(grid.published, coarse), edge)
        limit = limit - differ
    inside = _inside(edge, fine)
    np.minimum(part_high, limit, out=part_high, where=inside)
    sum_low, sum_high = _added(part_low, edge, coarse), _added(part_high, edge, coarse)
    np.maximum(own_low, sum_low, out=own_low)
    np.minimum(own_high, sum_high, out=own_high)
    # a part has what its total has at least, less what the others may have; and the other way round
    np.maximum(part_low, _spread(own_low - sum_high, edge) + part_high, out=part_low, where=inside)
    np.minimum(part_high, _spread(own_high - sum_low, edge) + part_low, out=part_high, where=inside)


def _of(values: Counted, block: Block) -> Counted:
    """A view of the part of values (cells,) that belongs to a block, in its shape."""
    return values[block.cells].reshape(block.shape)


def _inside(edge: Edge, fine: Block) -> Bools | bool:
    """Which cells of the finer block are in a cell of the coarser one; along the axis."""
    if edge.codes is None:
        return True
    shape = [1] * len(fine.shape)
    shape[edge.axis] = len(edge.codes)
    inside: Bools = (edge.codes >= 0).reshape(shape)
    return inside


def _spread(values: Counted, edge: Edge) -> Counted:
    """Of the coarser block, at each cell of the finer one."""
    if edge.codes is None:
        return np.expand_dims(values, edge.axis)
    return np.take(values, np.maximum(edge.codes, 0), axis=edge.axis)


def _added(values: Counted, edge: Edge, coarse: Block) -> Counted:
    """Of the finer block, added up to the cells of the coarser one."""
    if edge.codes is None:
        whole: Counted = values.sum(axis=edge.axis, dtype=values.dtype)
        return whole
    found = np.zeros(coarse.shape, dtype=values.dtype)
    there = edge.codes >= 0
    moved, into = np.moveaxis(values, edge.axis, 0), np.moveaxis(found, edge.axis, 0)
    np.add.at(into, edge.codes[there], moved[there])
    return found
