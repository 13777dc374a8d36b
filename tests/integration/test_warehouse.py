"""The warehouse on both engines: nothing is lost, nothing unaudited is released, nothing released changes.

A small world: two countries and their EU total, one indicator, three cells each.

            TOTAL  C10  C11
    AT        30    10*  20*        * suppressed, primary
    BE        12     7    5
    EU        42    17   25
"""

from __future__ import annotations

import logging
import traceback
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import BLANK_SCHEMA, MetaData, insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from sdc_tasks.errors import InvalidInput, ReleaseBlocked, Retriable
from sdc_tasks.model.findings import CheckResult, Finding, Severity
from sdc_tasks.model.results import Outcome, Publication, Release, Rung
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.store import (
    CorruptedError,
    DeliveryKey,
    accept_together,
    deliveries,
    load_artefact,
    receive,
    refuse,
    save_artefact,
    save_checks,
    save_findings,
)
from sdc_tasks.warehouse.database.checks import known_checks, run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse, reading, writing
from sdc_tasks.warehouse.database.migrations import (
    NEWEST,
    VERSION_TABLE,
    current_revision,
    downgrade,
    migrate,
)
from sdc_tasks.warehouse.database.schema import RunState, UtcTime, eu_cell, metadata, payload, publication
from sdc_tasks.warehouse.database.sqlfiles import SQL
from sdc_tasks.warehouse.dissemination.publisher import printed, publish
from sdc_tasks.warehouse.operations.journal import (
    Terms,
    finish_run,
    record_step,
    save_audit,
    save_rungs,
    set_inputs,
    start_run,
    step_output,
    step_outputs,
    submit,
)
from support.accepting import accept, accepted
from support.world import (
    AGREED_BY_NOBODY,
    APPROVED_BY_NOBODY,
    CELL,
    FIRST,
    KEYS,
    RELEASE,
    RETRACTED_BY_NOBODY,
    SECOND,
    SENTINEL,
    SPACE,
    TERMS,
    WITHHELD,
    audited,
    certificate,
    count,
    in_parallel,
    prepared,
    publish_it,
    published,
    raw,
    staged,
)

# --- migrations ---------------------------------------------------------------------------------------------


def test_migrations_go_up_down_and_up_again(warehouse):
    head = current_revision(warehouse)
    assert head
    publish_it(warehouse, prepared(warehouse))
    downgrade(warehouse)
    assert current_revision(warehouse) is None
    migrate(warehouse)
    migrate(warehouse)
    assert current_revision(warehouse) == head
    assert reader.releases(warehouse) == []
    assert publish_it(warehouse, prepared(warehouse)) == (1, True)


def test_migrations_make_the_tables_that_the_code_believes_in(warehouse):
    expected = metadata
    if warehouse.dialect.name == "sqlite":
        expected = MetaData(naming_convention=metadata.naming_convention)
        for table in metadata.sorted_tables:
            table.to_metadata(expected, schema=None, referred_schema_fn=lambda *_: BLANK_SCHEMA)
    ours = {table.name for table in metadata.sorted_tables}
    options = {
        "version_table": VERSION_TABLE,
        "include_schemas": warehouse.dialect.name == "postgresql",
        "include_name": lambda name, kind, _: kind != "table" or name in ours,
        # looked up once for a statement on PostgreSQL, by the trigger eu_cell_gate
        "include_object": lambda item, name, kind, *_: (
            name != "fk_eu_cell_publication" or warehouse.dialect.name == "sqlite"
        ),
        "compare_type": True,
    }
    with reading(warehouse) as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), expected) == []


def test_the_newest_revision_is_the_last_of_the_files():
    config = Config()
    config.set_main_option("script_location", str(SQL / "migrations"))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == NEWEST


def test_a_failed_migration_leaves_nothing_behind(warehouse_url, monkeypatch):
    engine = open_warehouse(warehouse_url, KEYS)
    good = "sdc_tasks.warehouse.database.sqlfiles.statements"
    monkeypatch.setattr(good, lambda *_: ["CREATE TABLE half_done (x INTEGER)", "CREATE NONSENSE"])
    with pytest.raises(Exception, match="NONSENSE"):
        migrate(engine)
    monkeypatch.undo()
    migrate(engine)
    with reading(engine) as connection:
        assert "half_done" not in engine.dialect.get_table_names(connection)
    engine.dispose()


def _migrate(engine, _) -> str | None:
    migrate(engine)
    return current_revision(engine)


def test_several_processes_may_migrate_at_once(warehouse_url):
    assert in_parallel(warehouse_url, _migrate, *range(4)) == [NEWEST] * 4


# --- artefacts ----------------------------------------------------------------------------------------------


def test_a_warehouse_that_takes_the_place_of_another_is_migrated(warehouse_url):
    """The revision of the warehouse is read each time: it may be another one now."""
    first = open_warehouse(warehouse_url, KEYS)
    migrate(first)
    newest = current_revision(first)
    if first.dialect.name == "sqlite":  # removed, and another file under its name
        path = Path(str(first.url.database))
        first.dispose()
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
    else:
        downgrade(first)
        first.dispose()
    second = open_warehouse(warehouse_url, KEYS)
    assert current_revision(second) is None
    migrate(second)
    assert current_revision(second) == newest
    downgrade(second)  # a backup from before the tables
    migrate(second)
    assert current_revision(second) == newest
    second.dispose()


