"""A domain that asks for the sum of the visible countries where a total is withheld: from
the inbox to the reader, and back.

AT's secret of 251409 asks for a tenth on each side; what it hides are four cells, one number
and its rest. BE shows everything.

    EU.D.L  BE's 6 000 000 are 95.98 % of it: told at 95 %, so AT's D.L is at most 315 789
    EU.C.S  BE's 5 100 000 are 95.3 %: told at 95 %, AT's C.S would be at most 268 421, less than the 276 550
    that must stay possible EU.C.L, EU.D.S  BE covers much less
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse
from support.deliveries import PERIOD
from support.desk import PROTECTED, SECRETS, Desk, new_desk, sdc

LARGE = """
            _T          S          L
    TOTAL   12600000 F  5600000 F  7000000 F
    C       6100000 F   5100000 F  1000000 F
    D       6500000 F   500000 F   6000000 F
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    made = new_desk(tmp_path_factory.mktemp("visible"), AT=PROTECTED, BE=LARGE)
    made.settle("flags:", "bases: {maximum_relative_base: 0.0001, visible_share: 0.95}\nflags:")
    ended = made.release()
    assert ended.code == 0, ended.text
    assert "5 exact, 0 rounded, 1 as sum of the visible countries, 3 withheld" in ended.said
    return made


def rows(table: Path) -> dict[str, dict[str, str]]:
    with table.open(newline="", encoding="utf-8") as lines:
        return {f"{row['ACTIVITY']}.{row['SIZECLASS']}": row for row in csv.DictReader(lines)}


def test_the_table_says_which_value_is_no_total(desk):
    told = rows(desk.folder / "out/table.csv")
    seen = {
        key: tuple(row[name] for name in ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "VISIBLE_SHARE"))
        for key, row in told.items()
    }
    assert seen["D.L"] == ("6000000", "D", "F", "0.95")
    assert seen["TOTAL.L"] == ("7750000", "A", "F", "")
    assert [seen[key] for key in ("C.S", "C.L", "D.S")] == [("", "Q", "S", "")] * 3
    assert not any(row["ROUNDING_BASE"] for row in told.values())


def test_its_audit_reads_it_back_as_what_it_is(desk):
    evidence, certificate = desk.folder / "evidence", desk.folder / "again.json"
    judged = desk.audit(desk.folder / "out/table.csv", "--json", certificate, "--witnesses", evidence)
    assert judged.code == 0, judged.text
    where = (
        "--domain",
        desk.domain,
        "--period",
        PERIOD,
        "--inbox",
        desk.inbox,
        "--published",
        desk.folder / "out/table.csv",
    )
    verified = sdc("verify-certificate", *where, "--certificate", certificate, "--witnesses", evidence)
    assert verified.code == 0, verified.text
    ours, theirs = (
        json.loads(path.read_text()) for path in (desk.folder / "again.json", desk.folder / "out/audit.json")
    )
    assert ours["digests"]["publication"] == theirs["digests"]["publication"]
    assert theirs["counts"]["sums_of_visible_countries"] == 1


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        (
            "6000000,D,F,,EUR,3,0,0.95",
            "6000000,D,F,,EUR,3,0,0.958",
            3,
            "NOT SAFE: 1 one-sided",
        ),  # AT's D.L would be at most 263 048
        ("6000000,D,F,,EUR,3,0,0.95", "6000000,D,F,,EUR,3,0,0.97", 3, "contradicts the deliveries: 1 values"),
        (
            "6000000,D,F,,EUR,3,0,0.95",
            "6100000,D,F,,EUR,3,0,0.95",
            2,
            "EU.TURNOVER.D.L (1 in all): VISIBLE_SHARE is for the sum",
        ),
        (
            ",,Q,S,,EUR,3,0,",
            ",5100000,D,F,,EUR,3,0,0.95",
            2,
            "EU.TURNOVER.C.L",
        ),  # the sum of C.S, in the next row
    ],
)
def test_a_table_that_claims_more_is_caught(desk, old, new, code, said):
    text = (desk.folder / "out/table.csv").read_text()
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith(old) and (old[0] != "," or ",C,L," in line))
    other = desk.folder / "other.csv"
    other.write_text("\n".join([*lines[:at], lines[at].removesuffix(old) + new, *lines[at + 1 :], ""]))
    judged = desk.audit(other)
    assert judged.code == code, judged.text
    assert said in judged.text


def test_the_sum_that_would_help_an_attacker_is_not_safe(desk):
    """EU.C.S: BE's 5 100 000 are more than 95 % of it, and are not told."""
    lines = (desk.folder / "out/table.csv").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if ",C,S," in line)
    assert lines[at].endswith(",,Q,S,,EUR,3,0,")
    other = desk.folder / "other.csv"
    other.write_text(
        "\n".join(
            [
                *lines[:at],
                lines[at].removesuffix(",,Q,S,,EUR,3,0,") + ",5100000,D,F,,EUR,3,0,0.95",
                *lines[at + 1 :],
                "",
            ]
        )
    )
    judged = desk.audit(other)
    assert judged.code == 3, judged.text
    assert "AT.TURNOVER.D.L" in judged.said


def test_the_reader_of_the_warehouse_sees_the_share(desk):
    engine = open_warehouse(f"sqlite:///{desk.folder / 'out/warehouse.db'}")
    try:
        cells = {cell.cell: cell for cell in reader.released_cells(engine, "small", PERIOD)}
        unsound = [name for name, found in run_checks(engine).items() if found]
    finally:
        engine.dispose()
    told = cells["EU.TURNOVER.D.L"]
    assert (told.value, told.obs_status, told.conf_status, told.rounding_base, told.visible_share) == (
        6e6,
        "D",
        "F",
        None,
        0.95,
    )
    assert unsound == []


def test_the_report_explains_it_and_tells_no_secret(desk):
    page = (desk.folder / "out/report.html").read_text()
    notes = (
        "information lost",
        "sums of the visible countries: 1 of 2 that cover 95.0% of a withheld total are safe",
    )
    for said in (
        *notes,
        "Sums of the visible countries",
        "EU.TURNOVER.D.L",
        "6\u202f000\u202f000",
        "95\u202f%",
        "is not the total",
    ):
        assert said in page
    for name in ("report.html", "audit.json", "table.csv"):
        text = (desk.folder / "out" / name).read_text().replace("\u202f", "")
        assert not [secret for secret in (*SECRETS, "6251409", "315789") if secret in text], name
