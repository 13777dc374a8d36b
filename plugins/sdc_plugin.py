"""The plugin of this project for Airflow: the pages under /sdc, the links to them, and the
registrations of the other modules here.

The pages import Airflow's API, which takes seconds. Every component and every task reads this file, so
`Pages` imports them at the first request.
"""

from __future__ import annotations

from typing import Any

import sdc_listener
from airflow.plugins_manager import AirflowPlugin
from sdc_alerts import CycleDeadline, Queued
from sdc_away import DatabaseAway
from sdc_timetable import CycleTimetable


class Pages:
    """The application of `sdc_ui.app`, imported at the first request."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        from sdc_ui.app import app

        await app(scope, receive, send)


class ReleasePlugin(AirflowPlugin):
    """The plugin. Addresses of views are relative to the address of the api-server, so
    that the server may have a prefix.
    """

    name = "sdc"
    fastapi_apps = [{"app": Pages(), "url_prefix": "/sdc", "name": "Releases"}]  # noqa: RUF012
    fastapi_root_middlewares = [  # noqa: RUF012
        {"middleware": DatabaseAway, "name": "A database that does not answer"}
    ]
    external_views = [  # noqa: RUF012
        {
            "name": "Releases",
            "href": "sdc/",
            "destination": "nav",
            "url_route": "releases",
            "nav_top_level": True,
        },
        {
            "name": "Release",
            "href": "sdc/run/{DAG_ID}/{RUN_ID}",
            "destination": "dag_run",
            "url_route": "release",
        },
    ]
    timetables = [CycleTimetable]  # noqa: RUF012
    deadline_references = [CycleDeadline, Queued]  # noqa: RUF012
    listeners = [sdc_listener]  # noqa: RUF012
