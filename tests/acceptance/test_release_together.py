"""Two tables of one statistic whose deliveries are there at once: whichever is released first decides for
both, each has its own audit, and the other one takes what was decided.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.desk import Ended, sdc
from support.statistic import AT_MAIN, OTHERS, Office, two_tables


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return two_tables(tmp_path)


def release(office: Office, name: str, *also: str) -> Ended:
    at = office.folder
    where = ("--inbox", at / f"{name}-2024", "--warehouse", office.warehouse)
    asked = ("--domain", at / f"{name}.yaml", "--period", "2024", *where, "--out", office.out(name, "2024"))
    return sdc("release", *asked, *office.also(also))


@pytest.mark.parametrize(("first", "second"), [("main", "sizes"), ("sizes", "main")])
def test_the_first_table_decides_for_both(office: Office, first: str, second: str):
    ended = release(office, first, second)
    assert ended.code == 0, ended.text
    assert f"decided together with {second}" in ended.text
    ended = release(office, second)
    assert ended.code == 0, ended.text
    assert f"decided together with {first}" in ended.text
    main, sizes = office.published("main", "2024"), office.published("sizes", "2024")
    assert {code: sizes[f"{code}._T"] for code in "TXY"} == {code: main[code] for code in "TXY"}


def test_running_a_release_again_makes_no_version(office: Office):
    assert release(office, "main", "sizes").code == 0
    once = office.out("main", "2024").joinpath("table.csv").read_bytes()
    ended = release(office, "main")
    assert ended.code == 0, ended.text
    assert office.out("main", "2024").joinpath("table.csv").read_bytes() == once
    assert office.certificate("main", "2024")["verdict"] == "passed"


def test_without_the_other_deliveries_a_table_is_decided_alone(office: Office):
    ended = release(office, "main")
    assert ended.code == 0, ended.text
    assert "decided together" not in ended.text


def test_another_table_must_be_one_that_the_domain_names(office: Office):
    office.domain("main", more="linked: {tables: [sizes]}")
    ended = release(office, "main", "sizes")
    assert ended.code == 2
    assert "linked: {tables: [sizes], together: true}" in ended.text


def test_the_domain_file_of_the_other_table_must_be_there(office: Office):
    """The deliveries of the main table are in the warehouse, and its domain file has another name."""
    assert release(office, "sizes", "main").code == 0
    office.domain("again", more="linked: {tables: [main, sizes], together: true}")
    office.deliver("again", "2024", AT=AT_MAIN, BE=OTHERS["BE"][0], DE=OTHERS["DE"][0])
    (office.folder / "main.yaml").rename(office.folder / "elsewhere.yaml")
    ended = release(office, "again")
    assert ended.code == 2
    assert "main.yaml is no file. Remedy: put the domain file of main there" in ended.text


def test_other_bases_are_no_reason_to_stop(office: Office):
    office.domain(
        "main", more="linked: {tables: [sizes], together: true}\nbases: {maximum_relative_base: 0.1}"
    )
    ended = release(office, "main", "sizes")
    assert ended.code == 0, ended.text
    assert "not decided together: sizes asks for other bases than main" in ended.text


def test_the_demonstration_of_a_statistic_is_decided_together(tmp_path: Path):
    """Three tables of the same enterprises, as `sdc demo --statistic` writes them."""
    asked = ("--countries", "4", "--activities", "16", "--sizes", "2", "--regions", "2")
    assert sdc("demo", tmp_path, "--statistic", *asked).code == 0
    names, told = ("main", "sizes", "regions"), {}
    for number, name in enumerate(names):
        also = [
            part
            for each in names[number + 1 :]
            for part in ("--also", f"{tmp_path / f'sbs_{each}.yaml'},{tmp_path / 'inbox' / each}")
        ]
        ended = sdc(
            "release", "--domain", tmp_path / f"sbs_{name}.yaml", "--period", "2024",
            "--inbox", tmp_path / "inbox" / name, "--warehouse", f"sqlite:///{tmp_path / 'w.db'}",
            "--out", tmp_path / "out" / name, *also,
        )  # fmt: skip
        assert ended.code == 0, ended.text
        told[name] = ended.text
    assert "decided together with sbs_regions, sbs_sizes" in told["main"]
    assert "decided together with sbs_main" in told["sizes"]
    assert "decided together with sbs_main" in told["regions"]


def test_the_demonstration_of_quarters_and_their_year_is_released_in_turn(tmp_path: Path):
    """The quarters come out through the year; the year counts them in, and has an indicator that they do not
    have.
    """
    asked = ("--countries", "3", "--activities", "16", "--sizes", "2", "--regions", "2", "--indicators", "2")
    assert sdc("demo", tmp_path, "--statistic", "--quarters", *asked).code == 0
    quarters = [("quarters", f"2024-Q{number}", f"quarters/2024-Q{number}") for number in range(1, 5)]
    for name, period, inbox in (*quarters, ("main", "2024", "main")):
        ended = sdc(
            "release", "--domain", tmp_path / f"sbs_{name}.yaml", "--period", period,
            "--inbox", tmp_path / "inbox" / inbox, "--warehouse", f"sqlite:///{tmp_path / 'w.db'}",
            "--out", tmp_path / "out" / period,
        )  # fmt: skip
        assert ended.code == 0, ended.text
        assert "SDC/elsewhere" not in (tmp_path / "out" / period / "findings.csv").read_text()
    certificate = json.loads((tmp_path / "out" / "2024" / "audit.json").read_text())
    assert {each["period"] for each in certificate["linked"]} == {period for _, period, _ in quarters}


def test_a_statistic_too_small_for_three_tables_is_refused(tmp_path: Path):
    ended = sdc("demo", tmp_path, "--statistic", "--activities", "4")
    assert ended.code == 2
    assert "a statistic needs at least 2 countries, 12 activities" in ended.text


@pytest.mark.parametrize("written", ["linked: {tables: [sises]}", "linked:\n  tables:\n    - sises"])
def test_a_table_of_which_nothing_is_known_is_an_error_of_the_domain_file(office: Office, written: str):
    """A slip would let the release out without an attack on both tables."""
    file = office.domain("main", more=written)
    line = next(i for i, each in enumerate(file.read_text().splitlines(), start=1) if "sises" in each)
    ended = release(office, "main")
    assert ended.refused(f"{file}, line {line}: linked.tables: sises", "Did you mean sizes?", "Remedy")


def test_a_table_is_known_by_its_domain_file_or_by_the_warehouse(office: Office):
    office.domain("main", more="linked: {tables: [sizes]}")
    assert release(office, "main").code == 0
    away = office.folder / "elsewhere"
    away.mkdir()
    office.domain("sizes", "ACTIVITY SIZECLASS", more="linked: {tables: [main]}")
    (office.folder / "main.yaml").rename(away / "main.yaml")
    assert release(office, "sizes").code == 0


def test_another_table_is_named_once_and_is_another_one(office: Office):
    sizes = f"{office.folder / 'sizes.yaml'},{office.folder / 'sizes-2024'}"
    main = f"{office.folder / 'main.yaml'},{office.folder / 'main-2024'}"
    for also, said in (([sizes, sizes], "stands more than once"), ([main], "is this table itself")):
        named = [part for each in also for part in ("--also", each)]
        ended = sdc(
            "what-if", "--domain", office.folder / "main.yaml", "--period", "2024",
            "--inbox", office.folder / "main-2024", *named,
        )  # fmt: skip
        assert ended.refused(said, "Remedy")


def test_an_output_folder_is_no_inbox_of_another_table(office: Office):
    at = office.folder
    ended = sdc(
        "release", "--domain", at / "main.yaml", "--period", "2024", "--inbox", at / "main-2024",
        "--out", at / "sizes-2024", "--also", f"{at / 'sizes.yaml'},{at / 'sizes-2024'}",
    )  # fmt: skip
    assert ended.refused("is the inbox", "Remedy: another folder")


@pytest.mark.parametrize(
    ("also", "named"),
    [
        ("sizes.yaml", "no DOMAIN,INBOX"),
        ("sizes.yaml,nowhere", "nowhere is no folder"),
        ("sizes.yaml,sizes.yaml", "sizes.yaml is no folder"),
        ("copy/sizes.yaml,sizes-2024", "is looked for as"),
    ],
)
def test_what_is_wrong_with_another_table_is_told_before_anything_is_written(
    office: Office, monkeypatch: pytest.MonkeyPatch, also: str, named: str
):
    (office.folder / "copy").mkdir()
    for file in [*office.folder.glob("*.yaml"), *office.folder.glob("*.csv")]:
        (office.folder / "copy" / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(office.folder)
    asked = ("--domain", "main.yaml", "--period", "2024", "--inbox", "main-2024", "--out", "written")
    ended = sdc("release", *asked, "--also", also)
    assert ended.refused(named, "Remedy")
    assert not Path("written").exists()


def test_the_deliveries_of_another_table_are_told_with_table_and_folder(office: Office):
    """A folder may have a comma in its name. Here it holds the files of the first table."""
    wrong = office.folder / "sizes, 2024"
    (office.folder / "main-2024").rename(wrong)
    office.deliver("main", "2024", AT=AT_MAIN)
    at = office.folder
    ended = sdc(
        "release", "--domain", at / "main.yaml", "--period", "2024", "--inbox", at / "main-2024",
        "--out", at / "out", "--also", f"{at / 'sizes.yaml'},{wrong}",
    )  # fmt: skip
    assert f"sizes, {wrong}: 3 deliveries" in ended.text
    assert f"sizes, {wrong}: AT_2024.csv refused" in ended.text


def test_a_table_that_does_not_link_back_is_refused_at_once(office: Office):
    office.domain("sizes", "ACTIVITY SIZECLASS")
    ended = release(office, "main", "sizes")
    assert ended.refused("sizes does not link main", "Remedy: linked: {tables: [main]}")


def test_two_values_for_one_cell_stop_the_first_table_too(office: Office):
    other = AT_MAIN.replace("700", "710").replace("1000", "1010")
    office.deliver("main", "2024", AT=other)
    ended = release(office, "main", "sizes")
    assert ended.refused("has another value in another of the tables main, sizes", "Remedy")


@pytest.mark.parametrize(
    ("more", "unit", "named"),
    [
        ("bases: {rule_aware: true}", "EUR", "bases.rule_aware, and what that tells beside linked releases"),
        ("", "USD", "its TURNOVER has another unit"),
    ],
)
def test_what_would_refuse_the_second_table_stops_the_first(office: Office, more: str, unit: str, named: str):
    file = office.domain("sizes", "ACTIVITY SIZECLASS", f"linked: {{tables: [main], together: true}}\n{more}")
    file.write_text(file.read_text().replace("unit: EUR", f"unit: {unit}"))
    for each in (office.folder / "sizes-2024").iterdir():
        each.write_text(each.read_text().replace("EUR", unit))
    assert release(office, "main", "sizes").refused(named, "Remedy")


def test_a_table_that_is_not_complete_is_told(office: Office):
    (office.folder / "sizes-2024" / "DE_2024.csv").unlink()
    ended = release(office, "main", "sizes")
    assert ended.code == 0, ended.text
    assert "decided without sizes: it has no accepted deliveries of 2024 from all" in ended.text


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (("--statistic", "--period", "2024-X"), "2024-X"),
        (("--statistic", "--countries", "2", "--euro-area"), "euro area"),
        (("--regions", "4"), "--regions is of --statistic"),
        (("--quarters",), "--quarters is of --statistic"),
        (("--statistic", "--quarters", "--period", "2024-07"), "quarters are of a year"),
    ],
)
def test_a_demonstration_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, asked: tuple[str, ...], named: str
):
    ended = sdc("demo", tmp_path / "demo", *asked)
    assert ended.refused(named, "Remedy")
    assert not (tmp_path / "demo").exists()
