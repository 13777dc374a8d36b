"""Two releases as a deployment makes them, every table filled, and the rows of it in the
order in which they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import Engine, Table, select

from sdc_tasks.model.findings import CheckResult, Finding, Severity
from sdc_tasks.model.results import Outcome, Release, Rung
from sdc_tasks.warehouse.confidential.secret import secret_of
from sdc_tasks.warehouse.confidential.store import (
    DeliveryKey,
    note_unread,
    refuse,
    save_artefact,
    save_checks,
    save_findings,
    take,
)
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.schema import RunState, metadata
from sdc_tasks.warehouse.dissemination.publisher import printed, publish
from sdc_tasks.warehouse.operations.cycles import (
    TaskState,
    note_dag_run,
    note_task_run,
    open_cycle,
    raise_alert,
)
from sdc_tasks.warehouse.operations.decisions import approve, retract, withdraw
from sdc_tasks.warehouse.operations.journal import (
    finish_run,
    record_step,
    save_audit,
    save_rungs,
    set_inputs,
    start_run,
    submit,
)
from support.accepting import accept
from support.world import FIRST, SECOND, SPACE, TERMS, audited, certificate

ASKED = replace(
    TERMS,
    digest="v" * 64,
    approvals=1,
    retention_days=900,
    settings='{"governance": {"approvals": 1, "retention_days": 900}, "unit": "EUR"}',
)
OTHERS = replace(
    ASKED, digest="u" * 64, approvals=0, settings='{"governance": {"approvals": 0, "retention_days": 900}}'
)
PROGRAM = '{"python": "3.11", "source": "abc"}'
# The tables that an owner's migration or the turns of the writers fill, and no release.
NOT_OF_A_CHAIN = {"operations.profile"}

Row = dict[str, Any]


@dataclass(frozen=True)
class Written:
    """A row as it stood in the end, by the account that wrote it."""

    account: str
    table: Table
    row: Row

    @property
    def key(self) -> Row:
        return {column.name: self.row[column.name] for column in self.table.primary_key.columns}

    @property
    def name(self) -> tuple[Any, ...]:
        return (self.table.fullname, *self.key.values())


def build(by: Mapping[str, Engine]) -> list[Written]:
    """Makes two releases in an empty warehouse, by the engine of each account. Returns all rows, as they are
    in the end, in the order in which they were written first.
    """
    pipeline, publisher, desk = by["sdc_pipeline"], by["sdc_publisher"], by["sdc_desk"]
    seen: dict[tuple[Any, ...], tuple[int, str]] = {}  # row → the step that wrote it first, and its account
    steps = count()

    def step(account: str, *calls: Callable[[], Any]) -> None:
        for call in calls:
            call()
        number = next(steps)
        for each in everything(pipeline):
            seen.setdefault(each.name, (number, account))

    step("sdc_pipeline", lambda: secret_of(pipeline))
    for period, decided, terms, until in (
        ("2024", FIRST, ASKED, datetime.now(UTC) - timedelta(days=1)),
        ("2025", SECOND, OTHERS, None),
    ):
        release_id = f"r{period}"
        step("sdc_pipeline", *_intake(pipeline, period))
        step(
            "sdc_pipeline",
            lambda: start_run(pipeline, release_id, "sbs", period),  # noqa: B023
            lambda: set_inputs(pipeline, release_id, period * 16),  # noqa: B023
        )
        step("sdc_pipeline", lambda: submit(pipeline, release_id, terms, embargo=until, environment=PROGRAM))  # noqa: B023
        step("sdc_pipeline", *_work(pipeline, release_id))
        report = audited(decided)
        told, digest = certificate(report, period, terms), printed(decided, SPACE)
        step("sdc_pipeline", lambda: save_audit(pipeline, release_id, report, told, digest))  # noqa: B023
        if terms.approvals:
            step("sdc_desk", lambda: approve(desk, release_id, decided.digest, "read the report"))  # noqa: B023
        release = Release(release_id, report.problem, decided, report)
        step("sdc_publisher", lambda: publish(publisher, release, space=SPACE, terms=terms, period=period))  # noqa: B023
        step("sdc_pipeline", lambda: finish_run(pipeline, release_id, RunState.PUBLISHED))  # noqa: B023
        step("sdc_pipeline", *_desk(pipeline, release_id, period))
    reason = "the delivery of AT was that of another year"
    step("sdc_desk", lambda: withdraw(desk, "r2025", reason))
    step("sdc_publisher", lambda: retract(publisher, "r2025", reason))
    rows = [replace(each, account=seen[each.name][1]) for each in everything(pipeline)]
    assert {each.table.fullname for each in rows} == set(metadata.tables) - NOT_OF_A_CHAIN, (
        "a new table has rows here, or says why not"
    )
    return sorted(rows, key=lambda each: seen[each.name][0])


def _intake(pipeline: Engine, period: str) -> list[Callable[[], Any]]:
    """AT delivers twice, BE once, and a file of nobody is refused; one is not read."""
    keys: dict[str, DeliveryKey] = {}

    def received() -> None:
        for name in ("at.csv", "at_v2.csv", "be.csv", "odd.csv"):
            keys[name] = take(pipeline, "sbs", period, name, f"{name} {period}".encode()).key

    return [
        received,
        lambda: [
            accept(pipeline, keys[name], name[:2].upper()) for name in ("at.csv", "at_v2.csv", "be.csv")
        ],
        lambda: refuse(pipeline, keys["odd.csv"]),
        lambda: save_findings(
            pipeline,
            keys["odd.csv"],
            [Finding("unknown_area", Severity.ERROR, "no such area", line=2, cell="XX")],
        ),
        lambda: save_checks(
            pipeline,
            keys["be.csv"],
            [CheckResult("additivity", Severity.WARNING, False, 3, 1, ("BE.TURNOVER.C10",))],
        ),
        lambda: note_unread(pipeline, "sbs", period, {"notes.txt": "not a delivery"}),
    ]


def _work(pipeline: Engine, release_id: str) -> list[Callable[[], Any]]:
    """The steps and rungs of a run."""
    kept: list[str] = []
    rung = Rung("auto", Outcome.OPTIMAL, 1.0, 1.0, 0.0, 2.0, "proven", 0, accepted=True, chosen=True)
    return [
        lambda: kept.append(save_artefact(pipeline, "problem", release_id.encode())),
        lambda: record_step(
            pipeline, release_id, "assemble", seconds=1.0, note="3 files", artefact_digest=kept[0]
        ),
        lambda: save_rungs(pipeline, release_id, [rung]),
    ]


def _desk(pipeline: Engine, release_id: str, period: str) -> list[Callable[[], Any]]:
    """What the operator's pages show."""
    terms = ASKED if period == "2024" else OTHERS
    return [
        lambda: open_cycle(pipeline, terms, period, ["AT", "BE"], {"embargo": None}),
        lambda: note_dag_run(
            pipeline,
            "eu_release_sbs",
            period,
            domain="sbs",
            period=period,
            release_id=release_id,
            state="success",
        ),
        lambda: note_task_run(
            pipeline,
            "eu_release_sbs",
            period,
            "ingest",
            0,
            TaskState("success", label="AT", tries=1, seconds=1.0, said="ok"),
        ),
        lambda: raise_alert(pipeline, "sbs", period, "ready", release_id, "it can go on"),
    ]


def everything(engine: Engine) -> list[Written]:
    """Every row there is, in an order that foreign keys allow; the log last."""
    found = []
    with reading(engine) as connection:
        for table in sorted(metadata.sorted_tables, key=lambda table: table.name == "log"):
            order = [table.c.superseded_by.is_not(None)] if table.name == "delivery" else []
            rows = connection.execute(select(table).order_by(*order, *table.primary_key.columns)).mappings()
            found += [Written("", table, dict(row)) for row in rows if table.fullname not in NOT_OF_A_CHAIN]
    return found
