"""The senses of heavy cells are exchanged while a table gets closer; a solve that cannot be a gain is cut
short.
"""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks.methods.cta.local.heavy import exchange
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.cta.senses import FIRM, Fixed, SenseLP
from support.oracles.cta_tables import blocks, faults, random_cube
from support.spread import adjusted


def problem_of(known) -> CtaProblem:
    n = len(known.a)
    return adjusted(
        known.A,
        known.a,
        np.zeros(n),
        np.full(n, np.inf),
        known.w,
        known.sensitive,
        known.level,
        known.level,
        0 * known.level,
    )


def begun(problem: CtaProblem) -> tuple[SenseLP, np.ndarray, Fixed]:
    model = SenseLP(problem, FIRM)
    up = model.possible(np.ones(len(problem.sensitive), dtype=bool))
    model.set(np.arange(len(up)), up)
    return model, up, model.solve()


@pytest.mark.parametrize("seed", range(3))
def test_an_exchange_ends_with_a_closer_table_of_the_senses_that_it_names(seed):
    problem = problem_of(random_cube((4, 4, 3), seed))
    model, up, start = begun(problem)
    found, turned = exchange(
        model, Run(problem), up, np.ones(len(up), dtype=bool), np.random.default_rng(seed)
    )
    assert found.cost < 0.99 * start.cost
    assert faults(problem, found.z) == []
    again = SenseLP(problem, FIRM)
    again.set(np.arange(len(turned)), turned)
    assert again.cost() == pytest.approx(found.cost)


def test_it_comes_closer_but_never_below_the_optimum():
    known = blocks([1.0] * 6, 2, power=0.0)
    problem = problem_of(known)
    model, up, start = begun(problem)
    found, _ = exchange(model, Run(problem), up, np.ones(len(up), dtype=bool), np.random.default_rng(1))
    assert (1 - 1e-9) * known.optimum <= found.cost * problem.unit < 0.99 * start.cost * problem.unit


def test_cells_that_do_not_count_keep_their_senses():
    problem = problem_of(random_cube((4, 4, 3), 1))
    model, up, _ = begun(problem)
    counts = np.arange(len(up)) < 3
    _, turned = exchange(model, Run(problem), up, counts, np.random.default_rng(1))
    np.testing.assert_array_equal(turned[~counts], up[~counts])


def test_a_solve_stops_once_its_optimum_is_known_to_be_too_large():
    problem = problem_of(random_cube((5, 5, 4), 1))
    model, _, start = begun(problem)
    whole = model.effort
    assert model.cost(most=start.cost / 100, fresh=True) == np.inf
    assert model.effort - whole < whole
    assert model.cost(most=start.cost * 1.01, fresh=True) == pytest.approx(start.cost)
