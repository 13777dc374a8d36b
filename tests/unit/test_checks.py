"""Each way a well-formed table can be wrong: the check that fails, the cells it names, and no
value anywhere.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.checks.registry import CHECKS, describe
from sdc_tasks.checks.suite import check, refusals
from sdc_tasks.domains import Domain
from sdc_tasks.domains.deliveries import CheckOptions
from sdc_tasks.domains.schema import MissingCountry
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import MAX_CELLS, CheckResult, Severity
from sdc_tasks.model.problem import NationalTable
from support.deliveries import HEALTHY, SECRET, deliver, sdmx_1, small_domain


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checks")


@pytest.fixture(scope="module")
def domain(folder: Path) -> Domain:
    return small_domain(folder, *ZERO)


ZERO = (
    "unit_multiplier: 3",
    "unit_multiplier: 3, absent: zero",
)  # what has no record is a zero, for the checks to find out


def table(domain: Domain, folder: Path, drawing: str = HEALTHY) -> NationalTable:
    accepted = deliver(domain, folder, sdmx_1(drawing)).table
    assert accepted is not None
    return accepted


def failed(results: tuple[CheckResult, ...]) -> dict[str, tuple[str, ...]]:
    """check → failing cells, after making sure that nothing said of the table holds the secret."""
    assert SECRET not in repr(results) + "".join(map(describe, results))
    return {result.check: result.cells for result in results if not result.passed}


def test_a_healthy_table_passes_every_check(domain, folder):
    results = check(table(domain, folder), domain)
    assert failed(results) == {}
    assert refusals(results) == ()
    assert [result.check for result in results] == [
        "additivity", "complete_keys", "non_negative", "shares", "shares_for_rule", "unflagged", "units_fit",
        "lone_suppressed", "all_free", "all_suppressed",
    ]  # fmt: skip
    assert {result.check: result.checked for result in results} == {
        "additivity": 5,
        "complete_keys": 5,
        "non_negative": 9,
        "shares": 0,
        "shares_for_rule": 0,
        "unflagged": 0,
        "units_fit": 0,
        "lone_suppressed": 4,
        "all_free": 1,
        "all_suppressed": 1,
    }


@pytest.mark.parametrize("profile", ["internal", "coalition"])
def test_a_hidden_cell_without_units_refuses_the_delivery_where_respondents_are_asked_about(
    domain, folder, profile
):
    """Nobody knows whether its only unit attacks: the profile would pass for want of attackers."""
    delivered, asking = table(domain, folder), domain.with_profiles(("external", profile))
    results = check(delivered, asking)
    assert failed(results) == {
        "units_known": ("AT.TURNOVER.C.L", "AT.TURNOVER.C.S", "AT.TURNOVER.D.L", "AT.TURNOVER.D.S")
    }
    assert "Send UNITS" in describe(refusals(results)[0])
    assert failed(check(replace(delivered, units=np.full(9, 3)), asking)) == {}
    with pytest.raises(
        InvalidInput, match=r"AT.TURNOVER.C.S: hidden, as 3 other cells, without a number of units"
    ):
        pipeline.baseline(pipeline.build_problem([delivered], alone(asking)), asking)


def alone(domain: Domain) -> Domain:
    """The same, published with what is there."""
    return domain.model_copy(update={"missing_country": MissingCountry.PARTIAL})


def test_an_office_may_state_that_a_flag_without_units_stands_for_one(domain, folder):
    """Then it is as if one unit had been sent."""
    delivered, asking = (
        table(domain, folder),
        alone(domain.with_profiles(("external", "internal", "coalition"))),
    )
    stated = asking.model_copy(
        update={
            "flags": {
                code: flag.model_copy(update={"units_unknown": "one"}) for code, flag in asking.flags.items()
            }
        }
    )
    assert failed(check(delivered, stated)) == {}
    hidden = delivered.flag != "F"
    sent = replace(delivered, units=np.where(hidden, 1, -1))
    known = [pipeline.build_problem([each], by).known for each, by in ((delivered, stated), (sent, asking))]
    np.testing.assert_array_equal(*known)
    assert (known[0][: len(hidden)][hidden] == delivered.value[hidden]).all()
    assert np.isnan(known[0][: len(hidden)][~hidden]).all()


def test_a_relation_that_does_not_add_up_names_its_total(domain, folder):
    results = check(table(domain, folder, HEALTHY.replace("700 F", "701 F")), domain)
    assert failed(results) == {"additivity": ("AT.TURNOVER.C._T", "AT.TURNOVER.TOTAL._T")}
    assert [result.check for result in refusals(results)] == ["additivity"]
    assert "Correct the total or its parts" in describe(results[0])


def test_a_difference_within_the_tolerance_adds_up(domain, folder, tmp_path):
    assert failed(check(table(domain, folder, HEALTHY.replace("700 F", "700.5 F")), domain)) == {}
    strict = small_domain(tmp_path, "flags:", "checks: {additivity_absolute: 0.4}\nflags:")
    assert "additivity" in failed(check(table(strict, folder, HEALTHY.replace("700 F", "700.5 F")), strict))
    relative = small_domain(
        tmp_path, "flags:", "checks: {additivity_absolute: 0, additivity_relative: 0.01}\nflags:"
    )
    assert failed(check(table(relative, folder, HEALTHY.replace("700 F", "705 F")), relative)) == {}


def test_a_total_of_zero_over_parts(domain, folder):
    results = check(table(domain, folder, HEALTHY.replace("700 F", "0 F")), domain)
    assert failed(results)["complete_keys"] == ("AT.TURNOVER.C._T",)
    assert {result.check for result in refusals(results)} == {"additivity", "complete_keys"}


def test_a_missing_part_is_found_by_the_totals(domain, folder):
    results = check(table(domain, folder, HEALTHY.replace("300 D", ".")), domain)
    assert failed(results)["additivity"] == ("AT.TURNOVER.C._T", "AT.TURNOVER.TOTAL.S")


def test_an_activity_that_does_not_exist_in_the_country(domain, folder):
    empty = """
                _T      S       L
        TOTAL   700 F   300 F   400 F
        C       700 F   300 F   400 F
        D       .       .       .
    """
    assert failed(check(table(domain, folder, empty), domain)) == {"all_free": ()}


def test_a_negative_value(domain, folder, tmp_path):
    drawing = (
        HEALTHY.replace("700 F", "100 F")
        .replace("300 D", "-300 D")
        .replace("749391", "748791")
        .replace("400 F", "-200 F")
    )
    signed = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, signed: true")
    results = check(table(signed, folder, drawing), domain)
    assert failed(results) == {"non_negative": ("AT.TURNOVER.C.S", "AT.TURNOVER.TOTAL.S")}
    assert len(refusals(results)) == 1
    assert failed(check(table(signed, folder, drawing), signed)) == {}


def test_parts_that_cancel_out_have_a_total_of_zero(folder, tmp_path):
    signed = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, signed: true")
    drawing = """
                _T      S       L
        TOTAL   0 F     -5 F    5 F
        C       0 F     -8 D    8 D
        D       0 F     3 D     -3 A
    """
    assert failed(check(table(signed, folder, drawing), signed)) == {}


@pytest.mark.parametrize(
    ("units", "first", "second", "possible"),
    [
        (5, 60, 30, True),
        (5, 50.4, 50.4, True),  # rounded
        (5, 101, 0, False),
        (5, 50, -1, False),
        (5, 30, 40, False),
        (5, 70, 40, False),
        (1, 100, 0, True),
        (1, 100, np.nan, True),
        (1, 90, 10, False),
        (2, 60, 40, True),
        (2, 60, 30, False),
        (5, np.nan, 10, False),
    ],
)
def test_shares(domain, folder, units, first, second, possible):
    results = check(last_cell(table(domain, folder), units=units, share_1=first, share_2=second), domain)
    assert failed(results) == ({} if possible else {"shares": ("AT.TURNOVER.D.L",)})
    assert bool(refusals(results)) is not possible


@pytest.mark.parametrize(
    ("flag", "units", "first", "second", "enough"),
    [
        ("M", 5, np.nan, np.nan, False),
        ("M", 5, 60, np.nan, False),
        ("M", 5, 60, 30, True),
        ("M", 2, np.nan, np.nan, True),  # few units need no shares
        ("M", -1, np.nan, np.nan, False),
        ("O", 5, 60, np.nan, True),
        ("O", 5, np.nan, np.nan, False),
        ("A", 5, np.nan, np.nan, True),
    ],
)
def test_shares_that_the_rule_of_a_flag_needs(domain, folder, flag, units, first, second, enough):
    results = check(
        last_cell(table(domain, folder), flag=flag, units=units, share_1=first, share_2=second), domain
    )
    assert failed(results) == ({} if enough else {"shares_for_rule": ("AT.TURNOVER.D.L",)})
    assert refusals(results) == ()


@pytest.mark.parametrize(
    ("units", "first", "second", "free"),
    [
        (-1, np.nan, np.nan, True),
        (3, 50, 30, True),
        (2, 60, 40, False),  # of few units
        (5, 70, 27, False),  # 3 % are left, less than 10 % of 70
        (5, 70, 20, True),
        (5, 1e308, -1e308, True),  # no shares; `shares` refuses them
    ],
)
def test_a_public_cell_that_a_rule_of_the_domain_protects(domain, folder, units, first, second, free):
    results = check(
        last_cell(table(domain, folder), flag="F", units=units, share_1=first, share_2=second), domain
    )
    assert ("unflagged" in failed(results)) is not free


@pytest.mark.parametrize(
    ("at", "units", "fits"), [(0, 9, True), (0, 7, False), (8, 0, False), (8, -1, True)]
)  # of the total, of the last part
def test_a_total_has_the_units_of_its_parts(domain, folder, at, units, fits):
    healthy = table(domain, folder)
    of_cells = np.array([9, 1, 8, 2, 1, 1, 7, 1, 7])
    of_cells[at] = units
    assert ("units_fit" in failed(check(replace(healthy, units=of_cells), domain))) is not fits


def last_cell(table: NationalTable, **fields: object) -> NationalTable:
    """The table with other entries for its last cell, which is the primary one."""
    return replace(
        table, **{name: np.array([*getattr(table, name)[:-1], entry]) for name, entry in fields.items()}
    )


def test_a_lone_suppressed_cell(domain, folder):
    results = check(table(domain, folder, HEALTHY.replace("300 D", "300 F")), domain)
    assert failed(results) == {"lone_suppressed": ("AT.TURNOVER.C.L", "AT.TURNOVER.D.S")}
    assert refusals(results) == ()


def test_a_delivery_without_a_primary_cell(domain, folder):
    free = HEALTHY.replace("00 D", "00 F").replace("591 A", "591 F")
    results = check(table(domain, folder, free), domain)
    assert failed(results) == {"all_free": ()}
    assert refusals(results) == ()


def test_a_delivery_with_every_cell_suppressed(domain, folder):
    results = check(table(domain, folder, HEALTHY.replace(" F", " D")), domain)
    assert failed(results) == {"all_suppressed": ()}


def test_a_huge_and_a_tiny_value_in_one_table(domain, folder):
    drawing = """
                _T                 S               L
        TOTAL   1000000000000.01 F 0.01 F          1000000000000 F
        C       1000000000000 F    .               1000000000000 F
        D       0.01 F             0.01 F          .
    """
    assert "additivity" not in failed(check(table(domain, folder, drawing), domain))


def test_change_since_the_previous_delivery(domain, folder):
    now = table(domain, folder)
    before = table(
        domain, folder, HEALTHY.replace("300 D", "30 D").replace("100 D", "9 D").replace("700 F", "0 F")
    )
    results = check(now, domain, before)
    assert failed(results) == {"vintage_change": ("AT.TURNOVER.D.S",)}
    assert (results[-1].checked, results[-1].severity) == (8, Severity.WARNING)
    assert failed(check(before, domain, now))["vintage_change"] == ("AT.TURNOVER.D.S",)


def test_the_domain_file_sets_severities_and_switches_checks_off(folder, tmp_path):
    domain = small_domain(
        tmp_path,
        "flags:",
        "checks: {additivity: warning, complete_keys: null, shares: null, all_free: error}\nflags:",
    )
    results = check(table(domain, folder, HEALTHY.replace("700 F", "0 F").replace("591 A", "591 D")), domain)
    assert {"complete_keys", "shares", "shares_for_rule"}.isdisjoint(result.check for result in results)
    assert [result.check for result in refusals(results)] == ["all_free"]


def test_at_most_so_many_cells_are_named():
    result = CheckResult(
        "additivity", Severity.ERROR, False, 50, 30, tuple(f"AT.{i:02}" for i in reversed(range(30)))
    )
    assert result.cells == tuple(f"AT.{i:02}" for i in range(MAX_CELLS))
    assert f"AT.{MAX_CELLS - 1} and 10 more" in describe(result)


def test_checking_is_silent(domain, folder, capfd, caplog):
    with caplog.at_level("INFO"):
        check(table(domain, folder, HEALTHY.replace("700 F", "701 F")), domain)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_great_expectations_is_imported_only_to_check():
    code = "import sys, sdc_tasks.checks.suite; sys.exit('great_expectations' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_asks_one_way_and_has_words_and_a_severity(name, domain):
    each = CHECKS[name]
    assert [each.each, each.some, each.since, each.last, each.among].count(None) == 4
    assert each.meaning
    assert each.remedy.endswith(".")
    assert each.severity(domain) in {None, *Severity}


def test_every_severity_of_a_domain_file_is_that_of_a_check():
    severities = {
        name for name, field in CheckOptions.model_fields.items() if isinstance(field.default, Severity)
    }
    assert severities == {name for name, each in CHECKS.items() if each.rule is None}
