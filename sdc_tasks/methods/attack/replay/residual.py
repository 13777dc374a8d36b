"""The uncertainty that a publication leaves each primary against an attacker who has a rule-aware program,
from public figures alone (METHOD §9, Theorem 4).

By Theorem 3 the hidden tables for which a rule-aware program may give a publication P are those for which P
passes its tests. One test is the audit: of a table y that fits P, with lo_p and hi_p the least and the
largest value that P leaves a primary p,

    y_p − level_p(y_p) ≥ lo_p,   y_p + level_p(y_p) ≤ hi_p,   level_p(y_p) = max(slope_p · y_p, least_p).

The other test is that of this module, and it depends on P alone. Let W be tables that fit P. Replacing
lo_p, hi_p by the range of p over W turns the conditions into bounds on single cells and shrinks the set of
tables: they define a polytope S within the support. So S is attacked as any other
table. P is *wide* if every primary keeps, within S, the sliding level

    width_p = level_p(top_p) + min(level_p(top_p), top_p − lb_p)

Two tables of S so far apart at p are the proof. `top_p` is at least the largest value with which P passes the
audit: what a linear program for p leaves, or what the relations leave one by one (`highest`).

W, S and the proofs start from a table that fits P and follows from public figures. So the answer
tells nothing that P does not tell.

W, the outer polytope, is first computed as far as most primaries need. Where S, the inner polytope, is empty
or leaves a few primaries too little, the dual values of the attacks on S name the active bounds; W is
extended there as far as any table goes, and these primaries are attacked again.

Where W reaches the bound that the relations of the national tables imply on their own, that side has no
condition: there the audit requires no more than the national tables keep. No primary is required to have a
wider interval than they imply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.lp.prover import Attack
from sdc_tasks.methods.attack.replay.active_bounds import ActiveBounds, emptied
from sdc_tasks.methods.attack.replay.outer_polytope import End, LevelLine, OuterPolytope
from sdc_tasks.methods.attack.replay.public import Public
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.witness import Witness
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, SOLVER

LEVELS_DOWN = 2.5  # levels down from the public value: as far as W is asked to reach at first
# of how far W reaches: by as much of it as a search for the same tables shows
FOUND_AGAIN = 1 - 2 * FEASIBILITY
SHARPER = 4  # times: ends of W that hold S are moved
FEW_NARROW = 40  # with more narrow primaries no end is moved: the publication is far from wide
MOST_ENDS = 400  # moved at once


@dataclass(frozen=True)
class ResidualUncertainty:
    """What a publication leaves; arrays (primaries,). All follows from public figures. `narrow`: no two
    tables of S were found that are as far apart as asked. `lps`: linear programs solved. `window`: how S
    came about; None if no table fits.
    """

    primaries: Ints = field(repr=False)
    narrow: Bools = field(repr=False)
    lps: int = 0
    window: Window | None = field(default=None, repr=False)


@dataclass(frozen=True, repr=False)
class Window:
    """The primaries within S: at least `lower`, at most `upper`, asked to be `width` wide; arrays
    (primaries,), unit of the data.

    `published`: the publication in whole steps. `ended`: the attacks that end W, by side and row of the
    needs. `level`: of a value. `middle`: a table that fits, and how far W reaches around it, `down` and
    `up`. `inside`: a table of S, None if none was found; `apart`: tables of S, as deviations of the
    hidden cells from it, if they were asked for. `active_bounds`: what holds narrow primaries, by row of the
    needs; under −1, what makes S empty.
    """

    lower: Floats
    upper: Floats
    width: Floats
    published: Publication
    ended: dict[End, Attack]
    level: LevelLine
    middle: Floats
    down: Floats
    up: Floats
    inside: Floats | None = None
    apart: tuple[Witness, ...] = ()
    active_bounds: Mapping[int, ActiveBounds] = field(default_factory=dict)


def residual_uncertainty(
    problem: ProtectionProblem,
    needs: Requirements,
    publication: Publication,
    step: Floats,
    seed: int = 1,
    keep: float = 0.0,
) -> ResidualUncertainty:
    """What a publication leaves. `needs`: of the external profile, one row for each primary. `step`
    (space.size,): values are multiples of it, and everybody knows it: the ends of S are such values. `keep`:
    keep the tables of S that were found, with a W that is asked to reach so many levels down at first (0: as
    the rule asks, and keep none). Raises ValueError for a problem without levels as functions of the values,
    with earlier releases, or with cells that may be negative or have an upper bound.
    """
    cells = needs.primaries
    level = _level_line(problem, cells)
    public, nation = Public.of(problem, publication), _nation(problem, cells)
    every = np.ones(len(cells), dtype=bool)
    middle = public.middle()
    if middle is None:
        return ResidualUncertainty(cells, every)
    published = _in_steps(publication, step[publication.cells])
    outer = OuterPolytope(middle, public, needs, publication, level, step[cells], nation, seed)
    outer.reach(keep or LEVELS_DOWN)
    inner, found = (
        InnerPolytope(Public.of(problem, published), needs, published, seed),
        ResidualUncertainty(cells, every),
    )
    for number in range(1 + SHARPER):
        window = _window(outer, published)
        narrow = inner.narrow(window, found.narrow)
        active = inner.active_bounds(window) if narrow.any() else {}
        window = replace(
            window, inside=inner.table, apart=tuple(inner.apart) if keep > 0 else (), active_bounds=active
        )
        found = ResidualUncertainty(cells, narrow, outer.lps + inner.lps, window)
        if number == SHARPER or not narrow.any() or not outer.farther(_binding_ends(window)):
            break
    return found


def _level_line(problem: ProtectionProblem, cells: Ints) -> LevelLine:
    """The levels of the primaries as functions of their values. Raises ValueError for a problem to which the
    theorem does not apply.
    """
    free = (problem.lb[problem.suppressed] >= 0).all() and np.isinf(problem.ub[problem.suppressed]).all()
    if problem.levels is None or problem.earlier.rows.shape != (0, 0) or not free:
        raise ValueError(
            "only for a first version, cells from 0 without an upper bound, and levels that are functions of "
            "the values"
        )
    return LevelLine(problem.levels.slope[cells], problem.levels.least[cells])


def _window(outer: OuterPolytope, published: Publication) -> Window:
    """The ends of S that follow from W."""
    level, step, nation = outer.level, outer.step, outer.nation
    down, up = outer.at - outer.low, outer.high - outer.at
    # S ends a solver's tolerance before what was found
    with np.errstate(invalid="ignore"):
        lower = np.where(
            outer.below_all, nation[0], level.above(outer.at - down * FOUND_AGAIN) * (1 + SOLVER)
        )
        upper = np.where(outer.above_all, nation[1], level.below(outer.at + up * FOUND_AGAIN) * (1 - SOLVER))
        low, high = np.ceil(lower / step - SOLVER) * step, np.floor(upper / step + SOLVER) * step
        fixed = (low > high) & (
            lower <= upper
        )  # by the national tables, at a value that is no multiple of the step
        lower, upper = np.where(fixed, lower, low), np.where(fixed, upper, high)
    most = level(outer.top)
    width = np.minimum(
        most + np.minimum(most, np.maximum(outer.top - nation[0], 0)),
        (nation[1] - nation[0]) * (1 - FEASIBILITY),
    )
    return Window(lower, upper, width, published, outer.ended, level, outer.middle.a, down, up)


class InnerPolytope:
    """S, attacked again each time it grows. `table`: a table of S, None if none is known; `apart`: others, as
    deviations of the hidden cells from it. `lps`: linear programs solved.
    """

    def __init__(self, public: Public, needs: Requirements, published: Publication, seed: int) -> None:
        self._public, self._needs, self._published, self._seed = public, needs, published, seed
        self.table: Floats | None = None
        self._attacker: Attacker | None = None
        self.apart, self.lps = list[Witness](), 0

    def narrow(self, window: Window, asked: Bools) -> Bools:
        """(primaries,): which of those `asked` are narrow. Those that were wide stay so, because S grows."""
        cells, lower, upper = self._needs.primaries, window.lower, window.upper
        if self.table is None:
            middle = self._public.middle((cells, lower, upper)) if (lower <= upper).all() else None
            if middle is None:
                return np.ones(len(cells), dtype=bool)  # no table is known that would pass
            self.table, asked = middle.a, np.ones(len(cells), dtype=bool)
        none = np.zeros(len(cells))
        ends = asked & np.isfinite(
            window.width
        )  # what no relation ends is as wide as its value asks for, whatever that is
        wide = replace(self._needs, down=none, up=none, slide=np.where(ends, window.width, 0.0), cut=none > 0)
        inside = replace(self._public.problem, a=self.table)
        bounds = inside.lb.copy(), inside.ub.copy()
        bounds[0][cells], bounds[1][cells] = (
            np.minimum(lower, self.table[cells]),
            np.maximum(upper, self.table[cells]),
        )
        attacker = Attacker(replace(inside, lb=bounds[0], ub=bounds[1]), wide, self._seed)
        attacker.set_publication(self._published)
        attacker.prove_all()
        self._attacker = attacker
        self.lps += attacker.lps
        self.apart += [each for _, each in attacker.witnesses()]
        narrow = np.zeros(len(cells), dtype=bool)
        narrow[[attack.requirement for attack in attacker.broken]] = True
        return narrow

    def active_bounds(self, window: Window) -> dict[int, ActiveBounds]:
        """The active bounds of narrow primaries, by row of the needs; under −1, those that make S empty."""
        if self._attacker is not None:
            rows = {
                int(cell): row
                for row, cell in enumerate(np.searchsorted(self._public.cells, self._needs.primaries))
            }
            found = dict[int, ActiveBounds]()
            for attack, bounds in zip(
                self._attacker.broken, self._attacker.active_bounds(self._attacker.broken), strict=True
            ):
                ends = tuple((rows[cell], weight) for cell, weight in bounds if cell in rows)
                found[attack.requirement] = ActiveBounds(attack.reach, attack.decided, attack.price, ends)
            return found
        if (window.lower > window.upper).any():
            return {}
        self.lps += 1
        active = emptied(self._public, self._needs.primaries, window.lower, window.upper, window.width)
        return {-1: active} if active is not None else {}


def _binding_ends(window: Window) -> list[End]:
    """The ends of S that hold narrow primaries, or that make S empty; none if they are too many."""
    crossed = np.flatnonzero(window.lower > window.upper).tolist()
    weights = (
        [end for active in window.active_bounds.values() for end in active.ends]
        if len(window.active_bounds) <= FEW_NARROW
        else []
    )
    ends = {(1 if weight > 0 else -1, row) for row, weight in weights} | {
        (side, row) for row in crossed for side in (-1, 1)
    }
    return sorted(ends) if len(ends) <= MOST_ENDS else []


def _nation(problem: ProtectionProblem, cells: Ints) -> tuple[Floats, Floats]:
    """(lowest, highest) of the primaries by the relations of the national tables, one after the other."""
    return Public.of(problem, Publication.nothing(np.flatnonzero(problem.aggregate))).among(cells)


def _in_steps(publication: Publication, step: Floats) -> Publication:
    """The publication whose intervals end at multiples of the step."""
    lower, upper = (
        np.ceil(publication.lower / step - SOLVER) * step,
        np.floor(publication.upper / step + SOLVER) * step,
    )
    rounded = publication.rounded & (lower <= upper)
    with np.errstate(invalid="ignore"):
        value = np.where(rounded, (lower + upper) / 2, publication.value)
        return Publication(
            publication.cells, value, np.where(rounded, upper - lower, publication.base), publication.covers
        )
