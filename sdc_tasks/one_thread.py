"""The linear algebra under NumPy and SciPy on one thread.

OpenBLAS deals a long sum out over as many threads as the machine has cores, and adds up their parts: the last digit depends on how many
there are. Somewhere a comparison then falls the other way, and a release is another one. Its programs are small here; one thread is as
quick.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
SETTERS = ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "openblas_set_num_threads64_", "openblas_set_num_threads")


def one_thread() -> None:
    """From here on, in this process: what is loaded is told, what will be loaded reads it."""
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
