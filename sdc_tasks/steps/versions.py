"""The published versions of the period with which a release was opened, and what it
would reveal together with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdc_tasks import pipeline
from sdc_tasks.domains.loosened import loosened
from sdc_tasks.errors import InvalidInput, ReleaseBlocked
from sdc_tasks.methods.attack import prior_releases
from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import releases_of
from sdc_tasks.steps.memory import load
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.operations import journal
from sdc_tasks.warehouse.reader import ReleaseInfo


def known(desk: Desk, release_id: str) -> list[ReleaseInfo]:
    """The releases of the period by version. The audit of this release knows all of them; the gate
    of the warehouse checks it again.

    Raises ReleaseBlocked where one was published since this release was opened.
    """
    out = releases_of(desk)
    now = [each.release_id for each in out]
    if release_id not in now and now != reader.made_after(desk.engine, release_id):
        raise ReleaseBlocked(
            f"{release_id}: another version was published since this release was opened. {publisher.ANEW}"
        )
    return out


def require_no_looser(desk: Desk, release_id: str) -> None:
    """Raises InvalidInput where the domain file gives up what a version of the period that is out
    asked for, and no level can keep.
    """
    for version, settings in reader.settings_out(desk.engine, desk.domain.id, desk.period, release_id):
        if lost := loosened(settings, desk.domain.settings):
            raise InvalidInput(
                f"{desk.domain.id} {desk.period}: {'; '.join(lost)}. Version {version} of the period is out "
                f"and was protected by this, and "
                "both together would reveal what it hid. Remedy: say it in the domain file as that version "
                "did"
            )


def told_before(desk: Desk, release_id: str) -> list[tuple[ProtectionProblem, Publication]]:
    """The problems and publications of the versions with which the release was opened. Raises InvalidInput
    where one can no longer be read.
    """
    others = reader.made_after(desk.engine, release_id)
    try:
        return [
            (load(desk, each, "assemble", ProtectionProblem).own, load(desk, each, "bases", Publication))
            for each in others
        ]
    except store.CorruptedError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: the inputs of version {len(others)} or of an earlier one "
            f"cannot be read ({error}), so nobody "
            "can say what a further version would reveal together with it. Remedy: restore them from a "
            "backup; with vintage among "
            "audit.profiles, governance.retention_days keeps them in future"
        ) from error


def readable(
    desk: Desk, release_id: str, problem: ProtectionProblem
) -> list[tuple[ProtectionProblem, Publication]]:
    """The earlier versions of the period, or the national tables as they came in which the receiver has
    hidden cells, of this release (`problem`) or of an earlier one. Raises InvalidInput where there is both.
    """
    told, came = told_before(desk, release_id), list[tuple[ProtectionProblem, Publication]]()
    before = zip(reader.made_after(desk.engine, release_id), (then for then, _ in told), strict=True)
    for each, then in (*before, (release_id, problem)):
        if journal.step_output(desk.engine, each, "collect") is not None:
            came += pipeline.as_delivered(load(desk, each, "collect", ProtectionProblem), then, desk.domain)
    return pipeline.read_before(told, came)


def told_so_far(
    desk: Desk, problem: ProtectionProblem, told: Sequence[tuple[ProtectionProblem, Publication]]
) -> PriorReleases:
    """What the earlier versions of the period published. Raises InvalidInput where it cannot be
    related to the cells of this release.
    """
    try:
        return prior_releases(problem, told, desk.domain.audit.revised_by)
    except ValueError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: {error}, so nobody can say what the new table would reveal "
            f"together with it. "
            "Remedy: publish the period with the dimensions of its first version"
        ) from error
