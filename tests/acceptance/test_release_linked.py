"""Tables of one statistic that come out one after the other, from the domain files to the certificate: what
is safe alone is not published where it is unsafe together.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.optimize import linprog

from support.desk import sdc
from support.statistic import Office

QUARTERS = ("2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4")
PAIR = ("quarters", "years")
HIDDEN = 700  # turnover of X in Austria in the first quarter; its level is a tenth
EACH = ("AT", "BE", "DE")


def drawing(x: float, y: float, of_x: str = "F", of_y: str = "F") -> str:
    return f"T {x + y} F\nX {x} {of_x}\nY {y} {of_y}"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Austria hides X of the first quarter (700) and Y beside it, and, as it must, X and Y of the year."""
    office = Office.new(tmp_path)
    office.domain("quarters", more="linked: {tables: [years], periods: sum}", frequency="Q")
    office.domain("years", more="linked: {tables: [quarters], periods: sum}")
    others = {"BE": drawing(400, 500), "DE": drawing(900, 800)}
    for number, period in enumerate(QUARTERS):
        flags = ("F", "F") if number else ("A", "D")
        table = drawing(HIDDEN + number, 300, *flags)
        office.deliver("quarters", period, frequency="Q", AT=table, **others)
    of_year = {"AT": drawing(4 * HIDDEN + 6, 1200, "D", "D"), "BE": drawing(1600, 2000)}
    office.deliver("years", "2024", **of_year, DE=drawing(3600, 3200))
    return office


def left_of_the_hidden_quarter(office: Office) -> tuple[float, float]:
    """What the public national tables and everything that is out leave of X of the first quarter, by a
    program of its own: unknowns are X and Y of Austria in the quarter and in the year.
    """
    others = {"quarters": {"X": 1300, "Y": 1300}, "years": {"X": 5200, "Y": 5200}}
    rows, ends = [], []
    for name, period, first in (("quarters", "2024-Q1", 0), ("years", "2024", 2)):
        told = office.published(name, period)
        for at, code in enumerate("XY", start=first):
            low, high = (end - others[name][code] for end in told[code])
            for sign, end in ((1, high), (-1, -low)):
                if abs(end) < float("inf"):
                    rows.append([sign if i == at else 0 for i in range(4)])
                    ends.append(end)
    same = [[1, 1, 0, 0], [0, 0, 1, 1], [-1, 0, 1, 0], [0, -1, 0, 1]]
    fixed = [HIDDEN + 300, 4 * HIDDEN + 6 + 1200, 3 * HIDDEN + 6, 900]
    found = [
        linprog([sign, 0, 0, 0], rows or None, ends or None, same, fixed, bounds=[(0, None)] * 4)
        for sign in (1, -1)
    ]
    return found[0].fun, -found[1].fun


def test_the_year_does_not_give_a_quarter_away(office: Office):
    for period in QUARTERS:
        ended = office.release("quarters", period)
        assert ended.code == 0, ended.text
    ended = office.release("years", "2024")
    assert ended.code == 0, ended.text
    low, high = left_of_the_hidden_quarter(office)
    assert low <= 630
    assert high >= 770
    told = office.certificate("years", "2024")
    assert [each["period"] for each in told["linked"]] == list(QUARTERS)
    assert [each["cell"] for each in told["primaries"]] == ["AT.TURNOVER of quarters 2024-Q1.X"]
    assert told["counts"]["exact"] < 3
    assert "attacked together with quarters 2024-Q1" in ended.text


def test_the_quarter_does_not_give_itself_away_beside_the_year(office: Office):
    """The other order: the year goes out first, exact, because nothing of it needs protection."""
    assert office.release("years", "2024").code == 0
    assert office.published("years", "2024")["X"] == (8006, 8006)
    for period in reversed(QUARTERS):
        ended = office.release("quarters", period)
        assert ended.code == 0, ended.text
    (primary,) = office.certificate("quarters", "2024-Q1")["primaries"]
    assert primary["cut_to_national_baseline"], "the year is out, and left no room: the office is told"
    findings = (office.out("quarters", "2024-Q1") / "findings.csv").read_text()
    assert "beside what is out already" in findings
    assert "AT.TURNOVER.X" in findings


