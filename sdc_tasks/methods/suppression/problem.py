"""The cell suppression problem of [2] §4, eq. 5–7, for any additive table.

Cells `a` (n) with relations `M a = rhs`. A pattern y ∈ {0, 1}ⁿ hides cells; y = 1 on the
primaries. The attacker knows the hidden cells to lie in [lb, ub], and reads all others. With
deviations z = x − a he considers

    Z(y) = { z : M z = 0,  (lb_i − a_i) y_i ≤ z_i ≤ (ub_i − a_i) y_i }

and a pattern is *safe* if for every primary p

    max z_p ≥ upl_p,   min z_p ≤ −lpl_p,   max z_p − min z_p ≥ spl_p      over Z(y),

against everybody whom the level is to keep away (`Layer`): the level of the largest contributor against all
others, and those of the next ones (`beside`), each against all but himself.

Cell suppression is min Σ cost_i y_i over the safe patterns; the primaries themselves cost nothing.

A requirement beyond an external bound is cut at the bound (METHOD §2). `fixed` cells always stay open: empty
cells that are public zeros, cells that were published before. A `singleton` primary has one respondent, who
knows the cell; all of them may collude against another one ([2] eq. 9): respondents.py.
Units are those of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.contributions import Behind
from sdc_tasks.methods.suppression.grid import Grid
from sdc_tasks.methods.suppression.respondents import NOBODY, guards_of, respondents_of
from sdc_tasks.model.table import Bools, Floats, Ints, read_only

ADDITIVE = 1e-6  # allowed miss of a relation, as a share of its largest value
MASKS = ("primary", "fixed", "singleton")
NUMBERS = ("a", "lb", "ub", "lpl", "upl", "spl", "cost")


@dataclass(frozen=True)
class Layer:
    """(n) each: how far every primary must rise and fall, and both together, and whom that protects, numbered
    as `respondents`; cut at the bounds, 0 where nothing is asked.
    """

    up: Floats = field(repr=False)
    down: Floats = field(repr=False)
    width: Floats = field(repr=False)
    guards: Ints = field(repr=False)

    @property
    def most(self) -> Floats:
        """(n): the largest of the three."""
        return np.asarray(np.maximum(np.maximum(self.up, self.down), self.width))


@dataclass(frozen=True)
class SuppressionProblem:
    """One table, its primary cells and their protection levels. All arrays have one entry for each of the n
    cells.

    `lpl`, `upl`, `spl` are distances ≥ 0, used for `primary` cells only. `label` names a cell in
    messages. `grid`: where each cell stands, if the table is known to be crossed from dimensions.
    `respondent`: a number for who stands behind a singleton, −1 where unknown; `guarded`: the same for
    whom the level of a cell protects. `count`: contributors, of whom a pattern hides at least `minimum`
    together (pattern/enough.py). `beside`, `beside_guarded` (m, n): levels, the same on both sides, that
    keep all others from further contributors of a cell, and who these are; 0 where there is none.
    `behind`: who contributes what, by which sums of hidden cells are judged (pattern/sums.py);
    `by_rules`: whether rules on contributions found the primaries. Raises InvalidInput if the table
    contradicts itself; no message contains a value.
    """

    M: sp.csr_array = field(repr=False)
    a: Floats = field(repr=False)
    lb: Floats = field(repr=False)
    ub: Floats = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    spl: Floats = field(repr=False)
    cost: Floats = field(repr=False)
    primary: Bools = field(repr=False)
    fixed: Bools = field(repr=False)
    rhs: Floats | None = field(default=None, repr=False)
    singleton: Bools | None = field(default=None, repr=False)
    label: Callable[[int], str] | None = field(default=None, repr=False, compare=False)
    grid: Grid | None = field(default=None, repr=False, compare=False)
    respondent: Ints | None = field(default=None, repr=False)
    guarded: Ints | None = field(default=None, repr=False)
    count: Floats | None = field(default=None, repr=False)
    minimum: int = 0
    beside: Floats | None = field(default=None, repr=False)
    beside_guarded: Ints | None = field(default=None, repr=False)
    behind: Behind | None = field(default=None, repr=False, compare=False)
    by_rules: bool = False

    def __post_init__(self) -> None:
        for name in NUMBERS:
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=float)))
        if self.singleton is None:
            object.__setattr__(self, "singleton", np.zeros(len(self.a), dtype=bool))
        for name in MASKS:
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=bool)))
        M = sp.csr_array(self.M, copy=True).astype(float)
        M.sum_duplicates()
        M.eliminate_zeros()
        object.__setattr__(self, "M", M)
        if self.beside is None:
            object.__setattr__(self, "beside", np.zeros((0, len(self.a))))
            object.__setattr__(self, "beside_guarded", np.zeros((0, len(self.a)), dtype=np.int64))
        elif self.beside_guarded is None:
            object.__setattr__(self, "beside_guarded", np.full(np.shape(self.beside), NOBODY))
        object.__setattr__(self, "beside", read_only(np.asarray(self.beside, dtype=float)))
        for name in ("respondent", "guarded", "beside_guarded"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.int64)))
        if self.count is not None:
            object.__setattr__(self, "count", read_only(np.asarray(self.count, dtype=float)))
        rhs = np.zeros(M.shape[0]) if self.rhs is None else self.rhs
        object.__setattr__(self, "rhs", read_only(np.asarray(rhs, dtype=float)))
        self._check()
        _ = self.respondents  # told ones may contradict the table

    def name(self, cell: int) -> str:
        """The name of a cell in messages."""
        return f"cell {int(cell)}" if self.label is None else self.label(int(cell))

    @cached_property
    def primaries(self) -> Ints:
        """The positions of the primary cells."""
        return np.flatnonzero(self.primary)

    @property
    def lone(self) -> Bools:
        """(n): whether the cell has a single respondent, who knows it."""
        return np.asarray(self.singleton, dtype=bool)

    @cached_property
    def respondents(self) -> Ints:
        """(n): a number for the respondent of each singleton, equal where he is the same; −1 for all other
        cells.
        """
        return read_only(respondents_of(self.M, self.a, self.lone, self.respondent, self.name))

    @cached_property
    def guards(self) -> Ints:
        """(n): whom the level of each cell protects, numbered as in `respondents`; −1 where that is not
        known.
        """
        return read_only(guards_of(self.respondents, self.respondent, self.guarded))

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """What each primary must keep, and for whom: its own level first, then one for each row of
        `beside` that asks for anything.
        """
        assert self.beside is not None
        assert self.beside_guarded is not None
        found = [Layer(self.up, self.down, self.width, self.guards)]
        for level, guarded in zip(self.beside, self.beside_guarded, strict=True):
            up, down = (
                np.where(self.primary, np.minimum(level, room), 0.0)
                for room in (self.ub - self.a, self.a - self.lb)
            )
            implied = (
                (self.guards == NOBODY) & (up <= self.up) & (down <= self.down)
            )  # nobody at all comes so close
            up, down = np.where(implied, 0.0, up), np.where(implied, 0.0, down)
            if up.any() or down.any():
                found.append(
                    Layer(up, down, np.zeros(len(up)), guards_of(self.respondents, self.respondent, guarded))
                )
        return tuple(found)

    @cached_property
    def down(self) -> Floats:
        """(n): lpl, cut at the lower bound; 0 where no cell is primary."""
        return read_only(np.where(self.primary, np.minimum(self.lpl, self.a - self.lb), 0.0))

    @cached_property
    def up(self) -> Floats:
        """(n): upl, cut at the upper bound; 0 where no cell is primary."""
        return read_only(np.where(self.primary, np.minimum(self.upl, self.ub - self.a), 0.0))

    @cached_property
    def width(self) -> Floats:
        """(n): spl, cut at the width of the bounds; 0 where `down` and `up` imply it, or no cell
        is primary.
        """
        width = np.where(self.primary, np.minimum(self.spl, self.ub - self.lb), 0.0)
        return read_only(np.where(width > self.down + self.up, width, 0.0))

    def cost_of(self, pattern: Bools) -> float:
        """Σ cost of the secondary cells of a pattern."""
        return float(self.cost[pattern & ~self.primary].sum())

    def _check(self) -> None:
        n, arrays = self.M.shape[1], (*NUMBERS, *MASKS)
        if n == 0:
            raise InvalidInput("a table without cells. Remedy: give the whole table")
        unlike = [name for name in arrays if getattr(self, name).shape != (n,)]
        told = {"respondent": self.respondent, "guarded": self.guarded}
        unlike += [name for name, numbers in told.items() if numbers is not None and numbers.shape != (n,)]
        assert self.beside is not None
        assert self.beside_guarded is not None
        if self.beside.shape != self.beside_guarded.shape or self.beside.shape[1:] != (n,):
            unlike.append("beside")
        if self.minimum and (self.count is None or self.count.shape != (n,) or not (self.count >= 0).all()):
            raise InvalidInput(
                "a minimum of contributors needs the number of contributors of each cell. Remedy: give "
                "counts of at least 0"
            )
        if unlike or self.rhs is None or self.rhs.shape != (self.M.shape[0],):
            raise InvalidInput(
                f"a table of {n} cells needs {n} entries in each array; not so in "
                f"{', '.join(unlike) or 'rhs'}"
            )
        for name, wrong, remedy in self._faults():
            cells = np.flatnonzero(wrong)
            if len(cells):
                more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
                raise InvalidInput(f"{self.name(cells[0])}{more}: {name}. Remedy: {remedy}")
        size = abs(self.M) @ np.abs(self.a)
        miss = np.abs(self.M @ self.a - self.rhs)
        missed = np.flatnonzero(miss > ADDITIVE * np.maximum(size, 1e-300))
        if len(missed):
            row = int(missed[0])
            members = self.M.indices[self.M.indptr[row] : self.M.indptr[row + 1]]
            about = ", ".join(self.name(cell) for cell in members[:5]) + (" …" if len(members) > 5 else "")
            share = miss[row] / size[row] if size[row] > 0 else 1.0
            raise InvalidInput(
                f"relation {row} ({about}) and {len(missed) - 1} more do not add up: off by {share:.2g} of "
                f"its values. "
                "Remedy: correct the cells or the relation"
            )

    def _faults(self) -> tuple[tuple[str, Bools, str], ...]:
        levels = np.vstack([self.lpl, self.upl, self.spl, *(() if self.beside is None else self.beside)])
        return (
            ("the value is not a finite number", ~np.isfinite(self.a), "give every cell a value"),
            (
                "a bound is not a number",
                np.isnan(self.lb) | np.isnan(self.ub),
                "give bounds, infinite ones where there are none",
            ),
            (
                "the value lies outside its bounds",
                (self.a < self.lb) | (self.a > self.ub),
                "correct the value or the bounds",
            ),
            (
                "the cost is negative or not finite",
                ~(np.isfinite(self.cost) & (self.cost >= 0)),
                "give costs of at least 0",
            ),
            (
                "a protection level is negative or not finite",
                np.asarray(~(np.isfinite(levels) & (levels >= 0)).all(axis=0)),
                "give distances ≥ 0",
            ),
            (
                "a singleton that is no primary cell",
                self.lone & ~self.primary,
                "call every cell of a single respondent primary",
            ),
            (
                "a primary cell must not stay open",
                self.primary & self.fixed,
                "let it be suppressed, or do not call it primary",
            ),
        )
