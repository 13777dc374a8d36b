"""Writes a file so that a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO


def write_whole(path: Path, content: str | bytes) -> None:
    """Replaces the file in one step and creates its folder. A full disk leaves the earlier file. Only
    owner and group can read the file, whatever the umask: an account on the machine is not a
    permission to pass a release on.
    """
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with _created(temporary) as stream:
            stream.write(content.encode("utf-8") if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _created(path: Path) -> IO[bytes]:
    local: object = path
    if not isinstance(local, Path):  # an object store has rights of its own
        return path.open("wb")
    path.unlink(missing_ok=True)  # left by a process of the same number that was killed
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640), "wb")
