"""Imported last by a process that forks its tasks (`imports` of the workers in docker/compose.yaml): what is
ready stays ready, and shared, and a process that has ended is replaced at once.

A forked process shares the memory of its parent until one of them writes. The garbage collector writes into
every object that it looks at, and so gives each process a copy of the whole library. Frozen objects are not
looked at. Celery stores the result of each task in a database: the first time, SQLAlchemy configures all
models that are imported, and Airflow imports all of its own.
"""

from __future__ import annotations

import gc
import os
from typing import Any

from celery.signals import worker_ready  # type: ignore[import-untyped]
from sqlalchemy.orm import configure_mappers

LOOK_AGAIN = 0.2  # seconds

configure_mappers()
os.register_at_fork(before=gc.freeze)


@worker_ready.connect  # type: ignore[untyped-decorator]
def replace_soon(sender: Any, **_: Any) -> None:
    """Looks often whether a process has ended, so that its successor takes the next task.

    Celery looks when the process closes its files, which is a moment before it has
    ended, and then every five seconds.
    """
    sender.hub.call_repeatedly(LOOK_AGAIN, sender.pool.maintain_pool)
