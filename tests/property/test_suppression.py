"""Cell suppression against oracles that share no code with it: enumeration, the whole model of
[2] eq. 7, two programs a cell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space

from sdc_tasks.errors import Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.judge.pattern.witnesses import shown
from sdc_tasks.methods.suppression.cubes.search import CubeSearch
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.names import METHODS, PatternMethod
from sdc_tasks.methods.suppression.pattern.attackers import Attackers, Flows, Programs
from sdc_tasks.methods.suppression.pattern.presolve import presolve
from sdc_tasks.model.grid import recognised
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.presolve.network import is_network
from support.drawn_suppression import TREES, linked, problems, relations
from support.laws import law
from support.oracles.suppression import least_by_enumeration, least_by_model, unprotected


def least(problem: SensitiveTable) -> float | None:
    """What the exact method finds and proves; None where it says that there is nothing."""
    try:
        result = suppress(problem, PatternOptions(gap=0.0))
    except Unprotectable:
        return None
    assert result.ended == "proven"
    assert result.pattern is not None
    assert unprotected(problem, result.pattern) == []
    assert result.cost == problem.cost_of(result.pattern)
    assert result.bound == pytest.approx(result.cost, rel=1e-6)
    return result.cost


def assert_same(found: float | None, expected: float | None) -> None:
    assert (found is None) == (expected is None)
    if found is not None:
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


OTHERS = [name for name in METHODS if name not in {"auto", "exact"}]
NETWORKS = {"paths", "network"}  # methods for two dimensions with one hierarchy at most
CROSSED = {"cubes", "hypercube", "hitas"}  # methods for tables whose relations are those of dimensions


def assert_safe_and_no_cheaper(
    problem: SensitiveTable, methods: list[PatternMethod], optimum: float | None
) -> None:
    """Each method gives a pattern that the oracle finds safe, none cheaper than the
    optimum; or says that there is none.
    """
    for method in methods:
        if optimum is None:
            with pytest.raises(Unprotectable):
                suppress(problem, PatternOptions(method))
            continue
        result = suppress(problem, PatternOptions(method))
        assert result.pattern is not None, method
        assert unprotected(problem, result.pattern) == [], method
        assert problem.primary[result.pattern].sum() == problem.primary.sum(), method
        assert not (result.pattern & problem.fixed).any(), method
        assert problem.cost_of(result.pattern) >= optimum * (1 - 1e-6) - 1e-6, method
        assert result.bound <= optimum * (1 + 1e-6) + 1e-6, method


@given(st.one_of(problems(("flat", "wide")), problems(("wide", "deep"))))
@law(30)
def test_every_method_is_safe_and_never_cheaper_than_the_optimum_in_two_dimensions(
    problem: SensitiveTable,
) -> None:
    assert_safe_and_no_cheaper(problem, OTHERS, least(problem))


@given(st.one_of(problems(("flat", "flat", "flat")), problems(("flat", "flat", "wide"))))
@law(10)
def test_every_method_is_safe_and_never_cheaper_than_the_optimum_in_three(
    problem: SensitiveTable,
) -> None:
    assert_safe_and_no_cheaper(problem, [name for name in OTHERS if name not in NETWORKS], least(problem))


@given(linked())
@law(10)
def test_linked_tables_as_cheap_as_the_whole_model_and_safe_by_every_method(
    problem: SensitiveTable,
) -> None:
    optimum = least(problem)
    assert_same(optimum, least_by_model(problem))
    assert_safe_and_no_cheaper(
        problem,
        [
            name
            for name in OTHERS
            if name not in CROSSED
            and (name not in NETWORKS or (optimum is not None and presolve(problem).network))
        ],
        optimum,
    )


@given(problems(("flat", "wide")))
@law(15)
def test_two_dimensions_as_cheap_as_enumeration(problem: SensitiveTable) -> None:
    assert_same(least(problem), least_by_enumeration(problem))


@given(st.one_of(problems(("wide", "deep")), problems(("wide", "wide"))))
@law(20)
def test_hierarchies_as_cheap_as_the_whole_model(problem: SensitiveTable) -> None:
    assert_same(least(_without_width(problem)), least_by_model(_without_width(problem)))


@given(problems(("flat", "flat", "flat")))
@law(12)
def test_three_dimensions_as_cheap_as_the_whole_model(problem: SensitiveTable) -> None:
    assert_same(least(_without_width(problem)), least_by_model(_without_width(problem)))


def _without_width(problem: SensitiveTable) -> SensitiveTable:
    return SensitiveTable(
        problem.M,
        problem.a,
        problem.lb,
        problem.ub,
        problem.lpl,
        problem.upl,
        0 * problem.spl,
        cost=problem.cost,
        primary=problem.primary,
        fixed=problem.fixed,
        singleton=problem.singleton,
        respondent=problem.respondent,
        guarded=problem.guarded,
        beside=problem.beside,
        beside_guarded=problem.beside_guarded,
    )


@given(st.one_of(problems(("wide", "deep")), problems(("flat", "wide", "flat"))), st.integers(0, 2**32 - 1))
@law(40)
def test_the_verifier_agrees_with_two_programs_a_cell(problem: SensitiveTable, seed: int) -> None:
    some = problem.primary | (~problem.fixed & (np.random.default_rng(seed).random(len(problem.a)) < 0.5))
    assert verify(problem, some).unprotected.tolist() == unprotected(problem, some)


@given(
    st.one_of(problems(("wide", "deep")), problems(("flat", "wide", "flat")), linked()),
    st.integers(0, 2**32 - 1),
)
@law(20)
def test_the_verdict_does_not_depend_on_the_units_of_cells_and_relations(
    problem: SensitiveTable, seed: int
) -> None:
    """Cells that are tied to each other then move in ratios of many kinds; few hidden cells make many such
    ties.
    """
    rng = np.random.default_rng(seed)
    some = problem.primary | (~problem.fixed & (rng.random(len(problem.a)) < rng.choice([0.3, 0.6, 1.0])))
    unit, row = 2.0 ** rng.integers(-6, 7, len(problem.a)), 3.0 ** rng.integers(-3, 4, problem.M.shape[0])
    scaled = {name: getattr(problem, name) * unit for name in ("a", "lb", "ub", "lpl", "upl", "spl")}
    rows, further = sp.diags_array(row) @ problem.M, problem.layers[1:]
    other = replace(
        problem,
        M=sp.csr_array(rows @ sp.diags_array(1 / unit)),
        rhs=np.asarray(problem.rhs) * row,
        respondent=problem.respondents,
        guarded=problem.guards,
        beside=np.array([np.maximum(layer.up, layer.down) * unit for layer in further])
        if further
        else np.zeros(0),
        beside_guarded=np.array([layer.guards for layer in further]) if further else np.zeros(0),
        **scaled,
    )
    assert verify(other, some).unprotected.tolist() == unprotected(problem, some)


@given(st.one_of(problems(("wide", "deep")), problems(("flat", "wide", "flat"))), st.integers(0, 2**32 - 1))
@law(20)
def test_no_proposed_point_makes_an_unsafe_pattern_safe(problem: SensitiveTable, seed: int) -> None:
    """Neither moves of everybody's own, nor true deviations of the table that move open cells
    or other respondents' singletons.
    """
    rng = np.random.default_rng(seed)
    some = problem.primary | (~problem.fixed & (rng.random(len(problem.a)) < 0.5))
    free = null_space(problem.M.toarray())
    proposed = np.concatenate(
        [
            10 * rng.standard_normal((3, len(some))),
            rng.standard_normal((5, free.shape[1])) @ free.T,
            problem.a[None],
        ]
    )
    assert verify(problem, some, proposed).unprotected.tolist() == unprotected(problem, some)


@given(st.one_of(problems(("wide", "deep", "flat")), problems(("flat", "wide", "flat", "flat"))))
@law(30)
def test_what_a_hypercube_shows_programs_show_too(problem: SensitiveTable) -> None:
    """What witnesses alone protect is protected by the oracle's programs too; with witnesses the
    verdict is the same as without.
    """
    grid = recognised(problem.M)
    assert grid is not None
    search = CubeSearch(problem, grid, lambda _: None, lambda: False)
    search.cover()
    search.improve()
    rise, fall = shown(problem, search.hidden, search.witnesses())
    met = problem.primary & (rise >= problem.up * (1 - 1e-6)) & (fall >= problem.down * (1 - 1e-6))
    met &= rise + fall >= problem.width * (1 - 1e-6)
    at_risk = unprotected(problem, search.hidden)
    assert not set(np.flatnonzero(met).tolist()) & set(
        unprotected(replace(problem, beside=np.zeros(0)), search.hidden)
    )
    own = [
        number for number in sorted(search.movements) if number < len(problem.primaries)
    ]  # the others are of further contributors
    assert set(problem.primaries[own].tolist()) <= set(np.flatnonzero(met).tolist())
    assert set(problem.primaries.tolist()) - set(search.lacking().tolist()) <= set(
        problem.primaries.tolist()
    ) - set(at_risk)
    assert verify(problem, search.hidden, witnesses=search.witnesses()).unprotected.tolist() == at_risk


def test_the_verifier_refuses_an_open_primary_and_a_hidden_fixed_cell() -> None:
    _, M = relations(TREES["flat"])
    a = np.array([3.0, 1.0, 2.0])
    mark, none = np.array([False, True, False]), np.zeros(3)
    problem = SensitiveTable(
        M, a, none, a + 9, none, none, none, cost=a, primary=mark, fixed=np.array([True, False, False])
    )
    assert verify(problem, np.zeros(3, dtype=bool)).misused.tolist() == [1]
    assert verify(problem, np.array([True, True, True])).misused.tolist() == [0]
    assert verify(problem, mark).safe


@given(problems(("wide", "deep")), st.integers(0, 2**32 - 1))
@law(25)
def test_every_cut_holds_for_every_safe_pattern(problem: SensitiveTable, seed: int) -> None:
    """From flows and from programs: whatever point is cut off, patterns that the oracle finds safe satisfy
    the cut.
    """
    try:
        table = presolve(problem)
    except Unprotectable:
        return
    rng = np.random.default_rng(seed)
    k = len(table.cost)
    patterns = [rng.random(k) < share for share in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)] + [np.ones(k, dtype=bool)]
    safe = [
        y
        for y in (each | table.forced for each in patterns)
        if not unprotected(problem, table.pattern(y, problem))
    ]
    attackers: list[Attackers] = [Programs(table)] + ([Flows(table)] if table.network else [])
    point = np.where(table.forced, 1.0, rng.random(k) * rng.choice([0.2, 1.0]))
    for attacker in attackers:
        for item in range(len(table.item_need)):
            for cut in attacker.cuts(item, point, most=3):
                assert all(cut.value(y.astype(float)) >= 1 - 1e-6 for y in safe)


@given(problems(("wide", "deep")))
@law(15)
def test_a_table_with_one_hierarchy_becomes_a_network(problem: SensitiveTable) -> None:
    try:
        table = presolve(problem)
    except Unprotectable:
        return
    assert table.network
    assert is_network(table.M)


@given(problems(("wide", "deep")))
@law(10)
def test_the_same_problem_gives_the_same_pattern(problem: SensitiveTable) -> None:
    try:
        first, second = suppress(problem, PatternOptions(gap=0.0)), suppress(problem, PatternOptions(gap=0.0))
    except Unprotectable:
        return
    assert np.array_equal(first.pattern, second.pattern)
    assert [(m.objective, m.bound, m.method) for m in first.history] == [
        (m.objective, m.bound, m.method) for m in second.history
    ]
