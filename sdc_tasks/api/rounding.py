"""Rounding of a table in a frame: controlled, quadratic, or of small counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from sdc_tasks.api.asked import checks_options
from sdc_tasks.api.frames import CALLED, Table, as_frame
from sdc_tasks.api.lowered import disclosed_cells, lowered_cells, lowered_frame, not_judged
from sdc_tasks.api.moved import MovedTable
from sdc_tasks.api.options import CountKeywords, Hierarchies, RoundKeywords, Weighting, keywords
from sdc_tasks.api.progress import Progress, teller
from sdc_tasks.api.results import Cells, Explanation, Picture, Result
from sdc_tasks.api.tables import layout_of, several
from sdc_tasks.errors import NAMED_CELLS, InvalidInput, and_more
from sdc_tasks.intake.tables.codes import read_hierarchy
from sdc_tasks.intake.tables.counts import counts_of
from sdc_tasks.intake.tables.jj import FORMULAS
from sdc_tasks.intake.tables.keyed import refuse_own
from sdc_tasks.intake.tables.respondents import table_with_respondents
from sdc_tasks.intake.tables.rows import rows_of
from sdc_tasks.methods.rounding.controlled import TableOptions
from sdc_tasks.methods.rounding.controlled import round_table as round_controlled
from sdc_tasks.methods.rounding.names import DRAWN
from sdc_tasks.methods.rounding.quadratic import base_for, round_quadratic
from sdc_tasks.methods.rounding.separable import SearchOptions
from sdc_tasks.methods.rounding.small_count import (
    CodeTree,
    CountOptions,
    Crossings,
    InnerCells,
    RoundedCells,
    by_formula,
    by_hierarchies,
    by_list,
    by_order,
    dummy_of,
    together,
)
from sdc_tasks.methods.rounding.small_count import round_counts as round_cells
from sdc_tasks.methods.rounding.small_count.measures import differences, frequencies, measures
from sdc_tasks.methods.suppression.attainable import AttainableLevels, attainable
from sdc_tasks.model.secret import drawn_seed
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Floats
from sdc_tasks.model.weights import weights_of
from sdc_tasks.solver.clock import Limit
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    import pandas as pd

Fact = float | int | str | bool | None
Tell = Callable[[str], None]
RoundingMethod = Literal["controlled", "quadratic"]


def controlled(
    table: SensitiveTable,
    base: float,
    zero_restricted: bool,
    reach: int,
    weights: Weighting,
    search: SearchOptions,
    tell: Tell,
) -> tuple[Floats, dict[str, Fact]]:
    """The table (n) rounded to multiples of the base, and the facts of the run."""
    options = TableOptions(
        base,
        search,
        zero_restricted,
        reach,
        None if weights == "one" else weights_of(table.a, FORMULAS[weights]),
    )
    found = round_controlled(table, options, tell)
    return found.x, {
        "base": base,
        "zero_restricted": zero_restricted,
        "reach": found.reach,
        "weights": weights,
        "distance": found.distance,
        "bound": found.bound,
        "gap": found.gap,
        "optimal": found.optimal,
        "stopped_by_time": found.clock,
        "attacks": found.rounds,
        "largest_move": float(np.abs(found.x - table.a).max(initial=0.0)),
        "moved": int((found.x != table.a).sum()),
    }


def quadratic(
    table: SensitiveTable, wanted: float | None, search: SearchOptions, tell: Tell
) -> tuple[Floats, dict[str, Fact]]:
    """The table (n) with sensitive cells rounded and the others adjusted, and the facts of the run.
    `wanted`: the base; None: the least.
    """
    base = base_for(table) if wanted is None else wanted
    found = round_quadratic(table, base, search, tell)
    if loose := np.flatnonzero(found.loose).tolist():
        names = ", ".join(table.name(i) for i in loose[:NAMED_CELLS]) + and_more(
            max(0, len(loose) - NAMED_CELLS)
        )
        one = len(loose) == 1
        does, would = ("total does", "it would tell") if one else ("totals do", "they would tell")
        tell(f"{len(loose)} {does} not stay, because {would} a sensitive cell: {names}")
    return found.x, {
        "base": base,
        "distance": found.distance,
        "set_distance": found.set_distance,
        "z": found.z,
        "cost": found.cost,
        "bound": found.bound,
        "sum_kept": found.sum_kept,
        "totals_kept": int((table.totals & ~found.loose).sum()),
        "totals_not_kept": int(found.loose.sum()),
        "optimal": found.optimal,
        "stopped_by_time": found.clock,
        "attacks": found.rounds,
        "moved": int((found.x != table.a).sum()),
    }


def publication_of(
    cells: InnerCells,
    max_order: int | None,
    crossings: Sequence[Sequence[str]] | None,
    formula: str | None,
    hierarchies: Mapping[str, CodeTree],
) -> Crossings:
    """What is published of inner cells: all crossings of at most so many dimensions, these, the
    terms of a formula, or else all.
    """
    if sum(stated is not None for stated in (max_order, crossings, formula)) > 1:
        raise InvalidInput(
            "--max-order, --crossings and --formula each define the publication. Remedy: give one of them"
        )
    if crossings is not None:
        return by_list(cells, [list(each) for each in crossings], hierarchies)
    if formula is not None:
        return by_formula(cells, formula, hierarchies)
    if max_order is not None:
        return by_order(cells, max_order, hierarchies)
    return by_hierarchies(cells, hierarchies)


@dataclass(frozen=True, repr=False)
class RoundResult(MovedTable):
    """A rounded table that adds up, verified and attacked. Confidential: `table`, which holds the true
    values; `loss`, `explain` and `plot`.
    """

    method: str
    facts: Mapping[str, Fact]
    levels: AttainableLevels | None = field(default=None, repr=False)

    @property
    def figures(self) -> Mapping[str, str]:
        told = {**lowered_cells(self.keyed.table), **disclosed_cells(self.levels)}
        return {**told, **super().figures}

    @cached_property
    def lowered(self) -> pd.DataFrame:
        """Confidential: as of what `suppress` returns."""
        return lowered_frame(self.levels, None)

    @property
    def not_judged(self) -> tuple[str, ...]:
        """As of what `suppress` returns."""
        return not_judged(self.levels)

    @property
    def title(self) -> str:
        return (
            f"{self.method} rounding, base {self.base:g}: {self.facts['moved']} of {len(self.x)} cells moved"
        )

    @property
    def base(self) -> float:
        return float(self.facts["base"] or 0.0)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Confidential: the dimensions, the true value, and ROUNDED."""
        return self.cells.frame(**{self.name: self.keyed.table.a, "ROUNDED": self.x})

    @property
    def loss(self) -> float:
        """Confidential: Σ w |x − a|; of the quadratic method √ Σ (x − a)²."""
        return float(self.facts["distance"] or 0.0)

    @property
    def bound(self) -> float | None:
        """Confidential: a lower bound of the loss; None for the quadratic method, whose
        bound is one of its adjustment.
        """
        return None if self.method == "quadratic" else min(float(self.facts["bound"] or 0.0), self.loss)

    def intervals(self) -> pd.DataFrame:
        """What a reader concludes of the true value of each cell: LOW and HIGH. Public: the base is, and
        how many of it a cell may move.
        """
        reach = float(self.facts.get("reach") or 1) * self.base
        table = self.keyed.table
        return self.cells.frame(
            LOW=np.maximum(self.x - reach, table.lb), HIGH=np.minimum(self.x + reach, table.ub)
        )

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        i, table = self.cells.find(cell), self.keyed.table
        moved = {0: "stayed", 1: "was rounded up", -1: "was rounded down"}[self.way(i)]
        why = (
            ("it keeps its protection levels against an attacker who knows the method",)
            if i in table.primaries
            else ()
        )
        return Explanation(
            self.cells.name(i), moved, (*why, "the table must add up, and all cells together move least")
        )


