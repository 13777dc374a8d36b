"""The attacker: what the world can compute about each primary cell from all that is published."""

from sdc_tasks.methods.attack.attacker import Attack, Attacker
from sdc_tasks.methods.attack.audit import attacks, audit, baseline, merge, whole_attacks
from sdc_tasks.methods.attack.integer import IntegerAttacker, Shortfall, Whole, whole_slacks
from sdc_tasks.methods.attack.knowledge import Knowledge, knowledge_of
from sdc_tasks.methods.attack.problem import AttackSystem, Requirements, attack_system, contradicted, facing, promised
from sdc_tasks.methods.attack.small import small_told
from sdc_tasks.methods.attack.vintage import earlier

__all__ = [
    "Attack",
    "AttackSystem",
    "Attacker",
    "IntegerAttacker",
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
    "promised",
    "small_told",
    "whole_attacks",
    "whole_slacks",
]
