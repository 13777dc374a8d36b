"""Room for a longer period that is still to come: what its release would be if every total were exact.

The year is the sum of its quarters. Once the last of them is known, so are the totals of the year; and if
these come out exact, they tell of each hidden quarter what the other quarters leave. A release may take them
for published already when it chooses its bases: what is safe then leaves the year its exact totals.

Of the national tables of the year nothing is known yet. A cell of it is taken to be hidden if it is hidden in
one of the periods, and to need no protection of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sdc_tasks.methods.linked.merge import Out
from sdc_tasks.methods.linked.relations import Linked, Rows, of_total
from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Floats
from sdc_tasks.model.time.periods import PeriodRule


def to_come(
    problem: ProtectionProblem,
    period: str,
    longer: str,
    out: Sequence[Out],
    rules: Mapping[str, PeriodRule],
) -> Out | None:
    """The release of a longer period with every total exact, as the release of this period and those that are
    out tell it. `rules`: of each indicator, what a period is to those within it. None where the periods do
    not cover the longer one, and for an indicator that they do not tell.
    """
    own = problem.own
    tables = [Linked("this release", period, own.space, 0)]
    for each in out:
        first = tables[-1].first + tables[-1].space.first_aggregate
        tables.append(Linked(each.name, each.period, each.problem.space, first))
    rows = of_total(Linked(longer, longer, own.space, 0), tables, rules)
    if len(rows.total) < own.space.first_aggregate or not rows.whole.all():
        return None
    parts = [own, *(each.problem for each in out)]
    return Out(longer, longer, made := _summed(own, rows, parts), _exact(made))


def _summed(own: ProtectionProblem, rows: Rows, parts: Sequence[ProtectionProblem]) -> ProtectionProblem:
    """The table of the longer period."""

    def of(name: str) -> np.ndarray:
        return np.concatenate([getattr(each, name)[: each.space.first_aggregate] for each in parts])

    def sums(values: np.ndarray) -> Floats:
        return np.bincount(rows.row, rows.factor * values[rows.cell], len(rows.total)) / rows.weight

    national, space = sums(of("a")), own.space
    members = space.aggregate_relations[:, : space.first_aggregate]
    whole = sums(~of("integral")) == 0
    integral = whole & (rows.weight == 1) & (national == np.rint(national))
    hidden, aggregates = sums(~of("public")) > 0, np.zeros(members.shape[0], dtype=bool)
    a, none = np.concatenate([national, members @ national]), np.zeros(space.size)
    infinite = np.full(len(aggregates), np.inf)
    return replace(
        own,
        a=a,
        lb=np.concatenate([np.minimum(sums(of("lb")), national), -infinite]),
        ub=np.concatenate([np.maximum(sums(of("ub")), national), infinite]),
        lpl=none,
        upl=none,
        spl=none,
        public=np.concatenate([~hidden, aggregates]),
        primary=np.zeros(space.size, dtype=bool),
        known=np.full(space.size, np.nan),
        integral=np.concatenate([integral, aggregates]),
        least=np.zeros(space.size, dtype=np.int64),
        earlier=PriorReleases(),
        levels=None,
        salt=own.salt.derive("reserve"),
    )


def _exact(problem: ProtectionProblem) -> Publication:
    """Every aggregate of a table, but for those that need a table which is not there."""
    cells = np.flatnonzero(problem.aggregate)
    return Publication(cells, problem.a[cells], np.zeros(len(cells))).without(problem.withheld[cells])
