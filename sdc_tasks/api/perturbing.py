"""The cell key method for records in a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from sdc_tasks.api.asked import checks_options
from sdc_tasks.api.frames import CALLED, Table, as_frame
from sdc_tasks.api.options import KeyedKeywords, PerturbKeywords, keywords
from sdc_tasks.api.progress import Progress, teller
from sdc_tasks.api.results import Cells, Explanation, Picture, Result
from sdc_tasks.api.rounding import code_trees, publication_of
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.keyed import refuse_own
from sdc_tasks.intake.tables.ptables import by_keys, by_probabilities, read_ptable
from sdc_tasks.intake.tables.records import UNKNOWN, KeyedCells, RecordColumns, keyed_cells, values_of
from sdc_tasks.intake.tables.rows import TextRows, rows_of
from sdc_tasks.methods.perturb.audit import CountBounds, narrowed, narrowed_from, origin_bounds
from sdc_tasks.methods.perturb.counts import PerturbedCells, perturb_cells, weighted
from sdc_tasks.methods.perturb.design import NoiseDesign, design_table
from sdc_tasks.methods.perturb.exact import MOST_EXACT, PossibleCounts, possible_values
from sdc_tasks.methods.perturb.grid import grid_codes, grid_of
from sdc_tasks.methods.perturb.ptable import PerturbationTable
from sdc_tasks.methods.perturb.values import NO_END, ValueNoise, sum_bounds, value_noise
from sdc_tasks.methods.rounding.small_count import Dummy, dummy_of
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    import pandas as pd

Noise = NoiseDesign | PerturbationTable | str | Path
OWN = ("ORIGINAL", "PERTURBED", "WEIGHTED", "PUBLISHED", "LOW", "HIGH", "CHOICES", "EXACT")


@dataclass(frozen=True, repr=False)
class PerturbResult(Result):
    """Perturbed counts. Confidential: `table`, which holds the true counts; `loss` and `explain`."""

    perturbed: PerturbedCells = field(repr=False)
    keyed: KeyedCells = field(repr=False)

    @property
    def title(self) -> str:
        cells = self.perturbed
        return f"cell key method: {len(cells.noise)} published cells of {len(cells.dummy.cells)} inner ones"

    @property
    def ptable(self) -> PerturbationTable:
        """The perturbation table. Who knows it does not know the keys."""
        return self.perturbed.table

    def write_ptable(self, path: str | Path, keys: int | None = None) -> None:
        """Writes the perturbation table, by probabilities as R ptable and τ-ARGUS have it, or by so many
        whole keys as the English office's package has it.
        """
        content = by_probabilities(self.ptable) if keys is None else by_keys(self.ptable, keys)
        Path(path).write_bytes(content)

    @cached_property
    def cells(self) -> Cells:
        """The published cells that somebody is in."""
        return Cells.published(self.perturbed.dummy)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Confidential: the dimensions, ORIGINAL and PERTURBED of every cell that somebody is in; WEIGHTED
        where there are weights: the perturbed count times the mean weight.
        """
        columns = {"ORIGINAL": self.perturbed.dummy.z, "PERTURBED": self.perturbed.published}
        return self.cells.frame(**columns, **self._weighted)

    @cached_property
    def public(self) -> pd.DataFrame:
        """The dimensions and PERTURBED of every cell that is not 0; every other cell is published as 0,
        whether somebody is in it or not: so no row is left of a cell that noise emptied.
        """
        shown = self.cells.frame(PERTURBED=self.perturbed.published, **self._weighted)
        return shown[shown["PERTURBED"] > 0].reset_index(drop=True)

    @property
    def _weighted(self) -> Mapping[str, object]:
        if self.keyed.weights is None:
            return {}
        return {"WEIGHTED": weighted(self.perturbed, self.keyed.weights)}

    @property
    def loss(self) -> float:
        """Confidential: the mean of |noise| over the cells that somebody is in."""
        return float(np.abs(self.perturbed.noise).mean())

    @property
    def bound(self) -> float | None:
        """None: nothing is minimised but what the table of noise tells."""
        return None

    @property
    def figures(self) -> Mapping[str, str]:
        return {"largest step": f"{self.ptable.largest}"}

    def intervals(self) -> pd.DataFrame:
        """What a reader who knows the perturbation table concludes of each published cell by itself: LOW and
        HIGH. What all cells tell together: `audit`.
        """
        shown = self.public
        low, high = origin_bounds(self.ptable, shown["PERTURBED"].to_numpy(dtype=np.int64))
        return shown.assign(LOW=low, HIGH=high)

    def audit(self, enumerate_counts: bool | None = None) -> PerturbAudit:
        """What `public` tells of every count to a reader who knows the perturbation table and that empty
        cells are published as 0. `enumerate_counts`: exactly, or by bounds that may be too wide; None:
        exactly where the grid has at most 250 cells. A cell whose enumeration takes too much work is judged
        by bounds: EXACT of `table` says of which it is so. Raises InvalidInput for a publication that is too
        large.
        """
        grid = grid_of(self.perturbed.dummy, self.perturbed.published)
        bounds = narrowed(grid, self.ptable)
        if enumerate_counts is None:
            enumerate_counts = len(grid.published) <= MOST_EXACT
        exact = possible_values(bounds, self.ptable) if enumerate_counts else None
        return PerturbAudit(self.perturbed.dummy, bounds, exact)

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        i = self.cells.find(cell)
        stays = self.perturbed.noise[i] == 0
        return Explanation(
            self.cells.name(i),
            "as counted" if stays else "perturbed",
            ("its noise follows from the keys of its records, and is the same in every table",),
        )

    def plot(self) -> Picture:
        """The perturbation table: for each count how likely each step is. Public."""
        require_tested("plot")
        from sdc_tasks.report.noise_figures import plot_noise

        return Picture(lambda image: plot_noise(self.ptable.rows[1:], image))


