"""Each package has ends between which it was tested. An installer keeps to them; whoever steps over
them afterwards is told by name.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from sdc_tasks import tested
from sdc_tasks.errors import InvalidInput
from support.supply.lock import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ASKED = [
    *PROJECT["dependencies"],
    *(each for extra in PROJECT["optional-dependencies"].values() for each in extra),
]
PACKAGES = [each for each in map(Requirement, ASKED) if each.name != PROJECT["name"]]


@pytest.mark.parametrize("each", PACKAGES, ids=str)
def test_every_dependency_has_two_ends(each: Requirement):
    """One version, or a lower and an upper end."""
    assert sorted(end.operator for end in each.specifier) in (["=="], ["<", ">="])


def test_every_dependency_of_a_release_has_a_reason():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = text[text.index("\ndependencies = [") : text.index("\nairflow = [")].splitlines()
    asked = [line.strip() for line in lines if line.startswith(('    "', "plot = ["))]
    extras = PROJECT["optional-dependencies"]
    known = [*PROJECT["dependencies"], *extras["plot"], *extras["cbc"], *extras["release"]]
    assert len(asked) == len(known)
    named = [line for line in asked if f'"{PROJECT["name"]}[' not in line]
    assert [line for line in named if len(line.partition("#")[2].split()) < 2] == []


@pytest.mark.parametrize(
    ("asked", "installed", "wrong"),
    [
        ("pulp>=3.3,<3.4", "3.3.2", ""),
        ("pulp<3.4,>=3.3", "4.2.0", "pulp 4.2.0 is installed, and tested is >=3.3,<3.4"),
        ("pulp>=3.3,<3.4", "3.4.0rc1", "pulp 3.4.0rc1 is installed, and tested is >=3.3,<3.4"),
        ("pulp>=3.3,<3.4", "3.2.9", "pulp 3.2.9 is installed, and tested is >=3.3,<3.4"),
        ("pulp>=3.3,<3.4", "3.10", "pulp 3.10 is installed, and tested is >=3.3,<3.4"),  # ten, not one
        ("pulp>=3.3,<3.4", None, "pulp is not installed"),
        ("rich>=14,<16", "14", ""),
        ("rich>=14,<16", "16", "rich 16 is installed, and tested is >=14,<16"),
        ("psycopg[binary]>=3.3,<3.4", "3.3.9", ""),
        ("cylp==0.94.1", "0.94.1", ""),
        ("cylp==0.94.1", "0.94.1.1", "cylp 0.94.1.1 is installed, and tested is ==0.94.1"),
    ],
)
def test_what_is_outside_is_named_with_what_to_install(asked, installed, wrong, monkeypatch):
    def version(name: str) -> str:
        if installed is None:
            raise PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(tested, "version", version)
    told = tested.untested([asked])
    assert [why for why, _ in told] == ([wrong] if wrong else [])
    for _, remedy in told:
        assert SpecifierSet(remedy.removeprefix(Requirement(remedy).name)) == Requirement(asked).specifier
    if installed is not None:
        assert (
            bool(told) is not Requirement(asked).specifier.contains(installed, prereleases=True)
            or installed == "3.4.0rc1"
        )


@pytest.mark.parametrize(
    "asked", ["pulp~=3.3", "pulp>=3.3,!=3.3.1", "pulp @ https://example.org/pulp.whl", "pulp>=a"]
)
def test_an_end_that_is_not_judged_is_an_error(asked, monkeypatch):
    monkeypatch.setattr(tested, "version", lambda name: "3.3.2")
    with pytest.raises(ValueError, match=r"no end of a range|no requirement"):
        tested.untested([asked])


def test_what_is_installed_here_was_tested():
    tested.require_tested.__wrapped__()
    for extra in ("parquet", "plot", "cbc", "release", "stack"):
        tested.require_tested.__wrapped__(extra)


def test_no_packages_of_others_are_judged(monkeypatch):
    """Who has another pyarrow for other work, and reads no Parquet with us, is left alone."""
    monkeypatch.setattr(
        tested, "requires", lambda name: ['pyarrow<26,>=25; extra == "parquet"', "rich<16,>=14"]
    )
    monkeypatch.setattr(tested, "version", lambda name: {"pyarrow": "26.0.1", "rich": "15.0.0"}[name])
    tested.require_tested.__wrapped__()
    with pytest.raises(InvalidInput, match=r"pyarrow 26\.0\.1 .* Remedy: pip install 'pyarrow>=25,<26'"):
        tested.require_tested.__wrapped__("parquet")


def beside(folder: Path, name: str, version: str) -> dict[str, str]:
    """The environment of a process that finds this version of a package first, one that cannot be
    imported.
    """
    (folder / f"{name}-{version}.dist-info").mkdir()
    (folder / f"{name}-{version}.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    )
    (folder / f"{name}.py").write_text("raise RuntimeError('of another version')\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


SDC = "import sys; sys.argv = ['sdc', 'demo', 'd']; from sdc_tasks.cli import main; main()"


@pytest.mark.parametrize(
    ("start", "name", "tested", "ended"),
    [
        (SDC, "pulp", ">=3.3,<4", 2),
        (SDC, "highspy", ">=1.15,<1.17", 2),
        ("import sdc_tasks; sdc_tasks.suppress", "highspy", ">=1.15,<1.17", 1),
        ("import sdc_tasks; sdc_tasks.release", "pulp", ">=3.3,<4", 1),
    ],
)
def test_an_unknown_major_version_is_refused_before_it_is_used(start, name, tested, ended, tmp_path):
    where = beside(tmp_path, name, "9.2.0")
    done = subprocess.run(
        [sys.executable, "-c", start], capture_output=True, text=True, cwd=tmp_path, env=where, check=False
    )
    told = " ".join(done.stderr.split())
    wanted = f"{name} 9.2.0 is installed, and tested is {tested}. Remedy: pip install '{name}{tested}'"
    assert wanted in told
    assert "of another version" not in told
    assert done.returncode == ended
    assert not (tmp_path / "d").exists()
