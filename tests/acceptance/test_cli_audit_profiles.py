"""`sdc audit` by profile, its evidence, and `sdc verify-certificate`, which must believe nothing
that the evidence does not show.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import intake
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Role
from sdc_tasks.model.results import Publication
from support.demo import quick_demo
from support.desk import Ended, sdc
from support.small_tables import write_table

PROFILES = ("external", "internal", "coalition")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small demonstration, its exact table and one that tells nothing."""
    folder = tmp_path_factory.mktemp("audit")
    domain = load_domain(quick_demo(folder, 5, 12, 3))
    tables = [intake.read(path, domain, "2024").table for path in sorted((folder / "inbox").glob("*.csv"))]
    total = np.sum([table.value for table in tables if table is not None], axis=0)
    cells = np.arange(len(total)) + len(domain.countries) * domain.space.national_size
    write_table(
        folder / "exact.csv", domain, domain.space, "2024", Publication(cells, total, np.zeros(len(total)))
    )
    write_table(folder / "nothing.csv", domain, domain.space, "2024", Publication.nothing(cells))
    return folder


def where(demo: Path) -> tuple[object, ...]:
    return ("--domain", demo / "domain.yaml", "--period", "2024", "--inbox", demo / "inbox")


def audited(demo: Path, table: str, *profiles: str) -> Ended:
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    files = (
        "--json",
        demo / f"{table}.json",
        "--witnesses",
        demo / f"{table}.npz",
        "--intervals",
        demo / f"{table}.intervals.csv",
    )
    return sdc("audit", *where(demo), "--published", demo / f"{table}.csv", *chosen, *files)


def verified(demo: Path, table: str, *profiles: str, **other: Path) -> Ended:
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    files = {
        "published": demo / f"{table}.csv",
        "certificate": demo / f"{table}.json",
        "witnesses": demo / f"{table}.npz",
    } | other
    return sdc(
        "verify-certificate",
        *where(demo),
        *chosen,
        *(word for name, path in files.items() for word in (f"--{name}", path)),
    )


@pytest.mark.parametrize(("table", "code"), [("exact", 3), ("nothing", 0)])
def test_what_the_audit_says_is_shown_again_without_it(demo, table, code):
    """Also of a table that fails: verified is what the certificate says, not that the table is safe."""
    assert audited(demo, table, *PROFILES).code == code
    told = json.loads((demo / f"{table}.json").read_text())
    assert told["profiles"] == list(PROFILES)
    assert all(list(each["profiles"]) == list(PROFILES) for each in told["primaries"])
    ended = verified(demo, table, *PROFILES)
    assert ended.code == 0, ended.text
    assert f"verified: {told['verdict']}" in ended.said
    assert (demo / f"{table}.npz").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("profile", ["internal", "coalition"])
