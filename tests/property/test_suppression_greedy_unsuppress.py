"""Tables that are no networks: bridgeless inequalities against null spaces, thinned
patterns against two programs a cell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space

from sdc_tasks.errors import Unprotectable
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.covering import greedy_unsuppress
from sdc_tasks.methods.suppression.covering.greedy_unsuppress import GreedyUnsuppression
from sdc_tasks.methods.suppression.pattern.bridge_cuts import BridgeCuts
from sdc_tasks.methods.suppression.pattern.presolve import ReducedProblem, presolve
from sdc_tasks.model.sensitive import SensitiveTable
from support.drawn_suppression import linked, problems
from support.laws import law
from support.oracles.suppression import unprotected

exact_null_space = greedy_unsuppress.null_space
TABLES = st.one_of(problems(("flat", "wide", "wide")), problems(("flat", "deep", "wide")), linked())


def reduced(problem: SensitiveTable) -> ReducedProblem | None:
    try:
        return presolve(problem)
    except Unprotectable:
        return None


@given(TABLES, st.integers(0, 2**32 - 1))
@law(15)
def test_bridgeless_inequalities_hold_for_every_pattern_without_bridges(
    problem: SensitiveTable, seed: int
) -> None:
    table = reduced(problem)
    if table is None:
        return
    rng = np.random.default_rng(seed)
    k = len(table.cost)
    bridges, dense = BridgeCuts(table), table.M.toarray()
    point = np.where(table.forced, 1.0, rng.random(k) * rng.choice([0.3, 1.0]))
    cuts = [cut for cut in (bridges.cut(int(i), point) for i in bridges.candidates(point)) if cut is not None]
    assert all(cut.value(point) < cut.right for cut in cuts)
    for share in (0.3, 0.5, 0.7, 0.9, 1.0):
        hidden = rng.random(k) < share
        free = null_space(dense * hidden)  # any move of an open class counts for nothing
        y = (hidden & (np.abs(free).max(axis=1, initial=0.0) > 1e-9)).astype(float)
        assert (bridges.rows @ y >= 0).all()
        assert all(cut.value(y) >= cut.right for cut in cuts)


@given(TABLES, st.integers(0, 2**32 - 1))
@law(15)
def test_a_thinned_pattern_is_safe_and_every_series_of_it_needed(problem: SensitiveTable, seed: int) -> None:
    """The oracle finds it safe; it holds no bridge; with its witnesses the verifier needs fewer programs.

    Where it is said that nothing can be thinned, even everything hidden is not safe.
    """
    table = reduced(problem)
    if table is None or not len(table.item_need):
        return
    one = GreedyUnsuppression(table)
    before = one.unsuppress(table.cost, np.random.default_rng(0), lambda: False)
    found = one.unsuppress(table.cost, np.random.default_rng(seed), lambda: False)
    assert (before is None) == (found is None), "a pattern begins anew, whatever another one has opened"
    everything = table.pattern(np.ones(len(table.cost), dtype=bool), problem)
    if found is None:
        assert not verify(problem, everything).safe
        return
    pattern = table.pattern(found.hidden, problem)
    assert unprotected(problem, pattern) == []
    verdict = verify(problem, pattern, table.reduction.invert(found.witnesses))
    assert verdict.safe
    assert verdict.programs <= min(2, verify(problem, pattern).programs)
    free = null_space(table.M.toarray()[:, found.hidden])
    assert (np.abs(free).max(axis=1, initial=0.0) > 1e-9).all()


@given(TABLES)
@law(5)
def test_a_null_space_is_whole_and_orthonormal(problem: SensitiveTable) -> None:
    basis = greedy_unsuppress.null_space(problem.M, np.random.default_rng(0))
    assert basis.shape[1] == null_space(problem.M.toarray()).shape[1]
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)
    np.testing.assert_allclose(problem.M @ basis, 0.0, atol=1e-9)


@given(TABLES, st.integers(0, 2**32 - 1))
@law(15)
def test_another_basis_and_other_last_digits_give_the_same_pattern(
    problem: SensitiveTable, seed: int
) -> None:
    """Another machine's linear algebra may turn the basis of the space of deviations, and rounds
    otherwise: no decision leans on either.
    """
    table = reduced(problem)
    if table is None or not len(table.item_need):
        return

    def elsewhere(M: sp.csr_array, rng: np.random.Generator, over: Callable[[], bool]) -> np.ndarray:
        basis = exact_null_space(M, rng, over)
        other = np.random.default_rng(seed + 1)
        turn = np.linalg.qr(other.standard_normal((basis.shape[1], basis.shape[1])))[0]
        return np.asarray(basis @ turn + 1e-15 * other.standard_normal(basis.shape))

    here = GreedyUnsuppression(table).unsuppress(
        table.cost, np.random.default_rng(seed), lambda: False, most=0
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_unsuppress, "null_space", elsewhere)
        there = GreedyUnsuppression(table).unsuppress(
            table.cost, np.random.default_rng(seed), lambda: False, most=0
        )
    assert (here is None) == (there is None)
    if here is not None and there is not None:
        assert here.hidden.tolist() == there.hidden.tolist()
