"""The attackers: what the world can compute about each primary cell from all that is published (METHOD §2, §5).

The walk of an audit, and which room answers which question:

    requirements    what is asked of a release: how far off each primary must stay possible, against each profile
    polyhedron      what one attacker cannot tell from the truth (presolve: its exact reduction; vintage: what earlier releases add)
    knowledge       what the insiders of a profile know, what that imposes on the polyhedron, and whom a point fools
    items           the requirements at their places in that polyhedron: what a prover is asked
    ledger          what has been shown of them so far
    prover          the order of the search: joint searches first, then item by item, lot by lot
    lp, milp        the two provers: by linear programs; and by integer ones, against who knows that values are whole numbers
    blocks          the parts of a large table in which to look first
    witness         the tables that prove a verdict, held compactly
    auditing        the baseline, the audit, its report and its evidence, and how chunks of it are joined

`auditing.audit` goes through them in this order. What the national tables alone protect, the baseline, is the same walk with nothing
published. Beside it stand `small` (what tells a small count) and `compositions` (what several compositions tell together).

Who the profiles are is told in model/profiles; nothing here names one but the public.
"""

from sdc_tasks.methods.attack.auditing import attacks, audit, baseline, merge, whole_attacks
from sdc_tasks.methods.attack.knowledge import Knowledge, knowledge_of
from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.lp.prover import MET, Attack
from sdc_tasks.methods.attack.milp.prover import Shortfall, Whole
from sdc_tasks.methods.attack.milp.system import whole_slacks
from sdc_tasks.methods.attack.polyhedron import AttackSystem, attack_system, contradicted, facing, mislabelled
from sdc_tasks.methods.attack.requirements import Requirements, promised
from sdc_tasks.methods.attack.small import small_told
from sdc_tasks.methods.attack.vintage import earlier

__all__ = [
    "MET",
    "Attack",
    "AttackSystem",
    "Attacker",
    "Knowledge",
    "Requirements",
    "Shortfall",
    "Whole",
    "attack_system",
    "attacks",
    "audit",
    "baseline",
    "contradicted",
    "earlier",
    "facing",
    "knowledge_of",
    "merge",
    "mislabelled",
    "promised",
    "small_told",
    "whole_attacks",
    "whole_slacks",
]