def test_a_profile_of_respondents_is_not_claimed_where_units_are_missing(demo, tmp_path, profile):
    """Without UNITS there was nobody to attack with, and the table passed."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for path in (demo / "inbox").glob("*.csv"):
        text = path.read_bytes().decode("utf-8-sig")
        between = ";" if ";" in text.splitlines()[0] else ","
        header, *rows = csv.reader(text.splitlines(), delimiter=between)
        units = header.index("UNITS")
        with (inbox / path.name).open("w", newline="") as file:
            csv.writer(file, delimiter=between).writerows(
                [header, *([*row[:units], "", *row[units + 1 :]] for row in rows)]
            )
    where = (
        "--domain",
        demo / "domain.yaml",
        "--period",
        "2024",
        "--inbox",
        inbox,
        "--national",
        "--profile",
        "external",
    )
    assert sdc("audit", *where).code == 0
    ended = sdc("audit", *where, "--profile", profile)
    assert ended.code == 2
    assert "Send UNITS with every suppressed cell" in ended.text


def test_a_certificate_that_claims_more_is_not_verified(demo):
    audited(demo, "exact", *PROFILES)
    told = json.loads((demo / "exact.json").read_text())
    broken = next(each for each in told["primaries"] if not each["protected"])
    broken["profiles"] = dict.fromkeys(PROFILES, True)
    forged = demo / "forged.json"
    forged.write_text(json.dumps(told))
    ended = verified(demo, "exact", *PROFILES, certificate=forged)
    assert ended.code == 3
    assert f"{broken['cell']}.profiles." in ended.said


def test_a_certificate_of_another_table_or_other_witnesses_is_not_verified(demo):
    audited(demo, "exact", "external")
    audited(demo, "nothing", "external")
    assert "about another table" in verified(demo, "exact", published=demo / "nothing.csv").said
    ended = verified(demo, "exact", witnesses=demo / "nothing.npz")
    assert ended.code == 3
    assert "about other witnesses" in ended.said
    assert verified(demo, "exact", witnesses=demo / "exact.csv").code == 2
    assert verified(demo, "exact", certificate=demo / "exact.csv").code == 2


def test_intervals_are_shares_no_finer_than_quarters(demo):
    audited(demo, "exact", "external")
    with (demo / "exact.intervals.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    primaries = {each["cell"] for each in json.loads((demo / "exact.json").read_text())["primaries"]}
    required = [row for row in rows if row["CELL"] in primaries]
    assert len(required) == len(primaries)
    assert {row[side] for row in required for side in ("DOWN", "UP", "SLIDING")} <= {
        "0",
        "0.25",
        "0.5",
        "0.75",
        "1",
    }


def test_intervals_name_every_suppressed_cell_and_say_nothing_of_secondary_ones(demo):
    """Their widths are required of nobody; as a share of their own value they would tell it."""
    audited(demo, "exact", "external")
    with (demo / "exact.intervals.csv").open(newline="") as lines:
        told = {row.pop("CELL"): set(row.values()) for row in csv.DictReader(lines)}
    domain = load_domain(demo / "domain.yaml")
    tables = [intake.read(path, domain, "2024").table for path in sorted((demo / "inbox").glob("*.csv"))]
    flags = np.concatenate([table.flag for table in tables if table is not None])
    public = [code for code, flag in domain.flags.items() if flag.role is Role.PUBLIC]
    assert set(told) == {domain.space.key(int(cell)) for cell in np.flatnonzero(~np.isin(flags, public))}
    primaries = {each["cell"] for each in json.loads((demo / "exact.json").read_text())["primaries"]}
    assert {cell for cell, shares in told.items() if shares == {""}} == set(told) - primaries != set()


def test_the_national_tables_alone(demo):
    """What their own suppression keeps of the promised levels, without any aggregate: as
    another audit tool would judge them.
    """
    ended = sdc("audit", *where(demo), "--national")
    assert ended.code == 0, ended.text
    assert sdc("audit", *where(demo)).code == 2
    assert sdc("audit", *where(demo), "--national", "--profile", "nobody").code == 2


def test_the_certificate_of_a_release_is_verified_with_its_witnesses(demo, tmp_path):
    ended = sdc("release", *where(demo), "--out", tmp_path, "--witnesses", tmp_path / "evidence.npz")
    assert ended.code == 0, ended.text
    files = {
        "published": tmp_path / "table.csv",
        "certificate": tmp_path / "audit.json",
        "witnesses": tmp_path / "evidence.npz",
    }
    ended = verified(demo, "exact", **files)
    assert ended.code == 0, ended.text
    assert "verified: passed" in ended.said
    for name in ("table.xml", "table.json"):  # the same table in another format is the same publication
        ended = verified(demo, "exact", **files | {"published": tmp_path / name})
        assert (ended.code, "verified: passed" in ended.said) == (0, True), ended.text
    tables = ("table.csv", "table.xml", "table.json")
    said = {sdc("audit", *where(demo), "--published", tmp_path / name).said for name in tables}
    assert len(said) == 1, said
