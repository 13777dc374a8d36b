"""Cell suppression of a table or of microdata in a data frame: one call, a frame back. pandas is loaded by who calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.crossed import CrossedSuppression, Wanted, suppression_in
from sdc_tasks.intake.tables.keyed import USUAL, Columns, Missing
from sdc_tasks.intake.tables.microdata import ContributorColumns, problem_by_rules
from sdc_tasks.intake.tables.rows import rows_of
from sdc_tasks.methods.contributions import ContributionRules
from sdc_tasks.methods.suppression.engine import PatternOptions
from sdc_tasks.methods.suppression.engine import suppress as suppress_problem
from sdc_tasks.methods.suppression.names import CellCosts
from sdc_tasks.methods.suppression.pattern.result import SuppressionResult
from sdc_tasks.model.table import Hierarchy

if TYPE_CHECKING:
    import pandas as pd

CALLED = "the frame"
UNKNOWN = ContributorColumns()  # each row is a contributor of its own


def suppress_frame(
    frame: pd.DataFrame,
    dimensions: Sequence[str],
    value: str = "VALUE",
    hierarchies: Mapping[str, Mapping[str, str | None]] | None = None,
    totals: Mapping[str, str] | None = None,
    costs: CellCosts = "value",
    options: PatternOptions | None = None,
    columns: Columns = USUAL,
    missing: Missing = "refuse",
    margins: float = 1.0,
    minimum: int = 0,
) -> tuple[pd.DataFrame, SuppressionResult]:
    """The cheapest safe pattern found for a table whose cells are the rows of a frame ([2] §4, eq. 5–7).

    frame        one row for each cell: a column of codes for each dimension, the column `value`, and STATUS (u primary, z stays open,
                 anything of s m or empty: free). LPL, UPL, SPL: protection levels, distances ≥ 0 in the unit of `value`; LB, UB: what the
                 world knows, else 0 and ∞ (−∞ where a value is negative). COST, COUNT: for costs `file`, `frequency`.
    hierarchies  of a dimension: the code that each code adds up to, None for the top; else every code but the total adds up to the total.
    totals       of a dimension: the code of its total, under "" for every other; else TOTAL, _T or Total.
    columns      other names of the columns; a column of primaries instead of STATUS, one level for both sides.
    missing      an inner cell without a row is refused; with "zero" it is empty, which everybody may know.
    margins      the factor on the cost of a cell, for each dimension in which it is a total.
    minimum      of contributors (COUNT) behind what is hidden in a relation.

    Returns a frame with a row for each cell of the whole table, in the order of the codes (totals without a row are added up): the
    dimensions, `value`, and STATUS: u primary, m secondary, z, s. Where no safe pattern was found in the time that the options give, it
    has no rows. Beside it the result: cost, bound, gap, history.

    Raises InvalidInput on what is no table, naming row, cell and remedy; Unprotectable, naming the cell, where even hiding all protects it
    not.
    """
    wanted = Wanted(tuple(dimensions), value, totals or {}, _trees(hierarchies or {}), columns, missing, minimum)
    return _with_pattern(suppression_in(rows_of(frame, CALLED), wanted, costs, margins), options)


def protect_frame(
    frame: pd.DataFrame,
    dimensions: Sequence[str],
    rules: ContributionRules,
    value: str = "VALUE",
    contributors: ContributorColumns = UNKNOWN,
    hierarchies: Mapping[str, Mapping[str, str | None]] | None = None,
    totals: Mapping[str, str] | None = None,
    costs: CellCosts = "value",
    options: PatternOptions | None = None,
    margins: float = 1.0,
    minimum: int = 0,
) -> tuple[pd.DataFrame, SuppressionResult]:
    """The table of microdata, one row for each contribution, its primary cells by `rules`, and the cheapest safe pattern found.

    `contributors` names columns: who contributes, his holding, waivers, requests, weights. The rest, what is returned and what is raised as
    for `suppress_frame`; costs `frequency` are contributors, `file` there are none.
    """
    wanted = Wanted(tuple(dimensions), value, totals or {}, _trees(hierarchies or {}), minimum=minimum)
    found = problem_by_rules(rows_of(frame, CALLED), wanted, rules, contributors, costs, margins)
    return _with_pattern(found.table, options)


def _with_pattern(table: CrossedSuppression, options: PatternOptions | None) -> tuple[pd.DataFrame, SuppressionResult]:
    import pandas as pd

    result = suppress_problem(table.problem, options)
    found = pd.DataFrame(list(table.keys), columns=list(table.dimensions)).assign(**{table.value: table.problem.a})
    if result.pattern is None:
        return found.assign(STATUS="").iloc[:0], result
    return found.assign(STATUS=table.statuses(result.pattern)), result


def _trees(hierarchies: Mapping[str, Mapping[str, str | None]]) -> dict[str, Hierarchy]:
    try:
        return {name: Hierarchy(name, tuple(parents), tuple(parents.values())) for name, parents in hierarchies.items()}
    except ValueError as error:
        raise InvalidInput(f"{CALLED}: {error}. Remedy: correct the hierarchy") from error
