"""What the keys of a test draw is the same in each run."""

from __future__ import annotations

import pytest

from sdc_tasks.model.secret import Secret
from support.luck import secrets_of


def three() -> list[str]:
    return [Secret.fresh().hex for _ in range(3)]


def test_the_secrets_of_a_test_follow_from_its_name(request: pytest.FixtureRequest):
    mine = three()
    with secrets_of(request.node.nodeid):
        assert three() == mine
    with secrets_of("another test"):
        others = three()
    assert len({*mine, *others, *three()}) == 9
