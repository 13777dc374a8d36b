"""Deliveries that are accepted while a release of older ones is on its way: it does not go out in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdc_tasks import steps
from sdc_tasks.errors import Superseded
from sdc_tasks.warehouse import reader
from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, new_desk


def made(desk: steps.Desk, inbox: Path) -> str:
    """A release up to its verdict."""
    for each in steps.discover(desk, inbox):
        steps.ingest(desk, inbox, each.file)
    release_id = steps.assemble(desk)
    steps.baseline(desk, release_id)
    for rung in range(len(desk.domain.cta.ladder)):
        steps.adjust(desk, release_id, rung)
    steps.choose_bases(desk, release_id)
    for chunk in range(desk.domain.audit.chunks):
        steps.audit_chunk(desk, release_id, chunk)
    steps.verdict(desk, release_id)
    return release_id


def test_a_release_of_older_deliveries_stops_before_it_is_published(tmp_path: Path) -> None:
    files = new_desk(tmp_path, AT=PROTECTED, BE=FREE, CY=PROTECTED)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", files.domain, PERIOD)
    old = made(desk, files.inbox)
    assert steps.newer(desk, old) == []
    assert sorted(reader.made_of(desk.engine, old).values()) == ["AT: AT_2024.csv", "BE: BE_2024.csv", "CY: CY_2024.csv"]

    files.deliver("CY", FREE, "CY_2024_v2.csv")
    new = made(desk, files.inbox)
    assert new != old
    with pytest.raises(Superseded, match=r"newer deliveries are accepted: CY_2024_v2\.csv"):
        steps.publish(desk, old)
    assert reader.releases(desk.engine) == []
    assert steps.publish(desk, new) == 1

    # what is out stays out, and the same again is the same; CY returns to the file that the old release was made of
    files.deliver("CY", PROTECTED, "CY_2024_v3.csv")
    for each in steps.discover(desk, files.inbox):
        steps.ingest(desk, files.inbox, each.file)
    assert steps.publish(desk, new) == 1
    assert {each["release_id"]: each["newer"] for each in reader.history(desk.engine)} == {old: False, new: True}
    desk.engine.dispose()


def test_who_says_so_explicitly_lets_it_out(tmp_path: Path) -> None:
    files = new_desk(tmp_path, AT=PROTECTED, BE=FREE)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", files.domain, PERIOD)
    old = made(desk, files.inbox)
    files.deliver("BE", PROTECTED, "BE_2024_v2.csv")
    for each in steps.discover(desk, files.inbox):
        steps.ingest(desk, files.inbox, each.file)
    assert steps.publish(desk, old, although_newer=True) == 1
    desk.engine.dispose()