def test_an_artefact_is_stored_once_under_its_digest(warehouse):
    digest = save_artefact(warehouse, "problem", b"\x00\xff bytes")
    assert save_artefact(warehouse, "problem", b"\x00\xff bytes") == digest
    assert load_artefact(warehouse, digest) == b"\x00\xff bytes"
    assert count(warehouse, "confidential.payload") == 1


def test_a_corrupted_artefact_is_refused_and_the_step_that_made_it_heals_it(warehouse):
    digest = save_artefact(warehouse, "problem", b"good")
    raw(warehouse, "UPDATE confidential.payload SET content = :other", other=b"evil")
    with pytest.raises(CorruptedError, match=digest):
        load_artefact(warehouse, digest)
    save_artefact(warehouse, "problem", b"good")
    assert load_artefact(warehouse, digest) == b"good"


def test_a_missing_artefact_is_named(warehouse):
    with pytest.raises(CorruptedError, match="abc: its content is not in the warehouse"):
        load_artefact(warehouse, "abc")


# --- deliveries ---------------------------------------------------------------------------------------------


def states_of(warehouse) -> dict[str, str]:
    return {each.file: str(each.state) for each in deliveries(warehouse, "sbs", "2024")}


def test_the_same_file_twice_is_one_delivery(warehouse):
    first = receive(warehouse, "sbs", "2024", "at.csv", b"AT")
    accept(warehouse, first.key, "AT")
    again = receive(warehouse, "sbs", "2024", "at_copy.csv", b"AT")
    assert (again.key, again.file, again.received_at) == (first.key, "at.csv", first.received_at)
    assert again.state == "accepted"
    assert len(deliveries(warehouse, "sbs", "2024")) == 1
    assert again.received_at.tzinfo is not None


def test_a_corrected_file_supersedes_and_both_are_kept(warehouse):
    old, new = (receive(warehouse, "sbs", "2024", name, name.encode()) for name in ("at.csv", "at_v2.csv"))
    assert accept(warehouse, old.key, "AT") == "accepted"
    assert accept(warehouse, new.key, "AT") == "accepted"
    assert states_of(warehouse) == {"at.csv": "superseded", "at_v2.csv": "accepted"}
    assert deliveries(warehouse, "sbs", "2024")[0].superseded_by == new.key.digest
    assert load_artefact(warehouse, old.key.digest) == b"at.csv"
    assert accepted(warehouse, "sbs", "2024") == {"AT": (new.key.digest,)}
    # judging the inbox again, in any order, changes nothing
    assert accept(warehouse, old.key, "AT") == "superseded"
    assert refuse(warehouse, old.key) == "superseded"
    assert states_of(warehouse) == {"at.csv": "superseded", "at_v2.csv": "accepted"}


def test_the_later_file_counts_in_whatever_order_they_are_judged(warehouse):
    old, new = (receive(warehouse, "sbs", "2024", name, name.encode()) for name in ("at.csv", "at_v2.csv"))
    accept(warehouse, new.key, "AT")
    assert accept(warehouse, old.key, "AT") == "superseded"
    assert states_of(warehouse) == {"at.csv": "superseded", "at_v2.csv": "accepted"}


def test_files_of_other_names_count_beside_one_another(warehouse):
    keys = [receive(warehouse, "sbs", "2024", name, name.encode()).key for name in ("at_a.csv", "at_b.csv")]
    assert accept_together(warehouse, keys, "AT") == ["accepted", "accepted"]
    assert accepted(warehouse, "sbs", "2024") == {"AT": tuple(key.digest for key in keys)}
    assert not any(run_checks(warehouse).values())


def test_a_refused_file_supersedes_nothing(warehouse):
    good, bad = (receive(warehouse, "sbs", "2024", name, name.encode()) for name in ("good", "bad"))
    accept(warehouse, good.key, "AT")
    assert refuse(warehouse, bad.key) == "refused"
    assert states_of(warehouse) == {"good": "accepted", "bad": "refused"}
    assert accepted(warehouse, "sbs", "2024") == {"AT": (good.key.digest,)}
    assert deliveries(warehouse, "sbs", "2024")[1].country is None


def test_the_same_bytes_may_serve_two_domains(warehouse):
    for domain in ("sbs", "trade"):
        accept(warehouse, receive(warehouse, domain, "2024", "at.csv", b"AT").key, "AT")
    assert list(accepted(warehouse, "sbs", "2024")) == list(accepted(warehouse, "trade", "2024")) == ["AT"]


def test_the_database_itself_refuses_a_second_accepted_delivery(warehouse):
    for name in ("at.csv", "at_v2.csv"):
        receive(warehouse, "sbs", "2024", name, name.encode())
    with pytest.raises(IntegrityError):
        raw(warehouse, "UPDATE operations.delivery SET state = 'accepted', country = 'AT'")


def _deliver(engine, name: str) -> str:
    return str(accept(engine, receive(engine, "sbs", "2024", name, name.encode()).key, "AT"))


def test_of_two_deliveries_of_a_country_at_once_exactly_one_is_accepted(warehouse, warehouse_url):
    names = [f"at_v{i}.csv" for i in range(1, 5)]
    in_parallel(warehouse_url, _deliver, *names)
    assert sorted(states_of(warehouse).values()) == ["accepted", *["superseded"] * 3]
    assert sorted(states_of(warehouse)) == names
    latest = max(deliveries(warehouse, "sbs", "2024"), key=lambda each: each.series.version)
    assert (latest.state, run_checks(warehouse)["delivery_superseded_wrongly"]) == ("accepted", [])


