"""The oracle of the attacker profiles on tables small enough for a pencil: the numbers stand in the
text, with how they come about.
"""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import CellSpace, Hierarchy
from support.oracles.attack import everything, one_cell_release, published
from support.oracles.profiles import (
    Vintage,
    alone,
    coalition,
    external,
    half,
    intervals,
    knowledge,
    protected,
    reaches,
    strongest,
    vintages,
)

NOBODY = np.inf


def national(public: str = "TOTAL D") -> ProtectionProblem:
    """TOTAL 100 = A 10 + B 20 + C 30 + D 40, no aggregates; A, B and C are primaries with
    levels of 5 unless they are public.
    """
    space = CellSpace(
        ("AT",), (), ("TURNOVER",), (Hierarchy("ACTIVITY", ("TOTAL", *"ABCD"), (None, *["TOTAL"] * 4)),)
    )
    known = np.isin(space.hierarchies[0].codes, public.split())
    level = np.where(known, 0.0, 5.0)
    return ProtectionProblem(
        space=space,
        a=np.array([100.0, 10, 20, 30, 40]),
        lb=np.zeros(5),
        ub=np.full(5, np.inf),
        lpl=level,
        upl=level,
        spl=np.zeros(5),
        public=known,
        primary=~known,
        deliveries=("drawn",),
    )


A, B, C = 1, 2, 3


def test_the_world_knows_what_a_row_leaves():
    """A + B + C = 60, none of them negative."""
    assert external(national(), None).tolist() == [[0, 60]] * 3
    assert protected(national(), external(national(), None)).all()


def test_two_singletons_that_collude_compute_the_third_cell():
    """[2] eq. 9. A and B know 10 and 20: C = 60 − 30. Against A, B alone colludes: A + C =
    40; against B, A does: B + C = 50.
    """
    seen = coalition(national(), None, [A, B])
    assert seen.tolist() == [[0, 40], [0, 50], [30, 30]]
    assert protected(national(), seen).tolist() == [True, True, False]


def test_three_singletons_in_a_row_lay_each_other_open():
    """Whoever the victim is, the other two know all the rest: a singleton is a victim too ([2]
    below eq. 9).
    """
    seen = coalition(national(), None, [A, B, C])
    assert seen.tolist() == [[10, 10], [20, 20], [30, 30]]
    assert not protected(national(), seen).any()


def test_each_singleton_alone_knows_less_than_all_together():
    """A knows 10: B + C = 50. B knows 20: A + C = 40. C is most exposed to B, and
    everybody to somebody else than himself.
    """
    seen = alone(national(), None, {A: 10, B: 20})
    assert seen[A].tolist() == [[10, 10], [0, 50], [0, 50]]
    assert seen[B].tolist() == [[0, 40], [20, 20], [0, 40]]
    assert strongest(national(), seen).tolist() == [[0, 40], [0, 50], [0, 40]]


def test_two_singletons_alone_in_a_relation_deduce_each_other():
    """Only A and B are suppressed: A + B = 30. The world sees [0, 30] twice; each of the two sees
    the other.
    """
    problem = national("TOTAL C D")
    assert external(problem, None).tolist() == [[0, 30]] * 2
    assert strongest(problem, alone(problem, None, {A: 10, B: 20})).tolist() == [[10, 10], [20, 20]]


def test_one_of_two_units_knows_that_the_cell_is_at_least_his_part():
    """He has 16 of B's 20: B ≥ 16, so A + C ≤ 44. With half of it: B ≥ 10, A + C ≤ 50."""
    assert alone(national(), None, {B: 16})[B].tolist() == [[0, 44], [16, 60], [0, 44]]
    assert alone(national(), None, half(national(), [B]))[B].tolist() == [[0, 50], [10, 60], [0, 50]]
    assert half(national(), [B]) == {B: 10}


def test_where_nothing_is_known_above_the_interval_is_endless():
    problem = national("D")
    assert external(problem, None).tolist() == [[40, np.inf], [0, np.inf], [0, np.inf], [0, np.inf]]


# --- aggregates ---------------------------------------------------------------------------------------------

ONE = "AT 100 secret 10 | BE 240 public | CY 357 public"


