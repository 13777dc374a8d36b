"""The bytes of releases, pinned: whoever changes the program without meaning to change a
release sees here that he did not.

A pin that moves is a decision, told in the changelog. To renew the pins, and read what moved in
`git diff tests/golden/pins.json`:

    RENEW_PINS=1 .venv/bin/pytest tests/golden/test_pinned_releases.py

All warehouses here have one secret, so that digests keyed by it can be compared. `proof` holds the keyed
digests of a certificate; `audit` is the rest of it. The digest of the domain file is not pinned: a new option
of domain files changes it for every domain.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from sdc_tasks.cli.release import release
from sdc_tasks.demo import write_demo
from support.two_indicators import write_two_indicators

PINS = Path(__file__).with_name("pins.json")
PERIOD = "2024"
REGIONS = Path(__file__).parents[3] / "shared/data/regions12/deliveries"
SMALL = (4, 10, 3)  # countries, activities, size classes
Settings = Mapping[str, Any]
pytestmark = pytest.mark.usefixtures("one_secret")


def rung(method: str, **options: Any) -> Settings:
    return {"method": method, "gap": 0, "accept_gap": 0, **options}


QUICK = {"ladder": [rung("milp", nodes=0)]}
WISHES = [{"cells": "*.TURNOVER.*._T", "must": "published"}, {"cells": "*.TURNOVER.*.S1", "cost": 5}]
DOMAINS: Mapping[str, Settings] = {
    "as shipped": {},
    "every method of adjustment": {
        "cta": {
            "weights": "inverse",
            "ladder": [
                rung("bcd", rounds=1, blocks=3),
                rung("fix-and-relax", blocks=3),
                rung("milp", nodes=3, solver="highs"),
            ],
        },
        "bases": {"rule": "cta"},
    },
    "benders": {"cta": {"ladder": [rung("benders", rounds=3)]}},
    "audit alone": {"cta": {"ladder": []}, "bases": {"rule": "cta", "mantissas": [1.0, 5.0]}},
    "strata": {"cta": QUICK, "bases": {"strata": {"SIZECLASS": "level"}, "sharpen": False}},
    "additive": {"cta": QUICK, "bases": {"additive": True}},
    "visible countries": {"cta": QUICK, "bases": {"visible_share": 0.5, "maximum_relative_base": 0.05}},
    "wishes": {"cta": QUICK, "bases": {"maximum_relative_base": 2.0, "cells": WISHES}},
    "respondents": {"cta": QUICK, "audit": {"profiles": ["external", "internal", "coalition"], "chunks": 3}},
    "whole numbers": {"cta": QUICK, "indicators": {"integer": True}},
}
# What these go through, another one goes through as well: `make test-beyond` has them.
OFTEN_ENOUGH = {"benders", "audit alone", "strata", "additive", "visible countries"}
ROUNDED: Mapping[str, Settings] = {
    "small counts": {"method": "small-count", "base": 3},
    "controlled rounding": {"method": "controlled", "base": 5, "nodes": 200},
    "quadratic rounding": {"method": "quadratic", "base": 5, "nodes": 200},
}


def released(domain: Path | str, inbox: Path, out: Path) -> dict[str, str]:
    """What is pinned of a release."""
    release(str(domain), PERIOD, inbox, out)
    certificate = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    digests = certificate.pop("digests")
    proof = {name: digests[name] for name in ("deliveries", "problem", "requirements", "evidence")}
    return {
        "table": hashlib.sha256((out / "table.csv").read_bytes()).hexdigest(),
        "publication": digests["publication"],
        "audit": hashlib.sha256(json.dumps(certificate, sort_keys=True).encode()).hexdigest(),
        "proof": hashlib.sha256(json.dumps(proof, sort_keys=True).encode()).hexdigest(),
    }


def as_pinned(name: str, found: dict[str, str]) -> None:
    pins = json.loads(PINS.read_text(encoding="utf-8"))
    if os.environ.get("RENEW_PINS"):
        PINS.write_text(json.dumps({**pins, name: found}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return
    assert found == pins[name], (
        f"{name}: other bytes than before. If that is meant, renew the pins and tell it in CHANGELOG.md"
    )


def asks_also(path: Path, more: Settings) -> None:
    """Puts settings into a domain file, beside those that it has; those of `indicators` into each
    indicator.
    """
    settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    for section, options in more.items():
        for each in settings[section] if section == "indicators" else [settings[section]]:
            each.update(options)
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in OFTEN_ENOUGH else []) for name in DOMAINS]
)
def test_a_small_release_has_the_bytes_that_are_pinned(name, tmp_path):
    path = write_demo(tmp_path, *SMALL)
    asks_also(path, DOMAINS[name])
    as_pinned(name, released(path, tmp_path / "inbox", tmp_path / "out"))


@pytest.mark.parametrize("name", ROUNDED)
def test_a_release_of_rounded_counts_has_the_bytes_that_are_pinned(name, tmp_path):
    path = write_two_indicators(tmp_path, rounding=ROUNDED[name])
    as_pinned(name, released(path, tmp_path / "inbox", tmp_path / "out"))


def test_a_second_version_has_the_bytes_that_are_pinned(tmp_path):
    """One country sends its table again, all values twice as large."""
    path = write_demo(tmp_path, *SMALL)
    asks_also(path, {"cta": QUICK})
    inbox, out = tmp_path / "inbox", tmp_path / "out"
    released(path, inbox, out)
    first = min(inbox.glob("*.csv"))
    with first.open(newline="", encoding="utf-8-sig") as lines:
        head = lines.readline()
        separator = ";" if ";" in head else ","
        lines.seek(0)
        rows = list(csv.DictReader(lines, delimiter=separator))
    for row in rows:
        row["OBS_VALUE"] = str(2 * int(row["OBS_VALUE"].removesuffix(",0")))
    with first.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, rows[0], delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    as_pinned("second version", released(path, inbox, out))


@pytest.mark.slow
def test_the_demonstration_has_the_bytes_that_are_pinned(tmp_path):
    write_demo(tmp_path)
    as_pinned("demonstration", released("sbs", tmp_path / "inbox", tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.skipif(not REGIONS.is_dir(), reason=f"the deliveries are not on this machine ({REGIONS})")
def test_twelve_regions_have_the_bytes_that_are_pinned(tmp_path):
    domain = Path(__file__).parents[1] / "acceptance/regions12.yaml"
    as_pinned("twelve regions", released(domain, REGIONS, tmp_path / "out"))
