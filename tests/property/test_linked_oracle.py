"""Statistics of two to five tables with shared cells and periods, which come out one after the other in any
order: an attacker of its own, over cells that have one name, breaks nothing that the program lets out.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sdc_tasks import pipeline
from sdc_tasks.judge.release import Part, differs
from sdc_tasks.judge.release.verdict import recheck
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, AuditReport, Publication
from support.joined import RULES, joint_of
from support.oracles.drawn import drawn_domain
from support.oracles.linked import Statistic, Table, broken, drawn

QUICK, WHOLE, PART = 30, 500, 47
ALONE = 5  # statistics of which each table is attacked alone


def come_out(statistic: Statistic) -> int:
    """Lets the tables out, one after the other; the oracle attacks each. Returns how many requirements the
    releases had that nothing before them had cut.
    """
    asked = 0
    for number, now in enumerate(statistic.tables):
        before = statistic.tables[:number]
        problem = joint_of(now, before)
        domain = drawn_domain()
        requirements, _ = pipeline.baseline(problem, domain)
        now.publication = pipeline.choose_bases(problem, requirements, Adjustment(), domain)
        report = pipeline.audit(problem, now.publication, requirements, domain)
        assert report.passed
        asked += int((~requirements.cut & (requirements.down > 0)).sum())
        second_program_agrees(problem, now, before, report)
        left_out = {number for _, number in report.unjudged}
        without = {_name(problem, statistic.tables[: number + 1], cell) for cell in left_out}
        assert broken(statistic.tables[: number + 1], statistic.value, without) == []
    return asked


def second_program_agrees(
    problem: ProtectionProblem, now: Table, before: Sequence[Table], report: AuditReport
) -> None:
    """It merges the cells in the same way, and finds the same."""
    parts = [
        Part(f"{each.kind} {each.period}", each.period, each.problem, each.publication)
        for each in before
        if each.publication is not None
    ]
    assert differs(problem, now.problem, now.period, parts, RULES) == []
    assert isinstance(now.publication, Publication)
    found = recheck(problem, now.publication, report.profiles, report.evidence)
    assert not found.faults
    assert found.protected.all()


def _name(problem: ProtectionProblem, tables: Sequence[Table], cell: int):
    """The name of a cell of a joint problem: those of the table that comes out, then those before it."""
    for table, first in zip((tables[-1], *tables[:-1]), problem.space.firsts, strict=True):
        if first <= cell < first + len(table.names):
            return table.names[cell - first]
    raise AssertionError(cell)


@pytest.mark.parametrize("seed", range(QUICK))
def test_nothing_that_comes_out_is_broken(seed: int):
    come_out(drawn(seed))


@pytest.mark.parametrize("first", range(QUICK, WHOLE, PART), ids=str)
@pytest.mark.exhaustive
def test_nothing_of_five_hundred_statistics_is_broken(first: int):
    asked = [come_out(drawn(seed)) for seed in range(first, min(first + PART, WHOLE))]
    assert sum(each > 0 for each in asked) > len(asked) / 2


def test_alone_the_same_tables_are_broken():
    """The oracle finds what a program overlooks that attacks each table alone."""
    count = 0
    for seed in range(ALONE):
        statistic = drawn(seed)
        for number, now in enumerate(statistic.tables):
            domain = drawn_domain()
            requirements, _ = pipeline.baseline(now.problem, domain)
            now.publication = pipeline.choose_bases(now.problem, requirements, Adjustment(), domain)
            count += len(broken(statistic.tables[: number + 1], statistic.value, ()))
    assert count > ALONE
