"""The linear algebra under NumPy and SciPy on one thread.

OpenBLAS splits a long sum over as many threads as the machine has cores: the last digit depends on their number. A comparison may then
have another result, and the release differs. Our matrices are small; one thread is as fast, and idle threads of OpenBLAS spin: beside them,
two processes of an audit took a quarter longer (docs/speed.md).
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
SETTERS = ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "openblas_set_num_threads64_", "openblas_set_num_threads")


def one_thread() -> None:
    """From here on, in this process: libraries that are loaded get one thread; libraries loaded later read it from the environment."""
    os.environ.update(dict.fromkeys(NAMES, "1"))
    for path in _loaded():
        library = ctypes.CDLL(path)
        for name in SETTERS:
            if hasattr(library, name):
                getattr(library, name)(ctypes.c_int(1))


def _loaded() -> list[str]:
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    return sorted({path for line in lines if "openblas" in (path := line.split(maxsplit=5)[-1]) and path.startswith("/")})
