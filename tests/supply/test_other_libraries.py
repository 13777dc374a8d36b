"""What other libraries write is read as the same table, or refused with one remedy; what is published here is
read by each of them, with every value, flag and base, or docs/deliveries.md says what it loses.

Each runs in an environment of its own, at the versions of tests/support/neighbours/requirements.txt.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.intake import read_bytes
from sdc_tasks.model.findings import Severity
from sdc_tasks.report import metadata_page, public_files
from support import ROOT
from support.small_tables import DOMAIN, VISIBLE, edition, small_domain
from support.supply.lock import no_network, uv
from support.supply.pythons import interpreter

pytestmark = pytest.mark.slow  # an environment with seven libraries

PROGRAMS = ROOT / "tests" / "support" / "neighbours"
DELIVERIES = (ROOT / "docs" / "deliveries.md").read_text(encoding="utf-8")
FOLDERS = {
    "areas.csv": "code,parent\nAT,EU\nBE,EU\n",
    "activities.csv": "code,parent\nTOTAL,\n01,TOTAL\n02,TOTAL\n",
    "sizes.csv": "code,parent\n_T,\n0,_T\n1,_T\n",
    "accounts.yaml": """
id: accounts
title: Accounts
structure_id: "NSI:ACCOUNTS(1.0)"
areas: {dimension: REF_AREA, codelist: areas.csv}
aggregates: [{code: EU, label: Union, members: all}]
indicators: [{code: INCOME, label: Income, unit: EUR, decimals: 2, signed: true}]
hierarchies:
  - {dimension: ACTIVITY, codelist: activities.csv}
  - {dimension: SIZECLASS, codelist: sizes.csv}
flags:
  F: {role: public}
  C: {role: primary, rule: {kind: percent, percent: 10}}
  N: {role: primary, rule: {kind: percent, percent: 10}}
  E: {role: primary, rule: {kind: percent, percent: 10}, ends: EMBARGO_TIME}
  D: {role: secondary}
  S: {role: secondary}
calendar: {cycles: {'2024': {opens: 2026-01-01T00:00:00Z, embargo: 2026-03-01T11:00:00Z}}}
""",
}
# Activity, size class, value, status, flag, end of its embargo.
CELLS = """
TOTAL _T 123456789717.09 A F -
TOTAL 0 123456789017.34 A N -
TOTAL 1 699.75 A D -
01 _T 123456789011.84 A S -
01 0 123456789012.34 A F -
01 1 -0.50 A C -
02 _T 705.25 A F -
02 0 - M F -
02 1 700.25 P E 2026-03-01T11:00:00Z
"""
# Of what is refused, a part of the one finding.
REFUSED = {
    "pysdmx csv 1_0_0 name.csv": "labels have columns of their own in SDMX-CSV 2, with STRUCTURE_NAME",
    "sdmx1 xml generic.xml": "export it as one of the two",
    "sdmx1 xml with an action.xml": "not ActionType.information",
    "sdmxthon xml generic by series.xml": "fit the totals around them",
    "frictionless parquet.parquet": "(EMBARGO_TIME) is of a kind that is not read here: send text",
    "polars csv NA.csv": "with which R says that there is no value: leave it empty",
}
READ = (
    *(f"pysdmx csv {version}.csv" for version in ("1_0_0", "2_0_0", "2_1_0")),
    *(f"pysdmx csv {version} both.csv" for version in ("1_0_0", "2_0_0", "2_1_0")),
    *(f"pysdmx csv {version} name.csv" for version in ("2_0_0", "2_1_0")),
    *(f"pysdmx xml {version}.xml" for version in ("2_1_STR", "2_1_GEN", "3_0", "3_1")),
    "sdmx1 csv 1.0.csv", "sdmx1 csv 2.0.csv", "sdmx1 xml specific.xml",
    "sdmxthon csv 1.0.csv", "sdmxthon csv 2.0.csv", "sdmxthon xml specific flat.xml",
    "sdmxthon xml specific by series.xml", "sdmxthon xml generic flat.xml",
    "frictionless csv.csv", "duckdb csv.csv", "duckdb csv bar.csv", "duckdb parquet.parquet",
    "polars csv.csv", "polars csv tabs.txt", "polars parquet.parquet", "polars arrow.arrow",
    "polars arrow of codes.arrow",
)  # fmt: skip
# Libraries that need a newer Python than this program: the versions that they run on, and their files, each
# with a part of its one finding where it is refused.
APART: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "tidysdmx": (
        "tidysdmx==0.10.0",
        ("3.13", "3.12"),
        {
            "tidysdmx csv.csv": "",
            "tidysdmx csv of a data structure.csv": "",
            "tidysdmx csv of an agreement.csv": "dataprovision, not provisionagreement (9 records",
            "tidysdmx csv to update.csv": "ACTION must be I, A, R or M, not U (9 records",
            "tidysdmx csv of numbers.csv": "no record of AT.INCOME.02.0",  # it takes such rows away
        },
    ),
    "sdmxlib": (
        "sdmxlib==0.74.0",
        ("3.14",),
        {
            "sdmxlib csv.csv": "",
            "sdmxlib json 2.0.json": "",
            "sdmxlib json 1.0.json": "SDMX-JSON 1.0 is not read here: send 2.0",
        },
    ),
}
# What a reader of a published table loses: columns, or the error that it ends with. The others lose nothing.
LOST: dict[str, set[str] | str] = {
    "pysdmx table.csv": {"ACTIVITY"},
    "pandas table.csv": {"ACTIVITY"},
    "polars table.csv": {"ACTIVITY"},
    "DuckDB table.csv": {"CONF_STATUS"},
    "pysdmx table.json": "NotImplemented",
    "sdmxthon table.csv": {"ACTIVITY"},
    "sdmxthon table.xml": "Exception",
    "sdmxthon table.json": "Exception",
    "sdmx1 table.json": "TypeError",
    "sdmx1 table.xml, an older structure": "XMLParseError",
}
NUMBERS = ("OBS_VALUE", "ROUNDING_BASE", "VISIBLE_SHARE", "UNIT_MULT", "DECIMALS")
ENVELOPE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")  # a reader takes it for the name of the table
EXACT = [(123456789012.0, 0.0), (1500.0, 500.0), (5.0, 0.0), (0.25, 0.0), (-12.5, 0.5), (7.0, 0.0)]


def environment(folder: Path, python: str, *packages: object) -> Path:
    """The Python of an environment that has these packages."""
    assert uv("venv", "--python", python, folder / "env", cwd=folder).returncode == 0
    found = folder / "env" / "bin" / "python"
    done = uv("pip", "install", "--python", found, *packages, cwd=folder)
    if no_network(done):
        pytest.skip("the libraries are neither in uv's cache nor to be had from an index")
    assert done.returncode == 0, done.stderr
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the other libraries."""
    folder = tmp_path_factory.mktemp("libraries")
    return environment(folder, sys.executable, "-r", PROGRAMS / "requirements.txt")