def test_a_second_run_changes_nothing(office: Office):
    assert office.release("quarters", "2024-Q1").code == 0
    assert office.release("years", "2024").code == 0
    out = office.out("quarters", "2024-Q1")
    before = {name: (out / name).read_bytes() for name in ("table.csv", "audit.json")}
    again = office.release("quarters", "2024-Q1")
    assert again.code == 0, again.text
    assert "is already published" in again.text
    assert {name: (out / name).read_bytes() for name in before} == before


def test_a_quarter_that_is_revised_after_the_year_is_out(office: Office):
    for period in QUARTERS:
        assert office.release("quarters", period).code == 0
    assert office.release("years", "2024").code == 0
    office.deliver("quarters", "2024-Q2", frequency="Q", BE=drawing(420, 500))
    ended = office.release("quarters", "2024-Q2")
    assert ended.code == 0, ended.text
    told = office.certificate("quarters", "2024-Q2")
    known = [(each["domain"], each["period"]) for each in told["linked"]]
    others = [("quarters", period) for period in QUARTERS if period != "2024-Q2"]
    assert known == [*others, ("years", "2024")], "the other quarters, which the year links to this one"
    low, high = left_of_the_hidden_quarter(office)
    assert low <= 630
    assert high >= 770


SIZES = """
    T _T 9000 F
    T S  4000 F
    T L  5000 F
    X _T 4000 F
    X S   900 A
    X L  3100 D
    Y _T 5000 F
    Y S  3100 D
    Y L  1900 D
"""
FREE = """
    T _T 900 F
    T S  400 F
    T L  500 F
    X _T 400 F
    X S  200 F
    X L  200 F
    Y _T 500 F
    Y S  200 F
    Y L  300 F
"""


def by_region(sizes: str) -> str:
    return sizes.replace("_T", "_N").replace(" S ", " N1").replace(" L ", " N2")


@pytest.fixture
def two(tmp_path: Path) -> Office:
    """A table by size and one by region, which share their totals."""
    office = Office.new(tmp_path)
    office.domain("sizes", "ACTIVITY SIZECLASS", "linked: {tables: [regions]}")
    office.domain("regions", "ACTIVITY REGION", "linked: {tables: [sizes]}")
    office.deliver("sizes", "2024", "ACTIVITY SIZECLASS", AT=SIZES, BE=FREE, DE=FREE)
    tables = {"AT": by_region(SIZES), "BE": by_region(FREE), "DE": by_region(FREE)}
    office.deliver("regions", "2024", "ACTIVITY REGION", **tables)
    return office


@pytest.mark.parametrize("order", [("sizes", "regions"), ("regions", "sizes")])
def test_tables_that_share_totals_go_out_in_either_order(two: Office, order: tuple[str, str]):
    for name in order:
        ended = two.release(name, "2024")
        assert ended.code == 0, ended.text
    told = two.certificate(order[1], "2024")
    assert len(told["primaries"]) == 2
    assert any(f"of {order[0]} 2024" in each["cell"] for each in told["primaries"])
    assert all(each["protected"] for each in told["primaries"])


@pytest.mark.parametrize("order", [("sizes", "regions"), ("regions", "sizes")])
def test_a_total_has_one_value_in_all_tables(two: Office, order: tuple[str, str]):
    for name in order:
        assert two.release(name, "2024").code == 0
    sizes, regions = (two.published(name, "2024") for name in ("sizes", "regions"))
    assert {code: sizes[f"{code}._T"] for code in "TXY"} == {code: regions[f"{code}._N"] for code in "TXY"}


