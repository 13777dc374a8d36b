"""Laws of proportion: what is compared with the other countries does not depend on their order, nor on a unit
that all have, and a second program that shares no code finds the same.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.checks.proportion import FEWEST_IN_COMMON, Among, proportion
from sdc_tasks.domains import Domain
from sdc_tasks.model.problem import NationalTable
from support.deliveries import small_domain
from support.laws import law

CELLS = 9
Cells = list[tuple[int, int]]  # value and units of each cell; units −1 where not sent


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("proportion"))


def cells() -> st.SearchStrategy[Cells]:
    value = st.one_of(st.just(0), st.integers(1, 10**3), st.integers(1, 10**9))
    units = st.one_of(st.just(-1), st.integers(0, 500))
    return st.lists(st.tuples(value, units), min_size=CELLS, max_size=CELLS)


def table(found: Cells, unit: float = 1) -> NationalTable:
    value, units = (np.array(each) for each in zip(*found, strict=True))
    nothing = np.full(CELLS, np.nan)
    return NationalTable("AT", ("d",), value * float(unit), np.full(CELLS, "F"), units, nothing, nothing)


def told(mine: Cells, others: list[Cells], domain: Domain, converted: bool, unit: float = 1) -> bool | None:
    answers = proportion(table(mine, unit), domain, Among([table(each, unit) for each in others], converted))
    return bool(answers.holds[answers.asked].all()) if answers.asked.any() else None


def by_hand(mine: Cells, others: list[Cells], ratio: float, converted: bool) -> bool | None:
    """The same in words: of the typical ratios to each other country, the middle."""

    def middle(per_unit: bool) -> float | None:
        typical = []
        for other in others:
            ratios = [
                math.log10(v / w) - (math.log10(n / m) if per_unit else 0)
                for (v, n), (w, m) in zip(mine, other, strict=True)
                if v and w and (not per_unit or (n > 0 and m > 0))
            ]
            if len(ratios) >= (FEWEST_IN_COMMON if per_unit else 1):
                typical.append(median(ratios))
        if not typical:
            return None
        above, below = sum(each > 0 for each in typical), sum(each < 0 for each in typical)
        if 2 * above > len(typical):
            return sorted(typical)[(len(typical) - 1) // 2]
        return sorted(typical)[len(typical) // 2] if 2 * below > len(typical) else 0.0

    if (units := middle(per_unit=True)) is not None:
        return abs(units) <= math.log10(ratio)
    if (values := middle(per_unit=False)) is not None:
        return abs(values) <= (1 if converted else 2) * math.log10(ratio)
    return None


@given(data=st.data())
@law(300)
def test_two_programs_agree(data, domain):
    mine, others = data.draw(cells()), data.draw(st.lists(cells(), max_size=5))
    converted = data.draw(st.booleans())
    assert told(mine, others, domain, converted) == by_hand(
        mine, others, domain.checks.proportion_ratio, converted
    )


@given(data=st.data())
@law(100)
def test_neither_order_nor_a_unit_that_all_have_changes_an_answer(data, domain):
    mine, others = data.draw(cells()), data.draw(st.lists(cells(), min_size=1, max_size=5))
    answer = told(mine, others, domain, False)
    assert told(mine, data.draw(st.permutations(others)), domain, False) == answer
    assert told(mine, others, domain, False, unit=1024.0) == answer
