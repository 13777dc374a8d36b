"""The inputs that determine the bytes of a release, and its id.

The id of a release consists of domain, period and a keyed digest of all these inputs; the accepted deliveries
and the program are among them. No step continues a release that was begun by another program or with another
domain file, and every step reads the deliveries and the versions with which the release was opened, whatever
was accepted or published since.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.linked import partners_of, related
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.confidential.secret import VARIABLE, named, secret_of
from sdc_tasks.warehouse.dissemination import lineage
from sdc_tasks.warehouse.operations import journal


def terms_of(domain: Domain) -> journal.Terms:
    asked = domain.governance
    return journal.Terms(
        domain.id,
        domain.digest,
        domain.audit.profiles,
        asked.approvals,
        asked.retention_days,
        json.dumps(domain.settings, sort_keys=True),
    )


def embargo_of(desk: Desk) -> datetime | None:
    cycle = desk.domain.calendar.of(desk.period)
    return cycle.embargo if cycle else None


def drawn_by(desk: Desk) -> str:
    """The fingerprint of the secret by which the tables of the domain are drawn; nothing where nothing of
    them is.
    """
    return named(desk.engine)[0] if desk.domain.draws else ""


def require_kept(desk: Desk) -> None:
    """Raises InvalidInput where tables of the domain are drawn by a secret that only this warehouse has."""
    fingerprint, kept = named(desk.engine) if desk.domain.draws else ("", True)
    if not kept:
        raise InvalidInput(
            f"{desk.domain.id}: its tables are drawn by the secret of the warehouse, {fingerprint[:16]}…, "
            f"which nobody keeps elsewhere. "
            "Another warehouse or --out folder, or a restored one, would draw other tables of the same "
            "period, and whoever sees two of "
            f"them can compute hidden cells. Remedy: where the office has a secret, set {VARIABLE} to it; "
            f"where this is its only "
            "warehouse, run `sdc keep-secret FILE` once, and set the variable to that wherever else a period "
            "of it is released"
        )


@dataclass(frozen=True)
class Inputs:
    """The inputs of a release: the keyed digest of all that determine its bytes, the ids of the published
    versions and of the related releases among them, and the deliveries (domain, digest) of the tables that
    are decided together with it.
    """

    digest: str
    versions: tuple[str, ...]
    related: tuple[str, ...]
    partners: tuple[tuple[str, str], ...] = ()


def inputs_of(desk: Desk, accepted: Sequence[store.StoredDelivery]) -> Inputs:
    """The inputs of the release of these deliveries. Its own version, if it is out, is not among the
    versions.
    """
    deliveries = [
        each.key.digest if each.times == 1 else f"{each.key.digest} {each.times}" for each in accepted
    ]
    told = tuple(each.release_id for each in releases_of(desk))
    if told:
        beside = tuple(reader.made_beside(desk.engine, told[-1]))
        others = tuple(reader.made_with(desk.engine, told[-1]))
        digest = _inputs_digest(desk, deliveries, told[:-1], beside, others)
        again = Inputs(digest, told[:-1], beside, others)
        if told[-1] == release_id_of(desk, again):
            return again
    beside = tuple(each.release_id for each in related(desk))
    others = partners_of(desk) if not told else ()
    return Inputs(_inputs_digest(desk, deliveries, told, beside, others), told, beside, others)


def _inputs_digest(
    desk: Desk,
    deliveries: Sequence[str],
    told: Sequence[str],
    beside: Sequence[str],
    partners: Sequence[tuple[str, str]],
) -> str:
    embargo = embargo_of(desk)
    until = None if embargo is None else embargo.astimezone(UTC).isoformat()
    parts = [desk.domain.digest, desk.period, lineage.environment(), until, sorted(deliveries), list(told)]
    parts += [list(beside)] if beside else []
    parts += [[f"together {domain} {key}" for domain, key in sorted(partners)]] if partners else []
    return secret_of(desk.engine).derive("inputs of a release").digest(json.dumps(parts).encode())


def release_id_of(desk: Desk, inputs: Inputs) -> str:
    return f"{desk.domain.id}-{desk.period}-{inputs.digest[:12]}"


def releases_of(desk: Desk) -> list[reader.ReleaseInfo]:
    """The releases of the period by version, also those under embargo or retracted."""
    mine = [each for each in reader.releases(desk.engine, desk.domain.id) if each.period == desk.period]
    return sorted(mine, key=lambda each: each.version)


def require_own(desk: Desk, release_id: str) -> None:
    """Raises InvalidInput where the release was begun by another program or with another domain file: its
    results and verdicts do not count for these.
    """
    program, terms = journal.begun_with(desk.engine, release_id) or (None, None)
    if program == lineage.environment() and terms != desk.domain.digest:
        raise InvalidInput(
            f"{release_id}: the domain file was changed since this release was opened, so its results do not "
            f"count. "
            "Remedy: trigger the release again; it gets a new id"
        )
    if program != lineage.environment():
        raise InvalidInput(
            f"{release_id}: another version of the program or of its packages began this release, so its "
            f"results do not count. "
            "Remedy: trigger the release again; it gets a new id"
        )
