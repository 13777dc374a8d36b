"""What is in a release, with its licences, as CycloneDX; held against the lock: `make sbom`.

PYTHONPATH=tests python -m support.supply.sbom FILE
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from support.supply.licences import INSTALLERS, faults, licences
from support.supply.lock import ROOT, RUN_TIME, Pin, pins

Sbom = dict[str, Any]


def made() -> Sbom:
    """The same for the same lock and environment: every package of `requirements.lock`, with
    its address, hashes and licence.
    """
    command = [
        str(Path(sys.executable).with_name("cyclonedx-py")),
        "requirements",
        str(RUN_TIME),
        "--pyproject",
        str(ROOT / "pyproject.toml"),
    ]
    told = subprocess.run(
        [*command, "--output-reproducible", "--of", "JSON", "-o", "-"],
        check=True,
        capture_output=True,
        text=True,
    )
    sbom: Sbom = json.loads(told.stdout)
    known = licences(sorted(name for name, pin in pins(RUN_TIME).items() if pin.is_needed_here))
    for each in sbom["components"]:
        if licence := known.get(_name(each)):
            each["licenses"] = [{"license": {"name": licence}}]
    return sbom


def wrong(sbom: Sbom, locked: Mapping[str, Pin]) -> list[str]:
    """A line for each thing that it says otherwise than the lock, or that a release may
    not use; empty where all is well.
    """
    listed = Counter(_name(each) for each in sbom["components"])
    found = [
        f"{name}: {listed[name]} times in the SBOM, not once" for name in sorted(locked) if listed[name] != 1
    ]
    found += [
        f"{name}: in the SBOM, and not in {RUN_TIME.name}" for name in sorted(set(listed) - set(locked))
    ]
    for each in sbom["components"]:
        pin = locked.get(_name(each))
        if pin is None:
            continue
        told = {
            digest["content"]
            for reference in each.get("externalReferences", ())
            for digest in reference.get("hashes", ())
        }
        if each.get("version") != pin.version:
            found.append(f"{pin.name}: {each.get('version')}, where {RUN_TIME.name} has {pin.version}")
        if told != pin.hashes:
            found.append(f"{pin.name}: other hashes than in {RUN_TIME.name}")
        if not each.get("purl", "").startswith(f"pkg:pypi/{pin.name}@"):
            found.append(f"{pin.name}: no address of the package index")
    stated = {_name(each): _licence(each) for each in sbom["components"]}
    silent = INSTALLERS | {
        name for name, pin in locked.items() if not pin.is_needed_here
    }  # of another machine or Python: not installed
    return found + faults(
        {name: licence for name, licence in stated.items() if licence or name not in silent}
    )


def _name(component: Mapping[str, Any]) -> str:
    return str(canonicalize_name(component["name"]))


def _licence(component: Mapping[str, Any]) -> str:
    return "; ".join(each["license"]["name"] for each in component.get("licenses", ()))


def main(arguments: Sequence[str]) -> int:
    target = Path(arguments[0])
    sbom = made()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(sbom, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    told = wrong(sbom, pins(RUN_TIME))
    for line in told:
        print(line, file=sys.stderr)
    print(f"{target}: {len(sbom['components'])} packages, {len(told)} of them not as they should be")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
