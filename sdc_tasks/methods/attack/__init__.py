"""The attacker: what the world can compute about each primary cell from all that is published."""

from sdc_tasks.methods.attack.audit import Attack, attacks, audit, baseline, chunk, merge
from sdc_tasks.methods.attack.problem import AttackSystem, Requirements, attack_system, contradicted, promised

__all__ = [
    "Attack",
    "AttackSystem",
    "Requirements",
    "attack_system",
    "attacks",
    "audit",
    "baseline",
    "chunk",
    "contradicted",
    "merge",
    "promised",
]
