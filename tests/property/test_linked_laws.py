"""Tables that are linked by links, against the same tables merged by hand and against the oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from sdc_tasks.errors import Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.linked import Link, LinkedTables
from sdc_tasks.methods.suppression.linked import linked as linked_by
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import TREES, linked, relations
from support.laws import law
from support.oracles.suppression import least_by_model, unprotected


def apart(merged: SensitiveTable) -> tuple[dict[str, SensitiveTable], LinkedTables]:
    """The two tables of a problem merged by hand, and what links make of them: the totals of the rows are
    shared.
    """
    shape, M = relations(TREES["wide"], TREES["flat"])
    n = int(np.prod(shape))
    second = np.arange(n)
    second[np.arange(n) % shape[1] != 0] = np.arange(n, len(merged.a))
    tables = {}
    for name, cells in (("first", np.arange(n)), ("second", second)):
        columns = {
            column: getattr(merged, column)[cells]
            for column in ("a", "lb", "ub", "lpl", "upl", "spl", "cost", "primary", "fixed")
        }
        tables[name] = SensitiveTable(M, **columns)
    shared = [Link((("first", cell), ("second", cell))) for cell in range(0, n, shape[1])]
    return tables, linked_by(tables, shared)


@given(linked())
@law(12)
def test_links_make_of_tables_what_is_merged_by_hand(merged: SensitiveTable) -> None:
    """As cheap as the whole model, safe by the oracle, and each table shows what the pattern says."""
    tables, both = apart(merged)
    assert len(both.problem.a) == len(merged.a)
    assert [np.array_equal(both.problem.a[cells], tables[name].a) for name, cells in both.cells.items()] == [
        True,
        True,
    ]
    least = least_by_model(merged)
    try:
        result = suppress(both.problem, PatternOptions(gap=0.0))
    except Unprotectable:
        assert least is None
        return
    assert result.pattern is not None
    assert least is not None
    assert abs(both.problem.cost_of(result.pattern) - least) <= 1e-5 * max(1.0, least)
    assert unprotected(both.problem, result.pattern) == []
    assert np.array_equal(both.together(both.patterns(result.pattern)), result.pattern)


@given(linked())
@law(12)
def test_tables_protected_one_by_one_are_judged_by_what_they_show_together(
    merged: SensitiveTable,
) -> None:
    tables, both = apart(merged)
    try:
        patterns = {name: suppress(each).pattern for name, each in tables.items()}
    except Unprotectable:
        return
    shown = both.together({name: pattern for name, pattern in patterns.items() if pattern is not None})
    verdict = verify(both.problem, shown)
    assert verdict.unprotected.tolist() == unprotected(both.problem, shown)
