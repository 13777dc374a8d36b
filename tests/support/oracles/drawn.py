"""What laws draw from a drawn release: respondents, options, an adjustment, counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.methods.attack import Requirements, baseline, blocks, polyhedron
from sdc_tasks.methods.bases.ladder import Ladder, ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.cta.fallback import climb
from sdc_tasks.methods.cta.model import CtaProblem, release_problem
from sdc_tasks.methods.cta.options import RungOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.model.weights import Weights, aggregate_weights
from support.oracles.attack import Draw


def with_respondents(draw: Draw) -> ProtectionProblem:
    """The drawn release, some of its suppressed cells with a single unit, some with two."""
    p = draw.problem
    kind = draw.rng.choice([0, 1, 2], p.space.size, p=[0.3, 0.4, 0.3])
    kind[~p.suppressed | (p.a <= 0) | (p.lb < 0)] = 0
    return replace(p, known=np.select([kind == 1, kind == 2], [p.a, p.a / 2], np.nan))


@contextmanager
def divided(parts: bool) -> Iterator[None]:
    """Even a small table is divided into parts, of a few columns each, and points are
    checked by the columns that they move.
    """
    with ExitStack() as changed:
        if parts:
            changed.enter_context(patch.object(blocks, "LARGE_COLUMNS", 6))
            changed.enter_context(patch.object(blocks, "SMALL_COLUMNS", 2))
            changed.enter_context(patch.object(polyhedron, "FEW_MOVED", 1.0))
        yield


OPTIONS = BasesOptions(maximum_relative_base=0.5)


def quiet(message: str) -> None:
    """Nothing is said."""


def drawn_domain(**bases: object) -> Domain:
    """A domain with the indicators that releases are drawn with."""
    sbs = load_domain("sbs")
    (turnover,) = sbs.indicators
    wages = turnover.model_copy(update={"code": "WAGES", "label": "Wages"})
    return sbs.model_copy(
        update={"indicators": (turnover, wages), "bases": BasesOptions.model_validate(bases)}
    )


def ladder(problem: ProtectionProblem, options: BasesOptions = OPTIONS) -> Ladder:
    return ladder_of(problem, 1 / np.maximum(np.abs(problem.a[problem.aggregate]), 1), options)


def a_choice(draw: Draw, options: Ladder) -> np.ndarray:
    return draw.rng.integers(0, options.withheld + 1, len(options.cells))


def model(draw: Draw, weights: Weights = Weights.ONE) -> tuple[CtaProblem, Requirements, np.ndarray]:
    """The CTA of a drawn release with at least one primary, its requirements, and the
    weights of its aggregate cells.
    """
    assume(draw.problem.primary.any())
    requirements, _ = baseline(draw.problem, ("external",))
    weight = aggregate_weights(draw.problem, weights)
    return release_problem(draw.problem, requirements, weight), requirements, weight


def step(
    problem: ProtectionProblem, cta: CtaProblem, rung: RungOptions, before: Adjustment | None = None
) -> Adjustment:
    return climb(cta, problem.a, rung, 1, before or Adjustment())


ACTIVITY = Hierarchy("ACTIVITY", ("TOTAL", "A", "A1", "A2", "B"), (None, "TOTAL", "A", "A", "TOTAL"))
SIZE = Hierarchy("SIZE", ("_T", "S", "L"), (None, "_T", "_T"))
COMPOSITIONS = (
    (("P", "QRST"), ("W", "QR")),
    (("P", "QRST"),),
    (("P", "QRS"), ("W", "RST")),
    (("P", "QRST"), ("W", "QR"), ("V", "RS")),
)


@st.composite
def counts(draw: st.DrawFn) -> tuple[ProtectionProblem, int]:
    """Counts of four countries. What is public is so for whole branches, as nobody
    publishes totals above what is hidden.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    compositions = tuple(
        Aggregate(code, tuple(members)) for code, members in draw(st.sampled_from(COMPOSITIONS))
    )
    space = CellSpace(tuple("QRST"), compositions, ("N",), (ACTIVITY, SIZE))
    leaves = rng.poisson(draw(st.sampled_from([0.5, 2.0, 8.0])), (4, 3, 2)).astype(float)
    hidden = rng.random(leaves.shape) < draw(st.sampled_from([1.0, 0.5]))
    table, closed = (_whole(each) for each in (leaves, np.where(leaves > 0, hidden, 0).astype(float)))
    national = table.reshape(4, -1)
    totals = [
        national[[space.countries.index(c) for c in each.members]].sum(axis=0) for each in space.aggregates
    ]
    a = np.concatenate([table.ravel(), *totals])
    base = draw(st.sampled_from([2, 3, 5, 10]))
    public = np.concatenate([closed.ravel() == 0, np.zeros(len(a) - table.size, dtype=bool)])
    inside = np.arange(len(a)) < table.size
    primary = inside & ~public & (a > 0) & (a < base)
    zero = np.zeros(len(a))
    problem = ProtectionProblem(
        space,
        a,
        zero,
        np.full(len(a), np.inf),
        zero,
        zero,
        np.where(primary, base - 1.0, 0.0),
        public,
        primary,
        ("drawn",),
        integral=np.ones(len(a), dtype=bool),
        least=np.full(len(a), base),
    )
    return problem, base


def _whole(leaves: np.ndarray) -> np.ndarray:
    """(countries, activities, sizes) with totals; A1, A2, B are the leaves."""
    a1, a2, b = (leaves[:, i] for i in range(3))
    lines = np.stack([a1 + a2 + b, a1 + a2, a1, a2, b], axis=1)
    return np.concatenate([lines.sum(axis=2, keepdims=True), lines], axis=2)
