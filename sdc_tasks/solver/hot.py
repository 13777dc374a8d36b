"""A linear program that is solved thousands of times with other costs: the primal simplex
method of Clp, the LP solver of CBC.

Clp goes on from the last basis, its factors and its steepest-edge weights, and so takes a fifth of the steps
that HiGHS takes, which begins with new weights each time. As with `LiveLP`: one thread, the same calls give
the same bytes, callers scale their models and check results.

Four traps: cylp's setters of whole arrays keep the pointer, and then both sides free the memory; what
it returns are views of memory that the next solve overwrites; a matrix ends with its last entry; and
without entries, Clp calls any point optimal. So bounds are set one by one, results are copied, and a
row without ends closes the matrix. A result counts as optimal only if its multipliers prove that
nothing is better. Whether its point is feasible is for the caller to check: after a row was without
ends, Clp may return one that is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from cylp.cy import CyClpSimplex, CyCoinPackedMatrix

from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import DUAL, OPTIMALITY
from sdc_tasks.solver.lp import LiveLP, LPResult, Status
from sdc_tasks.solver.tally import count_lp
from sdc_tasks.telemetry import span

Bounds = tuple[Floats, Floats]
Basis = tuple[Ints, Ints]  # of columns and rows, for `HotLP.restore`

PULLS = 12  # solves that lead from a point to a vertex, at most; three to five are enough
AT_NO_BOUND = 0  # the status of a column outside the basis that is at neither bound
CLP_INFINITY = 1e100  # what Clp takes for infinite
STATUS = {0: Status.OPTIMAL, 1: Status.INFEASIBLE, 2: Status.UNBOUNDED}


class HotLP:
    """The program min cost·x with row_lower ≤ A x ≤ row_upper and lower ≤ x ≤ upper, for
    repeated solves. The cost starts at 0.

    `solves`, `iterations`: so far. A has at least one column.
    """

    def __init__(
        self, A: sp.csr_array, row_lower: Floats, row_upper: Floats, lower: Floats, upper: Floats
    ) -> None:
        self.solves = self.iterations = 0
        self._hot = False
        self._A, entries = sp.csr_array(A), sp.coo_array(sp.csc_array(A))
        row, column = (
            np.append(at, last).astype(np.int32)
            for at, last in zip(entries.coords, (A.shape[0], A.shape[1] - 1), strict=True)
        )
        self._matrix = CyCoinPackedMatrix(True, row, column, np.append(entries.data.astype(float), 1.0))
        self._rows, self._columns = _ends(row_lower, row_upper), _ends(lower, upper)
        self._cost = np.zeros(A.shape[1])
        self._load()

    def set_cost(self, column: int, cost: float) -> None:
        self._cost[column] = cost
        self._clp.setObjectiveCoefficient(column, cost)

    def set_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        _set(
            self._columns, columns, _ends(lower, upper), (self._clp.setColumnLower, self._clp.setColumnUpper)
        )

    def set_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        _set(self._rows, rows, _ends(lower, upper), (self._clp.setRowLower, self._clp.setRowUpper))

    def at_zero(self) -> Basis:
        """A vertex near x = 0, which must be a point of the program. It depends on no earlier solve.

        Solves that take x as it is move the columns to a bound or into the basis, many of them at once.
        """
        self._load()
        self._clp.primalVariableSolution[:] = 0.0
        for column in np.linspace(0, len(self._cost) - 1, PULLS).astype(int).tolist():
            self.set_cost(column, -1.0)
            self._clp.primal(ifValuesPass=1, startFinishOptions="x")
            self.set_cost(column, 0.0)
            columns, rows = self._clp.getBasisStatus()
            if (columns != AT_NO_BOUND).all():
                break
        return columns, rows

    def restore(self, basis: Basis) -> None:
        """Makes the next solve start from this basis, independent of the solves in between."""
        self._load()
        self._clp.setBasisStatus(*basis)

    def solve(self) -> LPResult:
        """Goes on from the last solve, or from the restored basis."""
        with span("sdc.solve", solver="clp", rows=self._A.shape[0], columns=self._A.shape[1]) as tell:
            self._clp.primal(startFinishOptions="fx" if self._hot else "x")
            self._hot = True
            status, iterations = (
                STATUS.get(self._clp.getStatusCode(), Status.STOPPED),
                int(self._clp.iteration),
            )
            self.solves += 1
            count_lp()
            self.iterations += iterations
            tell(status=str(status), iterations=iterations)
        x, dual = np.array(self._clp.primalVariableSolution), np.array(self._clp.dualConstraintSolution)[:-1]
        found = LPResult(status, float(self._cost @ x), x, dual, self._cost - dual @ self._A)
        return (
            found
            if status is not Status.OPTIMAL or self._is_proven(found)
            else replace(found, status=Status.STOPPED)
        )

    def afresh(self) -> LPResult:
        """The same program solved from scratch by HiGHS, where the result of Clp cannot be relied on."""
        self.solves += 1
        return LiveLP(self._cost, self._A, *self._rows, *self._columns).solve()

    def _is_proven(self, found: LPResult) -> bool:
        """Do the multipliers prove that no point has a smaller cost (weak duality)?"""
        least = 0.0
        for price, (lower, upper) in ((found.dual, self._rows), (found.reduced, self._columns)):
            used = np.abs(price) > DUAL
            least += float(price[used] @ np.where(price > 0, lower, upper)[used])
        return abs(found.objective - least) <= OPTIMALITY * (1 + abs(found.objective))

    def _load(self) -> None:
        self._clp = CyClpSimplex()
        self._clp.logLevel = 0
        rows = (
            np.append(end, endless)
            for end, endless in zip(self._rows, (-CLP_INFINITY, CLP_INFINITY), strict=True)
        )
        self._clp.loadProblem(self._matrix, *self._columns, self._cost, *rows)
        self._hot = False


def _ends(lower: Floats, upper: Floats) -> Bounds:
    """Copies that say infinite as Clp does."""
    return np.maximum(lower, -CLP_INFINITY, dtype=float), np.minimum(upper, CLP_INFINITY, dtype=float)


def _set(known: Bounds, at: Ints, new: Bounds, setters: tuple[Callable[[int, float], None], ...]) -> None:
    """Sets what is new, and notes it."""
    for bound, value, setter in zip(known, new, setters, strict=True):
        for i in np.flatnonzero(bound[at] != value).tolist():
            setter(int(at[i]), float(value[i]))
        bound[at] = value
