"""The attacker who has the program: he runs it for the hidden tables that fit a publication, and
keeps those that give it again.

    tables      the hidden tables that fit: all of them where there are few, else the nearest one for a
    primary and a side remains     what the replays leave of each primary: all of it, or a sample with a bound
    left        what a publication by bases.rule_aware leaves each primary, from public figures (lack: what it
    would need) shown       the same, shown by tables that a second program can check pairing     replays
    against such a publication: two tables that are as far apart as both levels

The program comes as a function, because it lies above the attacker: it takes deviations of the hidden cells,
and returns what it would have published.
"""

from sdc_tasks.methods.attack.replay.remains import Program, Sampled, Support, sampled, support
from sdc_tasks.methods.attack.replay.replay_collisions import replay_collisions
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
