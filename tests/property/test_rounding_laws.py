"""Laws of controlled and quadratic rounding, against enumeration and against the dual of the attacker's
problem.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.rounding import neighbourhoods, separable
from sdc_tasks.methods.rounding.controlled import TableOptions, round_table
from sdc_tasks.methods.rounding.pieces import nearest, squares
from sdc_tasks.methods.rounding.protection import RoundingAttacker
from sdc_tasks.methods.rounding.quadratic import base_for, margins, round_quadratic
from sdc_tasks.methods.rounding.separable import SearchOptions, filled, least_cost, relations, weak_duality
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import CellSpace, Floats, Hierarchy
from sdc_tasks.solver.lp import Status
from support.laws import law
from support.oracles.duality import Rounded, reach
from support.spread import mask, spread

SEEDS = st.integers(0, 2**32 - 1)


def flat(name: str, parts: int) -> Hierarchy:
    return Hierarchy(name, ("T", *(f"{name}{i}" for i in range(parts))), (None, *["T"] * parts))


def nested(name: str, groups: int, parts: int) -> Hierarchy:
    codes, above = ["T"], [None]
    for g in range(groups):
        codes += [f"{name}{g}", *(f"{name}{g}{i}" for i in range(parts))]
        above += ["T", *[f"{name}{g}"] * parts]
    return Hierarchy(name, tuple(codes), tuple(above))


def summed(space: CellSpace, inner) -> Floats:
    """A table of random cells inside and their totals."""
    shape = space.national_shape[1:]
    table = inner(shape).astype(float)
    for d, axis in enumerate(space.hierarchies):
        lines = np.moveaxis(table, d, 0)
        for total, parts in sorted(axis.families, key=lambda family: -axis.depth[family[0]]):
            lines[total] = lines[list(parts)].sum(axis=0)
    return table.ravel()


def drawn(
    seed: int, axes: tuple[Hierarchy, ...], most: int = 40, primaries: int = 0, level: float = 3
) -> SensitiveTable:
    rng = np.random.default_rng(seed)
    space = CellSpace(("X",), (), ("V",), axes)
    a = summed(space, lambda shape: rng.integers(0, most, shape) * (rng.random(shape) > 0.15))
    n, A = len(a), space.national_relations
    inner = np.flatnonzero(~totals_of(A, n) & (a > 0))
    p = (
        np.sort(rng.choice(inner, min(primaries, len(inner)), replace=False))
        if primaries
        else np.zeros(0, dtype=np.int64)
    )
    levels = [np.minimum(rng.integers(1, level + 1, len(p)), most).astype(float) for _ in range(2)]
    lpl, upl, spl = spread(n, p, levels[0], levels[1], levels[0] + levels[1])
    return SensitiveTable(
        A, a, np.zeros(n), np.full(n, np.inf), lpl, upl, spl, primary=mask(n, p), fixed=a == 0
    )


def totals_of(A: sp.csr_array, n: int):
    total = np.zeros(n, dtype=bool)
    total[A.indices[A.data < 0]] = True
    return total


def least_by_scipy(table: SensitiveTable, base: float, zero_restricted: bool) -> float:
    """Controlled rounding within one base as anybody would write it, by scipy's MILP: an
    up and a down move of each cell.
    """
    a, n = table.a, len(table.a)
    floor, whole = np.floor(a / base), a % base == 0
    up = np.where(whole, 0.0 if zero_restricted else 1.0, 1.0)
    down = np.where(whole & (not zero_restricted) & (floor > 0), 1.0, 0.0)
    up[table.fixed] = down[table.fixed] = 0
    gain = np.where(whole, base, (floor + 1) * base - a - (a - floor * base))
    A = sp.hstack([table.M, -table.M])
    right = -(table.M @ floor)
    result = milp(
        np.concatenate([gain, np.full(n, base)]),
        constraints=LinearConstraint(A, right, right),
        integrality=np.ones(2 * n),
        bounds=(np.zeros(2 * n), np.concatenate([up, down])),
    )
    return np.inf if result.status == 2 else float(result.fun + (a - floor * base).sum())


@law(40)
@given(SEEDS, st.sampled_from([2, 3, 5, 10]), st.booleans())
def test_a_two_way_table_is_rounded_at_once_and_nearest(seed, base, zero_restricted):
    """With a hierarchy in one dimension the relaxation is whole: no mixed-integer model, no gap."""
    table = drawn(seed, (flat("A", 3), nested("B", 2, 2)))
    found = round_table(table, TableOptions(base, SearchOptions(1), zero_restricted))
    assert found.reach == 1
    assert found.optimal
    assert found.distance == pytest.approx(least_by_scipy(table, base, zero_restricted))
    assert not (table.M @ found.x).any()
    assert (np.abs(found.x - table.a) <= (base - 1 if zero_restricted else base)).all()


@law(25)
@given(SEEDS, st.sampled_from([3, 5]), st.booleans(), st.sampled_from(["highs", "cbc"]))
def test_in_three_dimensions_the_whole_model_finds_the_nearest(seed, base, zero_restricted, solver):
    table = drawn(seed, (flat("A", 2), flat("B", 3), nested("C", 2, 2)))
    least = least_by_scipy(table, base, zero_restricted)
    found = round_table(table, TableOptions(base, SearchOptions(1, solver), zero_restricted))
    if np.isfinite(least):
        assert found.reach == 1
        assert found.distance == pytest.approx(least)
    else:
        assert found.reach > 1
    assert found.bound <= found.distance + 1e-6
    assert not (table.M @ found.x).any()
    assert (found.x >= 0).all()


@law(4)
@given(SEEDS)
def test_the_search_around_the_relaxation_finds_additive_tables_near_the_bound(seed):
    table = drawn(seed, (flat("A", 6), flat("B", 7), nested("C", 3, 3)))
    small, separable.WHOLE_BINARIES = separable.WHOLE_BINARIES, 0
    try:
        found = round_table(table, TableOptions(5, SearchOptions(1, exact=False, gap=0.01)))
        again = round_table(table, TableOptions(5, SearchOptions(1, exact=False, gap=0.01)))
    finally:
        separable.WHOLE_BINARIES = small
    assert not (table.M @ found.x).any()
    assert found.distance >= least_by_scipy(table, 5, False) - 1e-6 >= found.bound - 1e-4
    assert found.gap < 0.05
    assert np.array_equal(found.x, again.x)
    assert not found.clock


@law(25)
@given(SEEDS, st.booleans())
def test_what_is_rounded_withstands_the_attacker(seed, three):
    axes = (flat("A", 3), flat("B", 3), flat("C", 2)) if three else (flat("A", 4), flat("B", 4))
    table, base = drawn(seed, axes, primaries=5, level=4), 5.0
    try:
        found = round_table(table, TableOptions(base, SearchOptions(1)))
    except Unprotectable:
        nothing = Rounded(table.M, table.a, table.a, np.where(table.fixed, 0.0, np.inf), table.lb, table.ub)
        assert not all(
            _kept(table, nothing, i) for i in range(len(table.primaries))
        )  # not even with nothing printed
        return
    printed = Rounded(
        table.M, table.a, found.x, np.where(table.fixed, 0.0, found.reach * base), table.lb, table.ub
    )
    assert all(_kept(table, printed, i) for i in range(len(table.primaries)))


def _kept(table: SensitiveTable, printed: Rounded, i: int) -> bool:
    p = int(table.primaries[i])
    down, up = reach(printed, p)
    return down >= table.down[p] - 1e-5 and up >= table.up[p] - 1e-5 and down + up >= table.width[p] - 1e-5


@law(15)
@given(SEEDS)
def test_the_attacker_judges_as_the_dual_does_and_his_equations_hold_for_every_safe_table(seed):
    rng = np.random.default_rng(seed)
    table, base = drawn(seed, (flat("A", 3), flat("B", 3)), primaries=4, level=5), 5.0
    half = np.where(table.fixed, 0.0, base)
    attacker = RoundingAttacker(table, half, base)
    tables = [
        np.where(table.fixed, table.a, table.a + rng.uniform(-base, base, len(table.a))) for _ in range(3)
    ]
    verdicts = [attacker.judge(x) for x in tables]
    for x, verdict in zip(tables, verdicts, strict=True):
        printed = Rounded(table.M, table.a, x, half, table.lb, table.ub)
        assert [_kept(table, printed, i) for i in range(len(table.primaries))] == verdict.protected.tolist()
        for other in tables:
            broken = np.array([cut.value(other / base) < cut.right - 1e-6 for cut in verdict.cuts])
            if all(
                _kept(table, Rounded(table.M, table.a, other, half, table.lb, table.ub), i)
                for i in range(len(table.primaries))
            ):
                assert not broken.any()
        if not verdict.protected.all() and len(verdict.cuts):
            assert all(cut.value(x / base) < cut.right for cut in verdict.cuts)


@law(25)
@given(SEEDS, st.integers(0, 2))
def test_quadratic_rounding_keeps_margins_and_levels_in_any_dimension(seed, kind):
    axes = [
        (flat("A", 4), flat("B", 4)),
        (nested("A", 2, 2), flat("B", 3)),
        (flat("A", 3), flat("B", 3), flat("C", 2)),
    ][kind]
    table = drawn(seed, axes, primaries=3, level=3)
    base = base_for(table)
    try:
        found = round_quadratic(table, base, SearchOptions(1))
    except Unprotectable:
        return
    x, S = found.x, table.primaries
    assert not (table.M @ x).any()
    assert np.array_equal(x[found.margin], table.a[found.margin])
    assert not (x[S] % base).any()
    assert (np.abs(x - table.a) <= base).all()
    assert found.bound <= found.cost + 1e-9
    if found.sum_kept:
        assert x[S].sum() == table.a[S].sum()
    printed = Rounded(table.M, table.a, x, np.where(found.margin, 0.0, base), table.lb, table.ub)
    assert all(_kept(table, printed, i) for i in range(len(S)))


@law(20)
@given(SEEDS)
@example(383083)  # HiGHS 1.15.1 calls its model infeasible
def test_quadratic_rounding_is_the_nearest_of_all_by_enumeration(seed):
    """3 × 3 inner cells, margins kept: every set, and every adjustment, is tried."""
    table = drawn(seed, (flat("A", 3), flat("B", 3)), most=12, primaries=2, level=1)
    none = np.zeros(len(table.a))
    table = replace(table, lpl=none, upl=none, spl=none)
    if not len(table.primaries):
        return
    base, a = 3.0, table.a.reshape(4, 4)
    best = (np.inf, np.inf)
    kept = margins(table)
    if not np.array_equal(kept, totals_of(table.M, 16)):
        return  # a total with a single part moves as well
    span = range(-3, 4)
    keep_sum = a.ravel()[table.primaries].sum() % base == 0
    for corner in product(span, repeat=4):  # the other five cells follow
        d = np.zeros((4, 4))
        d[1:3, 1:3] = np.reshape(corner, (2, 2))
        d[1:3, 3], d[3, 1:3] = -d[1:3, 1:3].sum(axis=1), -d[1:3, 1:3].sum(axis=0)
        d[3, 3] = -d[3, 1:3].sum()
        x = (a + d).ravel()
        move = d.ravel()
        s = table.primaries
        if (np.abs(move) > base).any() or (x < 0).any() or move[table.fixed].any() or (x[s] % base).any():
            continue
        if (np.abs(move[s]) >= base).any() or (keep_sum and move[s].sum()):
            continue
        rest = np.setdiff1d(np.flatnonzero(~kept & (table.a != 0)), s)
        best = min(best, (float((move[s] ** 2).sum()), float((move[rest] ** 2 / table.a[rest]).sum())))
    try:
        found = round_quadratic(table, base, SearchOptions(1))
    except Unprotectable:
        assert best[0] == np.inf
        return
    if keep_sum and not found.sum_kept:
        assert best[0] == np.inf
        return
    assert (found.set_distance**2, found.cost) == (pytest.approx(best[0]), pytest.approx(best[1]))


@law(60)
@given(SEEDS)
def test_pieces_cost_what_their_functions_do(seed):
    rng = np.random.default_rng(seed)
    n = 6
    lower, upper = -rng.integers(0, 12, n).astype(float), rng.integers(0, 12, n).astype(float)
    weight, target = rng.uniform(0.1, 2, n), rng.uniform(-12, 12, n)
    k = rng.integers(lower, upper + 1).astype(float)
    pieces = nearest(target, weight, lower, upper)
    u = filled(pieces, k)
    np.testing.assert_allclose(pieces.value(u), k)
    assert pieces.constant + pieces.slope @ u == pytest.approx(weight @ np.abs(k - target))
    pieces = squares(rng.uniform(lower, upper), weight, lower, upper, 30)
    u = filled(pieces, k)
    np.testing.assert_allclose(pieces.value(u), k)
    assert pieces.constant + pieces.slope @ u == pytest.approx(weight @ k**2)


@law(40)
@given(SEEDS)
def test_any_multipliers_bound_the_cost(seed):
    rng = np.random.default_rng(seed)
    table = drawn(seed, (flat("A", 3), flat("B", 3), flat("C", 2)))
    lower, upper = np.floor(table.a / 5), np.ceil(table.a / 5) + 1
    pieces = nearest(table.a / 5, np.ones(len(table.a)), lower, upper)
    rows = relations(table.M, table.rhs)
    model = pieces.model(rows.A, rows.lower, rows.upper)
    found = least_cost(pieces, rows, SearchOptions(1))
    assert found.status is Status.OPTIMAL
    assert weak_duality(model, rng.normal(size=table.M.shape[0])) + pieces.constant <= found.cost + 1e-9
    assert found.bound <= found.cost + 1e-9


def test_balls_are_of_chosen_columns_and_no_larger_than_asked():
    rng = np.random.default_rng(1)
    A = sp.csr_array((rng.random((20, 50)) < 0.1).astype(float))
    chosen = rng.random(50) < 0.7
    ball = neighbourhoods.ball_of(A, sp.csr_array(A.T), chosen, rng.random(50), 9, rng)
    assert 1 <= len(ball) <= 9
    assert chosen[ball].all()


@pytest.mark.parametrize("zero_restricted", [False, True])
def test_a_primary_without_room_keeps_its_value_or_is_refused(zero_restricted):
    """Everybody knows a cell whose bounds meet: a printed value beside it would be seen to be wrong."""
    M = sp.csr_array(np.array([[-1.0, 1.0, 1.0]]))
    a, none, primary = np.array([32.0, 13.0, 19.0]), np.zeros(3), np.array([False, True, False])
    low, high = np.array([0.0, 13.0, 0.0]), np.array([99.0, 13.0, 99.0])
    table = SensitiveTable(M, a, low, high, none, 2.0 * primary, none, primary, fixed=primary)
    with pytest.raises(InvalidInput, match=r"^[^,]* [^,]*: fixed, but not multiples"):
        round_table(table, TableOptions(10, SearchOptions(1), zero_restricted))
    with pytest.raises(InvalidInput, match="fixed and sensitive"):
        round_quadratic(table, 10.0, SearchOptions(1))
