"""A second program for the same verdict: checks a certificate's evidence by arithmetic. No LP, no code of the attacker's.

From the deliveries (`ProtectionProblem`), the table (`Publication`) and the evidence alone:

- a witness is a table: every relation, bound and published interval holds, but for a miss that is small (`MISS`) beside the
  requirement it proves. It moves a primary at least as far as the requirement asks, and leaves each attacker what he knows;
- a successful attack is shown by weak duality: for multipliers y of the rows, `σ z_p ≤ Σ max(y·row bounds) + Σ max(d·bounds)` with
  `d = c − Aᵀy`. Cells that the national relations tie to each other, or fix, count as one (`_classes`);
- a requirement is the promised level, cut at the external bounds, and lower only where multipliers that lean on no aggregate show
  that the national tables alone do not keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Evidence, Multipliers, Publication
from sdc_tasks.model.table import Bools, Floats, Ints

MET = 1e-5  # relative: what counts as reached
MISS = 2e-4  # of a requirement: by how much its witness may miss a relation or a bound
FAR = 1e4  # units beyond which no deviation is followed
SIDES = (-1, 1, 0)


@dataclass(frozen=True)
class Recheck:
    """`protected` (profiles, primaries): proven by witnesses; `exposed`: a successful attack is. Both false: not shown either way."""

    primaries: Ints = field(repr=False)
    protected: Bools = field(repr=False)
    exposed: Bools = field(repr=False)
    witnesses: int
    attacks: int


@dataclass(frozen=True, repr=False)
class _World:
    """What an attacker faces, in the unit of the data: rows low ≤ A z ≤ high, columns lower ≤ z ≤ upper; z of what `cells` names."""

    cells: Ints
    A: sp.csr_array
    low: Floats
    high: Floats
    lower: Floats
    upper: Floats


def recheck(problem: ProtectionProblem, publication: Publication, profiles: Sequence[str], evidence: Evidence) -> Recheck:
    """The verdict that the evidence proves, profile by profile. Raises ValueError where it does not fit the problem."""
    primaries = np.flatnonzero(problem.primary)
    protected = np.zeros((len(profiles), len(primaries)), dtype=bool)
    exposed = np.zeros_like(protected)
    for number, profile in enumerate(profiles):
        world, nothing = _world(problem, publication, profile), _world(problem, None, profile)
        known = _attackers(problem, profile)
        if evidence.witness.shape[1] < len(world.lower) and len(evidence.witness):
            raise ValueError("the witnesses are not of these deliveries")
        single = problem.known[primaries] == problem.a[primaries]
        asked = ~single if profile == "coalition" else np.ones(len(primaries), dtype=bool)
        alone = profile == "internal"
        count = len(known[0]) if alone else 1
        needed = _needed(problem, primaries, count)
        tied = _classes(nothing) if len(evidence.cut.cell) + len(evidence.broken.cell) else sp.csr_array((len(world.lower), 0))
        for i, bound, knowers in _bounds(nothing, tied, evidence.cut, number, primaries, known, alone):
            side = SIDES.index(int(evidence.cut.side[i]))
            p = int(np.searchsorted(primaries, evidence.cut.cell[i]))
            needed[side, p, knowers] = np.minimum(needed[side, p, knowers], bound)
        open_ = np.repeat((asked[:, None] & np.ones((1, count), dtype=bool))[None], 3, axis=0) & (needed > 0)
        if alone:
            open_ &= (known[0][None, :] != primaries[:, None])[None]
        _prove(world, evidence.witness[evidence.profile == number][:, : len(world.lower)], primaries, needed, open_, known, alone)
        protected[number] = ~open_.any(axis=(0, 2))
        for i, bound, knowers in _bounds(world, tied, evidence.broken, number, primaries, known, alone):
            side, p = SIDES.index(int(evidence.broken.side[i])), int(np.searchsorted(primaries, evidence.broken.cell[i]))
            exposed[number, p] |= bool((bound < needed[side, p, knowers] * (1 - 1e-7)).any())
    return Recheck(primaries, protected, exposed, len(evidence.witness), len(evidence.broken.cell))


def _world(problem: ProtectionProblem, publication: Publication | None, profile: str) -> _World:
    """The rows and bounds; None: with every aggregate withheld."""
    space = problem.space
    first = len(space.countries) * space.national_size
    cells = np.flatnonzero(problem.suppressed)
    inside = space.relations.shape[0] - (space.size - first)
    if publication is None:
        low, high = np.full(space.size - first, -np.inf), np.full(space.size - first, np.inf)
    else:
        truth = problem.a[first:]
        low = np.where(publication.base == 0, 0.0, publication.lower - truth)
        high = np.where(publication.base == 0, 0.0, publication.upper - truth)
        wrong = (publication.lower - truth > 1e-14 * (1 + np.abs(truth))) | (truth - publication.upper > 1e-14 * (1 + np.abs(truth)))
        low, high = np.where(wrong, -np.inf, low), np.where(wrong, np.inf, high)  # of other deliveries: it tells nothing of these
    rows = sp.csr_array(sp.csc_array(space.relations)[:, cells])
    lower, upper = (problem.lb - problem.a)[cells], (problem.ub - problem.a)[cells]
    low, high = np.concatenate([np.zeros(inside), low]), np.concatenate([np.zeros(inside), high])
    if profile == "vintage":
        before, more = problem.earlier, len(problem.earlier.lower)
        told = sp.csr_array(sp.csc_array(before.rows)[:, [*cells, *range(space.size, space.size + more)]])
        rows = sp.csr_array(sp.vstack([sp.hstack([rows, sp.csr_array((rows.shape[0], more))]), told]))
        low, high = np.concatenate([low, before.row_lower]), np.concatenate([high, before.row_upper])
        lower, upper = np.concatenate([lower, before.lower]), np.concatenate([upper, before.upper])
    if profile == "coalition":
        fixed = problem.known[cells] == problem.a[cells]
        lower, upper = np.where(fixed, 0.0, lower), np.where(fixed, 0.0, upper)
    return _World(cells, rows, low, high, lower, upper)


def _attackers(problem: ProtectionProblem, profile: str) -> tuple[Ints, Floats, Floats]:
    """(cells, lowest, highest deviation): what respondents who act alone know, one cell each."""
    cells = np.flatnonzero(problem.suppressed & (problem.known <= problem.a)) if profile == "internal" else np.zeros(0, dtype=np.int64)
    short = problem.known[cells] - problem.a[cells]
    return cells, short, np.where(short < 0, np.inf, 0.0)


def _needed(problem: ProtectionProblem, primaries: Ints, count: int) -> Floats:
    """(sides, primaries, attackers): what was promised, cut at the external bounds."""
    below, above = (problem.a - problem.lb)[primaries], (problem.ub - problem.a)[primaries]
    promised = [np.minimum(problem.lpl[primaries], below), np.minimum(problem.upl[primaries], above)]
    promised.append(np.minimum(problem.spl[primaries], below + above))
    return np.repeat(np.array(promised)[:, :, None], count, axis=2)


def _prove(
    world: _World, witnesses: Floats, primaries: Ints, needed: Floats, open_: Bools, known: tuple[Ints, Floats, Floats], alone: bool
) -> None:
    """Closes what the witnesses, and their mirror images, prove."""
    at, held = np.searchsorted(world.cells, primaries), np.searchsorted(world.cells, known[0])
    width = np.zeros((2, *needed.shape[1:]))
    for z in (sign * each for each in witnesses for sign in (1.0, -1.0)):
        row = world.A @ z
        miss = max(
            float(np.maximum(world.low - row, row - world.high).max(initial=0.0)),
            float(np.maximum(world.lower - z, z - world.upper).max(initial=0.0)),
        )
        seen = z[at]
        for side, direction in enumerate(SIDES):
            sound = miss <= MISS * needed[side]
            if alone:
                off = np.maximum(known[1] - z[held], z[held] - known[2])
                sound = sound & (off[None, :] <= MISS * needed[side])
            if direction:
                reached = direction * seen[:, None]
                width[side] = np.where(miss <= MISS * needed[2], np.maximum(width[side], np.where(sound, reached, 0.0)), width[side])
                open_[side] &= ~(sound & (reached >= needed[side] * (1 - MET)))
    open_[2] &= width.sum(axis=0) < needed[2] * (1 - MET)


def _bounds(
    world: _World, tied: sp.csr_array, proofs: Multipliers, number: int, primaries: Ints, known: tuple[Ints, Floats, Floats], alone: bool
) -> Iterator[tuple[int, float, slice | int]]:
    """(entry, most that the attacker's uncertainty can be, whose) of the proofs of one profile."""
    core = sp.csr_array(world.A @ tied)
    for i in np.flatnonzero(proofs.profile == number).tolist():
        far = FAR * float(proofs.unit[i])
        lower, upper = np.maximum(world.lower, -far), np.minimum(world.upper, far)
        knower = int(proofs.knower[i])
        if alone and knower >= 0:
            k = int(np.searchsorted(world.cells, known[0][knower]))
            lower[k], upper[k] = max(lower[k], known[1][knower]), min(upper[k], known[2][knower])
        p = tied[[int(np.searchsorted(world.cells, proofs.cell[i]))]]
        span = np.arange(proofs.start[i], proofs.start[i + 1])
        side, split = int(proofs.side[i]), int(proofs.split[i])
        halves = [(side, span)] if side else [(-1, span[:split]), (1, span[split:])]
        room = _room(tied, lower, upper)
        bound = sum(_bound(world, core, way * p, room, proofs.row[part], proofs.value[part]) for way, part in halves)
        yield i, bound, knower if alone and knower >= 0 else slice(None)


def _bound(world: _World, core: sp.csr_array, cost: sp.csr_array, room: tuple[Floats, Floats], rows: Ints, y: Floats) -> float:
    """The weak dual bound on max cost·u."""
    ends = np.where(y > 0, world.high[rows], world.low[rows])
    if np.isinf(ends).any():
        return np.inf
    left = cost.toarray().ravel() - np.asarray(core[rows].T @ y).ravel()
    left[np.abs(left) < 1e-9] = 0.0
    return float(y @ ends + np.where(left > 0, left * room[1], left * room[0]).sum())


def _room(tied: sp.csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """(lower, upper) of each class."""
    entries = sp.coo_array(tied)
    cell, u, sign = entries.row, entries.col, entries.data
    low, high = np.full(tied.shape[1], -np.inf), np.full(tied.shape[1], np.inf)
    np.maximum.at(low, u, np.where(sign > 0, lower[cell], -upper[cell]))
    np.minimum.at(high, u, np.where(sign > 0, upper[cell], -lower[cell]))
    return low, high


def _classes(world: _World) -> sp.csr_array:
    """(columns, classes) with entries ±1: equations of one cell fix it, of two tie them, until none is left; no entry where fixed."""
    equations = sp.csr_array(world.A[(world.low == 0) & (world.high == 0)])
    tied = sp.csr_array(sp.eye_array(equations.shape[1]))
    while True:
        left = sp.csr_array(equations @ tied)
        left.eliminate_zeros()
        short = np.flatnonzero((np.diff(left.indptr) == 1) | (np.diff(left.indptr) == 2))
        if not len(short):
            return tied
        step, seen = sp.lil_array(sp.eye_array(left.shape[1])), set[int]()
        for row in short.tolist():
            span = slice(left.indptr[row], left.indptr[row + 1])
            columns, entries = left.indices[span].tolist(), left.data[span].tolist()
            if seen & set(columns):
                continue  # in the next round
            seen |= set(columns)
            step[columns[0], columns[0]] = 0
            if len(columns) == 2:
                step[columns[0], columns[1]] = -entries[1] / entries[0]
        tied = sp.csr_array(tied @ step.tocsr())
        kept = np.flatnonzero(np.diff(sp.csc_array(tied).indptr) > 0)
        tied = sp.csr_array(sp.csc_array(tied)[:, kept])
        tied.eliminate_zeros()
