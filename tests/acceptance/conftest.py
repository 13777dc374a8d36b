"""A command that searches keeps the signals of its process; here the process goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.desk import signals_kept


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    with signals_kept():
        yield
