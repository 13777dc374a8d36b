"""A search for which somebody waits: it works in a thread of its own, shows progress, and is
stopped in time with its best result.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from sdc_tasks.cli.shared import QUIET_SECONDS
from sdc_tasks.errors import InvalidInput
from sdc_tasks.one_thread import one_thread
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    from rich.console import Console

    from sdc_tasks.cli.interrupt import Interruption
    from sdc_tasks.model.time.moment import Moment

Status = Literal["optimal", "feasible", "interrupted", "none", "unprotectable", "out of memory", "failed"]
TICK = 0.1  # seconds between two looks at the run
PATIENCE = (
    0.5,
    0.3,
)  # seconds for the method to end after a request, before and after its solver process is stopped


class Watched(Protocol):
    """A run: its results so far, and how to end it."""

    @property
    def elapsed(self) -> float: ...
    @property
    def history(self) -> Sequence[Moment]: ...
    @property
    def doing(self) -> str: ...
    def stop(self) -> None: ...


class Worker(threading.Thread):
    """The thread in which the method works, with the linear algebra on one thread;
    `error` is what ended it early.
    """

    def __init__(self, job: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.error: Exception | None = None
        self._job = job

    def run(self) -> None:
        try:
            one_thread()  # after all imports
            self._job()
        except Exception as error:  # reported after the results are written
            self.error = error


def follow(
    run: Watched,
    worker: Worker,
    seconds: float,
    interruption: Interruption,
    console: Console,
    progress: Callable[[], str],
    place: Path | None,
) -> None:
    """Shows the progress of the run until it ends, its time is up, or somebody asks to stop. Returns soon
    after that.

    `place`: where the result will be written, if anywhere.
    """
    from rich.text import Text

    told = _Told(console)
    with console.status("") if console.is_terminal else nullcontext() as status:
        while worker.is_alive() and not interruption.asked and run.elapsed < seconds:
            worker.join(min(TICK, max(0.0, seconds - run.elapsed)))
            line = progress()
            if status is not None:
                status.update(Text(f"{run.elapsed:7.1f} s  {line}"))
            else:
                told.tell(run, line)
    if interruption.asked:
        ends = "writing" if place is not None else "ending with"
        if any(each.objective is not None for each in list(run.history)):
            console.print(f"interrupted; {ends} the best verified {interruption.sought}")
        else:
            console.print(f"interrupted; no verified {interruption.sought} yet")
    _stop(run, worker)


class _Told:
    """What was printed where the output is no terminal: a new line from time to time."""

    def __init__(self, console: Console) -> None:
        self._console, self._line, self._at = console, "", -QUIET_SECONDS

    def tell(self, run: Watched, line: str) -> None:
        elapsed, begun = run.elapsed, bool(run.history or run.doing)
        if begun and line != self._line and elapsed >= self._at + QUIET_SECONDS:
            self._console.print(f"{elapsed:7.1f} s  {line}")
            self._line, self._at = line, elapsed


def _stop(run: Watched, worker: Worker) -> None:
    """Asks the run to stop, and after a while its solvers."""
    run.stop()
    worker.join(PATIENCE[0])
    if worker.is_alive():
        _stop_solvers()
        worker.join(PATIENCE[1])


def leave_if_stuck(worker: Worker, code: int) -> None:
    """Ends the process with this exit code where the worker is still inside a solver that cannot be
    interrupted.
    """
    if worker.is_alive():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _stop_solvers() -> None:
    """Stops the solver processes of this process. The method then cleans up after them."""
    if find_spec("psutil") is None:
        return  # it is needed by CBC, and no other solver is a process
    import psutil

    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it ended by itself
            if child.name().startswith("cbc"):
                child.kill()


def image_kind(picture: Path) -> Literal["svg", "png"]:
    """The kind of picture, from the suffix of its name. Raises InvalidInput for other suffixes, and where
    nothing can draw.
    """
    require_tested("plot")
    match picture.suffix.lower():
        case ".svg":
            return "svg"
        case ".png":
            return "png"
    raise InvalidInput(f"{picture}: not a picture that can be drawn. Remedy: name it .svg or .png")


def drawing(plot: Path, label: str, found: str) -> Callable[[Sequence[Moment]], bytes]:
    """A function that draws the history. Its libraries are loaded during the search, not at the end."""
    image = image_kind(plot)
    threading.Thread(target=import_module, args=("sdc_tasks.report.cta_figures",), daemon=True).start()

    def draw(history: Sequence[Moment]) -> bytes:
        from sdc_tasks.report.cta_figures import plot_history

        return plot_history(history, label, image, found)

    return draw
