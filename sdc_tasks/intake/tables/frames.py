"""Cell suppression of a table that is at hand as a data frame: one call, a frame back. pandas is loaded by who calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.rounding import KeyedTable, keyed_table
from sdc_tasks.methods.suppression.costs import Priced, cell_costs
from sdc_tasks.methods.suppression.engine import PatternOptions
from sdc_tasks.methods.suppression.engine import suppress as suppress_problem
from sdc_tasks.methods.suppression.names import CellCosts
from sdc_tasks.methods.suppression.pattern.result import SuppressionResult
from sdc_tasks.methods.suppression.problem import SuppressionProblem
from sdc_tasks.model.table import Floats, Hierarchy

if TYPE_CHECKING:
    import pandas as pd

CALLED = Path("the frame")  # what messages call it; its row i is their line i + 2
COLUMNS: Mapping[CellCosts, str] = {"file": "COST", "frequency": "COUNT"}


def suppress_frame(
    frame: pd.DataFrame,
    dimensions: Sequence[str],
    value: str = "VALUE",
    hierarchies: Mapping[str, Mapping[str, str | None]] | None = None,
    totals: Mapping[str, str] | None = None,
    costs: CellCosts = "value",
    options: PatternOptions | None = None,
) -> tuple[pd.DataFrame, SuppressionResult]:
    """The cheapest safe pattern found for a table whose cells are the rows of a frame ([2] §4, eq. 5–7).

    frame        one row for each cell: a column of codes for each dimension, the column `value`, and STATUS (u primary, z stays open,
                 anything of s m or empty: free). LPL, UPL, SPL: protection levels, distances ≥ 0 in the unit of `value`; LB, UB: what the
                 world knows, else 0 and ∞ (−∞ where a value is negative). COST, COUNT: for costs `file`, `frequency`.
    hierarchies  of a dimension: the code that each code adds up to, None for the top; else every code but the total adds up to the total.
    totals       of a dimension: the code of its total, under "" for every other; else TOTAL, _T or Total.

    Returns a frame with a row for each cell of the whole table, in the order of the codes (totals without a row are added up, cells
    without a row are empty): the dimensions, `value`, and STATUS: u primary, m secondary, z, s. Where no safe pattern was found in the
    time that the options give, it has no rows. Beside it the result: cost, bound, gap, history.

    Raises InvalidInput on what is no table, naming cell and remedy; Unprotectable, naming the cell, where even hiding all protects it not.
    """
    import pandas as pd

    table = _keyed(frame, dimensions, value, hierarchies or {}, totals or {})
    problem = _problem(frame, table, costs)
    result = suppress_problem(problem, options)
    found = pd.DataFrame(list(table.keys), columns=list(dimensions)).assign(**{value: table.table.a})
    if result.pattern is None:
        return found.assign(STATUS="").iloc[:0], result
    kept = np.where(_stays(frame, table, "z"), "z", "s")
    return found.assign(STATUS=np.where(problem.primary, "u", np.where(result.pattern, "m", kept))), result


def _keyed(
    frame: pd.DataFrame,
    dimensions: Sequence[str],
    value: str,
    hierarchies: Mapping[str, Mapping[str, str | None]],
    totals: Mapping[str, str],
) -> KeyedTable:
    try:
        trees: dict[str, Path | Hierarchy] = {
            name: Hierarchy(name, tuple(parents), tuple(parents.values())) for name, parents in hierarchies.items()
        }
    except ValueError as error:
        raise InvalidInput(f"{CALLED}: {error}. Remedy: correct the hierarchy") from error
    rows = frame.astype(object).where(frame.notna(), "").astype(str).to_numpy().tolist()
    return keyed_table(CALLED, rows, [str(name) for name in frame.columns], dimensions, value, totals, trees)


def _problem(frame: pd.DataFrame, keyed: KeyedTable, costs: CellCosts) -> SuppressionProblem:
    table, n = keyed.table, len(keyed.table.a)
    primary = np.zeros(n, dtype=bool)
    primary[table.primary] = True
    levels = np.zeros((3, n))
    levels[:, table.primary] = [table.lpl, table.upl, table.spl]
    own = {name: _column(frame, keyed, column) for name, column in COLUMNS.items() if name == costs}
    priced = Priced(table.A, table.a, primary, own.get("file"), own.get("frequency"))
    return SuppressionProblem(
        table.A, table.a, table.lb, table.ub, levels[0], levels[1], levels[2], cell_costs(priced, costs),
        primary, ~primary & (table.fixed | (table.a == 0)),
        table.A @ table.a, label=table.label,
    )  # fmt: skip


def _column(frame: pd.DataFrame, keyed: KeyedTable, column: str) -> Floats:
    """(n): a column of the frame at the cells of the table; cells that are empty need none."""
    if column not in frame:
        raise InvalidInput(f"{CALLED}: no column {column}. Remedy: add it, or choose other costs")
    told = dict(zip(_keys(frame, keyed), frame[column].tolist(), strict=True))
    missing = [key for key, a in zip(keyed.keys, keyed.table.a, strict=True) if key not in told and a != 0]
    if missing:
        raise InvalidInput(f"{CALLED}: {'.'.join(missing[0])} and {len(missing) - 1} more have no {column}. Remedy: give each cell a row")
    return np.array([float(told.get(key, 0.0)) for key in keyed.keys])


def _keys(frame: pd.DataFrame, keyed: KeyedTable) -> list[tuple[str, ...]]:
    """(rows): the codes of each row."""
    return list(zip(*(frame[name].astype(str).str.strip() for name in keyed.dimensions), strict=True))


def _stays(frame: pd.DataFrame, keyed: KeyedTable, status: str) -> list[bool]:
    """(n): the cells whose row has a status."""
    if "STATUS" not in frame:
        return [False] * len(keyed.keys)
    with_it = frame[frame["STATUS"].astype(str).str.strip() == status]
    marked = set(_keys(with_it, keyed))
    return [key in marked for key in keyed.keys]
