"""The published versions of the period, and what a further version would reveal together with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput, ReleaseBlocked
from sdc_tasks.methods.attack import earlier
from sdc_tasks.model.problem import Earlier, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import releases_of, versions
from sdc_tasks.steps.memory import load
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.operations import journal
from sdc_tasks.warehouse.reader import ReleaseInfo


def known(desk: Desk, release_id: str, problem: ProtectionProblem) -> list[ReleaseInfo]:
    """The releases of the period by version. The audit of this release knows all of them; the gate of the warehouse checks it again.

    Raises ReleaseBlocked where one of them publishes something that the audit did not know.
    """
    out = releases_of(desk)
    if release_id not in {each.release_id for each in out}:
        now = told_so_far(desk, problem, readable(desk, release_id, problem)).arrays
        if not all(np.array_equal(then, now[name]) for name, then in problem.earlier.arrays.items()):
            raise ReleaseBlocked(f"{release_id}: another version was published since it was assembled. {publisher.ANEW}")
    return out


def told_before(desk: Desk, release_id: str) -> list[tuple[ProtectionProblem, Publication]]:
    """The problems and publications of the other releases of the period. Raises InvalidInput where one can no longer be read."""
    others = _others(desk, release_id)
    try:
        return [(load(desk, each, "assemble", ProtectionProblem), load(desk, each, "bases", Publication)) for each in others]
    except store.CorruptedError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: the inputs of version {len(others)} or of an earlier one cannot be read ({error}), so nobody "
            "can say what a further version would reveal together with it. Remedy: restore them from a backup; with vintage among "
            "audit.profiles, governance.retention_days keeps them in future"
        ) from error


def readable(desk: Desk, release_id: str, problem: ProtectionProblem) -> list[tuple[ProtectionProblem, Publication]]:
    """The other releases of the period, or the national tables as they came in which the receiver has hidden cells, of this one (`problem`)
    or of another. Raises InvalidInput where there is both.
    """
    told, came = told_before(desk, release_id), list[tuple[ProtectionProblem, Publication]]()
    assembled = [*((each, then) for each, (then, _) in zip(_others(desk, release_id), told, strict=True)), (release_id, problem)]
    for each, then in assembled:
        if journal.step_output(desk.engine, each, "collect") is not None:
            came += pipeline.as_delivered(load(desk, each, "collect", ProtectionProblem), then, desk.domain)
    return pipeline.read_before(told, came)


def _others(desk: Desk, release_id: str) -> list[str]:
    return [each for each in versions(desk) if each != release_id]


def told_so_far(desk: Desk, problem: ProtectionProblem, told: Sequence[tuple[ProtectionProblem, Publication]]) -> Earlier:
    """What the other releases of the period published. Raises InvalidInput where it cannot be related to the cells of this release."""
    try:
        return earlier(problem, told, desk.domain.audit.revised_by)
    except ValueError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: {error}, so nobody can say what the new table would reveal together with it. "
            "Remedy: publish the period with the dimensions of its first version"
        ) from error
