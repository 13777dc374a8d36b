"""Small count rounding: [4] Langsrud, Heldal, *An Algorithm for Small Count Rounding of Tabular Data*, PSD
2018.

Some inner cells of a table of counts are rounded to multiples of a base, so that no published cell holds a
small count and all published cells stay close to their true counts. Published cells are sums of rounded inner
cells, so they are additive and consistent.
"""

from sdc_tasks.methods.rounding.small_count.algorithm import CountOptions, RoundedCells, round_counts
from sdc_tasks.methods.rounding.small_count.cells import InnerCells, inner_cells
from sdc_tasks.methods.rounding.small_count.dummy import Dummy, dummy_of
from sdc_tasks.methods.rounding.small_count.hierarchy import WILD, CodeTree, together
from sdc_tasks.methods.rounding.small_count.inner import Steps
from sdc_tasks.methods.rounding.small_count.publication import (
    Crossings,
    by_formula,
    by_hierarchies,
    by_list,
    by_order,
)

__all__ = [
    "WILD",
    "CodeTree",
    "CountOptions",
    "Crossings",
    "Dummy",
    "InnerCells",
    "RoundedCells",
    "Steps",
    "by_formula",
    "by_hierarchies",
    "by_list",
    "by_order",
    "dummy_of",
    "inner_cells",
    "round_counts",
    "together",
]
