"""The lock files as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
RUN_TIME, DEVELOPMENT = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
PIN = re.compile(r"([A-Za-z0-9._-]+)(\[[a-z0-9,._-]+\])?==([^\s;]+)(\s*;[^\\]+)?")


@dataclass(frozen=True)
class Pin:
    """A package at a version, and the digests of the files that may be installed as such."""

    name: str
    version: str
    hashes: frozenset[str]


def pins(lock: Path) -> dict[str, Pin]:
    """The packages of a lock by name. Raises ValueError for a line that is no pin with hashes: an address, a folder, an open version."""
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
        found[name] = Pin(name, match[3], hashes)
    return found