@pytest.mark.parametrize("order", [("sizes", "regions"), ("regions", "sizes")])
def test_a_cell_that_is_hidden_in_one_table_and_public_in_another_is_named(
    two: Office, order: tuple[str, str]
):
    """Austria hides the total of X in its table by size alone."""
    hidden = SIZES.replace("X _T 4000 F", "X _T 4000 A").replace("Y _T 5000 F", "Y _T 5000 D")
    two.deliver("sizes", "2024", "ACTIVITY SIZECLASS", AT=hidden)
    for name in order:
        ended = two.release(name, "2024")
        assert ended.code == 0, ended.text
    findings = (two.out(order[1], "2024") / "findings.csv").read_text()
    assert "SDC/elsewhere" in findings
    keys = {
        "sizes": ("AT.TURNOVER.X._T", "AT.TURNOVER of sizes 2024.X._T"),
        "regions": ("AT.TURNOVER.X._N", "AT.TURNOVER of regions 2024.X._N"),
    }
    told = (keys["sizes"][order[1] == "regions"], keys["regions"][order[1] == "sizes"])
    assert f"{told[0]} ({told[1]})" in findings
    (primary,) = [e for e in two.certificate(order[1], "2024")["primaries"] if e["cell"] == told[0]]
    assert primary["cut_to_national_baseline"]


def test_one_cell_and_two_values_is_refused_by_name(two: Office):
    wrong = """
        T _N 950 F
        T N1 450 F
        T N2 500 F
        X _N 450 F
        X N1 250 F
        X N2 200 F
        Y _N 500 F
        Y N1 200 F
        Y N2 300 F
    """
    two.deliver("regions", "2024", "ACTIVITY REGION", BE=wrong)
    assert two.release("sizes", "2024").code == 0
    ended = two.release("regions", "2024")
    assert ended.refused("one cell, and two values", "BE.TURNOVER", "of sizes 2024", "Remedy")
    assert "950" not in ended.text


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("linked: {tables: [years]}", "tables: years is this domain"),
        ("linked: {tables: [quarters, quarters]}", "linked: tables"),
        ("linked: {periods: {TURNOVR: sum}}", "TURNOVR are no indicators"),
        ("linked: {periods: {}}", "nothing is said of TURNOVER"),
        ("linked: {periods: product}", "linked"),
        ("linked: {tables: [other]}\nunrelated: {other: other firms}", "other is linked, and unrelated"),
    ],
)
def test_what_a_domain_file_says_wrongly_is_refused(tmp_path: Path, said: str, named: str):
    office = Office.new(tmp_path)
    office.domain("years", more=said)
    office.deliver("years", "2024", **dict.fromkeys(EACH, drawing(1, 1)))
    assert office.release("years", "2024").refused(named)


@pytest.fixture
def beside(tmp_path: Path) -> Office:
    """A quarter that is out as the domain file of the quarters says, and the year."""
    office = Office.new(tmp_path)
    office.deliver("quarters", "2024-Q1", frequency="Q", **dict.fromkeys(EACH, drawing(1, 2)))
    office.deliver("years", "2024", **dict.fromkeys(EACH, drawing(4, 8)))
    return office


def test_flows_and_stocks_must_agree(beside: Office):
    beside.domain("quarters", more="linked: {tables: [years], periods: mean}", frequency="Q")
    beside.domain("years", more="linked: {tables: [quarters], periods: sum}")
    assert beside.release("quarters", "2024-Q1").code == 0
    said = beside.release("years", "2024")
    assert said.refused("is the mean of those within it", "says sum", "Remedy")


def test_units_must_agree(beside: Office):
    beside.domain("quarters", more="linked: {tables: [years], periods: sum}", frequency="Q")
    years = beside.domain("years", more="linked: {tables: [quarters], periods: sum}")
    years.write_text(years.read_text().replace("unit: EUR", "unit: USD"))
    for file in (beside.folder / "years-2024").iterdir():
        file.write_text(file.read_text().replace("EUR", "USD"))
    assert beside.release("quarters", "2024-Q1").code == 0
    assert beside.release("years", "2024").refused("has another unit", "Remedy")


