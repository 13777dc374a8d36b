"""What goes out is, cell by cell and column by column, what was audited: by plain SQL as
the publisher, on both engines.
"""

from __future__ import annotations

import hashlib
import struct

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import event, insert, text
from sqlalchemy.exc import IntegrityError

from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import receive
from sdc_tasks.warehouse.database.bulk import insert_many
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.schema import eu_cell, publication
from sdc_tasks.warehouse.dissemination.publisher import printed
from sdc_tasks.warehouse.forms.canonical import PRINTED, digest_of_printed
from support.accepting import accept
from support.laws import law
from support.security.deployment import Deployment
from support.world import FIRST, RELEASE, SPACE, count, prepared, publish_it, raw, staged

CHANGES = {
    "another value": "UPDATE dissemination.eu_cell SET value = 43 WHERE position = 0",
    "a value that was withheld": (
        "UPDATE dissemination.eu_cell SET value = 25, obs_status = 'A', conf_status = 'F' WHERE position = 2"
    ),
    "the last bit of a value": (
        "UPDATE dissemination.eu_cell SET value = 42.00000000000001 WHERE position = 0"
    ),
    "another base": "UPDATE dissemination.eu_cell SET rounding_base = 5 WHERE position = 1",
    "no base": "UPDATE dissemination.eu_cell SET rounding_base = NULL WHERE position = 1",
    "a share": "UPDATE dissemination.eu_cell SET visible_share = 0.5 WHERE position = 0",
    "another flag": "UPDATE dissemination.eu_cell SET obs_status = 'D' WHERE position = 0",
    "a free flag": "UPDATE dissemination.eu_cell SET conf_status = 'F' WHERE position = 2",
    "another area": "UPDATE dissemination.eu_cell SET area = 'EA' WHERE position = 0",
    "another indicator": "UPDATE dissemination.eu_cell SET indicator = 'WAGES' WHERE position = 0",
    "another key": "UPDATE dissemination.eu_cell SET cell = 'AT.TURNOVER.C10' WHERE position = 1",
    "another order": "UPDATE dissemination.eu_cell SET position = 3 - position WHERE position > 0",
    "a cell less": "DELETE FROM dissemination.eu_cell WHERE position = 2",
    "a tab in a text": "UPDATE dissemination.eu_cell SET indicator = indicator || :tab WHERE position = 0",
}


def without_guards(warehouse) -> None:
    for what in ("update", "delete"):
        if warehouse.dialect.name == "sqlite":
            raw(warehouse, f"DROP TRIGGER eu_cell_{what}")
    if warehouse.dialect.name == "postgresql":
        raw(warehouse, "DROP TRIGGER eu_cell_append_only ON dissemination.eu_cell")


def allowed(warehouse) -> dict:
    [audit] = reader.audits(warehouse, "r1")
    row = {
        "release_id": "r1",
        "domain": "sbs",
        "period": "2024",
        "version": 1,
        "publication": FIRST.digest,
        "passed": True,
    }
    return row | {"audit": audit["digest"], "now": "2026-01-01 00:00:00"}


def changed(warehouse, sql: str) -> None:
    raw(warehouse, sql, **({"tab": "\t"} if ":tab" in sql else {}))


@pytest.mark.parametrize("change", CHANGES)
def test_no_other_cells_go_out_under_an_audited_digest(warehouse, change: str) -> None:
    """By plain SQL, and by the publisher itself, which finds the staged cells."""
    release = prepared(warehouse)
    staged(warehouse, FIRST)
    without_guards(warehouse)
    changed(warehouse, CHANGES[change])
    if change == "a cell less":
        raw(warehouse, "DROP TRIGGER publication_update" if warehouse.dialect.name == "sqlite" else
            "DROP TRIGGER publication_append_only ON dissemination.publication")  # fmt: skip
        raw(warehouse, "UPDATE dissemination.publication SET cells = 2")
    with pytest.raises(IntegrityError, match="not those that were audited"):
        raw(warehouse, RELEASE, **allowed(warehouse))
    with pytest.raises(ReleaseBlocked, match="is stored with another"):
        publish_it(warehouse, release)
    assert count(warehouse, "dissemination.release") == 0
    assert [
        name for name, rows in run_checks(warehouse).items() if rows and name == "publication_of_no_release"
    ]


@pytest.mark.parametrize("change", CHANGES)
def test_a_check_finds_what_the_owner_changed_afterwards(warehouse, change: str) -> None:
    publish_it(warehouse, prepared(warehouse))
    without_guards(warehouse)
    assert not any(run_checks(warehouse).values())
    changed(warehouse, CHANGES[change])
    assert run_checks(warehouse)["release_of_other_cells"]


