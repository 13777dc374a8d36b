"""The Great Expectations suite of a national table, and its results in words.

The suite sees one row per cell: its key and columns of yes and no (`columns.py`). Results hold the keys of failing cells only.
Great Expectations takes seconds to import, so only `check` imports it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from sdc_tasks.checks.columns import Answers
from sdc_tasks.checks.registry import CHECKS
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.findings import CheckResult, Severity
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.table import Bools


def check(table: NationalTable, domain: Domain, previous: NationalTable | None = None) -> tuple[CheckResult, ...]:
    """The result of every check that the domain switches on, in the order of the registry. `previous` is the delivery before this one."""
    per_cell, per_table = _answers(table, domain, previous)
    frame = _frame(table, domain, per_cell, per_table)
    outcome = _validate(frame, tuple(per_cell), tuple(per_table))
    results = []
    for name, each in CHECKS.items():
        if name in outcome and (severity := each.severity(domain)) is not None:
            passed, checked, cells = outcome[name]
            failed = len(cells) if name in per_cell else int(not passed)
            results.append(CheckResult(name, severity, passed, checked, failed, cells))
    return tuple(results)


def refusals(results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """The results that refuse the delivery. The delivery passes when there are none."""
    return tuple(result for result in results if not result.passed and result.severity is Severity.ERROR)


def _answers(table: NationalTable, domain: Domain, previous: NationalTable | None) -> tuple[dict[str, Answers], dict[str, Bools]]:
    """The answers by check: those that must be yes for every asked cell, and those that must be yes for at least one cell."""
    every = {name: check.each(table, domain) for name, check in CHECKS.items() if check.each is not None}
    some = {name: check.some(table, domain) for name, check in CHECKS.items() if check.some is not None}
    if previous is not None:
        every |= {name: check.since(table, domain, previous) for name, check in CHECKS.items() if check.since is not None}
    return every, some


def _frame(table: NationalTable, domain: Domain, per_cell: Mapping[str, Answers], per_table: Mapping[str, Bools]) -> pd.DataFrame:
    """One row per cell. A cell that a check does not concern has a missing answer; the expectations skip it."""
    frame = pd.DataFrame({_KEY: [".".join((table.country, *key)) for key in domain.space.national_keys]})
    for name, answers in per_cell.items():
        frame[name] = pd.arrays.BooleanArray(np.array(answers.holds), ~answers.asked)
    for name, holds in per_table.items():
        frame[name] = holds
    return frame


_KEY = "cell"


def _validate(frame: pd.DataFrame, per_cell: tuple[str, ...], per_table: tuple[str, ...]) -> dict[str, tuple[bool, int, tuple[str, ...]]]:
    """check → (passed, number checked, keys of failing cells), as Great Expectations judges them."""
    keys_only = {"result_format": "COMPLETE", "unexpected_index_column_names": [_KEY], "return_unexpected_index_query": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batch = _batches().get_batch(batch_parameters={"dataframe": frame})
        outcome = batch.validate(_suite(per_cell, per_table), result_format=keys_only)
    judged: dict[str, tuple[bool, int, tuple[str, ...]]] = {}
    for result in outcome.results:
        name = result.expectation_config.kwargs["column"]
        if result.exception_info.get("raised_exception"):
            raise RuntimeError(f"check {name}: Great Expectations could not evaluate it")
        if name in per_table:
            judged[name] = (bool(result.success), 1, ())
        else:
            checked = int(result.result["element_count"]) - int(result.result["missing_count"])
            judged[name] = (bool(result.success), checked, tuple(str(row[_KEY]) for row in result.result["unexpected_index_list"]))
    return judged


@cache
def _batches() -> Any:
    """Makes a data frame a batch: one ephemeral context for each process, silent, without analytics."""
    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import great_expectations as gx
        from great_expectations.data_context.types.base import ProgressBarsConfig

        context = gx.get_context(mode="ephemeral")
        context.enable_analytics(False)
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        return context.data_sources.add_pandas("deliveries").add_dataframe_asset("cells").add_batch_definition_whole_dataframe("all")


@cache
def _suite(per_cell: tuple[str, ...], per_table: tuple[str, ...]) -> Any:
    import great_expectations as gx
    import great_expectations.expectations as gxe

    every = [gxe.ExpectColumnValuesToBeInSet(column=name, value_set=[True]) for name in per_cell]
    some = [gxe.ExpectColumnSumToBeBetween(column=name, min_value=1) for name in per_table]
    return gx.ExpectationSuite("national table", expectations=[*every, *some])
