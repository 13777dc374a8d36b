"""Rounds indicators of a release as whole tables, instead of cell by cell to safe bases: a
method proposes, the attacker judges.

    small-count    [4]; `counts.py`
    controlled     [2] §3: all aggregates become multiples of one base; the reach is published,
                   usually ± base; `aggregates.py`
    quadratic      [3]: aggregates that attacks use become multiples, those beside them are
                   adjusted, totals that stay are exact;
                   `aggregates.py`

Each method proposes publications, the most precise first. The attacker of the audit attacks each of
them. The first publication that he cannot break is taken. If he breaks all, the indicator is
withheld. With `rule_aware` there is one proposal, and a release that it does not pass is refused: to
withhold it would tell of the counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Attacker, Requirements, integer_attacks
from sdc_tasks.methods.indicator_blocks import IndicatorBlock
from sdc_tasks.methods.rounding.aggregates import controlled_aggregates, quadratic_aggregates
from sdc_tasks.methods.rounding.counts import rounded_counts
from sdc_tasks.methods.rounding.options import Rounding, SmallCountRounding
from sdc_tasks.methods.rounding.small_count import CountOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.model.progress import Say
from sdc_tasks.model.results import Publication


def round_part(
    part: IndicatorBlock, requirements: Requirements, wanted: Rounding, seed: int, progress: Say, note: Say
) -> Publication:  # fmt: skip
    """The publication of the part. `requirements`, `seed`: of the audit of the whole.

    `progress` receives the progress of the search, `note` each proposal and its result. The seed of the
    rounding is derived from the salt of the problem: nobody can repeat this rounding with the program alone.
    Raises InvalidInput where `rule_aware` is not offered.
    """
    if aware := isinstance(wanted, SmallCountRounding) and wanted.rule_aware:
        _require_fit(part.problem, requirements)
    attack, drawn = _Attack(part, requirements, seed), seed_of(part.problem, wanted)
    for what, publication in _proposals(part, requirements, wanted, drawn, seed, progress):
        broken = attack.broken(publication)
        note(f"{what}: {broken} requirements broken")
        if not broken:
            return publication
    if aware:
        raise InvalidInput(
            f"indicator {', '.join(part.problem.space.indicators)}: the audit does not show that its rounded "
            f"counts are safe, and to "
            "withhold them would tell of the counts. Remedy: run the release again with another epoch, or "
            "leave out rule_aware"
        )
    note("withheld: no proposal of the method withstands the attack")
    return Publication.nothing(np.flatnonzero(part.problem.aggregate))


def seed_of(problem: ProtectionProblem, wanted: Rounding) -> int:
    """The secret seed of the rounding: of the warehouse, the period, the indicators, and the epoch of
    `rule_aware`.
    """
    if isinstance(wanted, SmallCountRounding) and wanted.rule_aware:
        return problem.salt.seed("keyed rounding", str(wanted.epoch), *problem.space.indicators)
    return problem.salt.seed("rounding", *problem.space.indicators)


def _require_fit(problem: ProtectionProblem, requirements: Requirements) -> None:
    """Raises InvalidInput where `rule_aware` of small count rounding is not offered, and says why."""
    why = ""
    if problem.earlier.rows.shape != (0, 0):
        why = (
            "the period has an earlier version, and two versions may leave a count fewer "
            "candidates than the base"
        )
    elif requirements.profiles != (EXTERNAL,):
        why = (
            "audit.profiles asks for attackers who know more than the public figures, and "
            "what the program tells them is not known"
        )
    if why:
        raise InvalidInput(f"rounding.rule_aware: {why}. Remedy: leave out rule_aware")


def _proposals(
    part: IndicatorBlock, requirements: Requirements, wanted: Rounding, drawn: int, seed: int, progress: Say
) -> Iterator[tuple[str, Publication]]:
    match wanted.method:
        case "small-count":
            options = CountOptions(
                drawn, wanted.base, wanted.quality, rule_aware=wanted.rule_aware, drawn=wanted.drawn
            )
            return rounded_counts(part.problem, options, progress).proposals()
        case "controlled":
            return controlled_aggregates(part.problem, wanted, drawn, progress)
        case "quadratic":
            return quadratic_aggregates(
                part.problem, part.requirements(requirements), wanted, drawn, seed, progress
            )


class _Attack:
    """The attacker of the audit, for one part of the table."""

    def __init__(self, part: IndicatorBlock, requirements: Requirements, seed: int) -> None:
        self._part, self._requirements, self._seed = part, requirements, seed
        self._attacker = (
            None
            if part.problem.integral.any()
            else Attacker(part.problem, part.requirements(requirements), seed)
        )

    def broken(self, publication: Publication) -> int:
        """The number of requirements of the part that a publication of it breaks. For counts, requirements
        that no whole table shows count as broken, as in the audit: a requirement shown by whole tables also
        holds against every other attacker.
        """
        if self._attacker is not None:
            self._attacker.set_publication(publication)
            self._attacker.prove_all()
            return len(self._attacker.broken)
        whole = self._part.into(Publication.nothing(np.flatnonzero(self._part.whole.aggregate)), publication)
        short = integer_attacks(self._part.whole, whole, self._requirements, self._seed).short
        return int(
            np.isin(self._requirements.primaries[[each.row for each in short]], self._part.cells).sum()
        )
