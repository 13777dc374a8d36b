"""The attackers: what they can compute about each primary cell from everything that is published (METHOD §2,
§5).

The modules, in the order in which an audit uses them:

    requirements    how much uncertainty each primary must keep, against each profile
    polyhedron      the tables that one attacker cannot tell from the truth (reduced by sdc_tasks.presolve;
                    vintage: earlier releases)
    knowledge       what the insiders of a profile know, how that narrows the polyhedron, and which attackers
                    a point fools
    targets         the requirements at their places in the polyhedron: what a prover has to prove
    proof_state     what has been proven about the targets so far
    prover          the order of the search: joint searches first, then target by target, batch by batch
    lp, milp        the two provers: linear programs; integer programs against attackers who know that values
                    are whole numbers
    weaker          the attackers with less than all that a profile knows, who must be judged beside the
                    strongest
    blocks          the parts of a large table that are searched first
    witness         the tables that prove a verdict, stored compactly
    proofs          the dual multipliers that prove an attack, as evidence
    auditing        the baseline, the audit, its report and its evidence, and how chunks of an audit are
                    merged

`auditing.audit` uses them in this order. The baseline is what the national tables alone protect: the same
audit with nothing published. `replay` is the attacker who has the program: he runs it for every hidden
table. Two modules stand apart: `small` (published figures that tell a small count) and `compositions` (what
several compositions tell together).

The profiles are defined in model/profiles. The code here names none of them except the external one.
"""

from sdc_tasks.methods.attack.auditing import Chunk, attacks, audit, baseline, integer_attacks, jointly, merge
from sdc_tasks.methods.attack.knowledge import Knowledge, knowledge_of
from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.lp.prover import Attack
from sdc_tasks.methods.attack.milp.prover import IntegerWitness, Shortfall
from sdc_tasks.methods.attack.milp.system import integer_slacks
from sdc_tasks.methods.attack.polyhedron import (
    AttackSystem,
    attack_system,
    contradicted,
    facing,
    refuse_mislabelled,
)
from sdc_tasks.methods.attack.requirements import Requirements, promised
from sdc_tasks.methods.attack.small import revealed_small_counts
from sdc_tasks.methods.attack.vintage import prior_releases
from sdc_tasks.methods.attack.weaker import unjudged, who

__all__ = [
    "Attack",
    "AttackSystem",
    "Attacker",
    "Chunk",
    "IntegerWitness",
    "Knowledge",
    "Requirements",
    "Shortfall",
    "attack_system",
    "attacks",
    "audit",
    "baseline",
    "contradicted",
    "facing",
    "integer_attacks",
    "integer_slacks",
    "jointly",
    "knowledge_of",
    "merge",
    "prior_releases",
    "promised",
    "refuse_mislabelled",
    "revealed_small_counts",
    "unjudged",
    "who",
]
