"""Fixtures of the tests that attack."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.security.deployment import Deployment, deployed


@pytest.fixture
def deployment(postgres_url: str) -> Iterator[Deployment]:
    """A PostgreSQL warehouse with the accounts and grants of a real one."""
    with deployed(postgres_url) as made:
        yield made