@dataclass(frozen=True, repr=False)
class PerturbAudit:
    """What perturbed counts tell. Confidential: `table`, because it says what can be told of whom."""

    dummy: Dummy = field(repr=False)
    bounds: CountBounds = field(repr=False)
    exact: PossibleCounts | None = field(repr=False)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The dimensions, PUBLISHED, LOW, HIGH, CHOICES and EXACT of every published cell, empty ones too:
        the least and the largest count that it may have, how many it may have, and whether all of them are
        possible; else they are bounds.
        """
        shown, frame = self.bounds.shown, _bounded(self.dummy, self.bounds)
        low, high = frame["LOW"].to_numpy(), frame["HIGH"].to_numpy()
        choices, exact = high - low + 1, np.zeros(len(frame), dtype=bool)
        if self.exact is not None:
            counts = [own for own, there in zip(self.exact.counts, shown.tolist(), strict=True) if there]
            low, high = np.array([own[0] for own in counts]), np.array([own[-1] for own in counts])
            choices = np.array([len(own) for own in counts])
            exact = np.array([c not in self.exact.undecided for c in np.flatnonzero(shown).tolist()])
        return frame.assign(LOW=low, HIGH=high, CHOICES=choices, EXACT=exact)

    @property
    def judged(self) -> str:
        """Of how many cells the counts are exact; no cell."""
        exact, cells = self.facts["judged_exactly"], self.facts["cells"]
        return f"exact for {exact} of {cells} cells" + ("" if exact == cells else ", bounds for the others")

    @property
    def told(self) -> pd.DataFrame:
        """Confidential: the cells whose count is told exactly."""
        table = self.table
        return table[table["CHOICES"] == 1].reset_index(drop=True)

    @cached_property
    def facts(self) -> Mapping[str, int | bool]:
        """How many cells are told; no cell."""
        told, table = self.told, self.table
        return {
            "cells": len(table),
            "enumerated": self.exact is not None,
            "judged_exactly": int(table["EXACT"].sum()),
            "told_exactly": len(told),
            "told_to_be_0": int((told["LOW"] == 0).sum()),
            "told_to_be_1": int((told["LOW"] == 1).sum()),
            "told_to_be_0_or_1": int((table["HIGH"] <= 1).sum()),
            "told_not_to_be_0_though_published_as_0": int(
                ((table["PUBLISHED"] == 0) & (table["LOW"] > 0)).sum()
            ),
        }

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"<audit of {facts['cells']} perturbed cells: {facts['told_exactly']} told exactly, "
            f"{facts['told_to_be_0_or_1']} told to be 0 or 1; {self.judged}>"
        )


def _bounded(dummy: Dummy, bounds: CountBounds) -> pd.DataFrame:
    """The dimensions, PUBLISHED, LOW and HIGH of every published cell, empty ones too."""
    import pandas as pd

    grid, shown = bounds.grid, bounds.shown
    codes = [grid_codes(dummy, block) for b, block in enumerate(grid.blocks) if grid.shows(b)]
    frame = pd.DataFrame(np.concatenate(codes), columns=list(dummy.cells.dimensions))
    low, high = bounds.low[shown].astype(np.int64), bounds.high[shown].astype(np.int64)
    return frame.assign(PUBLISHED=grid.published[shown], LOW=low, HIGH=high)


@checks_options
@keywords(
    PerturbKeywords,
    record=None,
    record_key=None,
    keys_below=None,
    count=None,
    weight=None,
    unknown=UNKNOWN,
    max_order=None,
    crossings=None,
    formula=None,
)
def perturb(
    df: Table,
    dims: Sequence[str],
    ptable: Noise,
    *,
    secret: str | None = None,
    progress: Progress = None,
    **options: Unpack[PerturbKeywords],
) -> PerturbResult:
    """Counts with the noise of the cell key method: the same people get the same noise in every table, and
    totals are not the sums of their parts.

    df          microdata, a row for each record; with `count` and `record_key`, inner cells with the sums of
                their records' keys. No totals.
    ptable      a perturbation table: designed, sdc.NoiseDesign(max_step=5, variance=3, js=2), or the file of
                one: by probabilities (R ptable, τ-ARGUS) or by keys (the English office's package).
    secret      64 hexadecimal digits, the same for all tables of a statistic: makes keys of the names of the
                records, and hides how keys add up. Whoever has it undoes the noise.
    record      the column of the records' names; each must keep its name in all tables.
    record_key  instead: the column of keys that were given, decimal numbers in [0, 1), or whole numbers below
                `keys_below` (else as many as a table by keys has).
    weight      survey weights; WEIGHTED is then the perturbed count times the mean weight of the cell.
    unknown     the code of records that have none: a category as any other.
    max_order, crossings, formula, hierarchy: what is published, as for `round_counts`.

    Raises InvalidInput, with row, column and remedy, for what cannot be read; never with a key or a count.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> people = pd.DataFrame({"ID": range(60), "AGE": ["0", "1", "2"] * 20, "SEX": ["f", "m"] * 30})
    >>> noise = sdc.NoiseDesign(max_step=3, variance=1.5, js=1)
    >>> found = sdc.perturb(people, ["AGE", "SEX"], noise, secret="1f" * 31 + "a0", record="ID")
    >>> len(found.public), bool((found.table["ORIGINAL"] - found.table["PERTURBED"]).abs().max() <= 3)
    (12, True)
    """
    return perturbed_rows(
        rows_of(as_frame(df), CALLED),
        dims,
        ptable,
        None if secret is None else secret_of(secret),
        options,
        progress,
    )


def secret_of(text: str) -> Secret:
    """Raises InvalidInput, which does not show it, for a secret that is none."""
    try:
        return Secret.of_hex(text.strip())
    except ValueError as error:
        raise InvalidInput(f"the secret is none: {error}. Remedy: draw one, openssl rand -hex 32") from None


def table_of(ptable: Noise) -> PerturbationTable:
    """The perturbation table that a caller means."""
    if isinstance(ptable, PerturbationTable):
        return ptable
    if isinstance(ptable, NoiseDesign):
        return design_table(ptable).table
    if isinstance(ptable, str | Path):
        return read_ptable(Path(ptable))
    raise InvalidInput(
        "ptable is no perturbation table. Remedy: give the name of its file, or "
        "sdc.NoiseDesign(max_step=5, variance=3)"
    )


def perturbed_rows(
    rows: TextRows,
    dims: Sequence[str],
    ptable: Noise,
    secret: Secret | None,
    options: PerturbKeywords,
    progress: Progress,
) -> PerturbResult:
    """The same of records that were read already."""
    refuse_own(rows.name, dims, OWN)
    tell, table = teller(progress), table_of(ptable)
    columns = RecordColumns(
        options["record"],
        options["record_key"],
        options["keys_below"] or table.keys,
        options["count"],
        options["weight"],
        options["unknown"],
    )
    keyed = keyed_cells(rows, list(dims), columns, secret)
    tell("published cells")
    dummy = published_cells(keyed, options)
    return PerturbResult(perturb_cells(dummy, keyed.keys, keyed.keying, table), keyed)


def published_cells(keyed: KeyedCells, options: KeyedKeywords) -> Dummy:
    """The cells that are to be published."""
    cells, trees = keyed.cells, code_trees(keyed.cells, options["hierarchy"])
    stated = options["max_order"], options["crossings"], options["formula"]
    return dummy_of(cells, publication_of(cells, *stated, trees))


@dataclass(frozen=True, repr=False)
class PerturbValuesResult(Result):
    """Perturbed sums of values. Confidential: `table`, which holds the true sums; `loss` and `explain`."""

    dummy: Dummy = field(repr=False)
    name: str
    asked: ValueNoise
    sums: Floats = field(repr=False)
    x: Floats = field(repr=False)
    decimals: int

    @property
    def title(self) -> str:
        return f"cell key method: {self.name} in {self.dummy.published} published cells"

    @cached_property
    def cells(self) -> Cells:
        """The published cells that somebody is in."""
        return Cells.published(self.dummy)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Confidential: the dimensions, the true sum, and PERTURBED."""
        return self.cells.frame(**{self.name: self.sums, "PERTURBED": self.x})

    @cached_property
    def public(self) -> pd.DataFrame:
        """The dimensions and the perturbed sum of every cell in which it is not 0."""
        shown = self.cells.frame(**{self.name: self.x})
        return shown[shown[self.name] > 0].reset_index(drop=True)

    @property
    def loss(self) -> float:
        """Confidential: the mean of |noise| over the published cells."""
        return float(np.abs(self.x - self.sums).mean())

    @property
    def bound(self) -> float | None:
        """None: nothing is minimised but what the noise tells."""
        return None

    def intervals(self) -> pd.DataFrame:
        """What a reader who knows the noise concludes of each published sum by itself: LOW and HIGH.
        Public.
        """
        shown = self.public
        low, high = sum_bounds(self.asked, self._units(shown[self.name].to_numpy(dtype=float)))
        return shown.assign(LOW=self._values(low), HIGH=self._values(high))

    def audit(self) -> PerturbValuesAudit:
        """What `public` tells of every sum to a reader who knows the noise, and that empty cells are
        published as 0: bounds through all sums. Raises InvalidInput for a publication that is too large.
        """
        grid = grid_of(self.dummy, self._units(self.x))
        alone = sum_bounds(self.asked, grid.shown_values)
        bounds, (low, high) = narrowed_from(grid, *alone), alone
        narrower = (bounds.low[bounds.shown] > low) | (bounds.high[bounds.shown] < high)
        frame = _bounded(self.dummy, bounds)
        values = {name: self._values(frame[name].to_numpy()) for name in ("PUBLISHED", "LOW", "HIGH")}
        return PerturbValuesAudit(frame.assign(**values), int(narrower.sum()))

    def _units(self, values: Floats) -> Ints:
        """Sums in units of their last decimal."""
        return np.rint(values * 10.0**self.decimals).astype(np.int64)

    def _values(self, units: Ints) -> Floats:
        return np.where(units >= NO_END, np.inf, units / 10.0**self.decimals)

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        i = self.cells.find(cell)
        why = "its noise follows from the keys and the largest contributions of its records"
        return Explanation(self.cells.name(i), "perturbed", (why,))

    def plot(self) -> Picture:
        """The noise: how likely each step is. Public."""
        require_tested("plot")
        from sdc_tasks.report.noise_figures import plot_noise

        return Picture(lambda image: plot_noise([self.asked.row], image))


@dataclass(frozen=True, repr=False)
class PerturbValuesAudit:
    """What perturbed sums tell. Confidential: `table`, the dimensions, PUBLISHED, LOW and HIGH of every
    published cell, empty ones too: no sum that the reader cannot exclude is outside of LOW … HIGH.
    `narrower`: how many cells other cells tell more of than their own published sum does.
    """

    table: pd.DataFrame = field(repr=False)
    narrower: int

    @cached_property
    def facts(self) -> Mapping[str, int]:
        """How many cells are told, and how closely; no cell."""
        low, high = (self.table[name].to_numpy(dtype=float) for name in ("LOW", "HIGH"))
        some, finite = high > 0, np.isfinite(high)
        middle = np.where(finite, (low + high) / 2, 1.0)

        def within(share: float) -> int:
            return int((some & finite & ((high - low) / 2 <= share * middle)).sum())

        return {
            "cells": len(self.table),
            "told_exactly": within(0),
            "told_to_be_0": int((~some).sum()),
            "told_within_1_percent": within(0.01),
            "told_within_10_percent": within(0.1),
            "told_more_of_by_other_cells": self.narrower,
        }

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"<audit of {facts['cells']} perturbed sums: {facts['told_exactly']} told exactly, "
            f"{facts['told_within_10_percent']} within 10 %>"
        )


