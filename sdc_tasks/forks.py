"""Imported last by a process that forks its tasks (`imports` of the workers in docker/compose.yaml): what is ready stays ready, and shared.

A forked process shares the memory of its parent until one of them writes. The garbage collector writes into every object that it looks at,
and so gives each process a copy of the whole library. Frozen objects are not looked at. Celery stores the result of each task in a
database: the first time, SQLAlchemy configures all models that are imported, and Airflow imports all of its own.
"""

from __future__ import annotations

import gc
import os

from sqlalchemy.orm import configure_mappers

configure_mappers()
os.register_at_fork(before=gc.freeze)
