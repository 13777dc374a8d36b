"""What is stored is damaged after it was written, and several work on one release at once."""

from __future__ import annotations

import os
import signal

import pytest
from sqlalchemy import select, update

from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import open_warehouse, writing
from sdc_tasks.warehouse.database.schema import artefact, payload
from support.faults.places import KEYS, Place
from support.tried import tried

# Made again, these are the same bytes. What holds the seconds that a rung needed is not: the damaged payload
# stays beside the new one, and where its length is another, sql/checks/payload_incomplete.sql tells of it.
SAME_AGAIN = ("delivery", "assemble", "baseline", "audit")


def payloads(place: Place, *kinds: str) -> list[str]:
    engine = open_warehouse(place.warehouse, KEYS)
    with engine.connect() as connection:
        known = connection.execute(
            select(payload.c.digest, artefact.c.kind).join(artefact, artefact.c.digest == payload.c.digest)
        )
        found = sorted(row.digest for row in known if not kinds or row.kind in kinds)
    engine.dispose()
    return found


def damage(place: Place, digest: str, how: str) -> None:
    """One bit of a payload is another, its end is cut off, or it is swapped for the content of
    another one.
    """
    engine = open_warehouse(place.warehouse, KEYS)
    with writing(engine) as connection:
        stored = {
            row.digest: row.content for row in connection.execute(select(payload.c.digest, payload.c.content))
        }
        content = bytes(stored[digest])
        other = bytes(next(stored[each] for each in sorted(stored) if each != digest))
        flipped = content[:40] + bytes([content[40] ^ 1]) + content[41:]
        damaged = {"a bit": flipped, "cut": content[: len(content) // 2], "swapped": other}[how]
        connection.execute(update(payload).where(payload.c.digest == digest).values(content=damaged))
    engine.dispose()


@pytest.mark.parametrize("how", [pytest.param("a bit", marks=pytest.mark.exhaustive), "cut", "swapped"])
def test_damage_to_anything_stored_is_healed_by_the_next_run(new_place, undisturbed, how):
    """A run that was killed before its publication is taken up again with one thing that it left, a delivery
    or an array, damaged; then, the release being out, with the next one damaged, and so on.
    """
    left, writes = undisturbed
    place = new_place()
    assert place.release(at=publication(writes)).code == -signal.SIGKILL
    assert len(payloads(place)) > 8
    for digest in payloads(place) if how == "a bit" else payloads(place, *SAME_AGAIN)[::2]:
        damage(place, digest, how)
        ended = place.release()
        assert ended.code == 0, ended.said
        assert place.look() == left
        tried("damaged payloads")


def publication(writes: tuple[str, ...]) -> int:
    """The write that makes the release."""
    return next(
        n
        for n, what in enumerate(writes)
        if what.startswith(("INSERT INTO main.release", "INSERT INTO dissemination.release"))
    )


@pytest.mark.parametrize("crowd", [4])
def test_several_releases_at_once_are_one(new_place, undisturbed, crowd):
    """They take in the same deliveries, compute the same, and publish it: each of them
    ends well, there is one version.
    """
    place = new_place()
    assert place.release(at=0).code == -signal.SIGKILL
    started = [place.start() for _ in range(crowd)]
    ended = [place.nursery.wait(pid) for pid in started]
    assert [each.code for each in ended] == [0] * crowd, "\n".join(
        each.said[-600:] for each in ended if each.code
    )
    assert place.look() == undisturbed[0]
    assert sum("version 1 published" in each.said for each in ended) == 1
    assert sum("version 1 is already published" in each.said for each in ended) == crowd - 1
    tried("releases at once", crowd)


def test_a_publisher_that_stops_in_the_middle_holds_nobody_up_for_ever(new_place, undisturbed):
    """It stands still inside its transaction; another one waits for it; it is killed, and the other one
    publishes.
    """
    place = new_place()
    first = place.start(at=publication(undisturbed[1]), stop=True)
    assert place.nursery.wait_until_stopped(first)
    second = place.start()
    engine = open_warehouse(place.warehouse, KEYS)
    assert reader.releases(engine) == []
    engine.dispose()
    os.kill(first, signal.SIGKILL)
    assert place.nursery.wait(first).code == -signal.SIGKILL
    ended = place.nursery.wait(second)
    assert ended.code == 0, ended.said
    assert place.look() == undisturbed[0]
    tried("releases at once", 2)
