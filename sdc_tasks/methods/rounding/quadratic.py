"""Random rounding with quadratic programming ([3] §3): sensitive cells are rounded, their neighbours
adjusted. Totals stay, but for those that would tell a sensitive cell.

1. Each sensitive cell goes to a multiple of the base b next to it, up or down. Where b divides the sum
   of all sensitive cells, the sum
   stays. Among the sets that the margins and the protection equations (2.8–2.11, see protection.py) allow,
   one of least distance is taken:

       √ Σ_s (x_s − a_s)²                                                                              (3.1)

2. The other cells are adjusted by as little as possible. Where the grand total stays, it fixes Σ x, so z
   = Σ x²/a − 1 (3.2) has the same
   minimum as (3.3); where it moves, (3.3) is what is minimised:

       min Σ_i (x_i − a_i)² / |a_i|   over   A x = rhs,   x_i whole,   lb ≤ x ≤ ub,   |x_i
       − a_i| ≤ b          (3.3), (3.4)

   An empty cell stays empty. On small tables, among sets of equal distance, the one whose
   adjustment costs least is taken, unless the base is too large for one model of both.
3. The attacker of (2.2) tries every sensitive cell. Violated equations are added, and the steps are repeated.

The quadratic relaxation shows where to look. A mixed-integer model with one piece for each integer step does
the rest: it is convex like the square and exact at integers, and its optimum is proven when no cell is at
the end of its pieces. The paper treats two dimensions. Here relations are arbitrary, with hierarchies. A
*margin* is a total that stays. Where a total is sensitive, it does not, nor do the totals beside it in any
relation, and beside those; nor does a total with a single part that is not empty, where that part does not
stay: it repeats that part, also where it is the grand total. Totals above them stay. Margins are printed
exactly, and everybody knows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import NAMED_CELLS, InvalidInput, Unprotectable
from sdc_tasks.methods.rounding.multiples import multiples
from sdc_tasks.methods.rounding.pieces import Pieces, nearest, squares
from sdc_tasks.methods.rounding.protection import (
    RoundingAttacker,
    RoundingVerdict,
    cells_too_wide,
    most_asked,
    necessary,
)
from sdc_tasks.methods.rounding.separable import SearchOptions, least_cost, relations
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import EXACT_BELOW, Bools, Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY, OPTIMALITY, SOLVER
from sdc_tasks.optimise import CutPool
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import Milp, MilpResult, solve_milp
from sdc_tasks.solver.qp import SeparableQP

QUADRATIC_ROUNDS = 100  # of rounding and attacking
WINDOW = 3  # steps around the relaxation with a piece each, twice as many each time these are not enough
# pieces above which the first of the nearest sets is adjusted, not the best of all that are as near; so it is
# where the base is too large for a model of both
LARGE = 10_000


@dataclass(frozen=True)
class QuadraticTable:
    """The verified table `x` (n,) of whole numbers. `cost` is Σ (x − a)²/|a| of the adjusted cells; `bound`
    is a lower bound of it, for any equally near set, or on large tables for this set.

    `set_distance` and `distance` are (3.1) of the sensitive cells and of the whole table, `z` is (3.2).
    `margin` cells (n,) stay, because they are margins, fixed or empty; `loose` (n,) are the totals that do
    not. `sum_kept`: the base divides the sum of the sensitive cells, and the sum did not change. `clock`:
    the time limit ended the search.
    """

    x: Floats = field(repr=False)
    base: float
    margin: Bools = field(repr=False)
    loose: Bools = field(repr=False)
    set_distance: float
    distance: float
    z: float
    cost: float
    bound: float
    sum_kept: bool
    optimal: bool
    clock: bool
    rounds: int
    verdict: RoundingVerdict = field(repr=False)


def distance(table: SensitiveTable, x: Floats) -> float:
    """(3.1)."""
    return float(np.sqrt(((x - table.a) ** 2).sum()))


def directed_distance(table: SensitiveTable, x: Floats) -> float:
    """(3.2) over the cells inside the table that are neither sensitive nor empty."""
    inner = ~table.totals & (table.a != 0)
    inner[table.primaries] = False
    return float((x[inner] ** 2 / table.a[inner]).sum()) - 1.0


def base_for(table: SensitiveTable) -> float:
    """The least whole base, of five digits at most, under which every sensitive cell can be rounded and keep
    its levels.

    If such a base of at most twice that divides the sum of the sensitive cells, the least one is returned.
    """
    _refuse(table)
    down, up, width = most_asked(table)
    widest = float(np.maximum((down + up) / 2, width / 2).max())
    step = 10.0 ** max(0, math.floor(math.log10(max(widest, 1.0))) - 4)
    total, least = float(table.a[table.primaries].sum()), 0.0
    base = max(2.0, float(np.ceil(widest / step)) * step)
    while not least or base <= 2 * least:
        if _allows(table, base):
            least = least or base
            if total % base == 0:
                return base
        base += step
    return least


def round_quadratic(
    table: SensitiveTable, base: float, search: SearchOptions, progress: Say = silent
) -> QuadraticTable:
    """The table of least distance that keeps all margins and levels. Totals that would tell
    a sensitive cell are no margins.

    Raises InvalidInput where values or the base are not whole, or nothing is sensitive;
    Unprotectable where no table is found.
    """
    _refuse(table)
    if not (base >= 2 and base == np.rint(base) and base < EXACT_BELOW):
        raise InvalidInput(f"base {base:g}: not a whole number above 1. Remedy: give a whole number above 1")
    if (tight := cells_too_wide(table, base)).size or not _allows(table, base):
        names = [
            table.name(int(i)) for i in (tight if tight.size else table.primaries[~_possible(table, base)])
        ]
        more = f" and {len(names) - NAMED_CELLS} more" if len(names) > NAMED_CELLS else ""
        raise Unprotectable(
            f"{', '.join(names[:NAMED_CELLS])}{more}: levels that no multiple of base {base:g} can keep. "
            f"Remedy: base {base_for(table):g} is the least that can"
        )
    return _Work(table, base, search, progress).run()


def margins(table: SensitiveTable) -> Bools:
    """(n,): the totals that stay. They are not sensitive, not beside a sensitive total, and not
    beside a total that is beside one.

    A total with a single part that is not empty repeats that part, and is as sensitive as it.
    """
    A, total = table.M, table.totals
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    sign = np.sign(A.data)
    alone = np.column_stack([np.bincount(row[sign == side], minlength=A.shape[0]) == 1 for side in (-1, 1)])
    head = (alone[row, 0] & (sign < 0)) | (
        alone[row, 1] & ~alone[row, 0] & (sign > 0)
    )  # the total of its relation
    part = sp.csr_array(
        (((table.a != 0)[A.indices] & ~head).astype(float), A.indices, A.indptr), shape=A.shape
    )
    above = sp.csr_array((head.astype(float), A.indices, A.indptr), shape=A.shape)
    single = part @ np.ones(A.shape[1]) == 1
    moved = np.zeros(len(total), dtype=bool)
    moved[table.primaries] = True
    while True:
        beside = total & (part.T @ (part @ (moved & total).astype(float)) > 0)
        over = above.T @ (single & (part @ moved.astype(float) > 0)).astype(float) > 0
        if not np.any((beside | over) & ~moved):
            return np.asarray(total & ~moved)
        moved |= beside | over


class _Work:
    """One table and one base: the columns are the sensitive cells, then those that are adjusted."""

    def __init__(self, table: SensitiveTable, base: float, search: SearchOptions, progress: Say) -> None:
        self.table, self.base, self.search, self.progress = table, base, search, progress
        a, S = table.a, table.primaries
        self.margin = margins(table) | table.fixed | (a == 0)
        self.margin[S] = False
        self.adjusted = np.setdiff1d(np.flatnonzero(~self.margin), S)
        self.floor, multiple = multiples(a[S], base)
        self.floor *= base
        lowest, highest = necessary(table, base)
        lowest, highest = np.maximum(lowest, table.lb[S]), np.minimum(highest, table.ub[S])
        self.first = np.where(self.floor >= lowest, 0.0, 1.0)
        self.last = np.where(~multiple & (self.floor + base <= highest), 1.0, 0.0)
        self.cost = np.where(multiple, 0.0, (self.floor + base - a[S]) ** 2 - (self.floor - a[S]) ** 2)
        self.weight = 1 / np.abs(a[self.adjusted])
        adjusted = a[self.adjusted]
        self.lower = np.maximum(np.ceil(table.lb[self.adjusted]) - adjusted, -base)
        self.upper = np.minimum(np.floor(table.ub[self.adjusted]) - adjusted, base)
        columns = sp.csc_array(table.M)
        self.A_set, self.A_adjusted = (
            sp.csr_array(columns[:, S] * base),
            sp.csr_array(columns[:, self.adjusted]),
        )
        self.right = -(columns[:, S] @ (self.floor - a[S]))
        self.pool = CutPool(len(a))
        # A solver that takes 1e-6 for 0 cannot see steps beside such a base. Then sets are chosen in units of
        # the base, and told from each other by their cells: their distances have too many digits.
        self.apart = base * INTEGRALITY > 0.5
        self.unit = base if self.apart else 1.0
        self.tried: list[Floats] = []

    def run(self) -> QuadraticTable:
        table, base, a = self.table, self.base, self.table.a
        half = np.where(self.margin, 0.0, base)
        attacker = RoundingAttacker(table, half, base)
        total = a[table.primaries].sum()
        keep_sum = bool(total % base == 0)
        beyond = -np.inf
        for rounds in range(1, QUADRATIC_ROUNDS + 1):
            chosen = self._nearest_set(keep_sum, beyond)
            if chosen is None:
                if not keep_sum or self.left <= 0:
                    break
                keep_sum, beyond = False, -np.inf
                self.progress("no set of multiples keeps the sum of the sensitive cells: the sum may change")
                continue
            found = self._adjust(chosen, keep_sum, beyond)
            if found is None:  # no whole table for a set as near as this: the next one
                self.tried.append(chosen)
                beyond = float(np.rint(self.cost @ chosen)) + 1
                continue
            y, z, bound, optimal = found
            x = a.copy()
            x[table.primaries] = self.floor + base * y
            x[self.adjusted] += z
            verdict = attacker.judge(x, self.search.clock)
            exposed = int((~verdict.protected).sum())
            self.progress(
                f"round {rounds}: distance {distance(table, x):.4g}, {exposed} sensitive cells not protected"
            )
            if verdict.protected.all():
                self._check(x)
                return QuadraticTable(
                    x,
                    base,
                    self.margin,
                    table.totals & ~self.margin,
                    float(np.sqrt(((x - a)[table.primaries] ** 2).sum())),
                    distance(table, x),
                    directed_distance(table, x),
                    float(self.weight @ z**2),
                    bound,
                    keep_sum,
                    optimal,
                    not optimal and not self.apart,
                    rounds,
                    verdict,
                )
            if not len(verdict.cuts) or self.left <= 0:
                break
            self.pool.add(verdict.cuts)
            beyond = -np.inf
        reason = (
            "time ran out" if self.left <= 0 else f"margins, bounds and levels allow none{self.search.within}"
        )
        raise Unprotectable(
            f"no table with sensitive cells rounded to base {base:g}: {reason}. Remedy: choose another base, "
            f"or more time"
        )

    @property
    def left(self) -> float:
        return self.search.clock.left

    def _nearest_set(self, keep_sum: bool, beyond: float) -> Floats | None:
        """Up (1) or down (0) for each sensitive cell: the least distance that is at least `beyond`;
        the other cells may be fractional.
        """
        k, m = len(self.cost), len(self.adjusted)
        spread = sp.eye_array(m, format="csr") * self.unit
        rows = self._rows(keep_sum, beyond, np.inf, spread, np.zeros(m))
        model = Milp(
            np.concatenate([self.cost, np.zeros(m)]), *rows,
            np.concatenate([self.first, self.lower / self.unit]),
            np.concatenate([self.last, self.upper / self.unit]), np.arange(k),
        )  # fmt: skip
        x = self._solve(model, 0.0).x
        return None if x is None else np.rint(x[:k])

    def _adjust(
        self, chosen: Floats, keep_sum: bool, beyond: float
    ) -> tuple[Floats, Floats, float, bool] | None:
        """(set, adjustment, bound on its cost, whether proven) of least cost."""
        if self.apart:
            return self._nearest_whole(chosen)
        (centre, _), reach = self._relaxed(chosen), WINDOW
        best: tuple[Floats, Floats, float, bool] | None = None
        while True:
            pieces = squares(centre, self.weight, self.lower, self.upper, reach)
            found = (
                self._for_set(chosen, pieces)
                if len(pieces.slope) > LARGE
                else self._for_sets(chosen, keep_sum, beyond, pieces)
            )
            if found is None:
                return best
            y, z, bound, optimal = found
            inside = bool((np.abs(z - pieces.origin) <= reach + SOLVER).all())
            if np.array_equal(z, np.rint(z)):
                best = y, z, min(bound, float(self.weight @ z**2)), optimal and inside
            if inside or self.left <= 0:
                return best
            centre, reach = z, 2 * reach

    def _nearest_whole(self, chosen: Floats) -> tuple[Floats, Floats, float, bool] | None:
        """For the chosen set alone, and steps so small that a solver cannot tell their costs: whole numbers
        beside the relaxed adjustment, whose cost is the bound.
        """
        centre, bound = self._relaxed(chosen)
        found = self._for_set(chosen, nearest(centre, self.weight * self.unit, self.lower, self.upper))
        if found is None:
            return None
        cost = float(self.weight @ found[1] ** 2)
        return chosen, found[1], min(bound, cost), cost - bound <= OPTIMALITY * cost

    def _for_set(self, chosen: Floats, pieces: Pieces) -> tuple[Floats, Floats, float, bool] | None:
        """For the chosen set alone."""
        rows = relations(self.A_adjusted, self.right - self.A_set @ chosen)
        if len(self.pool.right):
            a = self.table.a.copy()
            a[self.table.primaries] = self.floor + self.base * chosen
            cuts, right = self.pool.rows, self.pool.right
            of_adjusted = sp.csr_array(sp.csc_array(cuts)[:, self.adjusted])
            rows = relations(rows.A, rows.lower, of_adjusted, right * self.base - cuts @ a)
        found = least_cost(pieces, rows, self.search, self.progress)
        return None if found.k is None else (chosen, found.k, found.bound, found.status is Status.OPTIMAL)

    def _for_sets(
        self, chosen: Floats, keep_sum: bool, beyond: float, pieces: Pieces
    ) -> tuple[Floats, Floats, float, bool] | None:
        """For all sets as near as the chosen one."""
        k, m = len(self.cost), len(self.adjusted)
        count = len(pieces.column)
        spread = sp.csr_array((np.ones(count), (pieces.column, np.arange(count))), shape=(m, count))
        rows = self._rows(keep_sum, beyond, float(np.rint(self.cost @ chosen)), spread, pieces.origin)
        model = Milp(
            np.concatenate([np.zeros(k), pieces.slope]), *rows, np.concatenate([self.first, pieces.lower]),
            np.concatenate([self.last, pieces.upper]), np.concatenate([np.arange(k), k + pieces.binary]),
        )  # fmt: skip
        result = self._solve(model, self.search.gap)
        if result.x is None:
            return None
        z = pieces.value(result.x[k:])
        near = np.abs(z - np.rint(z)) <= SOLVER * self.base
        bound = 0.0 if result.bound is None else max(0.0, result.bound + pieces.constant)
        return np.rint(result.x[:k]), np.where(near, np.rint(z), z), bound, result.status is Status.OPTIMAL

    def _solve(self, model: Milp, gap: float) -> MilpResult:
        return solve_milp(
            model, self.search.solver, max(self.left, 0.1), gap, self.search.nodes, watch=self.search.watch
        )

    def _relaxed(self, chosen: Floats) -> tuple[Floats, float]:
        """The fractional quadratic adjustment for one set, without protection equations, and a bound on its
        cost: a start for the search.
        """
        m = len(self.adjusted)
        if not m:
            return np.zeros(0), 0.0
        right = (self.right - self.A_set @ chosen) / self.unit
        used = np.flatnonzero(np.diff(self.A_adjusted.indptr))
        program = SeparableQP(sp.csr_array(self.A_adjusted[used]), right[used])
        ends = self.lower / self.unit, self.upper / self.unit
        found = program.solve(2 * self.weight * self.unit, np.zeros(m), *ends, np.zeros(len(used)))
        return np.clip(found.x * self.unit, self.lower, self.upper), found.bound * self.unit

    def _rows(
        self, keep_sum: bool, beyond: float, near: float, spread: sp.csr_array, origin: Floats
    ) -> tuple[sp.csr_array, Floats, Floats]:
        """Relations, cuts, distance and sum over the set and columns u with adjustment = origin +
        spread · u.
        """
        k, S, unit = len(self.cost), self.table.primaries, self.unit
        cuts = self.pool.rows
        of_set = sp.csr_array(sp.csc_array(cuts)[:, S])
        of_adjusted = sp.csr_array(sp.csc_array(cuts)[:, self.adjusted] * (1 / self.base))
        a = self.table.a.copy()
        a[S] = self.floor
        cut_right = self.pool.right - np.asarray(cuts @ a) / self.base - np.asarray(of_adjusted @ origin)
        ups = np.rint((self.table.a[S].sum() - self.floor.sum()) / self.base)
        sets = [(self.cost, beyond - 0.5, near + 0.5)]
        if self.apart:  # at least one cell of each set that was tried goes the other way
            sets = [(1 - 2 * each, 1 - float(each.sum()), np.inf) for each in self.tried]
        sets.append((np.ones(k), ups if keep_sum else -np.inf, ups if keep_sum else np.inf))
        parts = [
            sp.csr_array(self.A_adjusted @ spread) / unit,
            sp.csr_array(of_adjusted @ spread),
            sp.csr_array((len(sets), spread.shape[1])),
        ]
        beside = sp.vstack(parts, format="csr")
        of_sets = sp.vstack(
            [self.A_set / unit, of_set, sp.csr_array(np.array([row for row, _, _ in sets]))], format="csr"
        )
        rows = sp.hstack([of_sets, beside], format="csr")
        right = (self.right - self.A_adjusted @ origin) / unit
        lower = np.concatenate([right, cut_right, [low for _, low, _ in sets]])
        upper = np.concatenate([right, np.full(len(cut_right), np.inf), [high for _, _, high in sets]])
        return sp.csr_array(rows), lower, upper

    def _check(self, x: Floats) -> None:
        """Checks the table by plain arithmetic. A failure is a defect of this program, not of the input."""
        table, base = self.table, self.base
        wrong = (
            (x != np.rint(x), "not whole"),
            (table.M @ (x - table.a) != 0, "not additive"),
            ((x != table.a) & self.margin, "a margin that moved"),
            (x[table.primaries] % base != 0, "no multiple of the base"),
            ((np.abs(x - table.a) > base) | (x < table.lb) | (x > table.ub), "outside its bounds"),
        )
        for mask, what in wrong:
            if np.any(mask):
                raise RuntimeError(f"quadratic rounding: {what}")


def _refuse(table: SensitiveTable) -> None:
    if not len(table.primaries):
        raise InvalidInput(
            "no cell is sensitive: there is nothing to round. Remedy: mark primary cells (status u) and give "
            "their levels"
        )
    stuck = np.flatnonzero(table.primary & table.fixed)
    if len(stuck):
        raise InvalidInput(f"{_named(table, stuck)}: fixed and sensitive. Remedy: let them move")
    wrong = np.flatnonzero((table.a != np.rint(table.a)) | (np.abs(table.a) >= EXACT_BELOW))
    if len(wrong):
        raise InvalidInput(
            f"{_named(table, wrong)}: not whole numbers. Remedy: give the table in a unit in which all "
            "values are whole"
        )


def _named(table: SensitiveTable, cells: Ints) -> str:
    names = ", ".join(table.name(int(i)) for i in cells[:NAMED_CELLS])
    return f"{names} and {max(0, len(cells) - NAMED_CELLS)} more"


def _allows(table: SensitiveTable, base: float) -> bool:
    return not cells_too_wide(table, base).size and bool(_possible(table, base).all())


def _possible(table: SensitiveTable, base: float) -> Bools:
    """Sensitive cells for which a multiple next to the true value keeps the levels by its own interval."""
    a = table.a[table.primaries]
    down, multiple = multiples(a, base)
    lowest, highest = necessary(table, base)
    lowest, highest = (
        np.maximum(lowest, table.lb[table.primaries]),
        np.minimum(highest, table.ub[table.primaries]),
    )
    found = np.zeros(len(a), dtype=bool)
    for k in (down, np.where(multiple, down, down + 1)):
        found |= (k * base >= lowest) & (k * base <= highest)
    return found
