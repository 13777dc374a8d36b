"""The parameters of a triggered run."""

from __future__ import annotations

from airflow.sdk import Param

from sdc_tasks.domains.calendar import PERIOD


def period_param() -> Param:
    """The reference period. A run of the calendar, or a backfill, takes it from its data interval."""
    return Param(
        None,
        type=["null", "string"],
        pattern=PERIOD,
        title="Reference period",
        description="such as 2024; none: that of the run's data interval in the release calendar",
    )


def place_param(title: str, default: str, domain: str, what: str) -> Param:
    """A folder, here or in an object store."""
    return Param(
        default.replace("{domain}", domain),
        type="string",
        title=title,
        description=f"{what}; a folder, or an address such as s3://connection@bucket/folder; "
        f"{{period}} stands for the period",
    )