def test_what_was_changed_after_it_was_inserted_is_read_again(
    warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite the publisher's own rows are not read twice: one change between them and the release, and
    they are.
    """
    release = prepared(warehouse)
    without_guards(warehouse)

    def insert_and_change(connection, table, columns, rows) -> None:
        insert_many(connection, table, columns, rows)
        changing.append(connection)

    changing: list = []
    monkeypatch.setattr("sdc_tasks.warehouse.dissemination.publisher.insert_many", insert_and_change)

    def before_release(connection, _cursor, statement, *_rest) -> None:
        if changing and "INSERT INTO" in statement and "release" in statement:
            changing.clear()
            connection.exec_driver_sql(
                f"UPDATE {'eu_cell' if warehouse.dialect.name == 'sqlite' else 'dissemination.eu_cell'} SET "
                f"value = 1"
            )

    event.listen(warehouse, "before_cursor_execute", before_release)
    with pytest.raises(IntegrityError, match="not those that were audited"):
        publish_it(warehouse, release)
    event.remove(warehouse, "before_cursor_execute", before_release)
    assert count(warehouse, "dissemination.release") == 0


def test_the_genuine_cells_go_out_by_plain_sql_too(warehouse) -> None:
    prepared(warehouse)
    staged(warehouse, FIRST)
    raw(warehouse, RELEASE, **allowed(warehouse))
    assert count(warehouse, "dissemination.release") == 1


def test_an_audit_that_does_not_tell_what_is_printed_releases_nothing(warehouse) -> None:
    from sdc_tasks.model.results import Release
    from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
    from support.world import TERMS, audited, certificate

    start_run(warehouse, "r1", "sbs", "2024")
    submit(warehouse, "r1", TERMS)
    report = audited(FIRST)
    save_audit(warehouse, "r1", report, certificate(report))
    with pytest.raises(IntegrityError, match="not those that were audited"):
        publish_it(warehouse, Release("r1", report.problem, FIRST, report))


def test_no_cell_of_a_country_goes_out_even_where_the_audit_says_so(warehouse) -> None:
    """The aggregate that is called like a country which delivers."""
    accept(warehouse, receive(warehouse, "sbs", "2024", "eu.csv", b"EU").key, "EU")
    with pytest.raises(IntegrityError, match="a cell of a country"):
        publish_it(warehouse, prepared(warehouse))


def test_a_publisher_with_an_older_view_adds_no_cell(deployment: Deployment) -> None:
    """REPEATABLE READ: its transaction began before the release of what it had staged, and does
    not see it.
    """
    pipeline, publisher = deployment.engine("sdc_pipeline"), deployment.engine("sdc_publisher")
    prepared(pipeline)
    staged(publisher, FIRST)
    with deployment.connect("sdc_publisher") as prompt:
        prompt.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        prompt.execute("SELECT count(*) FROM dissemination.release")
        raw(publisher, RELEASE, **allowed(pipeline))
        with pytest.raises(psycopg.IntegrityError, match="READ COMMITTED"):
            prompt.execute(
                "INSERT INTO dissemination.eu_cell VALUES ('sbs', '2024', %s, 'AT.TURNOVER.C10', 9, 'AT', "
                "'TURNOVER', 10, 'A', 'F')",
                [FIRST.digest],
            )
    assert len(reader.released_cells(pipeline, "sbs", "2024")) == 3
    for engine in (pipeline, publisher):
        engine.dispose()


NUMBERS = st.one_of(
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, 0.1, 1 / 3, 2.0**53 + 2, 1e300]),
)
TEXTS = st.text(st.characters(codec="utf-8", min_codepoint=32), max_size=8)


@law(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(TEXTS, TEXTS, NUMBERS), max_size=5))
def test_both_engines_take_the_digest_of_any_rows_as_the_program_does(warehouse, rows) -> None:
    key = {"domain": "d", "period": "p", "publication_digest": "x"}
    lines = [
        (i, f"{i}{area}", area, name, value, "A", "F", None, None)
        for i, (area, name, value) in enumerate(rows)
    ]
    with warehouse.connect() as connection, connection.begin() as transaction:
        connection.execute(insert(publication).values(domain="d", period="p", digest="x", cells=len(lines)))
        for line in lines:
            connection.execute(insert(eu_cell).values(**key, **dict(zip(PRINTED, line, strict=True))))
        name = "printed_digest" if warehouse.dialect.name == "sqlite" else "dissemination.printed_digest"
        found = connection.execute(text(f"SELECT {name}('d', 'p', 'x')")).scalar_one()
        transaction.rollback()
    assert found == digest_of_printed(lines)


def test_the_digest_is_that_of_its_definition() -> None:
    """Written out once by hand."""

    def sha256(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    number, nothing = struct.pack(">d", 42.0).hex(), "x" * 16
    columns = ("0", "EU.T", "EU", "T", number, "A", "F", nothing, nothing)
    own = sha256(sha256("\n".join(["1", *map(sha256, columns)])))
    assert digest_of_printed([(0, "EU.T", "EU", "T", 42.0, "A", "F", None, None)]) == own
    assert printed(FIRST, SPACE) != own
    assert digest_of_printed([]) == sha256("")
