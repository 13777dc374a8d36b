"""On a skewed table of some size: each quality ends nearer than the one before, and all nearer than the
simple method.
"""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks.methods.rounding.small_count import (
    CountOptions,
    Dummy,
    by_order,
    dummy_of,
    inner_cells,
    round_counts,
)
from sdc_tasks.methods.rounding.small_count.measures import differences, frequencies, measures, simply_rounded
from sdc_tasks.report.rounding_figures import plot_rounding


@pytest.fixture(scope="module")
def dummy() -> Dummy:
    """Five variables of 6 to 30 categories, Zipf laws in three classes of persons; crossings of at most
    three.
    """
    rng = np.random.default_rng(5)
    person = rng.integers(0, 3, 20_000)
    columns = []
    for size in (6, 8, 12, 20, 30):
        law = np.cumsum(1 / np.arange(1, size + 1) ** 1.8)
        order = np.array([rng.permutation(size) for _ in range(3)])
        codes = order[person, np.searchsorted(law / law[-1], rng.random(len(person)))]
        columns.append((codes.astype(np.int32), [f"{i:02d}" for i in range(size)]))
    return dummy_of(
        inner_cells("abcde", columns, None)[0], by_order(inner_cells("abcde", columns, None)[0], 3)
    )


def test_fast_is_nearer_than_the_paper_and_best_nearer_still(dummy: Dummy) -> None:
    found = {
        quality: measures(dummy.z, round_counts(dummy, CountOptions(1, quality=quality)).published)
        for quality in ("paper", "fast", "best")
    }
    found["simple"] = measures(dummy.z, dummy.totals(simply_rounded(dummy, 3, seed=1)))
    assert (
        found["best"].rms < 0.97 * found["fast"].rms < 0.97 * found["paper"].rms < 0.8 * found["simple"].rms
    )
    assert found["best"].mean < found["fast"].mean < found["paper"].mean
    assert found["best"].maximum <= found["simple"].maximum / 4
    assert found["best"].utility > found["simple"].utility


def test_pictures_do_not_depend_on_when_they_are_drawn(dummy: Dummy) -> None:
    result = round_counts(dummy, CountOptions(1, base=5, quality="paper"))
    drawn = [
        plot_rounding(frequencies(result), differences(result), differences(result, simple=True))
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert b"simply rounded" in drawn[0]
    assert plot_rounding(
        frequencies(result), differences(result), differences(result, simple=True), "png"
    ).startswith(b"\x89PNG")