@checks_options
@keywords(
    RoundKeywords,
    missing="zero",  # a cell without a row is empty, and empty cells are rounded as all others
    zero_restricted=False,
    reach=4,
    weights="one",
    solver="highs",
    seconds=60.0,
    gap=1e-3,
    seed=None,
    attainable=False,
)
def round_table(
    df: Table,
    dims: Sequence[str],
    value: str = "VALUE",
    *,
    base: float | None = None,
    method: RoundingMethod = "controlled",
    progress: Progress = None,
    **options: Unpack[RoundKeywords],
) -> RoundResult:
    """A table rounded so that it still adds up and keeps the levels of its primary cells, also from those who
    are alone in a cell, where a column tells them.

    base             controlled: all cells become multiples of it; quadratic: sensitive cells do, others are
                     adjusted, and totals stay that tell no sensitive cell; None there: the least that the
                     levels allow.
    reach            controlled: how many multiples a cell may move at most; smaller numbers are tried first.
    zero_restricted  multiples stay.
    weights          controlled: what moving a cell by one costs: one, inverse (1/a), sqrt (1/√a); a value
                     below 1 counts as 1.
    seed             repeats a rounding; it must stay secret; random by default.
    attainable       lowers each level that is not kept where every cell may have any value, of each attacker
                     apart; see `lowered`.

    The rest, and what is raised, as for `suppress`.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> table = pd.DataFrame({"R": ["a", "a", "b", "b"], "C": ["x", "y", "x", "y"], "VALUE": [12, 7, 3, 8]})
    >>> found = sdc.round_table(table, ["R", "C"], base=5)
    >>> bool((found.public["VALUE"] % 5 == 0).all()), found.bound <= found.loss
    (True, True)
    """
    if base is None and method == "controlled":
        raise InvalidInput("controlled rounding needs a base. Remedy: give a number above 0, such as 5")
    if base is not None and not 0 < base < float("inf"):
        raise InvalidInput("the base is not a number above 0. Remedy: give one such as 5")
    keyed = table_with_respondents(rows_of(as_frame(df), CALLED), layout_of(dims, value, options))
    levels = attainable(keyed.table) if options["attainable"] else None
    if levels is not None:
        keyed = replace(keyed, table=levels.problem)
    limit, tell = Limit(options["seconds"]), teller(progress)
    search = SearchOptions(drawn_seed(options["seed"]), options["solver"], limit, options["gap"])
    if method == "controlled":
        assert base is not None
        x, facts = controlled(
            keyed.table,
            base,
            options["zero_restricted"],
            options["reach"],
            options["weights"],
            search,
            tell,
        )
    else:
        x, facts = quadratic(keyed.table, base, search, tell)
    return RoundResult(keyed, value, x, method, facts, levels)


