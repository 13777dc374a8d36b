"""A table of dimensions as a suppression problem, and a pattern as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.errors import InvalidInput, and_more
from sdc_tasks.intake.tables.jj import Letters, printed
from sdc_tasks.intake.tables.keyed import KeyedTable, keyed_table, numbers_in, usual_bounds
from sdc_tasks.intake.tables.respondents import respondents_in
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.methods.suppression.costs import Priced, cell_costs
from sdc_tasks.methods.suppression.names import CellCosts
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.layout import TableLayout
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.table import margins as margins_of
from sdc_tasks.untrusted import SEPARATORS

TOLD_IN: Mapping[CellCosts, str] = {
    "file": "cost",
    "frequency": "count",
}  # costs: the column that they are read from


@dataclass(frozen=True)
class CrossedSuppression:
    """The problem of a table with dimensions. `keys` (n): the codes of each cell; `stays` (n): those of
    status z. `numbers`: columns (n) that stand beside the cells, whether or not the problem needs
    them, NaN where there is none. `consistent`: as of `KeyedTable`.
    """

    problem: SensitiveTable
    dimensions: tuple[str, ...]
    value: str
    keys: tuple[tuple[str, ...], ...] = field(repr=False)
    stays: Bools = field(repr=False)
    numbers: Mapping[str, Floats] = field(repr=False, default_factory=dict)
    consistent: int = 0

    def statuses(self, hidden: Bools) -> Letters:
        """(n): u primary, m secondary, z as it was asked to stay, s open."""
        return np.where(self.problem.primary, "u", np.where(hidden, "m", np.where(self.stays, "z", "s")))

    def text(self, hidden: Bools) -> str:
        """CSV: the dimensions, the value and STATUS of every cell, the levels of primary ones, and what else
        is not as usual: the same table is read back from it. It holds true values.
        """
        columns = {
            self.value: _printed(self.problem.a),
            "STATUS": self.statuses(hidden).tolist(),
            **self._told(),
        }
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [*self.dimensions, *columns]
        doubt = any(
            sign in name for name in names for sign in SEPARATORS
        )  # a name with another separator would be taken for several
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if doubt else csv.QUOTE_MINIMAL).writerow(
            names
        )
        writer.writerows(
            (*key, *told) for key, told in zip(self.keys, zip(*columns.values(), strict=True), strict=True)
        )
        return text.getvalue()

    def _told(self) -> dict[str, list[str]]:
        """Columns that tell more of each cell: levels; bounds unlike the usual ones; who
        is alone in a cell; costs and contributors.
        """
        problem = self.problem
        levels = {"LPL": problem.lpl, "UPL": problem.upl, "SPL": problem.spl}
        told = {
            name: np.where(problem.primary, _printed(level), "").tolist() for name, level in levels.items()
        }
        usual = usual_bounds(problem.a)
        for name, bound, other in (("LB", problem.lb, usual[0]), ("UB", problem.ub, usual[1])):
            if (bound != other).any():
                told[name] = _printed(bound)
        if problem.lone.any():
            told["SINGLETON"] = [str(int(each)) for each in problem.lone.tolist()]
        if problem.respondent is not None and (problem.respondent != NOBODY).any():
            who = problem.respondent
            told["RESPONDENT"] = np.where(who == NOBODY, "", who.astype(str)).tolist()
        return told | {name: _printed(each) for name, each in self.numbers.items() if name != self.value}


def _printed(numbers: Floats) -> list[str]:
    return ["" if np.isnan(number) else printed(number + 0.0) for number in numbers.tolist()]


def suppression_in(
    records: TextRows, layout: TableLayout, costs: CellCosts = "value", margins: float = 1.0
) -> CrossedSuppression:
    """The suppression problem of the table in records.

    Empty cells and cells of status z stay open: empty cells are public zeros. `margins`: each dimension
    in which a cell is a total multiplies its cost by this. Raises InvalidInput, with record, cell and
    remedy, where this is no table.
    """
    _refuse_unsaid(records, layout, costs)
    keyed = keyed_table(records, layout)
    table = keyed.table
    count = numbers_at_cells(records, keyed, layout, "count") if layout.min_contributors else None
    own = {
        name: numbers_at_cells(records, keyed, layout, column)
        for name, column in TOLD_IN.items()
        if name == costs
    }
    cost = (
        cell_costs(Priced(table.M, table.a, table.primary, own.get("file"), own.get("frequency")), costs)
        * margins ** margins_of(keyed.axes).ravel()
    )
    singleton, respondent = respondents_in(records, keyed, layout)
    problem = replace(
        table,
        cost=cost,
        fixed=~table.primary & (table.fixed | (table.a == 0)),
        rhs=table.M @ table.a,
        singleton=singleton,
        respondent=respondent,
        count=count,
        minimum=layout.min_contributors,
    )
    numbers = {
        name.upper(): numbers_beside(records, keyed, column)
        for name in TOLD_IN.values()
        if (column := layout.column(name, records)) is not None
    }
    return CrossedSuppression(
        problem, keyed.dimensions, layout.value, keyed.keys, keyed.stays, numbers, keyed.consistent
    )


def _refuse_unsaid(records: TextRows, layout: TableLayout, costs: CellCosts) -> None:
    """Raises InvalidInput where nothing says which cells are primary, or a named column says nothing here."""
    if layout.primary is None and layout.column("status", records) is None:
        raise InvalidInput(
            f"{records.name}: nothing says which cells are primary. Remedy: name a column of statuses (u: "
            f"primary), or of primaries (1)"
        )
    if layout.cost is not None and costs != "file":
        raise InvalidInput(
            f"{records.name}: the column of costs {layout.cost}, and other costs. Remedy: choose costs of "
            f"the file, or drop it"
        )
    if layout.count is not None and costs != "frequency" and not layout.min_contributors:
        raise InvalidInput(
            f"{records.name}: the column of contributors {layout.count}, and nothing that counts them. "
            f"Remedy: choose costs by frequency "
            "or a minimum of contributors, or drop it"
        )


def numbers_at_cells(records: TextRows, keyed: KeyedTable, layout: TableLayout, name: str) -> Floats:
    """(n): a column of numbers at the cells of the table; cells that are empty need none."""
    column = layout.column(name, records)
    if column is None:
        raise InvalidInput(f"{records.name}: no column {name.upper()}. Remedy: add it, or choose other costs")
    told = numbers_beside(records, keyed, column)
    missing = np.flatnonzero(np.isnan(told) & (keyed.table.a != 0))
    if len(missing):
        key = printed_key(keyed.keys[missing[0]])
        raise InvalidInput(
            f"{records.name}: {key}{and_more(len(missing) - 1)}: no {column}. Remedy: give each cell a "
            f"{records.word} with it"
        )
    return np.where(np.isnan(told), 0.0, told)


def numbers_beside(records: TextRows, keyed: KeyedTable, column: str) -> Floats:
    """(n): a column of numbers at the cells of the table, NaN where there is none."""
    told = np.full(len(keyed.keys), np.nan)
    told[keyed.cell] = numbers_in(records, column, np.nan)
    return told
