"""CBC through PuLP, over files that exist in memory only.

PuLP hands a model to CBC as a file, and reads the solution from another; both hold confidential values. In a folder they would outlive
a process that is killed. Here they are memory of this process (memfd_create, Linux), which CBC, a process of the same user, opens by
the path of our descriptor: however we end, nothing is left.

CBC is started without our environment, which holds the keys of the warehouse and the passwords of its accounts.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import pulp


@dataclass(frozen=True)
class Papers:
    """What PuLP and CBC hand to each other: the model (MPS), the solution, the starting point, and what CBC prints."""

    model: Path
    solution: Path
    start: Path
    log: Path


@contextmanager
def papers() -> Iterator[Papers]:
    """Empty files, gone with the context or with the process."""
    numbers = [os.memfd_create(f"sdc-{field.name}") for field in fields(Papers)]
    try:
        yield Papers(*(Path(f"/proc/{os.getpid()}/fd/{number}") for number in numbers))
    finally:
        for number in numbers:
            os.close(number)


ALONE = {"LC_ALL": "C"}  # all of CBC's environment


def _alone(method: FunctionType) -> tuple[Any, ...]:
    """PuLP's own method, but that what it knows as subprocess.Popen hands no environment on."""
    known = {**method.__globals__, "subprocess": SimpleNamespace(Popen=partial(subprocess.Popen, env=ALONE))}
    return method.__code__, known, method.__name__, method.__defaults__, method.__closure__


class Cbc(pulp.PULP_CBC_CMD):  # type: ignore[misc]
    """PuLP's CBC on given papers, which it does not delete."""

    papers: Papers
    solve_CBC = FunctionType(*_alone(pulp.PULP_CBC_CMD.solve_CBC))  # noqa: N815 (PuLP's name)

    def create_tmp_files(self, name: str, *endings: str) -> Iterator[str]:
        by_ending = {"mps": self.papers.model, "sol": self.papers.solution, "mst": self.papers.start}
        return (str(by_ending.get(ending, os.devnull)) for ending in endings)

    def delete_tmp_files(self, *files: str) -> None:
        pass

    def readsol_MPS(self, filename: str, *rest: Any) -> Any:  # noqa: N802 (PuLP's name)
        """Raises PulpSolverError where CBC wrote no solution: its file is there from the start."""
        if not os.stat(filename).st_size:
            raise pulp.PulpSolverError("CBC left no solution")
        return super().readsol_MPS(filename, *rest)
