"""A total that is out already is published as it is out (METHOD §10): no cell has two values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdc_tasks.methods.linked.merge import Out
from sdc_tasks.methods.linked.relations import partners
from sdc_tasks.methods.linked.revised import Allowed
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, CellSpace, Ints


def as_it_is_out(
    problem: ProtectionProblem, period: str, publication: Publication, out: Sequence[Out], allowed: Allowed
) -> Publication:
    """The publication with the values and bases of the same totals in tables of the period that are out, of
    the last of them where there are several. What is withheld there stays as it was decided, and so does a
    total of a cell that one of the two tables has revised: its values are further apart than `allowed`.
    """
    space = problem.space
    value, base, covers = publication.value.copy(), publication.base.copy(), publication.covers.copy()
    for each in out:
        if each.period != period:
            continue
        there = _same_totals(space.alone, each.problem.space)
        shown = np.flatnonzero((there >= 0) & ~_revised(problem, each, allowed))
        shown = shown[~each.publication.withheld[there[shown]]]
        for mine, theirs in (
            (value, each.publication.value),
            (base, each.publication.base),
            (covers, each.publication.covers),
        ):
            mine[shown] = theirs[there[shown]]
    return Publication(publication.cells, value, base, covers)


def _revised(problem: ProtectionProblem, out: Out, allowed: Allowed) -> Bools:
    """(aggregate cells,): whether a member has another value in the other table."""
    own, apart = problem.space.alone, np.zeros(problem.space.own_size)
    there = partners(own, out.problem.space)
    both = np.flatnonzero(there >= 0)
    apart[both] = np.abs(problem.a[both] - out.problem.a[there[both]]) > allowed(problem.a[both])
    return np.asarray((own.aggregate_relations @ apart) > 0)


def _same_totals(one: CellSpace, other: CellSpace) -> Ints:
    """(aggregate cells,): the same total among the aggregate cells of the other table, −1 where it has none:
    the same cell of the same countries.
    """
    n, there = one.national_size, partners(one, other)
    members = {frozenset(each.members): k for k, each in enumerate(other.aggregates)}
    found = []
    for aggregate in one.aggregates:
        k = members.get(frozenset(aggregate.members), -1)
        first = one.countries.index(aggregate.members[0]) * n
        cells = there[first : first + n]
        found.append(
            np.where((cells >= 0) & (k >= 0), k * other.national_size + cells % other.national_size, -1)
        )
    return np.concatenate(found)


def shown_elsewhere(problem: ProtectionProblem) -> Ints:
    """(cells, 2): each hidden cell of the release or of a table beside it that is public in another table,
    and that public cell.
    """
    links, public = problem.space.links, problem.public
    if links is None:
        return np.zeros((0, 2), dtype=np.int64)
    two = np.flatnonzero(np.diff(links.indptr) == 2)
    pairs = links.indices[links.indptr[two][:, None] + np.arange(2)].astype(np.int64)
    same = np.abs(links.data[links.indptr[two][:, None] + np.arange(2)]).max(axis=1, initial=1.0) == 1
    hidden = ~public[pairs]
    apart = np.flatnonzero(same & (hidden.sum(axis=1) == 1))
    pairs, hidden = pairs[apart], hidden[apart]
    return np.stack([pairs[hidden], pairs[~hidden]], axis=1).reshape(len(apart), 2)
