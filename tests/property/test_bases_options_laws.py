"""What a domain may ask of its bases beyond safety: no idle coarseness, one base per stratum, values that add
up.

All judged by the oracle: its relations, its LPs, and here its box of what a publication implies.
"""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_tasks import pipeline
from sdc_tasks.methods.attack import Attacker, baseline
from sdc_tasks.methods.bases.ladder import Ladder, ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.printed.additive import additive
from sdc_tasks.methods.bases.printed.implied import implied, tighten_to_implied_intervals
from sdc_tasks.methods.bases.printed.possible import possible
from sdc_tasks.methods.bases.search.repair import repair
from sdc_tasks.methods.bases.strata import strata_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from support.laws import law
from support.oracles.attack import ColdAttacker, Draw, reaches, relation_rows, releases, shares
from support.oracles.drawn import drawn_domain

LAW = law(60)
FEW = law(30)


def quiet(message: str) -> None:
    """Nothing is said."""


def ladder(problem: ProtectionProblem, most: float = 0.5) -> Ladder:
    return ladder_of(
        problem,
        1 / np.maximum(np.abs(problem.a[problem.aggregate]), 1),
        BasesOptions(maximum_relative_base=most),
    )


def any_choice(draw: Draw, options: Ladder) -> np.ndarray:
    return draw.rng.integers(0, options.withheld + 1, len(options.cells)) * draw.rng.choice(
        [0, 1], len(options.cells)
    )


def safe_choice(draw: Draw, options: Ladder) -> np.ndarray:
    requirements, _ = baseline(draw.problem, ("external",))
    return repair(
        Attacker(draw.problem, requirements), options, options.even(any_choice(draw, options)), 60, quiet, []
    )


def chosen(problem: ProtectionProblem, **bases: object) -> Publication:
    requirements, _ = baseline(problem, ("external",))
    return pipeline.choose_bases(problem, requirements, Adjustment(), drawn_domain(**bases))


# --- no cell coarser than what the others tell of it --------------------------------------------------------


def farthest(problem: ProtectionProblem, publication: Publication, cell: int, side: int) -> float:
    """How far an aggregate cell may lie from its truth by all that is published: one cold LP."""
    half = publication.base / 2
    value = np.where(np.isinf(half), problem.a[publication.cells], publication.value)
    truth = problem.a[publication.cells]
    attacker = ColdAttacker(
        problem,
        np.minimum(truth - (value - half), truth - problem.lb[publication.cells]),
        value + half - truth,
    )
    return attacker.reach(cell, side)


@LAW
@given(releases())
def test_the_box_contains_every_table_that_the_world_cannot_tell_from_the_truth(draw):
    options = ladder(draw.problem, 10.0)
    choice = any_choice(draw, options)
    low, high = implied(draw.problem, options, choice)
    publication = options.publication(choice)
    for k in draw.rng.permutation(len(choice))[:4]:
        cell = int(publication.cells[k])
        for box, side in ((low[k], -1), (high[k], 1)):
            assert box >= farthest(draw.problem, publication, cell, side) - 1e-6


@LAW
@given(releases(sliding=False), st.sampled_from([0.5, 10.0]))
def test_sharpening_a_safe_publication_leaves_it_safe_and_loses_no_more(draw, most):
    options = ladder(draw.problem, most)
    choice = safe_choice(draw, options)
    sharper = tighten_to_implied_intervals(draw.problem, options, choice)
    assert (
        options.loss[np.arange(len(choice)), sharper] <= options.loss[np.arange(len(choice)), choice]
    ).all()
    assert shares(draw.problem, options.publication(sharper)).min(initial=1) >= 1 - 1e-4


@LAW
@given(releases())
def test_sharpening_lets_the_attacker_come_no_closer(draw):
    """Whether safe or not: every table that he could not tell from the truth, he cannot tell afterwards."""
    options = ladder(draw.problem, 10.0)
    choice = any_choice(draw, options)
    before = reaches(draw.problem, options.publication(choice))
    after = reaches(
        draw.problem, options.publication(tighten_to_implied_intervals(draw.problem, options, choice))
    )
    room = 1e-6 * (1 + np.where(np.isinf(before), 0.0, before))
    assert (after >= np.where(np.isinf(before), 1e9, before) - room).all()


# --- one base per stratum -----------------------------------------------------------------------------------


def stratum_keys(problem: ProtectionProblem, by: dict[str, str]) -> list[tuple[object, ...]]:
    """(composition, indicator, level or code of each hierarchy named), cell by cell, from the keys alone."""
    space = problem.space
    found = []
    for cell in np.flatnonzero(problem.aggregate).tolist():
        area, indicator, *codes = space.key(cell).split(".")
        told: list[object] = [area, indicator]
        for hierarchy, code in zip(space.hierarchies, codes, strict=True):
            pairs = [*zip(hierarchy.parent, hierarchy.codes, strict=True)]
            pairs += [(total, part) for total, parts in hierarchy.sums for part in parts]
            level, up = -1, {code}  # the longest way up
            while up:
                level, up = level + 1, {total for total, part in pairs if part in up and total is not None}
            told.append({"code": code, "level": level}.get(by.get(hierarchy.dimension, "")))
        found.append(tuple(told))
    return found


