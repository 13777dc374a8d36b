"""Cells and the linear relations between them.

A `CellSpace` is the Cartesian product areas × indicators × codes of each hierarchy, in C order; a cell is its
flat index. Relations follow [2] §2: every row of `M` holds −1 at a total and +1 at its parts, `M a = 0`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from graphlib import CycleError, TopologicalSorter
from itertools import permutations, product
from operator import or_
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sdc_tasks.model.keys import printed_key

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

Family = tuple[int, tuple[int, ...]]  # a total and its parts, as positions in a code list

EXACT_BELOW = 2**53  # whole numbers that a float holds exactly
MOST_PLACES = 9  # decimal places of a value, as in domain files


def read_only(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """A copy that nobody can write to, also not through the original. Frozen types hold such arrays."""
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True)
class Hierarchy:
    """A code list with parents: `codes[i]` is a part of the total `parent[i]`, which is None for a root.

    `sums` (total, parts) are further relations over the same codes: those of other trees, and special
    aggregates. A code that only sums name has no parent. Raises ValueError for a repeated code, an unknown
    parent or part, a sum without parts or given twice, a cycle, and a total that counts a code twice, or is
    the same sum with a code and without it.
    """

    dimension: str
    codes: tuple[str, ...]
    parent: tuple[str | None, ...]
    sums: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.parent):
            raise ValueError(f"{self.dimension}: {len(self.codes)} codes but {len(self.parent)} parents")
        if len(set(self.codes)) != len(self.codes):
            repeated = sorted({code for code in self.codes if self.codes.count(code) > 1})
            raise ValueError(f"{self.dimension}: repeated codes {repeated}")
        unknown = sorted({p for p in self.parent if p is not None} - set(self.codes))
        if unknown:
            raise ValueError(f"{self.dimension}: parents {unknown} are not codes of the list")
        self._refuse_sums()
        _ = self.depth
        self._refuse_contradictions()

    def __repr__(self) -> str:
        """The text of a code list without sums is what it always was: digests are of it."""
        told = ["dimension", "codes", "parent", *(["sums"] if self.sums else [])]
        return f"Hierarchy({', '.join(f'{name}={getattr(self, name)!r}' for name in told)})"

    def _refuse_sums(self) -> None:
        """Refuses sums of nothing, of unknown or repeated codes, and one that is given twice."""
        if not self.sums:
            return
        seen = {(self.codes[total], frozenset(self.codes[i] for i in parts)) for total, parts in self._tree}
        for total, parts in self.sums:
            self._refuse_sum(total, parts)
            if (total, frozenset(parts)) in seen:
                raise ValueError(f"{self.dimension}: the sum {total} of the same parts is given twice")
            seen.add((total, frozenset(parts)))

    def _refuse_sum(self, total: str, parts: tuple[str, ...]) -> None:
        if not parts:
            raise ValueError(f"{self.dimension}: the sum {total} has no parts")
        if unknown := [code for code in (total, *parts) if code not in self.index]:
            raise ValueError(f"{self.dimension}: {unknown[0]}, in the sum {total}, is no code of the list")
        if repeated := [code for code in parts if parts.count(code) > 1]:
            raise ValueError(f"{self.dimension}: the sum {total} counts {repeated[0]} twice")

    def _refuse_contradictions(self) -> None:
        """Refuses a total of which two parts have a code in common, and one that is the same sum with a code
        and without it.
        """
        if not self.sums:
            return  # in a tree, no code has two totals
        below = [1 << i for i in range(len(self.codes))]  # of each code: itself and all below it, a bit each
        for total, parts in sorted(self.families, key=lambda family: -self.depth[family[0]]):
            found = 0
            for part in parts:
                if both := found & below[part]:
                    twice = self.codes[both.bit_length() - 1]
                    raise ValueError(f"{self.dimension}: the sum {self.codes[total]} counts {twice} twice")
                found |= below[part]
            below[total] |= found
        for total, several in self._inner.items():
            for whole, inner in permutations(several, 2):
                if inner | whole == whole:
                    left = self.codes[(whole ^ inner).bit_length() - 1]
                    raise ValueError(
                        f"{self.dimension}: {self.codes[total]} is a sum with {left}, and of the rest alone"
                    )

    @cached_property
    def index(self) -> dict[str, int]:
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """Of each code, the most steps from a code that is a part of nothing (0 for such a code): every part
        is deeper than all its totals.
        """
        above: dict[int, list[int]] = {i: [] for i in range(len(self.codes))}
        for total, parts in self.families:
            for part in parts:
                above[part].append(total)
        try:
            order = list(TopologicalSorter(above).static_order())
        except CycleError as error:
            code = self.codes[min(error.args[1])]
            raise ValueError(f"{self.dimension}: the parents of {code} form a cycle") from None
        found = [0] * len(self.codes)
        for code in order:
            found[code] = max((found[total] + 1 for total in above[code]), default=0)
        return tuple(found)

    @cached_property
    def _tree(self) -> tuple[Family, ...]:
        """(total, parts) of the parents alone."""
        children: dict[int, list[int]] = {}
        for i, above in enumerate(self.parent):
            if above is not None:
                children.setdefault(self.index[above], []).append(i)
        return tuple((total, tuple(parts)) for total, parts in sorted(children.items()))

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """(total, parts) as positions in `codes`, for each code that has parts, and then for each sum: a
        total may have several.
        """
        at = self.index
        return (*self._tree, *((at[total], tuple(at[part] for part in parts)) for total, parts in self.sums))

    @cached_property
    def parts_of(self) -> dict[int, tuple[int, ...]]:
        """For each code that has parts, those of its first family, deepest totals first."""
        first: dict[int, tuple[int, ...]] = {}
        for total, parts in sorted(self.families, key=lambda family: -self.depth[family[0]]):
            first.setdefault(total, parts)
        return first

    @cached_property
    def _inner(self) -> dict[int, tuple[int, ...]]:
        """For each total, the different sets of inner codes that it is the sum of, a bit for each code."""
        inner = [1 << i for i in range(len(self.codes))]
        for total, parts in self.parts_of.items():
            inner[total] = reduce(or_, (inner[part] for part in parts))
        found: dict[int, dict[int, None]] = {}
        for total, parts in self.families:
            found.setdefault(total, {})[reduce(or_, (inner[part] for part in parts))] = None
        return {total: tuple(several) for total, several in found.items()}

    @cached_property
    def rivals(self) -> tuple[int, ...]:
        """Totals with families of different inner codes, such as regions and degrees of urbanisation of one
        country: nobody can compute the one from the other.
        """
        return tuple(sorted(total for total, several in self._inner.items() if len(several) > 1))

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The codes without a parent, but for those that only sums name; where that leaves none, the codes
        that are a part of nothing.
        """
        named = {code for total, parts in self.sums for code in (total, *parts)} - set(self.parent)
        own = [
            i
            for i, (code, above) in enumerate(zip(self.codes, self.parent, strict=True))
            if above is None and code not in named
        ]
        return tuple(own or [i for i, depth in enumerate(self.depth) if depth == 0])


