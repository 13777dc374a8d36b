"""Reduces a suppression problem without changing its least cost.

- Cells that stay open (fixed, or without room) do not move: they are removed.
- A relation with one remaining cell fixes it (z = 0). A relation with two ties them, z_j = t z_i:
  hiding only one does not help. So
  cells form classes with one deviation u each, z_i = t_i u. A class with a primary that has a requirement
  is hidden (`forced`); any other class costs the sum of its cells. This is repeated until nothing
  changes; equal relations are kept once.
- An *item* is one requirement: class, side, need, guard. side +1: max u ≥ need; −1: min u ≤ −need; 0:
  max u − min u ≥ need; against all
  respondents but the guard.

Least cost of the problem = `offset` + least cost of the reduced problem. A primary that a relation fixes, or
whose class has less room than it needs, is refused here. The attackers' programs later find primaries that
cannot reach their level even if everything is hidden.

Relations that follow from others are dropped if a network remains, as for a 1H2D table ([2] §2.2). A class
with a singleton is `lone`: it moves in items of classes of the same respondent alone. A primary in one class
with another respondent's singleton is disclosed. `network`: every class stands in at most two relations, with
opposite signs after some relations were multiplied by −1. Then z splits into cycles with entries of one size
([2] §2.2, §4.2), and no deviation needs to exceed the need of the item it serves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from sdc_tasks.errors import Unprotectable
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints

SEVERAL = -2  # respondents of singletons in one class: some of them know it, whoever is attacked
NOTHING = 1e-8  # of entries ±1: rounding
ROOM_NOISE = 1e-6  # relative: a class whose room is this close to what it needs has enough


@dataclass(frozen=True)
class Reduced:
    """k classes. `below above` (k): room of u; `class_of ratio` (n): where a cell went
    (−1: it does not move) and its t.
    """

    M: sp.csr_array = field(repr=False)
    below: Floats = field(repr=False)
    above: Floats = field(repr=False)
    cost: Floats = field(repr=False)
    forced: Bools = field(repr=False)
    holder: Ints = field(repr=False)
    item_class: Ints = field(repr=False)
    item_side: Ints = field(repr=False)
    item_need: Floats = field(repr=False)
    item_guard: Ints = field(repr=False)
    class_of: Ints = field(repr=False)
    ratio: Floats = field(repr=False)
    offset: float
    network: bool

    @property
    def lone(self) -> Bools:
        """(k): classes with a singleton."""
        return np.asarray(self.holder != NOBODY)

    def known(self, item: int) -> Bools:
        """(k): classes that those whom an item keeps away know: the singletons of all but whom it
        protects.
        """
        return np.asarray(self.lone & (self.holder != self.item_guard[item]))

    def open_to(self, holders: Ints) -> Bools:
        """(items): those about which a deviation tells that moves singletons of these respondents
        alone; all where there are none.
        """
        if not len(holders):
            return np.ones(len(self.item_class), dtype=bool)
        return np.asarray((self.item_guard == holders[0]) & (len(holders) == 1))

    def pattern(self, y: Bools, problem: SensitiveTable) -> Bools:
        """(n): the cells that classes y hide, and the primaries."""
        inside = self.class_of >= 0
        hidden = problem.primary.copy()
        hidden[inside] |= y[self.class_of[inside]]
        return hidden

    def moves(self, u: Floats) -> Floats:
        """(points, n): the moves of the cells that deviations of the classes (points, k) are."""
        inside = np.flatnonzero(self.class_of >= 0)
        z = np.zeros((len(u), len(self.class_of)))
        z[:, inside] = u[:, self.class_of[inside]] * self.ratio[inside]
        return z

    def classes(self, pattern: Bools) -> Bools:
        """(k): the classes all of whose cells a pattern hides."""
        y = np.ones(len(self.cost), dtype=bool)
        open_cells = np.flatnonzero((self.class_of >= 0) & ~pattern)
        y[self.class_of[open_cells]] = False
        return y


def reduce(problem: SensitiveTable) -> Reduced:
    """The classes and items of a problem. Raises Unprotectable for a primary that the relations fix."""
    M, n = problem.M, problem.M.shape[1]
    column, ratio = _classes(M, ~problem.fixed & (problem.ub > problem.lb))
    wanted = problem.primary & (np.max([layer.most for layer in problem.layers], axis=0) > 0)
    if len(stuck := np.flatnonzero(wanted & (column < 0))):
        raise Unprotectable(_stuck(problem, stuck))
    kept, class_of = np.unique(column, return_inverse=True)
    class_of = class_of - int(kept[0] < 0)  # −1 stays −1
    inside = np.flatnonzero(class_of >= 0)
    k = int(class_of.max(initial=-1)) + 1
    t = np.where(class_of >= 0, ratio, 0.0)
    T = sp.csr_array((t[inside], (inside, class_of[inside])), shape=(n, k))
    below, above = _room(problem, inside, class_of, t, k)
    forced = np.zeros(k, dtype=bool)
    forced[class_of[wanted]] = True
    holder = _holder(problem, class_of, k)
    items = _items(problem, class_of, t)
    _refuse_narrow(problem, wanted & np.isin(class_of, _narrow(*items[:3], below, above)))
    cost = np.zeros(k)
    secondary = inside[~problem.primary[inside]]
    np.add.at(cost, class_of[secondary], problem.cost[secondary])
    R = _network_form(_distinct(sp.csr_array(M @ T)))
    return Reduced(
        R, below, above, np.where(forced, 0.0, cost), forced, holder, *items, class_of, t,
        offset=float(cost[forced].sum()), network=is_network(R),
    )  # fmt: skip


def _classes(M: sp.csr_array, moves: Bools) -> tuple[Ints, Floats]:
    """(n): the representative of every cell, −1 where it does not move, and z_i / z_representative."""
    parent, factor = np.arange(M.shape[1]), np.ones(M.shape[1])
    alive = moves.copy()  # of representatives
    rows = [M.indices[s:e].tolist() for s, e in zip(M.indptr[:-1], M.indptr[1:], strict=True)]
    entries = [M.data[s:e].tolist() for s, e in zip(M.indptr[:-1], M.indptr[1:], strict=True)]

    def root(cell: int) -> tuple[int, float]:
        scale = 1.0
        while parent[cell] != cell:
            scale *= float(factor[cell])
            cell = int(parent[cell])
        return cell, scale

    waiting, changed = list(range(len(rows))), True
    while changed:
        changed = False
        longer: list[int] = []
        for row in waiting:
            terms: dict[int, float] = {}
            for cell, value in zip(rows[row], entries[row], strict=True):
                top, scale = root(cell)
                if alive[top]:
                    terms[top] = terms.get(top, 0.0) + value * scale
            terms = {top: value for top, value in terms.items() if abs(value) > 1e-12}
            if len(terms) == 1:
                alive[next(iter(terms))] = False
                changed = True
            elif len(terms) == 2:
                (i, v), (j, w) = sorted(terms.items())
                parent[j], factor[j] = i, -v / w
                changed = True
            elif terms:
                longer.append(row)
        waiting = longer
    tops = [root(cell) for cell in range(M.shape[1])]
    column = np.array(
        [top if alive[top] and moves[cell] else -1 for cell, (top, _) in enumerate(tops)], dtype=np.int64
    )
    return column, np.array([scale for _, scale in tops])


def _room(problem: SensitiveTable, inside: Ints, class_of: Ints, t: Floats, k: int) -> tuple[Floats, Floats]:
    below, above = np.full(k, np.inf), np.full(k, np.inf)
    low, high = (problem.a - problem.lb)[inside], (problem.ub - problem.a)[inside]
    size, falls = np.abs(t[inside]), t[inside] < 0
    np.minimum.at(below, class_of[inside], np.where(falls, high, low) / size)
    np.minimum.at(above, class_of[inside], np.where(falls, low, high) / size)
    return below, above


def _holder(problem: SensitiveTable, class_of: Ints, k: int) -> Ints:
    """(k): the respondent of the singletons of each class, NOBODY without one, SEVERAL if
    they are of different respondents.
    """
    cells = np.flatnonzero(problem.lone & (class_of >= 0))
    low, high = np.full(k, np.iinfo(np.int64).max), np.full(k, NOBODY)
    np.minimum.at(low, class_of[cells], problem.respondents[cells])
    np.maximum.at(high, class_of[cells], problem.respondents[cells])
    holder = np.where((high == NOBODY) | (low == high), high, SEVERAL)
    for layer in problem.layers:
        mine = np.flatnonzero((layer.most > 0) & (class_of >= 0))
        with_others = (holder[class_of[mine]] != NOBODY) & (holder[class_of[mine]] != layer.guards[mine])
        if len(given := mine[with_others]):
            raise Unprotectable(_stuck(problem, given))
    return holder


def _items(problem: SensitiveTable, class_of: Ints, t: Floats) -> tuple[Ints, Ints, Floats, Ints]:
    """Class, side, need and guard of every item, largest need first; of several for one class, side and guard
    the largest counts, and what all are kept from is not asked again for all but one.
    """
    told = [(layer, np.flatnonzero((layer.most > 0) & (class_of >= 0))) for layer in problem.layers]
    of = np.concatenate([np.column_stack([class_of[p], layer.guards[p]]) for layer, p in told])
    groups, group = np.unique(of, axis=0, return_inverse=True)
    need, group = np.zeros((3, len(groups))), group.ravel()
    first = 0
    for layer, p in told:
        mine, size, falls = group[first : first + len(p)], np.abs(t[p]), t[p] < 0
        np.maximum.at(need[0], mine, np.where(falls, layer.down[p], layer.up[p]) / size)
        np.maximum.at(need[1], mine, np.where(falls, layer.up[p], layer.down[p]) / size)
        np.maximum.at(need[2], mine, layer.width[p] / size)
        first += len(p)
    from_all = np.searchsorted(groups[:, 0], groups[:, 0])  # NOBODY is the first of a class, if there is one
    from_all = (
        np.where(groups[from_all, 1] == NOBODY, from_all, np.arange(len(groups))) if len(groups) else from_all
    )
    need = np.where((need <= need[:, from_all]) & (from_all != np.arange(len(groups))), 0.0, need)
    kind, place = np.nonzero(need)
    order = np.lexsort((kind, place, -need[kind, place]))
    kind, place = kind[order], place[order]
    return groups[place, 0], np.array([1, -1, 0])[kind], need[kind, place], groups[place, 1]


def _narrow(item_class: Ints, item_side: Ints, item_need: Floats, below: Floats, above: Floats) -> Ints:
    """Classes with an item that needs more than the room of the class within its bounds, whatever
    is hidden.
    """
    up, down = above[item_class], below[item_class]
    room = np.where(item_side > 0, up, np.where(item_side < 0, down, up + down))
    return np.unique(item_class[room < item_need * (1 - ROOM_NOISE)])


def _refuse_narrow(problem: SensitiveTable, primary: Bools) -> None:
    cells = np.flatnonzero(primary)
    if len(cells):
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        raise Unprotectable(
            f"{problem.name(cells[0])}{more}: a cell that its relations tie to it has less room than its "
            f"level. "
            "Remedy: let a fixed or empty cell beside it be suppressed, or lower its level"
        )


def _distinct(M: sp.csr_array) -> sp.csr_array:
    """The relations that say something, each once."""
    M = sp.csr_array(M)
    M.sum_duplicates()
    M.data[np.abs(M.data) < 1e-12] = 0
    M.eliminate_zeros()
    seen: set[bytes] = set()
    keep = []
    for row, (s, e) in enumerate(zip(M.indptr[:-1], M.indptr[1:], strict=True)):
        if s == e:
            continue
        sign = 1.0 if M.data[s] > 0 else -1.0
        key = M.indices[s:e].tobytes() + (sign * M.data[s:e]).tobytes()
        if key not in seen:
            seen.add(key)
            keep.append(row)
    return sp.csr_array(M[keep])


def _network_form(M: sp.csr_array) -> sp.csr_array:
    """M without relations that follow from the others, if that makes a network of it; else M.

    In a network each class stands in at most two relations: of the relations of a class all but
    two must go. What follows from that is followed up; where nothing does, one relation is taken
    to go, the shortest or the longest.
    """
    if is_network(M):
        return M
    lengths = np.diff(M.indptr)
    for order in (np.argsort(-lengths, kind="stable"), np.argsort(lengths, kind="stable")):
        kept = _two_each(M, order)
        small = sp.csr_array(M[np.flatnonzero(kept)])
        if is_network(small) and _follow(sp.csr_array(M[np.flatnonzero(~kept)]), small):
            return small
    return M


def _two_each(M: sp.csr_array, order: Ints) -> Bools:
    """(m): relations that stay so that each class keeps two, guessed in this order where there is
    a choice; perhaps there is none.
    """
    stands = sp.csr_array((np.ones(M.nnz), M.indices, M.indptr), shape=M.shape)
    classes = sp.csr_array(stands.T)
    excess = np.maximum(np.asarray(classes.sum(axis=1)).ravel() - 2, 0)
    kept, gone = np.zeros(M.shape[0], dtype=bool), np.zeros(M.shape[0], dtype=bool)
    guesses = iter(order.tolist())
    while not (kept | gone).all():
        missing = excess - classes @ gone.astype(float)
        unknown = classes @ (~kept & ~gone).astype(float)
        stay = (stands @ (missing <= 0).astype(float) > 0) & ~kept & ~gone
        go = (stands @ ((missing > 0) & (unknown <= missing)).astype(float) > 0) & ~kept & ~gone & ~stay
        if not stay.any() and not go.any():
            go[next(row for row in guesses if not kept[row] and not gone[row])] = True
        kept, gone = kept | stay, gone | go
    return kept


def _follow(rows: sp.csr_array, network: sp.csr_array) -> bool:
    """Whether rows are sums of relations of a network: whether nodes have potentials whose differences
    along each arc are the entries.
    """
    tail, head = network_ends(network)
    wanted = rows.toarray().T  # (k, rows)
    nodes, k = network.shape[0] + 1, len(tail)
    arcs = sp.csr_array(
        (np.arange(1, k + 1), (tail, head)), shape=(nodes, nodes)
    )  # of parallel arcs some sum: replaced below
    first = {(int(t), int(h)): i for i, (t, h) in reversed(list(enumerate(zip(tail, head, strict=True))))}
    potential = np.zeros((nodes, wanted.shape[1]))
    seen = np.zeros(nodes, dtype=bool)
    for root in [nodes - 1, *range(nodes - 1)]:  # the last one, which no relation stands for, has none
        if seen[root]:
            continue
        reached, before = breadth_first_order(arcs, root, directed=False)
        seen[reached] = True
        for node in reached[1:].tolist():
            last = int(before[node])
            forward = first.get((last, node))
            potential[node] = potential[last] + (
                wanted[forward] if forward is not None else -wanted[first[node, last]]
            )
    return bool((np.abs(potential[head] - potential[tail] - wanted) < NOTHING).all())


def network_ends(M: sp.csr_array) -> tuple[Ints, Ints]:
    """(k), (k): the nodes of −1 and +1 of every class of a network, after relations are signed; m stands for
    none.
    """
    m = M.shape[0]
    columns = sp.csc_array(M)
    sign = np.zeros(m)
    for first in range(m):  # relations that share a class get the signs that make its entries opposite
        if sign[first]:
            continue
        sign[first] = 1.0
        waiting = [first]
        while waiting:
            row = waiting.pop()
            for place in range(M.indptr[row], M.indptr[row + 1]):
                c = M.indices[place]
                for other in range(columns.indptr[c], columns.indptr[c + 1]):
                    r = columns.indices[other]
                    if r != row and not sign[r]:
                        sign[r] = -sign[row] * M.data[place] * columns.data[other]
                        waiting.append(int(r))
    tail, head = np.full(M.shape[1], m), np.full(M.shape[1], m)
    entries = M.tocoo()
    signed = entries.data * sign[entries.row]
    head[entries.col[signed > 0]] = entries.row[signed > 0]
    tail[entries.col[signed < 0]] = entries.row[signed < 0]
    return tail, head


def is_network(M: sp.csr_array) -> bool:
    """Whether relations can be signed so that every column has at most two entries, +1 and −1."""
    by_column = sp.csc_array(M)
    if by_column.nnz and ((np.diff(by_column.indptr) > 2).any() or (np.abs(by_column.data) != 1).any()):
        return False
    two = np.flatnonzero(np.diff(by_column.indptr) == 2)
    first = by_column.indptr[two]
    i, j = by_column.indices[first], by_column.indices[first + 1]
    flips = by_column.data[first] == by_column.data[first + 1]
    m = M.shape[0]  # rows as they are, then negated; equal entries join a row with the other's negation
    left, right = (
        np.concatenate([i, i + m]),
        np.concatenate([np.where(flips, j + m, j), np.where(flips, j, j + m)]),
    )
    graph = sp.csr_array((np.ones(len(left)), (left, right)), shape=(2 * m, 2 * m))
    _, part = connected_components(graph, directed=False)
    return bool((part[:m] != part[m:]).all())


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
