"""A question to a person that closes by itself when its answer does not matter any more."""

from __future__ import annotations

import os
from abc import abstractmethod
from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk.exceptions import TaskAwaitingInput

# Between two looks whether the answer still matters: a task that starts and ends, beside no pool.
PULSE = timedelta(seconds=float(os.environ.get("SDC_LOOK_SECONDS", "600")))


class Question(HITLOperator):
    """Waits for an answer as long as it matters. Airflow resumes the task after an
    answer, and after `PULSE` without one.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(response_timeout=PULSE, execution_timeout=None, **kwargs)  # people are not timed out

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        """Gives an answer to `answered`. Without one, asks on while the answer matters."""
        if event.get("error_type") == "timeout":
            if self.settled(context):
                return None
            raise TaskAwaitingInput(method_name="execute_complete", timeout=self.response_timeout)
        super().execute_complete(context, event)
        return self.answered(context, event)

    @abstractmethod
    def settled(self, context: Any) -> bool:
        """Whether the run goes on without an answer. Raises AirflowSkipException or
        AirflowFailException where it ends.
        """

    @abstractmethod
    def answered(self, context: Any, event: dict[str, Any]) -> Any:
        """Acts on the answer."""