@checks_options
@keywords(
    KeyedKeywords,
    record=None,
    record_key=None,
    keys_below=None,
    unknown=UNKNOWN,
    max_order=None,
    crossings=None,
    formula=None,
)
def perturb_values(
    df: Table,
    dims: Sequence[str],
    value: str,
    noise: ValueNoise,
    *,
    secret: str | None = None,
    progress: Progress = None,
    **options: Unpack[KeyedKeywords],
) -> PerturbValuesResult:
    """Sums of values with noise in proportion to their largest contributions: the same people, the same
    noise.

    df      microdata, a row for each record; values are numbers, 0 or more. No totals.
    value   the column of values. Sums are published with as many decimals as it has.
    noise   sdc.ValueNoise(share=0.1): the standard deviation, as a share of the largest contribution.

    The rest, and what is raised, as for `perturb`. Noise of several contributions needs a secret.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> firms = pd.DataFrame({"ID": range(40), "AREA": ["n", "s"] * 20, "TURNOVER": range(100, 140)})
    >>> noise = sdc.ValueNoise(share=0.1)
    >>> found = sdc.perturb_values(firms, ["AREA"], "TURNOVER", noise, secret="1f" * 31 + "a0", record="ID")
    >>> len(found.public), bool((found.table["TURNOVER"] - found.table["PERTURBED"]).abs().max() <= 42)
    (3, True)
    """
    return perturbed_values(
        rows_of(as_frame(df), CALLED),
        dims,
        value,
        noise,
        None if secret is None else secret_of(secret),
        options,
        progress,
    )


