"""Why an aggregate cell is not exact: which attack holds it, through whose cells, and what would
free it. Keys alone, no values.

The cell is published exactly, all else as it is, and the attacker tries (methods/attack). Every attack that
succeeds comes with its proof by weak duality: multipliers of relations. The cells of these relations are what
the attack goes through. Then each other aggregate that the proofs use is withheld in turn, and the attacker
tries again: where he fails, withholding that one would free the cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import some_of
from sdc_tasks.methods import attack
from sdc_tasks.model.keys import codes_in
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Multipliers, Publication, State
from sdc_tasks.model.table import Ints
from sdc_tasks.model.tolerances import DUAL

NAMED_HOLDS = 8  # primaries that the sentences name
NAMED_KEYS = 6  # keys of one attack that they name
TRIED = 6  # aggregates that are withheld in turn
SIDES = {-1: "downwards", 1: "upwards", 0: "on both sides together"}


@dataclass(frozen=True)
class Hold:
    """A primary that the exact cell would put at risk: against which attacker, on which side, through which
    other cells. `hidden`: national cells that the attacker does not know; `told`: aggregates whose published
    values he uses, the exact cell first.
    """

    primary: str
    profile: str
    side: str
    hidden: tuple[str, ...]
    told: tuple[str, ...]


@dataclass(frozen=True)
class Why:
    """`state`: what is published of the cell. `unavailable`: a country has no value for it.
    `small`: exact, it would reveal a small count. `frees`: aggregates; to withhold one of them lets
    the cell be exact, all else as it is.
    """

    cell: str
    state: State
    unavailable: bool
    small: bool
    holds: tuple[Hold, ...]
    frees: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a methodologist reads."""
        if self.state is State.EXACT:
            return ("it is published exactly: no attack succeeds",)
        if self.unavailable:
            return (
                (
                    "a national cell below it has no value: nobody can add it up, and it is free when that "
                    "country sends it"
                ),
            )
        told = [
            (
                "exact, it would reveal a small count, alone or with other compositions: it is rounded as "
                "the "
                "domain file asks"
            )
        ] * self.small
        for hold in self.holds[:NAMED_HOLDS]:
            through = (
                f" through {some_of(hold.hidden, NAMED_KEYS)}"
                if hold.hidden
                else ", of which it is the only hidden cell"
            )
            beside = f", with {some_of(hold.told[1:], NAMED_KEYS)}" if hold.told[1:] else ""
            told.append(
                f"exact, it would put {hold.primary} at risk {hold.side} (profile "
                f"{hold.profile}){through}{beside}"
            )
        if len(self.holds) > NAMED_HOLDS:
            told.append(f"… and {len(self.holds) - NAMED_HOLDS} more")
        if not told:
            return (
                "exact, with all else as it is, no attack succeeds: a rule of the domain file keeps it as it "
                "is, such as one base for "
                "several cells, or additive values",
            )
        if countries := sorted({codes_in(hold.primary)[0] for hold in self.holds}):
            told.append(
                f"what may free it: more hidden cells of {', '.join(countries)} in these relations, or lower "
                f"levels there"
            )
        told += [f"it is free when {each} is withheld, all else as it is" for each in self.frees]
        return tuple(told)


def why_not_exact(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    publication: Publication,
    cell: int,
    seed: int = 1,
) -> Why:
    """The answer for an aggregate cell, by flat index. It is as confidential as the names of
    primary cells.
    """
    i = int(np.searchsorted(publication.cells, cell))
    key, state = problem.space.key(cell), _state(publication, i)
    if state is State.EXACT or problem.withheld[cell]:
        return Why(key, state, bool(problem.withheld[cell]), False, (), ())
    exact = _exactly(problem, publication, i)
    found = attack.audit(problem, exact, requirements, seed=seed)
    proofs = found.evidence.broken
    small = bool(found.small) and cell in found.small
    uses = [_used(problem, proofs, each) for each in range(len(proofs.cell))]
    holds = _holds(problem, requirements, found, uses, cell)
    beside = [other for other in _told(problem, uses) if other != cell]
    frees = (
        tuple(problem.space.key(o) for o in beside[:TRIED] if _frees(problem, exact, requirements, o, seed))
        if holds
        else ()
    )
    return Why(key, state, False, small, tuple(holds), frees)


@dataclass(frozen=True)
class Success:
    """An attack of an audit that succeeds: on which primary, by whom, and through the published aggregates;
    to withhold or round one of these ends it.
    """

    primary: str
    attacker: str
    through: tuple[str, ...]


