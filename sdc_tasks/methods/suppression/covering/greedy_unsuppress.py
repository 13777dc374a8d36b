"""Greedy unsuppression: hide everything, then open classes while every item stays met; for tables that are
no networks.

The deviations that hidden classes S allow are a linear space V = {u : M u = 0, u_i = 0 for i ∉ S}. To open
class i is to keep the part of V with u_i = 0; what cannot move then is opened with it. So classes fall in
*series*: i and j are in one if u_i / u_j is the same all over V. A series is opened as a whole; one that
holds a class to be protected stays.

With P the orthogonal projector on V (in units of the rooms), opening i is P ← P − q qᵀ with q = P e_i /
√P_ii, which is one step of a pivoted Cholesky factorisation. Every deviation w ∈ V follows by w ← w − q w_i /
q_i: witnesses of items are carried along at no cost. Where this loses an item, P e_p, the shortest deviation
that moves p, is tried, then a linear program. Series are found by reading off three random deviations.

The dearest series are opened first, of equal ones that with the first class. Prices vary by draws from
a fixed seed, so that one table gives many patterns. The arithmetic is floating point: another basis of
V, or other last digits, change no decision but one that lies within rounding of a threshold (a need, what
is left of a move, RANK). That such a decision never comes is not proven, so the same bytes are promised for
one build of the linear algebra alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy
import scipy.sparse as sp

from sdc_tasks.methods.suppression.covering.cover import GRANTED
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, RANK, RIDGE, ROUNDING, ZERO
from sdc_tasks.optimise import LinearAttacker

MOST_CLASSES = 12_000  # of a table: beyond, the space of deviations is too large to write down
MOST_FREEDOM = 2_000  # the same of its dimension, which is at least classes less relations
MANY = 2_000  # classes of a table of which an eighth, the dearest, stay open from the start
VAST = 100.0  # times the median need: rooms beyond count as this much
DRAWN_BLOCK = 128  # deviations drawn at once
RENEW = 64  # steps, at least, after which the space is written down afresh
MOST_PROGRAMS = 200  # of one pattern
# needs that a linear program asks for, where there is room: its point may leave small
# rooms by the solver's tolerance
SPARE = 1.01
JOINT_TRIES = 4  # joint deviations for items that lost theirs


class _Over(Exception):
    """The run ended while the space of deviations was computed."""


def null_space(M: sp.csr_array, rng: np.random.Generator, over: Callable[[], bool] = lambda: False) -> Floats:
    """(k, d): an orthonormal basis of {u : M u = 0}: random vectors by inverse iteration with MᵀM.
    Raises _Over where the run ends.
    """
    k = M.shape[1]
    M = sp.csr_array(M[np.flatnonzero(np.diff(M.indptr))])
    if not M.shape[0]:
        return np.eye(k)
    A = sp.csr_array(sp.diags_array(1 / np.sqrt((M * M).sum(axis=1))) @ M)
    normal = sp.csc_array(A.T @ A + 10 * RIDGE * sp.eye_array(k))
    factor = sp.linalg.splu(normal, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    basis = np.zeros((k, 0))
    while basis.shape[1] < k:
        if over():
            raise _Over
        drawn = rng.standard_normal((k, min(DRAWN_BLOCK, k)))
        for _ in range(2):  # each time, what is no null vector shrinks to 10 * RIDGE of it
            drawn = 10 * RIDGE * factor.solve(drawn)
        for _ in range(2):
            drawn -= basis @ (basis.T @ drawn)
        q, r, _ = scipy.linalg.qr(drawn, mode="economic", pivoting=True, check_finite=False)
        new = int((np.abs(np.diag(r)) > RANK * np.sqrt(k)).sum())
        basis = np.concatenate([basis, q[:, :new]], axis=1)
        if new < drawn.shape[1]:
            break
    return basis


@dataclass
class _Space:
    """The deviations of the classes that are still hidden: `basis` (s, d) of unit rooms, orthonormal;
    steps since are in `steps` (s, t).
    """

    classes: Ints
    basis: Floats
    steps: Floats = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.steps = np.zeros((len(self.classes), max(RENEW, self.basis.shape[1] // 8)), order="F")

    def column(self, i: int) -> Floats:
        """P e_i for the class at place i."""
        return self.columns(np.array([i]), np.ones(1))

    def columns(self, places: Ints, weight: Floats) -> Floats:
        """Σ weight · P e_i over classes at some places."""
        found = self.basis @ (weight @ self.basis[places])
        if self.count:
            found -= self.steps[:, : self.count] @ (weight @ self.steps[places, : self.count])
        return np.asarray(found)

    def diagonal(self, places: Ints) -> Floats:
        """P_ii of the classes at some places."""
        return np.asarray(
            (self.basis[places] ** 2).sum(axis=1) - (self.steps[places, : self.count] ** 2).sum(axis=1)
        )

    @property
    def full(self) -> bool:
        """Whether it must be renewed before the next step."""
        return bool(self.count == self.steps.shape[1])

    def open(self, q: Floats) -> None:
        self.steps[:, self.count] = q
        self.count += 1

    def renewed(self, alive: Bools) -> _Space:
        """The same space, written down for the classes that can move."""
        taken = self.basis.T @ self.steps[:, : self.count]  # orthonormal, as coordinates
        rest = scipy.linalg.qr(taken, check_finite=False)[0][:, self.count :]
        basis = self.basis[alive] @ rest
        return _Space(self.classes[alive], np.asarray(basis, dtype=float))


@dataclass(frozen=True)
class WitnessedPattern:
    """A pattern of classes `hidden` (k), and deviations `witnesses` (w, k) that together meet
    every item and move nothing else.
    """

    hidden: Bools
    witnesses: Floats


class GreedyUnsuppression:
    """Greedy unsuppression in patterns of one reduced problem. `programs` counts linear programs."""

    def __init__(
        self, table: ReducedProblem, start: Bools | None = None, over: Callable[[], bool] = lambda: False
    ) -> None:
        self.table, self.programs = table, 0
        self._inside = np.ones(len(table.cost), dtype=bool) if start is None else start | table.forced
        room = np.minimum(table.above, table.below)
        self._room = np.minimum(
            np.where(room > 0, room, np.maximum(table.above, table.below)),
            VAST * float(np.median(table.item_need)),
        )
        rng = np.random.default_rng(0)
        classes = np.flatnonzero(self._inside)
        free = null_space(sp.csr_array(sp.csc_array(table.M)[:, classes]), rng, over)
        scaled, _ = scipy.linalg.qr(free / self._room[classes, None], mode="economic", check_finite=False)
        self._whole = _Space(classes, np.asarray(scaled, dtype=float))
        self._attacker = LinearAttacker(table.M)

    @staticmethod
    def of(table: ReducedProblem, over: Callable[[], bool] = lambda: False) -> GreedyUnsuppression | None:
        """The search for a table, or None if it is too large; in a large table the dearest classes stay open
        from the start if the others meet every item.

        None also if the run is `over` before.
        """
        k = len(table.cost)
        if k > MOST_CLASSES or k - table.M.shape[0] > MOST_FREEDOM or not len(table.item_need):
            return None
        try:
            if k > MANY:
                start = np.ones(k, dtype=bool)
                start[np.argsort(-table.cost, kind="stable")[: k // 8]] = False
                part = GreedyUnsuppression(table, start, over)
                if part.meets():
                    return part
            return GreedyUnsuppression(table, None, over)
        except _Over:
            return None

    @property
    def inside(self) -> Bools:
        """(k): the classes that patterns may hide."""
        return self._inside

    @property
    def freedom(self) -> int:
        """The dimension of the space of deviations."""
        return int(self._whole.basis.shape[1])

    @property
    def size(self) -> int:
        """Classes times the dimension of the space of deviations."""
        return int(self._whole.basis.size)

    def meets(self) -> bool:
        """Whether all classes together are seen to meet every item."""
        return _PatternSearch(self, self.everything(), self.table.cost, np.random.default_rng(0), 0).starts()

    def everything(self) -> _Space:
        """The deviations of all classes inside. A space of its own for each pattern in the making,
        which writes its steps into it.
        """
        return _Space(self._whole.classes, self._whole.basis)

    def within(self, hidden: Bools) -> _Space:
        """The deviations of the classes that a pattern hides."""
        keep = hidden[self._whole.classes]
        closed = self._whole.basis[~keep]
        values, vectors = np.linalg.eigh(closed.T @ closed)
        basis = np.asarray(self._whole.basis[keep] @ vectors[:, values < ROUNDING], dtype=float)
        moves = np.linalg.norm(basis, axis=1) > ZERO
        return _Space(self._whole.classes[keep][moves], basis[moves])

    def unsuppress(
        self,
        price: Floats,
        rng: np.random.Generator,
        over: Callable[[], bool],
        hidden: Bools | None = None,
        most: int = MOST_PROGRAMS,
        tell: Callable[[WitnessedPattern], None] | None = None,
    ) -> WitnessedPattern | None:
        """A pattern that meets every item and lies within `hidden`; None if none was
        found, or when the run is `over`.

        `most`: linear programs beside one for each item at the start; a series that would need another one
        stays. `tell` hears of the patterns on the way.
        """
        return _PatternSearch(
            self, self.everything() if hidden is None else self.within(hidden), price, rng, most
        ).go(over, tell)

    def room(self, classes: Ints) -> Floats:
        return self._room[classes]

    def furthest(self, item: int, classes: Ints) -> Floats | None:
        """(k): a deviation of these classes alone that meets an item, by a linear program; None if
        there is none (or none is found).
        """
        table = self.table
        p, side, need = int(table.item_class[item]), int(table.item_side[item]), float(table.item_need[item])
        self.programs += 1
        mine = np.zeros(len(table.cost), dtype=bool)
        mine[classes] = True
        mine &= ~table.known(item)
        above, below = (
            np.where(mine, np.minimum(room, 1e4 * need), 0.0) / need for room in (table.above, table.below)
        )
        if side == 0:
            above, below = np.minimum(above, below), np.minimum(above, below)
        cap = SPARE if side else SPARE / 2
        above[p], below[p] = min(above[p], cap), min(below[p], cap)
        self._attacker.set_bounds(-below, above)
        push = self._attacker.push(np.array([p]), np.array([side or 1.0]))
        return push.z * need if push.status.has_point else None


class _PatternSearch:
    """One pattern in the making."""

    def __init__(
        self, owner: GreedyUnsuppression, space: _Space, price: Floats, rng: np.random.Generator, most: int
    ) -> None:
        self.owner, self.table, self.space, self.price, self.rng, self.most = (
            owner,
            owner.table,
            space,
            price,
            rng,
            most,
        )
        self._read()
        self.place = np.full(len(self.table.cost), -1)
        self.place[space.classes] = np.arange(len(space.classes))
        self.witnesses = np.zeros((len(space.classes), 0))
        self.met_by = np.zeros((0, len(self.table.item_need)), dtype=bool)
        self.essential = self.table.forced.copy()  # classes whose series must stay

    def _read(self) -> None:
        """Three random deviations tell which classes move alike."""
        table, classes = self.table, self.space.classes
        self.room = self.owner.room(classes)[:, None]
        self.above, self.below = table.above[classes][:, None], table.below[classes][:, None]
        self.known: tuple[Ints, Floats] | None = None
        self.marks = self.space.basis @ self.rng.standard_normal((self.space.basis.shape[1], 3))
        self.first = np.linalg.norm(self.marks, axis=1)
        self.alive = self.first > ZERO

    def starts(self) -> bool:
        """Finds witnesses of all items."""
        most, self.most = self.most, len(self.table.item_need) if self.most else 0
        found = self._witness(np.arange(len(self.table.item_need)))
        self.most = most
        return found

    def go(
        self, over: Callable[[], bool], tell: Callable[[WitnessedPattern], None] | None
    ) -> WitnessedPattern | None:
        if not self.starts():
            return None
        while not over():
            series, total = self._series()
            dearest = int(np.argmax(total)) if len(total) else 0
            if not len(total) or not np.isfinite(total[dearest]):
                return self._pattern()
            self._try(np.flatnonzero(self.alive)[series == dearest])
            if self.space.full:
                if tell is not None:
                    tell(self._pattern())
                self._renew()
        return None

    def _pattern(self) -> WitnessedPattern:
        mine = self.space.classes
        hidden = self.table.forced.copy()
        hidden[mine[self.alive]] = True
        size = np.abs(self.witnesses)
        moves = np.where(size > ZERO * size.max(axis=0), self.witnesses, 0.0) * self.owner.room(mine)[:, None]
        witnesses = np.zeros((moves.shape[1], len(hidden)))
        witnesses[:, mine] = moves.T
        return WitnessedPattern(hidden, witnesses)

    def _series(self) -> tuple[Ints, Floats]:
        """For every class that can move its series; the price of each series, −∞ if it must stay."""
        if self.known is None:
            self.known = self._priced()
        series, total = self.known
        return series, np.asarray(np.where(self._stays(series, len(total)), -np.inf, total))

    def _stays(self, series: Ints, number: int) -> Bools:
        """(series): which hold a class that must stay."""
        return np.bincount(series, self.essential[self.space.classes[self.alive]], number) > 0

    def _priced(self) -> tuple[Ints, Floats]:
        """For every class that can move its series; the price of each series."""
        rows = np.flatnonzero(self.alive)
        if not len(rows):
            return rows, np.zeros(0)
        marks = self.marks[rows]
        angle = marks / np.linalg.norm(marks, axis=1)[:, None]
        angle *= np.where(angle[:, :1] < 0, -1.0, 1.0)
        order = np.argsort(angle[:, 0], kind="stable")
        series = np.empty(len(rows), dtype=np.int64)
        series[order] = np.concatenate(
            [[0], np.cumsum((np.abs(np.diff(angle[order], axis=0)) > RANK).any(axis=1))]
        )
        _, first, named = np.unique(series, return_index=True, return_inverse=True)
        series = np.argsort(np.argsort(first))[
            named
        ]  # in the order of their first classes, so that of equal prices the first counts
        return series, np.bincount(series, self.price[self.space.classes[rows]]).astype(float)

    def _try(self, mine: Ints) -> None:
        """Opens a series, or notes that it must stay."""
        space = self.space
        first = int(mine[np.argmax(np.abs(self.marks[mine]).max(axis=1))])
        q = space.column(first)
        # what is left of a move, as a share of what it was, is rounding
        if q[first] <= 100 * FEASIBILITY**2 * float(space.basis[first] @ space.basis[first]):
            self.alive[first], self.marks[first], self.witnesses[first] = (
                False,
                0.0,
                0.0,
            )  # it could not move any more
            self.known = None
            return
        q /= np.sqrt(q[first])
        marks = self.marks - np.outer(q, self.marks[first] / q[first])
        alive = self.alive & (np.linalg.norm(marks, axis=1) > FEASIBILITY * self.first)
        alive[first] = False
        before = self.witnesses, self.met_by, self.marks, self.alive
        self.witnesses = np.where(
            alive[:, None], self.witnesses - np.outer(q, self.witnesses[first] / q[first]), 0.0
        )
        self.met_by = self._meets(self.witnesses)
        self.marks, self.alive = np.where(alive[:, None], marks, 0.0), alive
        space.open(q)
        lost = np.flatnonzero(~self.met_by.any(axis=0))
        if not len(lost) or (alive[self.place[self.table.item_class[lost]]].all() and self._witness(lost)):
            self.known = None
            return
        space.count -= 1
        self.witnesses, self.met_by, self.marks, self.alive = before
        self.essential[space.classes[mine]] = True

    def _witness(self, items: Ints) -> bool:
        """Finds witnesses for items: several at once, then each by its shortest
        deviation, then by a linear program.
        """
        table = self.table
        places = self.place[table.item_class]
        if (places[items] < 0).any() or not self.alive[places[items]].all():
            return False
        met = np.zeros(len(table.item_need), dtype=bool)
        for _ in range(JOINT_TRIES):
            left = items[~met[items]]
            if not len(left):
                return True
            met |= self._add(self._joint(left))
            if len(left) == 1:
                break
        for item in items:
            if not met[item]:
                met |= self._add(np.where(self.alive, self.space.column(int(places[item])), 0.0))
            if not met[item]:
                met |= self._pushed(int(item))
                if not met[item]:
                    return False
        return True

    def _joint(self, items: Ints) -> Floats:
        """The sum of the shortest deviations of items, to random sides."""
        space, mine = self.space, self.table.item_class[items]
        places, first = np.unique(self.place[mine], return_index=True)
        need = (self.table.item_need[items] / self.owner.room(mine))[first]
        size = space.diagonal(places)
        weight = np.where(size > 0, need / np.where(size > 0, size, 1.0), 0.0) * self.rng.choice(
            [-1.0, 1.0], size=len(places)
        )
        return np.where(self.alive, space.columns(places, weight), 0.0)

    def _pushed(self, item: int) -> Bools:
        """The items that the witness of a linear program for this one meets; none where there is no witness,
        or too many programs were solved.
        """
        nothing = np.zeros(len(self.table.item_need), dtype=bool)
        if self.most <= 0:
            return nothing
        self.most -= 1
        mine = self.space.classes
        u = self.owner.furthest(item, mine[self.alive])
        return nothing if u is None else self._add(np.where(self.alive, u[mine] / self.owner.room(mine), 0.0))

    def _add(self, witness: Floats) -> Bools:
        """Keeps a witness if it meets an item that no other does; the items that it meets."""
        met = self._meets(witness[:, None])[0]
        if (met & ~self.met_by.any(axis=0)).any():
            self.witnesses = np.concatenate([self.witnesses, witness[:, None]], axis=1)
            self.met_by = np.concatenate([self.met_by, met[None]])
            alone = self.met_by.sum(axis=0) == 1  # the last one meets one of these
            useful = (self.met_by & alone).any(axis=1)
            self.witnesses, self.met_by = self.witnesses[:, useful], self.met_by[useful]
        return np.asarray(met)

    def _meets(self, witnesses: Floats) -> Bools:
        """(witnesses, items): what the line through each meets at its ends."""
        table, classes = self.table, self.space.classes
        if not witnesses.shape[1]:
            return np.zeros((0, len(table.item_need)), dtype=bool)
        z = witnesses * self.room
        size = np.abs(witnesses)
        tiny = size <= ZERO * size.max(axis=0)
        size = np.where(tiny, 0.0, np.abs(z))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            up, down = self.above / size, self.below / size
            rising = z > 0
            ahead = np.where(tiny, np.inf, np.where(rising, up, down)).min(axis=0)
            back = np.where(tiny, np.inf, np.where(rising, down, up)).min(axis=0)
        place = self.place[table.item_class]
        moved = np.where((place >= 0)[:, None] & ~tiny[place], z[place], 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # 0 · ∞ where nothing moves
            rise = np.where(moved > 0, moved * ahead, np.where(moved < 0, -moved * back, 0.0))
            fall = np.where(moved > 0, moved * back, np.where(moved < 0, -moved * ahead, 0.0))
        side = table.item_side[:, None]
        reach = np.where(side > 0, rise, np.where(side < 0, fall, rise + fall))
        met = reach >= table.item_need[:, None] * GRANTED
        if table.lone.any():
            for j in range(witnesses.shape[1]):
                moved_by = np.zeros(len(table.cost), dtype=bool)
                moved_by[classes[~tiny[:, j]]] = True
                met[:, j] &= table.open_to(moved_by)
        return np.asarray(met.T)

    def _renew(self) -> None:
        """Writes the space down for the classes that are left."""
        alive = self.alive
        self.witnesses, self.marks = self.witnesses[alive], self.marks[alive]
        self.space = self.space.renewed(alive)
        self.place = np.full(len(self.table.cost), -1)
        self.place[self.space.classes] = np.arange(len(self.space.classes))
        self._read()
        self.witnesses = self.space.basis @ (self.space.basis.T @ self.witnesses)
        self.met_by = self._meets(self.witnesses)
