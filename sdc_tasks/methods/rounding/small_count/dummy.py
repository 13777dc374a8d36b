"""The dummy matrix X of [4] eq. (1), z = Xᵀ y: one row per inner cell and one column per
published cell. It is never built.

A row has at most one 1 in each crossing, so X is stored as one column of cell numbers per crossing. Most
crossings are derived: their cells are unions of the cells of a finer crossing, their parent, and it is enough
to number the cells of the parent. The few crossings that no other refines, the sources, are numbered from the
inner cells, by mixed radix keys. A small published cell of a derived crossing is the union of small cells of
its source, so the sources alone show whether a publication is sensitive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from sdc_tasks.methods.rounding.small_count.cells import Codes, InnerCells, joint_codes
from sdc_tasks.methods.rounding.small_count.publication import Crossings, Variable
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Bools, Floats, Ints

DENSE_KEYS = 16  # keys per row up to which counting is faster than sorting
ALWAYS_COUNTED = 1 << 16  # keys that are always counted


@dataclass(frozen=True)
class Dummy:
    """X of n inner cells and P published cells, numbered crossing by crossing, in the order
    of the labels within a crossing.

    `ids[s]` (n,): the published cell of each inner cell in the source crossing `sources[s]`, −1 where
    it is in none. The cells of a derived crossing j are unions of cells of `parent[j]`: `links[j][i]`
    is the cell that contains cell i of the parent, or −1. `offsets` (crossings + 1,): where the
    numbers of a crossing begin. `z` (P,): the published totals of the original counts. `example` (P,):
    an inner cell of each published cell.
    """

    cells: InnerCells
    publication: Crossings
    sources: tuple[int, ...]
    ids: tuple[Codes, ...] = field(repr=False)
    order: tuple[int, ...] = field(repr=False)  # the derived crossings, each after its parent
    parent: tuple[int, ...] = field(repr=False)
    links: tuple[Codes, ...] = field(repr=False)
    offsets: Ints = field(repr=False)
    example: Ints = field(repr=False)
    z: Ints = field(repr=False)

    @property
    def published(self) -> int:
        return int(self.offsets[-1])

    def totals(self, y: npt.NDArray[np.int64]) -> Ints:
        """Xᵀ y (P,) for integer y (n,), exact while no total reaches 2⁵³."""
        z = np.zeros(self.published, dtype=np.int64)
        for j, ids in zip(self.sources, self.ids, strict=True):
            _add_up(z, self.offsets, j, ids, y)
        for j in self.order:
            p = self.parent[j]
            _add_up(z, self.offsets, j, self.links[j], z[self.offsets[p] : self.offsets[p + 1]])
        return z

    def column(self, j: int) -> Codes:
        """(n,): the published cell of every inner cell in crossing j, −1 for none."""
        if self.parent[j] < 0:
            return self.ids[self.sources.index(j)]
        return self._derived(j, self.column(self.parent[j]))

    def rows(self, chosen: Ints) -> Codes:
        """The rows of X for the chosen inner cells: (chosen, crossings) numbers of published cells, −1 for
        none.
        """
        found = np.full((len(chosen), len(self.parent)), -1, dtype=np.int32)
        for j, ids in zip(self.sources, self.ids, strict=True):
            found[:, j] = ids[chosen]
        for j in self.order:
            found[:, j] = self._derived(j, found[:, self.parent[j]])
        return found

    def _derived(self, j: int, above: Codes) -> Codes:
        """The numbers in crossing j of cells with the numbers `above` in its parent."""
        links = self.links[j]
        if not len(links):  # no inner cell is in the parent
            return np.full(above.shape, -1, dtype=np.int32)
        at = np.maximum(above - np.int32(self.offsets[self.parent[j]]), 0)
        return np.where(above < 0, np.int32(-1), links[at])

    def labels(self, chosen: Ints) -> list[npt.NDArray[np.object_]]:
        """For each dimension (chosen,): the code, the group of codes, or the total that names the published
        cell.
        """
        crossing = np.searchsorted(self.offsets, chosen, side="right") - 1
        found = [np.full(len(chosen), total, dtype=object) for total in self.publication.totals]
        members = self.cells.codes[:, self.example[chosen]]
        for j in np.unique(crossing):
            here = crossing == j
            for v in self.publication.crossings[j]:
                variable = self.publication.variables[v]
                d = variable.dimension
                found[d][here] = np.array(variable.labels, dtype=object)[variable.group[members[d, here]]]
        return found

    def key(self, cell: int) -> str:
        """The codes of a published cell, for messages."""
        return printed_key(str(names[0]) for names in self.labels(np.array([cell])))


def _codes(cells: InnerCells, variable: Variable) -> Codes:
    """(inner cells,): the code of a variable of each."""
    own = cells.codes[variable.dimension]
    found: Codes = own if variable.is_leaf else variable.group[own]
    return found


def dummy_of(cells: InnerCells, publication: Crossings) -> Dummy:
    """Numbers the published cells of a publication."""
    refined, order = _parents(publication.variables, publication.crossings)
    count = len(publication.crossings)
    number: list[Codes] = [
        np.empty(0, dtype=np.int32)
    ] * count  # of inner cells, or of the cells of the parent; within the crossing
    example: list[Ints] = [np.empty(0, dtype=np.int64)] * count
    parent = [-1] * count
    sizes = [0] * count

    @cache
    def code(v: int) -> Codes:
        return _codes(cells, publication.variables[v])

    for j in order:
        crossing = publication.crossings[j]
        if len(refined[j]):
            parent[j] = min(refined[j].tolist(), key=lambda p: (sizes[p], p))
            members = example[parent[j]]
            number[j], first = _number(
                [code(v)[members] for v in crossing], _sizes(publication, crossing), len(members)
            )
            example[j] = members[first]
        else:
            number[j], example[j] = _number(
                [code(v) for v in crossing], _sizes(publication, crossing), len(cells)
            )
        sizes[j] = len(example[j])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    for j in range(count):
        number[j] += np.where(number[j] >= 0, offsets[j], 0).astype(np.int32)
    sources = tuple(j for j in range(count) if parent[j] < 0)
    draft = Dummy(
        cells,
        publication,
        sources,
        tuple(number[j] for j in sources),
        tuple(j for j in order if parent[j] >= 0),
        tuple(parent),
        tuple(number),
        offsets,
        np.concatenate(example),
        np.empty(0, dtype=np.int64),
    )
    object.__setattr__(draft, "z", draft.totals(cells.y))
    return draft


def _add_up(z: Ints, offsets: Ints, j: int, ids: Codes, values: Ints) -> None:
    begin, end = int(offsets[j]), int(offsets[j + 1])
    if len(ids) and ids.min() < 0:
        ids, values = ids[ids >= 0], values[ids >= 0]
    z[begin:end] = np.bincount(ids - begin, weights=values, minlength=end - begin)[: end - begin]


def _sizes(publication: Crossings, crossing: Sequence[int]) -> list[int]:
    return [len(publication.variables[v].labels) for v in crossing]


def _number(columns: Sequence[Codes], sizes: Sequence[int], n: int) -> tuple[Codes, Ints]:
    """(number of each row, −1 where a column has none; an example row of each number), in the order of the
    columns.
    """
    if not columns:
        return np.zeros(n, dtype=np.int32), np.zeros(min(n, 1), dtype=np.int64)
    there: Bools | None = None
    if any(len(column) and column.min() < 0 for column in columns):
        there = np.all([column >= 0 for column in columns], axis=0)
        columns = [column[there] for column in columns]
    keys, bound = joint_codes(columns, sizes)
    if bound <= max(ALWAYS_COUNTED, DENSE_KEYS * len(keys)):
        example = np.full(bound, -1, dtype=np.int64)
        example[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)  # the first of each key
        occurs = example >= 0
        number = (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[keys]
        example = example[occurs]
    else:
        _, example, which = np.unique(keys, return_index=True, return_inverse=True)
        number = which.astype(np.int32)
    if there is None:
        return number, example.astype(np.int64)
    whole = np.full(n, -1, dtype=np.int32)
    whole[there] = number
    return whole, np.flatnonzero(there)[example]


def _parents(
    variables: Sequence[Variable], crossings: Sequence[Sequence[int]]
) -> tuple[list[Ints], list[int]]:
    """(the crossings from which each could be derived, an order in which these come before it).

    f' refines f where each variable of f follows from one of f', and f' covers every inner cell that f
    covers.
    """
    count = len(variables)
    member: Floats = np.zeros((len(crossings), count), dtype=np.float32)
    for j, crossing in enumerate(crossings):
        member[j, list(crossing)] = 1
    follows = np.array(
        [[u is v or (u.is_leaf and u.dimension == v.dimension) for v in variables] for u in variables],
        dtype=np.float32,
    ).reshape(count, count)
    partial = np.array([not v.is_full for v in variables], dtype=np.float32)
    told = (member @ follows > 0).astype(np.float32)  # f' tells v
    refines = (member @ (1 - told).T == 0) & ((1 - member) @ (member * partial).T == 0)  # [f, f']
    np.fill_diagonal(refines, False)
    rank = np.lexsort((np.arange(len(crossings)), refines.sum(axis=1)))
    position = np.empty(len(crossings), dtype=np.int64)
    position[rank] = np.arange(len(crossings))
    return [
        np.flatnonzero(refines[j] & (position < position[j])) for j in range(len(crossings))
    ], rank.tolist()
