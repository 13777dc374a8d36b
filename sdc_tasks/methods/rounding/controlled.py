"""Controlled rounding: every cell of an additive table becomes a multiple of one base, and the table
still adds up ([2] §3; [3] §1).

    min Σ_i w_i |x_i − a_i|   over   A x = rhs,   x_i / b whole,   |x_i − a_i| ≤ s · b,   ⌊lb_i⌋
    ≤ x_i ≤ ⌈ub_i⌉ in multiples of b

`b` is the base and `s` the reach: 1 means a nearest or next-nearest multiple; a larger reach is tried only if
a smaller one gives no table. In the zero-restricted variant a cell that is already a multiple stays, and all
other cells move by less than s · b. Cuts keep the protection levels of primary cells (protection.py): the
model is solved, attacked, and solved again with the broken protection equations (Salazar's model, with which
[3] compares). Lone respondents attack too where a table tells them. In two dimensions without levels, the
relaxation is integral and the first solution is exact.

The reach s is public, and so is that the truth lies within s · b of the printed value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.errors import InvalidInput, Unprotectable, and_more, some_of
from sdc_tasks.methods.rounding.multiples import multiples
from sdc_tasks.methods.rounding.pieces import nearest
from sdc_tasks.methods.rounding.protection import RoundingAttacker, RoundingVerdict, cells_too_wide, necessary
from sdc_tasks.methods.rounding.separable import Found, SearchOptions, least_cost, relations
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import SAME
from sdc_tasks.optimise import CutPool
from sdc_tasks.solver.lp import Status

CONTROLLED_ROUNDS = 200  # of solving and attacking


@dataclass(frozen=True)
class TableOptions:
    """`reach`: how many multiples of the base a cell may move at most; `weights` (n,) of the cells,
    1 by default. Raises ValueError.
    """

    base: float
    search: SearchOptions
    zero_restricted: bool = False
    reach: int = 4
    weights: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.base) and self.base > 0):
            raise ValueError("a base is above 0")
        if self.reach < 1:
            raise ValueError("a cell may move by one multiple at least")


@dataclass(frozen=True)
class ControlledTable:
    """The verified rounded table `x` (n,). `distance` is Σ w|x − a|, `bound` a proven lower bound of
    it, `reach` the s of the table.

    `clock`: the time limit ended the search. `verdict` is None where nothing is primary;
    `rounds` counts the attacked tables.
    """

    x: Floats = field(repr=False)
    base: float
    reach: int
    distance: float
    bound: float
    optimal: bool
    clock: bool
    rounds: int
    verdict: RoundingVerdict | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        return max(0.0, (self.distance - self.bound) / self.distance) if self.distance > 0 else 0.0


def round_table(table: SensitiveTable, options: TableOptions, progress: Say = silent) -> ControlledTable:
    """The closest table of multiples that keeps all levels.

    Raises InvalidInput where a relation's sum or a fixed cell is no multiple of the base, and
    Unprotectable where no reach gives a table.
    """
    base = options.base
    rhs, whole = multiples(table.rhs, base)
    if not whole.all():
        row = int(np.flatnonzero(~whole)[0])
        raise InvalidInput(
            f"relation {row}: its sum is no multiple of the base. Remedy: add the sum as a cell, or choose "
            f"another base"
        )
    _, multiple = multiples(table.a, base)
    if (stuck := np.flatnonzero(table.fixed & ~multiple)).size:
        names = some_of([table.name(int(i)) for i in stuck])
        raise InvalidInput(f"{names}: fixed, but not multiples of the base. Remedy: let them move")
    clock, reason = False, ""
    for reach in range(1, options.reach + 1):
        if (tight := cells_too_wide(table, reach * base)).size:
            reason = (
                f"{table.name(int(tight[0]))}{and_more(len(tight) - 1)}: a wider interval is needed "
                f"than the base gives"
            )
            continue
        found = _at_reach(table, options, reach, rhs, progress)
        if isinstance(found, ControlledTable):
            return replace(found, clock=found.clock or clock)
        clock |= found.clock
        reason = (
            "time ran out"
            if found.clock
            else f"no table of multiples keeps all relations, bounds and levels{options.search.within}"
        )
        progress(f"nothing within {reach} × the base: {reason}")
    raise Unprotectable(
        f"no rounded table within {options.reach} × the base: {reason}. Remedy: choose a larger base, a "
        f"wider reach, or more time"
    )


def _at_reach(
    table: SensitiveTable, options: TableOptions, reach: int, rhs: Floats, progress: Say
) -> ControlledTable | Found:
    """The table within a reach, or the result of the search that found none."""
    base, n = options.base, len(table.a)
    target = table.a / base
    weights = np.ones(n) if options.weights is None else options.weights
    lower, upper = _ends(table, options, reach)
    half = np.where(table.fixed, 0.0, reach * base)
    lowest, highest = necessary(table, reach * base)
    p = table.primaries
    lower[p] = np.maximum(lower[p], np.ceil(lowest / base - SAME))
    upper[p] = np.minimum(upper[p], np.floor(highest / base + SAME))
    if (lower > upper).any():
        return Found(Status.INFEASIBLE, None)
    attacker = RoundingAttacker(table, half, base) if len(p) else None
    pool = CutPool(n)
    target = np.where(
        np.abs(target - np.rint(target)) <= SAME * np.maximum(1.0, np.abs(target)),
        np.rint(target),
        target,
    )
    pieces = nearest(target, weights, lower, upper)
    for rounds in range(1, CONTROLLED_ROUNDS + 1):
        found = least_cost(pieces, relations(table.M, rhs, pool.rows, pool.right), options.search, progress)
        if found.k is None:
            return found
        x = found.k * base
        verdict = None if attacker is None else attacker.judge(x, options.search.clock)
        if verdict is None or verdict.protected.all():
            _check(table, x, options, reach)
            return ControlledTable(
                x, base, reach, float(weights @ np.abs(x - table.a)), found.bound * base,
                found.status is Status.OPTIMAL and not found.clock, found.clock, rounds, verdict,
            )  # fmt: skip
        late = options.search.clock.left <= 0
        if not len(verdict.cuts) or late:
            return Found(Status.STOPPED, None, clock=late)
        progress(
            f"attack {rounds}: {int((~verdict.protected).sum())} of {len(verdict.protected)} requirements "
            f"not kept, {len(verdict.cuts)} cuts"
        )
        pool.add(verdict.cuts)
    return Found(Status.STOPPED, None)


def _ends(table: SensitiveTable, options: TableOptions, reach: int) -> tuple[Floats, Floats]:
    """The lowest and the highest multiple of each cell, in units of the base."""
    base = options.base
    down, multiple = multiples(table.a, base)
    up = np.where(multiple, down, down + 1)
    lower, upper = up - reach, down + reach  # |x − a| ≤ reach · base
    if options.zero_restricted:
        lower, upper = np.where(multiple, down, lower), np.where(multiple, down, upper)
    lower = np.maximum(lower, np.floor(table.lb / base + SAME))
    upper = np.minimum(upper, np.ceil(table.ub / base - SAME))
    return np.where(table.fixed, down, lower), np.where(table.fixed, down, upper)


def _check(table: SensitiveTable, x: Floats, options: TableOptions, reach: int) -> None:
    """Checks the table by plain arithmetic. A failure is a defect of this program, not of the input."""
    base, k = options.base, np.rint(x / options.base)
    size = abs(table.M) @ np.abs(k) + 1
    noise = SAME * (np.abs(table.a) + base)
    _, multiple = multiples(table.a, base)
    wrong: tuple[tuple[Bools | Ints, str], ...] = (
        (np.abs(k * base - x) > noise, "no multiple of the base"),
        (np.abs(table.M @ k - table.rhs / base) > SAME * size, "not additive"),
        (np.abs(x - table.a) > reach * base + noise, "further from the truth than its reach"),
        (
            (x < np.floor(table.lb / base + SAME) * base) | (x > np.ceil(table.ub / base - SAME) * base),
            "outside its bounds",
        ),
        ((x != table.a) & table.fixed & (np.abs(x - table.a) > noise), "fixed and moved"),
        (multiple & (np.abs(x - table.a) > noise) & options.zero_restricted, "a multiple that moved"),
    )
    for mask, what in wrong:
        if np.any(mask):
            raise RuntimeError(f"controlled rounding: {what}")