def run(python: Path, program: str, *arguments: object) -> str:
    done = subprocess.run(
        [python, PROGRAMS / program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    folder = tmp_path_factory.mktemp("accounts")
    for name, text in FOLDERS.items():
        (folder / name).write_text(text)
    return load_domain(folder / "accounts.yaml")


@pytest.fixture(scope="module")
def written(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the table as each library writes it."""
    folder = tmp_path_factory.mktemp("written")
    rows = given_rows()
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "made").mkdir()
    run(python, "write.py", folder / "rows.json", folder / "made")
    return folder / "made"


def given_rows() -> list[dict[str, str]]:
    rows = []
    for line in CELLS.strip().splitlines():
        activity, size, value, status, flag, end = ("" if text == "-" else text for text in line.split())
        of_all = {"FREQ": "A", "REF_AREA": "AT", "INDICATOR": "INCOME", "TIME_PERIOD": "2024"}
        of_a_value = {"OBS_VALUE": value, "UNIT_MEASURE": "EUR", "UNIT_MULT": "0", "OBS_STATUS": status}
        flags = {"CONF_STATUS": flag, "EMBARGO_TIME": end}
        rows.append({**of_all, "ACTIVITY": activity, "SIZECLASS": size, **of_a_value, **flags})
    return rows


def test_every_file_that_is_written_is_judged(written: Path) -> None:
    assert sorted(path.name for path in written.iterdir()) == sorted([*READ, *REFUSED])


@pytest.mark.parametrize("file", READ)
def test_what_another_library_writes_is_the_same_table(domain: Domain, written: Path, file: str) -> None:
    is_the_same_table(domain, written / file)


def is_the_same_table(domain: Domain, file: Path) -> None:
    found = read_bytes(file.read_bytes(), f"AT_2024{file.suffix}", domain, "2024")
    assert [each.message for each in found.findings if each.severity is Severity.ERROR] == []
    assert found.table is not None
    cells = {(row[0], row[1]): row[2:] for row in map(str.split, CELLS.strip().splitlines())}
    assert len(cells) == len(domain.space.national_keys)
    for place, (_, *key) in enumerate(domain.space.national_keys):
        value, status, flag, end = cells[key[0], key[1]]
        assert found.table.available[place] == (status != "M")
        if status != "M":
            assert found.table.value[place] == float(value), key
        assert found.table.flag[place] == ("F" if end != "-" else flag), "the embargo ends with the release's"


@pytest.mark.parametrize("file", REFUSED)
def test_what_is_refused_has_one_remedy(domain: Domain, written: Path, file: str) -> None:
    has_one_remedy(domain, written / file, REFUSED[file])


def has_one_remedy(domain: Domain, file: Path, remedy: str) -> None:
    found = read_bytes(file.read_bytes(), f"AT_2024{file.suffix}", domain, "2024")
    errors = [each.message for each in found.findings if each.severity is Severity.ERROR]
    assert [remedy in message for message in errors] == [True], errors


@pytest.mark.parametrize("library", APART)
def test_what_a_library_of_newer_pythons_writes_is_judged(
    domain: Domain, library: str, tmp_path: Path
) -> None:
    package, versions, files = APART[library]
    there = next(filter(None, map(interpreter, versions)), None)
    if there is None:
        pytest.skip(f"no Python {' or '.join(versions)} on this machine, in the path or of pyenv")
    (tmp_path / "rows.json").write_text(json.dumps(given_rows()))
    (tmp_path / "made").mkdir()
    apart = environment(tmp_path, there, package)
    run(apart, "write_apart.py", library, tmp_path / "rows.json", tmp_path / "made")
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == sorted(files)
    for file, remedy in files.items():
        if remedy:
            has_one_remedy(domain, tmp_path / "made" / file, remedy)
        else:
            is_the_same_table(domain, tmp_path / "made" / file)


@pytest.fixture(scope="module", params=["all kinds of cells", "public cells"])
def published(
    request: pytest.FixtureRequest, python: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[dict[str, str]], dict[str, Any]]:
    """The rows of table.csv, by Python's own reader, and what each library reads of the public files."""
    folder = tmp_path_factory.mktemp("published")
    small_domain(folder, DOMAIN + "dissemination: {formats: [sdmx-ml, sdmx-json, parquet]}\n")
    (folder / "activity.csv").write_text("code,parent\n01,\n")
    cells = VISIBLE if request.param == "all kinds of cells" else EXACT
    made = folder / "made"
    made.mkdir()
    for name, content in public_files(
        edition(load_domain(folder / "small.yaml"), cells), metadata_page
    ).items():
        (made / name).write_bytes(content)
    with (made / "table.csv").open(newline="") as lines:
        rows = [
            {name: text for name, text in row.items() if text and name not in ENVELOPE}
            for row in csv.DictReader(lines)
        ]
    return request.param, rows, json.loads(run(python, "read.py", made))


def lost(rows: list[dict[str, str]], read: list[dict[str, str]]) -> set[str]:
    """The columns that are not as they were published."""
    found: set[str] = set()
    for row, other in zip(rows, read, strict=True):
        for name in row.keys() | (other.keys() - set(ENVELOPE)):
            mine, theirs = row.get(name, ""), other.get(name, "")
            same = float(mine) == float(theirs) if name in NUMBERS and mine and theirs else mine == theirs
            found |= set() if same else {name}
    return found


def test_what_is_published_is_read_by_others_or_the_documents_say_what_is_lost(
    published: tuple[str, list[dict[str, str]], dict[str, Any]],
) -> None:
    kind, rows, read = published
    assert any(row["ACTIVITY"].startswith("0") for row in rows)
    tables = {how: found for how, found in read.items() if "datapackage" not in how}
    assert LOST.keys() < tables.keys()
    for how, found in tables.items():
        expected = LOST.get(how, set())
        if how == "DuckDB table.csv" and kind == "all kinds of cells":
            expected = set()  # beside S, F is a text
        assert (found if isinstance(found, str) else lost(rows, found)) == expected, how
        if how in LOST:
            assert f"| {how} |" in DELIVERIES, "the documents do not say what is lost"


def test_the_package_is_valid_but_for_a_size_that_frictionless_does_not_count(
    published: tuple[str, list[dict[str, str]], dict[str, Any]],
) -> None:
    _, _, read = published
    assert read["frictionless datapackage.json"] == [{"error": "byte-count"}]
    assert read["frictionless datapackage.json, skip_errors"] == []
    assert "frictionless datapackage.json" in DELIVERIES


def test_the_documents_name_the_versions() -> None:
    for line in (PROGRAMS / "requirements.txt").read_text().splitlines():
        name, version = line.split("==")
        assert name == "pyarrow" or f"{name.partition('[')[0]} {version}" in DELIVERIES
    for package, *_ in APART.values():
        assert package.replace("==", " ") in DELIVERIES