def hides(problem: ProtectionProblem) -> np.ndarray:
    """Has the aggregate cell a member that is not public? By the oracle's relations."""
    first = int(np.flatnonzero(problem.aggregate)[0])
    told = np.zeros(problem.space.size, dtype=bool)
    for total, parts in relation_rows(problem.space):
        if total >= first and all(part < first for part in parts):
            told[total] = not problem.public[parts].all()
    return told[first:]


BY = st.sampled_from(
    [{}, {"ACTIVITY": "level"}, {"ACTIVITY": "level", "SIZECLASS": "code"}, {"ACTIVITY": "code"}]
)
RULES = st.sampled_from(["cta", "minimum-uncertainty"])


@LAW
@given(releases(sliding=False), BY, RULES, st.sampled_from([0.5, 10.0]))
def test_a_stratum_has_one_base_and_is_safe(draw, by, rule, most):
    problem = draw.problem
    publication = chosen(problem, rule=rule, strata=by, maximum_relative_base=most)
    assert shares(problem, publication).min(initial=1) >= 1 - 1e-4
    bases: dict[tuple[object, ...], set[float]] = {}
    for key, base, secret in zip(
        stratum_keys(problem, by), publication.base.tolist(), hides(problem).tolist(), strict=True
    ):
        if secret and np.isfinite(base):
            bases.setdefault(key, set()).add(base)
    assert all(len(found) == 1 for found in bases.values())


@FEW
@given(releases(sliding=False), BY)
def test_a_stratum_costs_what_its_cells_lose_together(draw, by):
    """What repair takes for the price of an option is the difference of the losses of the two choices."""
    problem = draw.problem
    options = ladder(problem).in_strata(
        strata_of(problem, by, np.zeros(int(problem.aggregate.sum()), dtype=bool))
    )
    choice = options.even(any_choice(draw, options))
    for k in draw.rng.permutation(len(choice))[:3].tolist():
        if choice[k] < options.withheld:
            for option in range(int(choice[k]) + 1, options.withheld + 1):
                raised = choice.copy()
                raised[options.together(k, option, choice)] = option
                more = options.loss_of(raised) - options.loss_of(choice)
                np.testing.assert_allclose(options.dearer(k, choice)[option], more, rtol=1e-9, atol=1e-9)


# --- values that add up -------------------------------------------------------------------------------------


def published_sums(problem: ProtectionProblem, publication: Publication) -> list[Fraction]:
    """By how much each relation inside a composition misses, where all its cells are published:
    exactly, of two decimals as printed.
    """
    first = int(publication.cells[0])
    value = {
        int(cell): f"{value:.2f}"
        for cell, value in zip(publication.cells, publication.value.tolist(), strict=True)
        if not np.isnan(value)
    }
    rows = [
        (total, parts)
        for total, parts in relation_rows(problem.space)
        if total >= first and min(parts) >= first
    ]
    return [
        sum((Fraction(value[part]) for part in parts), -Fraction(value[total]))
        for total, parts in rows
        if all(cell in value for cell in (total, *parts))
    ]


@LAW
@given(releases(sliding=False), st.sampled_from([0.5, 3.0]), st.sampled_from([0, 2]))
def test_additive_values_add_up_and_their_intervals_contain_the_safe_ones(draw, most, decimals):
    problem = draw.problem
    options = ladder(problem, most)
    safe = options.publication(safe_choice(draw, options))
    found = additive(
        problem.space,
        safe,
        np.full(len(safe.cells), decimals),
        problem.lb[safe.cells],
        np.full(len(safe.cells), np.inf),
    )
    assert found is not None
    assert not any(published_sums(problem, found))
    np.testing.assert_array_equal(found.withheld, safe.withheld)
    np.testing.assert_array_equal(found.value[safe.exact], safe.value[safe.exact])
    told = safe.rounded
    assert (found.lower <= safe.lower + 1e-9)[told].all()
    assert (found.upper >= safe.upper - 1e-9)[told].all()
    assert (found.base[told] <= 2 * safe.base[told] + 1e-9).all()
    assert ((found.value >= safe.lower - 1e-9) & (found.value <= safe.upper + 1e-9))[told].all()
    assert shares(problem, found).min(initial=1) >= 1 - 1e-4


