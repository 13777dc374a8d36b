"""The one way into dissemination. It takes a `Release`, that is, a publication with the audit of exactly it, and nothing else.

One transaction: the cells and the release row become visible together or not at all. Publishing the same release again, or a
publication that is the current version already, changes nothing. The database refuses on its own what is refused here
(`sql/migrations/0001_*.sql`); this module says which cell, and what to do.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Engine, insert, select

from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.model.results import Publication, Release, State
from sdc_tasks.model.table import CellSpace
from sdc_tasks.warehouse.engine import serialise, writing
from sdc_tasks.warehouse.schema import audit, eu_cell, publication, run
from sdc_tasks.warehouse.schema import release as release_table

# (OBS_STATUS, CONF_STATUS) of a published cell: normal and free; estimated (it is rounded) and free; suppressed, by the receiver.
STATUS = {State.EXACT: ("A", "F"), State.ROUNDED: ("E", "F"), State.WITHHELD: ("Q", "S")}
NAMED = 5


class Published(NamedTuple):
    """Under which version the publication stands, and whether this call made it."""

    version: int
    created: bool


def publish(engine: Engine, release: Release, *, space: CellSpace, domain: str, period: str) -> Published:
    """Publishes a release. Raises ReleaseBlocked when its audit did not pass, is not of it, or is not in the warehouse."""
    _require_passed_audit(release, space)
    digest = release.publication.digest
    with writing(engine) as connection:
        serialise(connection, "release", domain, period)
        versions = _versions(connection, domain, period)
        mine = next((row for row in versions if row.release_id == release.id), None)
        if mine and mine.publication_digest != digest:
            raise ReleaseBlocked(f"release {release.id} was published with another content; start a new release")
        current = mine or (versions[-1] if versions else None)
        if current and current.publication_digest == digest:
            return Published(current.version, created=False)
        version = len(versions) + 1
        row = {
            "release_id": release.id,
            "domain": domain,
            "period": period,
            "version": version,
            "publication_digest": digest,
            "audit_digest": _stored_audit(connection, release, domain, period),
            "audit_passed": True,
            "released_at": datetime.now(UTC),
        }
        _store(connection, release.publication, space, domain, period)
        connection.execute(insert(release_table), row)
        return Published(version, created=True)


def states(decided: Publication) -> list[State]:
    """What the world gets of each cell, in the order of `decided.cells`."""
    return [State.WITHHELD if w else State.EXACT if e else State.ROUNDED for w, e in zip(decided.withheld, decided.exact, strict=True)]


def _require_passed_audit(release: Release, space: CellSpace) -> None:
    report, decided = release.report, release.publication
    blocked = f"release {release.id}"
    if report.publication != decided.digest:
        raise ReleaseBlocked(f"{blocked}: the audit is of publication {report.publication[:12]}, not of {decided.digest[:12]}")
    if report.problem != release.problem:
        raise ReleaseBlocked(f"{blocked}: the audit is of problem {report.problem[:12]}, not of {release.problem[:12]}")
    if not report.passed:
        failed = [*report.contradictions, *report.primaries[~report.protected]]
        named = ", ".join(space.key(cell) for cell in failed[:NAMED])
        more = f" and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
        raise ReleaseBlocked(f"{blocked}: the audit did not pass; not protected: {named}{more}. See the certificate of the audit")
    aggregates = np.arange(len(space.countries) * space.national_size, space.size)
    if not np.array_equal(decided.cells, aggregates):
        raise ReleaseBlocked(f"{blocked}: {len(decided.cells)} cells are decided, but there are {len(aggregates)} aggregate cells")


def _versions(connection: Connection, domain: str, period: str) -> list[Any]:
    wanted = (release_table.c.domain == domain, release_table.c.period == period)
    return list(connection.execute(select(release_table).where(*wanted).order_by(release_table.c.version)))


def _stored_audit(connection: Connection, release: Release, domain: str, period: str) -> str:
    """The digest of the stored audit that this release stands on."""
    wanted = (
        audit.c.release_id == release.id,
        audit.c.problem_digest == release.problem,
        audit.c.publication_digest == release.publication.digest,
        audit.c.profiles == ",".join(release.report.profiles),
        audit.c.passed,
        run.c.domain == domain,
        run.c.period == period,
    )
    found = connection.execute(
        select(audit.c.digest).join(run, run.c.release_id == audit.c.release_id).where(*wanted).order_by(audit.c.audited_at.desc()).limit(1)
    ).scalar_one_or_none()
    if found is None:
        raise ReleaseBlocked(f"release {release.id}: no passed audit of it is stored for {domain} {period}; run its audit again")
    return str(found)


def _store(connection: Connection, decided: Publication, space: CellSpace, domain: str, period: str) -> None:
    """Stores the publication, unless an earlier version was the same."""
    key = {"domain": domain, "period": period, "publication_digest": decided.digest}
    rows = _cells(decided, space, key)
    stored = connection.execute(select(eu_cell.c.cell).filter_by(**key).order_by(eu_cell.c.position)).scalars().all()
    if not stored:
        connection.execute(insert(publication).values(domain=domain, period=period, digest=decided.digest, cells=len(rows)))
        connection.execute(insert(eu_cell), rows)
    elif stored != [row["cell"] for row in rows]:
        raise ReleaseBlocked(f"publication {decided.digest[:12]} is stored with other cells; were the aggregates of the domain renamed?")


def _cells(decided: Publication, space: CellSpace, key: dict[str, str]) -> list[dict[str, Any]]:
    rows = []
    for position, (cell, state) in enumerate(zip(decided.cells, states(decided), strict=True)):
        area, inside = divmod(int(cell), space.national_size)
        obs_status, conf_status = STATUS[state]
        rows.append(
            {
                **key,
                "cell": space.key(cell),
                "position": position,
                "area": space.areas[area],
                "indicator": space.national_keys[inside][0],
                "value": None if state is State.WITHHELD else float(decided.value[position]),
                "obs_status": obs_status,
                "conf_status": conf_status,
                "rounding_base": float(decided.base[position]) if state is State.ROUNDED else None,
            }
        )
    return rows
