"""Several tables protected at once ([2] §2.1, §2.2: linked tables as one system M a = b).

Tables that share cells cannot be protected one by one: what one table hides another one may publish, or
imply. Here links say which cells of several tables are one and the same, and which relations hold between
cells of several tables (one indicator that is the sum of others, a second hierarchy over the same codes). The
tables become one problem; a cell that stands in several tables is one cell of it. One pattern protects all of
them, the verifier judges them together, and each table gets its part of the pattern.

What is known of a cell anywhere is known everywhere: its bounds are those of all its tables together, it
stays open if one table keeps it open, it is primary if one table calls it so, with the largest levels; it
costs what it costs where it is dearest. The largest minimum of contributors holds for all tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY, TINY

CellOf = tuple[str, int]  # table, position in it


@dataclass(frozen=True)
class Link:
    """Cells that are one and the same; or, with coefficients, the relation Σ coefficient · cell = 0.

    `place`: file and line, for messages.
    """

    cells: tuple[CellOf, ...]
    coefficients: tuple[float, ...] | None = None
    place: str = "a link"


@dataclass(frozen=True)
class LinkedTables:
    """One problem of several tables. `cells`: of each table, where its cells lie in the problem."""

    problem: SensitiveTable
    cells: Mapping[str, Ints] = field(repr=False)

    @property
    def shared(self) -> int:
        """The number of cells that the tables have more than the problem."""
        return sum(len(cells) for cells in self.cells.values()) - len(self.problem.a)

    def patterns(self, hidden: Bools) -> dict[str, Bools]:
        """The pattern of each table, of a pattern of the problem."""
        return {table: hidden[cells] for table, cells in self.cells.items()}

    def together(self, patterns: Mapping[str, Bools]) -> Bools:
        """(k): the pattern of the problem if each table is published with a pattern of its own: a cell
        is hidden if no table shows it.
        """
        hidden = np.ones(len(self.problem.a), dtype=bool)
        for table, cells in self.cells.items():
            hidden[cells[~patterns[table]]] = False
        return hidden

    def any_of(self, masks: Mapping[str, Bools]) -> Bools:
        """(k): the cells of the problem that one of the masks, a mask for each table, has."""
        found = np.zeros(len(self.problem.a), dtype=bool)
        for table, cells in self.cells.items():
            found[cells[masks[table]]] = True
        return found


def linked(problems: Mapping[str, SensitiveTable], links: Sequence[Link]) -> LinkedTables:
    """The tables, by name, as one problem.

    Raises InvalidInput, with place, cells and remedy: where a link names a table or cell that is not there,
    where shared cells have different values or a relation does not hold, where bounds leave nothing, where a
    cell is primary here and must stay open there.
    """
    first = dict(zip(problems, np.cumsum([0, *(len(each.a) for each in problems.values())]), strict=False))
    _refuse_unknown(problems, links)
    shared = [link for link in links if link.coefficients is None]
    k, cell = _merged_cells(shared, first, sum(len(each.a) for each in problems.values()))
    merged = _Merged(
        list(problems.values()), _cell_names(problems), k, cell, _same_place(shared, first, cell)
    )
    a = merged.values()
    M = sp.csr_array(sp.block_diag([each.M for each in problems.values()], format="csr") @ merged.joins)
    if relations := [_row(link, first, cell, k) for link in links if link.coefficients is not None]:
        M = sp.csr_array(sp.vstack([M, _rows(relations, a)]))
    problem = merged.problem(M, a)
    return LinkedTables(
        problem,
        {table: read_only(cell[start : start + len(problems[table].a)]) for table, start in first.items()},
    )


def _cell_names(problems: Mapping[str, SensitiveTable]) -> list[str]:
    return [
        f"{table}: {problem.name(i)}" for table, problem in problems.items() for i in range(len(problem.a))
    ]


def _rows(relations: Sequence[tuple[Link, sp.csr_array]], a: Floats) -> sp.csr_array:
    """The rows of the relations between tables. Raises InvalidInput where the values a (k,) miss one."""
    rows = sp.csr_array(sp.vstack([row for _, row in relations]))
    _refuse_missed([link for link, _ in relations], rows, a)
    return rows


def _merged_cells(shared: Sequence[Link], first: Mapping[str, int], n: int) -> tuple[int, Ints]:
    """The number of cells of the problem, and (n,) which of them each cell of the tables is. `first`: the
    place of the first cell of each table.
    """
    pairs = [
        (first[one[0]] + one[1], first[other[0]] + other[1])
        for link in shared
        for one, other in _neighbours(link)
    ]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    graph = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    k, part = sp.csgraph.connected_components(graph, directed=False)
    return int(k), part.astype(np.int64)


def _neighbours(link: Link) -> list[tuple[CellOf, CellOf]]:
    return list(zip(link.cells[:-1], link.cells[1:], strict=True))


def _refuse_unknown(problems: Mapping[str, SensitiveTable], links: Sequence[Link]) -> None:
    for link in links:
        for table, cell in link.cells:
            if table not in problems:
                raise InvalidInput(
                    f"{link.place}: {table} is none of the tables. Remedy: name one of {', '.join(problems)}"
                )
            if not 0 <= cell < len(problems[table].a):
                raise InvalidInput(
                    f"{link.place}: {table} has no cell {cell}. Remedy: name one of its "
                    f"{len(problems[table].a)} cells"
                )
        if len(link.cells) < 2:
            raise InvalidInput(f"{link.place}: one cell alone is no link. Remedy: name two cells or more")
        if link.coefficients is not None and not (
            np.isfinite(link.coefficients).all() and all(link.coefficients)
        ):
            raise InvalidInput(
                f"{link.place}: a coefficient is 0 or no number. Remedy: give each cell of the relation its "
                f"coefficient"
            )


def _same_place(links: Sequence[Link], first: Mapping[str, int], cell: Ints) -> dict[int, str]:
    """Where it is said, by cell of the problem, that several cells are this one."""
    return {int(cell[first[link.cells[0][0]] + link.cells[0][1]]): link.place for link in reversed(links)}


def _row(link: Link, first: Mapping[str, int], cell: Ints, k: int) -> tuple[Link, sp.csr_array]:
    columns = [int(cell[first[table] + i]) for table, i in link.cells]
    return link, sp.csr_array(
        (np.array(link.coefficients, dtype=float), (np.zeros(len(columns), dtype=np.int64), columns)),
        shape=(1, k),
    )


def _refuse_missed(links: Sequence[Link], rows: sp.csr_array, a: Floats) -> None:
    size = abs(rows) @ np.abs(a)
    for i in np.flatnonzero(np.abs(rows @ a) > FEASIBILITY * np.maximum(size, TINY))[:1]:
        share = abs(float((rows @ a)[i])) / float(size[i])
        raise InvalidInput(
            f"{links[i].place}: this relation does not hold for the values: off by {share:.2g} of them. "
            "Remedy: correct values or coefficients"
        )


class _Merged:
    """The cells of all tables in a row, and the cell of the problem that each of them is."""

    def __init__(
        self,
        problems: list[SensitiveTable],
        names: list[str],
        k: int,
        cell: Ints,
        place: Mapping[int, str],
    ) -> None:
        self.problems, self.names, self.k, self.cell, self.place = problems, names, k, cell, place
        self.joins = sp.csr_array((np.ones(len(cell)), (np.arange(len(cell)), cell)), shape=(len(cell), k))

    def column(self, name: str) -> Floats:
        return np.concatenate([np.asarray(getattr(each, name), dtype=float) for each in self.problems])

    def extreme(self, values: Floats, largest: bool) -> Floats:
        """(k): the largest or the smallest value of each cell in its tables."""
        found = np.full(self.k, -np.inf if largest else np.inf)
        (np.maximum if largest else np.minimum).at(found, self.cell, values)
        return found

    def values(self) -> Floats:
        """(k): the values; those of one cell may differ by what rounding leaves."""
        a = self.column("a")
        found = np.zeros(self.k)
        found[self.cell[::-1]] = a[::-1]  # of several the first
        for i in np.flatnonzero(
            np.abs(a - found[self.cell]) > FEASIBILITY * np.maximum(np.abs(a), np.abs(found[self.cell]))
        )[:1]:
            raise self.refused(
                int(self.cell[i]), "one cell with different values", "correct the values, or drop the link"
            )
        return found

    def problem(self, M: sp.csr_array, a: Floats) -> SensitiveTable:
        primary = self.extreme(self.column("primary"), True) > 0
        fixed = self.extreme(self.column("fixed"), True) > 0
        lb, ub = self.extreme(self.column("lb"), True), self.extreme(self.column("ub"), False)
        slack = FEASIBILITY * np.abs(a)
        self.refuse(
            (lb > a + slack) | (ub < a - slack),
            "its bounds in one table exclude its value in another",
            "correct the bounds",
        )
        self.refuse(
            primary & fixed,
            "primary in one table, while another keeps it open",
            "let it be suppressed there, or do not call it primary",
        )
        lpl, upl, spl = (
            self.extreme(np.where(self.column("primary") > 0, self.column(name), 0.0), True)
            for name in ("lpl", "upl", "spl")
        )
        minimum = max(each.minimum for each in self.problems)
        return SensitiveTable(
            M,
            a,
            np.minimum(lb, a),
            np.maximum(ub, a),
            lpl,
            upl,
            spl,
            cost=self.extreme(self.column("cost"), True),
            primary=primary,
            fixed=fixed,
            rhs=M @ a,
            singleton=self.extreme(self.column("singleton"), True) > 0,
            label=self.name,
            respondent=self.respondents(),
            count=self.counts() if minimum else None,
            minimum=minimum,
            by_rules=any(each.by_rules for each in self.problems),
        )

    def respondents(self) -> Ints:
        """(k): a number for the respondent of each singleton, NOBODY for all other cells.

        Each table has numbers of its own. The respondents of a shared cell are taken as one, all others as
        different ones: that is the attackers' side.
        """
        own = [each.respondents for each in self.problems]
        first = np.cumsum([0, *(len(numbers) for numbers in own)])
        number = np.concatenate(
            [np.where(each == NOBODY, NOBODY, each + start) for each, start in zip(own, first, strict=False)]
        )
        singles = np.flatnonzero(number != NOBODY)
        ends = (self.cell[singles], self.k + number[singles])
        size = self.k + int(first[-1])
        same = sp.csgraph.connected_components(
            sp.csr_array((np.ones(len(singles)), ends), shape=(size, size)), directed=False
        )[1]
        found = np.full(self.k, NOBODY)
        found[self.cell[singles]] = same[self.cell[singles]]
        return found

    def counts(self) -> Floats:
        """(k): the contributors of each cell, the fewest that a table tells."""
        if any(each.count is None for each in self.problems):
            raise InvalidInput(
                "a minimum of contributors needs counts in every linked table. Remedy: give a column of "
                "counts to each"
            )
        return self.extreme(self.column("count"), False)

    def name(self, cell: int) -> str:
        """The names of a cell in its tables."""
        return " = ".join(self.names[i] for i in np.flatnonzero(self.cell == cell).tolist())

    def refuse(self, wrong: Bools, why: str, remedy: str) -> None:
        for cell in np.flatnonzero(wrong)[:1]:
            raise self.refused(int(cell), why, remedy)

    def refused(self, cell: int, why: str, remedy: str) -> InvalidInput:
        place = self.place.get(cell)
        return InvalidInput(
            f"{'' if place is None else place + ': '}{self.name(cell)}: {why}. Remedy: {remedy}"
        )
