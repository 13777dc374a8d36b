"""`sdc maintenance` on a server that has amcheck, as Debian's has: an index that has lost a row is told by
name.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine

from sdc_tasks import steps
from sdc_tasks.warehouse.confidential.maintenance import damage
from sdc_tasks.warehouse.operations.journal import start_run
from support.payload_key import PAYLOAD_KEY
from support.stack_fixture import Running

pytestmark = pytest.mark.stack
READY = "UPDATE pg_catalog.pg_index SET indisready = {} WHERE indexrelid = 'operations.pk_run'::regclass"

ANOTHER = (
    "INSERT INTO operations.run (release_id, domain, period, state, started_at) "
    "VALUES ('r2', 'sbs', '2024', 'running', now())"
)


@pytest.fixture
def warehouse(stack: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """One of its own, opened by the owner of the server. It is made with its secret, so with a key."""
    monkeypatch.setenv("SDC_PAYLOAD_KEYS", PAYLOAD_KEY)
    server = create_engine(stack.stack.address("postgres", "postgres"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE sdc_damage")
    engine = steps.open_office(stack.stack.address("postgres", "sdc_damage"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE EXTENSION amcheck")
    yield engine
    engine.dispose()
    with server.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE sdc_damage WITH (FORCE)")
    server.dispose()


def test_an_index_that_has_lost_a_row_is_told(warehouse: Engine) -> None:
    start_run(warehouse, "r1", "sbs", "2024")
    assert damage(warehouse) == []
    with (
        warehouse.begin() as connection
    ):  # as a disk does that loses a page: the row is there, its entry in the index is not
        connection.exec_driver_sql(READY.format("false"))
    with warehouse.begin() as connection:
        connection.exec_driver_sql(ANOTHER)
    with warehouse.begin() as connection:
        connection.exec_driver_sql(READY.format("true"))
    assert damage(warehouse) == ["damaged: index operations.pk_run"]
