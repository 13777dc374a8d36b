"""A second program for the same verdict: checks a certificate's evidence by arithmetic. No LP, no code of the attacker's.

From the deliveries (`ProtectionProblem`), the table (`Publication`) and the evidence alone:

- a witness is a table: every relation, bound and published interval holds, but for a miss that is small (`MISS`) beside the
  requirement it proves. It moves a primary at least as far as the requirement asks, and leaves each attacker what he knows, a
  coalition what all of them know but the victim;
- a successful attack is shown by weak duality: for multipliers y of the rows, `σ z_p ≤ Σ max(y·row bounds) + Σ max(d·bounds)` with
  `d = c − Aᵀy`. Cells that the national relations tie to each other, or fix, count as one (`_classes`);
- against integer knowledge only tables of whole numbers count, and these must fit exactly. That there is none has no proof of this kind:
  such a verdict, and a requirement cut for it, rests on the word of a MILP, and is counted as such;
- a requirement is the promised level, cut at the external bounds, and lower only where multipliers that lean on no aggregate show
  that the national tables alone do not keep it;
- where small counts must not be told (`ProtectionProblem.least`), every sum and difference of compositions is looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Evidence, Multipliers, Publication
from sdc_tasks.model.table import Bools, Floats, Ints

MET = 1e-5  # relative: what counts as reached
MISS = 2e-4  # of a requirement: by how much its witness may miss a relation or a bound
WHOLE = 1e-5  # what is left of one where sums of whole numbers are taken for whole
FAR = 1e4  # units beyond which no deviation is followed
SIDES = (-1, 1, 0)


@dataclass(frozen=True)
class Recheck:
    """`protected` (profiles, primaries): proven by witnesses; `exposed`: a successful attack is. Both false: not shown either way. `small`:
    aggregate cells that tell a small count.

    `whole` (primaries,): judged with integer knowledge; where such a cell is neither, no whole table shows it. `words`: requirements
    that are cut on the word of a MILP.
    """

    primaries: Ints = field(repr=False)
    protected: Bools = field(repr=False)
    exposed: Bools = field(repr=False)
    witnesses: int
    attacks: int
    whole: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    words: int = 0
    small: tuple[int, ...] = ()

    @property
    def unshown(self) -> Bools:
        """(profiles, primaries): no whole table shows it, and nothing shows the attack either."""
        return np.asarray(self.whole & ~self.protected & ~self.exposed)


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
        known = _attackers(problem, profile, primaries)
        witnesses = sp.csr_array(evidence.witness[evidence.profile == number])
        if witnesses.indices.max(initial=-1) >= len(world.lower):
            raise ValueError("the witnesses are not of these deliveries")
        count = len(known.cells) if known.alone else 1
        needed = _needed(problem, primaries, count)
        tied = _classes(nothing) if len(evidence.cut.cell) + len(evidence.broken.cell) else sp.csr_array((len(world.lower), 0))
        for i, bound, knowers in _bounds(nothing, tied, evidence.cut, number, primaries, known):
            side = SIDES.index(int(evidence.cut.side[i]))
            p = int(np.searchsorted(primaries, evidence.cut.cell[i]))
            needed[side, p, knowers] = np.minimum(needed[side, p, knowers], bound)
        whole = problem.integral[primaries]
        needed[:, whole] = np.floor(needed[:, whole] + WHOLE)
        for cut in evidence.whole_cut[evidence.whole_cut[:, 0] == number].tolist():
            side, p, knowers = SIDES.index(cut[2]), int(np.searchsorted(primaries, cut[1])), slice(None) if cut[3] < 0 else cut[3]
            needed[side, p, knowers] = np.minimum(needed[side, p, knowers], cut[4])
        open_ = needed > 0
        if known.alone:
            open_ &= (known.owner[None, :] != known.victim[:, None])[None]
        if whole.any():
            shown = open_.copy()
            tables = sp.csr_array(evidence.whole[evidence.whole_profile == number]) if len(evidence.whole_profile) else evidence.whole
            narrow, knowing = _whole_world(problem, publication, world, tables, known)
            _prove(narrow, tables, primaries, needed, shown, knowing, np.full(needed.shape, WHOLE), 0.0)
        _prove(world, witnesses, primaries, needed, open_, known, MISS * needed, MET)
        if whole.any():
            open_[:, whole] = shown[:, whole]
        protected[number] = ~open_.any(axis=(0, 2))
        for i, bound, knowers in _bounds(world, tied, evidence.broken, number, primaries, known):
            side, p = SIDES.index(int(evidence.broken.side[i])), int(np.searchsorted(primaries, evidence.broken.cell[i]))
            exposed[number, p] |= bool((bound < needed[side, p, knowers] * (1 - 1e-7)).any())
    return Recheck(
        primaries,
        protected,
        exposed,
        len(evidence.profile) + len(evidence.whole_profile),
        len(evidence.broken.cell),
        problem.integral[primaries],
        len(evidence.whole_cut),
        _small(problem, publication),
    )


def _small(problem: ProtectionProblem, publication: Publication) -> tuple[int, ...]:
    """Aggregate cells of which something in 1 … least − 1 is left, alone or as the first of several, less what is public of it."""
    space, n = problem.space, problem.space.national_size
    if not problem.least.any():
        return ()
    M = space.national_relations
    made_of: dict[int, list[int]] = {}  # of each total, its parts in one relation
    for start, end in zip(M.indptr[:-1].tolist(), M.indptr[1:].tolist(), strict=True):
        entries = dict(zip(M.indices[start:end].tolist(), M.data[start:end].tolist(), strict=True))
        made_of[next(cell for cell, sign in entries.items() if sign < 0)] = [cell for cell, sign in entries.items() if sign > 0]

    @cache
    def open_(country: int, cell: int) -> float:
        if cell in made_of:
            return sum(open_(country, part) for part in made_of[cell])
        at = country * n + cell
        return float(problem.a[at]) if problem.public[at] else 0.0

    told = dict(zip(publication.cells[~publication.visible].tolist(), publication.value[~publication.visible].tolist(), strict=True))
    found = set()
    members = [{space.countries.index(member) for member in aggregate.members} for aggregate in space.aggregates]
    first = len(space.countries)
    for factors in product((-1, 0, 1), repeat=len(members)):
        held = [sum(f for f, of in zip(factors, members, strict=True) if country in of) for country in range(first)]
        chosen = [(f, first + k) for k, f in enumerate(factors) if f]
        if not any(held) or not set(held) <= {0, 1} or (len(members) > 7 and len(chosen) > 3):
            continue
        for cell in range(n):
            left = sum(f * told.get(area * n + cell, np.nan) for f, area in chosen)
            left -= sum(open_(country, cell) for country, one in enumerate(held) if one)
            if WHOLE < left < problem.least[first * n + cell] - WHOLE:
                found.add(chosen[0][1] * n + cell)
    return tuple(sorted(found))


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
    return _World(cells, rows, low, high, lower, upper)


@dataclass(frozen=True, repr=False)
class _Known:
    """What respondents know, one cell each: its `lower` and `upper` deviation, and its `owner`; `victim` is the owner of each primary, −1
    for none. `alone`: each is an attacker; else all but those of the victim are one.
    """

    alone: bool
    cells: Ints
    lower: Floats
    upper: Floats
    owner: Ints
    victim: Ints


def _attackers(problem: ProtectionProblem, profile: str, primaries: Ints) -> _Known:
    """The respondents of a profile. Single-unit cells that are parts of one another have the same."""
    asked = {"internal": problem.known <= problem.a, "coalition": problem.known == problem.a}
    cells = np.flatnonzero(problem.suppressed & asked.get(profile, np.zeros(problem.space.size, dtype=bool)))
    short = problem.known[cells] - problem.a[cells]
    single, owner = set(cells[short == 0].tolist()), {cell: cell for cell in cells.tolist()}

    def first(cell: int) -> int:
        while owner[cell] != cell:
            cell = owner[cell]
        return cell

    n, totals = problem.space.national_size, _totals(problem)
    for cell in sorted(single):
        above = [cell]
        for each in above:  # grows: all that the cell is a part of
            above += [cell - cell % n + total for total in totals[each % n] if cell - cell % n + total not in above]
        for each in above[1:]:
            if each in single:
                owner[max(first(each), first(cell))] = min(first(each), first(cell))
    return _Known(
        profile == "internal", cells, short, np.where(short < 0, np.inf, 0.0),
        np.array([first(cell) for cell in cells.tolist()], dtype=np.int64),
        np.array([first(cell) if cell in owner else -1 for cell in primaries.tolist()], dtype=np.int64),
    )  # fmt: skip


def _totals(problem: ProtectionProblem) -> list[list[int]]:
    """Of each cell of a national table, the totals that it is a part of."""
    M = sp.coo_array(problem.space.national_relations)
    total = dict(zip(M.row[M.data < 0].tolist(), M.col[M.data < 0].tolist(), strict=True))
    totals: list[list[int]] = [[] for _ in range(problem.space.national_size)]
    for row, part in zip(M.row[M.data > 0].tolist(), M.col[M.data > 0].tolist(), strict=True):
        totals[part].append(total[row])
    return totals


def _whole_world(
    problem: ProtectionProblem, publication: Publication, world: _World, tables: sp.csr_array, known: _Known
) -> tuple[_World, _Known]:
    """The same for an attacker who knows which values are whole numbers. Raises ValueError where a table of the evidence is not whole.

    Of a rounded whole number he knows that the upper end of its interval would have been rounded up.
    """
    n, later = len(world.cells), problem.earlier.code if len(world.lower) > len(world.cells) else np.zeros(0, dtype=np.int64)
    whole = np.concatenate([problem.integral[world.cells], problem.integral[later]])
    if tables.indices.max(initial=-1) >= len(whole):
        raise ValueError("the whole tables are not of these deliveries")
    entries = sp.coo_array(tables)
    if (entries.data[whole[entries.col]] % 1 != 0).any():
        raise ValueError("a table of the evidence is not whole")
    rows = np.asarray(abs(world.A) @ np.where(whole, 0.0, 1.0) == 0)
    below, above = np.ceil(world.low - WHOLE), np.floor(world.high + WHOLE)
    inside = problem.space.relations.shape[0] - len(publication.cells)
    rounded = np.zeros(len(rows), dtype=bool)
    rounded[inside : inside + len(publication.cells)] = publication.rounded
    rounded[inside + len(publication.cells) :] = True  # what earlier releases told
    under = np.maximum(np.ceil(world.high - WHOLE) - 1, 0.0)
    above = np.where(rounded, np.minimum(above, under), above)
    return (
        _World(
            world.cells,
            world.A,
            np.where(rows, below, world.low),
            np.where(rows, above, world.high),
            np.where(whole, np.ceil(world.lower - WHOLE), world.lower),
            np.where(whole, np.floor(world.upper + WHOLE), world.upper),
        ),
        replace(known, lower=np.where(whole[:n][np.searchsorted(world.cells, known.cells)], np.ceil(known.lower - WHOLE), known.lower)),
    )


def _needed(problem: ProtectionProblem, primaries: Ints, count: int) -> Floats:
    """(sides, primaries, attackers): what was promised, cut at the external bounds; of whole numbers the next whole step."""
    below, above = (problem.a - problem.lb)[primaries], (problem.ub - problem.a)[primaries]
    lpl, upl, spl = problem.lpl[primaries], problem.upl[primaries], problem.spl[primaries]
    whole = problem.integral[primaries]
    below, above = (np.where(whole, np.floor(room), room) for room in (below, above))
    lpl, upl, spl = (np.where(whole, np.ceil(level - 1e-9), level) for level in (lpl, upl, spl))
    promised = [np.minimum(lpl, below), np.minimum(upl, above), np.minimum(spl, below + above)]
    return np.repeat(np.array(promised)[:, :, None], count, axis=2)


def _prove(
    world: _World, witnesses: sp.csr_array, primaries: Ints, needed: Floats, open_: Bools, known: _Known, slack: Floats, short: float
) -> None:  # fmt: skip
    """Closes what the witnesses, and their mirror images, prove, with `slack` to every row and bound, and to what an attacker knows;
    `short` of the requirement, as a share, still counts as reached.
    """
    at, held = np.searchsorted(world.cells, primaries), np.searchsorted(world.cells, known.cells)
    width = np.zeros((2, *needed.shape[1:]))
    for z in (sign * each for each in _tables(witnesses, len(world.lower)) for sign in (1.0, -1.0)):
        row = world.A @ z
        miss = max(
            float(np.maximum(world.low - row, row - world.high).max(initial=0.0)),
            float(np.maximum(world.lower - z, z - world.upper).max(initial=0.0)),
        )
        seen, off = z[at], _off(known, z[held])
        for side, direction in enumerate(SIDES):
            sound = (miss <= slack[side]) & (off <= slack[side])
            if direction:
                reached = direction * seen[:, None]
                width[side] = np.where(miss <= slack[2], np.maximum(width[side], np.where(sound, reached, 0.0)), width[side])
                open_[side] &= ~(sound & (reached >= needed[side] * (1 - short)))
    open_[2] &= width.sum(axis=0) < needed[2] * (1 - short)


def _tables(witnesses: sp.csr_array, n: int) -> Iterator[Floats]:
    """The n deviations of each witness."""
    for start, end in zip(witnesses.indptr[:-1].tolist(), witnesses.indptr[1:].tolist(), strict=True):
        z = np.zeros(n)
        z[witnesses.indices[start:end]] = witnesses.data[start:end]
        yield z


def _off(known: _Known, z: Floats) -> Floats:
    """(primaries or 1, attackers): how far a witness is from what each attacker of each primary knows."""
    each = np.maximum(known.lower - z, z - known.upper)
    if known.alone:
        return each[None, :]
    if not len(each):
        return np.zeros((1, 1))
    worst = known.owner[each.argmax()]  # all see his cells, but those who look for them the next worst
    rest = float(each[known.owner != worst].max(initial=0.0))
    return np.where(known.victim == worst, rest, float(each.max()))[:, None]


def _bounds(
    world: _World, tied: sp.csr_array, proofs: Multipliers, number: int, primaries: Ints, known: _Known
) -> Iterator[tuple[int, float, slice | int]]:
    """(entry, most that the attacker's uncertainty can be, whose) of the proofs of one profile."""
    core = sp.csr_array(world.A @ tied)
    for i in np.flatnonzero(proofs.profile == number).tolist():
        far = FAR * float(proofs.unit[i])
        lower, upper = np.maximum(world.lower, -far), np.minimum(world.upper, far)
        knower = int(proofs.knower[i])
        if known.alone:
            told = np.arange(len(known.cells)) == knower
        else:
            told = known.owner != known.victim[np.searchsorted(primaries, proofs.cell[i])]
        k = np.searchsorted(world.cells, known.cells[told])
        lower[k], upper[k] = np.maximum(lower[k], known.lower[told]), np.minimum(upper[k], known.upper[told])
        p = tied[[int(np.searchsorted(world.cells, proofs.cell[i]))]]
        span = np.arange(proofs.start[i], proofs.start[i + 1])
        side, split = int(proofs.side[i]), int(proofs.split[i])
        halves = [(side, span)] if side else [(-1, span[:split]), (1, span[split:])]
        room = _room(tied, lower, upper)
        bound = sum(_bound(world, core, way * p, room, proofs.row[part], proofs.value[part]) for way, part in halves)
        yield i, bound, knower if known.alone and knower >= 0 else slice(None)


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
        length = np.diff(left.indptr)
        one_to_one = [row for row in np.flatnonzero(length == 2).tolist() if np.ptp(np.abs(left.data[left.indptr[row] :][:2])) == 0]
        short = np.sort(np.concatenate([np.flatnonzero(length == 1), np.array(one_to_one, dtype=np.int64)]))
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