def test_findings_and_checks_are_replaced_by_a_repetition(warehouse):
    key = receive(warehouse, "sbs", "2024", "at.csv", b"AT").key
    accept(warehouse, key, "AT")
    found = [
        Finding("150/904-2", Severity.ERROR, "unknown code", line=i, cell="AT.TURNOVER.C1") for i in (3, 9)
    ]
    check = CheckResult(
        "additivity", Severity.WARNING, passed=False, checked=3, failed=1, cells=("AT.TURNOVER.TOTAL",)
    )
    for _ in range(2):
        save_findings(warehouse, key, found)
        save_checks(warehouse, key, [check])
    assert [
        (f["country"], f["file"], f["line"], f["code"]) for f in reader.findings(warehouse, "sbs", "2024")
    ] == [
        ("AT", "at.csv", 3, "150/904-2"),
        ("AT", "at.csv", 9, "150/904-2"),
    ]
    [result] = reader.check_results(warehouse, "sbs", "2024")
    assert (result["passed"], result["cells"], result["failed"]) == (False, ["AT.TURNOVER.TOTAL"], 1)
    [listed] = reader.deliveries(warehouse, "sbs", "2024")
    assert (listed["findings"], listed["failed_checks"], listed["state"]) == (2, 1, "accepted")
    assert listed["received_at"].tzinfo is not None
    save_findings(warehouse, key, [])
    assert reader.findings(warehouse, "sbs", "2024") == []


# --- runs ---------------------------------------------------------------------------------------------------


def test_steps_are_found_by_release_step_and_key(warehouse):
    start_run(warehouse, "r1", "sbs", "2024")
    digests = {key: save_artefact(warehouse, "chunk", key.encode()) for key in ("0", "1")}
    for key, digest in digests.items():
        record_step(warehouse, "r1", "audit", key, seconds=0.5, note="chunk", artefact_digest=digest)
    record_step(warehouse, "r1", "discover", seconds=0.1)
    assert step_outputs(warehouse, "r1", "audit") == digests
    assert step_output(warehouse, "r1", "audit", "1") == digests["1"]
    assert step_output(warehouse, "r1", "discover") is None
    assert step_output(warehouse, "r2", "audit", "1") is None
    other = save_artefact(warehouse, "chunk", b"other")
    record_step(warehouse, "r1", "audit", "1", seconds=0.7, artefact_digest=other)
    assert step_output(warehouse, "r1", "audit", "1") == other
    assert [(s["step"], s["key"]) for s in reader.steps(warehouse, "r1")] == [
        ("audit", "0"),
        ("discover", ""),
        ("audit", "1"),
    ]


def test_a_run_can_be_started_again_but_not_for_something_else(warehouse):
    start_run(warehouse, "r1", "sbs", "2024")
    set_inputs(warehouse, "r1", "d" * 64)
    finish_run(warehouse, "r1", RunState.FAILED)
    start_run(warehouse, "r1", "sbs", "2024")
    [found] = reader.runs(warehouse, "sbs")
    assert (found["state"], found["finished_at"], found["inputs_digest"]) == ("running", None, "d" * 64)
    with pytest.raises(InvalidInput, match="r1 belongs to sbs 2024"):
        start_run(warehouse, "r1", "sbs", "2025")


def test_rungs_keep_their_order_and_their_gaps(warehouse):
    start_run(warehouse, "r1", "sbs", "2024")
    rungs = (
        Rung("milp", Outcome.NONE, None, 12.5, None, 20.0, "no table within 20 s"),
        Rung("bcd", Outcome.FEASIBLE, 14.0, 12.5, 0.107, 25.0, "gap accepted", accepted=True, chosen=True),
    )
    for _ in range(2):
        save_rungs(warehouse, "r1", rungs)
    found = reader.rungs(warehouse, "r1")
    assert [(r["method"], r["outcome"], r["objective"], r["chosen"]) for r in found] == [
        ("milp", "none", None, False),
        ("bcd", "feasible", 14.0, True),
    ]


def test_the_same_certificate_is_one_audit(warehouse):
    start_run(warehouse, "r1", "sbs", "2024")
    report = audited(FIRST, down=0.4)
    digests = {save_audit(warehouse, "r1", report, certificate(report)) for _ in range(2)}
    [found] = reader.audits(warehouse, "r1")
    assert {found["digest"]} == digests
    assert (found["passed"], found["broken"], found["profiles"]) == (False, 1, "external,vintage")


# --- publishing ---------------------------------------------------------------------------------------------


def test_a_release_shows_exact_rounded_and_withheld_cells(warehouse):
    assert reader.current_release(warehouse, "sbs", "2024") is None
    assert publish_it(warehouse, prepared(warehouse)) == (1, True)
    assert [tuple(vars(cell).values()) for cell in reader.released_cells(warehouse, "sbs", "2024")] == [
        ("EU.TURNOVER.TOTAL", "EU", "TURNOVER", 42.0, "A", "F", None, None),
        ("EU.TURNOVER.C10", "EU", "TURNOVER", 20.0, "E", "F", 10.0, None),
        ("EU.TURNOVER.C11", "EU", "TURNOVER", None, "Q", "S", None, None),
    ]
    current = reader.current_release(warehouse, "sbs", "2024")
    assert current is not None
    assert (current.version, current.publication_digest) == (1, FIRST.digest)
    assert not any(run_checks(warehouse).values())


