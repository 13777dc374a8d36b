"""Countries that deliver primaries only: the receiver sets secondaries, tells the NSI, and releases a
table that withstands the attack.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.steps.memory import load
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import open_warehouse
from support.deliveries import PERIOD, sdmx_1
from support.desk import FREE, PROTECTED, SECRET_KEYS, SECRETS, Desk, Ended, new_desk, sdc, warehouse

# The same tables as in PROTECTED, with the primary cell alone: anybody subtracts it from its total.
BARE = """
            _T         S         L
    TOTAL   1500000 F  750000 F  750000 F
    C       750000 F   251409 F  498591 F
    D       750000 F   498591 F  251409 A
"""
ASKED = "suppression: {receiver: when_missing}\nflags:"
OTHER = FREE.replace("300000 F  450000", "310000 F  440000").replace("450000 F  300000", "440000 F  310000")
LARGER = """
            _T         S         L
    TOTAL   1600000 F  800000 F  800000 F
    C       800000 F   320000 F  480000 F
    D       800000 F   480000 F  320000 F
"""
COMPOSITIONS = """  - {code: EU, label: Union, members: all}
  - {code: NORTH, label: North, members: [AT, DE]}"""
WEAK = """
            _T         S         L
    TOTAL   1500000 F  750000 F  750000 F
    C       750000 F   251409 D  498591 D
    D       750000 F   498591 F  251409 A
