"""Primary cells by rules, and the cheapest safe pattern of secondary ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from sdc_tasks.api.asked import checks_options
from sdc_tasks.api.frames import CALLED, Table, as_frame
from sdc_tasks.api.lowered import disclosed_cells, lowered_cells, lowered_frame, not_judged
from sdc_tasks.api.masked import MaskedTable
from sdc_tasks.api.options import DimensionKeywords, SuppressKeywords, keywords
from sdc_tasks.api.origins import remember
from sdc_tasks.api.progress import Progress, of_moments, teller
from sdc_tasks.api.results import Cells, Explanation, Picture, Result, made_consistent, relative
from sdc_tasks.api.tables import costs_of, layout_of
from sdc_tasks.errors import InvalidInput, Unprotectable, and_more
from sdc_tasks.intake.tables.crossed import CrossedSuppression, suppression_in
from sdc_tasks.intake.tables.keyed import refuse_own
from sdc_tasks.intake.tables.microdata import (
    ContributorColumns,
    ProtectedTable,
    problem_by_rules,
    problem_of_cells,
)
from sdc_tasks.intake.tables.rows import rows_of
from sdc_tasks.methods.contributions import ContributionRules
from sdc_tasks.methods.suppression.attainable import AttainableLevels, attainable
from sdc_tasks.methods.suppression.engine import PatternOptions
from sdc_tasks.methods.suppression.engine import suppress as suppress_problem
from sdc_tasks.methods.suppression.exact import WHILE_IT_PAYS, Work
from sdc_tasks.methods.suppression.names import CellCosts, refuse_gap, refuse_prove
from sdc_tasks.methods.suppression.pattern.feasible import feasible
from sdc_tasks.methods.suppression.pattern.result import SuppressionResult
from sdc_tasks.methods.suppression.pattern.sums import limits_of, verify_with_sums
from sdc_tasks.model.layout import TableLayout
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.table import Bools
from sdc_tasks.model.time.moment import told_gap
from sdc_tasks.model.tolerances import GAP
from sdc_tasks.report.files import write_whole
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = ContributorColumns()  # each row is a contributor of its own
# Keywords of `suppress` that say what rules decide.
DECIDED_BY_RULES = (
    "status",
    "primary",
    "level",
    "lpl",
    "upl",
    "spl",
    "lb",
    "ub",
    "singleton",
    "respondent",
)
NAMED_PRIMARIES = 8  # primaries that an explanation names


class OfTable(Result):
    """The part that results about a table with dimensions share: `_crossed`, and what is hidden of it."""

    _crossed: CrossedSuppression

    @property
    def _hidden(self) -> Bools:
        raise NotImplementedError

    @property
    def figures(self) -> Mapping[str, str]:
        return {**lowered_cells(self._crossed.problem), **made_consistent(self._crossed.consistent)}

    @cached_property
    def cells(self) -> Cells:
        """The keys of the cells, in the order of the rows."""
        return Cells(self._crossed.dimensions, self._crossed.keys)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Confidential: the dimensions, the true value and STATUS (u primary, m secondary, z
        stays open, s open) of every cell. `audit` takes it as it is.
        """
        found = self.cells.frame(
            **{self._crossed.value: self._crossed.problem.a, "STATUS": self._crossed.statuses(self._hidden)}
        )
        remember(found, self._crossed)
        return found

    @cached_property
    def public(self) -> pd.DataFrame:
        """As `table`, without the values of hidden cells; STATUS does not tell primary from
        secondary: c hidden, else empty.
        """
        values = np.where(self._hidden, np.nan, self._crossed.problem.a)
        return self.cells.frame(**{self._crossed.value: values, "STATUS": np.where(self._hidden, "c", "")})

    def published(self, place: str | Path, flow: str | None = None) -> Path:
        """Writes the table as the public may see it: .csv, .csv.gz or .parquet as `public`; .xml (SDMX-ML) or
        .json (SDMX-JSON) under the data flow AGENCY:ID(VERSION). Only this file may leave the house.

        Raises InvalidInput for another name, and where what is hidden does not protect the table.
        """
        if reason := self._unsafe:
            raise InvalidInput(f"{place}: {reason}")
        masked = MaskedTable(
            self._crossed.dimensions,
            self._crossed.value,
            self._crossed.keys,
            self._crossed.problem.a,
            self._hidden,
        )
        write_whole(Path(place), masked.content(Path(place), flow))
        return Path(place)

    @property
    def _unsafe(self) -> str:
        """Why the table may not be published, with the remedy; empty where it may."""
        return ""

    def intervals(self) -> pd.DataFrame:
        """Confidential until the pattern is out: LOW and HIGH of each hidden cell, as an attacker computes
        them who knows no more than the public ([2] eq. 5–6); −∞ or ∞ where nothing bounds the cell.
        """
        low, high = feasible(self._crossed.problem, self._hidden)
        return self.cells.frame(LOW=low, HIGH=high)[self._hidden].reset_index(drop=True)

    def plot(self) -> Picture:
        """The pattern: a row for each code of the first dimension. Confidential: it tells
        primary cells from secondary ones.
        """
        require_tested("plot")
        from sdc_tasks.report.pattern_figures import PATTERN, plot_states

        return Picture(
            lambda image: plot_states(
                self.cells.keys, self._crossed.statuses(self._hidden).tolist(), PATTERN, image
            )
        )


