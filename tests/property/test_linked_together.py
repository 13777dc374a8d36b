"""Tables of one statistic decided together, as one table that has each of their cells once: what is safe for
the union is safe for the tables in any order, and less is lost than one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods import attack
from sdc_tasks.methods.indicator_blocks import restrict
from sdc_tasks.methods.linked import Out, TableUnion, joint, union
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.model.time.periods import PeriodRule
from support.joined import joint_of
from support.oracles.drawn import drawn_domain
from support.oracles.linked import Statistic, Table, broken, drawn

SEEDS = [seed for seed in range(60) if len({table.period for table in drawn(seed).tables}) == 1]


XY = Hierarchy("ACTIVITY", ("T", "X", "Y"), (None, "T", "T"))


def exactly(total):
    return np.full(len(total), 1e-9)


def of(statistic: Statistic) -> TableUnion:
    tables = statistic.tables
    return union([each.problem for each in tables], [each.kind for each in tables], exactly)


def decided(tables: Sequence[Table]) -> list[Publication]:
    return pipeline.choose_together([each.problem for each in tables], [drawn_domain() for _ in tables])


def lost(statistic: Statistic) -> float:
    """Half-widths relative to the totals; a total of several tables counts once."""
    most, found = drawn_domain().bases.maximum_relative_base, {}
    for table in statistic.tables:
        shown, n = table.publication, table.problem.space.national_size
        assert shown is not None
        half = np.where(shown.rounded, shown.base / 2 / np.maximum(table.problem.a[shown.cells], 1), 0.0)
        half = np.where(shown.withheld, most, half)
        found |= {table.names[k][1:]: half[k] for k in range(n)}
    return sum(found.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_union_has_each_cell_once_and_all_relations(seed: int):
    statistic = drawn(seed)
    whole = of(statistic)
    space, names = whole.problem.space, {name[1:] for table in statistic.tables for name in table.names}
    assert space.national_size == len(names)
    assert np.abs(space.relations @ whole.problem.a).max(initial=0) < 1e-9
    for table, places in zip(statistic.tables, whole.places, strict=True):
        own = table.problem.a.reshape(len(space.areas), -1)
        assert np.array_equal(whole.problem.a.reshape(len(space.areas), -1)[:, places], own)


def test_together_less_is_lost_and_nothing_is_given_away():
    """What withstands the attack on each table, one after the other, is let out; an oracle breaks nothing."""
    domain, sums, taken = drawn_domain(), np.zeros(2), 0
    for seed in SEEDS:
        statistic = drawn(seed)
        ways = []
        for proposed in (decided(statistic.tables), [None] * len(statistic.tables)):
            for table in statistic.tables:
                table.publication = None
            for number, table in enumerate(statistic.tables):
                problem = joint_of(table, statistic.tables[:number])
                requirements, _ = pipeline.baseline(problem, domain)
                found = proposed[number]
                if found is not None and not pipeline.withstands(problem, found, requirements, domain):
                    found = None
                taken += found is not None
                table.publication = found or pipeline.choose_bases(
                    problem, requirements, Adjustment(), domain
                )
                out = statistic.tables[: number + 1]
                unjudged = attack.audit(problem, table.publication, requirements).unjudged
                assert unjudged or broken(out, statistic.value, ()) == []
            ways.append(lost(statistic))
        sums += ways
    assert taken > len(SEEDS)
    assert sums[0] < 0.95 * sums[1]


def test_a_profile_is_owed_the_same_beside_others_as_alone():
    """The last table is off over time, so that up to three attackers are judged, each of whom has more than
    the one before. Who is implied by a stronger one is owed what he would be owed alone, where that one's is
    cut.
    """
    domain, three, cut = drawn_domain(), 0, 0
    for seed in (seed for seed in range(30) if len({table.period for table in drawn(seed).tables}) > 1):
        *before, now = drawn(seed).tables
        for number, each in enumerate(before):
            problem = joint_of(each, before[:number])
            requirements, _ = pipeline.baseline(problem, domain)
            each.publication = pipeline.choose_bases(problem, requirements, Adjustment(), domain)
        problem = joint_of(replace(now, problem=replace(now.problem, a=now.problem.a * 1.5)), before)
        profiles = tuple(dict.fromkeys(("external", *problem.earlier.profiles)))
        three += len(profiles) == 3
        together, _ = attack.baseline(problem, profiles, every=False)
        cut += int(together.cut.sum())
        for number, profile in enumerate(profiles):
            alone, _ = attack.baseline(problem, (profile,), every=False)
            mine = together.rows(together.profile == number)
            for name in ("down", "up", "slide"):
                assert getattr(mine, name) == pytest.approx(getattr(alone, name), abs=1e-6)
    assert three >= 3
    assert cut >= 10


def test_a_total_is_not_repeated_where_values_must_add_up():
    statistic = drawn(SEEDS[0])
    first, second = statistic.tables[:2]
    domain = drawn_domain()
    requirements, _ = pipeline.baseline(first.problem, domain)
    first.publication = pipeline.choose_bases(first.problem, requirements, Adjustment(), domain)
    problem = joint_of(second, [first])
    requirements, _ = pipeline.baseline(problem, domain)
    found = pipeline.choose_bases(problem, requirements, Adjustment(), domain)
    out = [Out(first.kind, first.period, first.problem, first.publication)]
    additive = domain.model_copy(update={"bases": domain.bases.model_copy(update={"additive": True})})
    asked = (problem, found, requirements, additive, second.period, out, lambda said: None)
    assert pipeline.repeated(*asked) is found


def test_an_indicator_that_a_table_beside_does_not_have_is_decided_too():
    """Turnover is out; the second table has wages as well."""

    def of(*indicators: str) -> ProtectionProblem:
        space = CellSpace(("AT",), (Aggregate("EU", ("AT",)),), indicators, (XY,))
        a = np.array([3.0, 1, 2] * len(indicators) * 2)
        none, public = np.zeros(len(a)), np.arange(len(a)) < len(a) // 2
        bounds = none, np.full(len(a), np.inf)
        return ProtectionProblem(space, a, *bounds, none, none, none, public, none > 0, ("file",))

    out = Out(
        "main 2024", "2024", of("TURNOVER"), Publication(np.arange(3, 6), np.array([3.0, 1, 2]), np.zeros(3))
    )
    rules = {"TURNOVER": PeriodRule.SUM, "WAGES": PeriodRule.SUM}
    whole = joint(of("TURNOVER", "WAGES"), "2024", [out], rules, exactly)
    part = restrict(whole, ["WAGES"]).problem
    assert part.space.relations.shape[1] == part.space.size == 6


def table(codes: Hierarchy, value: Sequence[float], countries: Sequence[str] = ("AT",)) -> ProtectionProblem:
    space = CellSpace(tuple(countries), (Aggregate("EU", tuple(countries)),), ("TURNOVER",), (codes,))
    a = np.array([*value, *np.reshape(value, (len(countries), -1)).sum(axis=0)])
    none = np.zeros(len(a))
    public = np.arange(len(a)) < len(value)
    return ProtectionProblem(
        space, a, none, np.full(len(a), np.inf), none, none, none, public, none > 0, ("file",)
    )


def test_two_values_for_one_cell_are_refused():
    with pytest.raises(
        InvalidInput, match=r"AT\.TURNOVER\.X of b has another value in another of the tables a, b"
    ):
        union([table(XY, [3, 1, 2]), table(XY, [3, 2, 1])], ["a", "b"], exactly)


def test_tables_of_other_countries_are_not_decided_together():
    other = table(XY, [3, 1, 2, 3, 1, 2], ("AT", "BE"))
    with pytest.raises(InvalidInput, match="b has other countries or compositions than a"):
        union([table(XY, [3, 1, 2]), other], ["a", "b"], exactly)


def test_sums_that_contradict_each_other_are_refused():
    shorter = Hierarchy("ACTIVITY", ("T", "X"), (None, "T"))
    with pytest.raises(InvalidInput, match="their sums contradict each other"):
        union([table(XY, [3, 1, 2]), table(shorter, [3, 1])], ["a", "b"], exactly)


def test_a_cell_is_public_if_one_table_shows_it():
    hidden = table(XY, [3, 1, 2])
    found = union([hidden, table(XY, [3, 1, 2])], ["a", "b"], exactly).problem
    assert found.public.sum() == 3
