"""The Great Expectations suite of a national table, and its results in words.

The suite sees a row for each answer: the check, the key of the cell, yes or no (`columns.py`).
Results hold the keys of failing cells only. Great Expectations and pandas take seconds to
import, so only `check` imports them.
"""

from __future__ import annotations

import logging
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_tasks.checks.columns import Answers
from sdc_tasks.checks.proportion import Among
from sdc_tasks.checks.registry import CHECKS
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.findings import CheckResult, Severity
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    import pandas as pd


def check(
    table: NationalTable,
    domain: Domain,
    previous: NationalTable | None = None,
    last: NationalTable | None = None,
) -> tuple[CheckResult, ...]:
    """The result of every check of one country that the domain switches on, in the order of the registry.
    `previous` is the delivery before this one, `last` the one of the last period.
    """
    return _results(table, domain, *_answers(table, domain, previous, last))


def compare(table: NationalTable, domain: Domain, among: Among) -> tuple[CheckResult, ...]:
    """The result of every check against the other countries of the period that the domain switches
    on, in the order of the registry.
    """
    return _results(
        table,
        domain,
        {name: each.among(table, domain, among) for name, each in CHECKS.items() if each.among is not None},
        {},
    )


def _results(
    table: NationalTable, domain: Domain, per_cell: Mapping[str, Answers], per_table: Mapping[str, Bools]
) -> tuple[CheckResult, ...]:
    frame = _frame(domain, per_cell, per_table, table.country)
    failing, checked = _failing(frame), frame[_CHECK].value_counts()
    results = []
    for name, each in CHECKS.items():
        if (name in per_cell or name in per_table) and (
            severity := each.severity(domain, table.country)
        ) is not None:
            cells = failing.get(name, ())
            named = cells if name in per_cell else ()
            results.append(
                CheckResult(name, severity, not cells, int(checked.get(name, 0)), len(cells), named)
            )
    return tuple(results)


def refusals(results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """The results that refuse the delivery. The delivery passes when there are none."""
    return tuple(result for result in results if not result.passed and result.severity is Severity.ERROR)


def _answers(
    table: NationalTable, domain: Domain, previous: NationalTable | None, last: NationalTable | None
) -> tuple[dict[str, Answers], dict[str, Bools]]:
    """The answers by check: those that must be yes for every asked cell, and those that
    must be yes for at least one cell.
    """
    every = {name: check.each(table, domain) for name, check in CHECKS.items() if check.each is not None}
    some = {name: check.some(table, domain) for name, check in CHECKS.items() if check.some is not None}
    if previous is not None:
        every |= {
            name: check.since(table, domain, previous)
            for name, check in CHECKS.items()
            if check.since is not None
        }
    if last is not None:
        every |= {
            name: check.last(table, domain, last) for name, check in CHECKS.items() if check.last is not None
        }
    return every, some


def _keys(keys: np.ndarray, told: Answers) -> np.ndarray:
    """The keys of the cells, with what the answers say of them."""
    if not told.words:
        return keys
    found = keys.copy()
    for cell, words in told.words.items():
        found[cell] += words
    return found


def _frame(
    domain: Domain, per_cell: Mapping[str, Answers], per_table: Mapping[str, Bools], country: str
) -> pd.DataFrame:
    """A row for each answer: the check, the key of the cell, yes or no. A cell that a check does not concern
    has no row; a check of the table as a whole has one, without a key.
    """
    import pandas as pd

    keys = np.array([printed_key((country, *key)) for key in domain.space.national_keys], dtype=object)
    rows = [
        pd.DataFrame({_CHECK: name, _KEY: _keys(keys, each)[each.asked], _HOLDS: each.holds[each.asked]})
        for name, each in per_cell.items()
    ]
    rows += [
        pd.DataFrame({_CHECK: name, _KEY: "", _HOLDS: [bool(some.any())]}) for name, some in per_table.items()
    ]
    return pd.concat(rows, ignore_index=True)


_CHECK, _KEY, _HOLDS = "check", "cell", "holds"


def _failing(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """check → keys of the cells that fail it, as Great Expectations judges the answers.

    The checks are rows, not columns with an expectation each: the library takes longer to prepare an
    expectation than to look at the cells.
    """
    keys_only = {
        "result_format": "COMPLETE",
        "unexpected_index_column_names": [_CHECK, _KEY],
        "return_unexpected_index_query": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batch = _batches().get_batch(batch_parameters={"dataframe": frame})
        (result,) = batch.validate(_suite(), result_format=keys_only).results
    if result.exception_info.get("raised_exception"):
        raise RuntimeError("the checks of a delivery: Great Expectations could not evaluate them")
    failing: dict[str, list[str]] = defaultdict(list)
    for row in result.result["unexpected_index_list"]:
        failing[str(row[_CHECK])].append(str(row[_KEY]))
    if bool(result.success) == bool(failing):
        raise RuntimeError("the checks of a delivery: Great Expectations contradicts itself")
    return {name: tuple(cells) for name, cells in failing.items()}


@cache
def _batches() -> Any:
    """Makes a data frame a batch: one ephemeral context for each process, silent, without analytics."""
    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sdc_tasks.checks.expectations import ProgressBarsConfig, gx

        context = gx.get_context(mode="ephemeral")
        context.enable_analytics(False)
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        return (
            context.data_sources.add_pandas("deliveries")
            .add_dataframe_asset("cells")
            .add_batch_definition_whole_dataframe("all")
        )


@cache
def _suite() -> Any:
    from sdc_tasks.checks.expectations import gx, gxe

    return gx.ExpectationSuite(
        "national table", expectations=[gxe.ExpectColumnValuesToBeInSet(column=_HOLDS, value_set=[True])]
    )
