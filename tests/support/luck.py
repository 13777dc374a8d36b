"""The fresh secrets of a test follow from its name: its keys draw the same in each run, and no
test fails once in a thousand runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace
from unittest.mock import patch


@contextmanager
def secrets_of(test: str) -> Iterator[None]:
    """Meanwhile, the fresh secrets of this process are the first one of this test, its second one
    and so on.
    """
    number = count()

    def token_bytes(size: int) -> bytes:
        return hashlib.shake_256(f"{next(number)} {test}".encode()).digest(size)

    with patch("sdc_tasks.model.secret.secrets", SimpleNamespace(token_bytes=token_bytes)):
        yield
