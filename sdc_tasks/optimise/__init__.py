"""What every search has: an incumbent, a bound, a gap, a history, an end by clock or by work."""

from sdc_tasks.optimise.cuts import Cut, CutPool, rows_of
from sdc_tasks.optimise.search import Search

__all__ = ["Cut", "CutPool", "Search", "rows_of"]
