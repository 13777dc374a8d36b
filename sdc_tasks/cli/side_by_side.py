"""Steps of a release, or the audit of a large table, in several processes, as the DAG has them in mapped
tasks.

Attacks on single cells do not run side by side in one process, as Clp holds Python's lock
(docs/speed.md). The bytes of a release, the verdicts, the evidence and the number of linear programs do
not depend on how many processes there are.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from sdc_tasks.cli.screen import out
from sdc_tasks.errors import Retriable
from sdc_tasks.one_thread import one_thread

if TYPE_CHECKING:
    from sdc_tasks.domains.schema import Domain
    from sdc_tasks.methods.attack import Requirements
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.progress import Say
    from sdc_tasks.model.results import AuditReport, Publication
    from sdc_tasks.steps import Desk

    Step = Callable[[Desk, str, int], object]  # for a desk, a release and a number: of a group, or of a chunk

Result = TypeVar("Result")
SPREAD_FROM = 20_000  # suppressed cells; with fewer, processes take longer to start than they save
MOST_PROCESSES = 4  # unless somebody asks for more: each holds the whole problem


def processes_for(problem: ProtectionProblem) -> int:
    """One for each core, or a single one for a table that is not large."""
    return min(os.cpu_count() or 1, MOST_PROCESSES) if int(problem.suppressed.sum()) > SPREAD_FROM else 1


def audit(
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    domain: Domain,
    processes: int,
    say: Say,
) -> AuditReport:
    """The audit of the whole publication. Raises as `pipeline.audit` does, and Retriable where a process was
    killed.
    """
    from sdc_tasks import pipeline
    from sdc_tasks.model.results import CandidateWitnesses

    if processes == 1:
        return pipeline.audit(problem, publication, requirements, domain, progress=say)
    tried = CandidateWitnesses(**CandidateWitnesses.rows([]))
    joint = pipeline.audit_jointly(problem, publication, requirements, domain, tried, say)
    spread = domain.model_copy(update={"audit": domain.audit.model_copy(update={"chunks": processes})})
    given = problem, publication, requirements, spread
    with _pool(processes) as pool:
        parts = _begun(pool, pipeline.audit, [(*given, chunk, tried, joint) for chunk in range(processes)])
        for done, part in enumerate(as_completed(parts), start=1):
            part.result()
            say(f"audit: {done} of {processes} parts")
        return pipeline.merge([part.result() for part in parts])


@dataclass(frozen=True)
class Place:
    """Where a release is made. Every process opens a desk of its own there, and tells the seconds
    since `began` (`time.monotonic`).
    """

    warehouse: str
    domain: str | Path
    period: str
    began: float

    def desk(self, which: str = "") -> Desk:
        """`which`: one of several steps that tell their progress at once."""
        from sdc_tasks.steps import open_desk

        def say(message: str) -> None:
            out.tell((f"{time.monotonic() - self.began:7.1f} s", "dim"), f"  {which}{message}")

        return open_desk(self.warehouse, self.domain, self.period, say)


def run(
    step: Step, release_id: str, numbers: Sequence[int], place: Place, desk: Desk, processes: int
) -> None:
    """The step for each number, begun in this order, in as many processes; in this one, at its `desk`, where
    that is one. A step that fails stops no other. Raises as the step does, and Retriable where a process was
    killed: what the others stored stays.
    """
    if min(processes, len(numbers)) == 1:
        for number in numbers:
            step(desk, release_id, number)
        return
    with _pool(min(processes, len(numbers))) as pool:
        for each in _begun(
            pool, _run, [(step, release_id, number, len(numbers), place) for number in numbers]
        ):
            each.result()


def _run(step: Step, release_id: str, number: int, numbers: int, place: Place) -> None:
    desk = place.desk(f"{number + 1} of {numbers}: ")
    try:
        step(desk, release_id, number)
    finally:
        desk.engine.dispose()


@contextmanager
def _pool(processes: int) -> Iterator[Executor]:
    """Whoever interrupts this process ends the others at once."""
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=begin) as pool:
        try:
            yield pool
        except BrokenProcessPool as error:
            raise Retriable(
                f"one of {processes} processes was killed, perhaps for its memory. Remedy: --processes 1"
            ) from error
        except (KeyboardInterrupt, SystemExit):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would stop what ends the others
            pool.shutdown(wait=False, cancel_futures=True)
            for each in active_children():
                each.kill()
            raise


def _begun(
    pool: Executor, work: Callable[..., Result], given: Sequence[tuple[Any, ...]]
) -> list[Future[Result]]:
    """The work for each of these arguments. Ctrl-C waits until the processes have started: one that
    starts would print a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return [pool.submit(work, *each) for each in given]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin() -> None:
    """What this process holds is confidential: it ends at Ctrl-C, without a word, and as soon as its parent
    has ended. Its sums do not depend on the number of cores.
    """
    one_thread()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # then the parent ignores it, too
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
