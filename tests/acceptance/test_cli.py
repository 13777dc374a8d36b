"""`sdc` at the shell: what it offers, how it answers mistakes, and how it judges tables that were made
elsewhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.deliveries import PERIOD, sdmx_1
from support.desk import FREE, PROTECTED, SECRET_KEYS, SECRETS, Desk, exact, new_desk, sdc, sdc_process

ROOT = Path(__file__).parents[2]

# --- what it offers -----------------------------------------------------------------------------------------

OFFERED: Mapping[tuple[str, ...], tuple[str, ...]] = {
    (): ("demo", "release", "audit", "0 published or safe", "2 bad input", "3 blocked by the audit"),
    ("demo",): ("--countries", "--activities", "--sizes", "--seed", "27", "120"),
    ("release",): (
        "--domain",
        "--period",
        "--inbox",
        "--out",
        "--warehouse",
        "audit.json, report.html and findings.csv",
    ),
    ("audit",): ("--domain", "--period", "--inbox", "--published", "--json"),
}


@pytest.mark.parametrize("command", OFFERED)
def test_the_help_names_every_command_and_option(command):
    ended = sdc(*command, "--help")
    assert ended.code == 0
    told = " ".join(ended.said.split())
    assert [word for word in OFFERED[command] if word not in told] == []


def test_the_version_is_that_of_the_package():
    written = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    ended = sdc("--version")
    assert (ended.code, ended.said.strip()) == (0, f"sdc {written}")


def test_the_installed_command_starts():
    ended = sdc_process("--help")
    assert (ended.code, ended.complained) == (0, "")
    assert "release" in ended.said


# --- how it answers mistakes --------------------------------------------------------------------------------


def test_what_a_release_writes_does_not_go_into_the_inbox(tmp_path):
    desk = new_desk(tmp_path, AT=FREE, BE=FREE)
    before = sorted(desk.inbox.iterdir())
    ended = sdc("release", *desk.where, "--out", desk.inbox)
    assert ended.refused("is the inbox", "Remedy: another folder")
    assert sorted(desk.inbox.iterdir()) == before


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return new_desk(tmp_path, AT=PROTECTED, BE=PROTECTED)


def test_an_unknown_domain_is_answered_with_those_that_are_known(desk):
    for command, more in (
        ("release", ("--out", desk.folder / "out")),
        ("audit", ("--published", desk.domain)),
    ):
        ended = sdc(command, "--domain", "sbz", "--period", PERIOD, "--inbox", desk.inbox, *more)
        assert ended.refused("no domain named sbz", "known: sbs", "or give the path of a .yaml file")
    assert not (desk.folder / "out").exists(), "nothing is left behind"


def test_a_missing_inbox_and_an_empty_one_are_named(desk):
    for file in desk.inbox.iterdir():
        file.unlink()
    assert desk.release().refused(str(desk.inbox), "no delivery (.arrow, ", ".csv, ", ".xml) for small 2024")
    assert desk.audit(desk.domain).refused("no accepted delivery from AT, BE", "Remedy")
    desk.inbox.rmdir()
    assert desk.release().refused(str(desk.inbox), "no such folder")
    assert desk.audit(desk.domain).refused(str(desk.inbox), "no such folder")
    assert not (desk.folder / "out" / "table.csv").exists()


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("id: small", "id: small\nroundings: 5", "roundings: "),
        (
            "kind: percent, percent: 10",
            "kind: percentage, percent: 10",
            "flags.A.rule: Input tag 'percentage'",
        ),
        (
            "{role: secondary}",
            "{role: secondary, rule: {kind: percent}}",
            "exactly the primary flags have a rule",
        ),
        ("members: all", "members: [AT, FR]", "members ['FR'] are not in areas.csv"),
        ("id: small", "id: 'small", "not YAML"),
    ],
)
def test_a_domain_file_that_says_what_it_may_not_is_refused_by_key(desk, old, new, named):
    desk.settle(old, new)
    assert sdc("release", *desk.where, "--out", desk.folder / "out").refused(named)
    assert desk.audit(desk.domain).refused(named)
    assert not (desk.folder / "out").exists()


def test_mistakes_reach_the_shell_as_exit_code_and_one_message(desk):
    """The same as above in a process of its own: nothing but the message on stderr."""
    desk.settle("id: small", "id: small\nroundings: 5")
    ended = sdc_process("release", *desk.where, "--out", desk.folder / "out")
    assert ended.refused(f"{desk.domain}: roundings: ")
    assert ended.complained.count("\n") == 1
    assert ended.said == ""


def test_a_place_that_cannot_be_written_is_named(desk):
    occupied = desk.folder / "occupied"
    occupied.write_text("")
    assert sdc("release", *desk.where, "--out", occupied).refused(str(occupied), "Remedy")
    assert sdc("demo", occupied, "--countries", 2, "--activities", 3, "--sizes", 2).refused(
        str(occupied), "Remedy"
    )
    table = desk.publish(exact("EU", [PROTECTED, PROTECTED]))
    assert desk.audit(table, "--json", desk.folder / "nowhere" / "certificate.json").refused(
        "certificate.json", "Remedy"
    )
    assert desk.release("out", "--warehouse", f"sqlite:///{desk.folder}/nowhere/warehouse.db").refused(
        "nowhere/warehouse.db"
    )
    assert occupied.read_text() == ""


@pytest.mark.parametrize("shape", [("--countries", 1), ("--activities", 2), ("--sizes", 1), ("--seed", -1)])
def test_a_demonstration_without_a_table_is_refused(tmp_path, shape):
    assert sdc("demo", tmp_path / "demo", *shape).refused(shape[0])
    assert not (tmp_path / "demo").exists()


# --- how it judges tables -----------------------------------------------------------------------------------


def test_an_exact_table_is_safe_where_countries_hide_each_other(desk):
    """AT and BE suppress the same cells: their sum says nothing of either."""
    ended = desk.audit(desk.publish(exact("EU", [PROTECTED, PROTECTED])))
    assert ended.code == 0
    assert (
        "safe: 0 one-sided requirements of 0 cells broken; 2 of 2 primaries protected; audited against "
        "external; not against"
    ) in ended.said


def test_an_exact_table_beside_a_single_secret_is_not_safe(desk):
    """BE publishes everything, so that the exact total is AT's secret."""
    desk.deliver("BE", FREE)
    certificate = desk.folder / "certificate.json"
    ended = desk.audit(desk.publish(exact("EU", [PROTECTED, FREE])), "--json", certificate)
    assert ended.code == 3
    assert (
        "NOT SAFE: 2 one-sided requirements of 1 cells broken; 0 of 1 primaries protected; 1 not protected "
        "(AT 1)"
    ) in ended.said
    assert "AT.TURNOVER.D.L" in ended.said
    assert "nothing" in ended.said, "share of the required protection that the attacker leaves"
    written = json.loads(certificate.read_text())
    assert written["verdict"] == "failed"
    assert written["counts"]["broken_requirements"] == 2
    assert [(each["cell"], each["protected"]) for each in written["primaries"]] == [
        ("AT.TURNOVER.D.L", False)
    ]
    for secret in SECRETS:
        assert secret not in ended.text + certificate.read_text()


