"""The inputs that determine the bytes of a release, and its id.

The id of a release consists of domain, period and a keyed digest of all these inputs; the accepted deliveries and the program are among
them. No step continues a release that another program began.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.confidential.secret import secret_of
from sdc_tasks.warehouse.dissemination import lineage
from sdc_tasks.warehouse.operations import journal


def terms_of(domain: Domain) -> journal.Terms:
    asked = domain.governance
    return journal.Terms(
        domain.id, domain.digest, domain.audit.profiles, asked.approvals, asked.retention_days, json.dumps(domain.settings, sort_keys=True)
    )


def embargo_of(desk: Desk) -> datetime | None:
    cycle = desk.domain.calendar.of(desk.period)
    return cycle.embargo if cycle else None


def inputs_of(desk: Desk, accepted: Sequence[store.StoredDelivery]) -> str:
    """Keyed digest of all inputs that determine the bytes, with the earlier publications, except for this release itself."""
    deliveries = [each.key.digest if each.times == 1 else f"{each.key.digest} {each.times}" for each in accepted]
    told = versions(desk)
    again = _inputs_digest(desk, deliveries, told[:-1])
    return again if told and told[-1] == release_id_of(desk, again) else _inputs_digest(desk, deliveries, told)


def _inputs_digest(desk: Desk, deliveries: Sequence[str], told: Sequence[str]) -> str:
    embargo = embargo_of(desk)
    until = None if embargo is None else embargo.astimezone(UTC).isoformat()
    parts = [desk.domain.digest, desk.period, lineage.environment(), until, sorted(deliveries), list(told)]
    return secret_of(desk.engine).derive("inputs of a release").digest(json.dumps(parts).encode())


def release_id_of(desk: Desk, inputs: str) -> str:
    return f"{desk.domain.id}-{desk.period}-{inputs[:12]}"


def versions(desk: Desk) -> list[str]:
    """The ids of the releases of the period by version."""
    return [each.release_id for each in releases_of(desk)]


def releases_of(desk: Desk) -> list[reader.ReleaseInfo]:
    """The releases of the period by version, also those under embargo or retracted."""
    mine = [each for each in reader.releases(desk.engine, desk.domain.id) if each.period == desk.period]
    return sorted(mine, key=lambda each: each.version)


def require_own(desk: Desk, release_id: str) -> None:
    """Raises InvalidInput where another program began the release: its results and verdicts do not count for this program."""
    begun = journal.environment_of(desk.engine, release_id)
    if begun != lineage.environment():
        raise InvalidInput(
            f"{release_id}: another version of the program or of its packages began this release, so its results do not count. "
            "Remedy: trigger the release again; it gets a new id"
        )
