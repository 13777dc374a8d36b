"""What every search has: an incumbent, a bound, a gap, a history, an end by clock or by work; the attacker of
what it proposes, and the cuts that he gives.
"""

from sdc_tasks.optimise.attacker import CheapestWitness, LinearAttacker, Pushed
from sdc_tasks.optimise.cuts import Cut, CutPool, rows_of
from sdc_tasks.optimise.search import Search

__all__ = ["CheapestWitness", "Cut", "CutPool", "LinearAttacker", "Pushed", "Search", "rows_of"]
