"""Live models of the attacker's core (see `polyhedron.py`), or of a part of it: then all
other columns stay at the truth.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.blocks import lineage
from sdc_tasks.methods.attack.polyhedron import AttackSystem
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import DUAL
from sdc_tasks.solver.hot import Basis, HotLP
from sdc_tasks.solver.lp import LPResult


class LiveModel:
    """An LP over some `columns` of the core (ascending) and the `rows` of the core that contain them. Each
    attack starts where the last one ended; the first one starts from a vertex near the truth.

    `closed`: no row with a finite end links these columns to another one that can move within `free`, the
    widest bounds of any attacker. Then every optimum here is one of the whole core.
    """

    def __init__(
        self,
        system: AttackSystem,
        core: sp.csc_array,
        bounds: tuple[Floats, Floats],
        columns: Ints,
        free: tuple[Floats, Floats],
    ) -> None:
        A = sp.csr_array(core[:, columns])
        self.columns, self._size = columns, core.shape[1]
        self.rows = np.flatnonzero(np.diff(A.indptr) > 0)
        self._across = sp.csr_array(system.core[self.rows])
        self._falls, self._rises = free[0] < 0, free[1] > 0
        self._falls[columns] = self._rises[columns] = False
        self._leads_out = abs(self._across) @ (self._falls | self._rises).astype(float) > 0
        self._live = HotLP(
            sp.csr_array(A[self.rows]), *self._limits(system), bounds[0][columns], bounds[1][columns]
        )
        self._vertex: Basis | None = None
        self._back = True

    def set_system(self, system: AttackSystem) -> None:
        """Sets the row bounds of another publication, which often differs from the last one in a few rows."""
        before, (low, high) = self._faced, self._limits(system)
        new = np.flatnonzero((low != before[0]) | (high != before[1]))
        self._live.set_row_bounds(new, low[new], high[new])
        self._vertex = None

    def back(self) -> None:
        """Makes later results independent of what was solved before."""
        self._back = True

    def prepare(self) -> None:
        """Called before the bounds of an attack are set: the first vertex must not depend on the first
        attack.
        """
        if self._back and self._vertex is None:
            self._vertex = self._live.at_zero()

    def set_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        """Sets bounds of columns of the core; the bounds contain the truth. Columns outside this part are
        ignored.
        """
        if not len(columns):  # as of every attacker from outside
            return
        mine = np.isin(columns, self.columns)
        self._live.set_bounds(np.searchsorted(self.columns, columns[mine]), lower[mine], upper[mine])

    def push(self, column: int, way: float, afresh: bool = False) -> tuple[LPResult, bool]:
        """max way · u of one column of the core, way ±1; `afresh`: from scratch and by the other solver. And
        whether the optimum is one of the whole core: no column outside this part would help, because its
        reduced cost is 0 or it can only move the wrong way.

        `x` and `reduced` of the result have one entry for each column of the whole core; `x` is 0 outside
        this part.
        """
        if self._back and self._vertex is not None:
            self._live.restore(self._vertex)
            self._back = False
        at = int(np.searchsorted(self.columns, column))
        self._live.set_cost(at, -way)
        result = self._live.afresh() if afresh else self._live.solve()
        self._live.set_cost(at, 0.0)
        x, reduced = np.zeros(self._size), np.asarray(-(result.dual @ self._across))
        x[self.columns], reduced[self.columns] = result.x, result.reduced
        helps = (self._falls & (reduced > DUAL)) | (self._rises & (reduced < -DUAL))
        return LPResult(result.status, result.objective, x, result.dual, reduced), not helps.any()

    def _limits(self, system: AttackSystem) -> tuple[Floats, Floats]:
        rows = system.core_rows[self.rows]
        low, high = system.row_lower[rows], system.row_upper[rows]
        self.closed = not (self._leads_out & (np.isfinite(low) | np.isfinite(high))).any()
        self._faced = low, high
        return low, high


class Models:
    """The live models of one prover, for parts and for the whole core. Each is made when it is first used.

    `usual`: the bounds of u from which an attack starts; `free`: the widest ones of any attacker. `labels`:
    the number of the part that each column of the core is in; first its country, then ever larger parts, last
    all countries.
    """

    def __init__(
        self,
        system: AttackSystem,
        by_column: sp.csc_array,
        usual: tuple[Floats, Floats],
        free: tuple[Floats, Floats],
        labels: list[Ints],
    ) -> None:
        self._system, self._by_column, self._labels = system, by_column, labels
        self._usual, self._free = usual, free
        self._models: dict[tuple[int, int], LiveModel] = {}

    @property
    def live(self) -> list[LiveModel]:
        """The models made so far."""
        return list(self._models.values())

    def set_system(self, system: AttackSystem) -> None:
        """Gives every model the polyhedron of another publication."""
        before, self._system = self._system, system
        same = (system.row_lower == before.row_lower) & (system.row_upper == before.row_upper)
        for model in self.live if not same.all() else ():
            model.set_system(system)

    def around(self, column: int, in_parts: bool) -> Iterator[LiveModel]:
        """The models in which to attack a column of the core; the last ones are the indicators linked to
        it in all countries, and the whole core. `in_parts`: before them come the country, if no row leads
        out of it, and parts of the table.
        """
        for level, label in enumerate(self._labels):
            if in_parts or level == len(self._labels) - 1:
                model = self._at(level, label, column)
                if level > 0 or model.closed:
                    yield model
        yield self._at(-1, np.zeros(self._system.core.shape[1], dtype=np.int64), column)

    def _at(self, level: int, label: Ints, column: int) -> LiveModel:
        at = level, int(label[column])
        if at not in self._models:
            self._models[at] = self._of(np.flatnonzero(label == label[column]))
        return self._models[at]

    def _of(self, columns: Ints) -> LiveModel:
        """The model of these columns. Other columns count as movable even if insiders know them: some
        may stay outside of a coalition.
        """
        return LiveModel(self._system, self._by_column, self._usual, columns, self._free)


def standing(problem: ProtectionProblem, system: AttackSystem) -> tuple[Ints, Ints, Ints, Ints]:
    """(area, rank in the first code list, depth of the code of each rank, group of linked indicators): of the
    core columns, by the first cell of each, but for the depth.
    """
    space, area = problem.space, system.area[system.first]
    indicator, *codes = np.unravel_index(system.code[system.first], space.national_shape)
    group = np.array(space.linked)[indicator]
    if not space.hierarchies:
        return area, indicator, np.zeros(len(space.indicators), dtype=np.int64), group
    rank = lineage(space.hierarchies[0])
    return area, rank[codes[0]], np.array(space.hierarchies[0].depth)[np.argsort(rank)], group


def tables_of(problem: ProtectionProblem, system: AttackSystem) -> Ints:
    """(core columns,): the number of the table of the first cell of each, 0 for the release itself and for
    unknown values of its earlier deliveries.
    """
    firsts, cells = problem.space.firsts, system.cells
    table = np.zeros(len(system.area), dtype=np.int64)
    table[: len(cells)] = np.searchsorted(firsts, cells, side="right") - 1
    return table[system.first]
