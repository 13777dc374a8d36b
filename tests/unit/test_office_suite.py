"""A suite of Great Expectations that an office adds to a domain: its results are findings with keys, and the
library is loaded for it alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sdc_tasks.checks.registry import describe
from sdc_tasks.checks.suite import check, refusals
from sdc_tasks.domains import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import CheckResult, Severity
from support.deliveries import HEALTHY, SECRET, deliver, sdmx_1, small_domain

TESTS = str(Path(__file__).parent.parent)
CHECKED = ("indicators:", "checks: {suite: own.json}\nindicators:")
NOT_HIDDEN = {
    "type": "expect_column_values_to_not_be_in_set",
    "kwargs": {"column": "CONF_STATUS", "value_set": ["F"]},
    "severity": "warning",
}
SMALL = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "OBS_VALUE", "max_value": 1}}
ROWS = {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}}
MANY = {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1000}}


def with_suite(folder: Path, *expectations: Any) -> Domain:
    (folder / "own.json").write_text(json.dumps({"name": "own", "expectations": list(expectations)}))
    return small_domain(folder, *CHECKED)


def results(folder: Path, *expectations: Any) -> tuple[CheckResult, ...]:
    """Of the suite alone, after making sure that none of them tells the secret."""
    domain = with_suite(folder, *expectations)
    table = deliver(domain, folder, sdmx_1(HEALTHY)).table
    assert table is not None
    found = tuple(each for each in check(table, domain) if each.check.startswith("suite."))
    assert SECRET not in repr(found) + "".join(map(describe, found))
    return found


def test_an_expectation_fails_with_the_keys_of_its_cells(tmp_path):
    domain = with_suite(tmp_path)
    table = deliver(domain, tmp_path, sdmx_1(HEALTHY)).table
    assert table is not None
    low, rows, hidden = results(tmp_path, SMALL, ROWS, NOT_HIDDEN)
    assert (low.check, low.severity) == ("suite.1.expect_column_values_to_be_between", Severity.ERROR)
    assert (low.checked, low.failed) == (len(table.value), int((table.value > 1).sum()))
    assert len(low.cells) == low.failed > 0
    assert all(cell.startswith(f"{table.country}.") for cell in low.cells)
    assert (rows.passed, rows.failed, rows.cells) == (True, 0, ())
    assert hidden.severity is Severity.WARNING
    assert hidden.failed == int((table.flag == "F").sum())
    assert refusals((low, rows, hidden)) == (low,)
    assert "office's own suite" in describe(low)


def test_what_a_table_as_a_whole_fails_is_one_failure_without_a_key(tmp_path):
    [many] = results(tmp_path, MANY)
    assert (many.passed, many.failed, many.cells) == (False, 1, ())


def test_another_suite_is_another_domain_and_none_changes_nothing(tmp_path):
    plain = small_domain(tmp_path).digest
    digests = [with_suite(tmp_path, each).digest for each in (SMALL, ROWS, SMALL)]
    assert digests[0] == digests[2]
    assert len({plain, *digests}) == 3
    assert "suite" not in small_domain(tmp_path).settings
    assert with_suite(tmp_path, SMALL).settings["suite"] == [[SMALL["type"], "error", SMALL["kwargs"]]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no suite of Great Expectations"),
        ("[]", "no suite of Great Expectations"),
        ("[" * 100_000, "no suite of Great Expectations"),
        ('{"expectations": 3}', "expectations is no list"),
        ('{"expectations": [{}]}', "expectation 1: it has no type"),
        ('{"expectations": [{"type": "x", "kwarg": {}}]}', "unknown key kwarg"),
        ('{"expectations": [{"type": "x", "kwargs": []}]}', "kwargs is no mapping"),
        ('{"expectations": [{"type": "x", "severity": ["a"]}]}', "severity is none of critical"),
        (
            '{"expectations": [{"type": "x", "kwargs": {"column": "VALUE"}}]}',
            "no column VALUE. Did you mean OBS_VALUE? Remedy: one of",
        ),
        ('{"expectations": [{"type": "x", "kwargs": {"column_list": ["geo"]}}]}', "no column geo"),
        (
            '{"expectations": [{"type": "x", "kwargs": {"row_condition": "__import__(\'os\')"}}]}',
            "run as a program",
        ),
    ],
)
def test_a_suite_that_is_none_is_refused_with_the_domain(text, said, tmp_path):
    (tmp_path / "own.json").write_text(text)
    with pytest.raises(InvalidInput, match=r"own\.json") as refused:
        small_domain(tmp_path, *CHECKED)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "expectation",
    [
        {"type": "expect_nonsense", "kwargs": {"column": "OBS_VALUE"}},
        {"type": "expect_column_values_to_be_between", "kwargs": {"column": "OBS_VALUE", "wrong": 1}},
        {"type": "expect_column_values_to_be_between", "kwargs": {"column": "CONF_STATUS", "max_value": 1}},
    ],
)
def test_what_the_library_does_not_take_names_the_expectation_and_no_value(expectation, tmp_path):
    with pytest.raises(InvalidInput, match=rf"own\.json, suite\.1\.{expectation['type']}: ") as refused:
        results(tmp_path, expectation)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(("suite", "loaded"), [("", "False"), ("own.json", "True")])
def test_the_library_is_loaded_for_a_suite_alone(suite, loaded, tmp_path):
    with_suite(tmp_path, SMALL)
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {TESTS!r})
from sdc_tasks.checks.suite import check
from support.deliveries import HEALTHY, deliver, sdmx_1, small_domain
folder = Path({str(tmp_path)!r})
domain = small_domain(folder, *({CHECKED!r} if {suite!r} else ()))
assert check(deliver(domain, folder, sdmx_1(HEALTHY)).table, domain)
print("great_expectations" in sys.modules, "scipy.stats._stats_py" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [loaded, "False"]
