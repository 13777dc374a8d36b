"""Small count rounding ([4]) of a count indicator in a release: the aggregates as sums of rounded inner
cells.

Inner cells are country × activity × size, each at its finest codes. An inner cell that a national office
publishes (a public flag, an empty cell) is known to everybody and stays as it is. The others are hidden. They
are rounded to multiples of the base b where one of these published cells would be small:

    every composition, every sum and difference of compositions that is a set of countries,
    each × all codes of the hierarchies

Minus its public part, each of these is 0, or at least b (`methods/attack/small.py` checks it
again, with other code). All values are sums of the same inner cells, so they add up along
hierarchies and between compositions.

This method is for counts whose hidden cells nobody publishes, and whose totals above them nobody publishes. A
public total above a hidden cell belongs to cell suppression: rounding inner cells does not protect against
somebody who knows the total, and the program refuses it. It also refuses a primary count outside 1 … b − 1:
[4] protects small counts and leaves larger ones as they are, and the method is public.

The release publishes the value of a cell, and its largest distance from the truth, ± min(D, n (b − 1)), for a
cell above n hidden inner cells. D + 1 is a multiple of b, the same for the whole indicator, and no deviation
is larger. A cell above no hidden cell is exact. The requirement (`pipeline.build_problem`): nobody can narrow
a hidden count of 1 … b − 1 to fewer than b whole numbers (spl = b − 1). The attacker of the audit knows these
intervals, everything public, and that counts are whole. Where he succeeds, D is raised; the last step leaves
n (b − 1) alone as the distance, and after that the indicator is withheld.

The attacker does not use that only counts below b are rounded. This would not leave fewer than b candidates:
a rounded inner cell may be any of 0 … b − 1 (where it became 0) or 1 … b (where it became b), with the same
values in the whole table. An inner cell that was not rounded shares each published cell with others, b or
more together, that can replace it.

With `rule_aware` (METHOD §9) all of this also holds for somebody who has the program: a key
draws, the distance is n (b − 1) from the beginning, and n counts every cell that is hidden,
so that neither tells of a count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack.small import combined, membership
from sdc_tasks.methods.rounding.small_count import (
    CountOptions,
    Crossings,
    dummy_of,
    inner_cells,
    round_counts,
)
from sdc_tasks.methods.rounding.small_count.publication import Variable
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, CellSpace, Floats, Hierarchy, Ints, added_up, inside


@dataclass(frozen=True)
class RoundedCounts:
    """`value` of the aggregate cells, the number of `hidden` inner cells below each, both (cells,);
    `furthest`: the largest deviation D.
    """

    cells: Ints = field(repr=False)
    value: Floats = field(repr=False)
    hidden: Ints = field(repr=False)
    base: int
    furthest: int

    def told(self, furthest: float) -> Publication:
        """The publication that states `furthest` as the largest distance from the truth."""
        within = np.minimum(furthest, self.hidden * (self.base - 1))
        return Publication(self.cells, self.value, np.where(self.hidden > 0, 2 * within + 1, 0.0))

    def proposals(self) -> Iterator[tuple[str, Publication]]:
        """(description, publication), the most precise first."""
        most = int(self.hidden.max(initial=0)) * (self.base - 1)
        within = self.furthest
        while within < most:
            yield f"counts told within {within}", self.told(within)
            within = 2 * within + 1  # D + 1 stays a multiple of the base
        yield "counts told within what rounding every inner cell could do", self.told(most)


def rounded_counts(
    problem: ProtectionProblem, options: CountOptions, progress: Callable[[str], None] = lambda _: None
) -> RoundedCounts:
    """The rounded aggregates of a problem of one count indicator. Raises InvalidInput where a
    total is public above a hidden cell.
    """
    space, base = problem.space, options.base
    count, n = len(space.countries), space.national_size
    leaf = inside(space.hierarchies)
    truth = problem.a[: count * n].reshape(count, *leaf.shape)
    hidden = problem.suppressed[: count * n].reshape(truth.shape)
    concerned = leaf & hidden & ((truth > 0) | options.rule_aware)
    below = added_up(concerned.astype(float), space.hierarchies)
    if (open_ := np.flatnonzero((below > 0) & ~hidden)).size:
        raise InvalidInput(
            f"{space.key(int(open_[0]))} and {len(open_) - 1} more: public totals above a hidden cell. Small "
            f"count rounding is for "
            "counts whose totals nobody publishes. Remedy: flag the totals above confidential cells too, or "
            "protect the indicator by bases"
        )
    rounded = np.where(leaf, truth, 0.0)
    rounded[concerned] = _rounded(problem, concerned, truth[concerned].astype(np.int64), options, progress)
    within = membership(space)
    value = (within @ added_up(rounded, space.hierarchies).reshape(count, n)).ravel()
    behind = np.rint(within @ below.reshape(count, n)).astype(np.int64).ravel()
    cells = np.flatnonzero(problem.aggregate)
    off = np.abs(value - problem.a[cells])
    if (wrong := np.flatnonzero(off > behind * (base - 1))).size:
        raise InvalidInput(
            f"{space.key(int(cells[wrong[0]]))} and {len(wrong) - 1} more: totals that differ from the sum "
            f"of their parts. Remedy: counts "
            "must add up exactly; set the check additivity to error"
        )
    furthest = (
        behind.max(initial=0) * (base - 1)
        if options.rule_aware
        else base * (off.max(initial=0.0) // base + 1) - 1
    )
    return RoundedCounts(cells, value, behind, base, int(furthest))


def _rounded(
    problem: ProtectionProblem,
    concerned: Bools,
    y: Ints,
    options: CountOptions,
    progress: Callable[[str], None],
) -> Floats:
    """The rounded counts ỹ of the concerned inner cells, in order. `concerned` has the shape
    (countries, codes of each hierarchy).
    """
    space = problem.space
    if not len(y):
        return np.zeros(0)
    at = [axis.astype(np.int32) for axis in np.nonzero(concerned)]
    names = [space.countries, *(hierarchy.codes for hierarchy in space.hierarchies)]
    columns = list(zip(at, names, strict=True))
    cells, place = inner_cells(
        ["area", *(hierarchy.dimension for hierarchy in space.hierarchies)], columns, y
    )
    levels = _levels_of(space, cells.labels)
    variables = [variable for each in levels for variable in each]
    begin = np.cumsum([0, *(len(each) for each in levels)])
    crossings = product(*(range(int(begin[d]), int(begin[d + 1])) for d in range(len(levels))))
    publication = Crossings(tuple(variables), tuple(crossings), ("",) * len(levels))
    found = round_counts(dummy_of(cells, publication), options, progress=progress)
    return np.asarray(found.inner[place], dtype=float)


def _levels_of(space: CellSpace, labels: Sequence[tuple[str, ...]]) -> list[list[Variable]]:
    """The levels of each dimension that are published: sets of countries, then codes by their depth."""
    sets = [*membership(space).astype(bool), *_smallest([members for _, members in combined(space)])]
    return [
        [_set(each, space.countries, labels[0]) for each in _distinct(sets)],
        *(_levels(d, hierarchy, labels[d]) for d, hierarchy in enumerate(space.hierarchies, start=1)),
    ]


def _smallest(sets: list[Bools]) -> list[Bools]:
    """The sets that contain no other set: all others are sums of these."""
    return [
        each for each in sets if not any((other <= each).all() and (other != each).any() for other in sets)
    ]


def _distinct(sets: list[Bools]) -> list[Bools]:
    return list({each.tobytes(): each for each in sets}.values())


def _set(members: Bools, countries: tuple[str, ...], labels: tuple[str, ...]) -> Variable:
    """A set of countries as a level of its dimension."""
    position = {country: i for i, country in enumerate(countries)}
    group = np.where([members[position[label]] for label in labels], 0, -1)
    return Variable(
        0, group.astype(np.int32), ("+".join(np.array(countries)[members].tolist()),), is_leaf=False
    )


def _levels(d: int, hierarchy: Hierarchy, labels: tuple[str, ...]) -> list[Variable]:
    """The codes themselves, for each depth of the tree the totals at that depth, and each sum."""
    found = [Variable(d, np.arange(len(labels), dtype=np.int32), labels)]
    lines = [_line(hierarchy, label) for label in labels]
    for depth in range(max(len(_line(hierarchy, code)) for code in hierarchy.codes) - 1):
        found.append(_totals_at(d, lines, depth))
    for total in dict.fromkeys(total for total, _ in hierarchy.sums):
        below = _below(hierarchy, hierarchy.index[total])
        group = [0 if hierarchy.index[label] in below else -1 for label in labels]
        found.append(Variable(d, np.array(group, dtype=np.int32), (total,), is_leaf=False))
    return found


def _totals_at(d: int, lines: Sequence[Sequence[str]], depth: int) -> Variable:
    """The codes at a depth that have codes below. `lines`: from the root to each label."""
    above = [line[depth] if len(line) > depth + 1 else None for line in lines]
    names = tuple(sorted({name for name in above if name is not None}))
    group = [-1 if name is None else names.index(name) for name in above]
    return Variable(d, np.array(group, dtype=np.int32), names, is_leaf=False)


def _line(hierarchy: Hierarchy, code: str) -> list[str]:
    """The codes from the root of the tree down to this one."""
    line: list[str] = []
    above: str | None = code
    while above is not None:
        line.insert(0, above)
        above = hierarchy.parent[hierarchy.index[above]]
    return line


def _below(hierarchy: Hierarchy, total: int) -> set[int]:
    """The codes that a total is the sum of, at any depth."""
    found, waiting = set[int](), [total]
    while waiting:
        new = set(hierarchy.parts_of.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found