def test_a_sum_of_visible_countries_is_stored_as_what_it_is(warehouse):
    """EU.C11 = 25 is withheld; BE's 5 would be 20 % of it. The database refuses a share without a
    value, beside a base, or above 1.
    """
    decided = Publication(FIRST.cells, np.array([42, 20, 5.0]), FIRST.base, np.array([0, 0, 0.2]))
    assert publish_it(warehouse, prepared(warehouse)) == (1, True)
    assert publish_it(warehouse, prepared(warehouse, "r2", decided)) == (2, True)
    cell = reader.released_cells(warehouse, "sbs", "2024")[2]
    assert (cell.value, cell.obs_status, cell.conf_status, cell.rounding_base, cell.visible_share) == (
        5.0,
        "D",
        "F",
        None,
        0.2,
    )
    assert not any(run_checks(warehouse).values())
    raw(
        warehouse,
        "INSERT INTO dissemination.publication (domain, period, digest, cells) VALUES ('sbs', '2024', 'raw', "
        "1)",
    )
    for value, base, share in ((None, None, 0.5), (5, 10, 0.5), (5, None, 1.01), (5, None, 0)):
        with pytest.raises(IntegrityError):
            raw(
                warehouse,
                "INSERT INTO dissemination.eu_cell VALUES "
                "('sbs', '2024', 'raw', 'EU.TURNOVER.C11', 0, 'EU', 'TURNOVER', :value, 'D', 'F', :base, "
                ":share)",
                value=value,
                base=base,
                share=share,
            )


def test_what_is_released_is_not_changed(warehouse):
    publish_it(warehouse, prepared(warehouse))
    for guarded in ("UPDATE dissemination.eu_cell SET value = 1", "DELETE FROM dissemination.eu_cell"):
        with pytest.raises(IntegrityError):
            raw(warehouse, guarded)


def test_the_same_release_twice_makes_no_second_version(warehouse):
    release = prepared(warehouse)
    assert publish_it(warehouse, release) == (1, True)
    assert publish_it(warehouse, release) == (1, False)
    assert publish_it(warehouse, prepared(warehouse, "r2")) == (1, False)  # another run, the same publication
    assert len(reader.releases(warehouse)) == 1


def test_revisions_make_versions_and_a_return_to_the_first_is_the_third(warehouse):
    first = prepared(warehouse)
    assert publish_it(warehouse, first) == (1, True)
    assert publish_it(warehouse, prepared(warehouse, "r2", SECOND)) == (2, True)
    assert publish_it(warehouse, first) == (
        1,
        False,
    )  # an old task, run again, does not bring the old table back
    assert publish_it(warehouse, prepared(warehouse, "r3", FIRST)) == (3, True)
    assert publish_it(warehouse, prepared(warehouse, "r4", FIRST, period="2025"), period="2025") == (1, True)
    assert [r.version for r in reader.releases(warehouse, "sbs") if r.period == "2024"] == [3, 2, 1]
    assert [c.rounding_base for c in reader.released_cells(warehouse, "sbs", "2024", version=2)] == [
        None,
        20.0,
        None,
    ]
    assert [c.rounding_base for c in reader.released_cells(warehouse, "sbs", "2024")] == [None, 10.0, None]
    assert not any(run_checks(warehouse).values())


@pytest.mark.parametrize(
    ("report", "named"),
    [
        (audited(FIRST, down=0.999), "not protected: AT.TURNOVER.C10"),
        (audited(FIRST, contradictions=(6,)), "EU.TURNOVER.TOTAL"),
        (audited(SECOND), f"the audit is of publication {SECOND.digest[:12]}"),
    ],
)
def test_a_release_without_a_passed_audit_of_it_is_blocked_by_name(warehouse, report, named):
    start_run(warehouse, "r1", "sbs", "2024")
    save_audit(warehouse, "r1", report, certificate(report))
    with pytest.raises(ReleaseBlocked, match=named):
        publish_it(warehouse, Release("r1", report.problem, FIRST, report))
    assert count(warehouse, "dissemination.eu_cell") == count(warehouse, "dissemination.release") == 0


def test_an_audit_of_another_problem_does_not_serve(warehouse):
    report = prepared(warehouse).report
    with pytest.raises(ReleaseBlocked, match="the audit is of problem"):
        publish_it(warehouse, Release("r1", "q" * 64, FIRST, report))


def test_a_passed_audit_must_be_in_the_warehouse_for_this_run_and_period(warehouse):
    release = prepared(warehouse)
    start_run(warehouse, "r2", "sbs", "2024")
    with pytest.raises(ReleaseBlocked, match="r2: no passed audit of it is stored"):
        publish_it(warehouse, Release("r2", release.problem, FIRST, release.report))
    with pytest.raises(ReleaseBlocked, match="stored for sbs 2025"):
        publish_it(warehouse, release, period="2025")
    with pytest.raises(ReleaseBlocked, match="stored for trade 2024"):
        publish_it(warehouse, release, terms=replace(TERMS, domain="trade"))