def test_a_base_that_is_too_small_leaves_a_part_of_the_protection(desk):
    """The level is 25 140.9. Base 20 000 reads 551 409 as 550 000 to 570 000; base 200 000 as 500 000 to 700
    000.
    """
    desk.deliver("BE", FREE)
    table = exact("EU", [PROTECTED, FREE])

    def rounded(base: int) -> list[tuple[str, str, str, float | str, str]]:
        return [
            (e, a, s, base * round(v / base), base) if (a, s) in SECRET_KEYS else (e, a, s, v, "")
            for e, a, s, v, _ in table
        ]

    ended = desk.audit(desk.publish(rounded(20_000)))
    assert ended.code == 3
    assert "under 25 %" in ended.said, "downwards: 1 409"
    assert "under 75 %" in ended.said, "upwards: 18 591"
    assert desk.audit(desk.publish(rounded(200_000))).code == 0


def test_a_published_interval_without_the_true_value_is_named(desk):
    """Such a table is not of these deliveries, or was rounded wrongly; the truth is not
    told, but in a file of the owner.
    """
    rows = exact("EU", [PROTECTED, PROTECTED])
    rows[4] = ("EU", "C", "S", 400_000, 100_000)
    certificate, figures = desk.folder / "certificate.json", desk.folder / "differences.csv"
    ended = desk.audit(desk.publish(rows), "--json", certificate, "--differences", figures)
    assert ended.code == 5
    assert "safe: 0 one-sided" in ended.said
    assert (
        "contradicts the deliveries: 1 values exclude the true value, 0 more within the tolerance"
        in ended.said
    )
    assert re.search(r"EU\.TURNOVER\.C\.S.*10 % or more", ended.said)
    assert json.loads(certificate.read_text())["contradictions"] == ["EU.TURNOVER.C.S"]
    assert "502818" not in ended.text + certificate.read_text()
    assert figures.read_text().splitlines()[1] == "EU.TURNOVER.C.S,350000,450000,502818,-52818,0"
    assert figures.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("tolerance", "code"), [("0", 5), ("0.5", 5), ("1", 0), ("0.00005%", 5), ("0.0005%", 0)]
)
def test_official_totals_may_be_off_by_a_tolerance(desk, tolerance, code):
    """One of 502 818: 0.0002 %."""
    rows = exact("EU", [PROTECTED, PROTECTED])
    assert rows[4][1:4] == ("C", "S", 502_818)
    ended = desk.audit(
        desk.publish([*rows[:4], ("EU", "C", "S", 502_819, ""), *rows[5:]]), "--tolerance", tolerance
    )
    assert ended.code == code
    assert re.search(r"EU\.TURNOVER\.C\.S.*under 0.01 %", ended.said)
    assert "502818" not in ended.text