def test_periods_without_a_rule_are_refused(beside: Office):
    beside.domain("quarters", more="linked: {tables: [years]}", frequency="Q")
    beside.domain("years", more="linked: {tables: [quarters]}")
    assert beside.release("quarters", "2024-Q1").code == 0
    said = beside.release("years", "2024")
    assert said.refused("no domain file says what a period is", "periods: sum", "Remedy")


@pytest.mark.parametrize(("x", "y"), [(4 * HIDDEN + 6, 1200), (5000, 1300), (2300, 1300)])
def test_figures_that_do_not_add_up_are_known_to_nobody(office: Office, x: int, y: int):
    """The year of Austria is from another survey: who subtracts the quarters from it is told something else.
    So the exact quarter would be news, and is not published; only where the figures add up, the year has told
    it already, and nothing can be done.
    """
    office.deliver("years", "2024", AT=drawing(x, y))
    for name, period in (
        *(("quarters", each) for each in QUARTERS[1:]),
        ("years", "2024"),
        ("quarters", QUARTERS[0]),
    ):
        ended = office.release(name, period)
        assert ended.code == 0, ended.text
    told = office.certificate("quarters", QUARTERS[0])
    exact = office.published("quarters", QUARTERS[0])["X"] == (2000, 2000)
    assert exact == (x == 4 * HIDDEN + 6)
    assert told["profiles"] == ["external", "vintage", *([] if exact else ["revision"])]


def test_a_delivery_that_changes_no_figure_may_promise_more(office: Office):
    """Austria sends the first quarter again, Y is primary now; what is published stays the same."""
    assert office.release("quarters", "2024-Q1").code == 0
    office.deliver("quarters", "2024-Q1", frequency="Q", AT=drawing(HIDDEN, 300, "A", "A"))
    assert "is already published" in office.release("quarters", "2024-Q1").text
    for period in QUARTERS[1:]:
        assert office.release("quarters", period).code == 0
    assert office.release("years", "2024").code == 0
    keys = {each["cell"] for each in office.certificate("years", "2024")["primaries"]}
    assert keys == {f"AT.TURNOVER of quarters 2024-Q1.{code}" for code in "XY"}


def test_an_indicator_in_other_letters_is_refused(two: Office):
    """Nobody would find the cells that are the same."""
    assert two.release("regions", "2024").code == 0
    for file in (two.folder / "sizes.yaml", *(two.folder / "sizes-2024").iterdir()):
        file.write_text(file.read_text().replace("TURNOVER", "Turnover"))
    assert two.release("sizes", "2024").refused("no cell in common", "Remedy")


def test_a_code_in_other_letters_is_refused(two: Office):
    assert two.release("regions", "2024").code == 0
    (two.folder / "activities.csv").write_text("code,parent\nT,\nx,T\nY,T\n")
    for file in (two.folder / "sizes-2024").iterdir():
        file.write_text(file.read_text().replace(",X,", ",x,"))
    assert two.release("sizes", "2024").refused("writes code X of ACTIVITY in other letters", "Remedy")


def test_a_composition_of_areas_with_other_names_is_refused(two: Office):
    """AUT is Austria: its cells would not be found, and EU would be published by both tables."""
    assert two.release("regions", "2024").code == 0
    (two.folder / "other.csv").write_text((two.folder / "areas.csv").read_text().replace("AT,", "AUT,"))
    sizes = two.folder / "sizes.yaml"
    sizes.write_text(sizes.read_text().replace("areas.csv", "other.csv").replace("AT", "AUT"))
    for file in (two.folder / "sizes-2024").iterdir():
        file.write_text(file.read_text().replace(",AT,", ",AUT,"))
    assert two.release("sizes", "2024").refused("has AT where that of this release has AUT", "Remedy")


