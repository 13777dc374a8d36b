"""Twelve regional deliveries as a release: published, its audit passed, and the exact table judged
as an independent attacker does.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import intake
from sdc_tasks.domains import load_domain
from sdc_tasks.model.results import Publication
from support.desk import Ended, sdc
from support.small_tables import write_table

DATA = Path(__file__).parents[3] / "shared/data/regions12/deliveries"
DOMAIN = Path(__file__).with_name("regions12.yaml")
WHERE = ("--domain", DOMAIN, "--period", "2024", "--inbox", DATA)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the deliveries are not on this machine ({DATA})"),
]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    out = tmp_path_factory.mktemp("regions12")
    return out, sdc("release", *WHERE, "--out", out)


def test_all_twelve_are_accepted_and_the_table_is_published(released):
    out, ended = released
    assert ended.code == 0, ended.text
    assert "12 accepted, 0 refused" in ended.said
    with (out / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    certificate = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert len(rows) == certificate["counts"]["aggregate_cells"] == 1056
    assert {row["REF_AREA"] for row in rows} == {"NL"}
    assert certificate["verdict"] == "passed"
    assert certificate["counts"]["primaries"] == certificate["counts"]["protected"] == 1602
    assert certificate["counts"]["cut_to_national_baseline"] == 10
    exact, rounded, withheld = (sum(row["OBS_STATUS"] == status for row in rows) for status in "AEQ")
    assert exact + rounded + withheld == 1056
    assert withheld < 0.1 * 1056 < exact, "withholding is the last resort"


def test_what_was_published_is_judged_safe_again(released):
    out, _ = released
    ended = sdc("audit", *WHERE, "--published", out / "table.csv")
    assert ended.code == 0, ended.text


def test_the_exact_table_breaks_777_requirements(tmp_path):
    """776 on sides that the regions' own tables protect in full, and one on a side that is cut to what they
    protect.

    The certificate tells cells, not sides: of the 776, two belong to cells whose other side is cut.
    """
    domain = load_domain(DOMAIN)
    tables = [intake.read(path, domain, "2024").table for path in sorted(DATA.glob("*.csv"))]
    total = np.sum([table.value for table in tables if table is not None], axis=0)
    cells = np.arange(len(total)) + len(domain.countries) * domain.space.national_size
    write_table(
        tmp_path / "exact.csv", domain, domain.space, "2024", Publication(cells, total, np.zeros(len(total)))
    )
    ended = sdc(
        "audit", *WHERE, "--published", tmp_path / "exact.csv", "--json", tmp_path / "certificate.json"
    )
    assert ended.code == 3
    assert "NOT SAFE: 777 one-sided requirements" in ended.said
    certificate = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    broken = {"whole": 0, "cut": 0}
    for each in certificate["primaries"]:
        broken["cut" if each["cut_to_national_baseline"] else "whole"] += (each["down"] < 1) + (
            each["up"] < 1
        )
    assert broken == {"whole": 774, "cut": 3}
