"""The seeded demonstration, small, for tests that need a release and not a good one."""

from __future__ import annotations

from pathlib import Path

import yaml

from sdc_tasks.demo import write_demo


def quick_demo(folder: Path, countries: int = 4, activities: int = 15, sizes: int = 3) -> Path:
    """As `write_demo`, with a quick search. Returns the path of the domain file."""
    return quick(write_demo(folder, countries, activities, sizes))


def quick(path: Path) -> Path:
    """The domain file, changed: the local search of the adjustment ends after one round, not thirty."""
    domain = yaml.safe_load(path.read_text(encoding="utf-8"))
    domain["cta"]["ladder"][0]["rounds"] = 1
    path.write_text(yaml.safe_dump(domain, sort_keys=False), encoding="utf-8")
    return path
