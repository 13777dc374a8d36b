"""What a publication leaves of each primary for somebody who has a rule-aware program, from public figures alone (METHOD §9, Theorem 4).

By Theorem 3 the hidden tables for which a rule-aware program may give a publication P are those for which P passes its tests. One test is
the audit: of a table y that fits P, with lo_p and hi_p the least and the largest value that P leaves a primary p,

    y_p − level_p(y_p) ≥ lo_p,   y_p + level_p(y_p) ≤ hi_p,   level_p(y_p) = max(slope_p · y_p, least_p).

The other test is that of this module, and it depends on P alone. Let W be tables that fit P. With the least and the largest value of p in W
in place of lo_p and hi_p, these conditions are external bounds of single cells, and they hold for fewer tables: for a polytope S within the
support. So S is attacked as any other table. P is *wide* if every primary keeps, within S, the sliding level

    width_p = level_p(top_p) + min(level_p(top_p), top_p − lb_p)

Two tables of S so far apart at p are the proof. `top_p` is at least the largest value with which P passes the audit: what a linear program
for p leaves, or what the relations leave one by one (`highest`).

W, S and the proofs start from a table that fits P and follows from public figures. So the answer tells nothing that P does not tell.

Where W reaches what the relations of the national tables leave alone (`ends`), that side has no condition: there the audit asks for no more
than the national tables keep. A primary is not asked for a wider interval than they leave it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.lp.prover import MET, Attack
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.witness import Witness
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

LEVELS_DOWN = 2.5  # levels down from the public value: as far as W is asked to reach at first
ENDS_PASSES = 10  # over all relations
SMALLER_BY = 1e-7  # relative: by so much S is smaller than what was found, against the noise of solvers
AT_END = 1e-6  # relative: as near to the end of the national tables
BESIDE_OTHERS = 1.05  # times what one primary alone needs: the cuts of the others count too


@dataclass(frozen=True)
class Left:
    """What a publication leaves; arrays (primaries,). All follows from public figures. `narrow`: no two tables of S were found that are as
    far apart as asked. `lps`: linear programs solved. `window`: how S came about; None if no table fits.
    """

    primaries: Ints = field(repr=False)
    narrow: Bools = field(repr=False)
    lps: int = 0
    window: Window | None = field(default=None, repr=False)


@dataclass(frozen=True, repr=False)
class Window:
    """The primaries within S: at least `lower`, at most `upper`, asked to be `width` wide; arrays (primaries,), unit of the data.

    `told`: the publication in whole steps. `ended`: the attacks that end W, by side and row of the needs. `level`: of a value. `middle`: a
    table that fits, and how far W reaches around it, `down` and `up`. `inside`: a table of S, None if none was found; `apart`: tables of S,
    as deviations of the hidden cells from it, if they were asked for.
    """

    lower: Floats
    upper: Floats
    width: Floats
    told: Publication
    ended: dict[tuple[int, int], Attack]
    level: LevelLine
    middle: Floats
    down: Floats
    up: Floats
    inside: Floats | None = None
    apart: tuple[Witness, ...] = ()


@dataclass(frozen=True, repr=False)
class LevelLine:
    """level_p(y_p) of the primaries, and its inverse."""

    slope: Floats
    least: Floats

    def __call__(self, y: Floats) -> Floats:
        return np.maximum(self.slope * y, self.least)

    def above(self, low: Floats) -> Floats:
        """The least y with y − level(y) ≥ low; ∞ if there is none."""
        room = np.where(self.slope < 1, 1 - self.slope, np.nan)
        return np.where(self.slope < 1, np.maximum(low / room, low + self.least), np.inf)

    def below(self, high: Floats) -> Floats:
        """The largest y with y + level(y) ≤ high."""
        return np.minimum(high / (1 + self.slope), high - self.least)


def left(problem: ProtectionProblem, needs: Requirements, publication: Publication, step: Floats, seed: int = 1, keep: float = 0.0) -> Left:
    """What a publication leaves. `needs`: of the external profile, one row for each primary. `step` (space.size,): values are multiples of
    it, and everybody knows it: the ends of S are such values. `keep`: keep the tables of S that were found, with a W that reaches so many
    levels down (0: as the rule asks, and keep none). Raises ValueError for a problem without levels as functions of the values, with
    earlier releases, or with cells that may be negative.
    """
    if problem.levels is None or problem.earlier.rows.shape != (0, 0) or (problem.lb[problem.suppressed] < 0).any():
        raise ValueError("only for a first version, cells that are not negative, and levels that are functions of the values")
    cells = needs.primaries
    level = LevelLine(problem.levels.slope[cells], problem.levels.least[cells])
    public = Public.of(problem, publication)
    lowest, highest = _ends(problem, cells)
    nothing, every = np.zeros(len(cells), dtype=bool), np.ones(len(cells), dtype=bool)
    middle = public.middle()
    if middle is None:
        return Left(cells, every)
    at = middle.a[cells]
    ends = lowest, np.minimum(highest, public.among(cells)[1])
    low, high, top, ended, lps = _reach(middle, public, needs, publication, level, step[cells], ends, seed, keep or LEVELS_DOWN)
    near = AT_END * (1 + at)
    with np.errstate(invalid="ignore"):
        lower = np.where(low <= lowest + near, lowest, level.above(low) * (1 + SMALLER_BY))
        upper = np.where(high >= highest - near, highest, level.below(high) * (1 - SMALLER_BY))
        lower = np.ceil(lower / step[cells] - SMALLER_BY) * step[cells]
        upper = np.floor(upper / step[cells] + SMALLER_BY) * step[cells]
    told = _in_steps(publication, step[publication.cells])
    width = np.minimum(level(top) + np.minimum(level(top), np.maximum(top - lowest, 0)), (highest - lowest) * (1 - MET))
    window = Window(lower, upper, width, told, ended, level, middle.a, at - low, high - at)
    inside = Public.of(problem, told).middle((cells, lower, upper)) if (lower <= upper).all() else None
    if inside is None:
        off = (at < lower) | (at > upper) | (lower > upper)
        return Left(cells, off if off.any() else every, lps, window)
    asked = Requirements(cells, np.zeros(len(cells)), np.zeros(len(cells)), width, nothing, profiles=needs.profiles)
    bounds = inside.lb.copy(), inside.ub.copy()
    bounds[0][cells], bounds[1][cells] = np.minimum(lower, inside.a[cells]), np.maximum(upper, inside.a[cells])
    attacker = Attacker(replace(inside, lb=bounds[0], ub=bounds[1]), asked, seed)
    attacker.face(told)
    attacker.settle()
    narrow = nothing
    narrow[[attack.primary for attack in attacker.broken]] = True
    window = replace(window, inside=inside.a, apart=tuple(each for _, each in attacker.witnesses()) if keep > 0 else ())
    return Left(cells, narrow, lps + attacker.lps, window)


def _ends(problem: ProtectionProblem, cells: Ints) -> tuple[Floats, Floats]:
    """(lowest, highest) of the primaries by the relations of the national tables, one after the other."""
    return Public.of(problem, Publication.nothing(np.flatnonzero(problem.aggregate))).among(cells)


def _in_steps(publication: Publication, step: Floats) -> Publication:
    """The publication whose intervals end at multiples of the step."""
    lower, upper = np.ceil(publication.lower / step - SMALLER_BY) * step, np.floor(publication.upper / step + SMALLER_BY) * step
    rounded = publication.rounded & (lower <= upper)
    with np.errstate(invalid="ignore"):
        value = np.where(rounded, (lower + upper) / 2, publication.value)
        return Publication(publication.cells, value, np.where(rounded, upper - lower, publication.base), publication.covers)


def _reach(
    middle: ProtectionProblem,
    public: Public,
    needs: Requirements,
    publication: Publication,
    level: LevelLine,
    step: Floats,
    ends: tuple[Floats, Floats],
    seed: int,
    levels: float,
) -> tuple[Floats, Floats, Floats, dict[tuple[int, int], Attack], int]:
    """(lo, hi) of the primaries in W, top, the attacks that end W by side and row, and the LPs solved. `ends`: W goes no farther.

    W is asked to reach down by so many levels, and up by what a primary needs then. If one side ends before, the other one is asked for
    as much as the primary needs beside it.
    """
    at, cells = middle.a[needs.primaries], np.flatnonzero(middle.suppressed)
    lowest, highest = np.minimum(ends[0], at), np.maximum(ends[1], at)
    bounds = tuple(each - middle.a[cells] for each in public.among(cells))
    down = np.minimum(levels * level(at) + 2 * step, at - lowest)
    top, lps = level.below(highest), 0
    up = _up(at, np.where(down < at - lowest, level.above(at - down), lowest), level, step, top, highest)
    low, high, ended, found = at, at, dict[tuple[int, int], Attack](), list[Floats]()
    ask_down, ask_up = down, up
    for again in (True, False):
        attacker = Attacker(middle, replace(needs, down=ask_down, up=ask_up, slide=np.zeros(len(at))), seed)
        attacker.face(publication)
        attacker.offer(found)
        attacker.settle()
        lps += attacker.lps
        reached = attacker.reached()
        low, high = np.minimum(low, np.maximum(at - reached["down"], lowest)), np.maximum(high, at + reached["up"])
        ended |= {(attack.side, attack.primary): attack for attack in attacker.broken}
        no_less, no_more = (np.isin(np.arange(len(at)), [row for way, row in ended if way == side]) for side in (-1, 1))
        above, most_of = [attack for attack in attacker.broken if attack.side == 1], np.full(len(at), np.inf)
        most_of[[attack.primary for attack in above]] = attacker.at_most(above, *bounds)
        top = np.minimum(top, level.below(at + most_of))
        beside = level.below(high) - BESIDE_OTHERS * 2 * level(top) - 2 * step
        farther = np.clip(at - (beside - level(beside)), down, np.maximum(at - lowest, down))
        more = np.where(no_more & ~no_less, farther, 0.0)
        start = np.where(low <= lowest, lowest, level.above(low))
        most = np.where(no_less & ~no_more, np.maximum(_up(at, start, level, step, top, highest), up), 0.0)
        ask_down, ask_up = np.where(more > down, more, 0.0), np.where(most > up, most, 0.0)
        if not again or not (ask_down.any() or ask_up.any()):
            break
        found = [witness.dense(len(cells)) for _, witness in attacker.witnesses()]
    return low, high, top, ended, lps


def _up(at: Floats, lower: Floats, level: LevelLine, step: Floats, top: Floats, highest: Floats) -> Floats:
    """How far up from the public value W should reach, if S begins at `lower`."""
    end = np.maximum(lower + BESIDE_OTHERS * 2 * level(top), at) + 2 * step  # ends are multiples of a step
    with np.errstate(invalid="ignore"):
        wanted = np.minimum(end + level(end), highest) - at
    return np.minimum(np.maximum(np.where(np.isfinite(wanted), wanted, 0.0), level(at)), np.maximum(highest - at, 0.0))


@dataclass(frozen=True, repr=False)
class Public:
    """The tables x that fit a publication, from public figures: `row_lower ≤ A x ≤ row_upper`, `lower ≤ x ≤ upper`, over the suppressed
    cells, in `unit`s. `decided` (rows,): the position of the aggregate cell in the publication, −1 for a relation of a national table.
    `told`: the problem with nothing in its hidden cells.
    """

    told: ProtectionProblem
    cells: Ints
    A: sp.csr_array
    row_lower: Floats
    row_upper: Floats
    decided: Ints
    unit: float

    @classmethod
    def of(cls, problem: ProtectionProblem, publication: Publication) -> Public:
        space, cells = problem.space, np.flatnonzero(problem.suppressed)
        known = np.where(problem.public, problem.a, 0.0)
        inside = space.relations.shape[0] - space.aggregate_relations.shape[0]
        national = sp.csr_array(space.relations[:inside])
        members = sp.csr_array(space.aggregate_relations[:, : space.first_aggregate])
        rows = sp.csr_array(sp.vstack([sp.csc_array(national)[:, cells], sp.csc_array(members)[:, cells]], format="csr"))
        at = publication.cells - space.first_aggregate
        lower, upper = np.full(members.shape[0], -np.inf), np.full(members.shape[0], np.inf)
        lower[at], upper[at] = publication.lower, publication.upper
        decided = np.full(inside + members.shape[0], -1)
        decided[inside + at] = np.arange(len(at))
        sums = members @ known[: space.first_aggregate]
        fixed = -(national @ known)
        kept = np.flatnonzero(np.diff(rows.indptr) > 0)
        low, high = np.concatenate([fixed, lower - sums])[kept], np.concatenate([fixed, upper - sums])[kept]
        size = np.abs(low[np.isfinite(low)])
        unit = float(2.0 ** np.round(np.log2(np.median(size[size > 0])))) if (size > 0).any() else 1.0
        told = replace(
            problem, a=known, lpl=np.zeros(space.size), upl=np.zeros(space.size), spl=np.zeros(space.size),
            lb=np.minimum(problem.lb, known), known=np.full(space.size, np.nan), deliveries=(), levels=None,
        )  # fmt: skip
        return cls(told, cells, sp.csr_array(rows[kept]), low / unit, high / unit, decided[kept], unit)

    def among(self, cells: Ints) -> tuple[Floats, Floats]:
        """(lower, upper) bounds of some suppressed cells, from one relation after the other, in the unit of the data."""
        at = np.searchsorted(self.cells, cells)
        return self._box[0][at] * self.unit, self._box[1][at] * self.unit

    @cached_property
    def _box(self) -> tuple[Floats, Floats]:
        lower, upper = self.told.lb[self.cells] / self.unit, np.full(len(self.cells), np.inf)
        by_row = sp.csr_array(self.A)
        row, cell, plus = np.repeat(np.arange(by_row.shape[0]), np.diff(by_row.indptr)), by_row.indices, by_row.data > 0
        for _ in range(ENDS_PASSES):
            before = lower, upper
            least, most = np.where(plus, lower[cell], -upper[cell]), np.where(plus, upper[cell], -lower[cell])
            up, down = self.row_upper[row] - _others(row, least), self.row_lower[row] - _others(row, most)
            lower, upper = lower.copy(), upper.copy()
            np.minimum.at(upper, cell, np.where(plus, up, -down))
            np.maximum.at(lower, cell, np.where(plus, down, -up))
            if np.array_equal(before[0], lower) and np.array_equal(before[1], upper):
                break
        return lower, upper

    def middle(self, bounds: tuple[Ints, Floats, Floats] | None = None) -> ProtectionProblem | None:
        """The problem with a table in the middle of those that fit, within further `bounds` (cells, lower, upper); None if there is none.

        It is the mean of two: a table in which as many cells as possible are a share of their range above its lower end, and an interior
        point, in which a solver may set cells to an end. The share is what each cell of its longest relation can have at once, halved.
        """
        lower, upper = self.told.lb[self.cells] / self.unit, np.full(len(self.cells), np.inf)
        if bounds is not None:
            column = np.searchsorted(self.cells, bounds[0])
            lower[column], upper[column] = np.maximum(lower[column], bounds[1] / self.unit), bounds[2] / self.unit
        least, most = np.maximum(lower, self._box[0]), np.minimum(upper, self._box[1])
        span = np.where(np.isfinite(most), np.maximum(most - least, 0.0), 1.0) / (2 * self._together)
        start = np.minimum(least, upper)
        off = self.A @ start
        twice = sp.csr_array(sp.hstack([self.A, self.A]))
        cost = np.concatenate([np.where(span > 0, -1 / np.where(span > 0, span, 1.0), 0.0), np.zeros(len(start))])
        spread = LiveLP(
            cost, twice, self.row_lower - off, self.row_upper - off, np.concatenate([np.zeros(len(start)), lower - start]),
            np.concatenate([span, np.maximum(upper - start - span, 0.0)]),
        ).solve()  # fmt: skip
        if spread.status is not Status.OPTIMAL:
            return None
        found = [start + spread.x[: len(start)] + spread.x[len(start) :]]
        inner = LiveLP(np.zeros(len(start)), self.A, self.row_lower, self.row_upper, lower, upper)
        inner.interior()
        if (inside := inner.solve()).status is Status.OPTIMAL:
            found.append(inside.x)
        x = self.told.a.copy()
        x[self.cells] = np.clip(np.mean(found, axis=0), lower, upper) * self.unit
        first = self.told.space.first_aggregate
        x[first:] = sp.csr_array(self.told.space.aggregate_relations[:, :first]) @ x[:first]
        return replace(self.told, a=x)

    @cached_property
    def _together(self) -> Ints:
        """(cells,): how many cells the longest relation of each cell has."""
        by_row = sp.csr_array(self.A)
        count = np.diff(by_row.indptr)
        longest = np.ones(len(self.cells), dtype=np.int64)
        np.maximum.at(longest, by_row.indices, np.repeat(count, count))
        return longest


def _others(row: Ints, value: Floats) -> Floats:
    """For each entry the sum of the other entries of its row; infinite if one of them is."""
    endless = np.isinf(value)
    finite = np.where(endless, 0.0, value)
    count = int(row.max(initial=-1)) + 1
    rest, without = np.bincount(row, finite, count)[row] - finite, np.bincount(row, endless, count)[row] - endless
    sign = np.where(np.bincount(row, np.where(endless, np.sign(value), 0.0), count)[row] < 0, -np.inf, np.inf)
    return np.where(without > 0, sign, rest)
