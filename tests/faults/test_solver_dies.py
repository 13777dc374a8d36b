"""CBC is killed at its work, or the process that waits for it is: the release stops, and is
completed by the next with the bytes that it would have had; nothing of the model stays on a
disk, and no CBC goes on by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import psutil
import pytest

from sdc_tasks.errors import Retriable
from sdc_tasks.solver.cbc import GRACE_SECONDS
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import Milp, solve_milp
from support.faults.nursery import KILLED
from support.hopeless import HOPELESS
from support.tried import tried
from support.waiting import until


def cbc_of(parent: int) -> list[psutil.Process]:
    """The CBC processes that work on papers of that process, whoever their parent is now."""
    papers = f"/proc/{parent}/fd/"
    return [
        each
        for each in psutil.process_iter(["cmdline"])
        if any(papers in word for word in each.info["cmdline"] or ())
    ]


@pytest.mark.slow
def test_a_release_whose_cbc_is_killed_stops_and_is_completed_by_the_next(new_place, undisturbed):
    place = new_place()
    ended = place.release(cbc="cbc")
    assert ended.code == Retriable.exit_code, ended.said
    assert KILLED in ended.said
    assert "cbc: its process ended without an answer" in ended.said
    assert place.lying_about() == []
    assert place.release().code == 0
    assert place.look() == undisturbed[0], "not what the bases alone would have left"
    tried("CBC processes, or their parents, killed at work")


@pytest.mark.slow
def test_a_release_that_is_killed_while_cbc_works_is_completed_by_the_next(new_place, undisturbed):
    place = new_place()
    pid = place.start(cbc="parent")
    died = place.nursery.wait(pid)
    assert (died.code, KILLED in died.said) == (-signal.SIGKILL, True)
    assert place.lying_about() == []
    assert until(lambda: not cbc_of(pid))
    assert place.release().code == 0
    assert place.look() == undisturbed[0]
    tried("CBC processes, or their parents, killed at work")


def _solve(model: Milp, seconds: float, folder: Path) -> None:
    os.environ["TMPDIR"] = str(folder)
    solve_milp(model, "cbc", seconds, 0.0)


@pytest.fixture
def hopeless() -> Milp:
    """CBC looks for hours for the proof."""
    return HOPELESS


@pytest.fixture
def busy(hopeless: Milp, tmp_path: Path):
    """A process with a CBC at work that has a second left by its own clock."""
    process = multiprocessing.get_context("spawn").Process(target=_solve, args=(hopeless, 1.0, tmp_path))
    process.start()
    assert until(lambda: cbc_of(process.pid))
    yield process
    process.kill()
    process.join()


def test_cbc_and_its_model_do_not_outlive_who_asked(busy, tmp_path):
    (cbc,) = cbc_of(busy.pid)
    assert until(lambda: cbc.rlimit(psutil.RLIMIT_CPU)[0] != -1), (
        "its processor time is limited once it is seen"
    )
    assert cbc.rlimit(psutil.RLIMIT_CPU)[0] <= 1 + GRACE_SECONDS + 1
    os.kill(busy.pid, signal.SIGKILL)
    busy.join()
    assert list(tmp_path.iterdir()) == []
    assert until(lambda: not cbc.is_running())


def test_a_cbc_that_is_killed_is_a_solver_without_an_answer(hopeless):
    import threading

    def kill() -> None:
        assert until(lambda: cbc_of(os.getpid()))
        cbc_of(os.getpid())[0].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    found = solve_milp(hopeless, "cbc", 30, 0.0)
    killer.join()
    assert (found.status, found.x) == (Status.DIED, None)
