"""Where Airflow lives during these tests: a folder that is thrown away. Imported before anybody imports
Airflow.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import ROOT

HOME = Path(tempfile.mkdtemp(prefix="sdc_airflow_"))
DAGS = ROOT / "dags"
DOMAINS = HOME / "domains"
SMALL = HOME / "small"
sys.path.append(str(DAGS))  # as whoever parses a DAG or runs a task has it
os.environ.update(
    AIRFLOW_HOME=str(HOME),
    AIRFLOW__CORE__DAGS_FOLDER=str(DAGS),
    AIRFLOW__CORE__PLUGINS_FOLDER=str(DAGS.parent / "plugins"),
    AIRFLOW__CORE__LOAD_EXAMPLES="False",
    AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL="0",
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=f"sqlite:///{HOME / 'airflow.db'}",
    AIRFLOW__LOGGING__LOGGING_LEVEL="WARNING",
    AIRFLOW__USAGE_DATA_COLLECTION__ENABLED="False",
    GX_ANALYTICS_ENABLED="False",
    SDC_DOMAINS=os.pathsep.join((str(DOMAINS), str(SMALL))),
    SDC_INBOX=str(HOME / "inbox" / "{domain}" / "{period}"),
    SDC_OUT=str(HOME / "out" / "{domain}" / "{period}"),
    SDC_RETRY_SECONDS="0",
)

SHAPE = {
    "countries": 4,
    "activities": 12,
    "sizes": 3,
}  # AT, BE, BG, CY; not the domain of the pages, which asks the same Airflow
BLOCK, PARTIAL, REFUSED = "sbs_4x12x3", "small_partial", "nonsense"
# Two countries, nine cells each: what is quick to run. One needs two approvals, one has a calendar, in one
# the receiver sets secondaries.
PLAIN, AGREED, CYCLES, RECEIVER = "small_plain", "small_agreed", "small_cycles", "small_receiver"
PERIODS = ("2022", "2023", "2024")


@dataclass(frozen=True)
class Run:
    """A run that has ended: its state, the state of every task, and what travelled between them."""

    state: str
    tasks: dict[str, str]
    xcoms: list[Any]
    out: Path

    def failed(self) -> set[str]:
        return {name for name, state in self.tasks.items() if state == "failed"}
