"""A linear program that stays in memory inside HiGHS: costs and bounds change, the basis is kept.

One thread, fixed seed: the same calls give the same bytes. Callers scale their models (values near 1) and
check the results: a status is what the solver says, not a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import highspy
import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import SolverRefused
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import ZERO
from sdc_tasks.quiet import made_quietly
from sdc_tasks.solver.tally import count_lp
from sdc_tasks.solver_api import asked
from sdc_tasks.telemetry import span

Basis = highspy.HighsBasis  # where a solve ended, for `LiveLP.restore`


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"  # stopped by a limit with a usable point
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    STOPPED = "stopped"  # stopped by a limit with nothing usable
    DIED = "died"  # its process was killed by others

    @property
    def has_point(self) -> bool:
        return self in {Status.OPTIMAL, Status.FEASIBLE}


@dataclass(frozen=True)
class LPResult:
    """The result of a solve: `x` (columns,), multipliers `dual` (rows,) and `reduced` costs (columns,).

    Multipliers and reduced costs are d objective / d (active bound).
    """

    status: Status
    objective: float = field(repr=False)
    x: Floats = field(repr=False)
    dual: Floats = field(repr=False)
    reduced: Floats = field(repr=False)


STATUS = {
    highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
    highspy.HighsModelStatus.kModelEmpty: Status.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kUnbounded: Status.UNBOUNDED,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.INFEASIBLE,
}


def quiet_highs() -> highspy.Highs:
    """A silent single-threaded HiGHS with a fixed seed."""
    highs = made_quietly(highspy.Highs)
    highs.silent()
    asked(highs.setOptionValue, "threads", 1)
    asked(highs.setOptionValue, "random_seed", 1)
    return highs


def ran(highs: highspy.Highs) -> highspy.HighsModelStatus:
    """Runs. What HiGHS has after a run that failed is no result, whatever the model's status says."""
    failed = highs.run() == highspy.HighsStatus.kError
    return highspy.HighsModelStatus.kSolveError if failed else highs.getModelStatus()


def as_numbers(numbers: Floats) -> Floats:
    """Costs or coefficients as HiGHS takes them. Raises SolverRefused for one that is not finite: HiGHS calls
    such a model optimal.
    """
    numbers = np.asarray(numbers, dtype=float)
    if not np.isfinite(numbers).all():
        raise SolverRefused("a cost or a coefficient is not finite. This is a defect of the program")
    return numbers


def _are_small(A: sp.csr_array) -> Bools:
    """(entries,): those that HiGHS leaves out, but for zeros."""
    return np.asarray((np.abs(A.data) <= ZERO) & (A.data != 0))


def without_small(
    A: sp.csr_array, row_lower: Floats, row_upper: Floats, lower: Floats, upper: Floats
) -> tuple[sp.csr_array, Floats, Floats]:
    """(rows, their lower and upper ends) without entries up to `ZERO`, which HiGHS leaves out with a warning:
    each row is weakened by the most that these can add within the bounds of the columns. So no point is cut
    off, and what a row proves it still proves.
    """
    if not _are_small(A).any():
        return A, row_lower, row_upper
    A = sp.csr_array(A, copy=True)  # by rows, whatever it was
    small = _are_small(A)
    row, column = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[small], A.indices[small]
    ends = np.array([A.data[small] * lower[column], A.data[small] * upper[column]])
    row_lower, row_upper = np.array(row_lower, dtype=float), np.array(row_upper, dtype=float)
    np.subtract.at(row_lower, row, ends.max(axis=0))
    np.subtract.at(row_upper, row, ends.min(axis=0))
    A.data[small] = 0.0
    A.eliminate_zeros()
    return A, row_lower, row_upper