@pytest.mark.parametrize(
    ("decision", "seen"),
    [((697, 0), [100, 100]), ((700, 20), [93, 113]), ((None, None), [0, np.inf])],
    ids=["exact", "rounded", "withheld"],
)
def test_an_interval_of_the_total_is_one_of_its_only_secret(decision, seen):
    """AT = EU − 597."""
    problem = one_cell_release(ONE, EU="AT BE CY")
    publication = None if decision[0] is None else published(problem, decision)
    assert external(problem, publication).tolist() == [seen]


def test_compositions_are_attacked_together():
    """EU28 in [690, 710] and EU27 = EU28 − CY in [335, 345]: AT + 240 lies in both [333, 353]
    and [335, 345]: AT in [95, 105].
    """
    problem = one_cell_release(ONE, EU28="AT BE CY", EU27="AT BE")
    seen = external(problem, published(problem, (700, 20), (340, 10)))
    assert seen.tolist() == [[95, 105]]
    assert reaches(problem, seen).tolist() == [[5, 5]]


def test_a_singleton_sees_through_an_exact_total():
    """AT and BE share 340 of an exact 697: the world sees [0, 340], BE's only unit sees AT."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 secret 10 | CY 357 public", EU="AT BE CY")
    exact = everything(problem, "exact")
    assert external(problem, exact).tolist() == [[0, 340], [0, 340]]
    assert strongest(problem, alone(problem, exact, {1: 240})).tolist() == [[100, 100], [-NOBODY, NOBODY]]
    assert coalition(problem, exact, [0, 1]).tolist() == [[100, 100], [240, 240]]


# --- vintages -----------------------------------------------------------------------------------------------


def test_two_roundings_of_the_same_total_intersect():
    """[690, 710] yesterday and [695, 715] today: the total is in [695, 710], AT in [98, 113]."""
    problem = one_cell_release(ONE, EU="AT BE CY")
    yesterday, today = published(problem, (700, 20)), published(problem, (705, 20))
    assert external(problem, today).tolist() == [[98, 118]]
    assert vintages(problem, today, [Vintage(problem, yesterday)]).tolist() == [[98, 113]]


def test_what_was_exact_once_stays_known():
    problem = one_cell_release(ONE, EU="AT BE CY")
    assert vintages(problem, None, [Vintage(problem, published(problem, (697, 0)))]).tolist() == [[100, 100]]


def test_a_revised_secret_is_another_unknown():
    """AT was 100 and is 120. Yesterday's exact total tells the old value, today's [700, 740]
    is all there is on the new one.
    """
    before, now = (
        one_cell_release(f"AT {value} secret 10 | BE 240 public | CY 357 public", EU="AT BE CY")
        for value in (100, 120)
    )
    exact, rounded = published(before, (697, 0)), published(now, (720, 40))
    assert vintages(now, rounded, [Vintage(before, exact)]).tolist() == [[103, 143]]
    assert vintages(now, rounded, [Vintage(before, exact)], revision=25).tolist() == [[103, 130]], (
        "100 + 25 % of the larger value"
    )
    assert vintages(now, rounded, [Vintage(before, exact)], revision=10).tolist() == [[103, 120]], (
        "as much as it was: 20"
    )
    assert vintages(now, rounded, [Vintage(before, exact)], revision=0).tolist() == [[120, 120]]


def test_what_was_not_revised_links_the_vintages():
    """AT 100 → 120, BE stays at 240. AT′ + BE = 340 and AT + BE = 360: AT = AT′ + 20 is at least 20, BE at
    most 340.

    Neither release alone says more than AT ≤ 360 and BE ≤ 360.
    """
    before, now = (
        one_cell_release(f"AT {value} secret 10 | BE 240 secret 10 | CY 357 public", EU="AT BE CY")
        for value in (100, 120)
    )
    exact = [everything(problem, "exact") for problem in (before, now)]
    assert external(now, exact[1]).tolist() == [[0, 360], [0, 360]]
    assert vintages(now, exact[1], [Vintage(before, exact[0])]).tolist() == [[20, 360], [0, 340]]


def test_knowledge_that_no_table_agrees_with_is_refused():
    problem = one_cell_release(ONE, EU="AT BE CY")
    with pytest.raises(ValueError, match="no table"):
        intervals(knowledge(problem, published(problem, (400, 10))), [0])
