"""Room for a longer period: the last quarter chooses bases that withstand the exact totals of the year too.
It gives nothing away by that, and the year can be exact wherever the national tables allow it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.methods.linked import Out, joint, to_come
from sdc_tasks.model.results import Adjustment, Room
from sdc_tasks.model.time.periods import PeriodRule, around
from support.joined import RULES, joint_of
from support.oracles.drawn import drawn_domain
from support.oracles.linked import QUARTERS, YEAR, Table, broken, drawn


def exactly(total):
    return np.full(len(total), 1e-9)


def quarters_of(seed: int) -> list[Table]:
    """The quarters of a drawn statistic in their order; those of another one have none."""
    found = sorted(drawn(seed).tables, key=lambda each: each.period)
    return [each for each in found if each.period in QUARTERS]


SEEDS = [seed for seed in range(100) if len(quarters_of(seed)) == len(QUARTERS)]


def released(tables: list[Table]) -> None:
    """Lets these out, one after the other, beside the others; quarters tell nothing of each other."""
    for each in tables:
        requirements, _ = pipeline.baseline(each.problem, drawn_domain())
        each.publication = pipeline.choose_bases(each.problem, requirements, Adjustment(), drawn_domain())


def outs(tables: list[Table]) -> list[Out]:
    return [
        Out(each.period, each.period, each.problem, each.publication) for each in tables if each.publication
    ]


@cache
def with_room(seed: int) -> tuple[list[Table], Room]:
    """The quarters of a statistic, of which all but the last are out, and the room that this one leaves."""
    *before, last = quarters_of(seed)
    released(before)
    room = pipeline.leave_room(last.problem, last.period, YEAR, outs(before), drawn_domain(), RULES)
    assert room is not None
    return [*before, last], room


@pytest.mark.parametrize("seed", SEEDS)
def test_room_gives_nothing_away(seed: int):
    (*before, last), room = with_room(seed)
    problem = joint_of(last, before)
    requirements, _ = pipeline.baseline(problem, drawn_domain())
    assert pipeline.withstands(problem, room.publication, requirements, drawn_domain())
    last.publication = room.publication
    assert broken([*before, last], drawn(seed).value, ()) == []
    last.publication = None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_year_is_exact_where_the_national_tables_allow_it(seed: int):
    (*before, last), room = with_room(seed)
    year = to_come(last.problem, last.period, YEAR, outs(before), RULES)
    assert year is not None
    after = joint(last.problem, last.period, [*outs(before), year], RULES, exactly)
    requirements, _ = pipeline.baseline(after, drawn_domain())
    if not requirements.cut.any():
        assert room.then[0].cells == 0


def test_less_is_lost_then():
    rooms = [with_room(seed)[1] for seed in SEEDS]
    lost = [sum(each.then[way].information for each in rooms) for way in (0, 1)]
    assert lost[0] < 0.8 * lost[1]
    assert sum(each.saves for each in rooms) >= 3
    assert all(each.now[0].information >= 0 for each in rooms)


def test_the_year_to_come_is_what_its_quarters_say():
    seed = SEEDS[0]
    *before, last = quarters_of(seed)
    released(before)
    found = to_come(last.problem, last.period, YEAR, outs(before), RULES)
    assert found is not None
    year, statistic = found.problem, drawn(seed)
    n = year.space.first_aggregate
    told = [statistic.value[name[0], YEAR, *name[2:]] for name in last.names]
    assert np.array_equal(year.a[:n], told)
    hidden = np.any([~each.problem.public[:n] for each in (*before, last)], axis=0)
    assert np.array_equal(~year.public[:n], hidden)
    assert not year.primary.any()
    assert found.publication.exact.all()
    mean = to_come(last.problem, last.period, YEAR, outs(before), {"TURNOVER": PeriodRule.MEAN})
    assert mean is not None
    assert mean.problem.a[:n] == pytest.approx(np.array(told) / len(QUARTERS))


def test_periods_that_do_not_cover_the_year_tell_nothing():
    seed = SEEDS[0]
    *before, last = quarters_of(seed)
    released(before)
    assert to_come(last.problem, last.period, YEAR, outs(before[1:]), RULES) is None
    assert to_come(last.problem, last.period, YEAR, outs(before), {}) is None
    room = pipeline.leave_room(last.problem, last.period, YEAR, outs(before[1:]), drawn_domain(), RULES)
    assert room is None


@pytest.mark.parametrize(
    ("period", "frequency", "found"),
    [
        ("2024-Q4", "A", "2024"),
        ("2024-Q3", "S", "2024-S2"),
        ("2024-07", "Q", "2024-Q3"),
        ("2024-08", "T", "2024-T2"),
        ("2024-Q2", "T", None),
        ("2024", "A", None),
        ("2024", "Q", None),
        ("2024-W31", "A", "2024"),
        ("2025-W01", "A", None),
        ("2024-S1", "Q", None),
    ],
)
def test_the_period_around_another(period: str, frequency: str, found: str | None):
    assert around(period, frequency) == found
