"""When all groups of linked indicators are decided, and what is read to know it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sdc_tasks.steps import bases

STORED = {"0": "a", "0 rules": "b", "1": "c", "10 rules": "d"}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The digests that were looked at."""
    seen: list[str] = []
    monkeypatch.setattr(bases.journal, "step_outputs", lambda *_: STORED)
    monkeypatch.setattr(bases, "is_sound", lambda _, digest: seen.append(digest) or digest != "c")
    return seen


DESK = SimpleNamespace(engine=None)


def test_nothing_is_read_before_there_is_a_decision_for_each_group(read):
    assert not bases.are_decided(DESK, "r", 3)
    assert read == []


def test_a_decision_and_what_is_beside_it_must_be_intact(read):
    assert bases.are_decided(DESK, "r", 1)
    assert read == ["a", "b"]
    assert not bases.are_decided(DESK, "r", 2)
    assert read[2:] == ["a", "b", "c"]
