"""Real Eurostat figures (SBS, NACE C2229, 2015 to 2017, five indicators), released year by year with one
domain file.

2015: Malta is `: u`, not available, for us as well. Where it sends nothing the totals go out without it,
under their partial codes; where it sends that nothing is available they are withheld. 2016: everything is
public. 2017: Luxembourg is `: @C`. What it hides is not known here; its public figures of 2016 stand in for
it, and all official totals of 2017 are what Eurostat would have rounded with them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sdc_tasks.domains import load_domain
from support.desk import Ended, sdc

FIGURES = Path(__file__).parents[2] / "docs/tutorial/figures.csv"
DOMAIN = FIGURES.with_name("c2229.yaml")
YEARS = ("2015", "2016", "2017")
TOTALS = ("EU27_2020", "EU28")
BASES = {
    "V12110": (1000, 1000),
    "V12150": (1000, 100),
    "V15110": (100, 100),
    "V16110": (10_000, 1000),
}  # as they look rounded in 2017
HEAD = (
    "DATAFLOW,FREQ,GEO,INDIC_SB,NACE_R2,TIME_PERIOD,OBS_VALUE,UNIT_MEASURE,UNIT_MULT,OBS_STATUS,CONF_STATUS"
)


@dataclass(frozen=True)
class Figure:
    """A cell as Eurostat prints it: `79000.0 de`, `: @C` or `: c` (confidential), `: u` or `:` (not
    available).
    """

    value: float | None
    flags: str

    @property
    def confidential(self) -> bool:
        return self.value is None and bool({"@C", "c"} & set(self.flags.split()))

    @property
    def status(self) -> str:
        """The code of OBS_STATUS: that of the first flag."""
        return self.flags[:1].upper() or "A"


def figures(year: str) -> dict[tuple[str, str], Figure]:
    """(indicator, area) → figure, of a layout with a column for values and one for flags."""
    with FIGURES.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {
        (row["indic_sb"], row["geo\\TIME_PERIOD"]): Figure(
            float(v) if (v := row[f"{year}_value"]) else None, row[f"{year}_flag"]
        )
        for row in rows
    }


def national(year: str) -> dict[str, dict[str, tuple[float, str, str]]]:
    """country → indicator → (value, OBS_STATUS, CONF_STATUS); a country that is not available is left out."""
    before = figures("2016")
    found: dict[str, dict[str, tuple[float, str, str]]] = {}
    for (indicator, area), figure in figures(year).items():
        if area not in load_domain(DOMAIN).of(year).countries:
            continue
        if figure.confidential:
            stands = before[indicator, area].value
            assert stands is not None
            found.setdefault(area, {})[indicator] = stands, "A", "C"
        elif figure.value is not None:
            found.setdefault(area, {})[indicator] = figure.value, figure.status, "F"
    return found


def units() -> dict[str, tuple[str, int, int]]:
    return {
        each.code: (each.unit, each.unit_multiplier, each.decimals) for each in load_domain(DOMAIN).indicators
    }


class Years(dict[str, tuple[Path, Ended]]):
    """year → its folder, with inbox/ and out/, and how the release ended; released when first asked for."""

    def __init__(self, new_folder: Callable[[str], Path]) -> None:
        self.new_folder = new_folder

    def __missing__(self, year: str) -> tuple[Path, Ended]:
        folder = self.new_folder(f"c2229_{year}")
        (folder / "inbox").mkdir()
        for country, cells in national(year).items():
            assert len(cells) == 5, "a country is there, or it is not"
            lines = [HEAD]
            for indicator, (value, status, flag) in cells.items():
                unit, power, places = units()[indicator]
                lines.append(
                    f"TEST:C2229(1.0),A,{country},{indicator},C2229,{year},{value:.{places}f},{unit},{power},{status},{flag}"
                )
            (folder / "inbox" / f"{country}.csv").write_text("\n".join([*lines, ""]))
        self[year] = folder, sdc(*where(folder, year, "release"), "--out", folder / "out")
        return self[year]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Years:
    return Years(tmp_path_factory.mktemp)


def where(folder: Path, year: str, command: str) -> tuple[object, ...]:
    return (command, "--domain", DOMAIN, "--period", year, "--inbox", folder / "inbox")


def rows(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (folder / "out" / "table.csv").open(newline="", encoding="utf-8") as lines:
        return {(row["INDIC_SB"], row["GEO"]): row for row in csv.DictReader(lines)}


def official(folder: Path, year: str, based: bool) -> Path:
    """Eurostat's totals as a table, with the bases that they look rounded to or without."""
    lines = [f"{HEAD},ROUNDING_BASE".replace("UNIT_MEASURE,UNIT_MULT,OBS_STATUS,CONF_STATUS,", "")]
    for (indicator, area), figure in figures(year).items():
        if area in TOTALS:
            base = BASES[indicator][TOTALS.index(area)] if based and "d" in figure.flags else ""
            lines.append(f"TEST:C2229(1.0),A,{area},{indicator},C2229,{year},{figure.value},{base}")
    path = folder / f"official_{based}.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


def test_one_file_serves_the_years_before_and_after_the_united_kingdom_left():
    domain = load_domain(DOMAIN)
    assert [len(domain.of(year).countries) for year in ("2013", "2019", "2020", "2026")] == [28, 28, 27, 27]
    assert [each.code for each in domain.of("2026").space.aggregates] == ["EU27_2020"]


@pytest.mark.slow
def test_each_year_is_published(released):
    for year in YEARS:
        folder, ended = released[year]
        assert ended.code == 0, ended.text
        again = sdc(*where(folder, folder.name[6:10], "audit"), "--published", folder / "out" / "table.csv")
        assert again.code == 0, again.text


