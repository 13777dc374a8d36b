"""The only function that publishes. It takes a `Release`, that is, a publication with the
audit of exactly this publication.

In one transaction the cells and the release row become visible together, or not at all. Publishing
the same release again, or a publication that is already the current version, changes nothing. The
database itself refuses everything that this module refuses (the gates of `sql/migrations`); this
module names the cell and the remedy.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, repeat, zip_longest
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Engine, func, insert, select

from sdc_tasks.errors import ReleaseBlocked, Retriable, some_of
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.profiles import VINTAGE
from sdc_tasks.model.results import STATUS, Publication, Related, Release, State
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints
from sdc_tasks.warehouse.database.bulk import insert_many
from sdc_tasks.warehouse.database.engine import reading, serialise, writing
from sdc_tasks.warehouse.database.schema import approval, eu_cell, publication, submission
from sdc_tasks.warehouse.database.schema import release as release_table
from sdc_tasks.warehouse.database.sqlfiles import clause
from sdc_tasks.warehouse.dissemination.overlap import refusal, unrelated
from sdc_tasks.warehouse.forms.canonical import PORTION, PRINTED, Columns, Printed
from sdc_tasks.warehouse.log import record
from sdc_tasks.warehouse.operations.journal import Terms, require_terms

KINDS = (State.WITHHELD, State.VISIBLE, State.EXACT, State.ROUNDED)
OBSERVED, CONFIDENTIAL = (np.array(codes) for codes in zip(*(STATUS[state] for state in KINDS), strict=True))
ANEW = "Remedy: start the release again; it gets a new id"


class Published(NamedTuple):
    """The version of the publication, and whether this call created it."""

    version: int
    created: bool


class NotApproved(Retriable):
    """The audit passed, but approvals are missing."""


def publish(
    engine: Engine,
    release: Release,
    *,
    space: CellSpace,
    terms: Terms,
    period: str,
    after: Sequence[str] = (),
) -> Published:
    """Publishes a release under its terms. `after` names the releases of the period that its audit knew,
    by version: all published ones.

    Raises ReleaseBlocked when its audit did not pass, is about something else, is not in the warehouse, or
    did not know a published version, and when these figures, or what they may be computed from, are published
    already; NotApproved while approvals are missing.
    """
    _require_passed_audit(release, space, terms.profiles)
    digest, domain = release.publication.digest, terms.domain
    with writing(engine) as connection:
        serialise(connection, "release", domain, period)
        versions = _versions(connection, domain, period)
        if (there := _standing(release, versions)) is not None:
            return Published(there.version, created=False)
        _require_the_others_known(release, versions, period, after)
        _require_what_was_asked(release, versions)
        together = _known(connection, release, terms, period)
        if others := refusal(connection, terms, period, together):
            raise ReleaseBlocked(f"{release.id}: {others}")
        version = len(versions) + 1
        row = {
            "release_id": release.id,
            "domain": domain,
            "period": period,
            "version": version,
            "publication_digest": digest,
            "audit_digest": _stored_audit(
                connection, release, terms, period, [row.publication_digest for row in versions]
            ),
            "audit_passed": True,
            "released_at": datetime.now(UTC),
        }
        approvals = max([terms.approvals, *(row.approvals or 0 for row in versions)])
        row["embargo"] = _embargo(connection, release, terms, approvals, str(row["audit_digest"]))
        _store(connection, release.publication, space, domain, period)
        connection.execute(insert(release_table), row)
        about: dict[str, object] = {"version": version, "publication": digest, "audit": row["audit_digest"]}
        if said := unrelated(terms.settings):
            about["unrelated"] = said
        if together:
            about["linked"] = [list(each) for each in together]
        record(connection, "release", release.id, **about)
        return Published(version, created=True)


class Changes(NamedTuple):
    """Changes between an earlier publication and this one: the numbers of cells with another treatment
    (exact, rounded, withheld, or the base), with another value, of new cells and of removed cells.
    """

    treatment: int
    value: int
    added: int
    gone: int


def changes(
    engine: Engine, domain: str, period: str, earlier: str, decided: Publication, space: CellSpace
) -> Changes:
    """The changes since the stored publication with digest `earlier`: counts only, so they
    may be shown before the embargo.
    """
    key = {"domain": domain, "period": period, "publication_digest": earlier}
    told = ("cell", "obs_status", "rounding_base", "visible_share", "value")
    with reading(engine) as connection:
        before = {
            cell: rest
            for cell, *rest in connection.execute(
                select(*(eu_cell.c[name] for name in told)).filter_by(**key)
            )
        }
    places = [PRINTED.index(name) for name in told]
    now = {
        cell: rest for cell, *rest in ([row[place] for place in places] for row in cells_of(decided, space))
    }
    both = now.keys() & before.keys()
    return Changes(
        treatment=sum(now[cell][:3] != before[cell][:3] for cell in both),
        value=sum(now[cell][3] != before[cell][3] for cell in both),
        added=len(now) - len(both),
        gone=len(before) - len(both),
    )


def _kinds(decided: Publication) -> Ints:
    """(aggregate cells,): the state of each cell, as its position in `KINDS`."""
    return np.select([decided.withheld, decided.visible, decided.exact], [0, 1, 2], 3)


def _require_passed_audit(release: Release, space: CellSpace, profiles: tuple[str, ...]) -> None:
    report, decided = release.report, release.publication
    blocked = f"release {release.id}"
    if report.publication != decided.digest:
        raise ReleaseBlocked(
            f"{blocked}: the audit is of publication {report.publication[:12]}, not of {decided.digest[:12]}"
        )
    if report.problem != release.problem:
        raise ReleaseBlocked(
            f"{blocked}: the audit is of problem {report.problem[:12]}, not of {release.problem[:12]}"
        )
    if missing := [profile for profile in profiles if profile not in report.profiles]:
        raise ReleaseBlocked(f"{blocked}: not audited against profile {', '.join(missing)}")
    if not report.passed:
        failed = [*report.contradictions, *report.small, *report.primaries[~report.protected]]
        named = some_of([space.key(cell) for cell in failed])
        raise ReleaseBlocked(
            f"{blocked}: the audit did not pass; not protected: {named}. See the certificate of the audit"
        )
    aggregates = np.arange(space.first_aggregate, space.own_size)
    if not np.array_equal(decided.cells, aggregates):
        raise ReleaseBlocked(
            f"{blocked}: {len(decided.cells)} cells are decided, but there are {len(aggregates)} aggregate "
            f"cells"
        )


def _standing(release: Release, versions: Sequence[Any]) -> Any | None:
    """The version that has this content already: that of this release, else the current one. None where there
    is none that stands. Raises ReleaseBlocked where this release is out with another content, or retracted.
    """
    digest = release.publication.digest
    mine = next((row for row in versions if row.release_id == release.id), None)
    if mine and mine.publication_digest != digest:
        raise ReleaseBlocked(f"release {release.id} was published with another content; start a new release")
    if mine and mine.reason:
        raise ReleaseBlocked(
            f"release {release.id} was retracted ({mine.reason}). Remedy: correct a delivery or the "
            f"domain file"
        )
    current = mine or next(reversed(versions), None)
    stands = current and current.publication_digest == digest and not current.reason
    return current if stands else None


def _require_the_others_known(
    release: Release, versions: Sequence[Any], period: str, after: Sequence[str]
) -> None:
    """The audit knew all published versions of the period, and attacked beside them."""
    if [row.release_id for row in versions] != list(after):
        raise ReleaseBlocked(
            f"{release.id}: another version was published since this release was opened. {ANEW}"
        )
    if versions and VINTAGE not in release.report.profiles:
        raise ReleaseBlocked(
            f"{release.id}: version {len(versions)} of {period} is published, but the audit is not "
            f"against profile {VINTAGE}. {ANEW}"
        )


def _require_what_was_asked(release: Release, versions: Sequence[Any]) -> None:
    """What is out was promised against these attackers: a later version reveals its cells
    again, and withstands them too.
    """
    for row in versions:
        asked = row.profiles.split(",") if row.profiles else []
        if missing := [profile for profile in asked if profile not in release.report.profiles]:
            raise ReleaseBlocked(
                f"{release.id}: version {row.version} of the period withstood profile {', '.join(missing)}, "
                f"and this one was not "
                "audited against it. Remedy: name it in audit.profiles of the domain file, or audit.revision "
                "as then"
            )


def _versions(connection: Connection, domain: str, period: str) -> list[Any]:
    """All releases of the period, with the reason of a retraction and what its terms asked for."""
    return _asked(connection, "versions", domain=domain, period=period)


def _asked(connection: Connection, query: str, **values: object) -> list[Any]:
    """The rows that a query of `sql/queries` finds within this transaction."""
    return list(connection.execute(clause(f"queries/{query}", connection.dialect.name), values))


def _embargo(
    connection: Connection, release: Release, terms: Terms, approvals: int, audit_digest: str
) -> datetime | None:
    """The embargo of the submission. Raises while something is missing that the terms require."""
    submitted = connection.execute(
        select(submission).where(submission.c.release_id == release.id)
    ).one_or_none()
    if submitted is None or (submitted.domain, submitted.terms_digest) != (terms.domain, terms.digest):
        raise ReleaseBlocked(
            f"release {release.id}: not submitted under the terms of the present domain file. {ANEW}"
        )
    require_terms(connection, terms)
    agreed = (
        approval.c.release_id == release.id,
        approval.c.audit_digest == audit_digest,
        approval.c.account.is_not(None),
    )
    number = connection.execute(select(func.count()).select_from(approval).where(*agreed)).scalar_one()
    if number < approvals:
        asked = (
            "" if approvals == terms.approvals else ", as many as an earlier version of the period asked for"
        )
        raise NotApproved(
            f"release {release.id}: {number} of {approvals} approvals{asked}. Remedy: somebody other than "
            f"{submitted.submitter} reads the "
            f"report and runs sdc approve {release.id} --publication {release.publication.digest[:12]}; then "
            f"publish again"
        )
    embargo: datetime | None = submitted.embargo
    return embargo


def _audits(connection: Connection, release: Release, terms: Terms, period: str) -> Sequence[Any]:
    """The stored audits of exactly this release."""
    return _asked(
        connection,
        "audit_of_release",
        release_id=release.id,
        problem=release.problem,
        publication=release.publication.digest,
        profiles=",".join(release.report.profiles),
        domain=terms.domain,
        period=period,
    )


def _known(connection: Connection, release: Release, terms: Terms, period: str) -> list[Related]:
    """The related publications that the audit of this release knew."""
    audits = _audits(connection, release, terms, period)
    told = json.loads(audits[0].certificate).get("linked", []) if audits else []
    return [Related(each["domain"], each["period"], each["version"], each["publication"]) for each in told]


def _stored_audit(
    connection: Connection, release: Release, terms: Terms, period: str, beside: Sequence[str]
) -> str:
    """The digest of the stored audit of this release. `beside` are the digests of the published versions."""
    audits = _audits(connection, release, terms, period)
    if not audits:
        raise ReleaseBlocked(
            f"release {release.id}: no passed audit of it is stored for {terms.domain} {period}; run its "
            f"audit again"
        )
    found = audits[0]
    told = json.loads(found.certificate)
    if told.get("beside", []) != list(beside):
        raise ReleaseBlocked(f"release {release.id}: other versions are out than its audit knew. {ANEW}")
    if told.get("unrelated", {}) != unrelated(terms.settings):
        raise ReleaseBlocked(
            f"release {release.id}: its certificate does not name why other domains are unrelated. Remedy: "
            f"run its audit again"
        )
    if _rule_aware(json.loads(terms.settings)) and told.get("program", {}).get("verdict") != "passed":
        raise ReleaseBlocked(
            f"release {release.id}: rule_aware is asked for, and its certificate does not show that it "
            f"withstands somebody who has the "
            "program. Remedy: run its audit again"
        )
    return str(found.digest)


def _rule_aware(settings: dict[str, Any]) -> bool:
    """Do these settings ask that somebody who has the program is withstood?"""
    roundings = [each.get("rounding") or {} for each in settings.get("indicators", [])]
    return any(each.get("rule_aware") for each in [settings.get("bases", {}), *roundings])


def _store(connection: Connection, decided: Publication, space: CellSpace, domain: str, period: str) -> None:
    """Stores the publication, unless an earlier version has stored it."""
    key = {"domain": domain, "period": period, "publication_digest": decided.digest}
    stored = _asked(connection, "stored_cells", **key)
    if not stored:
        connection.execute(
            insert(publication).values(
                domain=domain, period=period, digest=decided.digest, cells=len(decided.cells)
            )
        )
        told, of, portions = Printed(), tuple(key.values()), _portions(decided, space)
        embedded = (
            connection.dialect.name == "sqlite"
        )  # rows just stored are not read again; PostgreSQL does this by itself
        if embedded:
            portions = _telling(told, portions)
        rows = chain.from_iterable(zip(*map(repeat, of), *columns, strict=False) for columns in portions)
        insert_many(connection, eu_cell, (*key, *PRINTED), rows)
        if embedded:
            driver: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
            connection.info["sdc_printed"][of] = (told.digest, driver.total_changes)
        return
    ours = list(cells_of(decided, space))
    other = next(
        (
            cell
            for cell, (old, new) in enumerate(zip_longest(stored, ours))
            if old is None or new is None or tuple(old) != new
        ),
        None,
    )
    if other is not None:
        named = (ours[other] if other < len(ours) else stored[other])[PRINTED.index("cell")]
        raise ReleaseBlocked(
            f"publication {decided.digest[:12]} is stored with another {named}. Remedy: check whether "
            f"aggregates of the domain were "
            "renamed. If not, somebody else wrote it: see sdc maintenance"
        )


def printed(decided: Publication, space: CellSpace) -> str:
    """The digest of everything that the publication prints. An audit is stored with it; the database
    compares it with the stored rows.
    """
    told = Printed()
    for columns in _portions(decided, space):
        told.add(columns)
    return told.digest


def _telling(told: Printed, portions: Iterable[Columns]) -> Iterator[Columns]:
    for columns in portions:
        told.add(columns)
        yield columns


def cells_of(decided: Publication, space: CellSpace) -> Iterator[tuple[Any, ...]]:
    """The rows of the cells, with the columns `PRINTED`."""
    for columns in _portions(decided, space):
        yield from zip(*columns, strict=True)


def _portions(decided: Publication, space: CellSpace) -> Iterator[Columns]:
    """The columns `PRINTED`, for some thousands of cells at a time."""
    inside_area = [printed_key(names) for names in space.national_keys]
    for start in range(0, len(decided.cells), PORTION):
        at = slice(start, start + PORTION)
        part = Publication(decided.cells[at], decided.value[at], decided.base[at], decided.covers[at])
        area, inside = (index.tolist() for index in np.divmod(part.cells, space.national_size))
        names = [space.areas[a] for a in area]
        kinds = _kinds(part)
        yield (
            range(start, start + len(names)),
            [f"{printed_key((name,))}.{inside_area[i]}" for name, i in zip(names, inside, strict=True)],
            names,
            [space.national_keys[i][0] for i in inside],
            _or_none(part.value, ~part.withheld),
            OBSERVED[kinds].tolist(),
            CONFIDENTIAL[kinds].tolist(),
            _or_none(part.base, part.rounded),
            _or_none(part.covers, part.visible),
        )


def _or_none(numbers: Floats, there: Bools) -> list[float | None]:
    """The numbers, None where `there` is false."""
    return [number if known else None for number, known in zip(numbers.tolist(), there.tolist(), strict=True)]
