"""The lock files as data, and the program that installs them."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name

from support import ROOT
from support.supply import as_pip

RUN_TIME, DEVELOPMENT = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
ALONE = ROOT / "requirements-sdc.lock"  # `sdc` without Airflow
# What make adds to DEVELOPMENT where it is first asked for: the site and the notebooks; tests in a browser.
LATER = (ROOT / "requirements-docs.lock", ROOT / "requirements-browser.lock")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
NO_NETWORK = (
    "dns error",
    "Failed to fetch",
    "Connection refused",
    "network was disabled",
    "error sending request",
)
PIN = re.compile(r"([A-Za-z0-9._-]+)(\[[a-z0-9,._-]+\])?==([^\s;]+)(\s*;[^\\]+)?")


@dataclass(frozen=True)
class Pin:
    """A package at a version, the digests of the files that may be installed as such, and the
    machines and Pythons that need it.
    """

    name: str
    version: str
    hashes: frozenset[str]
    marker: Marker | None = None

    @property
    def is_needed_here(self) -> bool:
        return self.marker is None or self.marker.evaluate()


def pins(lock: Path) -> dict[str, Pin]:
    """The packages of a lock by name. Raises ValueError for a line that is no pin with hashes: an
    address, a folder, an open version.
    """
    found: dict[str, Pin] = {}
    text = re.sub(r"^\s*#.*$", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for entry in text.replace("\\\n", " ").splitlines():
        if not entry.strip():
            continue
        hashes, rest = frozenset(HASH.findall(entry)), HASH.sub("", entry).strip()
        match = PIN.fullmatch(rest)
        if match is None or not hashes:
            raise ValueError(f"{lock.name}: no pin with hashes: {rest[:80]}")
        name = str(canonicalize_name(match[1]))
        if name in found:
            raise ValueError(f"{lock.name}: {name} twice")
        found[name] = Pin(name, match[3], hashes, Marker(match[4].strip(" ;")) if match[4] else None)
    return found


def uv(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """uv of this environment with its cache, and no settings of the user's."""
    cache = {"UV_CACHE_DIR": str(ROOT / ".venv" / "cache")} if (ROOT / ".venv").is_dir() else {}
    command = [Path(sys.executable).with_name("uv"), *arguments]
    environment = {"UV_NO_CONFIG": "1", **cache, **as_pip.environment()}
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )


def no_network(done: subprocess.CompletedProcess[str]) -> bool:
    """uv could not ask an index; every other failure is one."""
    return done.returncode != 0 and any(sign in done.stderr for sign in NO_NETWORK)