@pytest.mark.slow
def test_without_malta_the_totals_of_2015_go_under_another_code_and_lack_what_malta_is(released):
    folder, _ = released["2015"]
    told, printed = rows(folder), figures("2015")
    assert {area for _, area in told} == {"EU27_2020_PARTIAL", "EU28_PARTIAL"}
    for indicator in units():
        lacks = {
            round(
                (printed[indicator, area].value or 0)
                - float(told[indicator, f"{area}_PARTIAL"]["OBS_VALUE"]),
                1,
            )
            for area in TOTALS
        }
        assert len(lacks) == 1, "the same for both"
        assert min(lacks) > 0
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "MT" in page
    assert "incomplete" in page


@pytest.mark.slow
def test_totals_that_need_what_malta_says_is_not_available_are_withheld_and_official_ones_not_judged(
    released,
):
    folder, _ = released["2015"]
    lines = [
        f"TEST:C2229(1.0),A,MT,{code},C2229,2015,,{unit},{power},M,F"
        for code, (unit, power, _) in units().items()
    ]
    (folder / "inbox" / "MT.csv").write_text("\n".join([HEAD, *lines, ""]))
    try:
        assert sdc(*where(folder, "2015", "release"), "--out", folder / "whole").code == 0
        with (folder / "whole" / "table.csv").open(newline="", encoding="utf-8") as table:
            told = {row["GEO"]: row["OBS_STATUS"] for row in csv.DictReader(table)}
        assert told == {"EU27_2020": "Q", "EU28": "Q"}
        ended = sdc(*where(folder, "2015", "audit"), "--published", official(folder, "2015", False))
        assert ended.code == 6, ended.text
        assert "not judged: 10 values need a national cell that is not available" in ended.said
        assert "contradicts" not in ended.said
    finally:
        (folder / "inbox" / "MT.csv").unlink()


def test_the_totals_of_2016_are_exact_and_official_ones_differ_by_their_own_rounding(released):
    folder, _ = released["2016"]
    assert {row["OBS_STATUS"] for row in rows(folder).values()} == {"A"}
    ended = sdc(*where(folder, "2016", "audit"), "--published", official(folder, "2016", False))
    assert ended.code == 5
    assert "contradicts the deliveries: 10 values exclude the true value" in ended.said
    ended = sdc(
        *where(folder, "2016", "audit"),
        "--published",
        official(folder, "2016", False),
        "--tolerance",
        "0.05%",
    )
    assert ended.code == 0, ended.text
    assert "0 values exclude the true value, 10 more within the tolerance" in ended.said
    for (indicator, area), row in rows(folder).items():
        assert float(row["OBS_VALUE"]) == pytest.approx(figures("2016")[indicator, area].value, rel=5e-4)


def test_where_luxembourg_is_confidential_totals_are_rounded_and_agree_with_the_official_ones(released):
    """Both intervals hold the sum of the deliveries, so they meet; enterprises are public and exact."""
    folder, _ = released["2017"]
    told, printed = rows(folder), figures("2017")
    assert {row["OBS_STATUS"] for (indicator, _), row in told.items() if indicator == "V11110"} == {"A"}
    for (indicator, area), row in told.items():
        ours, theirs = float(row["OBS_VALUE"]), printed[indicator, area].value
        assert theirs is not None
        if indicator == "V11110":
            assert ours == pytest.approx(theirs, rel=5e-4)
            continue
        assert row["OBS_STATUS"] == "E"
        base = BASES[indicator][TOTALS.index(area)]
        assert abs(ours - theirs) <= (float(row["ROUNDING_BASE"]) + base) / 2
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    hidden = [f"{value:g}" for value, _, flag in national("2017")["LU"].values() if flag == "C"]
    text = re.sub(r"<(style|svg|code).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL).replace("\u202f", "")
    assert set(re.findall(r"[\d.]+", text)) & {"139.8", "30.3", "13.6"} == set()
    assert len(hidden) == 4


def test_no_value_printed_for_2017_is_excluded_by_the_others(released):
    """EU28 less the public United Kingdom, and the sum of the visible countries, leave
    room for the value of EU27_2020.
    """
    folder, _ = released["2017"]
    told, cells = rows(folder), national("2017")
    for indicator in ("V12110", "V12150", "V15110", "V16110"):
        value = {area: float(told[indicator, area]["OBS_VALUE"]) for area in TOTALS}
        half = {area: float(told[indicator, area]["ROUNDING_BASE"]) / 2 for area in TOTALS}
        kingdom = cells["UK"][indicator][0]
        visible = sum(of[indicator][0] for country, of in cells.items() if country not in ("UK", "LU"))
        assert value["EU27_2020"] >= visible - 1e-6
        assert value["EU28"] >= visible + kingdom - 1e-6
        assert abs(value["EU28"] - kingdom - value["EU27_2020"]) <= min(half.values()) + 1e-6


def test_the_official_totals_of_2017_look_rounded_and_with_their_bases_are_safe(released):
    folder, _ = released["2017"]
    ended = sdc(
        *where(folder, "2017", "audit"),
        "--published",
        official(folder, "2017", False),
        "--tolerance",
        "0.05%",
    )
    assert ended.code != 0
    for indicator in BASES:
        assert f"hint: EU27_2020.{indicator}: every value" in ended.said
        assert f"hint: EU28.{indicator}: every value" in ended.said
    ended = sdc(
        *where(folder, "2017", "audit"), "--published", official(folder, "2017", True), "--tolerance", "0.05%"
    )
    assert ended.code == 0, ended.text
    assert "hint" not in ended.said
