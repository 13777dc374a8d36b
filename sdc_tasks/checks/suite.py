"""The checks of a national table, and their results: the keys of failing cells, no value.

An office adds a suite of Great Expectations (`office.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from sdc_tasks.checks import office
from sdc_tasks.checks.columns import Answers
from sdc_tasks.checks.proportion import Among
from sdc_tasks.checks.registry import CHECKS
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.findings import CheckResult, Severity
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.table import Bools


def check(
    table: NationalTable,
    domain: Domain,
    previous: NationalTable | None = None,
    last: NationalTable | None = None,
) -> tuple[CheckResult, ...]:
    """The result of every check of one country that the domain switches on, in the order of the registry, and
    then of the office's own suite. `previous` is the delivery before this one, `last` that of
    the last period.
    """
    own = _results(table, domain, *_answers(table, domain, previous, last))
    return own + office.judged(table, domain)


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
    national = domain.space.national_keys
    keys = np.array([printed_key((table.country, *key)) for key in national], dtype=object)
    results = []
    for name, each in CHECKS.items():
        severity = each.severity(domain, table.country)
        if severity is None:
            continue
        if name in per_cell:
            asked = per_cell[name].asked
            failing = asked & ~per_cell[name].holds
            found = int(asked.sum()), int(failing.sum()), tuple(_keys(keys, per_cell[name])[failing])
        elif name in per_table:  # of the table as a whole, without a key
            found = 1, int(not per_table[name].any()), ()
        else:
            continue
        checked, failed, cells = found
        results.append(CheckResult(name, severity, not failed, checked, failed, cells))
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
