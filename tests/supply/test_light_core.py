"""What protects and audits one table needs no package of a release: neither warehouse nor report, neither
checks nor pictures. Whoever asks for what they do is told which extra is missing.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from sdc_tasks import tested
from sdc_tasks.errors import InvalidInput
from support.supply.lock import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The packages of the extra `release`, by the names that Python imports.
ABSENT = {
    "alembic": "alembic",
    "cryptography": "cryptography",
    "great-expectations": "great_expectations",
    "jinja2": "jinja2",
    "matplotlib": "matplotlib",
    "psutil": "psutil",
    "psycopg": "psycopg",
    "pulp": "pulp",
    "pydantic": "pydantic",
    "pyyaml": "yaml",
    "sqlalchemy": "sqlalchemy",
}
# A process in which none of them is installed.
WITHOUT = f"""
import importlib.metadata, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {set(ABSENT.values())}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
known = importlib.metadata.version
def version(name):
    if name.lower() in {set(ABSENT)}:
        raise importlib.metadata.PackageNotFoundError(name)
    return known(name)
importlib.metadata.version = version
"""
SDC = "sys.argv[0] = 'sdc'\nfrom sdc_tasks.cli import main\nmain()\n"
FUNCTIONS = """
import pandas as pd
import sdc_tasks as sdc
import sdc_tasks.argus.run
rows = [(r, b, 90.0 + 7 * i) for i, r in enumerate("NSW") for b in "PQR" for _ in "1234"]
firms = pd.DataFrame([*rows, ("N", "O", 50.0), ("S", "O", 900.0)], columns=["REGION", "BRANCH", "VALUE"])
asked = {"dims": ["REGION", "BRANCH"], "rules": sdc.Rules(p=10), "contributors": sdc.Contributors()}
found = sdc.suppress(firms, **asked)
assert sdc.audit(found).safe
assert sdc.primary(firms, **asked).table.size
cells = pd.read_csv("t.csv")
where = {"dims": ["REGION", "BRANCH"], "status": "STATUS", "lpl": "LPL", "upl": "UPL", "total": "none"}
assert sdc.audit(sdc.suppress(cells, **where)).safe
assert sdc.adjust(cells, **where, seconds=5.0).table.size
assert sdc.round_table(cells, **where, base=10.0).table.size
assert sdc.round_counts(firms, ["REGION", "BRANCH"], base=3).table.size
"""
TABLE = "REGION,BRANCH,VALUE,STATUS,LPL,UPL\n" + "".join(
    f"{region},{branch},{value},{'u,3,3' if (region, branch) == ('N', 'P') else 's,,'}\n"
    for (region, branch), value in {
        (region, branch): 10 * i + 11
        for i, (region, branch) in enumerate((r, b) for r in "NSW" for b in "PQR")
    }.items()
)
FIRMS = "REGION,BRANCH,VALUE\n" + "".join(
    f"{region},{branch},{100 + 7 * i}\n"
    for i, (region, branch) in enumerate((r, b) for r in "NSW" for b in "PQR" for _ in "12345")
)
DIMENSIONS = ("--dims", "REGION,BRANCH", "--total", "none")
LEVELS = ("--status", "STATUS", "--lpl", "LPL", "--upl", "UPL")


def alone(script: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stderr.split())


def test_each_package_of_a_release_is_absent_in_these_tests():
    extras = PROJECT["optional-dependencies"]
    names = {Requirement(each).name for extra in ("plot", "release") for each in extras[extra]}
    assert names - {PROJECT["name"]} == set(ABSENT)


def test_the_functions_of_a_table_need_no_extra(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    done = alone(FUNCTIONS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("suppress", "t.csv", *DIMENSIONS, "--value", "VALUE", *LEVELS, "--out", "o.csv"),
        ("protect", "firms.csv", *DIMENSIONS, "--value", "VALUE", "--p", "10", "--out", "o.csv"),
        ("round-table", "t.csv", *DIMENSIONS, "--value", "VALUE", "--base", "10", "--out", "o.csv"),
        ("round-counts", "firms.csv", "--dims", "REGION,BRANCH", "--base", "3", "--out", "o.csv"),
        ("release", "--help"),
        ("--version",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_commands_of_a_table_need_no_extra(arguments, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "firms.csv").write_text(FIRMS)
    done = alone(SDC, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o.csv").exists() is ("--out" in arguments)


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("demo", "d"), "release"),
        (("release", "--domain", "d.yaml", "--period", "2024", "--inbox", "i", "--out", "o"), "release"),
        (("maintenance", "--warehouse", "sqlite:///w.db"), "release"),
        (("suppress", "t.csv", *DIMENSIONS, *LEVELS, "--plot", "p.svg"), "plot"),
        (("cta", "t.jj", "--solver", "cbc", "--method", "milp", "--out", "o"), "cbc"),
    ],
    ids=lambda told: told if isinstance(told, str) else told[0],
)
def test_a_command_names_the_extra_that_is_missing(arguments, extra, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "t.jj").write_text(
        "0\n3\n0 30 1 u 0 60 3 3 0\n1 30 1 s 0 60 0 0 0\n2 60 1 s 0 120 0 0 0\n1\n0 3 : 0 (1) 1 (1) 2 (-1)\n"
    )
    done = alone(SDC, *arguments, cwd=tmp_path)
    assert f"is not installed. Remedy: pip install 'sdc-release[{extra}]'" in told(done), done.stderr
    assert done.returncode == 2
    assert not {path.name for path in tmp_path.iterdir()} - {"t.csv", "t.jj"}


@pytest.mark.parametrize(
    ("asked", "extra"),
    [
        ("found.plot()", "plot"),
        ("sdc.release", "release"),
        ("sdc.audit(cells, tables={}, domain='d', period='2024')", "release"),
    ],
)
def test_a_function_names_the_extra_that_is_missing(asked, extra, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    done = alone(f"{FUNCTIONS}\n{asked}\n", cwd=tmp_path)
    assert f"pip install 'sdc-release[{extra}]'" in told(done).rpartition("InvalidInput")[2]


def test_an_extra_names_what_the_extras_inside_it_ask_for(monkeypatch):
    asked = [
        "rich<16,>=14",
        'pulp<5,>=3.3; extra == "cbc"',
        'sdc-release[cbc,plot]; extra == "release"',
        'matplotlib<3.12,>=3.11; extra == "plot"',
    ]
    found = {"rich": "15.0", "pulp": "6.0", "matplotlib": "3.11.2"}
    monkeypatch.setattr(tested, "requires", lambda name: asked)
    monkeypatch.setattr(tested, "version", found.__getitem__)
    tested.require_tested.__wrapped__("plot")
    with pytest.raises(InvalidInput, match=r"pulp 6\.0 is installed.* pip install 'pulp>=3\.3,<5'"):
        tested.require_tested.__wrapped__("release")
