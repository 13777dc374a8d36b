"""A table of any library as a data frame of pandas."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

CALLED = "the frame"  # in messages
Table = Any  # a data frame of pandas, or what `as_frame` makes one of
REMEDY = "give a data frame of pandas, or one that speaks Arrow or the data frame interchange protocol"


def as_frame(table: Table, name: str = CALLED) -> pd.DataFrame:
    """The table as a data frame: pandas as it is; else through the Arrow C stream (polars, pyarrow,
    DuckDB), which needs the extra `parquet`, or through the data frame interchange protocol. The rows are
    counted from 0 in every message.

    Raises InvalidInput for anything else, for a table without rows, and for two columns of one name.
    """
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        found = table
    elif hasattr(table, "__arrow_c_stream__"):
        from sdc_tasks.intake.tables.parquet import parquet_library

        found = parquet_library()[0].table(table).to_pandas()
    elif hasattr(table, "__dataframe__"):
        with (
            warnings.catch_warnings()
        ):  # pandas 4 will take Arrow alone; libraries that speak only this protocol still exist
            warnings.simplefilter("ignore", DeprecationWarning)
            found = pd.api.interchange.from_dataframe(table)
    else:
        raise InvalidInput(f"{name}: a {type(table).__name__} is no table. Remedy: {REMEDY}")
    if not len(found):
        raise InvalidInput(f"{name}: no rows. Remedy: give a table with at least one")
    if not found.columns.is_unique:
        twice = found.columns[found.columns.duplicated()][0]
        raise InvalidInput(f"{name}: two columns are called {twice}. Remedy: rename one")
    return found