def highs_lp(
    cost: Floats, A: sp.csr_array, row_lower: Floats, row_upper: Floats, lower: Floats, upper: Floats
) -> highspy.HighsLp:
    """The program min cost·x with row_lower ≤ A x ≤ row_upper and lower ≤ x ≤ upper, as an object
    of HiGHS, with its rows `without_small` entries.
    """
    model = highspy.HighsLp()
    A, row_lower, row_upper = without_small(A, row_lower, row_upper, lower, upper)
    by_column = sp.csc_array(A)
    model.num_col_, model.num_row_ = by_column.shape[1], by_column.shape[0]
    model.col_cost_ = as_numbers(cost)
    model.col_lower_, model.col_upper_ = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    model.row_lower_, model.row_upper_ = (
        np.asarray(row_lower, dtype=float),
        np.asarray(row_upper, dtype=float),
    )
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = by_column.indptr.astype(np.int32)
    model.a_matrix_.index_ = by_column.indices.astype(np.int32)
    model.a_matrix_.value_ = as_numbers(by_column.data)
    return model


class LiveLP:
    """The program min cost·x with row_lower ≤ A x ≤ row_upper and lower ≤ x ≤ upper, for repeated solves."""

    def __init__(
        self,
        cost: Floats,
        A: sp.csr_array,
        row_lower: Floats,
        row_upper: Floats,
        lower: Floats,
        upper: Floats,
    ) -> None:
        self.solves = self.iterations = (
            0  # simplex iterations: effort in a measure that is the same on every machine
        )
        self._highs = quiet_highs()
        asked(self._highs.setOptionValue, "presolve", "off")
        asked(self._highs.passModel, highs_lp(cost, A, row_lower, row_upper, lower, upper))

    def set_cost(self, columns: Ints, cost: Floats) -> None:
        asked(self._highs.changeColsCost, len(columns), columns.astype(np.int32), as_numbers(cost))

    def set_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        asked(
            self._highs.changeColsBounds,
            len(columns),
            columns.astype(np.int32),
            np.asarray(lower, dtype=float),
            np.asarray(upper, dtype=float),
        )

    def set_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        asked(
            self._highs.changeRowsBounds,
            len(rows),
            rows.astype(np.int32),
            np.asarray(lower, dtype=float),
            np.asarray(upper, dtype=float),
        )

    def add_rows(self, A: sp.csr_array, lower: Floats, upper: Floats) -> None:
        """Appends rows. The basis stays, so the next solve only repairs it.

        HiGHS leaves out entries up to `ZERO`: such rows are weakened by the most that these can add within
        the bounds of the columns, so that what a cut proves, it still proves.
        """
        if _are_small(A).any():
            model = self._highs.getLp()
            columns = np.asarray(model.col_lower_, dtype=float), np.asarray(model.col_upper_, dtype=float)
            A, lower, upper = without_small(A, lower, upper, *columns)
        asked(
            self._highs.addRows,
            A.shape[0], np.asarray(lower, dtype=float), np.asarray(upper, dtype=float), A.nnz,
            A.indptr[:-1].astype(np.int32), A.indices.astype(np.int32), A.data.astype(float),
        )  # fmt: skip

    def limit(self, seconds: float) -> None:
        """Limits the time of each later solve. A solve that reaches the limit returns no point."""
        asked(
            self._highs.setOptionValue,
            "time_limit",
            self._highs.getRunTime() + seconds if np.isfinite(seconds) else np.inf,
        )

    def method(self, name: str) -> None:
        """Sets the simplex method: "primal" after a change of costs (the point stays feasible), "dual"
        after a change of bounds or rows.
        """
        asked(self._highs.setOptionValue, "simplex_strategy", {"dual": 1, "primal": 4}[name])

    def unscaled(self) -> None:
        """Switches scaling off: a matrix of ±1 needs none."""
        asked(self._highs.setOptionValue, "simplex_scale_strategy", 0)

    def interior(self) -> None:
        """Switches to an interior point method without crossover: points in the interior, no
        basis, no gain from a warm start.
        """
        for name, value in (
            ("solver", "ipx"),
            ("run_crossover", "off"),
            ("presolve", "on"),
            ("ipm_iteration_limit", 200),
        ):
            asked(self._highs.setOptionValue, name, value)

    def basis(self) -> Basis:
        """The basis of the last solve, for `restore`."""
        basis: Basis = self._highs.getBasis()
        return basis

    def restore(self, basis: Basis) -> None:
        """Makes the next solve start from this basis, independent of the solves in between."""
        asked(self._highs.clearSolver)  # no other state of earlier solves may matter
        if basis.valid:  # where a solve ended without one, the next starts from scratch
            asked(self._highs.setBasis, basis)

    def solve(
        self, fresh: bool = False, patience: int | None = None, reduced: bool = True, most: int | None = None
    ) -> LPResult:
        """Solves from the basis of the last solve. It solves from scratch when `fresh` is set, after
        `patience` iterations, or when the warm start finds no optimum.

        `reduced`: also return the reduced costs, which takes time. `most`: iterations after which
        it gives up and returns no point.
        """
        if fresh:
            asked(self._highs.clearSolver)
        status = (
            self._run(patience, again=not fresh or patience is not None) if most is None else self._try(most)
        )
        info, solution = self._highs.getInfo(), self._highs.getSolution()
        if (
            status is Status.STOPPED
            and info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        ):
            status = Status.FEASIBLE
        return LPResult(
            status=status,
            objective=float(info.objective_function_value),
            x=np.array(solution.col_value),
            dual=np.array(solution.row_dual),
            reduced=np.array(solution.col_dual if reduced else ()),
        )

    def objective(self, most: float = np.inf, fresh: bool = False) -> float:
        """Solves, and returns the optimal value only; infinite where there is no optimum or time ran out.

        `most`: the dual simplex stops as soon as the optimum is known to be larger, and the value is
        infinite. `fresh`: from scratch.
        """
        if fresh:
            asked(self._highs.clearSolver)
        if np.isinf(most):
            return self._value(self._run(again=not fresh))
        asked(self._highs.setOptionValue, "objective_bound", most)
        status = self._try(highspy.kHighsIInf)
        asked(self._highs.setOptionValue, "objective_bound", np.inf)
        value = self._value(status)
        return (
            value if value <= most else np.inf
        )  # it may also end at an optimum without having looked at the limit

    def _value(self, status: Status) -> float:
        return float(self._highs.getInfo().objective_function_value) if status is Status.OPTIMAL else np.inf

    def _try(self, most: int) -> Status:
        return self._spanned(lambda: self._limited(most))

    def _run(self, patience: int | None = None, again: bool = True) -> Status:
        return self._spanned(lambda: self._patient(patience, again))

    def _spanned(self, solve: Callable[[], Status]) -> Status:
        with span(
            "sdc.solve", solver="highs-lp", rows=self._highs.getNumRow(), columns=self._highs.getNumCol()
        ) as tell:
            before = self.iterations
            status = solve()
            tell(status=str(status), iterations=self.iterations - before)
        return status

    def _limited(self, most: int) -> Status:
        self.solves += 1
        count_lp()
        asked(self._highs.setOptionValue, "simplex_iteration_limit", most)
        model = ran(self._highs)
        asked(self._highs.setOptionValue, "simplex_iteration_limit", highspy.kHighsIInf)
        self.iterations += max(0, self._highs.getInfo().simplex_iteration_count)
        return STATUS.get(model, Status.STOPPED)

    def _patient(self, patience: int | None, again: bool) -> Status:
        self.solves += 1
        count_lp()
        most = highspy.kHighsIInf if patience is None else patience
        asked(self._highs.setOptionValue, "simplex_iteration_limit", most)
        model = ran(self._highs)
        asked(self._highs.setOptionValue, "simplex_iteration_limit", highspy.kHighsIInf)
        self.iterations += max(0, self._highs.getInfo().simplex_iteration_count)
        if again and STATUS.get(model) is not Status.OPTIMAL and model != highspy.HighsModelStatus.kTimeLimit:
            asked(self._highs.clearSolver)
            model = ran(self._highs)
            self.iterations += max(0, self._highs.getInfo().simplex_iteration_count)
        return STATUS.get(model, Status.STOPPED)