@dataclass(frozen=True, repr=False)
class PrimaryResult(OfTable):
    """Which cells are primary, and their levels. Confidential: `table`, `explain`."""

    _crossed: CrossedSuppression = field(repr=False)
    by_rule: Mapping[str, int]

    @property
    def _hidden(self) -> Bools:
        return self._crossed.problem.primary

    @property
    def _unsafe(self) -> str:
        return "primary cells alone are hidden, and the totals give them away. Remedy: suppress the table"

    @property
    def title(self) -> str:
        return f"primary cells: {int(self._hidden.sum())} of {len(self._hidden)}"

    @cached_property
    def table(self) -> pd.DataFrame:
        """Confidential: the dimensions, the true value, STATUS, LPL and UPL, the number of contributors
        COUNT, and who is alone in a primary cell: SINGLETON and RESPONDENT. `suppress` takes it as it is.
        """
        problem = self._crossed.problem
        told = {
            "LPL": np.where(problem.primary, problem.lpl, np.nan),
            "UPL": np.where(problem.primary, problem.upl, np.nan),
        }
        if problem.count is not None:
            told["COUNT"] = problem.count
        who = problem.respondent
        names = (
            [""] * len(problem.a)
            if who is None
            else ["" if each == NOBODY else str(each) for each in who.tolist()]
        )
        return super().table.assign(**told, SINGLETON=problem.lone.astype(int), RESPONDENT=names)

    @property
    def public(self) -> pd.DataFrame:
        """The keys alone: without secondary cells, totals give the primary ones away."""
        return self.cells.frame()

    @property
    def loss(self) -> float | None:
        """None: nothing is lost before a pattern is chosen."""
        return None

    @property
    def bound(self) -> float | None:
        return None

    @property
    def figures(self) -> Mapping[str, str]:
        told = {f"primary by {rule}": f"{number:,}" for rule, number in self.by_rule.items()}
        return {**told, **super().figures}

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        i, problem = self.cells.find(cell), self._crossed.problem
        if problem.primary[i]:
            alone = ("one contributor stands behind it, who knows it",) if problem.lone[i] else ()
            return Explanation(self.cells.name(i), "primary", ("a rule asks for a protection level", *alone))
        stays = (
            ("its only contributor knows it, and no rule protects him: hidden, it would protect nobody",)
            if self._crossed.stays[i]
            else ()
        )
        return Explanation(self.cells.name(i), "not primary", stays)


