"""The suite that an office adds to a domain, judged by Great Expectations on the cells of a delivery.

The library takes seconds to load, so it is loaded for a domain that has a suite alone. Its results hold
values: only the keys of failing cells leave this module, and none of its messages does.
"""

from __future__ import annotations

import logging
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from sdc_tasks.domains.schema import Domain
from sdc_tasks.domains.suites import OfficeExpectation
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import CheckResult
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.problem import NationalTable

if TYPE_CHECKING:
    import pandas as pd

_KEY = "cell"  # the key of a row, which no expectation can name
KEYS_ONLY = {
    "result_format": "COMPLETE",
    "unexpected_index_column_names": [_KEY],
    "return_unexpected_index_query": False,
}


def judged(table: NationalTable, domain: Domain) -> tuple[CheckResult, ...]:
    """The result of each expectation, in the order of the suite. Raises InvalidInput for one that the library
    does not know, or cannot evaluate on these columns.
    """
    if not domain.suite:
        return ()
    frame = _frame(table, domain)
    return tuple(_result(each, frame, domain) for each in domain.suite)


def _result(asked: OfficeExpectation, frame: pd.DataFrame, domain: Domain) -> CheckResult:
    stands = f"{domain.checks.suite}, {asked.name}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batches, suite = _batches(), _suite_of(asked)
        if suite is None:
            raise InvalidInput(
                f"{stands}: Great Expectations does not know it, or not with these kwargs. Remedy: write it "
                "as the library's documents have it"
            )
        batch = batches.get_batch(batch_parameters={"dataframe": frame})
        (result,) = batch.validate(suite, result_format=KEYS_ONLY).results
    if not result.result and not result.success:
        raise InvalidInput(
            f"{stands}: Great Expectations cannot evaluate it on these columns. Remedy: ask for what they "
            "hold: codes are texts, values are numbers"
        )
    cells = {str(row[_KEY]) for row in result.result.get("unexpected_index_list") or ()}
    checked = int(result.result.get("element_count") or len(frame))
    failed = 0 if result.success else max(len(cells), 1)  # of a table as a whole: one, without a key
    named = () if result.success else tuple(cells)
    return CheckResult(asked.name, asked.severity, bool(result.success), max(checked, failed), failed, named)


def _suite_of(asked: OfficeExpectation) -> Any:
    """A suite of this expectation alone; None where the library does not know it. Its own error repeats what
    it was given.
    """
    from sdc_tasks.checks.expectations import gx

    told = {"type": asked.type, "kwargs": asked.kwargs}
    try:
        suite = gx.ExpectationSuite(asked.name, expectations=[told])
    except Exception:
        return None
    return suite if len(suite.expectations) == 1 else None


def _frame(table: NationalTable, domain: Domain) -> pd.DataFrame:
    """A row for each cell: its codes, its value and what was sent beside it; empty where nobody sent it."""
    import numpy as np
    import pandas as pd

    keys = [(table.country, *key) for key in domain.space.national_keys]
    dimensions = domain.dimensions
    frame = pd.DataFrame(keys, columns=list(dimensions))
    return frame.assign(
        **{_KEY: [printed_key(key) for key in keys]},
        OBS_VALUE=np.where(table.available, table.value, np.nan),
        CONF_STATUS=table.flag.astype(str),
        UNITS=np.where(table.units >= 0, table.units.astype(float), np.nan),
        SHARE_1=table.share_1,
        SHARE_2=table.share_2,
    )


@cache
def _batches() -> Any:
    """Makes a data frame a batch: one ephemeral context for each process, silent, without analytics."""
    logging.getLogger("great_expectations").setLevel(logging.CRITICAL)
    from sdc_tasks.checks.expectations import ProgressBarsConfig, gx

    context = gx.get_context(mode="ephemeral")
    context.enable_analytics(False)
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return (
        context.data_sources.add_pandas("deliveries")
        .add_dataframe_asset("cells")
        .add_batch_definition_whole_dataframe("all")
    )
