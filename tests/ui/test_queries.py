"""How often a page asks the warehouse: not more often because there are more releases or countries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import migrate
from support.ui.many import fill


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    """The statements sent meanwhile, without those that begin and end transactions."""
    sent: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH", "--")):
            sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield sent
    event.remove(engine, "before_cursor_execute", note)


def asked(folder: Path, countries: int, cycles: int) -> dict[str, int]:
    """page → how many queries it takes."""
    from sdc_ui import board, country
    from sdc_ui.cycles import cycle, findings
    from sdc_ui.releases import comparison, history, protection

    folder.mkdir()
    domain = load_domain(write_demo(folder, countries=countries, activities=15, sizes=3))
    engine = open_warehouse(f"sqlite:///{folder / 'warehouse.db'}")
    migrate(engine)
    releases = fill(engine, domain, cycles, primaries=50)
    now = datetime.now(UTC)
    pages: dict[str, Callable[[], Any]] = {
        "board": lambda: board.board(engine, now, lambda _: True),
        "country": lambda: country.country_facts(engine, "AT", now, lambda _: True),
        "cycle": lambda: cycle.cycle_facts(engine, domain.id, "1900", now),
        "findings": lambda: findings.findings_facts(engine, domain.id, "1900", "AT"),
        "history": lambda: history.history_facts(engine, domain.id),
        "release": lambda: protection.release_facts(engine, releases[0]),
        "compare": lambda: comparison.comparison_facts(engine, releases[0], releases[0]),
    }
    found = {}
    for name, gather in pages.items():
        with counted(engine) as sent:
            assert gather() is not None
        found[name] = len(sent)
    engine.dispose()
    return found


@pytest.mark.usefixtures("server")
def test_more_releases_and_countries_need_no_more_queries(tmp_path: Path) -> None:
    few = asked(tmp_path / "few", countries=3, cycles=2)
    assert all(number > 1 for number in few.values()), "the queries are counted"
    assert asked(tmp_path / "many", countries=9, cycles=7) == few
