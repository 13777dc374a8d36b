"""W: how far from one table the others reach that fit a publication, from public figures alone (METHOD §9,
Theorem 4).

W is first computed only as far as most primaries need. That is quick, and most of its bounds are tighter than
they could be. Where S turns out to be too narrow, `farther` relaxes its active bounds: each one becomes the
optimum of an LP, with the attack that proves it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.lp.prover import Attack
from sdc_tasks.methods.attack.replay.public import Public
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import FEASIBILITY

# Of the last decimal: an end of W is no farther than this from the bound that it counts as reaching. A
# requirement fails only if the attacker can reach the next representable value.
STEPS_AT_END = 0.1
BESIDE_OTHERS = 1.05  # times what one primary alone needs: the cuts of the others count too
End = tuple[int, int]  # side (−1 down, 1 up) and row of the needs


@dataclass(frozen=True, repr=False)
class LevelLine:
    """level_p(y_p) of the primaries, and its inverse."""

    slope: Floats
    least: Floats

    def __call__(self, y: Floats) -> Floats:
        return np.maximum(self.slope * np.where(self.slope > 0, y, 0.0), self.least)

    def above(self, low: Floats) -> Floats:
        """The least y with y − level(y) ≥ low; ∞ if there is none."""
        room = np.where(self.slope < 1, 1 - self.slope, np.nan)
        return np.where(self.slope < 1, np.maximum(low / room, low + self.least), np.inf)

    def below(self, high: Floats) -> Floats:
        """The largest y with y + level(y) ≤ high."""
        return np.minimum(high / (1 + self.slope), high - self.least)


class OuterPolytope:
    """W, the outer polytope, around a table `middle` that fits. Arrays (primaries,), unit of the data: `at`,
    their values in it; `low`, `high`, the ends of W; `top`, at least the largest value with which the
    publication passes the audit. `ended`: the attacks that end W, by side and row. `lps`: linear programs
    solved. `nation`: (lowest, highest) that the relations of the national tables allow.
    """

    def __init__(
        self,
        middle: ProtectionProblem,
        public: Public,
        needs: Requirements,
        publication: Publication,
        level: LevelLine,
        step: Floats,
        nation: tuple[Floats, Floats],
        seed: int,
    ) -> None:
        self.middle, self.level, self.step, self.nation = middle, level, step, nation
        self._needs, self._publication, self._seed = needs, publication, seed
        self.at = self.low = self.high = middle.a[needs.primaries]
        self._near = np.minimum(FEASIBILITY * (1 + self.at), STEPS_AT_END * step)
        self._lowest = np.minimum(nation[0], self.at)
        self._highest = np.maximum(np.minimum(nation[1], public.among(needs.primaries)[1]), self.at)
        cells = np.flatnonzero(middle.suppressed)
        self._bounds = tuple(each - middle.a[cells] for each in public.among(cells))
        self.top, self.ended, self.lps = level.below(self._highest), dict[End, Attack](), 0
        self._found = list[Floats]()

    @property
    def below_all(self) -> Bools:
        """Where W reaches the least value that the national tables allow."""
        return np.asarray(self.low <= self.nation[0] + self._near)

    @property
    def above_all(self) -> Bools:
        """Where W reaches the largest value that the national tables allow."""
        return np.asarray(self.high >= self.nation[1] - self._near)

    def reach(self, levels: float) -> None:
        """Asks W to reach down by so many levels, and up by what a primary needs then. If one side ends
        before, the other one is asked for as much as the primary needs beside it.
        """
        at, level, step, lowest = self.at, self.level, self.step, self._lowest
        down = np.minimum(levels * level(at) + 2 * step, at - lowest)
        up = self._up(np.where(down < at - lowest, level.above(at - down), lowest))
        self._ask(down, up)
        no_less, no_more = (
            self._ends(-1) | (self.low <= lowest + self._near),
            self._ends(1) | (self.high >= self._highest - self._near),
        )
        upper = np.where(self.above_all, self.high, level.below(self.high))
        beside = upper - BESIDE_OTHERS * 2 * level(self.top) - 2 * step
        more = np.clip(at - (beside - level(beside)), down, np.maximum(at - lowest, down))
        most = np.maximum(self._up(np.where(self.low <= lowest, lowest, level.above(self.low))), up)
        self._ask(
            np.where(no_more & ~no_less & (more > down), more, 0.0),
            np.where(no_less & ~no_more & (most > up), most, 0.0),
        )

    def farther(self, ends: Iterable[End]) -> bool:
        """Moves these ends as far as any table goes. False if all of them are there already."""
        down, up = np.zeros(len(self.at)), np.zeros(len(self.at))
        for side, row in ends:
            if (side, row) not in self.ended:
                asked, far = (down, self.at - self._lowest) if side < 0 else (up, self._highest - self.at)
                asked[row] = far[row]
        down[self.low <= self._lowest + self._near], up[self.high >= self._highest - self._near] = 0.0, 0.0
        return self._ask(down, up)

    def _ask(self, down: Floats, up: Floats) -> bool:
        """Asks W to reach so far from the middle, where that is above 0."""
        if not (down.any() or up.any()):
            return False
        attacker = Attacker(
            self.middle, replace(self._needs, down=down, up=up, slide=np.zeros(len(self.at))), self._seed
        )
        attacker.set_publication(self._publication)
        attacker.try_witnesses(self._found)
        attacker.prove_all()
        self.lps += attacker.lps
        self._found += [witness.dense(len(self._bounds[0])) for _, witness in attacker.witnesses()]
        reached = attacker.reached(by_tables=True)
        self.low = np.minimum(self.low, np.maximum(self.at - reached["down"], self._lowest))
        self.high = np.maximum(self.high, self.at + reached["up"])
        self.ended |= {(attack.side, attack.requirement): attack for attack in attacker.broken}
        above, most = (
            [attack for attack in attacker.broken if attack.side == 1],
            np.full(len(self.at), np.inf),
        )
        most[[attack.requirement for attack in above]] = attacker.at_most(above, *self._bounds)
        self.top = np.minimum(self.top, self.level.below(self.at + most))
        return True

    def _ends(self, side: int) -> Bools:
        """(primaries,): where an attack ends W on this side."""
        return np.isin(np.arange(len(self.at)), [row for way, row in self.ended if way == side])

    def _up(self, lower: Floats) -> Floats:
        """How far up from the middle W should reach, if S begins at `lower`."""
        at, level = self.at, self.level
        end = (
            np.maximum(lower + BESIDE_OTHERS * 2 * level(self.top), at) + 2 * self.step
        )  # ends are multiples of a step
        with np.errstate(invalid="ignore"):
            wanted = np.minimum(end + level(end), self._highest) - at
        return np.minimum(
            np.maximum(np.where(np.isfinite(wanted), wanted, 0.0), level(at)),
            np.maximum(self._highest - at, 0.0),
        )
