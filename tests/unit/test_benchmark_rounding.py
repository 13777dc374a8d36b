"""What `make bench-rounding` computes by itself: the crossings of the census hub, its score, and
the table that must be reached.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import rounding_controlled_run, rounding_document, rounding_registry
from benchmarks.rounding_measure import Record, Score
from benchmarks.rounding_registry import CENSUS, COARSE, CROSSINGS, REGISTRY, census_crossings, census_persons

RECORD = Record(
    "sixway-138809",
    "fast",
    "of today",
    138_809,
    501_375,
    57,
    0.5,
    0.25,
    1.25,
    2.0,
    300.0,
    14,
    1.6,
    2.0,
    0.95,
    0,
    81_000,
    5,
    0.1,
    "2026-01-01T00:00:00+00:00",
)


def test_the_census_hub_has_the_crossings_counted_in_the_paper() -> None:
    crossings = census_crossings()
    assert Counter(map(len, crossings)) == {0: 1} | CROSSINGS
    assert len(set(crossings)) == len(crossings)
    assert not [c for c in crossings for coarse, fine in COARSE.items() if {coarse, fine} <= set(c)]
    known = set(crossings)
    assert all(c[:i] + c[i + 1 :] in known for c in crossings for i in range(len(c))), (
        "sub-totals are published too"
    )


def test_coarse_variables_are_groups_of_fine_ones() -> None:
    drawn = census_persons(5000)
    assert np.array_equal(drawn, census_persons(5000))
    names = list(CENSUS)
    for coarse, fine in COARSE.items():
        pairs = set(map(tuple, drawn[:, [names.index(fine), names.index(coarse)]].tolist()))
        assert len(pairs) == len({f for f, _ in pairs})
    assert all(drawn[:, i].max() < CENSUS[name] for i, name in enumerate(names))


def test_score_by_hand() -> None:
    """Two cells of 1 + 3 → 0 + 3 and 2 → 3, then their total 6 → 6."""
    score = Score(3)
    original, rounded = np.array([1, 3, 2]), np.array([0, 3, 3])
    score.add(np.array([7, 7, 9]), original, rounded)
    score.add(np.zeros(3, dtype=np.int64), original, rounded)
    assert (score.cells, score.maximum, score.small_left, score.mean) == (3, 1, 0, 2 / 3)
    assert score.rms == pytest.approx((2 / 3) ** 0.5)
    lost = ((4**0.5 - 3**0.5) ** 2 + (2**0.5 - 3**0.5) ** 2) / 2
    assert score.utility == pytest.approx(1 - (lost / 12) ** 0.5)
    score.add(np.array([0, 1, 1]), original, np.array([2, 0, 0]))
    assert score.small_left == 1


def test_must_reach_tells_what_was_missed() -> None:
    assert "| yes |" in rounding_document.must_reach({RECORD.name: RECORD})
    for change in (
        {"round": 4.3},
        {"peak_mib": 601.0},
        {"maximum": 22},
        {"mean": 1.691},
        {"rms": 2.157},
        {"small_left": 1},
    ):
        assert "| **no** |" in rounding_document.must_reach({RECORD.name: replace(RECORD, **change)})
    assert rounding_document.must_reach({}) == ""


def test_names_are_those_of_the_limits_and_peers() -> None:
    assert {limit.instance for limit in rounding_document.LIMITS} <= set(REGISTRY)
    assert {peer.instance for peer in rounding_document.MEASURED} <= set(REGISTRY)
    assert all(limit.quality in REGISTRY[limit.instance].qualities for limit in rounding_document.LIMITS)


@pytest.mark.parametrize("name", ["tiny", "tiny-tree", "tiny-quadratic"])
def test_quick_measures_what_it_says_and_marks_what_other_code_made(name: str) -> None:
    record = rounding_controlled_run.measure(rounding_controlled_run.REGISTRY[name])
    assert record["bound"] <= record["reached"] * (1 + 1e-9)
    told = rounding_controlled_run.document(
        [record], {}, "make bench-rounding", rounding_controlled_run.code()
    )
    assert f"| {name}: " in told
    assert f"| {name} †: " in rounding_controlled_run.document(
        [record], {}, "make bench-rounding", "of another day"
    )


def test_one_name_is_one_table_of_either_half() -> None:
    both = [*rounding_registry.INSTANCES, *rounding_controlled_run.INSTANCES]
    assert len({instance.name for instance in both}) == len(both)
