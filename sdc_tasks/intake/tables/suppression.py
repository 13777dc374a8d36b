"""A JJ table as a suppression problem, and a pattern as a JJ table."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from sdc_tasks.errors import InvalidInput, and_more
from sdc_tasks.intake.tables.jj import JJTable, primaries_of, sensitive_of
from sdc_tasks.methods.suppression.costs import Priced, cell_costs
from sdc_tasks.methods.suppression.names import CellCosts
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.untrusted import unpacked

HEADER = ["cell", "count"]


def suppression_of(
    table: JJTable, costs: CellCosts = "value", frequency: Floats | None = None
) -> SensitiveTable:
    """The suppression problem of a table. Cells of status z and empty cells stay open: empty cells are public
    zeros.

    A status m is not read: secondaries are what is sought. `frequency` (n): contributors, for costs of that
    name. That the table adds up was judged by its reader, who knows how its values were rounded. Raises
    InvalidInput for a primary without a level.
    """
    primary = primaries_of(table)
    priced = Priced(table.A, table.a, primary, table.cost, frequency)
    return replace(
        sensitive_of(table),
        cost=cell_costs(priced, costs),
        fixed=~primary & (table.fixed | (table.a == 0)),
        rhs=table.A @ table.a,
    )


def suppressed(table: JJTable, problem: SensitiveTable, hidden: Bools, stays: Bools) -> JJTable:
    """The table with the statuses of a pattern `hidden` (n) of a problem of its cells, and the levels of the
    problem.

    u where the problem has a primary, every other hidden cell is m; z stays, and cells that an instruction
    keeps open (`stays`, n) are z; all else is s.
    """
    status = np.where((table.status == "z") | stays, "z", "s")
    status = np.where(problem.primary, "u", np.where(hidden, "m", status))
    return replace(table, status=status, lpl=problem.lpl, upl=problem.upl, spl=problem.spl)


def read_frequencies(path: Path, n: int) -> Floats:
    """(n): the contributors of each cell, from a CSV file `cell,count` with one line for each of the n cells.

    Raises InvalidInput, with line and remedy, where it is no such file.
    """
    try:
        text = unpacked(path).decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read ({error.strerror}). Remedy: name a file cell,count"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not a text in UTF-8. Remedy: save it as UTF-8") from error
    rows = csv.reader(io.StringIO(text, newline=""))
    if [name.strip().lower() for name in next(rows, [])] != HEADER:
        raise InvalidInput(f"{path}, line 1: the header is cell,count. Remedy: write one line for each cell")
    count = np.full(n, np.nan)
    for row in rows:
        if row:
            place = f"{path}, line {rows.line_num}"
            cell, number = _pair(row, place)
            if cell >= n or not np.isnan(count[cell]):
                raise InvalidInput(
                    f"{place}: cell {cell} is not one of the {n} cells, or came before. Remedy: each cell "
                    f"once"
                )
            count[cell] = number
    if len(missing := np.flatnonzero(np.isnan(count))):
        raise InvalidInput(
            f"{path}: cell {missing[0]}{and_more(len(missing) - 1)}: no count. Remedy: one line for each cell"
        )
    return count


def _pair(row: list[str], place: str) -> tuple[int, float]:
    """The number of a cell, and its count."""
    if len(row) != len(HEADER) or not all(
        each.strip().isdecimal() and len(each.strip()) < 16 for each in row
    ):
        raise InvalidInput(
            f"{place}: the number of a cell and its count are expected. Remedy: correct the line"
        )
    return int(row[0]), float(row[1])
