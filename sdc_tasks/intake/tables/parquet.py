"""The library that reads and writes Parquet, where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sdc_tasks.errors import InvalidInput
from sdc_tasks.tested import require_tested

MOST_RECORDS = 2**31 - 1  # of a file


def parquet_library() -> tuple[Any, ...]:
    """pyarrow, its parquet and its compute; late, for a CSV file does not need them, nor does an office
    without Parquet have them. Untyped: they have no stubs. Raises InvalidInput where they are not installed,
    or in a version that was not tested.
    """
    try:
        found = tuple(map(import_module, ("pyarrow", "pyarrow.parquet", "pyarrow.compute")))
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "Parquet needs pyarrow. Remedy: pip install sdc-release[parquet], or give the table as CSV"
        ) from error
    require_tested("parquet")
    return found
