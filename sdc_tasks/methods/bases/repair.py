"""Repair of a choice of bases, driven by the audit (METHOD §4).

An attack that succeeds gives a cut that every safe choice satisfies (`cut.py`),

    need ≤ reach + Σ_k price⁺_k (high_k − high⁰_k) + Σ_k price⁻_k (low_k − low⁰_k).

Repair takes the attacks one by one: it raises bases at least loss until the cut holds, attacks again from where it stands, and goes on
until the attack fails; then the next, which meets the bases already raised. Cells of one stratum rise together. A full audit follows,
because a raised interval need not contain the one before. It ends: every raise moves a cell towards withheld, and withholding everything
is the baseline.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.attacker import MET, Attack, Attacker
from sdc_tasks.methods.bases.cut import Cut, cut_of, slack_of
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.table import Floats, Ints

Progress = Callable[[str], None]


class Stuck(Unprotectable):
    """An attack succeeds although no aggregate cell that it leans on may be raised any further."""

    def __init__(self, attack: Attack) -> None:
        super().__init__("bases: an attack succeeds although no aggregate cell that it leans on may be raised any further")
        self.decided = attack.decided


def repair(attacker: Attacker, ladder: Ladder, choice: Ints, rounds: int, progress: Progress, cuts: list[Cut]) -> Ints:
    """A safe choice, nowhere below the given one. What still fails at audit number `rounds` is withheld, cell by cell.

    The cuts of all attacks that succeed on the way are appended to `cuts`.
    """
    choice = choice.copy()
    audits = 0
    while True:
        attacker.face(ladder.publication(choice))
        attacker.settle()
        audits += 1
        broken = list(attacker.broken)
        cuts += [cut_of(attack, attacker.needs, ladder, choice) for attack in broken]
        progress(f"audit {audits}: {len(broken)} requirements broken")
        if not broken:
            return choice
        for attack in broken:
            while (found := attacker.again(attack)) is not None:
                cuts.append(cut_of(found, attacker.needs, ladder, choice))
                if audits < rounds:
                    _raise(found, ladder, choice)
                else:
                    _withhold(found, ladder, choice)
                attacker.shift(ladder.publication(choice))


def _raise(attack: Attack, ladder: Ladder, choice: Ints) -> None:
    """Raises bases until the cut of the attack holds, each time the one that costs least per unit of what is still missing."""
    cells, price = attack.decided, attack.price
    slack = slack_of(ladder, cells, price)
    more = np.abs(price)[:, None] * (slack - slack[np.arange(len(cells)), choice[cells]][:, None])
    gains: dict[int, Floats] = {}
    for k, by_option in zip(cells.tolist(), more, strict=True):
        gains[k] = gains.get(k, 0.0) + by_option
    given = dict.fromkeys(gains, 0.0)
    while (missing := attack.need - attack.reach - sum(given.values())) > MET * attack.need:
        best = (np.inf, -1, -1)
        for k, all_gains in gains.items():
            gain = np.minimum(all_gains - given[k], missing)
            loss = np.maximum(ladder.dearer(k, choice), 1e-300)
            upwards = (np.arange(len(gain)) > choice[k]) & (gain > 0)
            upwards &= np.isfinite(loss)
            ratio = np.where(upwards, loss / np.where(upwards, gain, 1.0), np.inf)
            option = int(ratio.argmin())
            if ratio[option] < best[0]:
                best = (float(ratio[option]), k, option)
        _, k, option = best
        if k < 0:
            raise Stuck(attack)
        for raised in ladder.together(k, option, choice).tolist():
            choice[raised] = option
            if raised in gains:
                given[raised] = float(gains[raised][option])


def _withhold(attack: Attack, ladder: Ladder, choice: Ints) -> None:
    """The last resort: withholds every cell that a successful attack leans on."""
    free = attack.decided[np.isfinite(ladder.loss[attack.decided, ladder.withheld]) & (choice[attack.decided] < ladder.withheld)]
    if not len(free):
        raise Stuck(attack)
    choice[free] = ladder.withheld