def perturbed_values(
    rows: TextRows,
    dims: Sequence[str],
    value: str,
    noise: ValueNoise,
    secret: Secret | None,
    options: KeyedKeywords,
    progress: Progress,
) -> PerturbValuesResult:
    """The same of records that were read already."""
    refuse_own(rows.name, [*dims, value], OWN)
    if value in dims:
        raise InvalidInput(f"{rows.name}: the column {value} is a dimension. Remedy: name a column of values")
    if not isinstance(noise, ValueNoise):
        raise InvalidInput("noise is no noise of values. Remedy: give sdc.ValueNoise(share=0.1)")
    if secret is None and len(noise.weights) > 1:
        raise InvalidInput(
            "noise of several contributions needs a place of its own for each. Remedy: give a secret, or "
            "one weight"
        )
    columns = RecordColumns(
        options["record"], options["record_key"], options["keys_below"], unknown=options["unknown"]
    )
    keyed = keyed_cells(rows, list(dims), columns, secret)
    values, decimals = values_of(rows, value)
    teller(progress)("published cells")
    dummy = published_cells(keyed, options)
    sums, moved = value_noise(dummy, keyed.which, values, keyed.record_keys, keyed.keying, noise, value)
    # digits that no record has would tell the noise
    x: Floats = np.maximum(sums + moved, 0.0).round(decimals)
    return PerturbValuesResult(dummy, value, noise, sums, x, decimals)
