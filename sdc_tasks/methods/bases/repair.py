"""Repair of a choice of bases, driven by the audit (METHOD §4).

For a fixed primary the attacker's reach is concave in the slacks `low_k high_k` that the published intervals leave around the
true values. An attack that succeeds therefore gives a cut that every safe choice satisfies,

    need ≤ reach + Σ_k price⁺_k (high_k − high⁰_k) + Σ_k price⁻_k (low_k − low⁰_k),

its prices being the dual values of the aggregate rows. Repair raises bases at least loss until all cuts found so far hold, audits,
and goes on until nothing is broken; it ends, because every raise moves a cell towards withheld, and withholding everything is the
baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack.attacker import MET, Attack, Attacker
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.table import Floats, Ints

Progress = Callable[[str], None]
ENDLESS = 1e30  # stands for the slack of a withheld cell


class Cuts:
    """What attacks have taught so far: for each cut, need ≤ rest + Σ high·high_k + Σ low·low_k over some cells."""

    def __init__(self, ladder: Ladder) -> None:
        self._low, self._high = np.minimum(ladder.low, ENDLESS), np.minimum(ladder.high, ENDLESS)
        self.short: list[float] = []  # need − rest
        self.terms: list[tuple[Ints, Floats, Floats]] = []  # cells, prices of high, prices of low

    def learn(self, broken: Sequence[Attack], choice: Ints) -> None:
        """Adds the cut that each attack on the publication of `choice` proves."""
        for attack in broken:
            high, low = np.maximum(attack.price, 0.0), np.maximum(-attack.price, 0.0)
            k = attack.decided
            leaned = float(high @ self._high[k, choice[k]] + low @ self._low[k, choice[k]])
            self.short.append(attack.need - attack.reach + leaned)
            self.terms.append((k, high, low))

    def missing(self, choice: Ints) -> Floats:
        """How much the choice falls short of each cut, as a share of it; ≤ 0 where it holds."""
        given = np.array([h @ self._high[k, choice[k]] + w @ self._low[k, choice[k]] for k, h, w in self.terms])
        short = np.array(self.short)
        return np.asarray((short - given) / np.maximum(short, 1e-300))

    def gain(self, cell: int, high: float, low: float) -> Floats:
        """What each option of a cell gives to a cut with these prices."""
        return np.asarray(high * self._high[cell] + low * self._low[cell])


def repair(attacker: Attacker, ladder: Ladder, choice: Ints, rounds: int, progress: Progress) -> Ints:
    """A safe choice, nowhere below the given one. What still fails after `rounds` audits is withheld, cell by cell."""
    choice, cuts = choice.copy(), Cuts(ladder)
    everything = np.arange(len(attacker.needs.primaries))
    open_, audits = everything, 0
    while len(open_):
        attacker.face(ladder.publication(choice))
        attacker.settle(open_)
        broken = attacker.broken
        audits += 1
        progress(f"audit {audits}: {len(broken)} of {2 * len(open_)} requirements broken")
        if not broken:  # what held before may have broken since: a raised interval need not contain the one before
            open_ = everything if len(open_) < len(everything) else open_[:0]
            continue
        open_ = np.unique([attack.primary for attack in broken])
        cuts.learn(broken, choice)
        if audits < rounds:
            _satisfy(cuts, ladder, choice)
        else:
            _withhold(broken, ladder, choice)
    return choice


def _satisfy(cuts: Cuts, ladder: Ladder, choice: Ints) -> None:
    """Raises bases until every cut holds, the largest shortfall first."""
    for c in np.argsort(-cuts.missing(choice), kind="stable"):
        cells, high, low = cuts.terms[c]
        gains = [cuts.gain(int(k), h, w) for k, h, w in zip(cells, high, low, strict=True)]
        while (missing := cuts.short[c] - sum(g[choice[k]] for g, k in zip(gains, cells, strict=True))) > MET * cuts.short[c]:
            _raise_one(cells, gains, ladder, choice, missing)


def _raise_one(cells: Ints, gains: Sequence[Floats], ladder: Ladder, choice: Ints, missing: float) -> None:
    """The raise that costs least per unit of what is still missing."""
    best = (np.inf, -1, -1)
    for k, given in zip(cells.tolist(), gains, strict=True):
        gain = np.minimum(given - given[choice[k]], missing)
        loss = np.maximum(ladder.loss[k] - ladder.loss[k, choice[k]], 1e-300)
        upwards = (np.arange(len(gain)) > choice[k]) & (gain > 0)
        ratio = np.where(upwards, loss / np.where(upwards, gain, 1.0), np.inf)
        option = int(ratio.argmin())
        if ratio[option] < best[0]:
            best = (float(ratio[option]), k, option)
    if best[1] < 0:
        raise Unprotectable("bases: an attack leans on no aggregate cell that could be raised further")
    choice[best[1]] = best[2]


def _withhold(broken: Sequence[Attack], ladder: Ladder, choice: Ints) -> None:
    """The last resort: withholds every cell that a successful attack leans on."""
    if any((choice[attack.decided] == ladder.withheld).all() for attack in broken):
        raise Unprotectable("bases: a requirement is broken although every aggregate cell it leans on is withheld")
    for attack in broken:
        choice[attack.decided] = ladder.withheld