"""


def findings(out: Path) -> dict[str, str]:
    """country → what its NSI is told of secondaries."""
    with (out / "findings.csv").open(newline="", encoding="utf-8") as lines:
        return {
            row["COUNTRY"]: row["MESSAGE"] for row in csv.DictReader(lines) if row["CODE"] == "SDC/secondary"
        }


def listed(out: Path) -> dict[str, set[tuple[str, str]]]:
    """country → (activity, size) of every cell of its list."""
    found = {}
    for file in (out / "secondaries").iterdir():
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        assert {(row["REF_AREA"], row["INDICATOR"], row["TIME_PERIOD"], row["FLAG"]) for row in rows} == {
            (file.stem, "TURNOVER", PERIOD, "S")
        }
        found[file.stem] = {(row["ACTIVITY"], row["SIZECLASS"]) for row in rows}
    return found


def withheld(out: Path) -> int:
    with (out / "table.csv").open(newline="", encoding="utf-8") as lines:
        return sum(not row["OBS_VALUE"] for row in csv.DictReader(lines))


def verified(desk: Desk, *more: object) -> Ended:
    out = desk.folder / "out"
    where = ("--domain", desk.domain, "--period", PERIOD, "--inbox", desk.inbox)
    told = (
        "--published",
        out / "table.csv",
        "--certificate",
        out / "audit.json",
        "--witnesses",
        desk.folder / "evidence.json",
    )
    return sdc("verify-certificate", *where, *told, *more)


@pytest.fixture
def three(tmp_path: Path) -> Desk:
    """Three countries with primaries only, one without any, one that protects itself."""
    desk = new_desk(tmp_path, AT=BARE, BE=BARE, CY=BARE, DE=FREE, FR=PROTECTED)
    desk.settle("flags:", ASKED)
    return desk


def test_three_countries_with_primaries_only(three):
    ended = three.release("out", "--witnesses", three.folder / "evidence.json")
    out = three.folder / "out"
    assert ended.code == 0, ended.text
    told = findings(out)
    assert set(told) == {"AT", "BE", "CY"}
    square = {("C", "S"), ("C", "L"), ("D", "S")}
    assert listed(out) == dict.fromkeys(told, square), (
        "a square around the primary: the cheapest that protects it"
    )
    for country, message in told.items():
        assert (
            f"no secondaries, so that it does not protect 1 primary to its level: {country}.TURNOVER.D.L. "
            in message
        )
        assert f"set 3 secondaries in the release (CONF_STATUS S): {country}.TURNOVER.C.S" in message
        assert "Remedy: do not publish these cells" in message
    assert "3 secondaries set by the receiver" in ended.said
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "9 secondaries set by the receiver" in page
    assert all(message.split(" not protect")[0] in page for message in told.values())

    certificate = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert (certificate["verdict"], certificate["profiles"]) == ("passed", ["external", "vintage"])
    assert certificate["counts"]["primaries"] == certificate["counts"]["protected"] == 4
    assert warehouse(out).versions == [1]
    checked = verified(three)
    assert (checked.code, "verified" in checked.said) == (0, True), checked.text
    for file in (*out.glob("*.html"), *out.glob("*.json"), *out.glob("secondaries/*"), out / "findings.csv"):
        assert not [secret for secret in SECRETS if secret in file.read_text(encoding="utf-8")], file.name
    assert not [secret for secret in SECRETS if secret in ended.text]


@pytest.mark.parametrize(("delivered", "square_is_exact"), [("may_be_public", False), ("not_public", True)])
def test_a_country_that_ignores_the_list_gives_no_other_country_away(three, delivered, square_is_exact):
    """AT, BE and CY may publish their tables as they came. Then the sum of the five countries,
    less these and the public DE, is FR's secret: its exact value may go out only if the domain
    says that nobody has those tables.
    """
    three.settle("receiver: when_missing", f"receiver: when_missing, delivered: {delivered}")
    ended = three.release("out", "--witnesses", three.folder / "evidence.json")
    out = three.folder / "out"
    assert ended.code == 0, ended.text
    with (out / "table.csv").open(newline="", encoding="utf-8") as lines:
        exact = {
            (row["ACTIVITY"], row["SIZECLASS"]) for row in csv.DictReader(lines) if row["OBS_STATUS"] == "A"
        }
    assert ("TOTAL", "_T") in exact
    assert bool(exact & SECRET_KEYS) is square_is_exact
    certificate = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert certificate["counts"]["cut_to_national_baseline"] == (0 if square_is_exact else 3)
    checked = verified(three)
    assert (checked.code, "verified" in checked.said) == (0, True), checked.text


def test_european_cells_are_suppressed_instead_of_rounded(three):
    """The exact sum of AT and the public DE gives AT away; the sum of all five gives FR away to whoever reads
    the tables that came with primaries only. Of each square one corner that is withheld leaves the others to
    be computed, so all four are withheld.
    """
    three.settle("  - {code: EU, label: Union, members: all, partial_code: EU_PARTIAL}", COMPOSITIONS)
    three.settle("flags:", "bases: {rule: suppression}\nflags:")
    ended = three.release("out", "--witnesses", three.folder / "evidence.json")
    out = three.folder / "out"
    assert ended.code == 0, ended.text
    assert "0 rounded" in ended.said
    assert set(findings(out)) == {"AT", "BE", "CY"}
    with (out / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert {(row["OBS_STATUS"], row["CONF_STATUS"], bool(row["OBS_VALUE"])) for row in rows} == {
        ("A", "F", True),
        ("Q", "S", False),
    }
    hidden = {(row["REF_AREA"], row["ACTIVITY"], row["SIZECLASS"]) for row in rows if not row["OBS_VALUE"]}
    assert hidden == {(area, *cell) for area in ("EU", "NORTH") for cell in SECRET_KEYS}
    certificate = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert (certificate["verdict"], certificate["counts"]["withheld"], certificate["counts"]["rounded"]) == (
        "passed",
        len(hidden),
        0,
    )
    checked = verified(three)
    assert (checked.code, "verified" in checked.said) == (0, True), checked.text
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"{len(hidden)} withheld" in page
    assert "Read a rounded cell" not in page, "there is none"
    assert "An attacker who has these tables as they came" in page
    for file in (out / "report.html", out / "audit.json", out / "findings.csv"):
        assert not [secret for secret in SECRETS if secret in file.read_text(encoding="utf-8")], file.name


def test_without_the_option_they_are_only_reported(three):
    three.settle(ASKED, "flags:")
    ended = three.release()
    out = three.folder / "out"
    assert (ended.code, findings(out), (out / "secondaries").exists()) == (0, {}, False), ended.text
    assert (
        json.loads((out / "audit.json").read_text(encoding="utf-8"))["counts"]["cut_to_national_baseline"]
        == 3
    )


def test_running_again_is_the_same_release(three):
    three.release()
    out = three.folder / "out"
    before = {
        file.name: file.read_bytes()
        for file in (out / "table.csv", out / "audit.json", *sorted(out.glob("secondaries/*")))
    }
    again = three.release()
    assert again.code == 0, again.text
    assert {
        file.name: file.read_bytes()
        for file in (out / "table.csv", out / "audit.json", *sorted(out.glob("secondaries/*")))
    } == before
    assert (warehouse(out).versions, set(findings(out))) == ([1], {"AT", "BE", "CY"})


def test_a_country_that_takes_over_the_list_is_told_nothing_more(three):
    three.release()
    for country in ("AT", "BE", "CY"):
        three.deliver(country, PROTECTED, f"{country}_{PERIOD}_v2.csv")
    three.settle("when_missing}", "when_missing, delivered: not_public}")
    ended = three.release()
    out = three.folder / "out"
    assert (ended.code, findings(out), list((out / "secondaries").iterdir())) == (0, {}, []), ended.text
    assert warehouse(out).unsound == []


@pytest.mark.parametrize(("receiver", "told"), [("when_missing", set()), ("when_unprotected", {"AT"})])
def test_secondaries_that_do_not_protect(tmp_path, receiver, told):
    desk = new_desk(tmp_path, AT=WEAK, BE=FREE)
    desk.settle("flags:", f"suppression: {{receiver: {receiver}}}\nflags:")
    ended = desk.release()
    out = desk.folder / "out"
    assert (ended.code, set(findings(out))) == (0, told), ended.text
    if told:
        assert listed(out) == {"AT": {("D", "S")}}, "what the country hides stays hidden, and costs nothing"
        assert "the secondaries of this table do not protect 1 primary to its level" in findings(out)["AT"]


def test_the_page_of_the_country_tells_it(three):
    import sys

    from support import ROOT

    three.release()
    sys.path.append(str(ROOT / "plugins"))
    from sdc_ui.cycles.findings import findings_facts

    engine = open_warehouse(f"sqlite:///{three.folder / 'out' / 'warehouse.db'}")
    try:
        facts = findings_facts(engine, "small", PERIOD, "AT")
        other = findings_facts(engine, "small", PERIOD, "FR")
    finally:
        engine.dispose()
    (file,) = facts.files
    (cause,) = [each for each in file.causes if each.code == "SDC/secondary"]
    (said,) = cause.said
    assert "set 3 secondaries" in said.message
    assert "Send the list of these cells to the NSI" in cause.remedy
    assert not other.files[0].causes


def test_a_second_version_waits_until_the_first_lists_are_followed(three):
    """BE takes over the list, DE revises. Somebody may have version 1 and not the tables as they
    came, another one these tables: the audit covers each of them alone, not both. So the domain
    file must say that nobody has them.
    """
    three.release()
    out, before = three.folder / "out", three.folder / "inbox_1"
    shutil.copytree(three.inbox, before)
    shutil.copy(out / "table.csv", three.folder / "table_1.csv")
    three.deliver("BE", PROTECTED, f"BE_{PERIOD}_v2.csv")
    three.deliver("DE", LARGER, f"DE_{PERIOD}_v2.csv")
    assert three.release("out").refused("may be read elsewhere as they came", "delivered: not_public")
    assert warehouse(out).versions == [1]
    audited = three.audit(
        three.folder / "table_1.csv", "--earlier", three.folder / "table_1.csv", "--earlier-inbox", before
    )
    assert audited.refused("may be read elsewhere as they came")
    three.settle("when_missing}", "when_missing, delivered: not_public}")
    ended = three.release("out", "--witnesses", three.folder / "evidence.json")
    assert ended.code == 0, ended.text
    assert (warehouse(out).versions, set(findings(out)), warehouse(out).unsound) == ([1, 2], {"AT", "CY"}, [])
    checked = verified(three, "--earlier", three.folder / "table_1.csv", "--earlier-inbox", before)
    assert (checked.code, "verified" in checked.said) == (0, True), checked.text


def test_what_a_version_showed_is_not_hidden_again(three):
    """Version 1 comes from a domain file that sets nothing: it treats the cells beside the primaries as
    public. Hiding them in version 2 would pretend a protection that nobody has.
    """
    three.settle(ASKED, "flags:")
    three.release()
    three.settle("flags:", ASKED)
    three.deliver("DE", OTHER, f"DE_{PERIOD}_v2.csv")
    ended = three.release()
    out = three.folder / "out"
    with (out / "findings.csv").open(newline="", encoding="utf-8") as lines:
        shown = {
            row["COUNTRY"]: row["MESSAGE"] for row in csv.DictReader(lines) if row["CODE"] == "SDC/shown"
        }
    assert set(shown) == {"AT", "BE", "CY"}, ended.text
    assert "An earlier version of the period showed" in shown["AT"]
    assert (findings(out), (out / "secondaries").exists()) == ({}, False)


def test_a_problem_that_is_kept_says_which_cells_are_hidden(three):
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.steps import open_desk

    three.release()
    out = three.folder / "out"
    desk = open_desk(f"sqlite:///{out / 'warehouse.db'}", str(three.domain), PERIOD)
    (release,) = reader.releases(desk.engine)
    problem = load(desk, release.release_id, "assemble", ProtectionProblem)
    hidden = {problem.space.key(int(cell)) for cell in np.flatnonzero(problem.suppressed)}
    desk.engine.dispose()
    assert {
        f"{country}.TURNOVER.{a}.{s}" for country, cells in listed(out).items() for a, s in cells
    } < hidden


def test_linked_indicators_and_counts_in_one_release(tmp_path):
    """Nobody publishes a count of firms. Beside them AT hides one cell of GOODS, which TURNOVER less SERVICES
    tells: the list names the cells of two indicators.
    """
    sums = (
        FREE.replace("300000", "600000")
        .replace("450000", "900000")
        .replace("1500000", "3000000")
        .replace("750000", "1500000")
    )
    firms = """
            _T     S     L
    TOTAL   31 D   20 D  11 D
    C       20 D   11 D  9 D
    D       11 D   9 D   2 D