def test_a_tolerance_that_is_none_is_refused(desk):
    assert desk.audit(desk.publish(exact("EU", [PROTECTED])), "--tolerance", "some").refused(
        "--tolerance", "such as 0.1", "0.01%"
    )


def test_a_contradiction_hides_no_leak(desk):
    """BE is public: EU off by one is AT's secret off by one. To leave it out would call the table safe."""
    desk.deliver("BE", FREE)
    rows = [(e, a, s, float(v) + 1, b) for e, a, s, v, b in exact("EU", [PROTECTED, FREE])]
    ended = desk.audit(desk.publish(rows), "--tolerance", "1")
    assert ended.code == 3
    assert "NOT SAFE: 2 one-sided requirements of 1 cells broken" in ended.said


def test_what_was_not_judged_is_told(desk):
    rows = exact("EU", [PROTECTED, PROTECTED])
    ended = desk.audit(desk.publish(rows[:-2]))
    assert ended.code == 0
    assert (
        "not judged: 2 cells of the domain have no row; they count as withheld: EU.TURNOVER.D.S, "
        "EU.TURNOVER.D.L"
    ) in ended.said
    ended = desk.audit(desk.publish([*rows, ("EA", "D", "L", 1, ""), ("EU", "D", "XL", 1, "")]))
    assert ended.code == 6
    assert "not judged: 2 rows with cells that are not in the domain" in ended.said
    assert "line 11: REF_AREA 'EA' is unknown; allowed: EU" in ended.said
    assert "line 12: SIZECLASS 'XL' is unknown; allowed: _T, S, L" in ended.said


def test_a_value_that_is_no_multiple_of_its_base_is_exact(desk):
    """BE is public. EU C.S 551 409 ± 100 000 is AT's secret as printed, whatever base stands beside it."""
    desk.deliver("BE", FREE)
    rows = [
        (e, a, s, v, 200_000 if (a, s) in SECRET_KEYS else "")
        for e, a, s, v, _ in exact("EU", [PROTECTED, FREE])
    ]
    ended = desk.audit(desk.publish(rows))
    assert ended.code == 3
    assert "judged as exact: 4 values are not multiples of their ROUNDING_BASE: EU.TURNOVER.C.S" in ended.said
    table = desk.publish(rows)
    head, *lines = table.read_text().splitlines()
    wide = [
        f"{line},{float(line.split(',')[-2]) - 1e5:g},{float(line.split(',')[-2]) + 1e5:g}"
        if line.endswith("200000")
        else f"{line},,"
        for line in lines
    ]
    table.write_text("\n".join([f"{head},LOWER,UPPER", *wide, ""]))
    ended = desk.audit(table)
    assert ended.code == 0, ended.text
    assert "judged as exact: " not in ended.said


def test_a_total_that_looks_rounded_gets_a_hint(desk):
    rows = [(e, a, s, float(v) * 1.0, "") for e, a, s, v, _ in exact("EU", [PROTECTED, PROTECTED])]
    odd = """
            _T         S         L
    TOTAL   1500003 F  750001 F  750002 F
    C       750001 F   251409 D  498592 D
    D       750002 F   498592 D  251410 A
"""
    assert "hint: " not in desk.audit(desk.publish(rows)).said, "the national figures are round as well"
    desk.deliver("AT", odd)
    desk.deliver("BE", odd)
    rounded = [(e, a, s, 1000 * round(float(v) / 1000), "") for e, a, s, v, _ in exact("EU", [odd, odd])]
    assert (
        "hint: EU.TURNOVER: every value without a ROUNDING_BASE is a multiple of 1000, most national"
        in desk.audit(desk.publish(rounded)).said
    )
    based = [(*row[:4], 1000) for row in rounded]
    assert "hint: " not in desk.audit(desk.publish(based)).said


