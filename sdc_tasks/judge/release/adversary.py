"""One adversary: what is required against him, which requirements the tables of the evidence meet, and which
attacks its multipliers prove.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.duality import ReducedPolyhedron, tied_groups
from sdc_tasks.judge.release.integers import ExhaustiveSearch
from sdc_tasks.judge.release.knowledge import Known, attackers
from sdc_tasks.judge.release.owed.promise import Needs, promised
from sdc_tasks.judge.release.polyhedron import (
    AttackerPolyhedron,
    integer_known,
    integer_polyhedron,
    polyhedron_of,
)
from sdc_tasks.judge.release.sides import SIDES
from sdc_tasks.judge.release.witnesses import remaining
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import Adversary
from sdc_tasks.model.results import Evidence, Multipliers, Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import JUDGED_INTEGRALITY, JUDGED_LEVEL, JUDGED_MISS, NOTICEABLE, OPTIMALITY


@dataclass(frozen=True, repr=False)
class AdversaryCase:
    """One adversary: its polyhedra with and without the publication, what it knows, for which primaries it is
    judged (`judged`), and the numbers of the adversaries whose tables deceive this one too (`deceived_by`).
    `tied`: the tied groups of cells.
    """

    number: int
    who: Adversary
    problem: ProtectionProblem
    primaries: Ints
    judged: Bools
    deceived_by: Ints
    polyhedron: AttackerPolyhedron
    unpublished: AttackerPolyhedron
    known: Known
    tied: sp.csr_array

    def place(self, cell: int) -> int:
        """The position of a primary among the primaries."""
        return int(np.searchsorted(self.primaries, cell))

    def column(self, cell: int) -> int:
        """The column of a hidden cell in both polyhedra."""
        return int(np.searchsorted(self.polyhedron.cells, cell))

    def known_bounds(self, cell: int, insider: int) -> tuple[Ints, Floats, Floats]:
        """(columns, lower, upper): what the attackers of a primary know of cells. `insider`: the number of
        one who acts alone.
        """
        known = self.known
        victim = known.victim[self.place(cell)]
        mine = np.arange(len(known.cells)) == insider if known.alone else known.owner != victim
        return np.searchsorted(self.polyhedron.cells, known.cells[mine]), known.lower[mine], known.upper[mine]


@dataclass(frozen=True)
class _Bound:
    """One proof of the evidence about a primary: as the attacker `insider` (−1: all) sees it, its value
    lies no further to that `side` than `most` from the truth by our arithmetic, and `reach` by the evidence.
    """

    cell: int
    side: int
    insider: int
    most: float
    reach: float

    def cuts(self, need: float) -> bool:
        """Is the bound what the evidence says, and below the requirement?"""
        return abs(self.most - self.reach) <= OPTIMALITY * need and self.reach < need


def cases_of(
    problem: ProtectionProblem,
    publication: Publication,
    adversaries: Sequence[Adversary],
    primaries: Ints,
    judged: Bools,
) -> list[AdversaryCase]:
    """The adversaries: first the profiles, judged for all primaries; then the weaker ones, for each of which
    `judged` (weaker adversaries, primaries) says for which primaries.
    """
    profiles = len(adversaries) - len(judged)
    judged = np.vstack([np.ones((profiles, len(primaries)), dtype=bool), judged])
    found = []
    for number, who in enumerate(adversaries):
        # A table that deceives somebody who knows more deceives him too.
        deceived_by = [
            n
            for n, each in enumerate(adversaries)
            if each.profile == who.profile and set(each.lacks) <= set(who.lacks)
        ]
        unpublished = polyhedron_of(problem, None, who.profile, who.lacks)
        found.append(
            AdversaryCase(
                number,
                who,
                problem,
                primaries,
                judged[number],
                np.array(deceived_by),
                polyhedron_of(problem, publication, who.profile, who.lacks),
                unpublished,
                attackers(problem, who.profile, primaries, who.lacks),
                tied_groups(unpublished),
            )
        )
    return found


def requirements(case: AdversaryCase, evidence: Evidence) -> Needs:
    """The requirements: the promise, cut where the national tables provably do not keep it.
    Raises ValueError for any other cut.
    """
    problem, primaries = case.problem, case.primaries
    needs = Needs(promised(problem, primaries), np.zeros(len(primaries), dtype=bool))
    reached = dict[tuple[int, int, int], float]()
    for bound in _bounds(case, case.unpublished, evidence.cut):
        p = case.place(bound.cell)
        sound = bound.cuts(needs.of(bound.side, p, -1))
        _ask(sound, problem, bound.cell, "is not cut by what the national tables leave")
        key = bound.side, p, bound.insider
        reached[key] = min(reached.get(key, np.inf), bound.reach)
    needs.lower(reached)
    needs.whole(problem.integral[primaries])
    needs.lower(_integer_cuts(case, needs, evidence))
    return needs


def _integer_cuts(case: AdversaryCase, needs: Needs, evidence: Evidence) -> dict[tuple[int, int, int], float]:
    """(side, primary, insider) → how far whole national tables reach, where the evidence says that it is less
    than the requirement and an exhaustive search proves it.
    """
    polyhedron, integral = integer_polyhedron(case.problem, None, case.unpublished)
    reached = dict[tuple[int, int, int], float]()
    for _, cell, side, insider, reach in evidence.whole_cut[evidence.whole_cut[:, 0] == case.number].tolist():
        p = case.place(cell)
        columns, low, high = case.known_bounds(cell, insider)
        low = np.where(integral[columns], np.ceil(low - JUDGED_INTEGRALITY), low)
        search = ExhaustiveSearch.around(polyhedron, integral, case.column(cell), columns, low, high)
        proven = (
            search is not None and reach < needs.of(side, p, insider) and search.reaches_no_more(side, reach)
        )
        _ask(
            proven,
            case.problem,
            cell,
            "is cut on the word of a MILP, which could not be shown in as many steps as are counted here",
        )
        reached[side, p, insider] = float(reach)
    return reached


def without_witness(case: AdversaryCase, publication: Publication, needs: Needs, evidence: Evidence) -> Bools:
    """(sides, primaries, attackers): the requirements that no table of the evidence meets. Raises ValueError
    if a table that should be whole is not.
    """
    problem, primaries, known = case.problem, case.primaries, case.known
    needed, unproven = _needed(case, needs), _asked(case, needs)
    tables = sp.csr_array(evidence.witness[np.isin(evidence.profile, case.deceived_by)])
    found = remaining(
        case.polyhedron, tables, primaries, needed, unproven, known, JUDGED_MISS * needed, JUDGED_LEVEL
    )
    integral = problem.integral[primaries]
    if integral.any():
        # Who knows that a count is whole is deceived by whole tables alone, and these fit exactly.
        tables = sp.csr_array(evidence.whole[np.isin(evidence.whole_profile, case.deceived_by)])
        polyhedron, whole = integer_polyhedron(problem, publication, case.polyhedron)
        if (tables.data[whole[tables.indices]] % 1 != 0).any():
            raise ValueError("the witnesses are no evidence (whole tables: a table that is not whole)")
        known, exactly = integer_known(known, polyhedron, whole), np.full(needed.shape, JUDGED_INTEGRALITY)
        counts = remaining(polyhedron, tables, primaries, needed, unproven, known, exactly, 0.0)
        found[:, integral] = counts[:, integral]
    return found


def proven_attacks(case: AdversaryCase, needs: Needs, evidence: Evidence) -> tuple[Bools, Floats]:
    """(sides, primaries, attackers): where an attack is proven; (sides, primaries): the share of the
    requirement that the attacks leave, 1 without one and for counts.

    Raises ValueError if an attack of the evidence does not succeed, or reaches another level than it says.
    """
    asked, share = _asked(case, needs), np.ones((len(SIDES), len(case.primaries)))
    attacked = np.zeros_like(asked)
    for bound in _bounds(case, case.polyhedron, evidence.broken):
        p, side = case.place(bound.cell), SIDES.index(bound.side)
        need = needs.of(bound.side, p, bound.insider)
        _ask(
            bound.cuts(need),
            case.problem,
            bound.cell,
            "is attacked, but not as far as the evidence says",
        )
        who = bound.insider if case.known.alone and bound.insider >= 0 else slice(None)
        attacked[side, p, who] |= asked[side, p, who]
        if not case.problem.integral[bound.cell]:
            share[side, p] = min(share[side, p], _share(bound.reach / need))
    return attacked, share


def _bounds(case: AdversaryCase, polyhedron: AttackerPolyhedron, proofs: Multipliers) -> Iterator[_Bound]:
    """The proofs of the evidence that are about this adversary, by weak duality in one of its polyhedra."""
    reduced = ReducedPolyhedron(polyhedron, case.tied)
    for i in np.flatnonzero(proofs.profile == case.number).tolist():
        cell, side, insider = int(proofs.cell[i]), int(proofs.side[i]), int(proofs.knower[i])
        bounds = reduced.bounds(*case.known_bounds(cell, insider))
        span, split = np.arange(proofs.start[i], proofs.start[i + 1]), int(proofs.split[i])
        # A sliding level has two proofs, of how far down and how far up, and their sum is the width.
        halves = [(side, span)] if side else [(-1, span[:split]), (1, span[split:])]
        most = sum(
            reduced.dual_bound(case.column(cell), way, bounds, proofs.row[part], proofs.value[part])
            for way, part in halves
        )
        yield _Bound(cell, side, insider, most, float(proofs.reach[i]))


def _needed(case: AdversaryCase, needs: Needs) -> Floats:
    """(sides, primaries, attackers): 1 attacker if they act together."""
    return needs.against(len(case.known.cells) if case.known.alone else 1)


def _asked(case: AdversaryCase, needs: Needs) -> Bools:
    """(sides, primaries, attackers): where something is required. Nobody attacks a primary of his own."""
    asked = (_needed(case, needs) > 0) & case.judged[None, :, None]
    if case.known.alone:
        asked &= (case.known.owner[None, :] != case.known.victim[:, None])[None]
    return asked


def _share(left: float) -> float:
    """Rounded down, so that equal attacks leave equal shares."""
    return float(np.clip(np.floor(1e4 * left + 1e-3) / 1e4, 0.0, 1 - NOTICEABLE))


def _ask(holds: bool, problem: ProtectionProblem, cell: int, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{problem.space.key(cell)} {otherwise}")
