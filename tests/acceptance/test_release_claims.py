"""A release of 21 primaries, two of which their own national table does not protect: what every text of it
says.
"""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path

import pytest

from sdc_tasks import outputs, steps
from sdc_tasks.api.releases import release as release_of
from sdc_tasks.model.profiles import PROFILES
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.operations.journal import WITNESSES
from support.deliveries import PERIOD, cells
from support.desk import Desk, Ended, new_desk, sdc
from support.weak import DRAWINGS, PRIMARIES, PROTECTED, SAID, WEAK_CELLS, weak_desk

EVERYTHING = re.compile(r"every confidential (?:national )?cell (?:withstood|stays)", re.IGNORECASE)
ALL = re.compile(rf"\b{PRIMARIES}(?: of {PRIMARIES} primar| protected of)")


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, Ended, Path]:
    folder = tmp_path_factory.mktemp("weak")
    desk = weak_desk(folder)
    ended = desk.release()
    assert ended.code == 0, ended.text
    return desk, ended, folder / "out"


def one_line(text: str) -> str:
    """Without the frame of a table on the terminal, and without markup."""
    bare = re.sub(r"<style>.*?</style>", " ", text, flags=re.DOTALL)
    return re.sub(r"[\s│]+", " ", html.unescape(re.sub(r"<[^>]+>", " ", bare)))


def test_the_tables_hide_what_the_story_says() -> None:
    flags = [flag for drawing in DRAWINGS.values() for *_, flag in cells(drawing)]
    assert flags.count("A") == PRIMARIES


def test_the_console_says_how_many_are_protected_and_how_far_the_others_are(
    weak: tuple[Desk, Ended, Path],
) -> None:
    said = one_line(weak[1].said)
    assert said.count(SAID) == 2, "at the verdict, and in the summary"
    assert not ALL.search(said)


def test_the_banner_and_the_card_of_the_report_say_it_in_amber(weak: tuple[Desk, Ended, Path]) -> None:
    page = (weak[2] / "report.html").read_text(encoding="utf-8")
    header = page.split("</header>", 1)[0]
    (banner,) = re.findall(r'<p class="verdict (\w+)">(.*?)</p>', header)
    assert banner[0] == "warn"
    assert SAID in one_line(banner[1])
    assert "against external; not against internal, coalition, vintage, revision" in one_line(banner[1])
    assert f"{PROTECTED} protected of {PRIMARIES}" in one_line(header)
    assert not EVERYTHING.search(one_line(page))
    assert not ALL.search(one_line(page))
    rows = dict(re.findall(r'<tr><th scope="row">(\w\w) (.*?)</tr>', page))
    assert {country: row.count("n alert") for country, row in rows.items() if country in DRAWINGS} == {
        "AA": 0,
        "BB": 0,
        "CC": 2,
        "DD": 2,
    }


def test_the_report_says_what_showed_the_requirements_and_not_only_how_many_lps_the_audit_solved(
    weak: tuple[Desk, Ended, Path],
) -> None:
    """The choice of bases found the tables; the audit only checks them, so that "0 LPs" alone
    contradicts "linear programs attacked".
    """
    said = one_line((weak[2] / "report.html").read_text(encoding="utf-8"))
    found = re.search(
        r"(\d+) witness(?:es)? shows? 63 requirements; LPs solved: (\d+) before the audit, (\d+) in it", said
    )
    assert found
    assert int(found[1]) > 0
    assert int(found[2]) > 0
    counted = reader.tallies(
        steps.open_desk(f"sqlite:///{weak[2] / 'warehouse.db'}", weak[0].domain, PERIOD).engine,
        release_id(weak),
    )
    assert counted[WITNESSES] == int(found[1])
    assert sum(
        number for name, number in counted.items() if name.startswith("LPs") and "audit" not in name
    ) == int(found[2])


def release_id(weak: tuple[Desk, Ended, Path]) -> str:
    return str(re.search(r"release (small-\S+)", weak[1].said)[1])  # type: ignore[index]


