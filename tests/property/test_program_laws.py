"""What a certificate shows against somebody who has the program: its tables against
linear programs of another library.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.judge.release.polyhedron import polyhedron_of
from sdc_tasks.judge.release.rule_aware import wide
from sdc_tasks.methods.attack import baseline
from sdc_tasks.methods.attack.replay import widths, without_claim
from sdc_tasks.model.results import Publication
from support.hidden_tables import PERCENT, drawn, of_inner, publish, publish_aware
from support.oracles.wide import Oracle

NOISE = 1e-6


def judged(problem, publication) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each primary: shown by the tables, narrow by the test, its two levels together, and how far apart
    the tables that pass are by cold linear programs.
    """
    needs = baseline(problem, ("external",))[0].strongest
    step = np.full(problem.space.size, 1e-6)
    found = widths(problem, needs, publication, step, 1, without_claim(problem, needs, step, 1))
    both = needs.down + needs.up
    shown = wide(
        problem,
        polyhedron_of(problem, publication, "external"),
        needs.primaries,
        both,
        found.table,
        found.centre,
        step,
    )
    oracle = Oracle(problem, publication, PERCENT / 100)
    bounds = oracle.passing()
    ends = np.array(
        [[oracle.end(c, side, bounds) or 0.0 for side in (-1, 1)] for c in oracle.columns.tolist()]
    )
    return shown, found.narrow, both, ends[:, 1] - ends[:, 0]


def test_what_the_tables_show_is_left_by_cold_programs_too():
    """With the default rule and with its own; and what the test calls wide, the tables show."""
    shown, narrow, both, left = map(
        np.concatenate,
        zip(
            *(
                judged(drawn(seed), rule(drawn(seed)))
                for seed in range(14)
                for rule in (publish, publish_aware)
            ),
            strict=True,
        ),
    )
    assert (left >= both * (1 - NOISE))[shown].all()
    assert shown[~narrow].all()
    assert shown.sum() > 20
    assert (~shown & (left < both * (1 - NOISE))).sum() > 2, "the default rule leaves some primaries less"


def test_a_rule_aware_publication_leaves_none_too_little():
    for seed in (2, 3, 12):
        shown, narrow, _, _ = judged(drawn(seed), publish_aware(drawn(seed)))
        assert shown.all()
        assert not narrow.any()


def test_a_primary_of_value_zero_hinders_no_proof():
    """It has no level by which to tell how far a table may miss."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        inner = np.array([[0, *rng.integers(20, 121, 3)], *rng.integers(50, 500, (2, 4))]).astype(float)
        hidden = np.array([[True] * 4, [False] * 4, [False] * 4])
        problem = of_inner(inner, hidden, hidden & np.array([True, True, False, False]))
        shown, narrow, both, _ = judged(problem, publish_aware(problem))
        assert both[0] == 0
        assert shown[~narrow].all(), seed


def test_tables_of_another_publication_show_nothing():
    """All exact: nothing is left, whatever tables somebody brings."""
    problem = drawn(3)
    publication, needs = publish_aware(problem), baseline(problem, ("external",))[0].strongest
    step = np.ones(problem.space.size)
    found = widths(problem, needs, publication, step, 1, without_claim(problem, needs, step, 1))
    cells = np.flatnonzero(problem.aggregate)
    exact = Publication(cells, problem.a[cells], np.zeros(len(cells)))
    world, both = polyhedron_of(problem, exact, "external"), needs.down + needs.up
    one_hidden = wide(problem, world, needs.primaries, both, found.table, found.centre, step)
    assert not one_hidden.any()
    bare = polyhedron_of(problem, publication, "external")
    assert not wide(problem, bare, needs.primaries, both, found.table[:0], found.centre[:0], step).any(), (
        "the truth alone is one table"
    )
    assert not wide(problem, bare, needs.primaries, 50 * both, found.table, found.centre, step).any()