def joined(trees: Sequence[Hierarchy]) -> Hierarchy:
    """Trees over the codes of one dimension as one list: the first of them is its tree, what the others add
    up to are sums. Raises ValueError as `Hierarchy`.
    """
    first, *others = trees
    codes = dict.fromkeys(code for tree in trees for code in tree.codes)
    known = {
        (first.codes[total], frozenset(first.codes[i] for i in parts)) for total, parts in first.families
    }
    sums = list(first.sums)
    for tree in others:
        for total, parts in tree.families:
            names = tree.codes[total], tuple(tree.codes[i] for i in parts)
            if (key := (names[0], frozenset(names[1]))) not in known:
                known.add(key)
                sums.append(names)
    parent = (*first.parent, *[None] * (len(codes) - len(first.codes)))
    return Hierarchy(first.dimension, tuple(codes), parent, tuple(sums))


def inside(hierarchies: Sequence[Hierarchy]) -> Bools:
    """Mask of the inner cells, with one axis per hierarchy: cells whose codes have no parts."""
    return np.equal(margins(hierarchies), 0)


def margins(hierarchies: Sequence[Hierarchy]) -> Ints:
    """In how many dimensions a cell is a total, with one axis per hierarchy."""
    found = np.zeros(tuple(len(hierarchy.codes) for hierarchy in hierarchies), dtype=np.int64)
    for axis, hierarchy in enumerate(hierarchies):
        np.moveaxis(found, axis, 0)[list(hierarchy.parts_of)] += 1
    return found


