"""The audit and the baseline (METHOD §5): they run the attackers and return
requirements, reports and evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.lp.prover import Attack
from sdc_tasks.methods.attack.milp.attacker import IntegerAttacker
from sdc_tasks.methods.attack.milp.audit import integer_audit, integer_baseline
from sdc_tasks.methods.attack.milp.audit import joined as joined_tables
from sdc_tasks.methods.attack.milp.prover import IntegerWitness
from sdc_tasks.methods.attack.polyhedron import contradicted
from sdc_tasks.methods.attack.proofs import joined, proofs_of
from sdc_tasks.methods.attack.prover import Batches
from sdc_tasks.methods.attack.requirements import Requirements, promised
from sdc_tasks.methods.attack.small import revealed_small_counts
from sdc_tasks.methods.attack.targets import SIDES
from sdc_tasks.methods.attack.weaker import complete, unjudged
from sdc_tasks.methods.attack.witness import of_rows, stacked
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import Progress, Say, silent
from sdc_tasks.model.results import AuditReport, Evidence, Publication, SharedWitnesses, Weaker
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, NOTICEABLE

# Primaries of a batch share the witnesses of their own searches. A chunk of an audit is a number of complete
# batches, so that the result does not depend on the number of chunks.
BATCH_PRIMARIES = 64
MOST_BATCHES = 64  # each begins anew from the vertices of its models, which takes long in a large table


def baseline(
    problem: ProtectionProblem, profiles: tuple[str, ...], say: Say = silent, *, every: bool = True
) -> tuple[Requirements, int]:
    """The requirements cut to what the national tables alone protect against each
    profile, and the number of LPs solved.

    `every`: also against the weaker attackers who must be judged beside the strongest ones (`weaker`).
    """
    wanted, work = promised(problem, profiles), Progress(say, "baseline")
    attacker = Attacker(problem, wanted, work=work)
    attacker.prove_all()
    broken, lps = attacker.broken, attacker.lps
    least = _cut_by(wanted, broken)
    left = wanted.implied
    # An adversary who has less may be owed more than the one whose requirement was cut, and so on down to the
    # public.
    while left.any() and len(rest := np.flatnonzero(left & ~least.implied[_general(least)])):
        part = wanted.rows(rest)
        again = Attacker(problem, part, work=work)
        again.prove_all()
        broken = [*broken, *(replace(each, requirement=int(rest[each.requirement])) for each in again.broken)]
        lps += again.lps
        least = _cut_by(wanted, broken)
        left[rest[~part.implied]] = False
    least = integer_baseline(problem, replace(least, why=proofs_of(broken, wanted)), work)
    return complete(problem, least, work) if every else least, lps


def _cut_by(wanted: Requirements, attacks: Sequence[Attack]) -> Requirements:
    return wanted.cut_to((each.requirement, SIDES[each.side], each.insider, each.reach) for each in attacks)


def _general(needs: Requirements) -> Ints:
    """The rows against all attackers of an adversary."""
    return np.flatnonzero(needs.insider < 0)


@dataclass(frozen=True)
class Chunk:
    """The `number`-th of several parts of an audit, with the points that `jointly` found, if it did."""

    number: int = 0
    of: int = 1
    joint: SharedWitnesses | None = None


def audit(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    witnesses: Iterable[Floats] = (),
    seed: int = 1,
    part: Chunk | None = None,
    say: Say = silent,
) -> AuditReport:
    """Attacks the publication for every primary of `requirements`, or for the primaries of one chunk.

    `witnesses`: deviations z of the suppressed cells (unit of the data) to try first, such as CTA's
    table; those that are no witness of this publication are ignored. Every chunk solves the joint LPs of
    the whole audit, or checks the points that `jointly` found by them; then it goes through its
    own batches of neighbours. So the chunks together find the same, whatever their number. Raises ValueError
    for the points of another audit.
    """
    part = part or Chunk()
    joint = part.joint
    work = Progress(say, f"audit, part {part.number + 1} of {part.of}" if part.of > 1 else "audit")
    attacker = _attacker_facing(problem, publication, requirements, witnesses, seed, work)
    all_batches = _batches(requirements)
    batches = [
        all_batches[number]
        for number in np.array_split(np.arange(len(all_batches)), part.of)[part.number].tolist()
    ]
    if joint is None:
        attacker.prove_all(batches)
    else:
        if any(
            getattr(joint, name) != digest
            for name, digest in _audited(problem, publication, requirements, seed).items()
        ):
            raise ValueError("the joint points are of another audit")
        attacker.prove_from(joint, batches)
    mine = np.concatenate([np.zeros(0, dtype=np.int64), *(cells for _, cells in batches)])
    reached = attacker.reached()
    rows = np.flatnonzero(np.isin(requirements.primaries, mine) & ~requirements.implied)
    at = np.searchsorted(mine, requirements.primaries[rows])
    worst = {name: np.ones(len(mine)) for name in reached}
    held = np.ones((len(requirements.profiles), len(mine)), dtype=bool)
    for name, target in worst.items():
        share = _share(reached[name][rows], getattr(requirements, name)[rows])
        np.minimum.at(target, at, share)
        np.logical_and.at(held, (requirements.of_profile[requirements.profile[rows]], at), share >= 1)
    by_lp, cut = np.zeros(len(mine), dtype=bool), np.zeros(len(mine), dtype=bool)
    by_lp[at[attacker.by_lp[rows]]] = True
    cut[at[requirements.cut[rows]]] = True
    report = AuditReport(
        problem=problem.digest,
        publication=publication.digest,
        profiles=requirements.profiles,
        primaries=mine,
        down=worst["down"],
        up=worst["up"],
        slide=worst["slide"],
        by_lp=by_lp,
        baseline=cut,
        lps=attacker.lps,
        shared_lps=attacker.shared_lps,
        requirements=requirements.digest(problem.salt),
        contradictions=tuple(int(cell) for cell in publication.cells[contradicted(problem, publication)]),
        small=tuple(revealed_small_counts(problem, publication).tolist()),
        unjudged=unjudged(problem, requirements),
        held=held,
        evidence=_evidence(attacker, rows, requirements),
    )
    found = integer_audit(report, problem, publication, requirements, batches, seed, work)
    return replace(found, held=_carried(found.held, requirements, mine))


def _carried(held: Bools, requirements: Requirements, mine: Ints) -> Bools:
    """(profiles, primaries): who faces an implied requirement is withstood as far as the adversary is against
    whom it was judged.
    """
    by = requirements.implied_by
    rows = np.flatnonzero((by >= 0) & np.isin(requirements.primaries, mine))
    profile, at = requirements.of_profile, np.searchsorted(mine, requirements.primaries[rows])
    held = held.copy()
    for _ in requirements.profiles:  # what implies a row may itself be implied
        stronger = held[profile[requirements.profile[by[rows]]], at]
        np.logical_and.at(held, (profile[requirements.profile[rows]], at), stronger)
    return held


def jointly(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    witnesses: Iterable[Floats] = (),
    seed: int = 1,
    say: Say = silent,
) -> SharedWitnesses:
    """Solves the joint LPs of an audit, once for all its chunks. `witnesses` and `seed`: those of
    the audit.
    """
    attacker = _attacker_facing(
        problem, publication, requirements, witnesses, seed, Progress(say, "audit, all parts")
    )
    found, lps = attacker.propose()
    points = [each for of_prover in found for each in of_prover]
    return SharedWitnesses(
        **_audited(problem, publication, requirements, seed),
        **SharedWitnesses.rows([(each.columns, each.value) for each in points]),
        prover=np.repeat(np.arange(len(found)), [len(each) for each in found]),
        lps=np.array(lps, dtype=np.int64),
    )


def _audited(
    problem: ProtectionProblem, publication: Publication, requirements: Requirements, seed: int
) -> dict[str, Any]:
    """What tells one audit from another."""
    digests = {
        "problem": problem.digest,
        "publication": publication.digest,
        "requirements": requirements.digest(problem.salt),
    }
    return {**digests, "seed": seed}


def _attacker_facing(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    witnesses: Iterable[Floats],
    seed: int,
    work: Progress,
) -> Attacker:
    attacker = Attacker(problem, requirements, seed, work)
    attacker.set_publication(publication)
    attacker.try_witnesses(witnesses, only_if_useful=True)
    return attacker


def _batches(requirements: Requirements) -> Batches:
    """The primaries in batches of neighbours, at most MOST_BATCHES: (number of the batch, its primaries)."""
    cells = requirements.cells
    size = max(BATCH_PRIMARIES, int(np.ceil(len(cells) / MOST_BATCHES)))
    return list(enumerate(np.split(cells, np.arange(size, len(cells), size)))) if len(cells) else []


def _evidence(attacker: Attacker, rows: Ints, requirements: Requirements) -> Evidence:
    """The evidence for the verdict on these rows."""
    found = list(attacker.witnesses())
    mine = set(rows.tolist())
    return Evidence(
        witness=stacked([each for _, each in found]),
        profile=np.array([profile for profile, _ in found], dtype=np.int64),
        lot=np.array([each.batch for _, each in found], dtype=np.int64),
        broken=proofs_of([each for each in attacker.broken if each.requirement in mine], requirements),
        cut=requirements.why,
        weaker=Weaker.of(
            [(requirements.of_profile[n], who.lacks, cells) for n, who, cells in requirements.asked_weaker]
        ),
    )


def attacks(problem: ProtectionProblem, publication: Publication, requirements: Requirements) -> list[Attack]:
    """The attacks on this publication that succeed: for each one its strongest point and its dual prices."""
    attacker = Attacker(problem, requirements)
    attacker.set_publication(publication)
    attacker.prove_all()
    return attacker.broken


def integer_attacks(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    seed: int,
    tried: Sequence[IntegerWitness] = (),
) -> IntegerAttacker:
    """The attacker with integer knowledge after all his searches, batch by batch as in an audit. His
    `short` lists what was not shown.

    Tables that were `tried` elsewhere count as well. Without them, the result is that of an audit.
    """
    attacker = IntegerAttacker(problem, publication, requirements, seed, tried)
    attacker.prove_all(_batches(requirements))
    return attacker


def merge(chunks: Sequence[AuditReport]) -> AuditReport:
    """Joins the reports of disjoint chunks of one audit. Raises ValueError for any other reports."""
    if len({(c.problem, c.publication, c.requirements, c.profiles, c.shared_lps) for c in chunks}) != 1:
        raise ValueError("only chunks of one audit can be merged")
    first = chunks[0]

    def all_of(name: str, axis: int = 0) -> np.ndarray:
        return np.concatenate([getattr(c, name) for c in chunks], axis=axis)

    order = np.argsort(all_of("primaries"), kind="stable")
    fields = ("primaries", "down", "up", "slide", "by_lp", "baseline", "by_milp", "undecided")
    joined: dict[str, Any] = {name: all_of(name)[order] for name in fields}
    if len(np.unique(joined["primaries"])) != len(order):
        raise ValueError("chunks overlap")
    held = all_of("held", axis=1)[:, order]
    lps = first.shared_lps + sum(c.lps - c.shared_lps for c in chunks)
    replayed = next((c for c in chunks if c.narrow is not None), first)
    evidence = _joined([c.evidence for c in chunks])
    return replace(
        first,
        lps=lps,
        held=held,
        evidence=evidence,
        narrow=replayed.narrow,
        unclaimed=replayed.unclaimed,
        **joined,
    )


def _joined(parts: Sequence[Evidence]) -> Evidence:
    """What all chunks share, once, and then batch by batch."""
    lot = np.concatenate(
        [np.where(part.lot < 0, -1 if n == 0 else -2, part.lot) for n, part in enumerate(parts)]
    )
    profile = np.concatenate([part.profile for part in parts])
    order = np.lexsort((profile, lot))
    order = order[lot[order] >= -1]  # what all batches share, once
    program = next((p for p in parts if len(p.program_centre)), parts[0])
    return Evidence(
        witness=_picked([part.witness for part in parts], order),
        profile=profile[order],
        lot=lot[order],
        broken=joined([part.broken for part in parts]),
        cut=parts[0].cut,
        **joined_tables(parts),
        program=program.program,
        program_centre=program.program_centre,
        weaker=parts[0].weaker,
    )


def _picked(parts: Sequence[sp.csr_array], rows: Ints) -> sp.csr_array:
    """These rows of the matrices, numbered through all of them; as wide as the widest one."""
    first = np.cumsum([0, *(part.shape[0] for part in parts)])
    number = np.searchsorted(first, rows, side="right") - 1
    found = [(parts[n], row) for n, row in zip(number.tolist(), (rows - first[number]).tolist(), strict=True)]
    spans = [(part, slice(*part.indptr[row : row + 2].tolist())) for part, row in found]
    return of_rows(
        [(part.indices[span], part.data[span]) for part, span in spans], max(part.shape[1] for part in parts)
    )


def _share(reached: Floats, needed: Floats) -> Floats:
    """Reached as a share of needed; exactly 1 where met, rounded down to 1e-4 elsewhere so
    that equal runs give equal bytes.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.floor(1e4 * np.where(needed > 0, reached / needed, 1.0) + 1e-3) / 1e4
    return np.where(reached >= needed * (1 - FEASIBILITY), 1.0, np.clip(share, 0.0, 1 - NOTICEABLE))
