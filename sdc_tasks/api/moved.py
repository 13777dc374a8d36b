"""The part that results share in which every cell has another value: adjusted, or rounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sdc_tasks.api.results import Cells, Picture, Result, made_consistent
from sdc_tasks.intake.tables.keyed import KeyedTable
from sdc_tasks.model.table import Floats
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class MovedTable(Result):
    """`keyed`: the true table. `name`: its column of values. `x` (n): the value that each cell
    has instead.
    """

    keyed: KeyedTable = field(repr=False)
    name: str
    x: Floats = field(repr=False)

    @cached_property
    def cells(self) -> Cells:
        return Cells(self.keyed.dimensions, self.keyed.keys)

    @cached_property
    def public(self) -> pd.DataFrame:
        """The table with the new values: every cell has one, and it adds up."""
        return self.cells.frame(**{self.name: self.x})

    @property
    def figures(self) -> Mapping[str, str]:
        return made_consistent(self.keyed.consistent)

    def way(self, cell: int) -> int:
        """1 where a cell went up, −1 where it went down, 0 where it stayed."""
        return int(np.sign(self.x[cell] - self.keyed.table.a[cell]))

    def plot(self) -> Picture:
        """Figure 1 of [1]: how far each cell moved, in decades; a row for each code of
        the first dimension. Confidential.
        """
        require_tested("plot")
        from sdc_tasks.report.cta_figures import plot_deviations

        rows = list(dict.fromkeys(key[0] for key in self.keyed.keys))
        z = (self.x - self.keyed.table.a).reshape(len(rows), -1)
        label = f"{z.shape[1]} cells of each {self.keyed.dimensions[0]}"
        return Picture(lambda image: plot_deviations(z, rows, label, "the table's unit", image))