"""
    desk = new_desk(tmp_path, AT=FREE, BE=FREE)
    one = "  - {code: TURNOVER, label: Turnover, unit: EUR, unit_multiplier: 3}\n"
    more = "".join(one.replace("TURNOVER", code) for code in ("GOODS", "SERVICES"))
    more += one.replace("TURNOVER", "FIRMS").replace(
        "3}", "3, kind: count, rounding: {method: small-count, base: 3}}"
    )
    desk.settle(one, f"{one}{more}indicator_relations: [{{total: TURNOVER, parts: [GOODS, SERVICES]}}]\n")
    desk.settle("flags:", ASKED)
    for country, goods in (("AT", FREE.replace("300000 F\n", "300000 A\n")), ("BE", FREE)):
        drawn = {"TURNOVER": sums, "GOODS": goods, "SERVICES": FREE, "FIRMS": firms}
        files = [
            sdmx_1(drawing, country).replace(",TURNOVER,", f",{code},").splitlines()
            for code, drawing in drawn.items()
        ]
        desk.deliver(country, "\n".join([files[0][0], *(line for _, *lines in files for line in lines), ""]))
    ended = desk.release("out", "--witnesses", desk.folder / "evidence.json")
    out = desk.folder / "out"
    assert ended.code == 0, ended.text
    with (out / "secondaries" / "AT.csv").open(newline="", encoding="utf-8") as lines:
        of = [row["INDICATOR"] for row in csv.DictReader(lines)]
    assert (of.count("GOODS"), of.count("TURNOVER") + of.count("SERVICES"), len(of)) == (3, 4, 7)
    assert "AT.GOODS" in findings(out)["AT"]
    checked = verified(desk)
    assert (checked.code, "verified" in checked.said) == (0, True), checked.text