@dataclass(frozen=True, repr=False)
class SuppressResult(OfTable):
    """A table with a verified pattern. Confidential: `table`, `loss`, `bound`, `lowered`,
    `intervals`, `explain`, `plot`.
    """

    _crossed: CrossedSuppression = field(repr=False)
    search: SuppressionResult = field(repr=False)
    levels: AttainableLevels | None = field(default=None, repr=False)

    @property
    def _hidden(self) -> Bools:
        assert self.search.pattern is not None
        return self.search.pattern

    @property
    def title(self) -> str:
        primaries = len(self._crossed.problem.primaries)
        return (
            f"cell suppression: {primaries} primary and {int(self._hidden.sum()) - primaries} "
            f"secondary of {len(self._hidden)} cells"
        )

    @property
    def loss(self) -> float:
        """Confidential: the cost of the secondary cells, for an attacker one more equation of
        their values.
        """
        assert self.search.cost is not None
        return self.search.cost

    @property
    def bound(self) -> float:
        """Confidential as the loss: no safe pattern costs less."""
        return self.search.bound

    @property
    def gap(self) -> float:
        """(loss − bound) / loss."""
        assert self.search.gap is not None
        return self.search.gap

    @property
    def figures(self) -> Mapping[str, str]:
        gap = told_gap(self.loss, self.bound).removeprefix("gap ")
        told = {"gap": gap, "ended": self.search.ended, "seconds": f"{self.search.seconds:.1f}"}
        return {**told, **super().figures, **disclosed_cells(self.levels)}

    @property
    def limits(self) -> str | None:
        """What of the contributors' knowledge was judged beside cells, and what was not; None of a
        table that came with its primaries.
        """
        return limits_of(self._crossed.problem)

    @cached_property
    def lowered(self) -> pd.DataFrame:
        """Confidential: a row for each side of a primary cell whose level no pattern keeps, and of a sum of
        hidden cells (CELL): the side (above, below, width), the level that was WANTED, what is KEPT against
        all lone respondents together, and against OUTSIDERS. Without `attainable=True` there is none.
        """
        return lowered_frame(self.levels, self._hidden)

    @property
    def not_judged(self) -> tuple[str, ...]:
        """The primary cells with lowered levels that are not judged against every part of the lone
        respondents, for they are too many.
        """
        return not_judged(self.levels)

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        """Why a cell is hidden: its level; or the primary cells that are not shown to be
        protected if it alone is opened.
        """
        i, problem = self.cells.find(cell), self._crossed.problem
        name = self.cells.name(i)
        if problem.primary[i]:
            alone = ("one respondent stands behind it, who knows it",) if problem.lone[i] else ()
            must = (
                "no pattern keeps its protection levels: it must keep what the one leaves that hides all"
                if problem.lowered[i]
                else "it must keep its protection levels"
            )
            return Explanation(name, "primary", (must, *alone))
        if not self._hidden[i]:
            why = (
                "it is an empty cell, or was asked to stay open"
                if problem.fixed[i]
                else "no primary cell needs it"
            )
            return Explanation(name, "open", (why,))
        opened = self._hidden.copy()
        opened[i] = False
        verdict, short = verify_with_sums(problem, opened)
        left = verdict.unprotected
        if not len(left) and len(short):
            return Explanation(
                name,
                "secondary",
                ("opened alone, a sum of hidden cells would tell too much of one contributor",),
            )
        if not len(left):
            return Explanation(
                name,
                "secondary",
                ("opened alone, no primary cell is at risk: a minimum of contributors holds it",),
            )
        first = ", ".join(self.cells.name(int(p)) for p in left[:NAMED_PRIMARIES]) + and_more(
            max(0, len(left) - NAMED_PRIMARIES)
        )
        needs = f"opened alone, these primary cells are not shown to be protected: {first}"
        frees = (
            "it is free where another pattern protects them; a dearer cost for it makes the "
            "search look for one"
        )
        return Explanation(name, "secondary", (needs, frees))

    def plot_search(self) -> Picture:
        """The best pattern and the proven bound over time; the cost at the end is the unit."""
        require_tested("plot")
        from sdc_tasks.report.cta_figures import plot_history

        told = relative(self.search.history, self.loss)
        return Picture(lambda image: plot_history(told, "Suppression, relative cost", image, "pattern"))


