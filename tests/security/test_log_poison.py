"""Nobody who may write the log can stop it, back-date it, or make it unreadable; nobody
else can hold up those who write.
"""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import writing
from sdc_tasks.warehouse.database.schema import UtcTime, metadata
from sdc_tasks.warehouse.log import broken, entries, record
from sdc_tasks.warehouse.operations.decisions import retract
from support.security.deployment import Deployment
from support.world import prepared, publish_it, raw

POISON = ("infinity", "-infinity", "9999-12-31 00:00:00", "0044-03-15 00:00:00", "1066-10-14 00:00:00")


@pytest.mark.parametrize("role", ["sdc_pipeline", "sdc_publisher", "sdc_approver", "sdc_desk"])
def test_the_server_decides_when_an_entry_was_written(deployment: Deployment, role: str, subtests) -> None:
    engine = deployment.engine(role)
    with writing(engine) as connection:
        record(connection, "test", "before")
    with deployment.connect(role) as prompt:
        for instant in POISON:
            with subtests.test(instant), pytest.raises(psycopg.Error):
                prompt.execute(
                    """INSERT INTO operations.log
                       SELECT l.number + 1, v.at, 'a', session_user, 'x', 's', '{}', l.digest, encode(sha256(convert_to(json_build_array(
                           l.number + 1, to_char(v.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                           'a', session_user, 'x', 's', '{}', l.digest)::text, 'UTF8')), 'hex')
                       FROM operations.log l, (SELECT %s::timestamptz AS at) v ORDER BY l.number DESC LIMIT 1""",  # noqa: E501
                    [instant],
                )
        prompt.execute(
            "INSERT INTO operations.log (actor, action, subject, details) VALUES ('a', 'x', 's', '{}')"
        )
    chain = entries(engine)
    assert broken(chain) == []
    assert chain[-1].account == f"{deployment.name}_{role}"
    assert (chain[-1].recorded_at - chain[0].recorded_at).total_seconds() < 3600
    engine.dispose()


def test_the_world_cannot_hold_up_those_who_write(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take any advisory lock: none of ours is one."""
    monkeypatch.setattr(
        "sdc_tasks.warehouse.database.engine.SESSION", {"lock_timeout": "100ms", "statement_timeout": "30s"}
    )
    engines = [deployment.engine(role) for role in ("sdc_pipeline", "sdc_publisher")]
    with deployment.connect("sdc_public") as world:
        for names in (
            ["log"],
            ["release", "sbs", "2024"],
            ["submission", "r1"],
            ["audit", "r1"],
            ["retraction", "r1"],
        ):
            world.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", ["\x1f".join(names)])
        for lock in ("operations.log", "dissemination.release", "operations.turn", "dissemination.eu_cell"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                world.execute(f"BEGIN; LOCK TABLE {lock} IN ACCESS SHARE MODE")
            world.execute("ROLLBACK")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            world.execute("SELECT operations.take_turn('log')")
        assert publish_it(engines[1], prepared(engines[0])) == (1, True)
        retract(engines[1], "r1", "wrong")
    for engine in engines:
        engine.dispose()


def test_no_instant_is_out_of_bounds_in_any_table(warehouse, subtests) -> None:
    """An instant that Python cannot read would stop every reader, for good where rows cannot be changed."""
    publish_it(warehouse, prepared(warehouse))
    for table in metadata.sorted_tables:
        for column in (each.name for each in table.columns if isinstance(each.type, UtcTime)):
            with subtests.test(f"{table.name}.{column}"):
                if warehouse.dialect.name == "postgresql":
                    with writing(warehouse) as connection:
                        found = connection.execute(
                            text(
                                "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = "
                                "CAST(:t AS regclass) AND conname = :n"
                            ),
                            {"t": table.fullname, "n": f"ck_{table.name}_{column}_bounds"},
                        ).scalar_one()
                    assert "1970" in found
                    assert "3000" in found
                else:
                    with writing(warehouse) as connection:
                        names = f"'{table.name}_instants_insert', '{table.name}_instants_update'"
                        found = (
                            connection.exec_driver_sql(
                                f"SELECT sql FROM sqlite_master WHERE name IN ({names})"
                            )
                            .scalars()
                            .all()
                        )
                    assert len(found) == 2
                    assert all(f"NEW.{column} " in sql for sql in found)
    for instant in POISON:
        with subtests.test(instant), pytest.raises(DBAPIError, match=r"bounds|out of range|SQLSTATE 22"):
            raw(warehouse, "UPDATE operations.run SET finished_at = :at", at=instant)
    raw(warehouse, "UPDATE operations.run SET finished_at = '2026-01-01 00:00:00.123456'")
    assert reader.runs(warehouse)[0]["finished_at"].year == 2026


@pytest.mark.parametrize("warehouse_url", ["postgresql"], indirect=True)
def test_the_clock_of_the_server_dates_what_cannot_be_changed(warehouse) -> None:
    """The publisher may say that it was released in 1999: it was not."""
    publish_it(warehouse, prepared(warehouse))
    raw(
        warehouse, "INSERT INTO operations.alert VALUES ('sbs', '2024', 'k', 's', '1999-01-01 00:00:00', 'x')"
    )
    assert reader.alerts(warehouse)[0]["raised_at"].year > 2000
    assert reader.releases(warehouse)[0].released_at.year > 2000