@FEW
@given(releases(sliding=False))
def test_additive_values_are_the_nearest(draw):
    """Beside scipy's LP over the same intervals, all cells of a composition as variables."""
    problem = draw.problem
    options = ladder(problem)
    safe = options.publication(safe_choice(draw, options))
    found = additive(
        problem.space,
        safe,
        np.zeros(len(safe.cells), dtype=int),
        problem.lb[safe.cells],
        np.full(len(safe.cells), np.inf),
    )
    assert found is not None
    first, n = int(safe.cells[0]), len(safe.cells)
    rows = [
        (total, parts)
        for total, parts in relation_rows(problem.space)
        if total >= first and min(parts) >= first
    ]
    A = np.zeros((len(rows), 2 * n))
    for i, (total, parts) in enumerate(rows):
        A[i, total - first] = -1
        A[i, [part - first for part in parts]] = 1
    told = safe.rounded
    weight = np.where(told, 1 / np.where(told, safe.base, 1), 0)
    middle = np.nan_to_num(safe.value)
    apart = np.vstack([np.hstack([np.eye(n), -np.eye(n)]), np.hstack([-np.eye(n), -np.eye(n)])])
    lower, upper = np.maximum(np.ceil(safe.lower), problem.lb[safe.cells]), np.floor(safe.upper)
    lower, upper = np.where(safe.exact, safe.value, lower), np.where(safe.exact, safe.value, upper)
    bounds = [*np.column_stack([lower, upper]).tolist(), *[(0, None)] * n]
    equal = {"A_eq": A, "b_eq": np.zeros(len(rows))} if rows else {}
    result = linprog(
        np.concatenate([np.zeros(n), weight]),
        A_ub=apart,
        b_ub=np.concatenate([middle, -middle]),
        bounds=bounds,
        **equal,
    )
    assert result.status == 0
    np.testing.assert_allclose(
        (weight * np.abs(np.nan_to_num(found.value) - middle)).sum(), result.fun, atol=1e-6
    )


# --- no printed value that the others exclude ---------------------------------------------------------------


def excluded(problem: ProtectionProblem, publication: Publication) -> list[str]:
    """The rounded cells whose printed value is outside of what a reader finds by adding
    and subtracting public figures.
    """
    low, high = (np.where(problem.public, problem.a, bound) for bound in (problem.lb, problem.ub))
    low[publication.cells] = np.maximum(low[publication.cells], publication.lower)
    high[publication.cells] = np.minimum(high[publication.cells], publication.upper)
    for _ in range(12):
        for total, parts in relation_rows(problem.space):
            row = list(parts)
            low[total], high[total] = max(low[total], low[row].sum()), min(high[total], high[row].sum())
            for part in row:
                rest = [other for other in row if other != part]
                low[part] = max(low[part], low[total] - high[rest].sum())
                high[part] = min(high[part], high[total] - low[rest].sum())
    value = np.nan_to_num(publication.value)
    inside = (value >= low[publication.cells] - 1e-6) & (value <= high[publication.cells] + 1e-6)
    return [problem.space.key(int(cell)) for cell in publication.cells[publication.rounded & ~inside]]


@LAW
@given(releases(sliding=False), st.sampled_from([0.5, 3.0]))
def test_a_printed_value_is_possible_and_as_safe_and_no_coarser(draw, most):
    problem = draw.problem
    options = ladder(problem, most)
    safe = options.publication(safe_choice(draw, options))
    found = possible(problem, safe, (1.0, 2.0, 5.0), 1.0, np.zeros(len(safe.cells), dtype=bool))
    assert excluded(problem, found) == []
    assert shares(problem, found).min(initial=1) >= 1 - 1e-4
    assert (found.base <= safe.base)[~found.withheld].all()
    truth, told = problem.a[found.cells], found.rounded
    assert ((found.lower <= truth + 1e-9) & (truth <= found.upper + 1e-9)).all()
    np.testing.assert_allclose(
        found.value[told] / found.base[told], np.rint(found.value[told] / found.base[told]), atol=1e-9
    )
    held = ~np.isin(
        safe.cells, [cell for cell in safe.cells if problem.space.key(int(cell)) in excluded(problem, safe)]
    )
    np.testing.assert_array_equal(found.value[held], safe.value[held])


@FEW
@given(
    releases(sliding=False),
    st.sampled_from([{}, {"sharpen": True}, {"additive": True}, {"visible_share": 0.9}]),
)
def test_what_a_release_prints_is_possible(draw, wanted):
    problem = draw.problem
    found = chosen(problem, **wanted)
    assert excluded(problem, found) == []
    assert shares(problem, found).min(initial=1) >= 1 - 1e-4


@pytest.mark.parametrize(
    ("ends", "smallest", "fit"),
    [
        ((355.0, 445.0), 1.0, (400.0, 100.0)),
        ((35_500.0, 44_500.0), 1.0, (40_000.0, 10_000.0)),
        ((3.55, 4.45), 0.01, (4.0, 1.0)),
        ((305.0, 395.0), 1.0, (360.0, 120.0)),
    ],
)
def test_a_value_that_the_others_exclude_gets_the_roundest_base_that_fits(ends, smallest, fit):
    """First a mantissa times a power of ten; where none fits, two digits and then three."""
    low, high = (np.array([each]) for each in ends)
    before = Publication(np.zeros(1, dtype=int), np.array([1e6]), np.array([1e5]))
    with patch("sdc_tasks.methods.bases.printed.possible.box", return_value=(low, high)):
        found = possible(None, before, (1.0, 2.0, 5.0), smallest, np.zeros(1, dtype=bool))
    assert (found.value[0], found.base[0]) == pytest.approx(fit)