OF_SOMETHING_ELSE = {
    "problem": replace(audited(FIRST), problem="q" * 64),
    "publication": audited(SECOND),
    "profiles": audited(FIRST, profiles=("external", "coalition", "vintage")),
}


@pytest.mark.parametrize("report", OF_SOMETHING_ELSE.values(), ids=OF_SOMETHING_ELSE)
def test_the_stored_audit_is_of_this_problem_and_publication(warehouse, report):
    """What the caller brings along agrees with itself; in the warehouse stands the audit of
    something else.
    """
    prepared(warehouse)
    decided = FIRST if report.publication == FIRST.digest else SECOND
    with pytest.raises(ReleaseBlocked, match="r1: no passed audit of it is stored for sbs 2024"):
        publish_it(warehouse, Release("r1", report.problem, decided, report))
    assert not count(warehouse, "dissemination.release")


def test_the_stored_audit_passed(warehouse):
    """The caller says that it did; the warehouse knows better."""
    start_run(warehouse, "r1", "sbs", "2024")
    submit(warehouse, "r1", TERMS)
    failed = audited(FIRST, down=0.5)
    save_audit(warehouse, "r1", failed, certificate(failed), printed(FIRST, SPACE))
    with pytest.raises(ReleaseBlocked, match="r1: no passed audit of it is stored for sbs 2024"):
        publish_it(warehouse, Release("r1", failed.problem, FIRST, audited(FIRST)))


def test_a_release_has_one_content(warehouse):
    publish_it(warehouse, prepared(warehouse))
    report = audited(SECOND)
    save_audit(warehouse, "r1", report, certificate(report), printed(SECOND, SPACE))
    with pytest.raises(ReleaseBlocked, match="r1 was published with another content; start a new release"):
        publish_it(warehouse, Release("r1", report.problem, SECOND, report))


def test_a_publication_that_leaves_cells_undecided_is_blocked(warehouse):
    part = Publication(np.array([6, 7]), np.array([42.0, 20.0]), np.array([0.0, 10.0]))
    with pytest.raises(ReleaseBlocked, match="2 cells are decided, but there are 3"):
        publish_it(warehouse, prepared(warehouse, decided=part))


def _publish(engine, release: Release) -> tuple[int, bool]:
    """As who audits once more, beside what is out by then, where another was quicker."""
    for _ in range(20):
        with suppress(ReleaseBlocked):
            return tuple(publish_it(engine, release))
        prepared(engine, release.id, release.publication)
    raise AssertionError("always another was quicker")


def test_two_publishers_of_one_release_at_once_make_one_version(warehouse, warehouse_url):
    release = prepared(warehouse)
    found = in_parallel(warehouse_url, _publish, *[release] * 4)
    assert sorted(found) == [(1, False)] * 3 + [(1, True)]
    assert len(reader.releases(warehouse)) == 1
    assert not any(run_checks(warehouse).values())


def test_publishers_of_different_releases_at_once_get_versions_in_a_row(warehouse, warehouse_url):
    different = [
        prepared(warehouse, f"r{base}", published((42, 0), (20, base), WITHHELD)) for base in (1, 2, 5, 10)
    ]
    in_parallel(warehouse_url, _publish, *different)
    assert [release.version for release in reader.releases(warehouse)] == [4, 3, 2, 1]
    assert not any(run_checks(warehouse).values())


def test_a_large_publication_is_stored_whole(warehouse):
    codes = tuple(f"C{i:04d}" for i in range(20_160))
    space = CellSpace(
        ("AT",),
        (Aggregate("EU", ("AT",)),),
        ("TURNOVER",),
        (Hierarchy("ACTIVITY", codes, (None,) * len(codes)),),
    )
    size = space.national_size
    decided = Publication(np.arange(size, 2 * size), np.arange(size, dtype=float), np.zeros(size))
    assert publish(
        warehouse, prepared(warehouse, decided=decided, space=space), space=space, terms=TERMS, period="2024"
    ) == (1, True)
    cells = reader.released_cells(warehouse, "sbs", "2024")
    assert [cell.value for cell in cells] == list(range(size))
    assert cells[-1].cell == space.key(2 * size - 1)


# --- the gate, tried by plain SQL ---------------------------------------------------------------------------


@pytest.fixture
def gate(warehouse):
    """Run r1 has a passed audit of FIRST and a failed one of SECOND; both publications
    are stored, nothing is released.
    """
    passed, failed = audited(FIRST), audited(SECOND, down=0.5)
    for run in ("r1", "r2"):
        start_run(warehouse, run, "sbs", "2024")
        submit(warehouse, run, TERMS)
    digests = [
        save_audit(warehouse, "r1", report, certificate(report), printed(decided, SPACE))
        for report, decided in ((passed, FIRST), (failed, SECOND))
    ]
    for decided in (FIRST, SECOND):
        staged(warehouse, decided)
    allowed = {
        "release_id": "r1",
        "domain": "sbs",
        "period": "2024",
        "version": 1,
        "publication": FIRST.digest,
        "audit": digests[0],
        "passed": True,
        "now": "2026-01-01 00:00:00",
    }
    return SimpleNamespace(warehouse=warehouse, allowed=allowed, failed_audit=digests[1])


def test_the_gate_opens_for_a_complete_publication_with_its_passed_audit(gate):
    raw(gate.warehouse, RELEASE, **gate.allowed)
    assert [name for name, rows in run_checks(gate.warehouse).items() if rows] == [
        "publication_of_no_release",
        "release_not_logged",
    ], "it went round the log"