def added_up(inner: Floats, hierarchies: Sequence[Hierarchy]) -> Floats:
    """The table with all totals computed from its inner cells. The last axes of `inner` are the hierarchies,
    in order.
    """
    whole = inner.copy()
    for axis, hierarchy in enumerate(hierarchies, start=whole.ndim - len(hierarchies)):
        lines = np.moveaxis(whole, axis, 0)
        for total, parts in hierarchy.parts_of.items():
            lines[total] = lines[list(parts)].sum(axis=0)
    return whole


def linked(
    indicators: Sequence[str], relations: Iterable[tuple[str, tuple[str, ...]]]
) -> tuple[tuple[str, ...], ...]:
    """The indicators in groups: relations (total, parts) link those of a group, and none of two groups.
    In the order of the indicators.
    """
    group = {code: {code} for code in indicators}
    for total, parts in relations:
        together = set[str]().union(*(group[code] for code in (total, *parts)))
        group |= dict.fromkeys(together, together)
    return tuple(
        dict.fromkeys(tuple(code for code in indicators if code in group[each]) for each in indicators)
    )


@dataclass(frozen=True)
class Aggregate:
    """A composition: an area that is the sum of its members, such as EU27_2020. Raises ValueError without
    members.
    """

    code: str
    members: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.members:
            raise ValueError(f"aggregate {self.code} has no members")


@dataclass(frozen=True)
class Beside:
    """The national tables of another release of the statistic that is out: its cells are attacked with those
    of this release, and its aggregates are decided already.

    `name`: for messages and keys, such as `2024-Q1` or `sbs_size 2024`. `space`: its cells, without
    aggregates.
    """

    name: str
    space: CellSpace

    def __post_init__(self) -> None:
        if self.space.aggregates or self.space.beside:
            raise ValueError("what is beside a release are national tables alone")


