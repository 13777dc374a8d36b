"""The attacker: what the world can compute about each primary cell from all that is published."""

from sdc_tasks.methods.attack.attacker import Attack, Attacker
from sdc_tasks.methods.attack.audit import attacks, audit, baseline, chunk, merge
from sdc_tasks.methods.attack.problem import AttackSystem, Requirements, attack_system, contradicted, facing, promised

__all__ = [
    "Attack",
    "AttackSystem",
    "Attacker",
    "Requirements",
    "attack_system",
    "attacks",
    "audit",
    "baseline",
    "chunk",
    "contradicted",
    "facing",
    "merge",
    "promised",
]
