"""The warehouse for the pages. They use the account with role sdc_ui if it is set; that account
cannot read confidential content.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from sqlalchemy import Engine

from sdc_tasks.warehouse.database.engine import open_warehouse

# the warehouse of the DAGs without any setting
DEFAULT = f"sqlite:///{Path(__file__).resolve().parents[2] / 'var' / 'warehouse.db'}"


def warehouse() -> Engine:
    """The warehouse, opened once for each process and address. The pages never migrate it."""
    return _opened(os.environ.get("SDC_UI_URL") or os.environ.get("SDC_WAREHOUSE_URL") or DEFAULT)


@cache
def _opened(url: str) -> Engine:
    return open_warehouse(url, actor="pages")