@dataclass(frozen=True)
class CellSpace:
    """All cells of one release: (countries, then aggregates) × indicators × hierarchies; then the national
    cells of the tables `beside` it.

    `indicator_relations` (total, parts) link indicators: for every area and combination of codes,
    the total is the sum of its parts. `links` (rows, size), None without any: relations between the tables,
    with −1 or less at a total. A release alone has neither links nor tables beside it, and its cells have the
    same numbers with and without them.
    """

    countries: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    indicators: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    indicator_relations: tuple[tuple[str, tuple[str, ...]], ...] = ()
    beside: tuple[Beside, ...] = ()
    links: sp.csr_array | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """As long as nothing is beside it, the text of a space is what it always was: digests are of it."""
        told = ["countries", "aggregates", "indicators", "hierarchies", "indicator_relations"]
        told += ["beside"] if self.beside else []
        return f"CellSpace({', '.join(f'{name}={getattr(self, name)!r}' for name in told)})"

    @cached_property
    def areas(self) -> tuple[str, ...]:
        return self.countries + tuple(aggregate.code for aggregate in self.aggregates)

    @cached_property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The codes of each axis of a national table: indicators, then each hierarchy."""
        return (self.indicators, *(hierarchy.codes for hierarchy in self.hierarchies))

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The indicators in groups that no relation links."""
        return linked(self.indicators, self.indicator_relations)

    @cached_property
    def national_shape(self) -> tuple[int, ...]:
        return tuple(len(codes) for codes in self.axes)

    @cached_property
    def national_size(self) -> int:
        """The number of cells in the table of one area."""
        return int(np.prod(self.national_shape))

    @property
    def own_size(self) -> int:
        """The number of cells of this release. Those of tables beside it follow."""
        return len(self.areas) * self.national_size

    @property
    def size(self) -> int:
        return self.own_size + sum(each.space.size for each in self.beside)

    @property
    def first_aggregate(self) -> int:
        """The first cell of the first aggregate. All cells before it are national."""
        return len(self.countries) * self.national_size

    @cached_property
    def alone(self) -> CellSpace:
        """The cells of this release without what is beside it."""
        return replace(self, beside=(), links=None) if self.beside else self

    @cached_property
    def tables(self) -> tuple[CellSpace, ...]:
        """The spaces of all tables by their number in a link: this release, then what is beside it."""
        return (self.alone, *(each.space for each in self.beside))

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """The first cell of each of the `tables`."""
        return (0, *np.cumsum([self.own_size, *(each.space.size for each in self.beside[:-1])]).tolist())[
            : len(self.tables)
        ]

    def standing_for(self, indicator: str) -> str:
        """The indicator of this release whose cells stand for those of an indicator beside it: the same, or
        the first one.
        """
        return indicator if indicator in self.indicators else self.indicators[0]

    @cached_property
    def stands(self) -> Ints:
        """(2, size): area and national cell of each cell of this release, and for a cell beside it those that
        stand for it: its country (the number of areas where the release does not have it), and the cell of
        the same codes, else one of its indicator, else the first.
        """
        found = [np.array(np.divmod(np.arange(self.own_size), self.national_size))]
        own = {key: i for i, key in enumerate(self.national_keys)}
        alike = {key[0]: i for key, i in reversed(own.items())}
        for each in self.beside:
            country = {name: i for i, name in enumerate(self.countries)}
            area = [country.get(name, len(self.areas)) for name in each.space.countries]
            code = [own.get(key, alike.get(key[0], 0)) for key in each.space.national_keys]
            found.append(np.array([np.repeat(area, len(code)), np.tile(code, len(area))], dtype=np.int64))
        return np.concatenate(found, axis=1)

    def spread(self, answers: Iterable[float]) -> np.ndarray:
        """(national_size,): one answer per indicator, in their order, repeated for every cell of one area."""
        return np.repeat(list(answers), self.national_size // len(self.indicators))

    def last_decimals(self, decimals: Iterable[int]) -> Floats:
        """(size,): one unit of the last decimal of each cell; `decimals` of each indicator, in
        their order. Those of cells beside the release are as those that stand for them.
        """
        return np.asarray(self.spread(10.0**-each for each in decimals)[self.stands[1]])

    def aggregate_cells_of(self, indicators: Collection[str]) -> Bools:
        """(aggregate cells,): the cells of these indicators."""
        return np.tile(self.spread(code in indicators for code in self.indicators), len(self.aggregates))

    def indicator_of(self, cells: Ints) -> Ints:
        """(cells,): the number of the indicator of each cell."""
        return np.asarray(self.stands[1][cells] // (self.national_size // len(self.indicators)))

    def national_cells_in(self, other: CellSpace) -> Ints:
        """(first_aggregate,): for every national cell, its index in the other space; −1 where
        the other space does not have it.
        """
        area = {country: i * other.national_size for i, country in enumerate(other.countries)}
        code = {key: i for i, key in enumerate(other.national_keys)}
        first = np.array([area.get(country, -1) for country in self.countries])[:, None]
        place = np.array([code.get(key, -1) for key in self.national_keys])[None, :]
        return np.where((first >= 0) & (place >= 0), first + place, -1).ravel()

    @cached_property
    def national_keys(self) -> tuple[tuple[str, ...], ...]:
        """(indicator, code of each hierarchy) of every cell of one area, in cell order."""
        return tuple(product(*self.axes))

    def codes(self, cell: int) -> tuple[str, ...]:
        """Area, indicator, and the code of each hierarchy of a cell. The indicator of a cell beside the
        release is named with its table.
        """
        if cell >= self.own_size:
            table = bisect_right(self.firsts, int(cell)) - 1
            country, indicator, *codes = self.tables[table].codes(int(cell) - self.firsts[table])
            return (country, f"{indicator} of {self.beside[table - 1].name}", *codes)
        area, rest = divmod(int(cell), self.national_size)
        return (self.areas[area], *self.national_keys[rest])

    def key(self, cell: int) -> str:
        """The printed key of a cell, such as `AT.TURNOVER.C10.GE250`: no other cell has it."""
        return printed_key(self.codes(cell))

    @cached_property
    def linked(self) -> tuple[int, ...]:
        """The number of the group of each indicator."""
        number = {code: i for i, group in enumerate(self.groups) for code in group}
        return tuple(number[code] for code in self.indicators)

    @cached_property
    def national_relations(self) -> sp.csr_array:
        """(relations, national_size): the relations within the table of one area."""
        if not self.national_size:  # a table beside a release of which no indicator is left
            return sp.csr_array((0, 0))
        shape = self.national_shape
        cells = np.arange(self.national_size).reshape(shape)
        rows: list[Ints] = []
        signs: list[Ints] = []
        linked = [
            (self.indicators.index(total), tuple(self.indicators.index(part) for part in parts))
            for total, parts in self.indicator_relations
        ]
        for axis, families in enumerate([linked, *(hierarchy.families for hierarchy in self.hierarchies)]):
            lines = np.moveaxis(cells, axis, -1).reshape(-1, shape[axis])
            for total, parts in families:
                members = [total, *parts]
                rows.extend(lines[:, members])
                signs.extend([np.array([-1] + [1] * len(parts))] * len(lines))
        lengths = [len(row) for row in rows]
        data = np.concatenate(signs).astype(float) if rows else np.zeros(0)
        indices = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return sp.csr_array((data, indices, starts), shape=(len(rows), self.national_size))

    @cached_property
    def totals(self) -> Ints:
        """(relations,): the total of each of the `national_relations`, as a cell of one area."""
        entries = self.national_relations.tocoo()
        total = np.zeros(self.national_relations.shape[0], dtype=np.int64)
        total[entries.row[entries.data < 0]] = entries.col[entries.data < 0]
        return total

    @cached_property
    def aggregate_relations(self) -> sp.csr_array:
        """(aggregates · national_size, size): each aggregate cell is the sum of the same cell of
        its members.
        """
        position = {area: i for i, area in enumerate(self.areas)}
        blocks = []
        for aggregate in self.aggregates:
            row = sp.lil_array((1, len(self.areas)))
            row[0, position[aggregate.code]] = -1.0
            for member in aggregate.members:
                row[0, position[member]] = 1.0
            blocks.append(sp.kron(row, sp.eye_array(self.national_size), format="csr"))
        if not blocks:
            return sp.csr_array((0, self.size))
        return self._widened(sp.csr_array(sp.vstack(blocks, format="csr")))

    def _widened(self, relations: sp.csr_array, first: int = 0) -> sp.csr_array:
        """Relations over the cells from `first` on, as relations over all cells."""
        if relations.shape[1] == self.size:
            return relations
        parts = relations.data, relations.indices + first, relations.indptr
        return sp.csr_array(parts, shape=(relations.shape[0], self.size))

    @cached_property
    def relations(self) -> sp.csr_array:
        """(m, size): the relations of every area, those of the tables beside the release and between
        them, and then those of the aggregates.
        """
        inside = sp.kron(sp.eye_array(len(self.areas)), self.national_relations, format="csr")
        parts = [self._widened(sp.csr_array(inside))]
        for each, first in zip(self.beside, self.firsts[1:], strict=True):
            parts.append(self._widened(each.space.relations, first))
        if self.links is not None:
            parts.append(self.links)
        return sp.csr_array(sp.vstack([*parts, self.aggregate_relations], format="csr"))


def places(value: Floats) -> int:
    """The number of decimal places of the values, as far as binary fractions show it."""
    return next((k for k in range(MOST_PLACES) if np.array_equal(np.round(value, k), value)), MOST_PLACES)