SHUT = [
    {"audit": "0" * 64},  # no such audit
    {"publication": SECOND.digest},  # a passed audit, of something else
    {"publication": SECOND.digest, "audit": "FAILED", "passed": True},  # a failed audit called passed
    {"publication": SECOND.digest, "audit": "FAILED", "passed": False},  # a failed audit
    {"passed": None},
    {"audit": None},
    {"publication": None},
    {"publication": "0" * 64},  # nothing stored
    {"release_id": "r2"},  # the audit of another run
    {"release_id": "r9"},  # no such run
    {"period": "2025"},  # the run of another period
    {"domain": "trade"},
    {"version": 0},
    {"version": 2},
]


@pytest.mark.parametrize("triggers", [True, False])
def test_the_gate_stays_shut_otherwise(gate, triggers, subtests):
    """With triggers off, the constraints alone hold; only the order of versions is the trigger's own
    business.
    """
    if not triggers:
        on = " ON dissemination.release" if gate.warehouse.dialect.name == "postgresql" else ""
        raw(gate.warehouse, f"DROP TRIGGER release_gate{on}")
    for change in SHUT if triggers else SHUT[:-1]:
        row = {**gate.allowed, **change}
        row["audit"] = gate.failed_audit if row["audit"] == "FAILED" else row["audit"]
        with subtests.test(str(change)), pytest.raises(IntegrityError):
            raw(gate.warehouse, RELEASE, **row)
    assert count(gate.warehouse, "dissemination.release") == 0


def test_an_incomplete_publication_is_not_released(gate):
    start_run(gate.warehouse, "r3", "sbs", "2024")
    submit(gate.warehouse, "r3", TERMS)
    third = published((42, 0), (20, 50), WITHHELD)
    digest = save_audit(
        gate.warehouse, "r3", audited(third), certificate(audited(third)), printed(third, SPACE)
    )
    raw(
        gate.warehouse,
        "INSERT INTO dissemination.publication (domain, period, digest, cells) VALUES ('sbs', '2024', "
        ":digest, 3)",
        digest=third.digest,
    )
    raw(gate.warehouse, CELL, digest=third.digest, cell="EU.TURNOVER.TOTAL")
    with pytest.raises(IntegrityError, match=r"not complete|were audited"):
        raw(
            gate.warehouse,
            RELEASE,
            **{**gate.allowed, "release_id": "r3", "publication": third.digest, "audit": digest},
        )


def test_a_failed_audit_cannot_be_stored_as_passed(warehouse):
    start_run(warehouse, "r1", "sbs", "2024")
    with pytest.raises(IntegrityError):
        raw(
            warehouse,
            """INSERT INTO operations.audit (release_id, digest, problem_digest, publication_digest, profiles, passed, primaries,
                   broken, lps, certificate, audited_at)
               VALUES ('r1', 'd', 'p', 'q', 'external', :passed, 2, 1, 4, '{}', '2026-01-01 00:00:00')""",  # noqa: E501
            passed=True,
        )


FORBIDDEN = [
    "UPDATE operations.audit SET passed = NOT passed",
    "UPDATE operations.audit SET publication_digest = 'x'",
    "UPDATE operations.audit SET certificate = '{}'",
    "DELETE FROM operations.audit",
    "UPDATE dissemination.publication SET cells = 4",
    "DELETE FROM dissemination.publication",
    "UPDATE dissemination.eu_cell SET value = 43",
    "UPDATE dissemination.eu_cell SET rounding_base = 1 WHERE rounding_base = 10",
    "DELETE FROM dissemination.eu_cell",
    "UPDATE dissemination.release SET version = 7",
    "DELETE FROM dissemination.release",
    "INSERT INTO dissemination.eu_cell SELECT domain, period, publication_digest, 'EU.TURNOVER.C99', 9, "
    "area, indicator, value,"
    " obs_status, conf_status, rounding_base, visible_share FROM dissemination.eu_cell WHERE position = 0",
    "DELETE FROM operations.run",
    "UPDATE operations.terms SET approvals = 0",
    "DELETE FROM operations.terms",
    "UPDATE operations.submission SET embargo = NULL",
    "DELETE FROM operations.submission",
    "UPDATE operations.log SET actor = 'nobody'",
    "DELETE FROM operations.log",
    "UPDATE dissemination.release SET embargo = NULL",
    "DELETE FROM confidential.payload",
    "DELETE FROM confidential.secret",
]


def test_what_is_released_does_not_change(warehouse, subtests):
    publish_it(warehouse, prepared(warehouse))
    save_artefact(warehouse, "problem", b"kept")

    def everything():
        return (
            reader.released_cells(warehouse, "sbs", "2024"),
            reader.audits(warehouse, "r1"),
            reader.releases(warehouse),
        )

    before = everything()
    for forbidden in FORBIDDEN:
        with subtests.test(forbidden), pytest.raises(IntegrityError):
            raw(warehouse, forbidden)
    assert everything() == before


