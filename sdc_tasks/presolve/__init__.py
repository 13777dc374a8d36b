"""Presolve: relations say the same with fewer unknowns, and there is an exact way back.

    reduction   fix what a relation determines, tie what a relation makes proportional: z = T u
    rows        relations that say something, each once
    network     whether relations are those of a network, and with which ends

Every method that solves models over {z : M z = 0, low ≤ z ≤ high} starts here: the attacker of releases,
cell suppression, CTA. The judges do not: they have their own.
"""

from sdc_tasks.presolve.reduction import Reduction, fix_and_tie
from sdc_tasks.presolve.rows import distinct_rows

__all__ = ["Reduction", "distinct_rows", "fix_and_tie"]
