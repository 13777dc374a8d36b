"""Controlled tabular adjustment of a table in a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from sdc_tasks.api.asked import checks_options
from sdc_tasks.api.frames import CALLED, Table, as_frame
from sdc_tasks.api.moved import MovedTable
from sdc_tasks.api.options import AdjustKeywords, keywords
from sdc_tasks.api.progress import Progress, of_moments, teller
from sdc_tasks.api.results import Explanation, Picture, relative
from sdc_tasks.api.tables import layout_of
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.intake.tables.jj import FORMULAS
from sdc_tasks.intake.tables.keyed import KeyedTable, keyed_table, numbers_in
from sdc_tasks.intake.tables.rows import TextRows, rows_of
from sdc_tasks.methods.cta import engine
from sdc_tasks.methods.cta.engine import EngineOptions
from sdc_tasks.methods.cta.model import table_problem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Floats
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.model.tolerances import GAP
from sdc_tasks.model.weights import Distance, weights_of
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    import pandas as pd

DistanceName = Literal["l1", "l2"]
KEPT_DIGITS = 12  # significant ones of an adjusted value: the rest is what a solver left


@dataclass(frozen=True, repr=False)
class AdjustResult(MovedTable):
    """An adjusted table, verified. Confidential: `table`, which holds the true values beside it; `loss`,
    `bound`, `intervals`, `explain` and `plot`.
    """

    objective: float
    proven: float
    history: tuple[Moment, ...] = field(repr=False)

    @property
    def title(self) -> str:
        return (
            f"controlled tabular adjustment: {len(self.keyed.table.primaries)} of {len(self.x)} "
            f"cells at their levels"
        )

    @cached_property
    def table(self) -> pd.DataFrame:
        """Confidential: the dimensions, the true value, ADJUSTED, and STATUS (u for a sensitive cell)."""
        status = np.full(len(self.x), "s")
        status[self.keyed.table.fixed] = "z"
        status[self.keyed.table.primaries] = "u"
        return self.cells.frame(**{self.name: self.keyed.table.a, "ADJUSTED": self.x, "STATUS": status})

    @property
    def loss(self) -> float:
        """Confidential: Σ w |x − a|, or Σ w (x − a)²."""
        return self.objective

    @property
    def bound(self) -> float:
        """Confidential: no protected table costs less."""
        return self.proven

    @property
    def gap(self) -> float:
        """(loss − bound) / loss."""
        return 0.0 if self.loss <= 0 else max(0.0, (self.loss - self.bound) / self.loss)

    @property
    def figures(self) -> Mapping[str, str]:
        return {"gap": f"{self.gap:.2%}", **super().figures}

    def intervals(self) -> pd.DataFrame:
        """Confidential: of each sensitive cell the interval (LOW, HIGH) around its true value that
        its adjusted value stays out of.
        """
        table, p = self.keyed.table, self.keyed.table.primaries
        down, up = np.maximum(table.lpl, table.spl)[p], np.maximum(table.upl, table.spl)[p]
        return (
            self.cells.frame()
            .iloc[p]
            .assign(LOW=table.a[p] - down, HIGH=table.a[p] + up)
            .reset_index(drop=True)
        )

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        i, table = self.cells.find(cell), self.keyed.table
        moved = {0: "it stayed", 1: "it went up", -1: "it went down"}[self.way(i)]
        if table.primary[i]:
            return Explanation(
                self.cells.name(i), "sensitive", (f"{moved}, by its protection level at least",)
            )
        why = (
            "it keeps its value, as asked"
            if table.fixed[i]
            else f"{moved}; the table must add up, and this costs least"
        )
        return Explanation(self.cells.name(i), "not sensitive", (why,))

    def plot_search(self) -> Picture:
        """The best table and the proven bound over time; the distance at the end is the unit."""
        require_tested("plot")
        from sdc_tasks.report.cta_figures import plot_history

        told = relative(self.history, self.loss)
        return Picture(lambda image: plot_history(told, "CTA, relative distance", image))


@checks_options
@keywords(AdjustKeywords, method="auto", solver="highs", seconds=60.0, gap=GAP, seed=1)
def adjust(
    df: Table,
    dims: Sequence[str],
    value: str = "VALUE",
    *,
    weights: Literal["one", "inverse", "sqrt"] | str = "inverse",
    distance: DistanceName = "l1",
    progress: Progress = None,
    **options: Unpack[AdjustKeywords],
) -> AdjustResult:
    """The closest table found in which every sensitive cell has moved by at least its
    level ([1] eq. 2a–2e; [2] eq. 18).

    df        one row for each cell, as for `suppress`; a cell of status z keeps its value, every other
              one may move.
    weights   what moving a cell by one costs: one, inverse (1/a), sqrt (1/√a; a value below 1 counts
              as 1), or a column.
    distance  l1 Σ w |x − a|, l2 Σ w (x − a)².
    seconds   a limit of time; the search ends before where the gap is proven to be at most `gap`.

    The rest, and what is raised, as for `suppress`.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> table = pd.DataFrame({"R": ["a", "a", "b", "b"], "C": ["x", "y", "x", "y"], "VALUE": [20, 50, 40, 30],
    ...                       "SECRET": [1, 0, 0, 0], "LEVEL": [5, 0, 0, 0]})
    >>> found = sdc.adjust(table, ["R", "C"], primary="SECRET", level="LEVEL", weights="one")
    >>> round(found.loss, 6), round(found.bound, 6)
    (20.0, 20.0)
    >>> found.explain("a.x").lines
    ('it went up, by its protection level at least',)
    """
    layout, records = layout_of(dims, value, options), rows_of(as_frame(df), CALLED)
    if layout.primary is None and layout.column("status", records) is None:
        raise InvalidInput(
            f"{CALLED}: nothing says which cells are sensitive. Remedy: name a column of statuses (u), or of "
            f"primaries (1)"
        )
    keyed = keyed_table(records, layout)
    problem = table_problem(keyed.table, _weights(records, keyed, weights), Distance(distance))
    seconds, gap = options["seconds"], options["gap"]
    run = Run(problem, seconds, gap, of_moments(teller(progress), "table"))
    engine.execute(run, EngineOptions(options["method"], options["solver"], seconds, gap, options["seed"]))
    return adjusted(run, keyed, value)


def adjusted(run: Run, keyed: KeyedTable, name: str) -> AdjustResult:
    """The result of a run that is over. Raises Unprotectable where it found no protected table."""
    found = run.final()
    if found is None or not found.verdict.is_feasible or found.verdict.unprotected:
        raise Unprotectable(
            f"no protected table in {run.elapsed:.0f} s. Remedy: give more time, or lower levels"
        )
    table = keyed.table
    x = np.array(
        [
            float(f"{each:.{KEPT_DIGITS}g}")
            for each in np.clip(table.a + found.z * run.problem.unit, table.lb, table.ub)
        ]
    )
    x = np.where(found.z == 0, table.a, x)
    return AdjustResult(
        keyed, name, x, found.verdict.objective, min(run.bound, found.verdict.objective), tuple(run.history)
    )


def _weights(records: TextRows, keyed: KeyedTable, cost: str) -> Floats:
    """(n): what moving a cell by one costs."""
    if cost in FORMULAS:
        return weights_of(keyed.table.a, FORMULAS[cost])
    told = np.full(len(keyed.keys), np.nan)
    told[keyed.cell] = numbers_in(records, cost, np.nan)
    wrong = np.flatnonzero(~(told >= 0) & ~keyed.table.fixed)
    if len(wrong):
        raise InvalidInput(
            f"{CALLED}: {printed_key(keyed.keys[wrong[0]])}: no {cost} of at least 0. Remedy: give each cell "
            f"its own, totals too"
        )
    return np.where(np.isnan(told), 0.0, told)
