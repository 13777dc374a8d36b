"""A table with sensitive cells: what each of them must keep, and from whom ([2] §4, eq. 5–7).

An attacker reads some interval of each cell; with deviations z = x − a he considers

    Z = { z : M z = 0,  low_i ≤ z_i ≤ high_i }

where [a + low, a + high] is what was published of a cell, cut at its bounds: a point for an open cell, the
bounds for a hidden one, something between for a rounded or partially suppressed one. A table is *protected*
if for every primary p

    max z_p ≥ upl_p,   min z_p ≤ −lpl_p,   max z_p − min z_p ≥ spl_p      over Z,

against everybody whom the level is to keep away (`Layer`): the level of the largest contributor against all
others, and those of the next ones (`beside`), each against all but himself. Of a level that no pattern keeps
less may be asked, of every attacker as much as he leaves where everything is hidden (`attained`).

A requirement beyond an external bound is cut at the bound (METHOD §2). A `singleton` primary has one
respondent, who knows the cell; all of them may collude against another one ([2] eq. 9): respondents.py.
Cell suppression is min Σ cost_i y_i over the safe patterns y; the primaries themselves cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.additive import AdditiveTable, absent
from sdc_tasks.model.respondents import NOBODY, guards_of, respondents_of
from sdc_tasks.model.table import Bools, Floats, Ints, read_only

NUMBERS = ("lpl", "upl", "spl", "cost")
MASKS = ("primary", "singleton")


class Contributors(Protocol):
    """Who contributes what to the cells of a table."""

    @property
    def largest(self) -> Ints:
        """(n): the number of the largest contributor of each cell, NOBODY of an empty one."""


@dataclass(frozen=True)
class Layer:
    """(n) each: how far every primary must rise and fall, and both together, and whom that protects, numbered
    as `respondents`; cut at the bounds, 0 where nothing is asked. `lacks`: respondents who take no part in
    the attack, of whom was `asked` (cells) for some primaries; `level`: which of the levels of a primary this
    is, its own (0) or one of a further contributor, by its row.
    """

    up: Floats = field(repr=False)
    down: Floats = field(repr=False)
    width: Floats = field(repr=False)
    guards: Ints = field(repr=False)
    lacks: tuple[int, ...] = field(default=(), repr=False)
    asked: Ints | None = field(default=None, repr=False)
    level: int = 0

    @property
    def most(self) -> Floats:
        """(n): the largest of the three."""
        return np.asarray(np.maximum(np.maximum(self.up, self.down), self.width))


@dataclass(frozen=True)
class SensitiveTable(AdditiveTable):
    """An additive table with its primary cells and their protection levels. Arrays (n), one entry for each
    cell.

    `lpl`, `upl`, `spl` are distances ≥ 0, used for `primary` cells only. `cost` (n) ≥ 0: what it costs to
    hide a cell; 0 by default. `respondent`: a number for who stands behind a singleton, −1 where unknown;
    `guarded`: the same for whom the level of a cell protects. `count`: contributors, of whom a pattern hides
    at least `minimum` together (judge/pattern/min_contributors.py). `beside`, `beside_guarded` (k, n):
    levels, the same on both sides, that keep all others from further contributors of a cell, and who these
    are; 0 where there is none. `behind`: who contributes what (pattern/sums.py); `by_rules`: whether rules on
    contributions found the primaries. Raises InvalidInput as `AdditiveTable`.
    """

    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    spl: Floats = field(repr=False)
    primary: Bools = field(repr=False)
    cost: Floats = field(default_factory=absent, repr=False, kw_only=True)
    singleton: Bools = field(default_factory=absent, repr=False, kw_only=True)
    respondent: Ints | None = field(default=None, repr=False, kw_only=True)
    guarded: Ints | None = field(default=None, repr=False, kw_only=True)
    count: Floats | None = field(default=None, repr=False, kw_only=True)
    minimum: int = field(default=0, kw_only=True)
    beside: Floats = field(default_factory=absent, repr=False, kw_only=True)
    beside_guarded: Ints = field(default_factory=absent, repr=False, kw_only=True)
    behind: Contributors | None = field(default=None, repr=False, compare=False, kw_only=True)
    by_rules: bool = field(default=False, kw_only=True)
    attainable: bool = field(default=False, kw_only=True)
    attained: tuple[Layer, ...] = field(default=(), repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        n = len(np.asarray(self.a))
        self._numbers("lpl", "upl", "spl")
        self._numbers("cost", missing=n)
        self._masks("primary")
        self._masks("singleton", missing=n)
        beside = np.asarray(self.beside, dtype=float)
        object.__setattr__(self, "beside", read_only(beside if beside.size else np.zeros((0, n))))
        if not (beside.size and self.beside_guarded.size):
            object.__setattr__(self, "beside_guarded", np.full(self.beside.shape, NOBODY))
        for name in ("respondent", "guarded", "beside_guarded"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.int64)))
        if self.count is not None:
            self._numbers("count")
        super().__post_init__()
        self._check()
        _ = self.respondents  # told ones may contradict the table

    @cached_property
    def primaries(self) -> Ints:
        """The positions of the primary cells."""
        return np.flatnonzero(self.primary)

    @property
    def lone(self) -> Bools:
        """(n): `singleton`: whether the cell has a single respondent, who knows it."""
        return self.singleton

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

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What each primary must keep, and for whom: as `wanted`, or as far as that can be attained, then
        what weaker attackers must leave.
        """
        return self.attained or self.wanted

    @cached_property
    def wanted(self) -> tuple[Layer, ...]:
        """What the levels ask of each primary, and for whom: its own level first, then one for each row of
        `beside` that asks for anything.
        """
        found = [Layer(self.up, self.down, self.width, self.guards)]
        for number, (level, guarded) in enumerate(zip(self.beside, self.beside_guarded, strict=True), 1):
            up, down = (
                np.where(self.primary, np.minimum(level, room), 0.0)
                for room in (self.ub - self.a, self.a - self.lb)
            )
            # A level against nobody in particular keeps everybody away, this attacker included.
            implied = (self.guards == NOBODY) & (up <= self.up) & (down <= self.down)
            up, down = np.where(implied, 0.0, up), np.where(implied, 0.0, down)
            if up.any() or down.any():
                whom = guards_of(self.respondents, self.respondent, guarded)
                found.append(Layer(up, down, np.zeros(len(up)), whom, level=number))
        return tuple(found)

    @cached_property
    def strongest(self) -> tuple[Layer, ...]:
        """As `wanted`, and as far as that is asked of all lone respondents together."""
        asked = {each.level: each for each in self.attained if each.asked is None}
        return tuple(asked.get(each.level, each) for each in self.wanted)

    @cached_property
    def lowered(self) -> Bools:
        """(n): the cells of which less is asked than is wanted, of somebody at least."""
        less = np.zeros(len(self.a), dtype=bool)
        for asked, wanted in zip(self.strongest, self.wanted, strict=True):
            less |= (asked.up < wanted.up) | (asked.down < wanted.down) | (asked.width < wanted.width)
        return read_only(less)

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
        return read_only(np.where(self.sliding > self.down + self.up, self.sliding, 0.0))

    @cached_property
    def sliding(self) -> Floats:
        """(n): spl, cut at the width of the bounds; 0 where no cell is primary."""
        return read_only(np.where(self.primary, np.minimum(self.spl, self.ub - self.lb), 0.0))

    def cost_of(self, pattern: Bools) -> float:
        """Σ cost of the secondary cells of a pattern."""
        return float(self.cost[pattern & ~self.primary].sum())

    def _check(self) -> None:
        n, arrays = self.M.shape[1], (*NUMBERS, *MASKS)
        told = tuple(name for name in ("respondent", "guarded") if getattr(self, name) is not None)
        unlike = self._unlike((*arrays, *told))
        if self.beside.shape != self.beside_guarded.shape or self.beside.shape[1:] != (n,):
            unlike.append("beside")
        if self.minimum and (self.count is None or self.count.shape != (n,) or not (self.count >= 0).all()):
            raise InvalidInput(
                "a minimum of contributors needs the number of contributors of each cell. Remedy: give "
                "counts of at least 0"
            )
        if unlike:
            raise InvalidInput(
                f"a table of {n} cells needs {n} entries in each array; not so in {', '.join(unlike)}"
            )
        levels = np.vstack([self.lpl, self.upl, self.spl, *self.beside])
        self._refuse(
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
                self.primary & self.fixed & (np.maximum(self.up + self.down, self.width) > 0),
                "let it be suppressed, or do not call it primary",
            ),
        )
