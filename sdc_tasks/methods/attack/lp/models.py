"""Live models of the attacker's core (see `polyhedron.py`), or of a part of it: then all other columns stay at the truth.

`Warm` starts each attack where the last one ended, by primal steps: fast in a small model, where every vertex is near. `FromTruth` is for
large models, where finding a first vertex would take longer than all attacks. There every deviation is a rise less a fall, both at least
0, so that the truth is a vertex. Dual steps move the cell to its target and repair what that violates; this involves the neighbours of
the cell and hardly ever the whole table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.blocks import LARGE_COLUMNS, UNDIVIDED, Level
from sdc_tasks.methods.attack.knowledge import Insiders
from sdc_tasks.methods.attack.polyhedron import AttackSystem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import Basis, LiveLP, LPResult


class LiveModel(ABC):
    """An LP over some `columns` of the core (ascending) and the `rows` of the core that contain them.

    `closed`: no row with a finite end links these columns to another `movable` column, so an optimum here is one of the whole core.
    """

    def __init__(
        self, system: AttackSystem, core: sp.csc_array, bounds: tuple[Floats, Floats], columns: Ints, movable: Bools
    ) -> None:  # fmt: skip
        A = sp.csr_array(core[:, columns])
        self.columns, self._size = columns, core.shape[1]
        self.rows = np.flatnonzero(np.diff(A.indptr) > 0)
        outside = movable.copy()
        outside[columns] = False
        self._leads_out = abs(system.core[self.rows]) @ outside.astype(float) > 0
        self._live = self._model(sp.csr_array(A[self.rows]), *self._limits(system), bounds[0][columns], bounds[1][columns])

    @abstractmethod
    def _model(self, A: sp.csr_array, low: Floats, high: Floats, lower: Floats, upper: Floats) -> LiveLP: ...

    @abstractmethod
    def _bound(self, at: Ints, lower: Floats, upper: Floats) -> None: ...

    @abstractmethod
    def push(self, column: int, way: float, most: float, afresh: bool = False) -> LPResult:
        """max way · u of one column of the core, way ±1, at least up to `most`; `afresh`: independent of earlier solves.

        `x` and `reduced` of the result have one entry for each column of the whole core, 0 for columns outside this part.
        """

    @abstractmethod
    def start(self) -> None:
        """Called when a round of attacks begins, perhaps on another publication."""

    @abstractmethod
    def prepare(self) -> None:
        """Called before the bounds of an attack are set: what the model keeps for all attacks must not depend on the first attack."""

    @abstractmethod
    def back(self) -> None:
        """Makes later results independent of what was solved before."""

    def face(self, system: AttackSystem) -> None:
        """Faces another publication, which often differs from the last one in a few rows only."""
        before, (low, high) = self._faced, self._limits(system)
        new = np.flatnonzero((low != before[0]) | (high != before[1]))
        self._live.set_row_bounds(new, low[new], high[new])

    def set_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        """Sets bounds of columns of the core; the bounds contain the truth. Columns outside this part are ignored."""
        if not len(columns):  # as of every attacker from outside
            return
        mine = np.isin(columns, self.columns)
        self._bound(np.searchsorted(self.columns, columns[mine]), lower[mine], upper[mine])

    def _limits(self, system: AttackSystem) -> tuple[Floats, Floats]:
        rows = system.core_rows[self.rows]
        low, high = system.row_lower[rows], system.row_upper[rows]
        self.closed = not (self._leads_out & (np.isfinite(low) | np.isfinite(high))).any()
        self._faced = low, high
        return low, high

    def _whole(self, result: LPResult, x: Floats, reduced: Floats) -> LPResult:
        both = np.zeros((2, self._size))
        both[:, self.columns] = x, reduced
        return LPResult(result.status, result.objective, both[0], result.dual, both[1])


class Warm(LiveModel):
    """Starts each attack where the last one ended; the first one starts from a feasible basis, found by dual steps without a cost."""

    _feasible: Basis | None = None
    _back = True

    def _model(self, A: sp.csr_array, low: Floats, high: Floats, lower: Floats, upper: Floats) -> LiveLP:
        return LiveLP(np.zeros(len(lower)), A, low, high, lower, upper)

    def _bound(self, at: Ints, lower: Floats, upper: Floats) -> None:
        self._live.set_bounds(at, lower, upper)

    def back(self) -> None:
        self._back = True

    def start(self) -> None:
        self._feasible = None

    def prepare(self) -> None:
        if self._feasible is None:
            self._live.method("dual")
            self._live.solve()
            self._live.method("primal")
            self._feasible, self._back = self._live.basis(), True

    def begin_as(self, other: Warm) -> None:
        """Takes the feasible basis of a model of the same program."""
        self._feasible = other._feasible
        if self._feasible is not None:
            self._live.method("primal")

    def push(self, column: int, way: float, most: float, afresh: bool = False) -> LPResult:
        """Goes further than `most`: a bound there would destroy the warm basis."""
        if self._back and self._feasible is not None:
            self._live.restore(self._feasible)
            self._back = False
        at = np.searchsorted(self.columns, [column])
        self._live.set_cost(at, np.array([-way]))
        result = self._live.solve(fresh=afresh)
        self._live.set_cost(at, np.zeros(1))
        return self._whole(result, result.x, result.reduced)


class FromTruth(LiveModel):
    """Starts each attack from the truth, unless it repeats the last attack: then it goes on from there."""

    _last: tuple[int, float, float] | None = None
    _back = False

    def _model(self, A: sp.csr_array, low: Floats, high: Floats, lower: Floats, upper: Floats) -> LiveLP:
        self._lower, self._upper = lower.copy(), upper.copy()
        zeros = np.zeros(2 * len(lower))
        return LiveLP(zeros, sp.csr_array(sp.hstack([A, -A])), low, high, zeros, np.concatenate([upper, -lower]))

    def _bound(self, at: Ints, lower: Floats, upper: Floats) -> None:
        self._lower[at], self._upper[at] = lower, upper
        self._halves(at, upper, -lower)

    def start(self) -> None:
        self._back = True

    def prepare(self) -> None:
        """Nothing to prepare: every attack starts from the truth."""

    def back(self) -> None:
        self._back = True

    def push(self, column: int, way: float, most: float, afresh: bool = False) -> LPResult:
        wanted, n = (column, way, most), len(self.columns)
        hot = self._last == wanted and not afresh and not self._back
        if self._last is not None:
            before = np.searchsorted(self.columns, [self._last[0]])
            self._price(before, 0.0)
            self._halves(before, self._upper[before], -self._lower[before])
        at = np.searchsorted(self.columns, [column])
        self._price(at, -way)
        rise, fall = (
            np.minimum(most, bound[at]) if mine else np.zeros(1) for bound, mine in ((self._upper, way > 0), (-self._lower, way < 0))
        )
        self._halves(at, rise, fall)
        self._last, self._back = wanted, False
        result = self._live.solve(fresh=not hot)
        return self._whole(result, result.x[:n] - result.x[n:], result.reduced[:n])

    def _halves(self, at: Ints, rise: Floats, fall: Floats) -> None:
        self._live.set_bounds(np.concatenate([at, at + len(self.columns)]), np.zeros(2 * len(at)), np.concatenate([rise, fall]))

    def _price(self, at: Ints, cost: float) -> None:
        self._live.set_cost(np.concatenate([at, at + len(self.columns)]), np.array([cost, -cost]))


class Models:
    """The live models of one prover, for parts and for the whole core. Each is made when it is first used.

    `labels`: the number of the part that each column of the core is in; first its country, then ever larger parts.
    """

    def __init__(self, system: AttackSystem, by_column: sp.csc_array, insiders: Insiders, country: Ints, levels: list[Level]) -> None:
        self._system, self._by_column, self._insiders = system, by_column, insiders
        self._labels = [country, *(level.label(len(country)) for level in levels if len(level.parts) > 1)]
        self._parts: dict[tuple[int, int], LiveModel] = {}
        self._whole: LiveModel | None = None

    @property
    def live(self) -> list[LiveModel]:
        """The models made so far."""
        return [*self._parts.values(), *([] if self._whole is None else [self._whole])]

    def face(self, system: AttackSystem) -> None:
        """Gives every model the polyhedron of another publication."""
        before, self._system = self._system, system
        same = (system.row_lower == before.row_lower) & (system.row_upper == before.row_upper)
        for model in self.live if not same.all() else ():
            model.face(system)

    def around(self, column: int, in_parts: bool) -> Iterator[LiveModel]:
        """The models in which to attack a column of the core; the whole core is the last one. `in_parts`: before it come the country, if no
        row leads out of it, and parts of the table.
        """
        for level, label in enumerate(self._labels) if in_parts else ():
            at = level, int(label[column])
            if at not in self._parts:
                self._parts[at] = self._of(np.flatnonzero(label == label[column]))
            if level > 0 or self._parts[at].closed:
                yield self._parts[at]
        yield self._all()

    def prepare(self) -> None:
        """Makes the whole core ready for the first attack without parts. It depends on no attack and on no joint search."""
        self._all().prepare()

    def _all(self) -> LiveModel:
        if self._whole is None:
            self._whole = self._of(np.arange(self._system.core.shape[1]))
        return self._whole

    def again(self) -> Models:
        """New models that find what these find after `back`: their first vertex is the same."""
        new = copy(self)
        new._parts, new._whole = {}, None
        if isinstance(self._whole, Warm) and isinstance(whole := new._all(), Warm):
            whole.begin_as(self._whole)
        return new

    def is_whole(self, model: LiveModel) -> bool:
        """Is an optimum of this model one of the whole core?"""
        return model.closed or model is self._whole

    def _of(self, columns: Ints) -> LiveModel:
        """The model of these columns. Other columns count as movable even if insiders know them: the attackers of a victim may not."""
        kind = Warm if len(columns) <= UNDIVIDED * LARGE_COLUMNS else FromTruth
        free = self._insiders.free
        return kind(self._system, self._by_column, self._insiders.usual, columns, free[0] < free[1])
