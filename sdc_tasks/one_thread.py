"""The linear algebra under NumPy and SciPy on one thread.

OpenBLAS splits a long sum over as many threads as the machine has cores: the last digit depends on their
number. A comparison may then have another result, and the release differs. Our matrices are small; one
thread is as fast, and idle threads of OpenBLAS spin: beside them, two processes of an audit took a
quarter longer (docs/speed.md).
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


def one_thread() -> None:
    """From here on, in this process: libraries that are loaded get one thread; libraries loaded
    later read it from the environment.
    """
    os.environ.update(dict.fromkeys(NAMES, "1"))
    for path in _mapped():
        try:
            library = ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_NOW)
        except (OSError, UnicodeError):  # another file of such a name, which need not be text
            continue
        for name in SETTERS:
            if hasattr(library, name):
                getattr(library, name)(ctypes.c_int(1))


def _mapped() -> list[str]:
    """The files with such a name that this process has mapped. One that was replaced
    since is still found by its name.
    """
    maps = Path("/proc/self/maps")
    lines = os.fsdecode(maps.read_bytes()).splitlines() if maps.exists() else []
    paths = {line.split(maxsplit=5)[-1].removesuffix(" (deleted)") for line in lines if "openblas" in line}
    return sorted(path for path in paths if path.startswith("/"))
