"""The warehouse, inbox and output folders of a deployment, from environment variables.

The DAGs need them, and so do the triggerer and the scheduler, which do not have the DAGs' folder on their
path.
"""

from __future__ import annotations

import os
from pathlib import Path

from sdc_tasks.errors import InvalidInput

VAR = Path(__file__).resolve().parents[1] / "var"
INBOX = os.environ.get("SDC_INBOX") or str(VAR / "inbox" / "{domain}" / "{period}")
OUT = os.environ.get("SDC_OUT") or str(VAR / "out" / "{domain}" / "{period}")


def warehouse() -> str:
    """The address of the warehouse."""
    return os.environ.get("SDC_WAREHOUSE_URL") or f"sqlite:///{VAR / 'warehouse.db'}"


def root(template: str, domain: str) -> str:
    """The folder that contains the folders of all periods; or the folder itself, if it is the same for all
    periods.
    """
    above, period, _ = template.replace("{domain}", domain).partition("{period}")
    return above.rpartition("/")[0] if period else above


def confine(name: str, address: str, within: str) -> None:
    """Raises InvalidInput where the address leads out of the folder `within`: by its name, by `..` or by a
    link.
    """
    if "://" in within or "://" in address:
        inside = ".." not in address.split("/") and f"{address.rstrip('/')}/".startswith(
            f"{within.rstrip('/')}/"
        )
    else:
        inside = Path(address).resolve().is_relative_to(Path(within).resolve())
    if not inside:
        raise InvalidInput(
            f"parameter {name}: not inside {within}. Remedy: give a folder in there, or have the deployment "
            f"change SDC_{name.upper()}"
        )


def folder(address: str) -> Path:
    """The folder at an address."""
    if "://" not in address:
        return Path(address)
    from airflow.sdk import ObjectStoragePath

    return ObjectStoragePath(address)  # type: ignore[return-value]
