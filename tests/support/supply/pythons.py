"""The Pythons of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def interpreter(version: str) -> str | None:
    """A Python of this version. What pyenv puts into the path runs only where somebody has chosen that
    version.
    """
    there = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in (
        shutil.which(f"python{version}"),
        *sorted(map(str, there.glob(f"{version}.*/bin/python{version}"))),
    ):
        asked = "import sys; print('%d.%d' % sys.version_info[:2])"
        if (
            path
            and subprocess.run(
                [path, "-c", asked], capture_output=True, text=True, check=False
            ).stdout.strip()
            == version
        ):
            return path
    return None
