"""A release is killed with SIGKILL before each of its writes, and run again: nothing half-published, nothing
left lying about, the same bytes as without.

The writes are counted by a release that nobody disturbs, from the first migration to the report
(`writes.py`), so that none can be forgotten. Those that publish in `make test`, a sample in
`make test-beyond`, all of them in `make test-faults`.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator
from itertools import groupby

import pytest

from support.faults.office import Left
from support.faults.places import NewPlace
from support.tried import tried

EVERY = 64  # the sample: each so many writes, beside those of the publish transaction and of the files
PUBLISHES = re.compile(r"INSERT INTO (main\.|dissemination\.)?(release|publication)\b|COPY|os\.rename|end")


def rows(writes: tuple[str, ...]) -> Iterator[list[int]]:
    """The writes that publish; those that follow one another into the same table together."""
    for what, alike in groupby(range(len(writes)), key=writes.__getitem__):
        if PUBLISHES.match(what):
            yield list(alike)


def sample(writes: tuple[str, ...]) -> list[int]:
    """Each so many, and of the rows that publish: before the first, in the middle, before the last."""
    return sorted(
        set(range(0, len(writes), EVERY)).union(
            *({row[0], row[len(row) // 2], row[-1]} for row in rows(writes))
        )
    )


def killed_and_run_again(
    new_place: NewPlace, undisturbed: tuple[Left, tuple[str, ...]], points: Iterable[int]
) -> dict[str, str]:
    """What went wrong, by the write before which it was killed."""
    left, writes = undisturbed
    wrong = {}
    for n in points:
        place = new_place()
        try:
            died = place.release(at=n)
            assert died.code == -signal.SIGKILL, died.said
            place.look()
            assert place.lying_about() == []
            again = place.release()
            assert again.code == 0, again.said
            assert place.look() == left
            assert place.lying_about() == []
        except AssertionError as error:
            wrong[f"{n}: {writes[n]}"] = str(error)
        tried("SIGKILLs of a release before each of its writes")
    return wrong


def test_a_release_that_is_killed_as_it_publishes_is_completed_by_the_next(new_place, undisturbed):
    published = [row[-1] for row in rows(undisturbed[1])]
    points = {
        PUBLISHES.match(undisturbed[1][n])[0]: n for n in published
    }.values()  # the last write of each kind
    assert len(points) > 3
    assert killed_and_run_again(new_place, undisturbed, points) == {}


@pytest.mark.slow
def test_a_release_that_is_killed_is_completed_by_the_next(new_place, undisturbed):
    points = sample(undisturbed[1])
    assert len(points) > 12
    assert killed_and_run_again(new_place, undisturbed, points) == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(8))
def test_killed_before_each_write(new_place, undisturbed, part):
    done = set(sample(undisturbed[1]))
    points = [n for n in range(len(undisturbed[1])) if n not in done][part::8]
    assert killed_and_run_again(new_place, undisturbed, points) == {}


def test_killed_again_and_again(new_place, undisturbed):
    """Each time a little later; what one run has done, the next does not do again."""
    place, deaths = new_place(), 0
    while (ended := place.release(at=20 * (deaths + 1))).code == -signal.SIGKILL:
        deaths += 1
        assert place.lying_about() == []
    assert ended.code == 0, ended.said
    assert deaths > 3
    assert place.look() == undisturbed[0]
    tried("SIGKILLs of the runs that complete a killed release", deaths)
