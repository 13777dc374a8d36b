"""What remains of each primary for somebody who runs the program for every hidden table (METHOD §9).

For a table y that fits the publication P, let chance(y) be the chance that the program publishes P for y,
over its secret key. Without a key the chance is 0 or 1.

    support of a primary p    the values y_p of the tables with chance(y) > 0
    width                     of the support: largest less smallest value
    odds                      likeliest over unlikeliest value of the support; a value is
                              as likely as its tables together
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.attack.replay.tables import Fitting
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import FEASIBILITY

Program = Callable[
    [Floats], float
]  # deviations (suppressed cells,) of a table → the chance that the program publishes P for it


@dataclass(frozen=True)
class Support:
    """What all replays left of each primary; arrays (primaries,), values as deviations from the truth.
    Confidential.

    `fit`: tables that fit the publication; `tables` of them have a chance. `low high`: the ends of the
    support; `low_fit high_fit`: of the values that fit, which is what an audit promises. `values`: how many
    values the support has. `odds`: as above; 1 for a single value. `down up`: the levels that the primary
    needs below and above the truth.
    """

    cells: Ints = field(repr=False)
    fit: int
    tables: int
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    low_fit: Floats = field(repr=False)
    high_fit: Floats = field(repr=False)
    values: Ints = field(repr=False)
    odds: Floats = field(repr=False)
    down: Floats = field(repr=False)
    up: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("cells", "low", "high", "low_fit", "high_fit", "values", "odds", "down", "up"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def width(self) -> Floats:
        return np.asarray(self.high - self.low)

    @property
    def broken(self) -> Bools:
        """(primaries,): the support ends nearer to the truth than a level."""
        return np.asarray(
            (-self.low < self.down * (1 - FEASIBILITY)) | (self.high < self.up * (1 - FEASIBILITY))
        )

    @property
    def narrow(self) -> Bools:
        """(primaries,): the support is narrower than both levels together."""
        return np.asarray(self.width < (self.down + self.up) * (1 - FEASIBILITY))


def support(problem: ProtectionProblem, needs: Requirements, tables: Floats, program: Program) -> Support:
    """The support of each primary, from every table that fits. `needs`: with one row for each primary.
    `tables` (tables, suppressed cells): deviations. Raises ValueError if the program does not give the
    publication for the truth: then this is not what it published.
    """
    columns = np.searchsorted(np.flatnonzero(problem.suppressed), needs.primaries)
    chance = np.array([program(z) for z in tables])
    truth = np.flatnonzero((tables == 0).all(axis=1))
    if len(truth) != 1 or chance[truth[0]] <= 0:
        raise ValueError("the program does not give this publication for the true table")
    kept = tables[chance > 0]
    odds, values = np.ones(len(columns)), np.ones(len(columns), dtype=np.int64)
    for i, column in enumerate(columns.tolist()):
        each, at = np.unique(np.round(kept[:, column], 9), return_inverse=True)
        likely = np.bincount(at, chance[chance > 0])
        odds[i], values[i] = likely.max() / likely.min(), len(each)
    return Support(
        cells=needs.primaries,
        fit=len(tables),
        tables=len(kept),
        low=kept[:, columns].min(axis=0),
        high=kept[:, columns].max(axis=0),
        low_fit=tables[:, columns].min(axis=0),
        high_fit=tables[:, columns].max(axis=0),
        values=values,
        odds=odds,
        down=needs.down,
        up=needs.up,
    )


@dataclass(frozen=True)
class Sampled:
    """What a sample of replays shows. A side of a primary is one of its two levels.

    `sides`: how many there are, of which `asked` were drawn; for `none` of these is there a nearest table on
    the grid; `kept`: the program gives the same publication for the nearest table, which proves the side
    against somebody who has the program.
    """

    sides: int
    asked: int
    none: int
    kept: int

    def at_least(self, confidence: float = 0.95) -> float:
        """The share of all sides that are proven in this way, at least, with this confidence
        (Clopper and Pearson, one-sided).
        """
        from scipy.special import betaincinv  # a tenth of a second, which no release needs

        return (
            0.0 if not self.kept else float(betaincinv(self.kept, self.asked - self.kept + 1, 1 - confidence))
        )

    def at_most(self, confidence: float = 0.95) -> float:
        """The same, at most."""
        from scipy.special import betaincinv

        return (
            1.0
            if self.kept == self.asked
            else float(betaincinv(self.kept + 1, self.asked - self.kept, confidence))
        )


def sampled(fitting: Fitting, needs: Requirements, program: Program, most: int, seed: int) -> Sampled:
    """Replays the nearest table of at most `most` sides, drawn without repetition.
    `needs`: with one row for each primary.

    A side that is not kept is not broken for that: another table may give the same publication. Points
    drawn evenly from all that fits (hit-and-run) would show nothing: they change every hidden cell at once,
    and so the publication of some cell.
    """
    level = np.concatenate([-needs.down, needs.up])
    cells = np.tile(needs.primaries, 2)
    real = np.flatnonzero(level != 0)
    drawn = np.sort(np.random.default_rng(seed).permutation(real)[:most])
    none = kept = 0
    for at in drawn.tolist():
        z = fitting.nearest(int(cells[at]), float(level[at]))
        none += z is None
        kept += z is not None and program(z) > 0
    return Sampled(len(real), len(drawn), none, kept)