def test_a_linked_table_without_a_common_indicator_is_told(two: Office):
    assert two.release("regions", "2024").code == 0
    for file in (two.folder / "sizes.yaml", *(two.folder / "sizes-2024").iterdir()):
        file.write_text(file.read_text().replace("TURNOVER", "SALES"))
    assert "has no indicator of this release" in two.release("sizes", "2024").text


def test_rule_aware_is_not_offered_beside_linked_releases(two: Office):
    assert two.release("regions", "2024").code == 0
    sizes = two.folder / "sizes.yaml"
    sizes.write_text(sizes.read_text() + "bases: {rule_aware: true}\n")
    ended = two.release("sizes", "2024")
    assert ended.code == 2, ended.text
    assert "Traceback" not in ended.text
    assert "Remedy" in ended.text


def beside_quarters(office: Office) -> list[str]:
    """The options that name the quarters that are out."""
    named = (
        f"{office.folder}/quarters.yaml,{period},{office.folder}/quarters-{period},"
        f"{office.out('quarters', period)}/table.csv"
        for period in QUARTERS
    )
    return [part for each in named for part in ("--linked", each)]


def test_somebody_else_audits_the_year_and_verifies_what_was_certified(office: Office):
    """At the shell, without the warehouse: from deliveries and published tables of all releases."""
    for period in QUARTERS:
        assert office.release("quarters", period).code == 0
    assert office.release("years", "2024").code == 0
    folder = office.folder
    linked = beside_quarters(office)
    where = ("--domain", folder / "years.yaml", "--period", "2024", "--inbox", folder / "years-2024")
    table = ("--published", office.out("years", "2024") / "table.csv")
    files = [folder / name for name in ("again.json", "again.zip", "forged.json")]
    audited = sdc("audit", *where, *table, *linked, "--json", files[0], "--witnesses", files[1])
    assert audited.code == 0, audited.text
    told, ours = (
        json.loads(file.read_text()) for file in (files[0], office.out("years", "2024") / "audit.json")
    )
    assert {name: told[name] for name in ("linked", "verdict", "profiles", "counts")} == {
        name: ours[name] for name in ("linked", "verdict", "profiles", "counts")
    }

    def verified(*more: object) -> tuple[int, str]:
        ended = sdc("verify-certificate", *where, *table, *more, "--witnesses", files[1])
        return ended.code, ended.text

    assert verified(*linked, "--certificate", files[0])[0] == 0
    assert verified(*linked[2:], "--certificate", files[0])[0] == 3, "another problem"
    for forged in (told["linked"][1:], [], [*told["linked"], told["linked"][0]]):
        files[2].write_text(json.dumps({**told, "linked": forged}))
        code, text = verified(*linked, "--certificate", files[2])
        assert (code, "linked" in text) == (3, True), forged


def test_without_the_quarters_the_same_year_is_broken_or_refused(office: Office):
    """An exact year, made elsewhere: alone it passes, and beside the quarters it fails."""
    for period in QUARTERS:
        assert office.release("quarters", period).code == 0
    folder = office.folder
    rows = ["DATAFLOW,FREQ,REF_AREA,INDICATOR,ACTIVITY,TIME_PERIOD,OBS_VALUE"]
    rows += [
        f"NSI:YEARS(1.0),A,EU,TURNOVER,{code},2024,{value}"
        for code, value in (("T", 14406), ("X", 8006), ("Y", 6400))
    ]
    (folder / "exact.csv").write_text("\n".join([*rows, ""]))
    where = ("--domain", folder / "years.yaml", "--period", "2024", "--inbox", folder / "years-2024")
    table = ("--published", folder / "exact.csv")
    alone = sdc("audit", *where, *table)
    assert alone.code == 0
    assert "none of them was attacked together with this one" in " ".join(alone.text.split())
    linked = beside_quarters(office)
    ended = sdc("audit", *where, *table, *linked)
    assert ended.code == 3, ended.text
    assert "AT.TURNOVER of quarters 2024-Q1.X" in ended.text
    twice = sdc("audit", *where, *table, *linked, *linked[:2])
    assert twice.refused("--linked", "named twice", "Remedy")
    itself = f"{folder}/years.yaml,2024,{folder}/years-2024,{folder}/exact.csv"
    assert sdc("audit", *where, *table, "--linked", itself).refused(
        "this is the table that is judged", "Remedy"
    )
    assert sdc("audit", *where, *table, "--linked", "quarters.yaml").refused(
        "DOMAIN,PERIOD,INBOX,TABLE", "Remedy"
    )


