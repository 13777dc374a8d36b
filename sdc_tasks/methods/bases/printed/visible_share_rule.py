"""The visible-share rule: the sum of the visible countries instead of a total that must be withheld (METHOD
§4).

Let V be the sum of the member countries whose value is public, T the total, and s the share in the domain
file. If T is withheld, every member is at least 0, V > 0 and V ≥ s T, the table may print V, labelled as such
a sum. Everybody can compute V. But a printed V also tells T ≤ V / s:

    0 ≤ Σ hidden countries ≤ V (1/s − 1)

This may bring an attacker close to a hidden country, alone or together with other cells. So V is published as
the interval [V, V/s] of T, and the attacker has this interval. All possible sums are proposed at once. Each
attack that succeeds removes the sum that is worth least relative to its price in the attack, until no attack
succeeds. This ends: without any sum, the publication is the given safe one. The first removals may have been
unnecessary: this is a heuristic, not an optimum.

A cell that stays withheld also tells a little to somebody who knows the rule: V covers less
than s of T, or its sum would have helped an attacker. As with the choice of a base (METHOD
§4), the audit does not cover this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sdc_tasks.methods.attack import Attacker
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Floats
from sdc_tasks.model.tolerances import TINY


def proposed(problem: ProtectionProblem, publication: Publication, share: float) -> Publication:
    """The publication with the sum of the visible countries wherever the rule allows it, safe or not."""
    total = problem.visible_sums
    fit = (
        publication.withheld
        & ~problem.withheld[publication.cells]
        & (problem.a[publication.cells] <= np.nan_to_num(total / share, nan=-np.inf))
    )
    return replace(
        publication,
        value=np.where(fit, total, publication.value),
        covers=np.where(fit, share, publication.covers),
    )


def visible_share_rule(
    problem: ProtectionProblem,
    attacker: Attacker,
    publication: Publication,
    share: float,
    weights: Floats,
    progress: Callable[[str], None],
) -> Publication:
    """The safe publication with sums of visible countries in some of its withheld cells; it stays safe. 0 <
    share ≤ 1.

    `weights`: loss per unit of each aggregate cell; a sum V is worth weight · V.
    """
    proposal = proposed(problem, publication, share)
    count = int(proposal.visible.sum())
    while proposal.visible.any():
        attacker.set_publication(proposal)
        attacker.prove_all()
        broken = list(attacker.broken)
        if not broken:
            break
        for attack in broken:
            while proposal.visible.any() and (found := attacker.again(attack, proposal)) is not None:
                worth = weights[found.decided] * np.nan_to_num(proposal.value[found.decided])
                dear = np.where(
                    proposal.visible[found.decided], worth / np.maximum(np.abs(found.price), TINY), np.inf
                )
                leaned = proposal.cells == proposal.cells[found.decided[dear.argmin()]]
                # An attack that leans on none of them is at the edge of what counts as met without them.
                proposal = publication if np.isinf(dear).all() else proposal.without(leaned)
    progress(
        f"sums of the visible countries: {int(proposal.visible.sum())} of {count} that cover {share:.1%} "
        f"of a withheld total are safe"
    )
    return proposal
