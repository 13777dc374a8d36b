"""The attacker who has the program: he runs it for the hidden tables that fit a publication, and keeps those that give it again.

    tables      the hidden tables that fit: all of them where there are few, else the nearest one for a primary and a side
    remains     what the replays leave of each primary: all of it, or a sample with a bound

The program comes as a function, because it lies above the attacker: it takes deviations of the hidden cells, and returns what it would have
published.
"""

from sdc_tasks.methods.attack.replay.remains import Program, Sampled, Support, sampled, support
from sdc_tasks.methods.attack.replay.tables import Fitting

__all__ = ["Fitting", "Program", "Sampled", "Support", "sampled", "support"]
