"""Which run stands for a version of a related release."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sdc_tasks.steps import linked
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse.reader import ReleaseInfo

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_version_that_prints_what_an_earlier_one_did_stands_for_itself(monkeypatch: pytest.MonkeyPatch):
    """Version 3 has the publication of version 1, and may promise other cells their levels."""
    releases = [
        ReleaseInfo(f"r{n}", "quarters", "2024-Q1", n, digest, "audit", NOW, None, None, True)
        for n, digest in ((1, "A"), (2, "B"), (3, "A"))
    ]
    runs = [
        {
            "release_id": each.release_id,
            "domain": each.domain,
            "period": each.period,
            "state": "published",
            "finished_at": NOW,
        }
        for each in releases
    ]
    digests = {each.release_id: each.publication_digest for each in releases}
    told = {
        "releases": lambda engine: releases,
        "runs": lambda engine: runs,
        "audits": lambda engine, release: [{"publication_digest": digests[release]}],
        "made_beside": lambda engine, release: list(digests),
    }
    for name, answer in told.items():
        monkeypatch.setattr(linked.reader, name, answer)
    desk = Desk.__new__(Desk)
    object.__setattr__(desk, "engine", None)
    found = linked.of_release(desk, "year")
    assert [(each.release_id, each.version) for each in found] == [("r1", 1), ("r2", 2), ("r3", 3)]
