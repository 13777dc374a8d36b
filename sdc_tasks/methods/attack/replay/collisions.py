"""Replays against a rule-aware program (METHOD §9, Theorem 4): two tables that are as far apart at a
primary as both its levels together.

By Theorem 1 no rule keeps a level on each side of every value. What bases.rule_aware claims is a width, and
two tables with the same publication prove it. They are looked for within the window of
`residual_uncertainty`, in which a publication should pass the audit for every table.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from sdc_tasks.methods.attack.replay.remains import Program, Sampled
from sdc_tasks.methods.attack.replay.residual import Window
from sdc_tasks.methods.attack.replay.tables import Fitting
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats


def replay_collisions(
    fitting: Fitting,
    problem: ProtectionProblem,
    needs: Requirements,
    window: Window | None,
    program: Program,
    most: int,
    seed: int,
) -> Sampled:
    """Looks for two such tables for at most `most` primaries, drawn without repetition from those
    that their national tables protect.

    `window`: that of `residual_uncertainty`. `sides` of the result are these primaries. `none`: no two such
    tables are on the grid; `kept`: both give the publication. A primary that is not kept is not broken for
    that: other tables may give the same publication.
    """
    among = [fitting] if window is None else [_within_window(fitting, problem, needs, window), fitting]
    wide = np.flatnonzero(~needs.cut)
    drawn = np.sort(np.random.default_rng(seed).permutation(wide)[:most])
    none = kept = 0
    for row in drawn.tolist():
        found = shown = False
        for fits, share in product(among, _shares(problem, needs, window, row)):
            width = float(needs.down[row] + needs.up[row])
            ends = [
                _table(fits, int(needs.primaries[row]), away)
                for away in (-share * width, (1 - share) * width)
            ]
            if any(z is None for z in ends):
                continue
            found = True
            if shown := all(program(z) > 0 for z in ends if z is not None and z.any()):
                break
        none, kept = none + (not found), kept + shown
    return Sampled(len(wide), len(drawn), none, kept)


def _table(fits: Fitting, cell: int, away: float) -> Floats | None:
    return np.zeros(len(fits.cells)) if away == 0 else fits.nearest(cell, away)


def _shares(problem: ProtectionProblem, needs: Requirements, window: Window | None, row: int) -> list[float]:
    """Shares of the width that lie below the truth, first the one for which the truth is one of the
    two tables and nearer to its end.
    """
    below = 0.5
    if (
        window is not None
        and np.isfinite(window.lower[row])
        and np.isfinite(window.upper[row])
        and window.upper[row] > window.lower[row]
    ):
        at = float(problem.a[needs.primaries[row]])
        below = float(np.clip((at - window.lower[row]) / (window.upper[row] - window.lower[row]), 0.0, 1.0))
    near = min((0.0, 1.0), key=lambda share: abs(share - below))
    return [near, below, 1.0 - near, 0.5]


def _within_window(
    fitting: Fitting, problem: ProtectionProblem, needs: Requirements, window: Window
) -> Fitting:
    """The tables in which each primary is in the window, or no farther out than in the truth."""
    column = np.searchsorted(fitting.cells, needs.primaries)
    at, step = problem.a[needs.primaries], fitting.step[column]
    lower, upper = fitting.lower.copy(), fitting.upper.copy()
    lower[column] = np.maximum(lower[column], np.minimum((window.lower - at) / step, 0.0))
    upper[column] = np.minimum(upper[column], np.maximum((window.upper - at) / step, 0.0))
    return replace(fitting, lower=lower, upper=upper)
