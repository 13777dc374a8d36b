"""Published and hand-worked figures: the attacker of [2] Figure 11, and an EU example in full."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdc_tasks.methods.attack import Attacker, attacks, audit, baseline, promised
from sdc_tasks.methods.bases.cta_rule import choose
from sdc_tasks.methods.bases.ladder import ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.search.repair import repair
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.oracles.attack import everything, one_cell_release, published, reaches, table_of

# [2] Figure 11. The cell (M_2, P_3) is primary; the four cells in brackets are suppressed.
#            P_1    P_2    P_3   TOTAL
#    M_1    [20]     24   [28]      72
#    M_2    [38]     38   [40]     116
#    M_3      40     39     42     121
#    TOTAL    98    101    110     309
FIGURE_11 = CellSpace(
    ("XX",),
    (Aggregate("EU", ("XX",)),),
    ("PEOPLE",),
    (
        Hierarchy("TOWN", ("TOTAL", "M_1", "M_2", "M_3"), (None, "TOTAL", "TOTAL", "TOTAL")),
        Hierarchy("JOB", ("TOTAL", "P_1", "P_2", "P_3"), (None, "TOTAL", "TOTAL", "TOTAL")),
    ),
)
INNER = [20, 24, 28, 38, 38, 40, 40, 39, 42]


def figure_11(level: float) -> ProtectionProblem:
    a = table_of(FIGURE_11, INNER)
    cell = {FIGURE_11.key(i): i for i in range(16)}
    named = {name: cell[f"XX.PEOPLE.{name}"] for name in ("M_1.P_1", "M_1.P_3", "M_2.P_1", "M_2.P_3")}
    primary = np.arange(32) == named["M_2.P_3"]
    return ProtectionProblem(
        space=FIGURE_11,
        a=a,
        lb=np.zeros(32),
        ub=np.full(32, np.inf),
        lpl=level * primary,
        upl=level * primary,
        spl=np.zeros(32),
        public=(np.arange(32) < 16) & ~np.isin(np.arange(32), list(named.values())),
        primary=primary,
        deliveries=("figure 11",),
    )


def test_figure_11_is_drawn_as_printed():
    a = table_of(FIGURE_11, INNER)[:16].reshape(4, 4)
    assert a[0].tolist() == [309, 98, 101, 110]
    assert a[:, 0].tolist() == [309, 72, 116, 121]
    assert figure_11(10).a[figure_11(10).primary].tolist() == [40]


def test_figure_11_the_attacker_of_equation_4_finds_20_and_68():
    """A level of 100 is out of reach, so the strongest attacks themselves are shown: 40 − 20 and 40 + 28."""
    problem = figure_11(100)
    successful = attacks(problem, everything(problem, "withheld"), promised(problem, ("external",)))
    found = {attack.side: 40 + attack.side * attack.reach for attack in successful}
    assert found == {-1: pytest.approx(20), 1: pytest.approx(68)}
    assert (40 + reaches(problem, None) * [-1, 1]).tolist() == [[20, 68]]


@pytest.mark.parametrize(
    ("level", "protected"), [(10, True), (20, True), (21, False), (28, False), (29, False)]
)
def test_figure_11_is_protected_for_the_level_of_ten_that_the_paper_asks_for(level, protected):
    """[30, 50] lies inside [20, 68]. The national table alone gives 20 below: a level beyond is the
    country's own under-protection.
    """
    problem = figure_11(level)
    nothing = everything(problem, "withheld")
    assert audit(problem, nothing, promised(problem, ("external",))).passed == protected
    effective, _ = baseline(problem, ("external",))
    assert (effective.down.tolist(), effective.up.tolist()) == (
        [pytest.approx(min(level, 20))],
        [pytest.approx(min(level, 28))],
    )
    assert effective.cut.tolist() == [not protected]


def test_figure_11_without_its_secondaries_is_not_protected():
    """ "If this was the only removed cell, its value could be retrieved from marginals.\""""
    problem = figure_11(10)
    alone = replace(problem, public=~problem.primary & ~problem.aggregate)
    report = audit(alone, everything(alone, "withheld"), promised(alone, ("external",)))
    assert (report.down.tolist(), report.up.tolist()) == ([0], [0])


