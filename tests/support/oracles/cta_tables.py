"""Plain arithmetic on adjusted tables, in data units, and tables whose closest table is known beforehand.

Nothing of the project is used but its frozen type: what the engine says of its own tables is what is tested.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem
from support.oracles.cta import enumerate_senses
from support.oracles.cta import table as relations_of

RELATIVE = 1e-6  # what an adjusted table may be off by: a relation by its largest term, a level by itself


def faults(problem: CtaProblem, z: np.ndarray, protected: bool = True) -> list[str]:
    """What keeps deviations z (in units) from being a table, or a protected one; in data units, the
    long way round. Nothing: a table.
    """
    d, nothing = z * problem.unit, RELATIVE * _smallest(np.append(problem.lpl, problem.upl)) * problem.unit
    found = [] if np.isfinite(d).all() else ["a deviation is no number"]
    for number, row in enumerate(problem.A.toarray()):
        terms = row * d
        if not abs(terms.sum()) <= max(RELATIVE * np.abs(terms).max(initial=0.0), nothing):
            found.append(f"relation {number} does not add up")
    for cell, (low, value, high) in enumerate(
        zip(problem.lower * problem.unit, d, problem.upper * problem.unit, strict=True)
    ):
        slack = max(RELATIVE * abs(value), nothing)
        if not low - slack <= value <= high + slack:
            found.append(f"cell {cell} leaves its bounds")
    for p, lpl, upl in zip(
        problem.sensitive, problem.lpl * problem.unit, problem.upl * problem.unit, strict=True
    ):
        if protected and not (d[p] >= upl * (1 - RELATIVE) or d[p] <= -lpl * (1 - RELATIVE)):
            found.append(f"cell {p} is not protected")
    return found


def distance(problem: CtaProblem, z: np.ndarray) -> float:
    """Σ w|z| in weight · data units."""
    return float(
        sum(
            weight * abs(value)
            for weight, value in zip(problem.w.tolist(), (z * problem.unit).tolist(), strict=True)
        )
    )


def _smallest(levels: np.ndarray) -> float:
    return float(levels[levels > 0].min(initial=np.inf)) if (levels > 0).any() else 1.0


def by_hand(
    rows: str,
    w: list[float],
    sensitive: dict[int, tuple[float, float]],
    lower: float | list[float] = -np.inf,
    upper: float | list[float] = np.inf,
) -> CtaProblem:
    """A problem in units of 1; a relation a line, such as "1 1 -1 0"; `sensitive`: cell → (lpl, upl)."""
    A = np.array([[float(entry) for entry in row.split()] for row in rows.strip().splitlines()])
    n = A.shape[1]
    levels = np.array(list(sensitive.values()), dtype=float).reshape(-1, 2)
    return CtaProblem(
        unit=1.0,
        cells=np.arange(n),
        A=sp.csr_array(A),
        w=np.array(w, dtype=float),
        lower=np.broadcast_to(np.asarray(lower, dtype=float), n).copy(),
        upper=np.broadcast_to(np.asarray(upper, dtype=float), n).copy(),
        sensitive=np.array(list(sensitive), dtype=int),
        lpl=levels[:, 0],
        upl=levels[:, 1],
    )


@dataclass(frozen=True)
class Known:
    """Arguments of `table_problem` for a table, and the optimum of Σ w|z| in data units."""

    A: sp.csr_array
    a: np.ndarray
    w: np.ndarray
    sensitive: np.ndarray
    level: np.ndarray
    optimum: float


def blocks(sizes: list[float], seed: int, secret: int = 3, power: float = 1.0) -> Known:
    """One 2 × 2 table with margins for each size, values 1 to 10 times that size, w = 1/a^power, levels of 10
    %.

    They share no relation, so that the optimum is the sum of theirs: each found by
    trying all senses in its own unit.
    """
    rng = np.random.default_rng(seed)
    A = relations_of("grid", (2, 2, 0))
    values, weights, cells, levels, best = [], [], [], [], 0.0
    for number, size in enumerate(sizes):
        inner = np.round(rng.uniform(1, 10, (2, 2)), 3)
        small = np.block(
            [[inner, inner.sum(axis=1, keepdims=True)], [inner.sum(axis=0, keepdims=True), inner.sum()]]
        ).ravel()
        p = np.sort(rng.choice(9, secret, replace=False))
        level, w = np.round(0.1 * small[p], 3), (small * size) ** -power
        found = enumerate_senses(A, w * size, -small, np.full(9, np.inf), p, level, level)
        assert found is not None
        best += found
        values.append(small * size)
        weights.append(w)
        cells.append(p + 9 * number)
        levels.append(level * size)
    return Known(
        sp.csr_array(sp.block_diag([A] * len(sizes))),
        np.concatenate(values),
        np.concatenate(weights),
        np.concatenate(cells),
        np.concatenate(levels),
        best,
    )


def random_cube(extents: tuple[int, int, int], seed: int) -> Known:
    """Three lines crossed with all their margins; values 0 to 1000, a fifth of those above 0
    sensitive. The optimum is not known.
    """
    return _crossed(extents, seed, 0.2)


def random_grid(extents: tuple[int, int], seed: int) -> Known:
    """Two lines crossed, two fifths sensitive."""
    return _crossed(extents, seed, 0.4)


def _crossed(extents: tuple[int, ...], seed: int, share: float) -> Known:
    rng = np.random.default_rng(seed)
    full = rng.integers(1, 1000, extents).astype(float) * (rng.random(extents) < 0.85)
    for axis in range(full.ndim):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    numbers = np.arange(full.size).reshape(full.shape)
    fibres = [
        fibre
        for axis, length in enumerate(full.shape)
        for fibre in np.moveaxis(numbers, axis, 0).reshape(length, -1).T
    ]
    A = sp.lil_array((len(fibres), full.size))
    for row, fibre in enumerate(fibres):
        A[row, fibre[:-1]], A[row, fibre[-1]] = 1.0, -1.0
    a = full.ravel()
    filled = np.flatnonzero(a > 0)
    p = np.sort(rng.choice(filled, int(share * len(filled)), replace=False))
    return Known(sp.csr_array(A), a, 1 / np.maximum(a, 1.0), p, 0.1 * a[p], np.nan)
