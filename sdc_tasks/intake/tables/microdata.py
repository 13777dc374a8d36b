"""Microdata, or a table that tells the largest contributions of its cells, as a suppression problem by rules.

Microdata: a record for each contribution, with inner codes alone; all totals are added up. A table: a record
for each cell, totals too, with columns for the count of contributors and the sizes of the largest ones. A
cell without a record is empty, which everybody may know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sdc_tasks.errors import InvalidInput, and_more
from sdc_tasks.intake.tables.crossed import CrossedSuppression, numbers_at_cells
from sdc_tasks.intake.tables.keyed import dimensions_in, keyed_table, marks_in, numbers_in, refuse_totals
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.intake.tables.totals import without_noise
from sdc_tasks.methods.contributions import (
    Behind,
    ContributionEntries,
    ContributionRules,
    Contributions,
    Rule,
    behind_of,
    gathered,
    levels,
    usual_of,
)
from sdc_tasks.methods.suppression.costs import Priced, cell_costs
from sdc_tasks.methods.suppression.names import CellCosts
from sdc_tasks.model.additive import absent
from sdc_tasks.model.grid import grid_of
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.layout import TableLayout
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, CellSpace, Floats, Hierarchy, Ints, added_up, inside
from sdc_tasks.model.table import margins as margins_of
from sdc_tasks.model.tolerances import FEASIBILITY, SAME


@dataclass(frozen=True)
class ContributorColumns:
    """Columns of microdata: who contributes (else each record is a contributor of its own), the holding
    that he belongs to, whether he waived (1, 0), whether he asked to be protected (0, 1, 2 …: which share
    of the rules), and a sampling weight.
    """

    contributor: str | None = None
    holding: str | None = None
    waiver: str | None = None
    request: str | None = None
    weight: str | None = None


@dataclass(frozen=True)
class ProtectedTable:
    """A problem by rules; `by_rule`: how many cells each of the rules makes primary."""

    table: CrossedSuppression
    by_rule: Mapping[Rule, int]


def problem_by_rules(
    records: TextRows,
    layout: TableLayout,
    rules: ContributionRules,
    columns: ContributorColumns,
    costs: CellCosts = "value",
    margins: float = 1.0,
) -> ProtectedTable:
    """The table of microdata, and its primary cells by rules. Raises InvalidInput, with record, code
    and remedy, where this is none.
    """
    if layout.tolerance:
        raise InvalidInput(
            f"{records.name}: a tolerance is for given totals, and microdata have none. Remedy: leave out "
            f"{records.option('tolerance', layout.tolerance)}"
        )
    codes, axes = dimensions_in(records, layout)
    _refuse_rivals(records, axes)
    x, shape = numbers_in(records, layout.value), tuple(len(axis.codes) for axis in axes)
    at = np.array([[axis.index[code] for code in column] for axis, column in zip(axes, codes, strict=True)])
    leaf = np.ravel_multi_index(tuple(at), shape)
    if (above := np.flatnonzero(~inside(axes).ravel()[leaf])).size:
        raise InvalidInput(
            f"{records.at(int(above[0]))}: the code of a total{and_more(len(above) - 1)}. Remedy: microdata "
            f"have inner codes alone; of a "
            "table name the columns of counts and of the largest contributions"
        )
    weight = np.ones(len(x)) if columns.weight is None else numbers_in(records, columns.weight)
    if (light := np.flatnonzero(weight < 1)).size:
        raise InvalidInput(
            f"{records.at(int(light[0]))}: {columns.weight} is below 1. Remedy: a weight is how many "
            f"contributors one stands for"
        )
    inner, first = np.unique(leaf, return_index=True)
    sums = np.zeros(len(inner))
    np.add.at(sums, np.searchsorted(inner, leaf), x * weight)
    labels = [[column[i] for i in first] for column in codes]
    refuse_totals(records, layout, axes, labels, sums)
    holder, waives, percent = _holders(records, columns, rules)
    record, cell = _everywhere(at, axes)
    n = int(np.prod(shape))
    entries = ContributionEntries(
        cell, x[record], holder[record], weight[record], waives[record], percent[record]
    )
    usual = usual_of(np.abs(x))
    cells = gathered(entries, n, rules, usual)
    told = np.zeros(n)
    told[inner] = sums
    a = without_noise(added_up(told.reshape(shape), axes).ravel(), x * weight)
    behind = behind_of(entries, inside(axes).ravel(), rules, usual)
    return _protected(records, layout, _Contributed(axes, a, cells, behind=behind), rules, costs, margins)


def _refuse_rivals(records: TextRows, axes: Sequence[Hierarchy]) -> None:
    """Raises InvalidInput for two trees of different inner codes: a record has one code, which says nothing
    of the other tree.
    """
    for axis in axes:
        if axis.rivals:
            total = axis.codes[axis.rivals[0]]
            raise InvalidInput(
                f"{records.name}: {axis.dimension} {total} is the sum of other inner codes in one tree than "
                f"in another, and a record has one code. Remedy: a column for each of the two, or one tree"
            )


def problem_of_cells(
    records: TextRows,
    layout: TableLayout,
    rules: ContributionRules,
    top: Sequence[str],
    costs: CellCosts = "value",
    margins: float = 1.0,
) -> ProtectedTable:
    """A table with counts and largest contributions, and its primary cells by rules. `top`: the columns of
    the largest contributions, the largest first. Raises InvalidInput, with record, cell and remedy.
    """
    count = layout.count or "COUNT"
    if len(top) < rules.most:
        raise InvalidInput(
            f"{records.name}: the rules look at {rules.most} contributions of a cell, but {len(top)} are "
            f"named. Remedy: name more"
        )
    if rules.requests:
        raise InvalidInput(
            f"{records.name}: a table does not tell who asked. Remedy: give microdata, or leave the rule out"
        )
    keyed = keyed_table(
        records,
        TableLayout(
            layout.dims,
            layout.value,
            layout.total,
            layout.hierarchy,
            missing="zero",
            tolerance=layout.tolerance,
        ),
    )
    a, n = keyed.table.a, len(keyed.keys)
    if (gone := np.flatnonzero(~keyed.given & (a != 0))).size:
        raise InvalidInput(
            f"{records.name}: {printed_key(keyed.keys[gone[0]])}{and_more(len(gone) - 1)}: no "
            f"{records.word}. Remedy: give totals one"
        )
    told = np.zeros((n, len(top) + 1))
    told[keyed.cell] = np.column_stack([numbers_in(records, name, 0.0) for name in (count, *top)])
    counts, sizes = told[:, 0], np.abs(told[:, 1:])
    faults = (
        ((counts < 0) | (counts != np.floor(counts)), f"{count} is no count"),
        ((np.diff(sizes, axis=1) > 0).any(axis=1), "the contributions do not fall"),
        (sizes.sum(axis=1) > np.abs(a) * (1 + SAME), "the contributions are more than the cell"),
        ((counts == 0) & (a != 0), "a value without contributors"),
        (
            ((counts <= len(top)) | (sizes[:, -1] == 0))
            & (sizes.sum(axis=1) < np.abs(a) * (1 - FEASIBILITY)),
            "these are all, and they are less than the cell",
        ),
        (counts < (sizes > 0).sum(axis=1), "fewer contributors than sizes of contributions"),
    )
    for wrong, what in faults:
        if (lines := np.flatnonzero(np.asarray(wrong)[keyed.cell])).size:
            i = int(lines[0])
            raise InvalidInput(
                f"{records.at(i)}: {printed_key(keyed.keys[int(keyed.cell[i])])}: {what}. Remedy: correct it"
            )
    few = np.zeros(n, dtype=bool) if rules.minimum is None else counts < rules.minimum
    alone = np.where((counts == 1) | ((sizes[:, 0] > 0) & (sizes[:, 1] == 0) & ~few), np.arange(n), NOBODY)
    cells = Contributions(
        np.abs(a),
        counts.astype(np.int64),
        sizes,
        sizes[:, 0],
        np.zeros(sizes.shape, dtype=bool),
        np.zeros(n, dtype=bool),
        np.zeros(n),
        alone,
        np.full(n, NOBODY),
        usual_of(np.abs(a) / np.maximum(counts, 1.0)),
        np.zeros((0, n)),
        np.zeros((0, n), dtype=np.int64),
    )
    own = numbers_at_cells(records, keyed, layout, "cost") if costs == "file" else None
    read = _Contributed(keyed.axes, a, cells, own, known=False, consistent=keyed.consistent)
    return _protected(records, layout, read, rules, costs, margins)


def _holders(
    records: TextRows, columns: ContributorColumns, rules: ContributionRules
) -> tuple[Ints, Bools, Floats]:
    """(records) each: the number of who contributes, whether he waived, and the share from which
    he is protected because he asked.
    """
    waives = (
        np.zeros(len(records.rows), dtype=bool)
        if columns.waiver is None
        else np.array(marks_in(records, columns.waiver, "0"))
    )
    return _numbered(records, columns), waives, _requested(records, columns.request, rules)


def _numbered(records: TextRows, columns: ContributorColumns) -> Ints:
    """(records): the number of who contributes, a holding or else a contributor; without a column of them
    each record is another one.
    """
    named, n = columns.holding or columns.contributor, len(records.rows)
    if named is None:
        return np.arange(n)
    if columns.weight is not None:
        raise InvalidInput(
            f"{records.name}: weights do not go with contributors or holdings. Remedy: leave out one of them"
        )
    told = records.column(named)
    # who belongs to no holding is one by himself
    alone = told if columns.contributor is None else records.column(columns.contributor)
    texts = []
    for i, (text, own) in enumerate(zip(told, alone, strict=True)):
        if not text and not own and columns.contributor is not None:
            raise InvalidInput(f"{records.at(i)}: no {columns.contributor}. Remedy: say who contributes")
        texts.append(f"= {text}" if text else f"- {own or i}")
    return np.unique(np.array(texts), return_inverse=True)[1].astype(np.int64)


def _requested(records: TextRows, column: str | None, rules: ContributionRules) -> Floats:
    """(records): the share, in percent, from which the contributor is protected because he asked; NaN where
    he did not ask.
    """
    if column is None and rules.requests:
        raise InvalidInput(
            f"{records.name}: no column says who asked to be protected. Remedy: name the column of requests"
        )
    if column is None:
        return np.full(len(records.rows), np.nan)
    if not rules.requests:
        raise InvalidInput(
            f"{records.name}: a column of requests without a share. Remedy: give the share that each "
            f"kind of request means"
        )
    kinds = {"": np.nan, "0": np.nan} | {str(i): share for i, share in enumerate(rules.requests, start=1)}
    texts = records.column(column)
    if (odd := next((i for i, text in enumerate(texts) if text not in kinds), None)) is not None:
        raise InvalidInput(
            f"{records.at(odd)}: {column} is none of {', '.join(filter(None, kinds))}. Remedy: correct it"
        )
    return np.array([kinds[text] for text in texts])


def _everywhere(at: Ints, axes: Sequence[Hierarchy]) -> tuple[Ints, Ints]:
    """(record, cell) for each cell that holds a record: its own and all totals above."""
    ways = []
    for axis, codes in zip(axes, at, strict=True):
        above = _above(axis)
        most = max((len(above[code]) for code in set(codes.tolist())), default=1)
        up = np.array([[*each, *[-1] * (most - len(each))][:most] for each in above])
        ways.append(list(up[codes].T))
    record, cell = [], []
    for way in product(*ways):
        steps = list(way)
        there = np.flatnonzero((np.array(steps) >= 0).all(axis=0))
        record.append(there)
        cell.append(
            np.ravel_multi_index(
                tuple(step[there] for step in steps), tuple(len(axis.codes) for axis in axes)
            )
        )
    return np.concatenate(record), np.concatenate(cell)


def _above(axis: Hierarchy) -> list[list[int]]:
    """Of each code: itself, and then all totals that it is in, the nearest first."""
    totals: dict[int, list[int]] = {}
    for total, parts in axis.families:
        for part in parts:
            totals.setdefault(part, []).append(total)
    found = []
    for code in range(len(axis.codes)):
        steps = [code]
        for step in steps:
            steps += [total for total in dict.fromkeys(totals.get(step, ())) if total not in steps]
        found.append(steps)
    return found


@dataclass(frozen=True)
class _Contributed:
    """A table with what is known of the contributions to its cells, all (cells,). `own`: the costs of the
    file, which stand beside cells. `known`: the numbers of respondents mean who they are; else each is
    another one, unless it follows. `consistent`: as of `KeyedTable`.
    """

    axes: Sequence[Hierarchy]
    a: Floats
    cells: Contributions
    own: Floats | None = None
    known: bool = True
    behind: Behind | None = None
    consistent: int = 0


def _protected(
    records: TextRows,
    layout: TableLayout,
    read: _Contributed,
    rules: ContributionRules,
    costs: CellCosts,
    margins: float,
) -> ProtectedTable:
    axes, a, cells, known = read.axes, read.a, read.cells, read.known
    if costs == "file" and read.own is None:
        raise InvalidInput(
            f"{records.name}: costs of the file stand beside cells, not beside contributions. Remedy: choose "
            f"other costs"
        )
    asked = levels(cells, rules)
    level = np.max(list(asked.values()), axis=0)
    primary, n = level > 0, len(a)
    singleton = cells.respondent != NOBODY
    stays = singleton & ~primary & (a != 0)
    keys = tuple(product(*(axis.codes for axis in axes)))
    M = CellSpace(("table",), (), ("value",), tuple(axes)).national_relations
    cost = (
        cell_costs(Priced(M, a, primary, read.own, cells.count.astype(float)), costs)
        * margins ** margins_of(axes).ravel()
    )
    none, free = np.zeros(n), np.full(n, np.inf)
    low = none if (cells.size - np.abs(a) <= SAME * cells.size).all() and (a >= 0).all() else -free
    problem = SensitiveTable(
        M,
        a,
        low,
        free,
        level,
        level,
        none,
        cost=cost,
        primary=primary,
        fixed=~primary & (stays | (a == 0)),
        rhs=M @ a,
        singleton=singleton & primary,
        label=lambda i: printed_key(keys[i]),
        grid=grid_of(axes),
        respondent=np.where(primary, cells.respondent, NOBODY) if known else None,
        guarded=cells.protected if known else None,
        count=cells.count.astype(float),
        minimum=layout.min_contributors,
        beside=np.where(primary, cells.beside, 0.0) if known else absent(),
        beside_guarded=cells.beside_respondent if known else absent(),
        behind=read.behind,
        by_rules=True,
    )
    numbers = {"COUNT": cells.count.astype(float)}
    table = CrossedSuppression(problem, layout.dims, layout.value, keys, stays, numbers, read.consistent)
    return ProtectedTable(table, {rule: int((each > 0).sum()) for rule, each in asked.items()})
