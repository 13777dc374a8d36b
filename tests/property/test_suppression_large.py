"""Hypercubes through all levels protect a table of 21 600 cells in full; programs that know
nothing of them agree on a part of it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.farm_table import FARMS, MIDDLE, farm_table
from benchmarks.suppression_sample import not_shown
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.cubes import candidates
from sdc_tasks.methods.suppression.cubes.candidates import Dimension
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress


@pytest.mark.parametrize("dense", [0, 1_000])
def test_every_way_of_a_code_obeys_every_family(monkeypatch, dense) -> None:
    """Whether its matrix is sparse or dense."""
    monkeypatch.setattr(candidates, "MOST_DENSE", dense)
    families = ((0, (1, 2)), (1, (3, 4)), (2, (5,)))
    dimension = Dimension(6, families)
    for code in range(6):
        moves = dimension.every(code)
        whole = np.zeros((moves.number, 6))
        assert sp.issparse(moves.signs) == (dense == 0)
        whole[:, moves.codes] = sp.csr_array(moves.signs).toarray()
        assert (whole[:, code] == 1).all()
        for total, parts in families:
            assert np.array_equal(whole[:, total], whole[:, list(parts)].sum(axis=1))
        price = np.arange(12.0).reshape(6, 2)
        assert np.array_equal(moves.sums(price[moves.codes]), np.abs(whole) @ price)
        last = moves.some(np.array([moves.number - 1]))
        for one in (last.one(0), moves.one(moves.number - 1)):
            assert {int(c): s for c, s in zip(*one, strict=True)} == {
                c: s for c, s in enumerate(whole[-1].tolist()) if s
            }
    assert sorted(map(tuple, sp.csr_array(dimension.near(3).signs).toarray().tolist())) == [(1.0, -1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("singletons", [False, True])
def test_a_table_of_four_dimensions_is_protected_in_full(singletons: bool) -> None:
    problem = farm_table(MIDDLE, FARMS * 21_600 / 792_120, singletons=singletons).problem
    assert len(problem.a) == 21_600
    result = suppress(problem)
    assert result.pattern is not None
    assert result.method == "auto"
    assert np.array_equal(suppress(problem, PatternOptions("cubes")).pattern, result.pattern)
    some = np.zeros(len(problem.a), dtype=bool)
    some[problem.primaries[::40]] = True
    lone = problem.lone  # they attack, asked or not
    asked = replace(
        problem, lpl=np.where(some, problem.lpl, 0.0), upl=np.where(some, problem.upl, 0.0), singleton=lone
    )
    verdict = verify(asked, result.pattern)
    assert verdict.safe
    assert verdict.programs > 0
    drawn, at_risk = not_shown(problem, result.pattern, 100)
    assert (len(drawn), len(at_risk)) == (100, 0)
    less = result.pattern.copy()
    less[np.flatnonzero(less & ~problem.primary)[::2]] = False
    assert len(not_shown(problem, less, 10)[1]), "the programs are no yes-men"
