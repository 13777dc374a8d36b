"""What every task has: its retries, its time, and a worker that fits it.

Parsing a DAG imports no solver, no database and no Great Expectations.
"""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from typing import Any

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule

from sdc_tasks.errors import Retriable

log = logging.getLogger("sdc.release")

# Airflow adds up to three retries where the error says that nothing is wrong with the input, or where the worker was lost.
PATIENCE = timedelta(seconds=float(os.environ.get("SDC_RETRY_SECONDS", "30")))
DEFAULTS: dict[str, Any] = {
    "owner": "statistical-disclosure-control",
    "retries": 3,
    "retry_delay": PATIENCE,
    "retry_policy": ExceptionRetryPolicy(
        [RetryRule(exception=Retriable, action=RetryAction.RETRY, retry_delay=PATIENCE)], default=RetryAction.FAIL
    ),
    "execution_timeout": timedelta(minutes=15),
}
# The heavy tasks: a worker with the solvers, as many at once as its memory holds, and hours for the attacker's LPs of a large domain.
HEAVY: dict[str, Any] = {"queue": "solver", "pool": "solver", "execution_timeout": timedelta(hours=4)}


def mapped(task: Any, **fixed: Any) -> Any:
    """The task to be expanded over a list, `fixed` the same for all; says what to do when red, which Airflow takes over for others only."""
    return task.override(doc_md=task.function.__doc__).partial(**fixed)
