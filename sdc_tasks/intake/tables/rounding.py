"""A JJ file as a table to be rounded."""

from __future__ import annotations

from sdc_tasks.intake.tables.jj import JJTable
from sdc_tasks.methods.rounding.table import RoundingTable


def of_jj(table: JJTable) -> RoundingTable:
    """A JJ table as one to be rounded."""
    p = table.primary
    return RoundingTable(
        table.A,
        table.rhs,
        table.a,
        table.lb,
        table.ub,
        table.fixed,
        p,
        table.lpl[p],
        table.upl[p],
        table.spl[p],
    )
