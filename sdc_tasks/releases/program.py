"""What bases.rule_aware leaves to somebody who has the program, as an audit tells it (METHOD
§9). `part`: what goes to bases.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.methods.attack import Requirements, replay
from sdc_tasks.methods.indicator_blocks import IndicatorBlock
from sdc_tasks.model.results import AuditReport, Publication
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints


def against_program(
    report: AuditReport,
    part: IndicatorBlock | None,
    publication: Publication,
    requirements: Requirements,
    domain: Domain,
) -> AuditReport:
    """The report with what is left; unchanged where the domain does not ask for it. Beside earlier versions
    nothing is shown: what two versions tell together is not known.
    """
    if not domain.bases.rule_aware:
        return report
    if part is None or not part.problem.primary.any():
        return replace(report, narrow=(), unclaimed=())
    if _has_earlier(part):
        return replace(report, narrow=tuple(part.cells[part.problem.primary].tolist()), unclaimed=())
    needs, step, never = _asked(part, requirements, domain)
    found = replay.widths(part.problem, needs, part.publication(publication), step, domain.audit.seed, never)
    evidence = replace(report.evidence, program=part.witnesses(found.table), program_centre=found.centre)
    narrow, unclaimed = (tuple(part.cells[needs.primaries[each]].tolist()) for each in (found.narrow, never))
    return replace(report, evidence=evidence, narrow=narrow, unclaimed=unclaimed)


def without_claim(part: IndicatorBlock | None, requirements: Requirements, domain: Domain) -> Ints:
    """The primaries for which the test of the width fails with nothing published, as cells of the whole."""
    if not domain.bases.rule_aware or part is None or not part.problem.primary.any() or _has_earlier(part):
        return np.zeros(0, dtype=np.int64)
    needs, _, never = _asked(part, requirements, domain)
    return np.asarray(part.cells[needs.primaries[never]])


def last_decimals(space: CellSpace, domain: Domain) -> Floats:
    """(space.size,): one unit of the last decimal of each cell."""
    return space.last_decimals(each.decimals for each in domain.indicators if each.code in space.indicators)


def _has_earlier(part: IndicatorBlock) -> bool:
    return part.problem.earlier.rows.shape != (0, 0)


def _asked(
    part: IndicatorBlock, requirements: Requirements, domain: Domain
) -> tuple[Requirements, Floats, Bools]:
    """What the test of the width takes: requirements, the last decimal of each cell, and the primaries
    without a claim.
    """
    needs, step = part.requirements(requirements).strongest, last_decimals(part.problem.space, domain)
    return needs, step, replay.without_claim(part.problem, needs, step, domain.audit.seed)
