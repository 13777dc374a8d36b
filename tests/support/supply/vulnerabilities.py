"""Which known vulnerabilities the packages of a lock have, by a folder of advisories in
OSV's JSON, without any network.

    PYTHONPATH=tests python -m support.supply.vulnerabilities FOLDER [LOCK …]

The folder is what https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip unpacks to, fetched by
whoever may. Exit codes: 0 none known, 1 some, 2 nothing was checked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from support.supply.lock import DEVELOPMENT, LATER, RUN_TIME, Pin, pins


@dataclass(frozen=True)
class Known:
    """An advisory that names the version of a pin."""

    package: str
    version: str
    advisory: str
    aliases: tuple[str, ...]
    summary: str


def advisories(folder: Path) -> list[Mapping[str, Any]]:
    """Those in force of the folder."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.json"))]
    return [
        each for each in found if isinstance(each, dict) and "affected" in each and "withdrawn" not in each
    ]


def known(locked: Mapping[str, Pin], folder: Path) -> list[Known]:
    """What is known of the pins."""
    found = []
    for advisory in advisories(folder):
        for affected in advisory["affected"]:
            package = affected.get("package", {})
            pin = locked.get(str(canonicalize_name(package.get("name", ""))))
            if package.get("ecosystem") == "PyPI" and pin is not None and is_affected(pin.version, affected):
                found.append(
                    Known(
                        pin.name,
                        pin.version,
                        advisory["id"],
                        tuple(advisory.get("aliases", ())),
                        advisory.get("summary", ""),
                    )
                )
    return sorted(set(found), key=lambda each: (each.package, each.advisory))


def is_affected(version: str, affected: Mapping[str, Any]) -> bool:
    """By OSV's evaluation: listed by name, or inside a range; a range is open where nothing says that it
    ends.
    """
    if version in affected.get("versions", ()):
        return True
    return any(
        _inside(Version(version), each["events"])
        for each in affected.get("ranges", ())
        if each.get("type") == "ECOSYSTEM"
    )


def _inside(version: Version, events: Sequence[Mapping[str, str]]) -> bool:
    inside = False
    for kind, at in sorted(_events(events), key=lambda event: (event[1], event[0] != "introduced")):
        if kind == "introduced" and version >= at:
            inside = True
        if (kind == "fixed" and version >= at) or (kind == "last_affected" and version > at):
            inside = False
    return inside


def _events(events: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, Version]]:
    for event in events:
        for kind, at in event.items():
            try:
                yield kind, Version("0.dev0" if at == "0" else at)
            except InvalidVersion:
                continue


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[0]) if arguments and arguments[0] else None
    if folder is None or not folder.is_dir() or not (number := len(advisories(folder))):
        print(
            "nothing was checked: no folder with OSV advisories (JSON). Remedy: unpack "
            "https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip and name the folder",
            file=sys.stderr,
        )
        return 2
    code = 0
    for lock in [Path(each) for each in arguments[1:]] or [RUN_TIME, DEVELOPMENT, *LATER]:
        locked = pins(lock)
        found = known(locked, folder)
        for each in found:
            print(
                (
                    f"{each.package} {each.version}: {each.advisory} {' '.join(each.aliases)} {each.summary}"
                ).rstrip()
            )
        print(f"{lock.name}: {len(locked)} packages, {number} advisories, {len(found)} of them apply")
        code = max(code, int(bool(found)))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
