"""What a domain file may not give up while a version of the period is out."""

from __future__ import annotations

from typing import Any

import pytest

from sdc_tasks.domains.loosened import loosened

THEN: dict[str, Any] = {
    "flags": {"A": {"role": "primary"}, "D": {"role": "secondary"}, "F": {"role": "public"}},
    "indicators": [
        {"code": "TURNOVER", "unit": "EUR", "unit_multiplier": 3, "kind": "magnitude"},
        {"code": "PERSONS", "kind": "count", "rounding": {"method": "small-count", "rule_aware": True}},
    ],
    "bases": {"rule_aware": True},
    "codelists": {"NACE": [[code, "", code] for code in ("T", "C", "J", "ICT")]},
    "sums": {"NACE": [["ICT", ["C", "J"]]]},
}


def now(**changes: Any) -> dict[str, Any]:
    return {**THEN, **changes}


def indicator(number: int, **changes: Any) -> list[dict[str, Any]]:
    return [{**each, **changes} if i == number else each for i, each in enumerate(THEN["indicators"])]


LOOSER = {
    "a flag that is public now": (
        now(flags=THEN["flags"] | {"A": {"role": "public"}}),
        "flag A hid cells, and is public now",
    ),
    "a flag that is gone": (
        now(flags={"A": {"role": "primary"}}),
        "flag D hid cells, and is no flag of the domain now",
    ),
    "another multiplier": (
        now(indicators=indicator(0, unit_multiplier=0)),
        "indicator TURNOVER has another unit_multiplier",
    ),
    "another unit": (now(indicators=indicator(0, unit="PS")), "indicator TURNOVER has another unit"),
    "no count any more": (
        now(indicators=indicator(1, kind="magnitude")),
        "the values of indicator PERSONS were known to be whole numbers, and are not now",
    ),
    "counts without rule_aware": (
        now(indicators=indicator(1, rounding={"method": "small-count"})),
        (
            "the rounding of indicator PERSONS withstood somebody who has the program (rule_aware), and does "
            "not "
            "now"
        ),
    ),
    "a sum that nothing says": (now(sums={}), "NACE ICT was the sum of C, J, and no grouping says so now"),
    "another sum": (
        now(sums={"NACE": [["ICT", ["C", "T"]]]}),
        "NACE ICT was the sum of C, J, and no grouping says so now",
    ),
    "bases without rule_aware": (
        now(bases={}),
        "bases withstood somebody who has the program (rule_aware), and do not now",
    ),
}


@pytest.mark.parametrize("change", LOOSER)
def test_what_no_level_can_keep_is_told(change):
    settings, told = LOOSER[change]
    assert loosened(THEN, settings) == [told]


def test_what_stays_or_is_stricter_is_nothing():
    stricter = now(
        flags=THEN["flags"] | {"F": {"role": "secondary"}, "N": {"role": "primary"}},
        indicators=indicator(0, integer=True),
    )
    assert loosened(THEN, THEN) == loosened(THEN, stricter) == []
    assert loosened({}, THEN) == [], "an early version of the program told no settings"


def test_a_sum_that_the_tree_says_now_and_one_of_a_code_that_is_gone_are_no_loss():
    tree = [["T", "", "T"], ["C", "ICT", "C"], ["J", "ICT", "J"], ["ICT", "T", "ICT"]]
    assert loosened(THEN, now(sums={}, codelists={"NACE": tree})) == []
    assert loosened(THEN, now(sums={}, codelists={"NACE": [row for row in tree if row[0] != "ICT"]})) == []
