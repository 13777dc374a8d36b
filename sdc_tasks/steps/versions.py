"""The versions of the period that are out, and what a further version would tell beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdc_tasks.errors import InvalidInput, ReleaseBlocked
from sdc_tasks.methods.attack import earlier
from sdc_tasks.model.problem import Earlier, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import releases_of, versions
from sdc_tasks.steps.memory import load
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.reader import ReleaseInfo


def known(desk: Desk, release_id: str, problem: ProtectionProblem) -> list[ReleaseInfo]:
    """The releases of the period by version, all of which its audit knows; the gate of the warehouse asks once more.

    Raises ReleaseBlocked where one tells what the audit did not know.
    """
    out = releases_of(desk)
    if release_id not in {each.release_id for each in out}:
        now = told_so_far(desk, problem, told_before(desk, release_id)).arrays
        if not all(np.array_equal(then, now[name]) for name, then in problem.earlier.arrays.items()):
            raise ReleaseBlocked(f"{release_id}: another version was published since it was assembled. {publisher.ANEW}")
    return out


def told_before(desk: Desk, release_id: str) -> list[tuple[ProtectionProblem, Publication]]:
    """The other releases of the period. Raises InvalidInput where one can no longer be read."""
    others = [each for each in versions(desk) if each != release_id]
    try:
        return [(load(desk, each, "assemble", ProtectionProblem), load(desk, each, "bases", Publication)) for each in others]
    except store.CorruptedError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: what version {len(others)} or one before it was made of cannot be read ({error}), so nobody "
            "can say what a further version would tell beside it. Remedy: restore it from a backup; governance.retention_days with "
            "vintage among audit.profiles keeps it from now on"
        ) from error


def told_so_far(desk: Desk, problem: ProtectionProblem, told: Sequence[tuple[ProtectionProblem, Publication]]) -> Earlier:
    """What the other releases of the period have told. Raises InvalidInput where it cannot be related to the cells of this release."""
    try:
        return earlier(problem, told, desk.domain.audit.revised_by)
    except ValueError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: {error}, and nobody can say what the new table would tell beside it. "
            "Remedy: publish the period with the dimensions that it was published with first"
        ) from error
