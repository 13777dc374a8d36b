"""A command that searches keeps the signals of its process; here the process goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.desk import signals_kept
from support.payload_key import WAREHOUSE_SECRET


@pytest.fixture(scope="module", autouse=True)
def a_secret_that_is_kept() -> Iterator[None]:
    """The office of these tests has one secret, so that what is drawn may go out; a test of two secrets takes
    it away.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDC_WAREHOUSE_SECRET", WAREHOUSE_SECRET)
        yield


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    with signals_kept():
        yield