@dataclass(frozen=True, repr=False)
class CountResult(Result):
    """Rounded counts. Confidential: `table`, which holds the true counts; `loss`, `explain` and `plot`."""

    rounded: RoundedCells = field(repr=False)

    @property
    def title(self) -> str:
        dummy = self.rounded.dummy
        return (
            f"small count rounding, base {self.rounded.options.base}: {dummy.published} "
            f"published cells of {len(dummy.cells)} inner ones"
        )

    @cached_property
    def cells(self) -> Cells:
        """The published cells."""
        return Cells.published(self.rounded.dummy)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Confidential: the dimensions, ORIGINAL and ROUNDED of every published cell."""
        return self.cells.frame(ORIGINAL=self.rounded.dummy.z, ROUNDED=self.rounded.published)

    @cached_property
    def public(self) -> pd.DataFrame:
        """The dimensions and ROUNDED of every published cell: no count in 1 … base − 1, additive,
        consistent.
        """
        return self.cells.frame(ROUNDED=self.rounded.published)

    @property
    def loss(self) -> float:
        """Confidential: the mean of |rounded − original| over the published cells."""
        return float(self._measures.mean)

    @property
    def bound(self) -> float | None:
        """None: the method proves none."""
        return None

    @cached_property
    def _measures(self) -> Any:
        return measures(self.rounded.dummy.z, self.rounded.published)

    @property
    def figures(self) -> Mapping[str, str]:
        found = self._measures
        return {"changed": f"{found.changed:,}", "largest change": f"{found.maximum:,}"}

    def intervals(self) -> pd.DataFrame:
        """What a reader who sees every rounded inner cell concludes of each published one: LOW and HIGH. An
        inner cell of 0 or of the base may have been rounded from any small count; each other one is original.
        """
        dummy, options, y = self.rounded.dummy, self.rounded.options, self.rounded.inner
        may = (y == 0) | (y == options.base)
        top = np.where(y == options.base, max(options.largest, options.base), options.largest)
        low, high = dummy.totals(np.where(may, 0, y)), dummy.totals(np.where(may, top, y))
        return self.cells.frame(LOW=low, HIGH=high)

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        i = self.cells.find(cell)
        moved = self.rounded.published[i] != self.rounded.dummy.z[i]
        why = (
            "small counts below it were rounded, so that no published count is in 1 … base − 1"
            if moved
            else "its parts, added up, kept their sum"
        )
        return Explanation(self.cells.name(i), "rounded" if moved else "original", (why,))

    def plot(self) -> Picture:
        """Tables 4 to 8 of [4]: how many published cells have which count, and how far they moved.
        Confidential.
        """
        require_tested("plot")
        from sdc_tasks.report.rounding_figures import plot_rounding

        told = frequencies(self.rounded), differences(self.rounded), differences(self.rounded, simple=True)
        return Picture(lambda image: plot_rounding(*told, image))


@checks_options
@keywords(
    CountKeywords,
    base=3,
    max_order=None,
    crossings=None,
    formula=None,
    quality="fast",
    max_round=None,
    zero_candidates=False,
    protect_zeros=False,
    leverage=False,
    rule_aware=False,
    drawn=DRAWN,
    seed=None,
)
def round_counts(
    df: Table,
    dims: Sequence[str],
    count: str | None = None,
    *,
    progress: Progress = None,
    **options: Unpack[CountKeywords],
) -> CountResult:
    """Counts rounded so that no published one is in 1 … base − 1, and all stay close, additive and consistent
    ([4]).

    df          microdata, a row for each record; with `count`, the column of counts, inner cells. No totals.
    max_order, crossings, formula: what is published: all crossings of at most so many dimensions,
                these, or the terms of ~(A+B)*C; else all.
    rule_aware  every small count moves, so that it keeps `base` candidates for somebody who runs the
                program on every table; for each one the seed decides with the chance `drawn` where it goes.
                For one publication of a table.
    seed        repeats a rounding; it must stay secret; random by default.

    The rest as for `sdc round-counts`; what is raised as for `suppress`.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> people = pd.DataFrame({"AGE": ["0", "0", "1", "1", "2"], "SEX": ["f", "m", "f", "m", "f"], "N": [1,
    ...         7, 2, 9, 12]})
    >>> found = sdc.round_counts(people, ["AGE", "SEX"], "N", base=3)
    >>> sorted(set(found.public["ROUNDED"]) & {1, 2}), len(found.public)
    ([], 11)
    """
    refuse_own(CALLED, dims, ("ORIGINAL", "ROUNDED", "LOW", "HIGH"))
    rows = rows_of(as_frame(df), CALLED)
    cells = counts_of(rows, list(dims), count).cells
    trees = code_trees(cells, options["hierarchy"])
    told = CountOptions(
        drawn_seed(options["seed"]),
        options["base"],
        options["quality"],
        options["max_round"],
        options["zero_candidates"],
        options["protect_zeros"],
        options["leverage"],
        rule_aware=options["rule_aware"],
        drawn=options["drawn"],
    )
    published = publication_of(cells, options["max_order"], options["crossings"], options["formula"], trees)
    return CountResult(round_cells(dummy_of(cells, published), told, progress=teller(progress)))


def code_trees(cells: InnerCells, hierarchies: Hierarchies | None) -> dict[str, CodeTree]:
    """The codes of each dimension with a hierarchy. Raises InvalidInput for one of no dimension."""
    trees = {
        name: together([_tree(name, each) for each in several(given)])
        for name, given in (hierarchies or {}).items()
    }
    if unknown := sorted(set(trees) - set(cells.dimensions)):
        raise InvalidInput(
            f"{unknown[0]}: a hierarchy of a dimension that is none. Remedy: name one of "
            f"{', '.join(cells.dimensions)}"
        )
    return trees


def _tree(name: str, given: object) -> CodeTree:
    if isinstance(given, str | Path):
        return read_hierarchy(Path(given))
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"the hierarchy of {name} is none. Remedy: give each code its parent, or a file, code,parent or "
            f".hrc"
        )
    pairs = tuple((code, parent) for code, parent in given.items() if parent is not None)
    return CodeTree(
        f"the hierarchy of {name}", pairs, tuple(code for code, parent in given.items() if parent is None)
    )
