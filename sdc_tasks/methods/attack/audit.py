"""The audit: proof, not promise (METHOD §5). What the attacker of `attacker.py` finds, as requirements, reports and cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdc_tasks.methods.attack.attacker import MET, Attack, Attacker
from sdc_tasks.methods.attack.problem import Requirements, contradicted, promised
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication
from sdc_tasks.model.table import Floats


def baseline(problem: ProtectionProblem) -> tuple[Requirements, int]:
    """What the national tables alone protect: the effective requirements, and the number of LPs it took."""
    wanted = promised(problem)
    attacker = Attacker(problem, wanted)
    attacker.settle()
    down, up, slide = attacker.reached()
    cut = (down < wanted.down * (1 - MET)) | (up < wanted.up * (1 - MET)) | (slide < wanted.slide * (1 - MET))
    effective = Requirements(
        wanted.primaries,
        np.where(cut, np.minimum(wanted.down, down), wanted.down),
        np.where(cut, np.minimum(wanted.up, up), wanted.up),
        np.where(cut, np.minimum(wanted.slide, slide), wanted.slide),
        cut,
    )
    return effective, attacker.lps


def audit(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    profiles: tuple[str, ...] = ("external",),
    witnesses: Sequence[Floats] = (),
    seed: int = 1,
) -> AuditReport:
    """Attacks the publication for every primary of `requirements` (all of them, or one chunk).

    `witnesses` are deviations z of the suppressed cells (unit of the data) worth trying first, such as CTA's table; those that
    are no witness of this publication are ignored.
    """
    attacker = Attacker(problem, requirements, seed)
    attacker.face(publication)
    attacker.offer(witnesses)
    attacker.settle()
    down, up, slide = attacker.reached()
    return AuditReport(
        problem=problem.digest,
        publication=publication.digest,
        profiles=profiles,
        primaries=requirements.primaries,
        down=_share(down, requirements.down),
        up=_share(up, requirements.up),
        slide=_share(slide, requirements.slide),
        by_lp=attacker.by_lp,
        baseline=requirements.cut,
        lps=attacker.lps,
        requirements=requirements.digest,
        contradictions=tuple(int(cell) for cell in publication.cells[contradicted(problem, publication)]),
    )


def attacks(problem: ProtectionProblem, publication: Publication, requirements: Requirements) -> list[Attack]:
    """The attacks on this publication that succeed, with the strongest point and the dual prices of each."""
    attacker = Attacker(problem, requirements)
    attacker.face(publication)
    attacker.settle()
    return attacker.broken


def merge(chunks: Sequence[AuditReport]) -> AuditReport:
    """One report from those of disjoint chunks of the same audit. Raises ValueError on anything else."""
    if len({(c.problem, c.publication, c.requirements, c.profiles) for c in chunks}) != 1:
        raise ValueError("only chunks of one audit can be merged")
    first = chunks[0]
    order = np.argsort(np.concatenate([c.primaries for c in chunks]), kind="stable")
    fields = ("primaries", "down", "up", "slide", "by_lp", "baseline")
    joined: dict[str, Any] = {name: np.concatenate([getattr(c, name) for c in chunks])[order] for name in fields}
    if len(np.unique(joined["primaries"])) != len(order):
        raise ValueError("chunks overlap")
    return replace(first, lps=sum(c.lps for c in chunks), **joined)


def chunk(requirements: Requirements, number: int, of: int) -> Requirements:
    """The primaries of chunk `number` of `of`: neighbours stay together, for the hot starts."""
    return requirements.part(np.array_split(np.arange(len(requirements.primaries)), of)[number])


def _share(reached: Floats, needed: Floats) -> Floats:
    """Reached as a share of needed; exactly 1 where met, rounded down to 1e-4 elsewhere so that equal runs give equal bytes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.floor(1e4 * np.where(needed > 0, reached / needed, 1.0) + 1e-3) / 1e4
    return np.where(reached >= needed * (1 - MET), 1.0, np.clip(share, 0.0, 1 - 1e-4))
