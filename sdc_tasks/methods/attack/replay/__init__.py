"""The attacker who has the program: he runs it for the hidden tables that fit a publication, and
keeps those that give it again.

    tables               the hidden tables that fit: all of them where there are few, else the nearest one for
                         a primary and a side
    remains              the uncertainty that replays leave each primary: exactly, or a sample with a bound
    residual             the uncertainty that a publication by bases.rule_aware leaves each primary, from
                         public figures; it uses outer_polytope (W), active_bounds and public
    width_deficit        what a publication that leaves too little would need
    shown                the witnesses of the residual uncertainty, for a second program to check
    collisions           replays against such a publication: two tables with the same publication that are
                         as far apart as both levels

The program comes as a function, because it lies above the attacker: it takes deviations of the hidden cells,
and returns what it would have published.
"""

from sdc_tasks.methods.attack.replay.collisions import replay_collisions
from sdc_tasks.methods.attack.replay.remains import Program, Sampled, Support, sampled, support
from sdc_tasks.methods.attack.replay.shown import widths, without_claim
from sdc_tasks.methods.attack.replay.tables import Fitting

__all__ = [
    "Fitting",
    "Program",
    "Sampled",
    "Support",
    "replay_collisions",
    "sampled",
    "support",
    "widths",
    "without_claim",
]
