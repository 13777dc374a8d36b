"""What happened in a release cycle, so that a step can be found, repeated and explained: runs, steps, rungs, audits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, delete, insert, select, update

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.results import AuditReport, Rung
from sdc_tasks.warehouse.engine import reading, serialise, writing
from sdc_tasks.warehouse.packing import digest_of
from sdc_tasks.warehouse.schema import RunState, audit, run, rung, step
from sdc_tasks.warehouse.store import put_rows


def start_run(engine: Engine, release_id: str, domain: str, period: str) -> None:
    """Opens a release cycle, or the same one again. Raises InvalidInput when the id belongs to another domain or period."""
    with writing(engine) as connection:
        row = {"release_id": release_id, "domain": domain, "period": period, "started_at": datetime.now(UTC), "state": RunState.RUNNING}
        put_rows(connection, run, [row], keep=True)
        found = connection.execute(select(run.c.domain, run.c.period).where(run.c.release_id == release_id)).one()
        if tuple(found) != (domain, period):
            raise InvalidInput(f"release {release_id} belongs to {found.domain} {found.period}; choose another id for {domain} {period}")
        connection.execute(update(run).where(run.c.release_id == release_id).values(state=RunState.RUNNING, finished_at=None))


def set_inputs(engine: Engine, release_id: str, inputs_digest: str) -> None:
    """Notes what the run works on: a digest over domain file, deliveries and options."""
    with writing(engine) as connection:
        connection.execute(update(run).where(run.c.release_id == release_id).values(inputs_digest=inputs_digest))


def finish_run(engine: Engine, release_id: str, state: RunState) -> None:
    """Closes a release cycle."""
    with writing(engine) as connection:
        connection.execute(update(run).where(run.c.release_id == release_id).values(state=state, finished_at=datetime.now(UTC)))


def record_step(
    engine: Engine, release_id: str, step_name: str, key: str = "", *, seconds: float, note: str = "", artefact_digest: str | None = None
) -> None:
    """Records that a step is done and which artefact it left; a repetition replaces the record."""
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


def step_output(engine: Engine, release_id: str, step_name: str, key: str = "") -> str | None:
    """The digest of what the step left, None when it has left nothing or has not run."""
    return step_outputs(engine, release_id, step_name).get(key)


def step_outputs(engine: Engine, release_id: str, step_name: str) -> dict[str, str]:
    """key → digest of what each instance of the step left."""
    wanted = (step.c.release_id == release_id, step.c.step == step_name, step.c.artefact_digest.is_not(None))
    with reading(engine) as connection:
        rows = connection.execute(select(step.c.key, step.c.artefact_digest).where(*wanted).order_by(step.c.key))
        return {row.key: row.artefact_digest for row in rows}


def save_rungs(engine: Engine, release_id: str, rungs: Sequence[Rung]) -> None:
    """Replaces the rungs of the CTA ladder."""
    rows = [{**asdict(each), "outcome": str(each.outcome), "release_id": release_id, "position": i} for i, each in enumerate(rungs)]
    with writing(engine) as connection:
        serialise(connection, "rung", release_id)
        connection.execute(delete(rung).where(rung.c.release_id == release_id))
        if rows:
            connection.execute(insert(rung), rows)


def save_audit(engine: Engine, release_id: str, report: AuditReport, certificate: str) -> str:
    """Stores an audit, passed or not, and returns the digest of its certificate. The same certificate again is the same audit."""
    digest = digest_of(certificate.encode())
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
                )
            )
    return digest


def _is_stored(connection: Connection, release_id: str, digest: str) -> bool:
    found = connection.execute(select(audit.c.digest).where(audit.c.release_id == release_id, audit.c.digest == digest))
    return found.one_or_none() is not None
