"""The Great Expectations suite of a national table, and what its results mean to an operator.

The suite sees one row per cell: its key and columns of yes and no (`columns.py`). Results carry the keys of failing cells only.
Great Expectations takes seconds to import, so only `check` does.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from sdc_tasks.checks import columns
from sdc_tasks.checks.columns import Answers
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.findings import CheckResult, Severity
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.profiles import RESPONDENTS
from sdc_tasks.model.table import Bools

_MEANING = {
    "additivity": (
        "totals that are not the sum of their parts",
        "Correct the total or its parts; where complete_keys fails too, mend that first, and look for parts without a record.",
    ),
    "complete_keys": (
        "totals that are absent or zero while their parts are not",
        "Send a record for every total of a breakdown that has one.",
    ),
    "non_negative": (
        "negative values of an indicator that cannot be negative",
        "Correct the sign, or have the indicator declared as signed in the domain file.",
    ),
    "shares": (
        "cells whose shares cannot be: outside 0 to 100, the second above the first, or not in accord with the number of units",
        "Correct shares and units: percent of the cell's value, the largest unit first.",
    ),
    "shares_for_rule": (
        "primary cells without the shares that the rule of their flag works with",
        "Send the shares of the two largest units; without them the level is a percentage of the value, as the domain file sets it.",
    ),
    "units_known": (
        "hidden cells without the number of their units, so that nobody knows which respondent attacks (profiles internal, coalition)",
        "Send UNITS with every hidden cell, secondary ones too; or state in the domain file what a flag means without it "
        "(units_unknown: one); or do not ask for these profiles.",
    ),
    "lone_suppressed": (
        "suppressed cells that are the only one of a relation, so that anybody can compute them from the national table",
        "The NSI should add a secondary suppression; EU aggregates cannot mend it.",
    ),
    "all_free": ("tables without a single primary cell", "Ask the NSI whether the flags were left out."),
    "all_suppressed": ("tables without a single published cell", "Ask the NSI whether the flags are right."),
    "vintage_change": (
        "cells that changed beyond the ratio of the domain file since the previous delivery",
        "Ask the NSI for the reason; check unit and decimals.",
    ),
}


def check(table: NationalTable, domain: Domain, previous: NationalTable | None = None) -> tuple[CheckResult, ...]:
    """The result of every check that the domain has switched on, in the order above. `previous` is the delivery before this one."""
    per_cell = _per_cell(table, domain, previous)
    per_table = _per_table(table, domain)
    frame = _frame(table, domain, per_cell, per_table)
    outcome = _validate(frame, tuple(per_cell), tuple(per_table))
    severities = _severities(domain)
    results = []
    for name in _MEANING:
        if name in outcome and (severity := severities[name]) is not None:
            passed, checked, cells = outcome[name]
            failed = len(cells) if name in per_cell else int(not passed)
            results.append(CheckResult(name, severity, passed, checked, failed, cells))
    return tuple(results)


def refusals(results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """The results that refuse the delivery; it passes when there are none."""
    return tuple(result for result in results if not result.passed and result.severity is Severity.ERROR)


def describe(result: CheckResult) -> str:
    """What the result means, and what to do about it."""
    meaning, remedy = _MEANING[result.check]
    if result.passed:
        return f"{result.check}: passed ({result.checked} checked)."
    cells = f" ({', '.join(result.cells)}" if result.cells else ""
    if result.cells:
        cells += f" and {result.failed - len(result.cells)} more)" if result.failed > len(result.cells) else ")"
    return f"{result.check} ({result.severity}): {result.failed} of {result.checked} checked: {meaning}{cells}. {remedy}"


def _severities(domain: Domain) -> Mapping[str, Severity | None]:
    """From the domain file. Absent shares are no error anywhere: the domain file has a level for cells without them."""
    checks = domain.checks
    return {
        "additivity": checks.additivity,
        "complete_keys": checks.complete_keys,
        "non_negative": checks.non_negative,
        "shares": checks.shares,
        "shares_for_rule": checks.shares and Severity.WARNING,
        "units_known": Severity.ERROR if set(RESPONDENTS) & set(domain.audit.profiles) else None,
        "lone_suppressed": checks.lone_suppressed,
        "all_free": checks.all_free,
        "all_suppressed": checks.all_suppressed,
        "vintage_change": checks.vintage_change,
    }


def _per_cell(table: NationalTable, domain: Domain, previous: NationalTable | None) -> dict[str, Answers]:
    """Checks that every cell they concern must pass."""
    answers = {
        question.__name__: question(table, domain)
        for question in (
            columns.additivity,
            columns.complete_keys,
            columns.non_negative,
            columns.shares,
            columns.shares_for_rule,
            columns.units_known,
            columns.lone_suppressed,
        )
    }
    if previous is not None:
        answers["vintage_change"] = columns.vintage_change(table, previous, domain)
    return answers


def _per_table(table: NationalTable, domain: Domain) -> dict[str, Bools]:
    """Checks that at least one cell must pass. A public zero is nothing published, unless there is nothing to hide either."""
    hidden = columns.suppressed(table, domain)
    return {
        "all_free": columns.primary(table, domain),
        "all_suppressed": ~hidden & ((table.value != 0) | ~hidden.any()),
    }


def _frame(table: NationalTable, domain: Domain, per_cell: Mapping[str, Answers], per_table: Mapping[str, Bools]) -> pd.DataFrame:
    """One row per cell. A cell that a check does not concern has a missing answer, which the expectations skip."""
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
    """Where a data frame becomes a batch: one ephemeral context for the life of the process, silent, without analytics."""
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
