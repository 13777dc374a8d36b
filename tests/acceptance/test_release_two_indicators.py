"""A release of one magnitude and one count: the count by small count rounding, one audit, one gate, one
report.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from itertools import product
from pathlib import Path

import pytest
import yaml

from sdc_tasks import intake, pipeline
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.model.results import Publication
from support.desk import Ended, sdc
from support.two_indicators import write_two_indicators

BASE = 3
Table = dict[tuple[str, str, str], dict[str, str]]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_two_indicators(tmp_path_factory.mktemp("two")).parent


def where(desk: Path) -> tuple[object, ...]:
    return ("--domain", desk / "domain.yaml", "--period", "2024", "--inbox", desk / "inbox")


@pytest.fixture(scope="module")
def released(desk: Path) -> Ended:
    ended = sdc("release", *where(desk), "--out", desk / "out", "--witnesses", desk / "evidence.npz")
    assert ended.code == 0, ended.text
    return ended


def rows_of(path: Path, indicator: str = "ENTERPRISES") -> Table:
    with path.open(newline="") as lines:
        return {
            (row["REF_AREA"], row["ACTIVITY"], row["SIZECLASS"]): row
            for row in csv.DictReader(lines)
            if row["INDICATOR"] == indicator
        }


def delivered(desk: Path) -> dict[tuple[str, str], int]:
    """The true EU counts, out of the files."""
    true: dict[tuple[str, str], int] = {}
    for file in sorted((desk / "inbox").glob("*.csv")):
        text = file.read_text()
        for row in csv.DictReader(text.splitlines(), delimiter=";" if ";" in text.splitlines()[0] else ","):
            if row["INDICATOR"] == "ENTERPRISES":
                key = (row["ACTIVITY"], row["SIZECLASS"])
                true[key] = true.get(key, 0) + int(float(row["OBS_VALUE"].replace(",", ".")))
    return true


def test_no_published_count_is_small_nor_is_a_difference_of_compositions(desk, released):
    """Every national count is hidden here, so what follows is the last country: all less all but the last."""
    table = rows_of(desk / "out" / "table.csv")
    areas = sorted({area for area, _, _ in table})
    told = {key: int(row["OBS_VALUE"]) for key, row in table.items()}
    assert len(areas) == 2
    assert any(0 < count < BASE for count in delivered(desk).values()), "the demonstration has no small count"
    for (area, *code), value in told.items():
        assert value == 0 or value >= BASE
        if area != areas[1]:
            last = value - told[(areas[1], *code)]
            assert last == 0 or last >= BASE


def test_counts_add_up_and_are_as_near_as_told(desk, released):
    table, true = rows_of(desk / "out" / "table.csv"), delivered(desk)
    told = {key: int(row["OBS_VALUE"]) for key, row in table.items()}
    domain = load_domain(desk / "domain.yaml")
    activities, sizes = domain.space.hierarchies
    for area, activity in product({area for area, _, _ in told}, activities.codes):
        for total, parts in sizes.families:
            assert told[area, activity, sizes.codes[total]] == sum(
                told[area, activity, sizes.codes[part]] for part in parts
            )
    for (area, activity, size), row in table.items():
        if area == "EU27_2020":
            half = float(row["ROUNDING_BASE"] or 0) / 2
            assert abs(told[area, activity, size] - true.get((activity, size), 0)) <= half


def test_the_certificate_says_how_and_every_verdict_is_shown_again(desk, released):
    told = json.loads((desk / "out" / "audit.json").read_text())
    assert told["verdict"] == "passed"
    assert told["rounding"] == {"ENTERPRISES": {"method": "small-count", "base": BASE, "quality": "fast"}}
    assert told["small_counts"] == []
    assert 0 < told["counts"]["judged_as_whole_numbers"] < told["counts"]["primaries"]
    files = (
        "--published",
        desk / "out" / "table.csv",
        "--certificate",
        desk / "out" / "audit.json",
        "--witnesses",
        desk / "evidence.npz",
    )
    ended = sdc("verify-certificate", *where(desk), *files)
    assert ended.code == 0, ended.text


def test_the_table_is_safe_when_it_is_read_back_and_the_report_shows_it(desk, released):
    ended = sdc("audit", *where(desk), "--published", desk / "out" / "table.csv")
    assert ended.code == 0, ended.text
    page = (desk / "out" / "report.html").read_text()
    assert "Indicators rounded as whole tables" in page
    assert "Judged as whole numbers" in page


def test_a_cell_is_explained_with_its_rounding(desk, released):
    release_id = next(line.split()[1] for line in released.said.splitlines() if line.startswith("release "))
    places = ("--warehouse", f"sqlite:///{desk / 'out' / 'warehouse.db'}", "--json", desk / "why.json")
    ended = sdc("explain", release_id, "EU_LESS.ENTERPRISES.B-N_S95._T", *places)
    assert ended.code == 0, ended.text
    assert "small-count" in (desk / "why.json").read_text()


def test_a_table_that_tells_a_small_count_is_not_safe(desk, released, tmp_path):
    """One composition alone has no small count, and its base is generous; the difference to the
    other is 1.
    """
    table = tmp_path / "table.csv"
    lines = (desk / "out" / "table.csv").read_text().splitlines()
    told = {key: int(row["OBS_VALUE"]) for key, row in rows_of(desk / "out" / "table.csv").items()}
    key = next(key for key, value in sorted(told.items()) if key[0] == "EU_LESS" and value > 50)
    row = next(i for i, line in enumerate(lines) if ",".join(["EU_LESS", "ENTERPRISES", *key[1:]]) in line)
    fields = lines[row].split(",")
    at = lines[0].split(",")
    fields[at.index("OBS_VALUE")] = str(told["EU27_2020", key[1], key[2]] - 1)
    fields[at.index("ROUNDING_BASE")] = "1001"
    table.write_text("\n".join([*lines[:row], ",".join(fields), *lines[row + 1 :], ""]))
    written = ("--json", tmp_path / "audit.json", "--witnesses", tmp_path / "evidence.npz")
    ended = sdc("audit", *where(desk), "--published", table, *written)
    assert ended.code == 3, ended.text
    assert "reveals a small count" in ended.said
    told_small = json.loads((tmp_path / "audit.json").read_text())["small_counts"]
    assert told_small == [f"EU27_2020.ENTERPRISES.{key[1]}.{key[2]}"]
    files = (
        "--published",
        table,
        "--certificate",
        tmp_path / "audit.json",
        "--witnesses",
        tmp_path / "evidence.npz",
    )
    again = sdc("verify-certificate", *where(desk), *files)
    assert again.code == 0, again.text
    assert "verified: failed" in again.said


def test_the_gate_looks_for_small_counts_itself(desk, released):
    """An audit that says nothing of them does not open it."""
    domain = load_domain(desk / "domain.yaml")
    problem = pipeline.build_problem(
        [intake.read(path, domain, "2024").table for path in sorted((desk / "inbox").glob("*.csv"))], domain
    )
    requirements, _ = pipeline.baseline(problem, domain)
    publication = Publication.nothing(problem.aggregate.nonzero()[0])
    report = pipeline.merge(
        [
            pipeline.audit(problem, publication, requirements, domain, chunk)
            for chunk in range(domain.audit.chunks)
        ]
    )
    assert (
        pipeline.release("r", problem, requirements, publication, report, ("external",)).publication
        is publication
    )
    at = int(problem.least[publication.cells].nonzero()[0][0])
    value, base = publication.value.copy(), publication.base.copy()
    value[at], base[at] = 1, 1e6
    small = Publication(publication.cells, value, base)
    object.__setattr__(report, "publication", small.digest)
    with pytest.raises(ReleaseBlocked, match="reveals a small count"):
        pipeline.release("r", problem, requirements, small, report, ("external",))


@pytest.fixture
def changed(desk: Path, tmp_path: Path) -> Path:
    shutil.copytree(desk / "inbox", tmp_path / "inbox")
    for name in ("domain.yaml", "codelists"):
        (shutil.copytree if (desk / name).is_dir() else shutil.copy)(desk / name, tmp_path / name)
    return tmp_path


def flag(folder: Path, value: int, new: str, only: str = "") -> None:
    """Gives counts of that value, or all totals above them, another flag."""
    file = sorted((folder / "inbox").glob("*.csv"))[0]
    head, *lines = file.read_text().splitlines()
    at = head.split(",")
    out = []
    for line in lines:
        fields = line.split(",")
        row = dict(zip(at, fields, strict=True))
        if row["INDICATOR"] == "ENTERPRISES" and (
            row["UNITS"] == str(value) or (only and row["ACTIVITY"] == only)
        ):
            fields[at.index("CONF_STATUS")] = new
        out.append(",".join(fields))
    file.write_text("\n".join([head, *out, ""]))


def test_a_total_that_is_public_above_a_hidden_count_is_refused(changed):
    flag(changed, -1, "F", only="B-N_S95")
    ended = sdc("release", *where(changed), "--out", changed / "out")
    assert ended.refused("ENTERPRISES.B-N_S95", "nobody publishes")
    assert not (changed / "out" / "table.csv").exists()


def test_a_larger_count_that_is_primary_is_refused(changed):
    flag(changed, BASE, "A")
    ended = sdc("release", *where(changed), "--out", changed / "out")
    assert ended.refused("was refused", "see findings.csv")
    assert "SDC/flag" in ended.said
    assert "flagged as primary, but small count rounding protects only counts of 1 to 2" in ended.said


def test_a_domain_file_that_makes_no_sense_is_refused_by_name(changed):
    for change, said in (
        ({"kind": "magnitude"}, "kind: count"),
        ({"rounding": {"method": "small-count", "base": 1}}, "base"),
        ({"rounding": {"method": "smallcount", "base": 3}}, "small-count"),
        ({"signed": True}, "never negative"),
        ({"decimals": 1}, "not together with decimals"),
    ):
        domain = yaml.safe_load((changed / "domain.yaml").read_text())
        domain["indicators"][1] |= change
        (changed / "wrong.yaml").write_text(yaml.safe_dump(domain))
        ended = sdc(
            "audit",
            "--domain",
            changed / "wrong.yaml",
            "--period",
            "2024",
            "--inbox",
            changed / "inbox",
            "--national",
        )
        assert ended.refused(said)


@pytest.mark.parametrize("method", ["controlled", "quadratic"])
def test_a_magnitude_is_rounded_as_a_whole(tmp_path, method):
    """The count keeps its own method; the aggregates of turnover add up. Controlled, all are multiples of one
    base.
    """
    path = write_two_indicators(tmp_path, 3, 8, 3)
    domain = yaml.safe_load(path.read_text())
    domain["indicators"][0]["rounding"] = {"method": method, "base": 1000}
    path.write_text(yaml.safe_dump(domain))
    ended = sdc("release", *where(tmp_path), "--out", tmp_path / "out")
    assert ended.code == 0, ended.text
    table = rows_of(tmp_path / "out" / "table.csv", "TURNOVER")
    told = {key: int(row["OBS_VALUE"]) for key, row in table.items() if row["OBS_VALUE"]}
    assert told, ended.text
    base = float(re.findall(r"rounded to base (\S+): 0 requirements broken", ended.said)[0])
    assert base >= 1000
    multiples = [value % base == 0 for value in told.values()]
    assert all(multiples) if method == "controlled" else any(multiples)
    sizes = load_domain(path).space.hierarchies[1]
    for area, activity, _ in told:
        for total, parts in sizes.families:
            assert told[area, activity, sizes.codes[total]] == sum(
                told[area, activity, sizes.codes[part]] for part in parts
            )
    assert json.loads((tmp_path / "out" / "audit.json").read_text())["verdict"] == "passed"


def test_a_revised_count_is_the_second_version_and_withstands_who_kept_the_first(changed):
    path = changed / "domain.yaml"
    domain = yaml.safe_load(path.read_text())
    domain["audit"] = {"profiles": ["external", "vintage"], "chunks": 2}
    path.write_text(yaml.safe_dump(domain))
    assert sdc("release", *where(changed), "--out", changed / "out").code == 0
    before = rows_of(changed / "out" / "table.csv")
    space = load_domain(path).space
    above = [dict(zip(hierarchy.codes, hierarchy.parent, strict=True)) for hierarchy in space.hierarchies]
    file = sorted((changed / "inbox").glob("*.csv"))[0]
    head, *lines = file.read_text().splitlines()
    at = head.split(",")
    rows = [dict(zip(at, line.split(","), strict=True)) for line in lines]
    leaves = [set(codes) - set(codes.values()) for codes in above]
    leaf = next(
        (row["ACTIVITY"], row["SIZECLASS"])
        for row in rows
        if row["INDICATOR"] == "ENTERPRISES"
        and row["ACTIVITY"] in leaves[0]
        and row["SIZECLASS"] in leaves[1]
    )
    below = [{code, *_above(parents, code)} for parents, code in zip(above, leaf, strict=True)]
    for row in rows:  # five more, in the leaf and in every total above it
        if row["INDICATOR"] == "ENTERPRISES" and row["ACTIVITY"] in below[0] and row["SIZECLASS"] in below[1]:
            row["OBS_VALUE"] = str(int(row["OBS_VALUE"]) + 5)
    file.write_text("\n".join([head, *(",".join(row.values()) for row in rows), ""]))
    ended = sdc("release", *where(changed), "--out", changed / "out")
    assert ended.code == 0, ended.text
    assert "version 2 published" in ended.said
    assert rows_of(changed / "out" / "table.csv") != before
    told = json.loads((changed / "out" / "audit.json").read_text())
    assert (told["verdict"], told["profiles"], told["small_counts"]) == (
        "passed",
        ["external", "vintage", "revision"],
        [],
    )


def _above(parents: dict[str, str | None], code: str) -> list[str]:
    parent = parents[code]
    return [] if parent is None else [parent, *_above(parents, parent)]
