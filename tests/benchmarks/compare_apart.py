"""A method in a process of its own: its answer, seconds of CPU and the memory that it added. Imports nothing
but the standard library, as it also serves the programs of others in environments of theirs.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def apart(work: Callable[[], Any], seconds: int) -> dict[str, Any]:
    """`answer` or `refused`, with `cpu` (s), `wall` (s) and `memory` (MiB more than before). What takes
    longer than this many seconds is ended.
    """
    with tempfile.NamedTemporaryFile() as file:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            _work(work, Path(file.name), seconds)
        _, status = os.waitpid(child, 0)
        text = Path(file.name).read_text(encoding="utf-8")
    if not text:
        return {"refused": f"ended by signal {os.WTERMSIG(status)}" if status else "no answer"}
    return dict(json.loads(text))


def _work(work: Callable[[], Any], place: Path, seconds: int) -> None:
    signal.alarm(seconds)
    os.dup2(2, 1)  # what libraries print is no answer
    before, began, at = _peak(), time.process_time(), time.perf_counter()
    try:
        told: dict[str, Any] = {"answer": work()}
    except Exception as error:  # whatever a program raises is its refusal
        told = {
            "refused": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
        }
    told |= {
        "cpu": round(time.process_time() - began, 3),
        "wall": round(time.perf_counter() - at, 3),
        "memory": round(max(_peak() - before, 0) / 1024, 1),
    }
    place.write_text(json.dumps(told), encoding="utf-8")
    os._exit(0)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