def test_the_public_metadata_say_that_some_are_not_and_neither_how_many_nor_where(
    weak: tuple[Desk, Ended, Path],
) -> None:
    for name in ("metadata.html", "metadata.json"):
        said = one_line((weak[2] / name).read_text(encoding="utf-8"))
        assert not EVERYTHING.search(said)
        assert "Some confidential cells do not reach what their rule asks" in said
        assert PROFILES["external"].who in said
        assert "Against other attackers it was not examined." in said
        for cell in WEAK_CELLS:
            assert cell not in said
        treatment = said.split("Confidentiality - data treatment")[-1].split("Statistical processing")[0]
        timeless = re.sub(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z", "", treatment)  # a minute may be 19 or 21
        assert not re.search(r"\b(19|21)\b", timeless)


def test_the_office_finds_its_cell_in_findings(weak: tuple[Desk, Ended, Path]) -> None:
    with (weak[2] / "findings.csv").open(newline="", encoding="utf-8") as lines:
        found = {row["COUNTRY"]: row for row in csv.DictReader(lines) if row["CODE"] == "SDC/unprotected"}
    assert {country: row["SEVERITY"] for country, row in found.items()} == {"CC": "warning", "DD": "warning"}
    for cell in WEAK_CELLS:
        assert cell in found[cell[:2]]["MESSAGE"]


def told(desk: Desk) -> str:
    return (desk.folder / "out" / "findings.csv").read_text(encoding="utf-8")


def test_a_table_that_is_corrected_before_anything_is_out_takes_the_finding_away(tmp_path: Path) -> None:
    desk = weak_desk(tmp_path)
    desk.settle("flags:", "governance: {approvals: 1}\nflags:")
    desk.release()
    assert told(desk).count("SDC/unprotected") == 2
    for country in ("CC", "DD"):
        desk.deliver(country, DRAWINGS["AA"])
    ended = desk.release()
    assert re.search(r"audit passed: (\d+) of \1 primaries protected;", ended.said), ended.text
    assert "SDC/unprotected" not in told(desk)


def test_a_table_that_is_corrected_later_is_weak_beside_what_is_out(tmp_path: Path) -> None:
    """Who kept version 1 knows how little F.L could be there; no flag of version 2 takes that away."""
    desk = weak_desk(tmp_path)
    desk.release()
    for country in ("CC", "DD"):
        desk.deliver(country, DRAWINGS["AA"])
    ended = desk.release()
    assert (
        "20 of 24 primaries protected; 4 only as far as their national table and what is out already allow "
        "(CC 2, DD 2)"
    ) in ended.said
    assert told(desk).count("beside what is out already, this table does not protect 2 primaries") == 2
    public = (tmp_path / "out" / "metadata.html").read_text(encoding="utf-8")
    assert "or what was published before" in public
    assert not EVERYTHING.search(one_line(public))


def test_who_agrees_reads_it_first(weak: tuple[Desk, Ended, Path]) -> None:
    desk, _, out = weak
    said = outputs.brief(
        steps.open_desk(f"sqlite:///{out / 'warehouse.db'}", desk.domain, PERIOD), release_id(weak)
    )
    assert SAID in said
    assert "against external; not against internal" in said


def test_the_commands_that_read_a_certificate_say_it(weak: tuple[Desk, Ended, Path]) -> None:
    desk, _, out = weak
    audited = desk.audit(
        out / "table.csv", "--json", out / "again.json", "--witnesses", out / "witnesses.zip"
    )
    assert audited.code == 0, audited.text
    assert SAID in one_line(audited.said)
    verified = sdc(
        "verify-certificate",
        *desk.where,
        "--published",
        out / "table.csv",
        "--certificate",
        out / "again.json",
        "--witnesses",
        out / "witnesses.zip",
    )
    assert verified.code == 0, verified.text
    assert f"verified: passed: {SAID}" in one_line(verified.said)
    explained = sdc(
        "explain", release_id(weak), "EU.TURNOVER.F.L", "--warehouse", f"sqlite:///{out / 'warehouse.db'}"
    )
    assert SAID in one_line(explained.said), explained.text


def test_a_notebook_says_it(weak: tuple[Desk, Ended, Path]) -> None:
    import pandas as pd

    tables = {
        path.name[:2]: pd.read_csv(path, dtype=str, keep_default_na=False)
        for path in weak[0].inbox.glob("*.csv")
    }
    found = release_of(tables, weak[0].domain, PERIOD)
    assert found.claim.sentence == SAID
    assert found.figures["primaries protected"] == SAID.replace(" primaries protected", "")


def test_a_release_without_exceptions_is_green_and_says_so(tmp_path: Path) -> None:
    desk = new_desk(tmp_path, **dict.fromkeys(("AA", "BB"), DRAWINGS["AA"]))
    (tmp_path / "activities.csv").write_text(
        "code,parent\nTOTAL,\n" + "".join(f"{code},TOTAL\n" for code in "CDEF")
    )
    assert desk.release().code == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert re.search(
        r'<p class="verdict good"><strong>Passed\.</strong> 12 of 12 primaries protected\.', page
    )
    assert (
        "Every confidential cell stays as uncertain as its rule asks."
        in (tmp_path / "out" / "metadata.html").read_text()
    )
    assert "SDC/unprotected" not in (tmp_path / "out" / "findings.csv").read_text()
    certificate = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert certificate["counts"]["cut_to_national_baseline"] == 0