def successes(
    problem: ProtectionProblem, requirements: attack.Requirements, report: AuditReport
) -> list[Success]:
    """The attacks that the evidence of a report proves, one for each primary and attacker. As
    confidential as the names of primaries.
    """
    proofs, found = report.evidence.broken, dict[tuple[int, str], set[int]]()
    names = [attack.who(problem, each) for each in requirements.adversaries]
    for i, (cell, number) in enumerate(zip(proofs.cell.tolist(), proofs.profile.tolist(), strict=True)):
        told = _used(problem, proofs, i)
        found.setdefault((cell, names[number]), set()).update(told[problem.aggregate[told]].tolist())
    key = problem.space.key
    return [
        Success(key(cell), name, tuple(map(key, sorted(through)))) for (cell, name), through in found.items()
    ]


def _state(publication: Publication, i: int) -> State:
    kinds = {
        State.WITHHELD: publication.withheld,
        State.VISIBLE: publication.visible,
        State.ROUNDED: publication.rounded,
    }
    return next((state for state, mask in kinds.items() if mask[i]), State.EXACT)


def _exactly(problem: ProtectionProblem, publication: Publication, i: int) -> Publication:
    value, base, covers = publication.value.copy(), publication.base.copy(), publication.covers.copy()
    value[i], base[i], covers[i] = problem.a[publication.cells[i]], 0.0, 0.0
    return Publication(publication.cells, value, base, covers)


def _used(problem: ProtectionProblem, proofs: Multipliers, i: int) -> Ints:
    """The cells in the relations of proof i; rows of earlier versions are not relations of this table."""
    rows, size = (
        proofs.row[proofs.start[i] : proofs.start[i + 1]],
        np.abs(proofs.value[proofs.start[i] : proofs.start[i + 1]]),
    )
    own = rows[(size > DUAL * size.max(initial=0.0)) & (rows < problem.space.relations.shape[0])]
    return np.unique(sp.csr_array(problem.space.relations[own]).indices)


def _hold(
    problem: ProtectionProblem, names: Sequence[str], proofs: Multipliers, i: int, used: Ints, cell: int
) -> Hold:
    primary, decided = int(proofs.cell[i]), problem.aggregate
    hidden = [int(each) for each in used if problem.suppressed[each] and each != primary]
    told = [cell, *(int(each) for each in used if decided[each] and each != cell)]
    key = problem.space.key
    side = SIDES[int(np.sign(proofs.side[i]))]
    return Hold(key(primary), names[proofs.profile[i]], side, tuple(map(key, hidden)), tuple(map(key, told)))


def _holds(
    problem: ProtectionProblem,
    requirements: attack.Requirements,
    found: AuditReport,
    uses: Sequence[Ints],
    cell: int,
) -> list[Hold]:
    """The attacks that succeed where the cell is exact. `uses`: the cells that each proof uses."""
    proofs, key = found.evidence.broken, problem.space.key
    names = [attack.who(problem, each) for each in requirements.adversaries]
    holds = _joined([_hold(problem, names, proofs, each, used, cell) for each, used in enumerate(uses)])
    proven = set(proofs.cell.tolist())
    counted = [
        int(p) for p in found.primaries[~found.protected] if int(p) not in proven
    ]  # whole numbers: no short proof
    return holds + [Hold(key(p), "integer", "as a whole number", (), (key(cell),)) for p in counted]


def _joined(holds: Sequence[Hold]) -> list[Hold]:
    """The attacks on one primary by one profile as one, whatever their sides."""
    groups: dict[tuple[str, str], list[Hold]] = {}
    for each in holds:
        groups.setdefault((each.primary, each.profile), []).append(each)

    def every(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for one in lists for each in one))

    return [
        Hold(
            *key,
            " and ".join(every([each.side] for each in group)),
            every(g.hidden for g in group),
            every(g.told for g in group),
        )
        for key, group in groups.items()
    ]


def _told(problem: ProtectionProblem, uses: Sequence[Ints]) -> list[int]:
    """The aggregates that the proofs use, those that most of them use first."""
    every = np.concatenate([np.zeros(0, dtype=np.int64), *uses])
    cells, often = np.unique(every[problem.aggregate[every]], return_counts=True)
    return [int(each) for each in cells[np.lexsort((cells, -often))]]


def _frees(
    problem: ProtectionProblem, exact: Publication, requirements: attack.Requirements, other: int, seed: int
) -> bool:
    i = int(np.searchsorted(exact.cells, other))
    if exact.withheld[i]:
        return False
    mask = np.zeros(len(exact.cells), dtype=bool)
    mask[i] = True
    return attack.audit(problem, exact.without(mask), requirements, seed=seed).passed
