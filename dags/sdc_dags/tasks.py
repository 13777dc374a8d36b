"""Settings of every task: its retries, its time limit, and the kind of worker.

Parsing a DAG imports no solver, no database and no Great Expectations.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule, task
from airflow.sdk.exceptions import AirflowFailException

from sdc_tasks.errors import InvalidInput, Retriable, SdcError

log = logging.getLogger("sdc.release")

# Airflow adds up to three retries after an error that is not due to the input, or after the loss of a worker.
PATIENCE = timedelta(seconds=float(os.environ.get("SDC_RETRY_SECONDS", "30")))
DEFAULTS: dict[str, Any] = {
    "owner": "statistical-disclosure-control",
    "retries": 3,
    "retry_delay": PATIENCE,
    "retry_policy": ExceptionRetryPolicy(
        [RetryRule(exception=Retriable, action=RetryAction.RETRY, retry_delay=PATIENCE)],
        default=RetryAction.FAIL,
    ),
    "execution_timeout": timedelta(minutes=15),
}
# Heavy tasks: a worker with the solvers, as many tasks as fit into its memory, and hours for the
# attacker's LPs of a large domain.
HEAVY: dict[str, Any] = {"queue": "solver", "pool": "solver", "execution_timeout": timedelta(hours=4)}


def _step(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Airflow's `task`, but a refusal that somebody must answer fails the task with its own
    sentence, without the frames below it.
    """
    if function is None:
        return lambda each: _step(each, **options)

    @wraps(function)
    def refusing(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Retriable:
            raise
        except SdcError as refusal:
            raise refused(
                str(refusal) if isinstance(refusal, InvalidInput) else f"{type(refusal).__name__}: {refusal}"
            ) from None

    return task(**options)(refusing)


def refused(said: str) -> AirflowFailException:
    """The end of a task that somebody must answer, to be raised. Airflow logs the frames above
    it, which do not help: they stand in a group that its pages fold, until the listener ends the
    group and says the sentence again.
    """
    log.info("::group::Where the program stopped")
    return AirflowFailException(said)


if TYPE_CHECKING:  # typed as Airflow's own
    step = task
else:
    step = _step


def mapped(task: Any, **fixed: Any) -> Any:
    """The task, for expansion over a list, with `fixed` the same for all. It keeps the documentation, which
    Airflow copies only for tasks that are not mapped.
    """
    return task.override(doc_md=task.function.__doc__).partial(**fixed)
