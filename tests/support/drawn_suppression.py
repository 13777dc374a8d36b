"""Small random suppression problems: crossed trees, and two tables that share a margin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from sdc_tasks.model.sensitive import SensitiveTable

TREES = {"flat": {0: [1, 2]}, "wide": {0: [1, 2, 3]}, "deep": {0: [1, 2], 2: [3, 4]}}


def relations(*trees: dict[int, list[int]]) -> tuple[tuple[int, ...], sp.csr_array]:
    """The shape and the relations of a table crossed from trees; position 0 is a total."""
    shape = tuple(1 + max(max(parts) for parts in tree.values()) for tree in trees)
    cells = np.arange(int(np.prod(shape))).reshape(shape)
    rows = []
    for axis, tree in enumerate(trees):
        lines = np.moveaxis(cells, axis, -1).reshape(-1, shape[axis])
        for line in lines:
            for total, parts in tree.items():
                row = np.zeros(cells.size)
                row[line[total]], row[line[parts]] = -1.0, 1.0
                rows.append(row)
    return shape, sp.csr_array(np.array(rows))


def filled(trees: tuple[dict[int, list[int]], ...], inner: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    grid = np.zeros(shape)
    leaves = [[i for i in range(size) if i not in tree] for size, tree in zip(shape, trees, strict=True)]
    grid[np.ix_(*leaves)] = inner[: int(np.prod([len(each) for each in leaves]))].reshape(
        [len(each) for each in leaves]
    )
    for axis, tree in enumerate(trees):
        lines = np.moveaxis(grid, axis, 0)
        for total in sorted(tree, reverse=True):
            lines[total] = lines[tree[total]].sum(axis=0)
    return grid.ravel()


@st.composite
def problems(draw: st.DrawFn, kinds: tuple[str, ...], general: bool = True) -> SensitiveTable:
    """Random values, zeros among them; levels of some to many percent; sliding levels,
    singletons, signed tables now and then.
    """
    trees = tuple(TREES[kind] for kind in kinds)
    shape, M = relations(*trees)
    n = int(np.prod(shape))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    signed = general and draw(st.booleans())
    inner = rng.integers(-40 if signed else 0, 200, size=n).astype(float) * (rng.random(n) > 0.15)
    a = filled(trees, inner, shape)
    primary = (rng.random(n) < 0.25) & (a != 0)
    level = np.abs(a) * rng.uniform(0.05, 0.6, size=n)
    spl = np.abs(a) * rng.uniform(0.0, 2.0, size=n) * draw(st.sampled_from([0.0, 1.0]))
    lone = primary & (rng.random(n) < 0.3) & draw(st.booleans())
    most = 3 * np.abs(a).max(initial=1.0)
    problem = SensitiveTable(
        M,
        a,
        np.full(n, -most if signed else 0.0),
        np.full(n, most),
        level * rng.uniform(0.2, 1, n),
        level,
        spl,
        cost=np.round(np.abs(a) ** draw(st.sampled_from([0.0, 0.5, 1.0])), 1),
        primary=primary,
        fixed=~primary & (a == 0),
        singleton=lone,
    )
    if not (lone.any() and draw(st.booleans())):
        return problem
    few = rng.integers(0, 2, size=n)  # two respondents, each behind several cells
    guarded = np.where(rng.random(n) < 0.6, rng.integers(0, 3, size=n), -1)  # a third one is alone nowhere
    problem = replace(problem, respondent=np.where(lone, few[problem.respondents], -1), guarded=guarded)
    if draw(st.booleans()):
        return problem
    next_ones = np.where(lone, 0.0, level * rng.uniform(0.1, 1, (2, n)) * (rng.random((2, n)) < 0.5))
    return replace(problem, beside=next_ones, beside_guarded=rng.integers(0, 3, size=(2, n)))


@st.composite
def linked(draw: st.DrawFn) -> SensitiveTable:
    """Two tables, A × B and A × C, that share the margin of A: the column of totals is one and the same."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    trees = (TREES["wide"], TREES["flat"])
    shape, M = relations(*trees)
    n = int(np.prod(shape))
    first = filled(trees, rng.integers(0, 100, size=n).astype(float), shape).reshape(shape)
    second = np.zeros(shape)
    part = np.floor(first[1:, 0] * rng.random(shape[0] - 1))
    second[1:, 1], second[1:, 2] = part, first[1:, 0] - part
    second[0] = second.sum(axis=0)
    second[:, 0] = first[:, 0]
    place = np.concatenate(
        [np.arange(n), np.arange(n)]
    )  # cells of the second table: its totals are those of the first
    others = np.flatnonzero(np.arange(n) % shape[1] != 0)
    place[n + others] = n + np.arange(len(others))
    both = sp.block_diag([M, M], format="csr")
    joined = sp.csr_array((np.ones(2 * n), (np.arange(2 * n), place)), shape=(2 * n, n + len(others)))
    a = np.concatenate([first.ravel(), second.ravel()[others]])
    primary = (rng.random(len(a)) < 0.2) & (a != 0)
    level = np.abs(a) * rng.uniform(0.05, 0.4, size=len(a))
    none = np.zeros(len(a))
    return SensitiveTable(
        sp.csr_array(both @ joined),
        a,
        none,
        none + 3 * a.max(initial=1.0),
        level,
        level,
        none,
        cost=a,
        primary=primary,
        fixed=a == 0,
    )
