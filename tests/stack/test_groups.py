"""Workers share a release by groups of linked indicators, and one process makes the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from support.desk import sdc
from support.stack_fixture import PERIOD, Running

pytestmark = pytest.mark.stack
GROUPS = ("TURNOVER", "VALUE_ADDED, PERSONNEL_COSTS, SURPLUS", "PURCHASES")
PUBLISHED = "SELECT publication_digest FROM {schema}release WHERE domain = 'groups' AND period = :period"


def test_the_workers_decide_group_by_group_what_one_process_decides(stack: Running, tmp_path: Path) -> None:
    inbox = stack.deliver("groups")
    run = stack.trigger("groups")
    assert run.wait() == "success", run.states()
    assert {name: state for name, state in run.states().items() if name.startswith("bases")} == {
        f"bases {each}": "success" for each in GROUPS
    }
    domain = stack.stack.home / "domains" / "groups.yaml"
    alone = sdc(
        "release", "--domain", str(domain), "--period", PERIOD, "--inbox", str(inbox), "--out", str(tmp_path)
    )
    assert alone.code == 0, alone.text
    assert published(stack.warehouse_url, "dissemination.") == published(
        f"sqlite:///{tmp_path / 'warehouse.db'}", ""
    )


def published(url: str, schema: str) -> list[str]:
    engine = create_engine(url)
    with engine.connect() as connection:
        found = connection.execute(text(PUBLISHED.format(schema=schema)), {"period": PERIOD}).scalars().all()
    engine.dispose()
    assert len(found) == 1
    return list(found)