def test_replacing_rows_does_not_go_round_the_triggers(warehouse):
    publish_it(warehouse, prepared(warehouse))
    if warehouse.dialect.name == "sqlite":
        attempts = [
            "INSERT OR REPLACE INTO eu_cell SELECT * FROM eu_cell",
            "INSERT OR REPLACE INTO publication SELECT domain, period, digest, 99 FROM publication",
            "INSERT OR REPLACE INTO audit SELECT release_id, digest, problem_digest, publication_digest, "
            "profiles, passed, primaries,"
            " broken, lps, '{}', audited_at, printed_digest FROM audit",
            "INSERT OR REPLACE INTO release SELECT * FROM release",
        ]
    else:
        attempts = [
            "TRUNCATE dissemination.eu_cell",
            "TRUNCATE dissemination.release CASCADE",
            "TRUNCATE dissemination.publication CASCADE",
            "TRUNCATE operations.audit CASCADE",
        ]
    for attempt in attempts:
        with pytest.raises(IntegrityError, match=r"append-only|released|refused"):
            raw(warehouse, attempt)


# --- checks, errors, logs -----------------------------------------------------------------------------------


def test_every_check_of_the_warehouse_can_fail(warehouse):
    """Each check is shown what it is there for, with the guards taken away."""
    publish_it(warehouse, prepared(warehouse))
    other = Terms(
        "other",
        "o" * 64,
        ("external",),
        settings='{"structure_id": "NSI:OTHER(1.0)", "unrelated": {"sbs": "x"}}',
    )
    publish_it(warehouse, prepared(warehouse, "r7", terms=other), terms=other)
    keys = {}
    for name in ("at.csv", "at_v2.csv"):
        keys[name] = receive(warehouse, "sbs", "2024", name, name.encode()).key
        accept(warehouse, keys[name], "AT")
    assert not any(run_checks(warehouse).values())
    _take_the_guards_away(warehouse)
    damage = {
        "approval_not_logged": APPROVED_BY_NOBODY,
        "withdrawal_not_logged": AGREED_BY_NOBODY,
        "retraction_not_logged": RETRACTED_BY_NOBODY,
        "release_of_other_cells": "UPDATE dissemination.eu_cell SET value = 43 WHERE position = 0",
        "release_incomplete": "DELETE FROM dissemination.eu_cell WHERE position = 2",
        "publication_of_no_release": (
            "INSERT INTO dissemination.publication VALUES ('sbs', '2024', 'staged', 1)"
        ),
        "release_versions": "UPDATE dissemination.release SET version = 2",
        "eu_cell_of_a_country": "UPDATE dissemination.eu_cell SET area = 'AT' WHERE position = 0",
        "eu_cell_status": "UPDATE dissemination.eu_cell SET obs_status = 'A' WHERE position = 1",
        "release_of_two_domains": "UPDATE operations.terms SET settings = '{}'",
        "release_beside_related": "SELECT 1",
        "release_embargo": "UPDATE dissemination.release SET embargo = '2030-01-01 00:00:00'",
        "release_not_approved": "UPDATE operations.terms SET approvals = 9",
        "release_not_attacked": "UPDATE operations.terms SET profiles = 'external,coalition'",
        "payload_overdue": "UPDATE operations.terms SET retention_days = 0",
        "submission_not_logged": "UPDATE operations.run SET inputs_digest = 'others'",
        "audit_not_logged": "UPDATE operations.audit SET lps = 99",
        "audit_not_of_certificate": "UPDATE operations.audit SET primaries = 99",
        "release_beside_others": 'UPDATE operations.audit SET certificate = \'{"beside": ["another"]}\'',
        "delivery_not_logged": "UPDATE operations.delivery SET times = 9 WHERE file = 'at_v2.csv'",
        "release_of_another_secret": 'UPDATE operations.audit SET certificate = \'{"secret": "another"}\'',
        "payload_key": "UPDATE confidential.secret SET key_id = 'another'",
        "secret_not_logged": "SELECT 1",
        "payload_plain": "UPDATE confidential.payload SET key_id = NULL",
        "payload_incomplete": "DELETE FROM confidential.payload",
        "log_of_nothing": "UPDATE operations.log SET subject = 'r9' WHERE action = 'release'",
        "release_not_logged": "SELECT 1",
        "release_without_audit": "DELETE FROM operations.audit",
        "delivery_superseded_wrongly": "UPDATE operations.delivery SET country = 'BE' WHERE file = 'at.csv'",
    }
    for name, sql in damage.items():
        raw(warehouse, sql)
        assert run_checks(warehouse)[name], name
    raw(warehouse, "UPDATE operations.delivery SET country = 'AT', state = 'accepted', superseded_by = NULL")
    assert run_checks(warehouse)["delivery_accepted_twice"]
    elsewhere = {"row_without_parent"}  # and those of PostgreSQL alone: tests/security
    assert {*damage, "delivery_accepted_twice", *elsewhere} == set(known_checks("sqlite"))


