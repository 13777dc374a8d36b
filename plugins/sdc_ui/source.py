"""The warehouse that the pages read: by the account of role sdc_ui where there is one, and then nothing else can be read."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from sqlalchemy import Engine

from sdc_tasks.warehouse.database.engine import open_warehouse

DEFAULT = f"sqlite:///{Path(__file__).resolve().parents[2] / 'var' / 'warehouse.db'}"  # where the DAGs work without any setting


def warehouse() -> Engine:
    """Opened once in a process and address; never migrated from here."""
    return _opened(os.environ.get("SDC_UI_URL") or os.environ.get("SDC_WAREHOUSE_URL") or DEFAULT)


@cache
def _opened(url: str) -> Engine:
    return open_warehouse(url, actor="pages")