def test_figure_11_published_again_under_another_name_is_not_protected():
    """The same table as the "aggregate" of its only country: exact, it gives everything
    away; in tens ± 10, half of it.
    """
    problem = figure_11(10)
    requirements, _ = baseline(problem, ("external",))
    assert audit(problem, everything(problem, "exact"), requirements).broken == 2
    ten = published(problem, *[(value, 10) for value in problem.a[problem.aggregate]])
    report = audit(problem, ten, requirements)
    assert (report.down.tolist(), report.up.tolist()) == ([0.5], [0.5])


# --- an EU total worked by hand -----------------------------------------------------------------------------

# AT 100 is secret, level 10; BE 240 and CY 357 are public. EU = 697. The world subtracts 597 from what it
# reads.
#    base   printed   interval         AT in             down, up      safe?
#    exact    697     [697, 697]       [100, 100]          0,   0      no
#      1      697     [696.5, 697.5]   [99.5, 100.5]      .5,  .5      no
#      2      698     [697, 699]       [100, 102]          0,   2      no: the true value lies on the edge
#      5      695     [692.5, 697.5]   [95.5, 100.5]     4.5,  .5      no
#     10      700     [695, 705]       [98, 108]           2,   8      no
#     20      700     [690, 710]       [93, 113]           7,  13      no: twice the level, but off centre
#     50      700     [675, 725]       [78, 128]          22,  28      yes
#    100      700     [650, 750]       [53, 153]          47,  53      yes
#    200      600     [500, 700]       [0, 103]          100,   3      no: wider, and worse
EXAMPLE = one_cell_release("AT 100 secret 10 | BE 240 public | CY 357 public", EU="AT BE CY")
BY_HAND = [
    (697, 0, 0, 0),
    (697, 1, 0.05, 0.05),
    (698, 2, 0, 0.2),
    (695, 5, 0.45, 0.05),
    (700, 10, 0.2, 0.8),
    (700, 20, 0.7, 1),
    (700, 50, 1, 1),
    (700, 100, 1, 1),
    (600, 200, 1, 0.3),
]


@pytest.mark.parametrize(("printed", "base", "down", "up"), BY_HAND)
def test_the_eu_example_which_bases_are_safe(printed, base, down, up):
    report = audit(EXAMPLE, published(EXAMPLE, (printed, base)), baseline(EXAMPLE, ("external",))[0])
    assert (report.down.tolist(), report.up.tolist()) == ([down], [up])
    assert report.passed == (down == up == 1)


def test_the_eu_example_the_ladder_prints_these_values():
    options = ladder_of(EXAMPLE, np.ones(1), BasesOptions(maximum_relative_base=0.5))
    assert options.value[0][: len(BY_HAND)].tolist() == [printed for printed, *_ in BY_HAND]


@pytest.mark.parametrize("x", [None, 707.0, 687.0])
def test_the_eu_example_every_rule_ends_at_base_50(x):
    """From nothing by repair, and from CTA's table in either sense."""
    requirements, _ = baseline(EXAMPLE, ("external",))
    options = ladder_of(EXAMPLE, np.ones(1), BasesOptions(maximum_relative_base=0.5))
    table = None if x is None else np.array([x - 597, 240, 357, x])
    choice = repair(Attacker(EXAMPLE, requirements), options, choose(EXAMPLE, options, table), 60, print, [])
    assert options.publication(choice).base.tolist() == [50]


def test_the_eu_example_with_a_second_suppressed_country_every_base_is_safe():
    """BE hidden too: AT + BE = 340 is all that an exact total gives; AT lies in [0, 340]."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 hidden | CY 357 public", EU="AT BE CY")
    assert audit(problem, everything(problem, "exact"), baseline(problem, ("external",))[0]).passed


@pytest.mark.parametrize(
    ("printed", "base", "down", "up"), [(697, 0, 0.4, 0.4), (700, 10, 0.6, 1), (700, 20, 1, 1)]
)
def test_the_eu_example_when_the_world_knows_the_second_country_to_within_four(printed, base, down, up):
    """BE lies in [236, 244]: its 4 add to what the rounding leaves, 2 and 8, then 7 and 13."""
    problem = one_cell_release("AT 100 secret 10 | BE 240 hidden | CY 357 public", EU="AT BE CY")
    problem = replace(problem, lb=np.array([0.0, 236, 0, 0]), ub=np.array([np.inf, 244, np.inf, np.inf]))
    report = audit(problem, published(problem, (printed, base)), baseline(problem, ("external",))[0])
    assert (report.down.tolist(), report.up.tolist()) == ([down], [up])
