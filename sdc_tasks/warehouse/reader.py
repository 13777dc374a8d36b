"""What pages and reports may see: operations and dissemination, read-only. Never the confidential schema."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Boolean, Engine, Select, Table, case, func, select

from sdc_tasks.model.claim import REQUIREMENTS_EACH, Claim, Proof, claim_of
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.schema import (
    UtcTime,
    approval,
    audit,
    cycle,
    log,
    run,
    rung,
    step,
    submission,
    task_run,
    terms,
)
from sdc_tasks.warehouse.database.schema import dag_run as dag_run_table
from sdc_tasks.warehouse.database.schema import inbox as inbox_table
from sdc_tasks.warehouse.database.schema import unread as unread_table
from sdc_tasks.warehouse.database.sqlfiles import clause
from sdc_tasks.warehouse.operations.journal import DELIVERY, LPS, PARTNER, RELATED, TALLY, VERSION, WITNESSES

Record = dict[str, Any]
RELEASE_TYPES = {"released_at": UtcTime(), "embargo": UtcTime(), "visible": Boolean()}
BEFORE_RELEASE = (
    "discover",
    "ingest",
    "collect",
    "assemble",
)  # a file that they refuse need not stop a release
HISTORY_TYPES = {
    **RELEASE_TYPES,
    "started_at": UtcTime(),
    "finished_at": UtcTime(),
    "passed": Boolean(),
    "newer": Boolean(),
    "dropped": Boolean(),
    "second": Boolean(),
}


@dataclass(frozen=True)
class ReleaseInfo:
    """A published version. It is `visible` after its `embargo`, by the clock of the database. Its cells are
    visible too, unless it was retracted; `retracted` is the reason.
    """

    release_id: str
    domain: str
    period: str
    version: int
    publication_digest: str
    audit_digest: str
    released_at: datetime
    embargo: datetime | None
    retracted: str | None
    visible: bool


@dataclass(frozen=True)
class ReleasedCell:
    """A cell as the public sees it: `value` is None where withheld, `rounding_base` is None where not
    rounded.

    With a `visible_share`, `value` is the sum of the visible countries, at least that share of the total.
    """

    cell: str
    area: str
    indicator: str
    value: float | None
    obs_status: str
    conf_status: str
    rounding_base: float | None
    visible_share: float | None


def settings_out(engine: Engine, domain: str, period: str, but: str) -> list[tuple[int, dict[str, Any]]]:
    """(version, settings of the domain file) of all that was released of the period, but for one
    release; not of releases without terms.
    """
    with reading(engine) as connection:
        rows = connection.execute(
            clause("queries/versions", connection.dialect.name), {"domain": domain, "period": period}
        )
        return [
            (row.version, json.loads(row.settings)) for row in rows if row.release_id != but and row.settings
        ]


def releases(engine: Engine, domain: str | None = None) -> list[ReleaseInfo]:
    """Every published version, newest first, also those under embargo or retracted."""
    found = [ReleaseInfo(**row) for row in _query(engine, "releases", RELEASE_TYPES)]
    return [each for each in found if domain is None or each.domain == domain]


def current_release(engine: Engine, domain: str, period: str) -> ReleaseInfo | None:
    """The current version: the newest visible one. None when there is none, or when it was retracted:
    an older one does not replace it.
    """
    seen = [each for each in releases(engine, domain) if each.period == period and each.visible]
    newest = max(seen, key=lambda each: each.version, default=None)
    return None if newest is None or newest.retracted else newest


def released_cells(
    engine: Engine, domain: str, period: str, version: int | None = None
) -> list[ReleasedCell]:
    """The cells of a version (by default the newest), in the order of the publication. Empty when there is no
    such version, or when it is under embargo or retracted.
    """
    with reading(engine) as connection:
        query = clause("queries/released_cells", engine.dialect.name)
        rows = connection.execute(query, {"domain": domain, "period": period, "version": version})
        return [ReleasedCell(*row) for row in rows]


def history(engine: Engine, domain: str | None = None) -> list[Record]:
    """Every release, also unpublished ones (`version` is None then), newest first, with its terms. `followed`
    is the release of the period that took the place of an unpublished one: it is out, or waits for an
    approval; it is made of what is accepted now, or was begun later and is no more out of date.
    """
    found = _query(engine, "history", HISTORY_TYPES)
    agreed: dict[str, list[str]] = defaultdict(list)
    for each in _query(engine, "agreed", {}):
        agreed[each["release_id"]].append(each["approver"])
    of_cycle: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for each in found:
        of_cycle[each["domain"], each["period"]].append(each)
    return [
        {
            **each,
            "followed": _follower(each, of_cycle[each["domain"], each["period"]]),
            "agreed": agreed[each["release_id"]],
        }
        for each in found
        if domain is None or each["domain"] == domain
    ]


def of_release(engine: Engine, release_id: str) -> Record | None:
    """The release in `history`; None where nobody knows it."""
    return next((each for each in history(engine) if each["release_id"] == release_id), None)


def _follower(mine: Record, of_cycle: list[Record]) -> str | None:
    """The release that took the place of an unpublished one. `of_cycle`: all releases of its period."""
    if mine["version"] is not None or mine["state"] == "published":
        return None
    newest = max((each["version"] for each in of_cycle if each["version"] is not None), default=None)
    later = [each for each in of_cycle if _rank(each) > _rank(mine) and _replaces(each, mine, newest)]
    return max(later, key=_rank)["release_id"] if later else None


def _rank(each: Record) -> tuple[bool, datetime]:
    return not each["newer"], each["started_at"]


def _replaces(each: Record, mine: Record, newest: int | None) -> bool:
    """Whether a release of higher rank is out in place of an unpublished one, or waits for an approval.
    `newest`: the last version that is out.
    """
    if each["state"] != "published":
        return each["state"] == "waiting" and bool(each["passed"])
    if each["retracted"] is not None:
        return False
    again: bool = (
        mine["newer"] and each["version"] is not None and not each["newer"] and each["version"] == newest
    )
    return again or bool((each["released_at"] or each["finished_at"]) > mine["started_at"])


def treatments(engine: Engine, release_id: str) -> list[Record]:
    """Each cell of a published version, in order, with `treatment` (exact, rounded, visible,
    withheld) and `size`, the class of its relative base. It holds no value, so it may be
    shown before the end of the embargo.
    """
    return _query(engine, "treatments", {}, release_id=release_id)


def delivery_states(engine: Engine) -> list[Record]:
    """For every period, country and state, in the inbox or not: the number of files, and
    when the last one was received.
    """
    return _query(engine, "delivery_states", {"received_at": UtcTime(), "lying": Boolean()})


def unread(engine: Engine) -> list[Record]:
    """What lay in the inboxes and was not read: domain, period, file, why."""
    return _rows(engine, select(unread_table).order_by(unread_table.c.file))


def lying(engine: Engine, domain: str, period: str) -> list[Record]:
    """What lay in the inbox when it was last read: file, digest. Several names may have the same bytes."""
    here = (inbox_table.c.domain == domain, inbox_table.c.period == period)
    return _rows(
        engine, select(inbox_table.c.file, inbox_table.c.digest).where(*here).order_by(inbox_table.c.file)
    )


def deliveries(engine: Engine, domain: str, period: str) -> list[Record]:
    """Deliveries with the numbers of findings and of failed checks, in the order of arrival. Beside the
    stored states, a second file of a country is 'waiting' for an answer, or 'kept out' by one.
    """
    return _query(
        engine, "deliveries", {"received_at": UtcTime(), "lying": Boolean()}, domain=domain, period=period
    )


def answers(engine: Engine, domain: str, period: str) -> list[Record]:
    """What people answered about second files since each was last received, in order: digest, answer, actor,
    recorded_at, note, and the run of Airflow that carried it out. Of each file the last answer counts.
    """
    return _query(engine, "answers", {"recorded_at": UtcTime()}, domain=domain, period=period)


def findings(engine: Engine, domain: str, period: str) -> list[Record]:
    """The findings of intake, delivery by delivery, in the order of the files."""
    return _query(engine, "findings", {}, domain=domain, period=period)


def check_results(engine: Engine, domain: str, period: str) -> list[Record]:
    """The content checks of every delivery; `cells` is a list of keys."""
    found = _query(engine, "check_results", {"passed": Boolean()}, domain=domain, period=period)
    return [{**each, "cells": json.loads(each["cells"])} for each in found]


def runs(engine: Engine, domain: str | None = None) -> list[Record]:
    """Release cycles, newest first."""
    with reading(engine) as connection:
        wanted = select(run).order_by(run.c.started_at.desc())
        rows = connection.execute(wanted if domain is None else wanted.where(run.c.domain == domain))
        return [dict(row) for row in rows.mappings()]


def steps(engine: Engine, release_id: str) -> list[Record]:
    """The steps of a run, in the order in which they ended."""
    return [
        each
        for each in _of_run(engine, step, release_id, "finished_at")
        if each["step"] not in (DELIVERY, VERSION, RELATED, PARTNER, TALLY)
    ]


def tallies(engine: Engine, release_id: str) -> dict[str, int]:
    """What the steps of a run counted: its name → the number. Empty for a release of an older version."""
    return {
        each["key"]: int(each["note"])
        for each in _of_run(engine, step, release_id, "key")
        if each["step"] == TALLY
    }


def proof(engine: Engine, release_id: str, of: Record) -> Proof:
    """How the requirements of an audit of the run were shown; `of` is its record in `audits`."""
    counted = tallies(engine, release_id)
    before = sum(
        number
        for name, number in counted.items()
        if name.startswith(f"{LPS} ") and not name.startswith(f"{LPS} audit")
    )
    known = WITNESSES in counted
    return Proof(
        REQUIREMENTS_EACH * of["primaries"] - of["broken"],
        counted.get(WITNESSES),
        of["lps"],
        before if known else None,
    )


def claim(engine: Engine, release_id: str, digest: str | None = None) -> Claim | None:
    """What the newest audit of a run, or that with this digest, lets anybody say. None where
    there is none.
    """
    found = [each for each in audits(engine, release_id) if digest in (None, each["digest"])]
    return claim_of(json.loads(found[-1]["certificate"])) if found else None


def made_of(engine: Engine, release_id: str) -> dict[str, str]:
    """The deliveries of a release: digest → country and file. Empty for a release of an older version."""
    return {
        each["key"]: each["note"]
        for each in _of_run(engine, step, release_id, "note")
        if each["step"] == DELIVERY
    }


def made_after(engine: Engine, release_id: str) -> list[str]:
    """The published releases of the period that were out when the release was opened, by version."""
    return [each["key"] for each in _of_run(engine, step, release_id, "note") if each["step"] == VERSION]


def made_beside(engine: Engine, release_id: str) -> list[str]:
    """The related releases that were out when the release was opened."""
    return [each["key"] for each in _of_run(engine, step, release_id, "note") if each["step"] == RELATED]


def made_with(engine: Engine, release_id: str) -> list[tuple[str, str]]:
    """(domain, digest) of the deliveries of tables that are decided together with a release."""
    noted = (each for each in _of_run(engine, step, release_id, "note") if each["step"] == PARTNER)
    return [(domain, digest) for domain, digest in (each["key"].split(" ", 1) for each in noted)]


def rungs(engine: Engine, release_id: str) -> list[Record]:
    """The CTA ladder of a run, in order."""
    return _of_run(engine, rung, release_id, "position")


def audits(engine: Engine, release_id: str) -> list[Record]:
    """The audits of a run in order, with their certificates."""
    return _of_run(engine, audit, release_id, "audited_at")


def submissions(engine: Engine, release_id: str) -> list[Record]:
    """Who opened the run, and under which terms: one row, or none for a run of an older version."""
    return _of_run(engine, submission, release_id, "submitted_at")


def approvals(engine: Engine, release_id: str) -> list[Record]:
    """The approvals of a release, in order."""
    return _of_run(engine, approval, release_id, "approved_at")


def cycles(engine: Engine, domain: str | None = None) -> list[Record]:
    """The cycles by domain and period, newest period first; `areas` is a list of countries."""
    wanted = select(cycle).order_by(cycle.c.domain, cycle.c.period.desc())
    found = _rows(engine, wanted if domain is None else wanted.where(cycle.c.domain == domain))
    return [{**each, "areas": json.loads(each["areas"])} for each in found]


def dag_runs(engine: Engine, domain: str, period: str) -> list[Record]:
    """The runs of DAGs of a cycle, newest first, each with the task that failed first
    (`stopped_at`) and what it said.
    """
    here = (dag_run_table.c.domain == domain, dag_run_table.c.period == period)
    return _rows(
        engine,
        select(dag_run_table, *_first_failed())
        .where(*here)
        .order_by(dag_run_table.c.started_at.desc(), dag_run_table.c.run_id),
    )


def release_runs(engine: Engine) -> list[Record]:
    """Of every cycle the newest run of its release DAG, and the runs of it that have not ended;
    the newest first, as `dag_runs`.
    """
    order = (dag_run_table.c.started_at.desc().nulls_last(), dag_run_table.c.run_id)
    place = (
        func.row_number()
        .over(partition_by=(dag_run_table.c.domain, dag_run_table.c.period), order_by=order)
        .label("place")
    )
    ours = dag_run_table.c.dag_id.startswith("eu_release_", autoescape=True) & (dag_run_table.c.period != "")
    found = select(dag_run_table, *_first_failed(), place).where(ours).subquery()
    wanted = select(found).where((found.c.place == 1) | found.c.state.not_in(("success", "failed")))
    return _rows(engine, wanted.order_by(found.c.started_at.desc().nulls_last(), found.c.run_id))


def _first_failed() -> tuple[Any, Any]:
    """Of a run of a DAG, the task that failed first, and its sentence; nothing where none failed. A run that
    goes on without a refused file did not stop there.
    """
    here = (
        task_run.c.dag_id == dag_run_table.c.dag_id,
        task_run.c.run_id == dag_run_table.c.run_id,
        task_run.c.state == "failed",
    )
    order = (
        case((task_run.c.task_id.in_(BEFORE_RELEASE), 1), else_=0),
        task_run.c.finished_at,
        task_run.c.task_id,
        task_run.c.map_index,
    )
    task, said = (
        select(column).where(*here).order_by(*order).limit(1).correlate(dag_run_table).scalar_subquery()
        for column in (task_run.c.task_id, task_run.c.said)
    )
    return task.label("stopped_at"), said.label("said")


def dag_run(engine: Engine, dag_id: str, run_id: str) -> Record | None:
    """One run of a DAG; None where it is not recorded (yet)."""
    return next(
        iter(
            _rows(
                engine,
                select(dag_run_table).where(
                    dag_run_table.c.dag_id == dag_id, dag_run_table.c.run_id == run_id
                ),
            )
        ),
        None,
    )


def task_runs(engine: Engine, dag_id: str, run_id: str) -> list[Record]:
    """The task instances of a run, in the order in which they ended, then those that still run."""
    here = (task_run.c.dag_id == dag_id, task_run.c.run_id == run_id)
    order = (
        task_run.c.finished_at.is_(None),
        task_run.c.finished_at,
        task_run.c.task_id,
        task_run.c.map_index,
    )
    return _rows(engine, select(task_run).where(*here).order_by(*order))


def intakes(
    engine: Engine, domain: str, period: str, tasks: Collection[str] = ("ingest", "judge")
) -> list[Record]:
    """The ended instances of these tasks of a cycle, in releases and as files arrived, in the order in which
    they ended: by default those that read files.
    """
    return [each for each in instances(engine, domain, period, tasks) if each["finished_at"] is not None]


def instances(engine: Engine, domain: str, period: str, tasks: Collection[str]) -> list[Record]:
    """The instances of these tasks of a cycle, in the order in which they ended; those
    that still run have no instant.
    """
    found = (
        select(task_run)
        .join(
            dag_run_table,
            (dag_run_table.c.dag_id == task_run.c.dag_id) & (dag_run_table.c.run_id == task_run.c.run_id),
        )
        .where(
            dag_run_table.c.domain == domain, dag_run_table.c.period == period, task_run.c.task_id.in_(tasks)
        )
        .order_by(task_run.c.finished_at, task_run.c.dag_id, task_run.c.run_id, task_run.c.map_index)
    )
    return _rows(engine, found)


def alerts(engine: Engine, domain: str | None = None, period: str | None = None) -> list[Record]:
    """The alerts of a cycle, or of all cycles, whose reason still stands, each text once, newest
    first. `country` is the late country, `days` the age of the alert; for a late country, since its
    delivery was due. No country is late that the domain does not have any more, or before its
    instant, when the calendar was changed.
    """
    now = datetime.now(UTC)
    found = _query(engine, "alerts", {"raised_at": UtcTime()}, domain=domain, period=period)
    known = {(each["domain"], each["period"]): each for each in cycles(engine, domain)} if found else {}

    def cycle_of(each: Record) -> Record | None:
        return known.get((each["domain"], each["period"]))

    once = {
        (each["domain"], each["period"], each["said"]): each
        for each in reversed(found)
        if _still_stands(each, cycle_of(each), now)
    }  # two runs may ask the same
    return [
        {**each, "days": max((now - _since(each, cycle_of(each))).days, 0)}
        for each in reversed(once.values())
    ]


def _still_stands(alert: Record, of: Record | None, now: datetime) -> bool:
    """Whether its country is still late. `of`: the cycle; None where it is not known any more."""
    if alert["kind"] != "delivery" or of is None:
        return True
    is_early = of["delivery_due"] and of["delivery_due"] > now
    return alert["country"] in of["areas"] and not is_early


def _since(alert: Record, of: Record | None) -> datetime:
    """When its reason began: for a late country, when its delivery was due."""
    due: datetime | None = None if of is None else of["delivery_due"]
    raised: datetime = alert["raised_at"]
    return due if alert["kind"] == "delivery" and due is not None else raised


def log_of(engine: Engine, subject: str) -> list[Record]:
    """Who did what to a release or a delivery, in order."""
    return _rows(engine, select(log).where(log.c.subject == subject).order_by(log.c.number))


def settings_of(engine: Engine, domain: str, digest: str | None = None) -> dict[str, Any]:
    """The domain file under these terms, or the present one, with its code lists; {} for an unknown domain.

    The present terms are those that came last or were worked with last: a domain file may be as it was
    before.
    """
    under = (submission.c.domain == terms.c.domain) & (submission.c.terms_digest == terms.c.digest)
    used = select(func.max(submission.c.submitted_at)).where(under).scalar_subquery()
    last = case((used > terms.c.registered_at, used), else_=terms.c.registered_at)
    wanted = (
        select(terms.c.settings)
        .where(terms.c.domain == domain)
        .order_by(last.desc(), terms.c.digest)
        .limit(1)
    )
    found = _rows(engine, wanted if digest is None else wanted.where(terms.c.digest == digest))
    settings: dict[str, Any] = json.loads(found[0]["settings"]) if found else {}
    return settings


def _rows(engine: Engine, wanted: Select[Any]) -> list[Record]:
    with reading(engine) as connection:
        return [dict(row) for row in connection.execute(wanted).mappings()]


def _of_run(engine: Engine, table: Table, release_id: str, order: str) -> list[Record]:
    with reading(engine) as connection:
        rows = connection.execute(
            select(table).where(table.c.release_id == release_id).order_by(table.c[order])
        )
        return [dict(row) for row in rows.mappings()]


def _query(engine: Engine, name: str, types: dict[str, Any], **parameters: Any) -> list[Record]:
    query = clause(f"queries/{name}", engine.dialect.name)
    with reading(engine) as connection:
        return [dict(row) for row in connection.execute(query.columns(**types), parameters).mappings()]
