"""Fixed-sense CTA with elastic protection: the start of the other methods, and the fallback that always has an answer.

With the senses σ fixed, CTA is the linear program

    min Σ w_i |z_i| + ρ Σ_p t_p / level_p   s.t.  A z = 0,  lower ≤ z ≤ upper,  σ_p z_p + t_p ≥ level_p(σ_p),  t ≥ 0.

A shortfall t > 0 names the senses that do not fit together. We start from random senses, let each LP propose better ones (the
sign of its z_p where the level is not met), flip what still falls short together with a few of its neighbours, and keep what
improves: iterated local search on one live model, in which only bounds change. All counts are fixed, so equal calls end equally.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem, Verdict, verify
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.lp import LiveLP

PENALTY = 1e3  # ρ, in median weights · units


@dataclass(frozen=True)
class Incumbent:
    """A table of deviations with what the verifier says of it."""

    z: Floats = field(repr=False)
    verdict: Verdict

    @property
    def rank(self) -> tuple[int, float]:
        """Smaller is better: first protection, then distance."""
        return self.verdict.unprotected, self.verdict.objective


def elastic(problem: CtaProblem, seconds: float, flips: int, seed: int, start: Floats | None = None) -> tuple[Incumbent, bool]:
    """The best table of `flips` rounds of local search from the senses of `start` (or from random ones), and whether the clock
    cut the search short.
    """
    search, neighbours = _Search(problem), _neighbours(problem)
    rng = np.random.default_rng(seed)
    deadline = time.monotonic() + seconds
    best = search.solve(rng.choice([-1, 1], len(problem.sensitive)) if start is None else problem.senses(start))
    for _ in range(flips):
        if time.monotonic() > deadline:
            return best, True
        sense = problem.senses(best.z)
        sense[_chosen(problem, best, neighbours, rng)] *= -1
        candidate = search.solve(sense)
        if candidate.rank <= best.rank:
            best = candidate
    return best, False


def polished(problem: CtaProblem, z: Floats) -> Incumbent:
    """The closest table with the senses of z, from our own LP: clean of a MILP solver's tolerances."""
    return _Search(problem).solve(problem.senses(z))


def _chosen(problem: CtaProblem, best: Incumbent, neighbours: sp.csr_array, rng: np.random.Generator) -> Ints:
    """Which senses to flip: around some of the cells that fall short while there are any, else around any cell."""
    moved = best.z[problem.sensitive]
    short = np.flatnonzero((moved < problem.upl * (1 - 1e-6)) & (moved > -problem.lpl * (1 - 1e-6)))
    centres = rng.choice(short, 1 + len(short) // 5, replace=False) if len(short) else rng.integers(len(moved), size=1)
    chosen = []
    for centre in centres:
        near = neighbours.indices[neighbours.indptr[centre] : neighbours.indptr[centre + 1]]
        chosen.append(rng.choice(near, size=rng.integers(1, 4)))
    return np.unique(np.concatenate(chosen))


def _neighbours(problem: CtaProblem) -> sp.csr_array:
    """(s, s): sensitive cells that share a relation, each its own neighbour too."""
    rows = sp.csr_array(abs(sp.csc_array(problem.A)[:, problem.sensitive]))
    return sp.csr_array(rows.T @ rows + sp.eye_array(len(problem.sensitive)))


class _Search:
    """The live elastic LP. Columns: z, |z| of the weighted cells, t⁺ and t⁻ of the sensitive ones."""

    def __init__(self, problem: CtaProblem) -> None:
        n, s = len(problem.cells), len(problem.sensitive)
        weighted = np.flatnonzero(problem.w)
        k = len(weighted)
        self._problem, self._n, self._s, self._k = problem, n, s, k
        pick = sp.csr_array((np.ones(s), (np.arange(s), problem.sensitive)), shape=(s, n))
        heavy = sp.csr_array((np.ones(k), (np.arange(k), weighted)), shape=(k, n))
        eye_s, eye_k = sp.eye_array(s), sp.eye_array(k)
        A = sp.block_array(
            [
                [problem.A, None, None, None],
                [heavy, eye_k, None, None],
                [-heavy, eye_k, None, None],
                [pick, None, eye_s, -eye_s],
            ],
            format="csr",
        )
        m = problem.A.shape[0]
        scale = 1.0 / np.median(problem.w[weighted]) if k else 1.0
        level = np.maximum(np.minimum(problem.lpl, problem.upl), 1e-9)
        self._rows = m + 2 * k + np.arange(s)
        self._short = n + k + np.arange(2 * s)
        inf = np.inf
        self._live = LiveLP(
            np.concatenate([np.zeros(n), problem.w[weighted] * scale, np.tile(PENALTY / level, 2)]),
            sp.csr_array(A),
            np.concatenate([np.zeros(m + 2 * k), np.full(s, -inf)]),
            np.concatenate([np.zeros(m), np.full(2 * k, inf), np.full(s, inf)]),
            np.concatenate([problem.lower, np.zeros(k + 2 * s)]),
            np.concatenate([problem.upper, np.full(k + 2 * s, inf)]),
        )

    def solve(self, sense: np.ndarray) -> Incumbent:
        up, problem = sense > 0, self._problem
        inf = np.inf
        self._live.set_row_bounds(self._rows, np.where(up, problem.upl, -inf), np.where(up, inf, -problem.lpl))
        self._live.set_bounds(self._short, np.zeros(2 * self._s), np.concatenate([np.where(up, inf, 0.0), np.where(up, 0.0, inf)]))
        z = np.clip(self._live.solve().x[: self._n], problem.lower, problem.upper)
        return Incumbent(z, verify(problem, z))
