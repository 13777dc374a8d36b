"""The publication of a table of counts: crossings of variables, with totals and sub-totals.

A variable is one level of a dimension: its codes, or disjoint groups of them from a hierarchy. A crossing is
a set of variables, at most one of each dimension; every combination of their codes that occurs is a published
cell. A published cell adds up over the dimensions that its crossing does not name: the empty crossing is the
grand total. A publication can be stated

    by order        all crossings of at most K dimensions
    as a list       the named crossings, with all sub-totals
    as a formula    `~(a+b)*c`, with the grand total unless `-1` or `+0` takes it out
    by hierarchies  every code of every hierarchy crossed with those of the others
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count.cells import TOTAL, Codes, InnerCells
from sdc_tasks.methods.rounding.small_count.formula import expand
from sdc_tasks.methods.rounding.small_count.hierarchy import CodeTree
from sdc_tasks.model.table import read_only


@dataclass(frozen=True)
class Variable:
    """A level of a dimension. `group[code]` is the index in `labels` of the group that
    contains the code, −1 for none.
    """

    dimension: int
    group: Codes = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    is_leaf: bool = True  # the codes themselves

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", read_only(np.asarray(self.group, dtype=np.int32)))

    @property
    def is_full(self) -> bool:
        """Every code is in a group."""
        return bool(np.all(self.group >= 0))


@dataclass(frozen=True)
class Crossings:
    """The crossings to be published, each a sorted tuple of indices of `variables`; `totals[d]`
    names the total over dimension d.
    """

    variables: tuple[Variable, ...]
    crossings: tuple[tuple[int, ...], ...]
    totals: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.crossings:
            raise InvalidInput("no crossing is to be published. Remedy: name at least one crossing")
        for crossing in self.crossings:
            if len({self.variables[v].dimension for v in crossing}) != len(crossing):
                raise ValueError("a crossing names a dimension twice")


def by_order(cells: InnerCells, order: int, hierarchies: Mapping[str, CodeTree] | None = None) -> Crossings:
    """All crossings of at most `order` dimensions."""
    dimensions = range(len(cells.dimensions))
    subsets = [
        subset for k in range(min(order, len(dimensions)) + 1) for subset in combinations(dimensions, k)
    ]
    return _of(cells, subsets, hierarchies or {})


def by_list(
    cells: InnerCells, crossings: Iterable[Sequence[str]], hierarchies: Mapping[str, CodeTree] | None = None
) -> Crossings:
    """The crossings, each a list of dimensions, and all their sub-totals. Raises
    InvalidInput where one does not exist.
    """
    named = [
        tuple(sorted({_dimension(cells, name, "crossing " + ":".join(crossing)) for name in crossing}))
        for crossing in crossings
    ]
    every = {
        subset for crossing in named for k in range(len(crossing) + 1) for subset in combinations(crossing, k)
    }
    return _of(cells, every, hierarchies or {})


def by_formula(
    cells: InnerCells, formula: str, hierarchies: Mapping[str, CodeTree] | None = None
) -> Crossings:
    """The terms of a model formula, each a crossing. Raises InvalidInput for text that is not a
    formula, and for an unknown dimension.
    """
    terms = [
        tuple(sorted(_dimension(cells, name, f"formula {formula}") for name in term))
        for term in expand(formula)
    ]
    return _of(cells, terms, hierarchies or {})


def by_hierarchies(cells: InnerCells, hierarchies: Mapping[str, CodeTree]) -> Crossings:
    """Every code of every hierarchy, crossed with those of all other dimensions. A dimension without a
    hierarchy has its codes and a total.

    The total over a dimension is published under the code that contains all others; a hierarchy
    without such a code has no total.
    """
    for name in hierarchies:
        _dimension(cells, name, "hierarchy")
    dimensions = range(len(cells.dimensions))
    bound = {
        d
        for d in dimensions
        if (h := hierarchies.get(cells.dimensions[d])) is not None and h.root(cells.labels[d]) is None
    }
    return _of(
        cells,
        [
            subset
            for k in range(len(dimensions) + 1)
            for subset in combinations(dimensions, k)
            if bound <= set(subset)
        ],
        hierarchies,
    )


def _dimension(cells: InnerCells, name: str, where: str) -> int:
    if name not in cells.dimensions:
        raise InvalidInput(
            f"{where}: {name} is not a dimension of the table. Remedy: name one of "
            f"{', '.join(cells.dimensions)}"
        )
    return cells.dimensions.index(name)


def _of(
    cells: InnerCells, subsets: Iterable[tuple[int, ...]], hierarchies: Mapping[str, CodeTree]
) -> Crossings:
    """Each subset of dimensions is crossed at all levels of its dimensions."""
    wanted = sorted(set(subsets), key=lambda subset: (len(subset), subset))
    used = {d for subset in wanted for d in subset}
    variables: list[Variable] = []
    levels: dict[int, list[int]] = {}
    totals = []
    for d, name in enumerate(cells.dimensions):
        hierarchy, labels = hierarchies.get(name), cells.labels[d]
        root = None if hierarchy is None else hierarchy.root(labels)
        totals.append(TOTAL if root is None else root)
        if d in used:
            own = (
                [Variable(d, np.arange(len(labels), dtype=np.int32), labels)]
                if hierarchy is None
                else _levels(d, hierarchy, labels)
            )
            levels[d] = list(range(len(variables), len(variables) + len(own)))
            variables += own
    crossings = [crossing for subset in wanted for crossing in product(*(levels[d] for d in subset))]
    publication = Crossings(tuple(variables), tuple(crossings), tuple(totals))
    _refuse_ambiguous(cells, publication)
    return publication


def _levels(d: int, hierarchy: CodeTree, labels: tuple[str, ...]) -> list[Variable]:
    found = [Variable(d, np.arange(len(labels), dtype=np.int32), labels)]
    for names, group in hierarchy.levels(labels):
        found.append(Variable(d, group, names, is_leaf=False))
    return found


def _refuse_ambiguous(cells: InnerCells, publication: Crossings) -> None:
    for name, labels, total in zip(cells.dimensions, cells.labels, publication.totals, strict=True):
        if total in labels:
            raise InvalidInput(
                f"{name}: the code {total} also names a total. Remedy: take records of totals out, or rename "
                f"the code"
            )
