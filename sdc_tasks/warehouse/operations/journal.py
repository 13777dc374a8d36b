"""The records of a release cycle: runs, submissions, steps, rungs, audits. With them a step can
be found, repeated and explained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, delete, insert, select, update

from sdc_tasks.errors import InvalidInput
from sdc_tasks.warehouse.confidential.store import put_rows
from sdc_tasks.warehouse.database.engine import actor_of, reading, serialise, writing
from sdc_tasks.warehouse.database.schema import RunState, audit, run, rung, step, submission, terms
from sdc_tasks.warehouse.forms.canonical import instant, sha256_hex
from sdc_tasks.warehouse.forms.people import person
from sdc_tasks.warehouse.log import record

if TYPE_CHECKING:
    from sdc_tasks.model.results import AuditReport, Rung


@dataclass(frozen=True)
class Terms:
    """What a domain file requires of a release: the profiles of the audit, the number of approvals by others
    than the submitter, and the days for which confidential bytes are kept after the last event of a period
    (None: for ever). `settings` is the whole file as JSON.
    """

    domain: str
    digest: str
    profiles: tuple[str, ...]
    approvals: int = 0
    retention_days: int | None = None
    settings: str = "{}"

    def __post_init__(self) -> None:
        from sdc_tasks.model.profiles import (
            named,
        )  # numpy and scipy, which those who record a task of Airflow do not need

        named(self.profiles)

    @property
    def row(self) -> dict[str, object]:
        """The stored row."""
        return {**vars(self), "profiles": ",".join(self.profiles)}

    @property
    def asks(self) -> str:
        """The digest of all requirements of the terms: `sql/checks/submission_not_logged.sql`
        computes it from the stored row.
        """
        days = "" if self.retention_days is None else self.retention_days
        return sha256_hex(f"{','.join(self.profiles)}|{self.approvals}|{days}|{self.settings}")


def start_run(engine: Engine, release_id: str, domain: str, period: str) -> None:
    """Opens a release cycle, or reopens it. Raises InvalidInput when the id belongs to another domain or
    period.
    """
    with writing(engine) as connection:
        row = {
            "release_id": release_id,
            "domain": domain,
            "period": period,
            "started_at": datetime.now(UTC),
            "state": RunState.RUNNING,
        }
        put_rows(connection, run, [row], keep=True)
        found = connection.execute(
            select(run.c.domain, run.c.period).where(run.c.release_id == release_id)
        ).one()
        if tuple(found) != (domain, period):
            raise InvalidInput(
                f"release {release_id} belongs to {found.domain} {found.period}; choose another id for "
                f"{domain} {period}"
            )
        connection.execute(
            update(run).where(run.c.release_id == release_id).values(state=RunState.RUNNING, finished_at=None)
        )


def submit(
    engine: Engine, release_id: str, asked: Terms, *, embargo: datetime | None = None, environment: str = "{}"
) -> None:
    """Binds a run to its terms, under the name with which the warehouse was opened. A repetition changes
    nothing.

    `embargo` is the instant before which the public may not see the release, `environment` the
    program that makes it (JSON). Raises InvalidInput when the warehouse holds other terms under the
    same digest: somebody changed them.
    """
    with writing(engine) as connection:
        serialise(connection, "submission", release_id)
        if connection.execute(
            select(submission.c.release_id).where(submission.c.release_id == release_id)
        ).one_or_none():
            return
        know_terms(connection, asked)
        opened = connection.execute(
            select(run.c.period, run.c.inputs_digest).where(run.c.release_id == release_id)
        ).one()
        row = {
            "release_id": release_id,
            "domain": asked.domain,
            "period": opened.period,
            "terms_digest": asked.digest,
            "submitter": person(actor_of(connection)),
            "embargo": embargo,
            "environment": environment,
            "submitted_at": datetime.now(UTC),
        }
        connection.execute(insert(submission).values(**row))
        about = {
            "terms": asked.digest,
            "asks": asked.asks,
            "inputs": opened.inputs_digest,
            "environment": sha256_hex(environment),
        }
        record(
            connection, "submit", release_id, **about, embargo=None if embargo is None else instant(embargo)
        )


def begun_with(engine: Engine, release_id: str) -> tuple[str, str] | None:
    """The program that began a run, as JSON, and the digest of its domain file; None for a run that was not
    submitted.
    """
    with reading(engine) as connection:
        wanted = select(submission.c.environment, submission.c.terms_digest).where(
            submission.c.release_id == release_id
        )
        found = connection.execute(wanted).one_or_none()
        return None if found is None else (found.environment, found.terms_digest)


def know_terms(connection: Connection, asked: Terms) -> None:
    """Registers terms that are new to the warehouse. Raises InvalidInput when it holds
    other terms under the same digest.
    """
    here = (terms.c.domain == asked.domain, terms.c.digest == asked.digest)
    if connection.execute(select(terms.c.digest).where(*here)).one_or_none() is None:
        put_rows(connection, terms, [{**asked.row, "registered_at": datetime.now(UTC)}], keep=True)
    require_terms(connection, asked)


def require_terms(connection: Connection, asked: Terms) -> None:
    """Raises InvalidInput unless the warehouse holds exactly these terms."""
    known = (
        connection.execute(
            select(terms).where(terms.c.domain == asked.domain, terms.c.digest == asked.digest)
        )
        .mappings()
        .one_or_none()
    )
    if known is None or any(known[name] != value for name, value in asked.row.items()):
        raise InvalidInput(
            f"under {asked.digest[:12]} the warehouse holds other terms of {asked.domain} than the domain "
            f"file. "
            "Remedy: find out who wrote them (sdc verify-log); a change to the domain file gives it another "
            "digest"
        )


def set_inputs(engine: Engine, release_id: str, inputs_digest: str) -> None:
    """Records the inputs of a run: a digest of domain file, deliveries and options."""
    with writing(engine) as connection:
        connection.execute(
            update(run).where(run.c.release_id == release_id).values(inputs_digest=inputs_digest)
        )


def finish_run(engine: Engine, release_id: str, state: RunState) -> None:
    """Closes a release cycle."""
    with writing(engine) as connection:
        connection.execute(
            update(run)
            .where(run.c.release_id == release_id)
            .values(state=state, finished_at=datetime.now(UTC))
        )


def record_step(
    engine: Engine,
    release_id: str,
    step_name: str,
    key: str = "",
    *,
    seconds: float,
    note: str = "",
    artefact_digest: str | None = None,
) -> None:
    """Records that a step is done, and the artefact that it stored. A repetition replaces the record."""
    row = {
        "release_id": release_id,
        "step": step_name,
        "key": key,
        "seconds": seconds,
        "note": note,
        "artefact_digest": artefact_digest,
        "finished_at": datetime.now(UTC),
    }
    with writing(engine) as connection:
        put_rows(connection, step, [row])


# The steps under which a run notes what it was opened with.
DELIVERY = "delivery"  # the digest of a file as key, its country and name as note
PARTNER = "partner"  # domain and digest of a file of a table that is decided together with this one
RELATED = "related"  # the id of a published release of another table or period as key, its place as note
VERSION = "version"  # the id of a published release of the period as key, its version as note
# The step under which a run notes what its steps counted, and the names of what they count.
TALLY = "tally"  # what was counted as key, the number as note
# Linear programs of a step, whose name follows; tables that show what an audit claims, under the name that
# warehouses have.
LPS, WITNESSES = "LPs", "counter-tables"


def note_inputs(
    engine: Engine,
    release_id: str,
    deliveries: Mapping[str, str],
    versions: Sequence[str],
    related: Sequence[str] = (),
    partners: Sequence[tuple[str, str]] = (),
) -> None:
    """Notes what the release is made of: the deliveries, digest → country and name, the versions that are
    out, the related releases that are out, and the deliveries (domain, digest) of tables that are decided
    together with it. A repetition changes nothing.
    """
    when = datetime.now(UTC)
    noted = [(DELIVERY, key, name) for key, name in sorted(deliveries.items())]
    noted += [(VERSION, key, f"{number:06d}") for number, key in enumerate(versions, 1)]
    noted += [(RELATED, key, f"{number:06d}") for number, key in enumerate(related, 1)]
    noted += [
        (PARTNER, f"{domain} {key}", f"{number:06d}") for number, (domain, key) in enumerate(partners, 1)
    ]
    rows = [
        {
            "release_id": release_id,
            "step": kind,
            "key": key,
            "seconds": 0.0,
            "note": note,
            "finished_at": when,
        }
        for kind, key, note in noted
    ]
    if rows:
        with writing(engine) as connection:
            put_rows(connection, step, rows, keep=True)


def record_tally(engine: Engine, release_id: str, counted: str, number: int) -> None:
    """Notes what a step counted. A repetition replaces the number."""
    record_step(engine, release_id, TALLY, counted, seconds=0.0, note=str(number))


def step_output(engine: Engine, release_id: str, step_name: str, key: str = "") -> str | None:
    """The digest of the result of a step; None when it has no result or has not run."""
    return step_outputs(engine, release_id, step_name).get(key)


def step_outputs(engine: Engine, release_id: str, step_name: str) -> dict[str, str]:
    """key → digest of the result, for each instance of a step."""
    wanted = (step.c.release_id == release_id, step.c.step == step_name, step.c.artefact_digest.is_not(None))
    with reading(engine) as connection:
        rows = connection.execute(
            select(step.c.key, step.c.artefact_digest).where(*wanted).order_by(step.c.key)
        )
        return {row.key: row.artefact_digest for row in rows}


def save_rungs(engine: Engine, release_id: str, rungs: Sequence[Rung]) -> None:
    """Replaces the recorded rungs of the CTA ladder."""
    rows = [
        {**asdict(each), "outcome": str(each.outcome), "position": i, "release_id": release_id}
        for i, each in enumerate(rungs)
    ]
    with writing(engine) as connection:
        serialise(connection, "rung", release_id)
        connection.execute(delete(rung).where(rung.c.release_id == release_id))
        if rows:
            connection.execute(insert(rung), rows)


def save_audit(
    engine: Engine, release_id: str, report: AuditReport, certificate: str, printed: str | None = None
) -> str:
    """Stores an audit, passed or not. Returns the digest of its certificate. The same
    certificate again is the same audit.

    `printed` is the digest of everything that the publication prints (`publisher.printed`). Without
    it, this audit releases nothing.
    """
    digest = sha256_hex(certificate)
    with writing(engine) as connection:
        serialise(connection, "audit", release_id)
        if not _is_stored(connection, release_id, digest):
            connection.execute(
                insert(audit).values(
                    release_id=release_id,
                    digest=digest,
                    problem_digest=report.problem,
                    publication_digest=report.publication,
                    profiles=",".join(report.profiles),
                    passed=report.passed,
                    primaries=len(report.primaries),
                    broken=report.broken,
                    lps=int(report.lps),
                    certificate=certificate,
                    audited_at=datetime.now(UTC),
                    printed_digest=printed,
                )
            )
            about = {"audit": digest, "publication": report.publication, "passed": report.passed}
            record(connection, "audit", release_id, **about, printed=printed, lps=int(report.lps))
    return digest


def _is_stored(connection: Connection, release_id: str, digest: str) -> bool:
    found = connection.execute(
        select(audit.c.digest).where(audit.c.release_id == release_id, audit.c.digest == digest)
    )
    return found.one_or_none() is not None