def _take_the_guards_away(warehouse) -> None:
    if warehouse.dialect.name == "postgresql":
        raw(warehouse, "DROP INDEX operations.ux_delivery_accepted")
        for table in (
            "dissemination.release",
            "dissemination.eu_cell",
            *(f"operations.{name}" for name in ("audit", "terms", "log")),
        ):
            raw(warehouse, f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        raw(warehouse, "ALTER TABLE confidential.payload DISABLE TRIGGER ALL")
        return
    raw(warehouse, "DROP INDEX ux_delivery_accepted")
    for name in (
        "release_update",
        "eu_cell_update",
        "eu_cell_delete",
        "audit_update",
        "audit_delete",
        "terms_update",
        "log_update",
        "payload_gate",
    ):
        raw(warehouse, f"DROP TRIGGER {name}")
    with warehouse.connect() as connection:
        connection.connection.driver_connection.execute("PRAGMA foreign_keys = OFF")


def eu_cell_row(**changes) -> dict:
    row = {
        "domain": "sbs",
        "period": "2024",
        "publication_digest": FIRST.digest,
        "cell": "EU.TURNOVER.TOTAL",
        "position": 0,
        "area": "EU",
    }
    return {
        **row,
        "indicator": "TURNOVER",
        "value": SENTINEL,
        "obs_status": "A",
        "conf_status": "F",
        "rounding_base": None,
        **changes,
    }


SECRET = b"secret \xde\xad 987654321.125"
BAD_INSERTS = [
    (payload, {"digest": "0" * 64, "content": SECRET}),  # no such artefact
    (payload, {"digest": None, "content": SECRET}),  # not null
    (eu_cell, eu_cell_row()),  # no such publication
    (eu_cell, eu_cell_row(indicator=None)),  # not null
    (eu_cell, eu_cell_row(rounding_base=-SENTINEL)),  # check
    (eu_cell, [eu_cell_row(), eu_cell_row()]),  # unique
    (publication, {"domain": "sbs", "period": str(SENTINEL), "digest": SECRET.hex(), "cells": None}),
]


def test_no_error_holds_a_value(warehouse, subtests):
    for table, row in BAD_INSERTS:
        with subtests.test(f"{table.name} {sorted(row) if isinstance(row, dict) else 'twice'}"):
            with pytest.raises(IntegrityError) as caught, writing(warehouse) as connection:
                connection.execute(insert(table), row)
            error = caught.value
            told = "".join(
                [
                    str(error),
                    repr(error),
                    str(error.orig),
                    repr(error.orig),
                    *traceback.format_exception(error),
                ]
            )
            assert not [
                value for value in ("987654321", SECRET.hex(), repr(SECRET)[2:8], "dead") if value in told
            ]
            assert "constraint" in str(error).lower()


def test_no_error_of_the_server_quotes_a_value(warehouse):
    """PostgreSQL quotes what it cannot convert; SQLite knows no such error, so there a function
    is missing.
    """
    function = (
        "CAST(:value AS INTEGER)" if warehouse.dialect.name == "postgresql" else "no_such_function(:value)"
    )
    with pytest.raises(DBAPIError) as caught:
        raw(warehouse, f"SELECT {function}", value=f"x{SENTINEL}")
    assert "987654321" not in "".join(traceback.format_exception(caught.value))


def test_no_log_holds_a_value_whatever_the_level(warehouse_url, caplog):
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="sqlalchemy"):
        engine = open_warehouse(warehouse_url, KEYS)
        migrate(engine)
        digest = save_artefact(engine, "problem", SECRET)
        assert load_artefact(engine, digest) == SECRET
        engine.dispose()
    for value in ("secret", SECRET.hex(), "987654321"):
        assert value not in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://user:hunter2@host/db",
        "sqlite:////no/such/dir/w.db",
    ],
)
def test_a_wrong_url_is_refused_with_a_remedy_and_without_its_password(url):
    with pytest.raises(InvalidInput) as caught:
        open_warehouse(url)
    assert "hunter2" not in str(caught.value)


def test_a_busy_warehouse_asks_to_try_again(tmp_path, monkeypatch):
    monkeypatch.setattr("sdc_tasks.warehouse.database.engine.BUSY_SECONDS", 0.01)
    engine = open_warehouse(f"sqlite:///{tmp_path / 'w.db'}")
    migrate(engine)
    with writing(engine), pytest.raises(Retriable, match="try again"):
        save_artefact(engine, "problem", b"late")
    engine.dispose()


def test_a_warehouse_that_is_away_asks_to_try_again():
    engine = open_warehouse("postgresql://user:hunter2@127.0.0.1:1/none")
    with pytest.raises(Retriable, match="does not answer or is busy") as caught:
        migrate(engine)
    assert "hunter2" not in str(caught.value) + str(caught.value.__cause__)


def test_what_pages_see_does_not_touch_the_confidential_schema():
    sources = [Path(reader.__file__), *(SQL / "queries").glob("*.sql")]
    assert len(sources) > 3
    for source in sources:
        words = source.read_text().lower()
        assert "confidential." not in words
        assert "payload" not in words


def test_a_sqlite_warehouse_is_readable_by_its_owner_only(tmp_path):
    engine = open_warehouse(f"sqlite:///{tmp_path / 'w.db'}")
    migrate(engine)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    engine.dispose()


def test_reading_cannot_write(warehouse):
    with pytest.raises(DBAPIError, match=r"read-?only"), reading(warehouse) as connection:
        connection.execute(insert(publication).values(domain="sbs", period="2024", digest="d", cells=1))
    raw(
        warehouse,
        "INSERT INTO dissemination.publication (domain, period, digest, cells) VALUES ('sbs', '2024', 'd', "
        "1)",
    )


def test_an_instant_without_time_zone_is_refused():
    with pytest.raises(TypeError, match="time zone"):
        UtcTime().process_bind_param(datetime(2024, 1, 1), None)


def test_a_delivery_key_reads_as_its_parts():
    assert DeliveryKey("sbs", "2024", "d")._asdict() == {"domain": "sbs", "period": "2024", "digest": "d"}
