"""A release of counts: the attacker knows that they are whole numbers, from the delivery to the re-checked
certificate.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from sdc_tasks import intake, pipeline
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.model.results import Publication
from support.desk import Ended, sdc
from support.small_tables import write_table


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three countries that send the number of enterprises in each cell, protected as their turnover was."""
    folder = tmp_path_factory.mktemp("counts")
    path = write_demo(folder, 3, 8, 3)
    settings = yaml.safe_load(path.read_text())
    settings["indicators"] = [
        {"code": "ENTERPRISES", "label": "Enterprises", "unit": "EUR", "unit_multiplier": 3, "integer": True}
    ]
    settings["audit"] = {"profiles": ["external"], "chunks": 3}
    settings["bases"] |= {"maximum_relative_base": 1.0, "additive": True}
    path.write_text(yaml.safe_dump(settings))
    for file in sorted((folder / "inbox").glob("*.csv")):
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        with file.open("w", newline="") as lines:
            writer = csv.DictWriter(lines, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "INDICATOR": "ENTERPRISES", "OBS_VALUE": row["UNITS"]} for row in rows)
    return folder


def where(desk: Path) -> tuple[object, ...]:
    return ("--domain", desk / "domain.yaml", "--period", "2024", "--inbox", desk / "inbox")


@pytest.fixture(scope="module")
def released(desk: Path) -> Ended:
    ended = sdc("release", *where(desk), "--out", desk / "out", "--witnesses", desk / "evidence.npz")
    assert ended.code == 0, ended.text
    return ended


def test_it_is_published_and_the_certificate_says_how_it_was_shown(desk, released):
    told = json.loads((desk / "out" / "audit.json").read_text())
    assert told["verdict"] == "passed"
    assert told["counts"]["judged_as_whole_numbers"] == told["counts"]["primaries"] > 0
    assert {each["proof"] for each in told["primaries"]} == {"whole table"}
    assert "integer knowledge, audit 1" in released.said


def test_every_verdict_is_shown_again_by_arithmetic(desk, released):
    files = (
        "--published",
        desk / "out" / "table.csv",
        "--certificate",
        desk / "out" / "audit.json",
        "--witnesses",
        desk / "evidence.npz",
    )
    ended = sdc("verify-certificate", *where(desk), *files)
    assert ended.code == 0, ended.text
    assert "verified: passed" in ended.said


def test_the_published_table_is_safe_when_it_is_read_back(desk, released):
    assert sdc("audit", *where(desk), "--published", desk / "out" / "table.csv").code == 0


def test_an_exact_table_is_not_safe_and_its_certificate_is_verified_as_such(desk, released):
    domain = load_domain(desk / "domain.yaml")
    problem = pipeline.build_problem(
        [intake.read(path, domain, "2024").table for path in sorted((desk / "inbox").glob("*.csv"))], domain
    )
    assert problem.integral.all()
    cells = np.flatnonzero(problem.aggregate)
    write_table(
        desk / "exact.csv",
        domain,
        problem.space,
        "2024",
        Publication(cells, problem.a[cells], np.zeros(len(cells))),
    )
    files = (
        "--published",
        desk / "exact.csv",
        "--json",
        desk / "exact.json",
        "--witnesses",
        desk / "exact.npz",
    )
    assert sdc("audit", *where(desk), *files).code == 3
    ended = sdc(
        "verify-certificate",
        *where(desk),
        "--published",
        desk / "exact.csv",
        "--certificate",
        desk / "exact.json",
        "--witnesses",
        desk / "exact.npz",
    )
    assert ended.code == 0, ended.text
    assert "verified: failed" in ended.said


def test_a_fraction_is_refused_by_its_cell(desk, released, tmp_path):
    """The additivity check lets half an enterprise through; the count does not."""
    (tmp_path / "inbox").mkdir()
    for file in sorted((desk / "inbox").glob("*.csv")):
        text = file.read_text()
        (tmp_path / "inbox" / file.name).write_text(text)
    first = sorted((tmp_path / "inbox").glob("*.csv"))[0]
    with first.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    rows[0]["OBS_VALUE"] += ".25"
    with first.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    ended = sdc(
        "release",
        "--domain",
        desk / "domain.yaml",
        "--period",
        "2024",
        "--inbox",
        tmp_path / "inbox",
        "--out",
        tmp_path / "out",
    )
    assert ended.code == 2
    assert "integer: true" in ended.text or "decimals" in ended.text


def test_counts_have_no_decimals(desk, tmp_path):
    text = (desk / "domain.yaml").read_text().replace("integer: true", "integer: true\n  decimals: 1")
    path = desk / "wrong.yaml"
    path.write_text(text)
    ended = sdc("audit", "--domain", path, "--period", "2024", "--inbox", desk / "inbox", "--national")
    assert ended.code == 2
    assert "not together with decimals" in ended.text
