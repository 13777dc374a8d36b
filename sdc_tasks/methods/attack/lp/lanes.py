"""Searches side by side: HiGHS lets other threads run, so they use two cores where there are two.

What runs side by side reads nothing that the others change. So one core, a busy machine and two cores find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

LANES = 2  # each has models of its own, in memory

Lane = TypeVar("Lane")
Job = TypeVar("Job")
Result = TypeVar("Result")


def in_lanes(search: Callable[[Lane, Job], Result], lanes: Sequence[Lane], jobs: Iterable[Job]) -> Iterator[Result]:
    """The results in the order of the jobs. A job runs on the lane that is free, so its result must be the same on each of them."""
    if len(lanes) < 2:
        yield from (search(lane, job) for lane in lanes for job in jobs)
        return
    free = SimpleQueue[Lane]()
    for lane in lanes:
        free.put(lane)

    def run(job: Job) -> Result:
        lane = free.get()
        try:
            return search(lane, job)
        finally:
            free.put(lane)

    with ThreadPoolExecutor(len(lanes)) as threads:
        yield from threads.map(run, jobs)


@contextmanager
def beside(search: Callable[[], None]) -> Iterator[None]:
    """Runs a search beside the block, and ends when both have ended. What the search raises is raised here."""
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(search)
        yield
        found.result()