@pytest.mark.parametrize(
    ("area", "activity", "value", "base", "named"),
    [
        ("AT", "D", "1", "", "AT is a country"),
        ("EU", "D", "251409 or so", "", "OBS_VALUE of EU.TURNOVER.D.L is not a number"),
        ("EU", "D", "1e999", "", "OBS_VALUE of EU.TURNOVER.D.L is not a number"),
        ("EU", "D", "500000", "-5", "ROUNDING_BASE of EU.TURNOVER.D.L is negative"),
        ("EU", "D", "500000", "1000000", "ROUNDING_BASE of EU.TURNOVER.D.L is larger than its value"),
        ("EU", "C", "1", "", "already in line"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_by_line(desk, area, activity, value, base, named):
    rows = exact("EU", [PROTECTED, PROTECTED])[:-1]
    certificate = desk.folder / "certificate.json"
    ended = desk.audit(desk.publish([*rows, (area, activity, "L", value, base)]), "--json", certificate)
    assert ended.refused("elsewhere.csv, line 10: ", named)
    assert "251409" not in ended.text
    assert not certificate.exists()


def test_what_is_not_read_stops_a_release_and_an_audit_unless_the_domain_file_passes_it_over(desk):
    """It may be a delivery in another format."""
    (desk.inbox / "notes.md").write_text("the file of BE came late")
    (desk.inbox / "older").mkdir()
    assert desk.release().refused(
        "notes.md: not read", "older: a folder, not a file", "inbox.ignore in the domain file"
    )
    desk.settle("flags:", "inbox: {ignore: [notes.md, older]}\nflags:")
    assert desk.release().code == 0
    assert desk.audit(desk.folder / "out" / "table.csv").code == 0


def test_an_audit_needs_every_delivery(desk):
    desk.deliver("BE", sdmx_1(PROTECTED, "BE").replace(",A,,,", ",Z,,,"))
    assert desk.audit(desk.publish(exact("EU", [PROTECTED]))).refused(
        "BE_2024.csv", "this delivery is refused; line ", "CONF_STATUS"
    )


# --- several compositions -----------------------------------------------------------------------------------


@pytest.fixture
def two_aggregates(tmp_path: Path) -> Desk:
    """EU = AT + BE + CY and EA = AT + BE: their difference is CY."""
    desk = new_desk(tmp_path, AT=PROTECTED, BE=PROTECTED, CY=PROTECTED)
    union = "  - {code: EU, label: Union, members: all, partial_code: EU_PARTIAL}\n"
    desk.settle(union, union + "  - {code: EA, label: Area, members: [AT, BE]}\n")
    return desk


def test_two_compositions_are_safe_alone_and_leak_together(two_aggregates):
    """Each sum mixes at least two secrets; the two sums differ by that of CY."""
    union, area = exact("EU", [PROTECTED] * 3), exact("EA", [PROTECTED] * 2)
    assert two_aggregates.audit(two_aggregates.publish(union)).code == 0
    assert two_aggregates.audit(two_aggregates.publish(area)).code == 0
    ended = two_aggregates.audit(two_aggregates.publish(union + area))
    assert ended.code == 3
    assert (
        "2 one-sided requirements of 1 cells broken; 2 of 3 primaries protected; 1 not protected (CY 1)"
        in ended.said
    )
    assert "CY.TURNOVER.D.L" in ended.said
    assert [country for country in ("AT", "BE") if f"{country}.TURNOVER" in ended.said] == []


def test_a_release_of_two_compositions_is_audited_as_one(two_aggregates):
    ended = two_aggregates.release()
    assert ended.code == 0, ended.text
    table = two_aggregates.folder / "out" / "table.csv"
    rows = [line.split(",") for line in table.read_text().splitlines()[1:]]
    assert [row[4] for row in rows] == ["EU"] * 9 + ["EA"] * 9
    assert any(row[12] for row in rows), "both exact would leak"
    assert two_aggregates.audit(table).code == 0
