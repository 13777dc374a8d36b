"""Presolve: an equivalent suppression problem, with the same optimal cost, on fewer variables.

- Cells that stay open (fixed, or without room) have z = 0: they are removed.
- A relation with one remaining cell fixes it (z = 0). A relation with two ties them, z_j = t z_i: hiding only
  one of them does not help. So cells form *classes* (tied groups) with one deviation u each, z_i = t_i u. A
  class with a primary that has a requirement is hidden (`forced`); any other class costs the sum of its
  cells. This is repeated until nothing changes; equal relations are kept once.
- An *item* is one requirement: class, side, need, guard. side +1: max u ≥ need; −1: min u ≤ −need; 0:
  max u − min u ≥ need; against all respondents but the guard, and those who take no part (`item_lacks`).

Least cost of the problem = `offset` + least cost of the reduced problem. A primary that a relation fixes, or
whose class has less room than it needs, is refused here. The attackers' LPs later find primaries that cannot
reach their level even if everything is hidden.

Relations that follow from others are dropped if a network remains, as for a 1H2D table ([2] §2.2). A class
with a singleton is `lone`: it moves in items of classes of the same respondent alone, and where he takes no
part. A primary in one class with another respondent's singleton is disclosed. `network`: every class stands
in at most two relations, with opposite signs after some relations were multiplied by −1. Then z splits into
cycles with entries of one size ([2] §2.2, §4.2), and no deviation needs to exceed the need of the item it
serves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY
from sdc_tasks.presolve import Reduction, distinct_rows, fix_and_tie
from sdc_tasks.presolve.network import is_network, network_form


@dataclass(frozen=True)
class ReducedProblem:
    """k classes. `below above` (k): room of u; `lone` (k): classes with a singleton; `held`: class and
    respondent of each singleton, each pair once; `lacking`: who takes no part, by the numbers `item_lacks`;
    `reduction`: where each cell went.
    """

    M: sp.csr_array = field(repr=False)
    below: Floats = field(repr=False)
    above: Floats = field(repr=False)
    cost: Floats = field(repr=False)
    forced: Bools = field(repr=False)
    lone: Bools = field(repr=False)
    held: tuple[Ints, Ints] = field(repr=False)
    item_class: Ints = field(repr=False)
    item_side: Ints = field(repr=False)
    item_need: Floats = field(repr=False)
    item_guard: Ints = field(repr=False)
    item_lacks: Ints = field(repr=False)
    lacking: tuple[tuple[int, ...], ...] = field(repr=False)
    reduction: Reduction = field(repr=False)
    offset: float
    network: bool

    def known(self, item: int) -> Bools:
        """(k): classes that those whom an item keeps away know: the singletons of all but whom it
        protects, and but those who take no part.
        """
        away = [int(self.item_guard[item]), *self.lacking[self.item_lacks[item]]]
        classes, respondents = self.held
        known = np.zeros(len(self.cost), dtype=bool)
        known[classes[~np.isin(respondents, away)]] = True
        return known

    def open_to(self, moved: Bools) -> Bools:
        """(items): those about which a deviation tells that moves these classes (k): those whom the item
        keeps away know none of them.
        """
        classes, respondents = self.held
        seen = np.unique(respondents[moved[classes]])
        told = np.ones((len(self.lacking), len(self.item_class)), dtype=bool)
        for number, lacks in enumerate(self.lacking):
            left = seen[~np.isin(seen, lacks)]
            if len(left):
                told[number] = (self.item_guard == left[0]) & (len(left) == 1)
        return told[self.item_lacks, np.arange(len(self.item_class))]

    def pattern(self, y: Bools, problem: SensitiveTable) -> Bools:
        """(n): the cells that classes y hide, and the primaries."""
        class_of = self.reduction.class_of
        hidden = problem.primary.copy()
        hidden[class_of >= 0] |= y[class_of[class_of >= 0]]
        return hidden

    def classes(self, pattern: Bools) -> Bools:
        """(k): the classes all of whose cells a pattern hides."""
        y = np.ones(len(self.cost), dtype=bool)
        class_of = self.reduction.class_of
        y[class_of[(class_of >= 0) & ~pattern]] = False
        return y


def presolve(problem: SensitiveTable) -> ReducedProblem:
    """The classes and items of a problem. Raises Unprotectable for a primary that the relations fix."""
    M = problem.M
    reduction = fix_and_tie(M, ~problem.fixed & (problem.ub > problem.lb))
    class_of, t = reduction.class_of, reduction.ratio
    wanted = problem.primary & (np.max([layer.most for layer in problem.layers], axis=0) > 0)
    if len(stuck := np.flatnonzero(wanted & (class_of < 0))):
        raise Unprotectable(_stuck(problem, stuck))
    inside = np.flatnonzero(class_of >= 0)
    k = len(reduction.kept)
    below, above = _room(problem, inside, class_of, t, k)
    forced = np.zeros(k, dtype=bool)
    forced[class_of[wanted]] = True
    held = _held(problem, class_of)
    _refuse_known(problem, class_of, held)
    lone = np.zeros(k, dtype=bool)
    lone[held[0]] = True
    lacking = tuple(dict.fromkeys([(), *(layer.lacks for layer in problem.layers)]))
    items = _items(problem, class_of, t, lacking)
    _refuse_narrow(problem, wanted & np.isin(class_of, _narrow(*items[:3], below, above)))
    cost = np.zeros(k)
    secondary = inside[~problem.primary[inside]]
    np.add.at(cost, class_of[secondary], problem.cost[secondary])
    relations = reduction.apply(M)
    R = network_form(sp.csr_array(relations[distinct_rows(relations)]))
    return ReducedProblem(
        M=R,
        below=below,
        above=above,
        cost=np.where(forced, 0.0, cost),
        forced=forced,
        lone=lone,
        held=held,
        item_class=items[0],
        item_side=items[1],
        item_need=items[2],
        item_guard=items[3],
        item_lacks=items[4],
        lacking=lacking,
        reduction=reduction,
        offset=float(cost[forced].sum()),
        network=is_network(R),
    )


def _room(problem: SensitiveTable, inside: Ints, class_of: Ints, t: Floats, k: int) -> tuple[Floats, Floats]:
    below, above = np.full(k, np.inf), np.full(k, np.inf)
    low, high = (problem.a - problem.lb)[inside], (problem.ub - problem.a)[inside]
    size, falls = np.abs(t[inside]), t[inside] < 0
    np.minimum.at(below, class_of[inside], np.where(falls, high, low) / size)
    np.minimum.at(above, class_of[inside], np.where(falls, low, high) / size)
    return below, above


def _held(problem: SensitiveTable, class_of: Ints) -> tuple[Ints, Ints]:
    """Class and respondent of each singleton, each pair once, sorted."""
    cells = np.flatnonzero(problem.lone & (class_of >= 0))
    pairs = np.unique(np.column_stack([class_of[cells], problem.respondents[cells]]), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _refuse_known(problem: SensitiveTable, class_of: Ints, held: tuple[Ints, Ints]) -> None:
    """Raises Unprotectable for a requirement of a class with a singleton of somebody whom it keeps away."""
    classes, respondents = held
    for layer in problem.layers:
        mine = np.flatnonzero((layer.most > 0) & (class_of >= 0))
        starts, ends = (np.searchsorted(classes, class_of[mine], side) for side in ("left", "right"))
        away = set(layer.lacks)
        given = [
            cell
            for cell, start, end in zip(mine.tolist(), starts.tolist(), ends.tolist(), strict=True)
            if start < end and set(respondents[start:end].tolist()) - away - {int(layer.guards[cell])}
        ]
        if given:
            raise Unprotectable(_stuck(problem, np.array(given)))


def _items(
    problem: SensitiveTable, class_of: Ints, t: Floats, lacking: tuple[tuple[int, ...], ...]
) -> tuple[Ints, Ints, Floats, Ints, Ints]:
    """Class, side, need, guard of every item, and the number of those who take no part, largest need first.
    Of several items of one class, side and attackers only the largest remains, and an item against all but
    one respondent is dropped if the item of the same class against everybody (guard NOBODY) needs as much.
    """
    told = [(layer, np.flatnonzero((layer.most > 0) & (class_of >= 0))) for layer in problem.layers]
    of = np.concatenate(
        [
            np.column_stack([class_of[p] * len(lacking) + lacking.index(layer.lacks), layer.guards[p]])
            for layer, p in told
        ]
    )
    groups, group = np.unique(of, axis=0, return_inverse=True)
    need, group = np.zeros((3, len(groups))), group.ravel()
    first = 0
    for layer, p in told:
        mine, size, falls = group[first : first + len(p)], np.abs(t[p]), t[p] < 0
        np.maximum.at(need[0], mine, np.where(falls, layer.down[p], layer.up[p]) / size)
        np.maximum.at(need[1], mine, np.where(falls, layer.up[p], layer.down[p]) / size)
        np.maximum.at(need[2], mine, layer.width[p] / size)
        first += len(p)
    # groups are sorted by class, then who lacks, then guard, and NOBODY is the smallest guard: it comes first
    from_all = np.searchsorted(groups[:, 0], groups[:, 0])
    from_all = (
        np.where(groups[from_all, 1] == NOBODY, from_all, np.arange(len(groups))) if len(groups) else from_all
    )
    need = np.where((need <= need[:, from_all]) & (from_all != np.arange(len(groups))), 0.0, need)
    kind, place = np.nonzero(need)
    order = np.lexsort((kind, place, -need[kind, place]))
    kind, place = kind[order], place[order]
    classes, lacks = np.divmod(groups[place, 0], len(lacking))
    return classes, np.array([1, -1, 0])[kind], need[kind, place], groups[place, 1], lacks


def _narrow(item_class: Ints, item_side: Ints, item_need: Floats, below: Floats, above: Floats) -> Ints:
    """Classes with an item that needs more than the room of the class within its bounds, whatever
    is hidden.
    """
    up, down = above[item_class], below[item_class]
    room = np.where(item_side > 0, up, np.where(item_side < 0, down, up + down))
    return np.unique(item_class[room < item_need * (1 - FEASIBILITY)])


def _refuse_narrow(problem: SensitiveTable, primary: Bools) -> None:
    cells = np.flatnonzero(primary)
    if len(cells):
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        raise Unprotectable(
            f"{problem.name(cells[0])}{more}: a cell that its relations tie to it has less room than its "
            f"level. "
            "Remedy: let a fixed or empty cell beside it be suppressed, or lower its level"
        )


def _stuck(problem: SensitiveTable, cells: Ints) -> str:
    rows = sp.csc_array(problem.M)
    first = int(cells[0])
    relations = rows.indices[rows.indptr[first] : rows.indptr[first + 1]].tolist()
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    return (
        f"{problem.name(first)}{more}: its relations ({', '.join(map(str, relations))}) give it away "
        f"whatever is hidden. "
        "Remedy: let one of the fixed or empty cells beside it be suppressed, or lower its level"
    )