@checks_options
@keywords(DimensionKeywords)
def primary(
    df: Table,
    dims: Sequence[str],
    value: str = "VALUE",
    *,
    rules: ContributionRules,
    contributors: ContributorColumns = UNKNOWN,
    count: str | None = None,
    top: Sequence[str] = (),
    **options: Unpack[DimensionKeywords],
) -> PrimaryResult:
    """The primary cells of a table, and their protection levels, by rules ([2] §4).

    df           microdata, a row for each contribution with inner codes alone; with `top` a table, a row
    for each cell: then `count` is the
                 column of contributors, and `top` are those of the largest contributions, the largest first.
    rules        p% with a prior, (n,k), a minimum of contributors, requests.
    contributors columns of microdata: who contributes, his holding, waivers, requests, weights.

    Raises InvalidInput with row, column, key and remedy.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> firms = pd.DataFrame({"REGION": ["N", "N", "N", "S", "S"], "BRANCH": ["C", "C", "D", "C", "D"],
    ...         "VALUE": [90, 4, 30, 40, 50]})
    >>> found = sdc.primary(firms, ["REGION", "BRANCH"], rules=sdc.Rules(p=10))
    >>> found
    <primary cells: 8 of 9; primary by p 8>
    >>> rows = found.table.query("REGION == 'N' and BRANCH == 'C'")
    >>> rows[["VALUE", "STATUS", "LPL"]].to_string(index=False)
    ' VALUE STATUS  LPL\\n  94.0      u  9.0'
    """
    refuse_own(CALLED, [value], ["COUNT"])
    layout = replace(layout_of(dims, value, options), count=count)
    found = _by_rules(df, layout, rules, _Contributions(contributors, top), "value", 1.0)
    return PrimaryResult(found.table, found.by_rule)