def findings(office: Office, name: str, period: str) -> str:
    return (office.out(name, period) / "findings.csv").read_text()


def test_a_stock_that_is_said_to_be_a_sum_is_a_finding(tmp_path: Path):
    """Its year is as large as each of its quarters."""
    office = Office.new(tmp_path)
    office.domain("quarters", more="linked: {tables: [years], periods: sum}", frequency="Q")
    office.domain("years", more="linked: {tables: [quarters], periods: sum}")
    for period in QUARTERS:
        office.deliver("quarters", period, frequency="Q", **dict.fromkeys(EACH, drawing(400, 500)))
        assert office.release("quarters", period).code == 0
    flows = dict.fromkeys(("BE", "DE"), drawing(1600, 2000))
    office.deliver("years", "2024", AT=drawing(402, 500), **flows)
    ended = office.release("years", "2024")
    assert ended.code == 0, ended.text
    told = [line for line in findings(office, "years", "2024").splitlines() if "SDC/stock" in line]
    assert len(told) == 1
    assert "AT.TURNOVER.T, AT.TURNOVER.X, AT.TURNOVER.Y" in told[0]
    assert "periods: mean" in told[0]
    assert "402" not in told[0]


def test_a_period_that_is_not_the_sum_of_those_within_it_is_a_finding(office: Office):
    for period in QUARTERS:
        assert office.release("quarters", period).code == 0
    office.deliver("years", "2024", BE=drawing(1610, 2000))
    assert office.release("years", "2024").code == 0
    told = [line for line in findings(office, "years", "2024").splitlines() if "SDC/periods" in line]
    assert len(told) == 1
    assert "BE.TURNOVER.T, BE.TURNOVER.X" in told[0]
    assert "SDC/stock" not in findings(office, "years", "2024")


@pytest.mark.parametrize("silent", ["quarters", "years"])
def test_periods_that_one_of_two_domain_files_leaves_out_are_told(beside: Office, silent: str):
    said = {of: f"linked: {{tables: [{to}], periods: sum}}" for of, to in (PAIR, PAIR[::-1])}
    said[silent] = said[silent].replace(", periods: sum", "")
    beside.domain("quarters", more=said["quarters"], frequency="Q")
    beside.domain("years", more=said["years"])
    assert beside.release("quarters", "2024-Q1").code == 0
    ended = beside.release("years", "2024")
    assert ended.code == 0, ended.text
    assert f"{silent} does not say under linked: periods what a period of TURNOVER is" in ended.text


@pytest.mark.parametrize(
    ("keys", "named"),
    [("signed: true", "may be negative in one of them alone"), ("integer: true", "is whole in one of them")],
)
def test_what_a_shared_cell_can_be_must_be_said_alike(two: Office, keys: str, named: str):
    """The attacker would know other bounds of one number by each of two files."""
    for name, more in (("sizes", keys), ("regions", "decimals: 1")):
        file = two.folder / f"{name}.yaml"
        assert "unit: EUR" in file.read_text()
        file.write_text(file.read_text().replace("unit: EUR", f"unit: EUR, {more}"))
    assert two.release("regions", "2024").code == 0
    ended = two.release("sizes", "2024")
    assert ended.refused("TURNOVER", named, "Remedy")
