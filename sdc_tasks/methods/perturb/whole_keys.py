"""A row of probabilities as whole numbers of keys, for programs that look noise up by a whole cell key."""

from __future__ import annotations

import math

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.perturb.ptable import NoiseRow


def in_keys(row: NoiseRow, keys: int) -> list[tuple[int, int]]:
    """(step, number of its keys) for each interval of a row, in its order: Σ numbers = keys, and Σ number ·
    step as near to keys · mean as whole numbers can be, so a row without bias has none; among these the least
    Σ (number − keys · p)². By dynamic programming over the intervals: the least cost of each (keys used, sum
    of steps) so far. Raises InvalidInput where there are fewer keys than intervals.
    """
    steps, wanted = row.steps.tolist(), (row.p * keys).tolist()
    if keys < len(steps):
        raise InvalidInput(
            f"{keys} keys are fewer than the {len(steps)} intervals of a count. Remedy: more keys"
        )
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {(0, 0): (0.0, ())}
    for step, want in zip(steps, wanted, strict=True):
        grown: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {}
        for (used, moment), (cost, path) in best.items():
            for many in range(max(0, math.floor(want) - 1), math.floor(want) + 3):
                place = used + many, moment + many * step
                spent = cost + (many - want) ** 2
                if place[0] <= keys and (place not in grown or (spent, (*path, many)) < grown[place]):
                    grown[place] = spent, (*path, many)
        best = grown
    aim = round(row.mean * keys)
    whole = {moment: found for (used, moment), found in best.items() if used == keys}
    nearest = min(whole, key=lambda moment: (abs(moment - aim), whole[moment]))
    return list(zip(steps, whole[nearest][1], strict=True))
