"""The audit of a large table in several processes, as a release has it in mapped tasks.

Attacks on single cells do not run side by side in one process, as Clp holds Python's lock (docs/speed.md). The verdicts, the evidence and
the number of linear programs do not depend on how many processes there are.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING

from sdc_tasks.errors import Retriable

if TYPE_CHECKING:
    from sdc_tasks.domains.schema import Domain
    from sdc_tasks.methods.attack import Requirements
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.progress import Say
    from sdc_tasks.model.results import AuditReport, Publication

SPREAD_FROM = 20_000  # suppressed cells; with fewer, processes take longer to start than they save
MOST_PROCESSES = 4  # unless somebody asks for more: each holds the whole problem


def processes_for(problem: ProtectionProblem) -> int:
    """One for each core, or a single one for a table that is not large."""
    return min(os.cpu_count() or 1, MOST_PROCESSES) if int(problem.suppressed.sum()) > SPREAD_FROM else 1


def audit(
    problem: ProtectionProblem, publication: Publication, requirements: Requirements, domain: Domain, processes: int, say: Say
) -> AuditReport:
    """The audit of the whole publication. Raises as `pipeline.audit` does, and Retriable where a process was killed."""
    from sdc_tasks import pipeline
    from sdc_tasks.model.results import Tables

    if processes == 1:
        return pipeline.audit(problem, publication, requirements, domain, progress=say)
    tried = Tables(**Tables.rows([]))
    joint = pipeline.audit_jointly(problem, publication, requirements, domain, tried, say)
    spread = domain.model_copy(update={"audit": domain.audit.model_copy(update={"chunks": processes})})
    given = problem, publication, requirements, spread
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=begin) as pool:
        parts = [pool.submit(pipeline.audit, *given, chunk, tried, joint) for chunk in range(processes)]
        try:
            for done, part in enumerate(as_completed(parts), start=1):
                part.result()
                say(f"audit: {done} of {processes} parts")
        except BrokenProcessPool as error:
            raise Retriable(f"one of {processes} processes was killed, perhaps for its memory. Remedy: --processes 1") from error
        return pipeline.merge([part.result() for part in parts])


def begin() -> None:
    """What this process holds is confidential: it ends at Ctrl-C, without a word, and as soon as its parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
