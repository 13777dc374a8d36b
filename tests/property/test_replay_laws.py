"""Somebody who has the program: the tables he tries, and what he concludes, against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sdc_tasks.methods.attack import promised
from sdc_tasks.methods.attack.replay import Fitting, Sampled, sampled, support
from sdc_tasks.model.results import Publication
from support.hidden_tables import drawn, moved, pair


def some_publication(problem, rng) -> Publication:
    """Each total with hidden cells exact, rounded or withheld, whether that is safe or not."""
    cells = np.flatnonzero(problem.aggregate)
    base = rng.choice([0.0, 5.0, 10.0, 20.0, np.inf], len(cells))
    base[0] = 0.0
    a = problem.a[cells]
    value = np.where(
        base == 0,
        a,
        np.where(
            np.isinf(base), np.nan, np.round(a / np.maximum(base, 1)) * np.where(np.isinf(base), 1, base)
        ),
    )
    return Publication(cells, value, base)


def by_brute_force(problem, publication) -> set[tuple[float, ...]]:
    """Every table of whole numbers, from the relations and the published intervals alone."""
    space, hidden = problem.space, np.flatnonzero(problem.suppressed)
    n, first = space.national_size, space.first_aggregate
    own = problem.a[:first].reshape(-1, n)
    secret = problem.suppressed[:first].reshape(-1, n)
    found = []
    for country, cells in enumerate(secret):
        if not cells.any():
            found.append([()])
            continue
        room = int(own[country, 0] - own[country, 1:][~cells[1:]].sum())
        k = int(cells.sum())
        found.append(
            [
                (*each, room - sum(each))
                for each in product(range(room + 1), repeat=k - 1)
                if sum(each) <= room
            ]
        )
    fits = set()
    for each in product(*found):
        x = problem.a.copy()
        x[hidden] = np.concatenate([np.array(part, dtype=float) for part in each])
        total = x[:first].reshape(-1, n).sum(axis=0)
        if ((total >= publication.lower) & (total <= publication.upper)).all():
            fits.add(tuple((x - problem.a)[hidden]))
    return fits


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("step", [1.0, 2.0])
def test_every_table_that_fits_is_listed_once(seed, step):
    """Those that are whole steps from the truth."""
    problem = drawn(seed)
    publication = some_publication(problem, np.random.default_rng(seed))
    expected = {z for z in by_brute_force(problem, publication) if not any(each % step for each in z)}
    fitting = Fitting.of(problem, publication, np.full(int(problem.suppressed.sum()), step))
    tables = fitting.every(len(expected))
    assert tables is not None
    assert {tuple(z) for z in tables} == expected
    assert len(tables) == len(expected)
    assert len(expected) == 1 or fitting.every(len(expected) - 1) is None, (
        "too many are not cut off in silence"
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_nearest_table_is_the_nearest_of_all(seed):
    problem = drawn(seed)
    publication = some_publication(problem, np.random.default_rng(seed))
    fitting = Fitting.of(problem, publication, np.ones(int(problem.suppressed.sum())))
    tables = fitting.every(10**5)
    for cell, away in product(np.flatnonzero(problem.primary).tolist(), (-2.0, 1.5)):
        at = int(np.searchsorted(fitting.cells, cell))
        moves = np.sign(away) * np.ceil(abs(away))
        among = tables[tables[:, at] == moves]
        found = fitting.nearest(cell, away)
        if not len(among):
            assert found is None
        else:
            assert found is not None
            assert found[at] == moves
            assert np.abs(found).sum() == np.abs(among).sum(axis=1).min()


def test_support_width_and_odds_are_those_of_the_tables_with_a_chance():
    problem = pair(60)
    needs = promised(problem, ("external",))
    tables = np.array([[t, -t] for t in range(-9, 10)], dtype=float)
    found = support(problem, needs, tables, lambda z: {0: 0.5, 3: 0.1, -7: 0.2}.get(int(z[0]), 0.0))
    assert (found.fit, found.tables, found.low[0], found.high[0], found.values[0]) == (19, 3, -7, 3, 3)
    assert found.odds[0] == pytest.approx(5)
    assert (found.broken[0], found.narrow[0]) == (True, True)
    with pytest.raises(ValueError, match="does not give this publication"):
        support(problem, needs, tables, lambda z: float(z[0] != 0))


def test_a_sample_counts_the_sides_that_the_program_keeps():
    problem = pair(60)
    cells = np.flatnonzero(problem.aggregate)
    nothing = Fitting.of(problem, Publication.nothing(cells), np.ones(2))
    needs = promised(problem, ("external",))
    upwards = sampled(nothing, needs, lambda z: float(z[0] > 0), 10, seed=1)
    assert upwards == Sampled(sides=2, asked=2, none=0, kept=1)
    exact = Publication(cells, problem.a[cells], np.zeros(len(cells)))
    assert sampled(Fitting.of(problem, exact, np.ones(2)), needs, lambda z: 1.0, 10, seed=1).none == 2


def test_the_bounds_of_a_share_are_those_of_clopper_and_pearson():
    none, all_, some = Sampled(400, 59, 0, 0), Sampled(400, 59, 0, 59), Sampled(400, 20, 0, 7)
    assert (none.at_least(), none.at_most()) == (0.0, pytest.approx(1 - 0.05 ** (1 / 59)))
    assert (all_.at_least(), all_.at_most()) == (pytest.approx(0.05 ** (1 / 59)), 1.0)
    assert some.at_least() == pytest.approx(0.1773, abs=1e-4)
    assert some.at_most() == pytest.approx(0.5583, abs=1e-3)


def test_the_candidate_is_protected_as_its_own_table_asks():
    other = moved(pair(60), np.array([40.0, -40.0]))
    assert np.array_equal(other.a, pair(100).a)
    assert np.array_equal(other.upl, pair(100).upl)
