"""Writing a file so that its reader sees the old one or the new one, never a part."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


def write_whole(path: Path, text: str) -> None:
    """Replaces the file in one step, creating its folder; a full disk leaves the earlier one. Whatever the umask, nobody but its owner and
    group reads it: who may pass it on decides when, not who has an account on the machine.
    """
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with _created(temporary) as stream:
            stream.write(text.encode("utf-8"))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _created(path: Path) -> IO[bytes]:
    local: object = path
    if not isinstance(local, Path):  # an object store has rights of its own
        return path.open("wb")
    path.unlink(missing_ok=True)  # left by a process of the same number that was killed
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640), "wb")
