"""What this project adds to Airflow: the pages under /sdc, where to find them, and what the other modules of this folder register.

The pages import Airflow's API, which takes seconds, and this file is read by every component and every task: `Pages` imports them when
the first request comes.
"""

from __future__ import annotations

from typing import Any

import sdc_listener
from airflow.plugins_manager import AirflowPlugin
from sdc_alerts import CycleDeadline, Queued
from sdc_timetable import CycleTimetable


class Pages:
    """The application of `sdc_ui.app`, imported when it is first asked for."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        from sdc_ui.app import app

        await app(scope, receive, send)


class ReleasePlugin(AirflowPlugin):
    """Addresses of views are relative to the address of the api-server, so that it may live under a prefix."""

    name = "sdc"
    fastapi_apps = [{"app": Pages(), "url_prefix": "/sdc", "name": "Releases"}]  # noqa: RUF012
    external_views = [  # noqa: RUF012
        {"name": "Releases", "href": "sdc/", "destination": "nav", "url_route": "releases", "nav_top_level": True},
        {"name": "Release", "href": "sdc/run/{DAG_ID}/{RUN_ID}", "destination": "dag_run", "url_route": "release"},
    ]
    timetables = [CycleTimetable]  # noqa: RUF012
    deadline_references = [CycleDeadline, Queued]  # noqa: RUF012
    listeners = [sdc_listener]  # noqa: RUF012
