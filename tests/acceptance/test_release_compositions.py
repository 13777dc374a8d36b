"""Real Eurostat figures (SBS, NACE C2229, persons employed, 2017), released for EU27_2020
and EU28: what they tell together.

Luxembourg is confidential: 304 stands in for it, so that both totals lie where
Eurostat's rounded figures say.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Aggregate, CellSpace
from support.desk import Ended, sdc
from support.oracles.attack import ONE_CELL, ColdAttacker

FIGURES = Path(__file__).parents[2] / "docs/tutorial/figures.csv"
MEMBERS = (
    "AT",
    "BE",
    "BG",
    "CY",
    "CZ",
    "DE",
    "DK",
    "EE",
    "EL",
    "ES",
    "FI",
    "FR",
    "HR",
    "HU",
    "IE",
    "IT",
    "LT",
    "LU",
    "LV",
    "MT",
    "NL",
    "PL",
    "PT",
    "RO",
    "SE",
    "SI",
    "SK",
)
LUXEMBOURG, LEVEL = 304, 30.4
DOMAIN = f"""
id: employed
title: Manufacture of other plastic products, persons employed
structure_id: "TEST:EMPLOYED(1.0)"
areas: {{dimension: GEO, codelist: areas.csv}}
aggregates:
  - {{code: EU27_2020, label: European Union of 27, members: [{", ".join(MEMBERS)}]}}
  - {{code: EU28, label: European Union of 28, members: all}}
indicators: [{{code: V16110, label: Persons employed, unit: PS}}]
hierarchies: [{{dimension: NACE_R2, codelist: activities.csv}}]
attributes: {{unit: null, unit_multiplier: null, obs_status: OBS_STATUS, units: null, share_1: null, share_2: null}}
flags:
  F: {{role: public}}
  C: {{role: primary, rule: {{kind: percent, percent: 10}}}}
bases: {{rule: minimum-uncertainty}}
"""  # noqa: E501
Row = tuple[str, int, int, str]


def employed() -> dict[str, float]:
    """geo → persons employed in 2017, of the 28 countries."""
    with FIGURES.open(newline="", encoding="utf-8") as lines:
        known = {row[3]: float(row[8]) for row in csv.reader(lines) if row[2] == "V16110" and row[8]}
    assert "LU" not in known
    return {country: known.get(country, LUXEMBOURG) for country in (*MEMBERS, "UK")}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A domain file, and an inbox of 28 deliveries of one cell."""
    (tmp_path / "domain.yaml").write_text(DOMAIN)
    (tmp_path / "areas.csv").write_text("code,parent\n" + "".join(f"{country},\n" for country in employed()))
    (tmp_path / "activities.csv").write_text("code,parent\nC2229,\n")
    (tmp_path / "inbox").mkdir()
    for country, value in employed().items():
        flag = "C" if country == "LU" else "F"
        head = "DATAFLOW,FREQ,GEO,INDICATOR,NACE_R2,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS"
        record = f"TEST:EMPLOYED(1.0),A,{country},V16110,C2229,2017,{value:.0f},A,{flag}"
        (tmp_path / "inbox" / f"{country}.csv").write_text(f"{head}\n{record}\n")
    return tmp_path


def release(desk: Path) -> Ended:
    return sdc(
        "release",
        "--domain",
        desk / "domain.yaml",
        "--period",
        "2017",
        "--inbox",
        desk / "inbox",
        "--out",
        desk / "out",
    )


def rows(desk: Path) -> list[Row]:
    """(composition, primaries, narrower, quarter left) of the report's table."""
    page = (desk / "out" / "report.html").read_text(encoding="utf-8")
    table = page[page.index('aria-label="What compositions tell together"') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    found = [
        [re.sub("<[^>]*>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in body.split("</tr>")[:-1]
    ]
    return [
        (name.split(" ")[0], int(primaries), int(narrower), left) for name, primaries, narrower, left in found
    ]


def test_what_eurostat_printed_tells_more_together_and_the_report_shows_it(desk, monkeypatch):
    """EU27_2020 alone leaves Luxembourg [0, 9 904]; EU28 less the public United Kingdom [0, 742], and so do
    both.
    """

    def printed(problem: ProtectionProblem, *_: Any) -> Publication:
        return Publication(
            np.flatnonzero(problem.aggregate), np.array([540_000.0, 591_000.0]), np.array([10_000.0, 1_000.0])
        )

    monkeypatch.setattr("sdc_tasks.pipeline.choose_bases", printed)
    ended = release(desk)
    assert ended.code == 0, ended.text
    assert rows(desk) == [("EU27_2020", 1, 1, "under a quarter"), ("EU28", 1, 0, "–"), ("for", 1, 0, "–")]
    page = (desk / "out" / "report.html").read_text(encoding="utf-8").replace("\u202f", "")
    text = re.sub(r"<(style|svg|code).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert "540000" in text
    assert {"304", "30.4", "742", "9904", "838"} & set(re.findall(r"[\d.]+", text)) == set()


def test_what_a_release_chooses_is_told_as_an_independent_attacker_finds_it(desk):
    ended = release(desk)
    assert ended.code == 0, ended.text
    with (desk / "out" / "table.csv").open(newline="", encoding="utf-8") as lines:
        told = {row["GEO"]: (row["OBS_VALUE"], row["ROUNDING_BASE"]) for row in csv.DictReader(lines)}
    found = {}
    for names in (("EU27_2020", "EU28"), ("EU27_2020",), ("EU28",)):
        found[names] = width({name: told[name] for name in names})
    whole, *alone = found.values()
    assert whole >= 2 * LEVEL, "it was released"
    quarters = (
        "under a quarter",
        "a quarter to a half",
        "half to three quarters",
        "more than three quarters",
    )
    expected = [
        (int(whole < 0.99 * width), quarters[int(4 * whole / width)] if whole < 0.99 * width else "–")
        for width in (*alone, min(alone))
    ]
    assert [row[2:] for row in rows(desk)] == expected


def width(told: dict[str, tuple[str, str]]) -> float:
    """Of Luxembourg's interval where this is published, (value, base) as printed; two cold LPs."""
    figures = employed()
    space = CellSpace(
        tuple(figures),
        (Aggregate("EU27_2020", MEMBERS), Aggregate("EU28", tuple(figures))),
        ("V16110",),
        ONE_CELL,
    )
    inside = sum(figures[country] for country in MEMBERS)
    a = np.array([*figures.values(), inside, inside + figures["UK"]])
    secret = np.array([country == "LU" for country in space.areas])
    public = ~secret & (np.arange(len(a)) < len(figures))
    zero = np.zeros(len(a))
    problem = ProtectionProblem(
        space, a, zero, np.full(len(a), np.inf), zero, zero, zero, public, secret, ("printed",)
    )
    low, high = np.full(2, np.inf), np.full(2, np.inf)
    for k, (name, truth) in enumerate(zip(("EU27_2020", "EU28"), a[-2:], strict=True)):
        value, base = told.get(name, ("", ""))
        if value:
            half = float(base or 0) / 2
            low[k], high[k] = truth - (float(value) - half), float(value) + half - truth
    attacker, cell = ColdAttacker(problem, low, high), int(np.flatnonzero(secret)[0])
    return min(attacker.reach(cell, -1), 1000 * LEVEL) + min(attacker.reach(cell, 1), 1000 * LEVEL)
