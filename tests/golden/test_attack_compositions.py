"""Real Eurostat figures (SBS, NACE C2229, 2017): two compositions of the same countries, attacked together
(METHOD §2).

EU27_2020 persons employed is printed as 540 000 in ten thousands, EU28 as 591 000 in thousands, and the
United Kingdom's 55 662 are public. EU28 less the United Kingdom is 534 838 to 535 838; EU27_2020 alone reads
535 000 to 545 000: what is left is 838 wide.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.methods.attack import attacks, promised
from sdc_tasks.methods.attack.compositions import together
from sdc_tasks.model.problem import ProtectionProblem
from support.oracles.attack import one_cell_release, published

FIGURES = Path(__file__).parents[2] / "docs/tutorial/figures.csv"
MEMBERS = (
    "AT",
    "BE",
    "BG",
    "CY",
    "CZ",
    "DE",
    "DK",
    "EE",
    "EL",
    "ES",
    "FI",
    "FR",
    "HR",
    "HU",
    "IE",
    "IT",
    "LT",
    "LU",
    "LV",
    "MT",
    "NL",
    "PL",
    "PT",
    "RO",
    "SE",
    "SI",
    "SK",
)
BEYOND = (
    100_000  # a level that no publication here leaves: so every attack succeeds, and tells how far it reached
)


def figures(indicator: str) -> dict[str, float]:
    """geo → value of 2017, without those that are confidential or missing."""
    with FIGURES.open(newline="", encoding="utf-8") as lines:
        return {row[3]: float(row[8]) for row in csv.reader(lines) if row[2] == indicator and row[8]}


def release(indicator: str, inside: float) -> ProtectionProblem:
    """The members of 2017; those whose figures are confidential are one unknown, LU, which
    makes the EU27_2020 total `inside`.
    """
    known = figures(indicator)
    others = [country for country in MEMBERS if country in known]
    hidden = inside - sum(known[country] for country in others)
    assert hidden > 0
    cells = [f"{country} {known[country]} public" for country in (*others, "UK")] + [
        f"LU {hidden} secret {BEYOND}"
    ]
    return one_cell_release(
        " | ".join(cells), EU27_2020=" ".join((*others, "LU")), EU28=" ".join((*others, "LU", "UK"))
    )


def interval(problem: ProtectionProblem, *told: tuple[float, float] | str) -> float:
    """How wide the hidden figure's interval is, which is that of the EU27_2020 total, if nothing else is
    known of it.
    """
    anything = replace(problem, lb=np.where(problem.primary, -np.inf, problem.lb))
    found = attacks(anything, published(anything, *told), promised(anything, ("external",)))
    assert {attack.side for attack in found} == {-1, 1}
    return sum(attack.reach for attack in found)


def test_persons_employed_ten_thousand_shrink_to_838():
    problem = release("V16110", 535_400)
    assert interval(problem, (540_000, 10_000), "withheld") == pytest.approx(10_000)
    assert interval(problem, "withheld", (591_000, 1_000)) == pytest.approx(1_000)
    assert interval(problem, (540_000, 10_000), (591_000, 1_000)) == pytest.approx(838)
    assert np.isclose(figures("V16110")["UK"], 55_662)


def test_what_a_report_is_told_of_them_is_the_same():
    """Widths as multiples of what they must be, twice `BEYOND`: of 10 000 and 1 000, 838 is left."""
    problem = release("V16110", 535_400)
    anything = replace(problem, lb=np.where(problem.primary, -np.inf, problem.lb))
    found = together(anything, published(anything, (540_000, 10_000), (591_000, 1_000)))
    assert [anything.space.aggregates[k].code for k in found.aggregates] == ["EU27_2020", "EU28"]
    np.testing.assert_allclose(found.alone * 2 * BEYOND, [[10_000], [1_000]])
    np.testing.assert_allclose(found.whole * 2 * BEYOND, [838])


def test_luxembourg_which_is_confidential_is_given_away_to_within_742():
    """The others add up to 535 096, and nobody employs fewer than 0: [0, 742], of up to 9 904
    that EU27_2020 alone would leave.
    """
    problem = release("V16110", 535_400)
    for told, most in (
        (((540_000, 10_000), "withheld"), 9_904),
        (((540_000, 10_000), (591_000, 1_000)), 742),
    ):
        up = [
            attack.reach
            for attack in attacks(problem, published(problem, *told), promised(problem, ("external",)))
            if attack.side == 1
        ]
        assert 304 + up[0] == pytest.approx(most)
