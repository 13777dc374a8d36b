"""The cheapest hypercube for each primary, one after the other, those that need most first; see
candidates.py for what a hypercube is here.

A hypercube that moves its corners by ±δ lets a primary rise and fall by δ if all other corners have so much
room on both sides. Corners that are hidden already cost nothing. So all hypercubes of a primary are priced at
once: the prices of the cells around it, a tensor, are summed along the moves of each dimension in turn.
Prices are whole numbers, and so are their sums: the choice is the same on any machine.

First moves between siblings without parts are tried, where totals stay, then moves through all levels, then
several hypercubes that share what is needed. In further rounds each primary chooses anew, while the corners
that only its own hypercube needs cost again. Corners that are the singletons of others than whom the level
protects are left out: their respondents attack ([2] eq. 8).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.suppression.cubes.candidates import CodeMoves, Dimension
from sdc_tasks.model.grid import Grid
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import ZERO

MOST_CUBES = 20_000  # priced at once for one primary: of longer lists of moves the cheapest
SHARES = (0.5, 0.25, 0.125, 0.0625)  # of what is needed: what one of several hypercubes moves
MOST_SHARED = 24  # hypercubes that share what one primary needs
EXACT_SUMS = 2.0**52  # sums up to this are exact
TELL_EVERY = 2_000  # primaries


@dataclass(frozen=True)
class Movement:
    """Some cells of the problem, and how they move, in units of the data."""

    cells: Ints = field(repr=False)
    moves: Floats = field(repr=False)


@dataclass(frozen=True)
class _Wants:
    """What is asked: a cell, how far it must go to either side, and the respondents who do not attack: whom
    that protects, who takes no part. The levels of the primaries in their order, then those of further
    contributors and against weaker attackers.
    """

    cell: Ints = field(repr=False)
    need: Floats = field(repr=False)
    away: list[tuple[int, ...]] = field(repr=False)


class CubeSearch:
    """Hides cells of one problem until as many of the levels of primaries as possible have a movement.
    `hidden` (n); `movements`: by the number of what is asked.
    """

    def __init__(
        self, problem: SensitiveTable, grid: Grid, tell: Callable[[str], None], over: Callable[[], bool]
    ) -> None:
        self.problem, self.shape = problem, grid.sizes
        self.hidden = problem.primary.copy()
        self.movements: dict[int, Movement] = {}
        self._tell, self._over = tell, over
        self._dimensions = [
            Dimension(size, families) for size, families in zip(grid.sizes, grid.families, strict=True)
        ]
        self._strides = np.array([int(np.prod(grid.sizes[axis + 1 :])) for axis in range(len(grid.sizes))])
        self._cell = grid.cell  # from positions in the grid to cells; all arrays below are by position
        self._position = np.argsort(grid.cell)
        corners = float(np.prod([float(dimension.longest) for dimension in self._dimensions]))
        self._barred = EXACT_SUMS / corners  # the price of a corner that cannot be one
        most = float(problem.cost.max(initial=0.0)) or 1.0
        cost = np.ceil(problem.cost / most * np.floor(self._barred / corners / 2)) + 1
        self._cost = np.where(problem.primary, 0.0, cost)[self._cell]
        room = np.minimum(problem.ub - problem.a, problem.a - problem.lb)
        self._room = np.where(problem.fixed, -1.0, room)[self._cell]
        self._price = np.where(self.hidden[self._cell], 0.0, self._cost)
        self._users = np.zeros(len(room), dtype=np.int64)  # of each position: the movements that move it
        self._smallest = 2 ** sum(size > 1 for size in grid.sizes)
        self._known = problem.respondents[self._cell]
        self._singletons = bool(problem.lone.any())
        self._wants = _wants(problem)

    def cover(self) -> None:
        """Looks for a movement for each level, in the order of their needs."""
        order = np.argsort(-self._wants.need, kind="stable").tolist()
        for done, want in enumerate(order):
            if done % TELL_EVERY == 0:
                self._tell(f"{done} of {len(order)} primaries")
                if self._over():
                    return
            if want not in self.movements and (found := self._movement(want)) is not None:
                self.take(want, found)

    def improve(self) -> None:
        """Each primary chooses anew: what its own movement alone needs is not free for it any more."""
        order = sorted(self.movements, key=lambda want: (-self._wants.need[want], want))
        for done, want in enumerate(order):
            if done % TELL_EVERY == 0:
                self._tell(f"{done} of {len(order)} primaries chosen anew")
                if self._over():
                    return
            mine = self._position[self.movements[want].cells]
            if not ((self._users[mine] == 1) & (self._cost[mine] > 0)).any():
                continue
            old = self._give_back(want)
            found = self._movement(want, near=len(old.cells) <= self._smallest)
            self.take(want, old if found is None or self._new_cost(found) >= self._new_cost(old) else found)

    def take(self, want: int, movement: Movement) -> None:
        """Gives a level a movement, and hides what it moves."""
        self.movements[want] = movement
        self.hidden[movement.cells] = True
        at = self._position[movement.cells]
        self._users[at] += 1
        self._price[at] = 0.0

    def lacking(self) -> Ints:
        """The primaries that need a movement and have none, for one of their levels."""
        missing = [
            want for want in np.flatnonzero(self._wants.need > 0).tolist() if want not in self.movements
        ]
        return np.unique(self._wants.cell[missing])

    def witnesses(self) -> sp.csr_array:
        """(movements, n): all movements, in the order of their primaries."""
        kept = [self.movements[want] for want in sorted(self.movements)]
        starts = np.concatenate([[0], np.cumsum([len(each.cells) for each in kept])]).astype(np.int64)
        moves = np.concatenate([*(each.moves for each in kept), np.zeros(0)])
        cells = np.concatenate([*(each.cells for each in kept), np.zeros(0, dtype=np.int64)])
        return sp.csr_array((moves, cells, starts), shape=(len(kept), len(self.problem.a)))

    def _give_back(self, want: int) -> Movement:
        old = self.movements.pop(want)
        at = self._position[old.cells]
        self._users[at] -= 1
        free = at[(self._users[at] == 0) & (self._cost[at] > 0)]
        self.hidden[self._cell[free]] = False
        self._price[free] = self._cost[free]
        return old

    def _new_cost(self, movement: Movement) -> float:
        return float(self._price[self._position[movement.cells]].sum())

    def _movement(self, want: int, near: bool = False) -> Movement | None:
        """The cheapest hypercube that moves a primary as far as a level needs; of
        several where one alone cannot.
        """
        p, need, away = int(self._wants.cell[want]), float(self._wants.need[want]), self._wants.away[want]
        at = self._codes(p)
        steps = [[dimension.near(code) for dimension, code in zip(self._dimensions, at, strict=True)]]
        if not near:
            steps.append(
                [dimension.every(code) for dimension, code in zip(self._dimensions, at, strict=True)]
            )
        for moves in steps:
            if (found := self._cube(p, moves, need, away)) is not None:
                return found
        return None if near else self._shared(p, steps[-1], need, away)

    def _shared(self, p: int, moves: list[CodeMoves], need: float, away: tuple[int, ...]) -> Movement | None:
        """Several hypercubes, one after the other, each with the room that those before leave."""
        moved: dict[int, float] = {}
        before: dict[int, float] = {}
        left, count, share = need, 0, 0
        while left > need * ZERO and count < MOST_SHARED and share < len(SHARES):
            step = min(left, need * SHARES[share])
            found = self._cube(p, moves, step, away)
            if found is None:
                share += 1
                continue
            for cell, move in zip(found.cells.tolist(), found.moves.tolist(), strict=True):
                at = int(self._position[cell])
                before.setdefault(at, float(self._room[at]))
                self._room[at] -= step
                moved[cell] = moved.get(cell, 0.0) + move
            left, count = left - step, count + 1
        for at, room in before.items():
            self._room[at] = room
        if left > need * ZERO:
            return None
        cells = np.array([cell for cell, move in moved.items() if move], dtype=np.int64)
        return Movement(cells, np.array([moved[cell] for cell in cells.tolist()]))

    def _cube(self, p: int, moves: list[CodeMoves], step: float, away: tuple[int, ...]) -> Movement | None:
        """The cheapest hypercube whose corners all have room for a step, but for the
        primary itself; None if there is none.
        """
        at = self._codes(p)
        if np.prod([float(each.number) for each in moves]) > MOST_CUBES:
            few = self._few(at, moves, step, away)
            if few is None:
                return None
            moves = few
        price = self._priced([each.codes for each in moves], at, step, away)
        for each in moves:  # each turn sums along the first axis, and brings the next one to the front
            price = each.sums(price.reshape(len(each.codes), -1)).T
        best = int(np.argmin(price))
        if price.flat[best] >= self._barred:
            return None
        chosen = np.unravel_index(best, [each.number for each in moves])
        where, sign = np.zeros(1, dtype=np.int64), np.full(1, step)
        for each, move, stride in zip(moves, chosen, self._strides, strict=True):
            codes, signs = each.one(int(move))
            where, sign = np.add.outer(where, codes * stride).ravel(), np.multiply.outer(sign, signs).ravel()
        return Movement(self._cell[where], sign)

    def _codes(self, p: int) -> list[int]:
        """Where a cell stands in each dimension."""
        return [int(code) for code in np.unravel_index(int(self._position[p]), self.shape)]

    def _few(
        self, at: list[int], moves: list[CodeMoves], step: float, away: tuple[int, ...]
    ) -> list[CodeMoves] | None:
        """The moves of each dimension whose corners beside the primary cost least, so many that
        all their products can be priced.
        """
        own = [np.array([code]) for code in at]
        found = []
        for axis, each in enumerate(moves):
            price = each.sums(
                self._priced([*own[:axis], each.codes, *own[axis + 1 :]], at, step, away).ravel()
            )
            order = np.argsort(price, kind="stable")
            found.append(order[: int((price < self._barred).sum())])
        if not all(len(each) for each in found):
            return None
        most = max(len(each) for each in found)
        while np.prod([float(min(len(each), most)) for each in found]) > MOST_CUBES:
            most -= 1
        return [each.some(np.sort(chosen[:most])) for each, chosen in zip(moves, found, strict=True)]

    def _priced(self, codes: list[Ints], at: list[int], step: float, away: tuple[int, ...]) -> Floats:
        """The prices of the cells where these codes cross; those of the primary itself are 0."""
        where = codes[0] * self._strides[0]
        for mine, stride in zip(codes[1:], self._strides[1:], strict=True):
            where = np.add.outer(where, mine * stride)
        fit = np.take(self._room, where) >= step
        if self._singletons:
            known = self._known[where]
            fit &= (known == NOBODY) | np.isin(known, away)
        price = np.where(fit, np.take(self._price, where), self._barred)
        price[tuple(int(np.searchsorted(mine, code)) for mine, code in zip(codes, at, strict=True))] = 0.0
        return np.asarray(price)


def _wants(problem: SensitiveTable) -> _Wants:
    """How far movements must let each primary go to either side; what its own bounds cut off
    one side the other one makes good.
    """
    above, below = problem.ub - problem.a, problem.a - problem.lb
    places = [problem.primaries, *(np.flatnonzero(layer.most > 0) for layer in problem.layers[1:])]
    needs, away = [], list[tuple[int, ...]]()
    for layer, p in zip(problem.layers, places, strict=True):
        wide = np.maximum(layer.width / 2, layer.width - np.minimum(above, below))
        needs.append(np.maximum(np.maximum(layer.up, layer.down), wide)[p])
        away += [(guard, *layer.lacks) for guard in layer.guards[p].tolist()]
    return _Wants(np.concatenate(places), np.concatenate(needs), away)