@checks_options
@keywords(
    SuppressKeywords,
    contributors=UNKNOWN,
    top=(),
    cost="value",
    margins=1.0,
    method="auto",
    seconds=None,
    gap=GAP,
    seed=1,
    prove=False,
    attainable=False,
)
def suppress(
    df: Table,
    dims: Sequence[str],
    value: str = "VALUE",
    *,
    rules: ContributionRules | None = None,
    progress: Progress = None,
    **options: Unpack[SuppressKeywords],
) -> SuppressResult:
    """The cheapest safe pattern found for a table, verified ([2] §4, eq. 5–7).

    df           one row for each cell: a column of codes for each of `dims`, and the column `value`. With
                 `rules`: as for `primary`. Totals without a row are added up.
    rules        which cells are primary. Without rules the frame says it: `status`, or `primary`, with
                 `level`, or `lpl`, `upl` and `spl`: distances ≥ 0 in the unit of `value`.
    contributors, top: as for `primary`.
    cost         of a secondary: value, one, frequency (the column `count`), log, distance; or a column.
    margins      the factor on it for each dimension in which a cell is a total.
    method       how to search; auto: cubes where the table is very large, else exact.
    seconds      a limit of time; without it the search ends by counted work, and equal input gives an equal
                 pattern.
    prove        goes on until the gap is proven, which may take hours; else the search ends where more work
                 hardly pays, and `gap` tells how far the pattern is from the bound.
    attainable   lowers each level that no pattern keeps to what the pattern leaves that hides everything, of
                 each attacker apart: see `lowered`. Without it such a table is refused.
    progress     a function that gets lines; True or False; by default a line in a notebook, and in a script a
                 line every five seconds on standard error.

    Raises InvalidInput with row, column, key and remedy; Unprotectable, naming the cell, where hiding all
    does not protect it, or where no safe pattern was found in the time given.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> table = pd.DataFrame({"TOWN": ["M1"] * 3 + ["M2"] * 3 + ["M3"] * 3, "JOB": ["P1", "P2", "P3"] * 3,
    ...                       "VALUE": [20, 24, 28, 38, 38, 40, 40, 39, 42],
    ...         "SECRET": [0] * 5 + [1] + [0] * 3, "LEVEL": [10] * 9})
    >>> found = sdc.suppress(table, ["TOWN", "JOB"], primary="SECRET", level="LEVEL")
    >>> (found.loss, found.bound)
    (86.0, 86.0)
    >>> rows = found.table.query("STATUS in ('u', 'm')")
    >>> rows[["TOWN", "JOB", "STATUS"]].to_string(index=False, header=False)
    'M1 P1 m\\nM1 P3 m\\nM2 P1 m\\nM2 P3 u'
    >>> print(found.explain(("M1", "P1")).lines[0])
    opened alone, these primary cells are not shown to be protected: M2.P3
    """
    if options["gap"] != GAP:
        refuse_gap(options["method"])
    if options["prove"]:
        refuse_prove(options["method"])
    costs, priced = costs_of(options["cost"])
    layout, margins = replace(layout_of(dims, value, options), cost=priced), options["margins"]
    given = _Contributions(options["contributors"], options["top"])
    if rules is None:
        if given != _Contributions():
            raise InvalidInput(
                "contributors and largest contributions are for rules. Remedy: give rules, or leave them out"
            )
        table = suppression_in(rows_of(as_frame(df), CALLED), layout, costs, margins)
    else:
        if twice := [name for name in DECIDED_BY_RULES if getattr(layout, name) is not None]:
            raise InvalidInput(
                f"rules decide what is primary, and {twice[0]} says it too. Remedy: give one or the other"
            )
        table = _by_rules(df, layout, rules, given, costs, margins).table
    seconds = options["seconds"]
    limit = math.inf if seconds is None else seconds
    work = Work() if options["prove"] else WHILE_IT_PAYS
    asked = PatternOptions(options["method"], limit, options["gap"], options["seed"], work)
    return pattern_of(table, asked, progress, options["attainable"])


def pattern_of(
    table: CrossedSuppression, options: PatternOptions, progress: Progress = None, lower: bool = False
) -> SuppressResult:
    """The result of a search in a table that was read. Raises Unprotectable where no safe pattern
    was found. `lower`: levels that no pattern keeps.
    """
    levels = attainable(table.problem) if lower else None
    if levels is not None:
        table = replace(table, problem=levels.problem)
    found = suppress_problem(table.problem, options, of_moments(teller(progress), "pattern"))
    if found.pattern is None:
        raise Unprotectable(
            f"no safe pattern in {options.seconds:g} s. Remedy: give more time, or none, for a search by "
            f"counted work"
        )
    return SuppressResult(table, found, levels)


@dataclass(frozen=True)
class _Contributions:
    """The columns that tell of contributions: of microdata, or of a table those of the largest ones."""

    columns: ContributorColumns = UNKNOWN
    top: Sequence[str] = ()


def _by_rules(
    df: Table,
    layout: TableLayout,
    rules: ContributionRules,
    given: _Contributions,
    costs: CellCosts,
    margins: float,
) -> ProtectedTable:
    records = rows_of(as_frame(df), CALLED)
    if not given.top:
        return problem_by_rules(records, layout, rules, given.columns, costs, margins)
    if layout.count is None:
        raise InvalidInput(
            "a table with largest contributions needs its counts. Remedy: name the column of contributors as "
            "count"
        )
    return problem_of_cells(records, layout, rules, list(given.top), costs, margins)
