"""What the world may ask, also by ways that tell something beside: plans, statistics,
sizes. What is not out stays away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from sdc_tasks.model.results import Release
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.dissemination.publisher import printed, publish
from sdc_tasks.warehouse.operations.decisions import retract
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support.security.deployment import Deployment
from support.world import SECOND, SPACE, TERMS, audited, certificate, prepared, publish_it, published

SECRET, TAKEN_BACK = 7340133.25, 9182736.75
VIEWS = ("dissemination.public_release", "dissemination.public_cell")


@pytest.fixture
def world(deployment: Deployment) -> Iterator[psycopg.Connection]:
    """2024 is out; 2025 is under embargo, 2026 retracted; the tables are analysed. A prompt of the world."""
    pipeline, publisher = deployment.engine("sdc_pipeline"), deployment.engine("sdc_publisher")
    publish_it(publisher, prepared(pipeline, decided=SECOND))
    embargoed = published((SECRET, 0), (SECRET, 0), (SECRET, 0))
    report = audited(embargoed)
    start_run(pipeline, "r2", "sbs", "2025")
    submit(pipeline, "r2", TERMS, embargo=datetime.now(UTC) + timedelta(days=1))
    save_audit(pipeline, "r2", report, certificate(report, "2025"), printed(embargoed, SPACE))
    publish(
        publisher, Release("r2", report.problem, embargoed, report), space=SPACE, terms=TERMS, period="2025"
    )
    taken_back = published((TAKEN_BACK, 0), (TAKEN_BACK, 0), (TAKEN_BACK, 0))
    publish_it(publisher, prepared(pipeline, "r3", taken_back, "2026"), "2026")
    retract(publisher, "r3", "wrong")
    with deployment.superuser() as server:
        server.execute("ANALYZE")
    assert [each.visible for each in reader.releases(pipeline)] == [True, False, True]
    with deployment.connect("sdc_public") as prompt:
        yield prompt
    pipeline.dispose()
    publisher.dispose()


def plan(
    world: psycopg.Connection, query: str, how: str = "ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF, VERBOSE"
) -> str:
    """What EXPLAIN tells, without the constant that was asked for."""
    told = "\n".join(row[0] for row in world.execute(f"EXPLAIN ({how}) {query}"))
    return re.sub(r"'[0-9.]+'::double precision", "X", told)


@pytest.mark.parametrize(
    "how",
    [
        "ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF, VERBOSE",
        "VERBOSE",
        "ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF",
    ],
)
@pytest.mark.parametrize("secret", [SECRET, TAKEN_BACK])
def test_no_plan_is_an_oracle(world: psycopg.Connection, how: str, secret: float) -> None:
    """Bisection: the plan of `value >= x` is the same on both sides of every value that is not out."""
    for settings in ("", "SET enable_nestloop = off", "SET enable_seqscan = off"):
        if settings:
            world.execute(settings)
        for query in (
            "SELECT * FROM dissemination.public_cell WHERE value >= {} AND period = '2025'",
            "SELECT count(*) FROM dissemination.public_cell WHERE value >= {}",
            "SELECT cell FROM dissemination.public_cell WHERE value >= {} AND domain = 'sbs'",
        ):
            told = []
            for x in (secret - 1, secret + 1):
                plan(world, query.format(f"'{x}'::float8"), how)  # once before: what is cached is cached
                told.append(plan(world, query.format(f"'{x}'::float8"), how))
            assert told[0] == told[1]


def test_no_other_table_stands_in_a_plan(world: psycopg.Connection) -> None:
    for view in VIEWS:
        told = plan(world, f"SELECT * FROM {view}")
        assert "eu_cell" not in told
        assert "Seq Scan" not in told
        assert "Function Scan" in told


def test_the_plan_of_what_is_out_still_finds_it(world: psycopg.Connection) -> None:
    rows = world.execute(
        "SELECT cell, value FROM dissemination.public_cell WHERE value >= 20 ORDER BY value"
    ).fetchall()
    assert rows == [("EU.TURNOVER.C10", 20.0), ("EU.TURNOVER.TOTAL", 42.0)]
    assert world.execute(
        "SELECT period, retracted FROM dissemination.public_release ORDER BY period"
    ).fetchall() == [
        ("2024", None),
        ("2026", "wrong"),
    ]


def test_no_catalog_tells_a_value(world: psycopg.Connection) -> None:
    """Everything the world can select from in pg_catalog and information_schema, as text."""
    relations = world.execute(
        """SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') AND has_table_privilege(c.oid, 'SELECT')"""  # noqa: E501
    ).fetchall()
    assert len(relations) > 150
    readable = 0
    for (name,) in relations:
        try:
            told = "\n".join(str(row) for row in world.execute(f"SELECT * FROM {name}"))
        except psycopg.Error:
            continue
        readable += 1
        assert "7340133.25" not in told, name
        assert "9182736.75" not in told, name
    assert readable > 100
    assert world.execute("SELECT count(*) FROM pg_stats WHERE schemaname = 'dissemination'").fetchone() == (
        0,
    )


def test_nothing_that_the_server_says_aloud_tells_a_value(world: psycopg.Connection) -> None:
    """The settings that print plans, trees and errors to the client."""
    said: list[str] = []
    world.add_notice_handler(
        lambda notice: said.append(str(notice.message_primary) + str(notice.message_detail))
    )
    for setting in (
        "client_min_messages = debug5",
        "debug_print_plan = on",
        "debug_print_rewritten = on",
        "debug_pretty_print = off",
    ):
        world.execute(f"SET {setting}")
    for query in (
        "SELECT * FROM dissemination.public_cell",
        "SELECT 1 / (value - 7340133.25)::int FROM dissemination.public_cell",
        "SELECT cast(cell AS integer) FROM dissemination.public_cell",
        "SELECT dissemination.visible_cells('sbs', '2025', 1)",
        "SELECT dissemination.visible_cells('sbs', '2026', 1)",
    ):
        try:
            rows = world.execute(query).fetchall()
        except psycopg.Error as error:
            rows = [(str(error),)]
        assert "7340133.25" not in str(rows)
        assert "9182736.75" not in str(rows)
    assert "9182736.75" not in "".join(said)
    assert "EU.TURNOVER.C10" in str(world.execute("TABLE dissemination.public_cell").fetchall())
