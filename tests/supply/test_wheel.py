"""The wheel, installed alone: the command line releases, audits and keeps its warehouse without the
repository and without Airflow.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from sdc_tasks.tested import PROJECT
from support.payload_key import WAREHOUSE_SECRET
from support.supply.lock import ROOT, RUN_TIME, no_network, uv
from support.supply.pythons import interpreter

pytestmark = pytest.mark.slow  # builds a wheel, and an environment of its own

BUILT_FROM = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "sdc_tasks", "sql")
FIRMS = [(region, branch) for region in "NS" for branch in ("C10", "C11", "F") for _ in range(4)] + [
    ("N", "C12"),
    ("S", "C12"),
]
LINES = [f"{region},{branch},{100 + 7 * i}" for i, (region, branch) in enumerate(FIRMS)]
VERSIONS = ["3.11", "3.12", "3.13"]
# numpy, scipy and pandas, and what pandas brings; and the program itself.
GIVEN = {"numpy", "scipy", "pandas", "python-dateutil", "six", PROJECT}
SIZES = """
import json
from importlib.metadata import distributions
print(json.dumps({
    each.name.lower(): sum((each.locate_file(file).stat().st_size for file in each.files or ()))
    for each in distributions()
}))
"""
PROTECTED = """
import pandas as pd
import sdc_tasks as sdc
firms = pd.read_csv("firms.csv")
found = sdc.suppress(firms, ["REGION", "BRANCH"], "TURNOVER", rules=sdc.Rules(p=10))
assert sdc.audit(found).safe
assert found.public["TURNOVER"].isna().any()
"""
PROGRAM = "from sdc_tasks.warehouse.dissemination import lineage; print(lineage.environment())"


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel and what it asks for, nothing else."""

    bin: Path
    wheel: Path

    def run(self, *command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        return alone(self.bin / str(command[0]), *command[1:], cwd=cwd)


def alone(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A process that knows neither the repository nor what the tests set, but for one secret:
    equal deliveries give equal bytes.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SDC_", "VIRTUAL_ENV"))
    }
    environment = {**kept, "SDC_WAREHOUSE_SECRET": WAREHOUSE_SECRET}
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )


def with_releases(wheel: Path) -> str:
    return f"{PROJECT}[release] @ {wheel.as_uri()}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    source, made, env = folder / "source", folder / "made", folder / "env"
    source.mkdir()
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
    # a source distribution, and a wheel from that
    built = uv(
        "build", "--python", sys.executable, "--no-build-isolation", "--out-dir", made, source, cwd=folder
    )
    assert built.returncode == 0, built.stderr
    [wheel] = made.glob("*.whl")
    assert uv("venv", "--python", sys.executable, env, cwd=folder).returncode == 0
    asked = [
        "pip",
        "install",
        "--python",
        env / "bin" / "python",
        "--constraints",
        RUN_TIME,
        with_releases(wheel),
    ]
    done = uv(*asked, cwd=folder)
    if no_network(done):
        pytest.skip("the packages of a release are neither in uv's cache nor to be had from an index")
    assert done.returncode == 0, done.stderr
    return Installed(env / "bin", wheel)


def test_the_wheel_holds_every_statement_and_every_file_of_a_domain(installed: Installed):
    packed = set(zipfile.ZipFile(installed.wheel).namelist())
    for folder, inside in (("sql", "sdc_tasks/sql"), ("sdc_tasks", "sdc_tasks")):
        lying = [
            path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts
        ]
        assert len(lying) > 50
        assert {f"{inside}/{path.relative_to(ROOT / folder).as_posix()}" for path in lying} - packed == set()


def test_the_wheel_asks_for_no_airflow(installed: Installed, tmp_path: Path):
    assert installed.run("python", "-c", "import airflow", cwd=tmp_path).returncode != 0
    assert (
        installed.run("python", "-c", "import sdc_tasks.cli.app, sdc_tasks.steps", cwd=tmp_path).returncode
        == 0
    )


def test_the_installed_program_is_that_of_the_repository(installed: Installed, tmp_path: Path):
    """Its source has the same digest: what was begun with one is no other program's."""
    told = [
        alone(python, "-c", PROGRAM, cwd=tmp_path).stdout
        for python in (installed.bin / "python", sys.executable)
    ]
    here, there = (text.split('"source": "')[1][:64] for text in told)
    assert here == there


def test_a_data_frame_is_protected_and_audited_as_the_documents_say(installed: Installed, tmp_path: Path):
    """The block of docs/python.md, on firms of a newcomer, in an empty home."""
    block = (
        (ROOT / "docs" / "python.md").read_text(encoding="utf-8").split("```python\n")[1].partition("```")[0]
    )
    (tmp_path / "firms.csv").write_text("\n".join(["REGION,BRANCH,TURNOVER", *LINES, ""]))
    (tmp_path / "home").mkdir()
    (tmp_path / "try.py").write_text(f"{block}\nassert checked.safe, checked.at_risk\n")
    done = subprocess.run(
        [installed.bin / "python", "try.py"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "published.csv").read_text().startswith("REGION,BRANCH,TURNOVER,STATUS\n")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_alone_is_light_and_protects_a_table(installed: Installed, version: str, tmp_path: Path):
    """A dozen packages beside numpy, scipy and pandas; what suppresses and audits is among them."""
    light = unlocked(installed.wheel, installed.wheel, version, tmp_path)
    sizes = light.run("python", "-c", SIZES, cwd=tmp_path)
    assert sizes.returncode == 0, sizes.stderr
    beside = {name: size for name, size in json.loads(sizes.stdout).items() if name not in GIVEN}
    assert "highspy" in beside
    assert len(beside) <= 12, sorted(beside)
    assert sum(beside.values()) <= 70e6, beside
    (tmp_path / "firms.csv").write_text("\n".join(["REGION,BRANCH,TURNOVER", *LINES, ""]))
    (tmp_path / "try.py").write_text(PROTECTED)
    done = light.run("python", "try.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = ["--dims", "REGION,BRANCH", "--value", "TURNOVER", "--p", "10", "--total", "none"]
    done = light.run("sdc", "protect", "firms.csv", *asked, "--out", "pattern.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ",u," in (tmp_path / "pattern.csv").read_text()


@pytest.mark.parametrize("version", VERSIONS)
def test_whoever_installs_the_wheel_alone_gets_versions_that_run(
    installed: Installed, version: str, tmp_path: Path
):
    """What the index serves to that Python today, without lock files: it lies within the tested
    ends, and gives the same bytes.
    """
    newest = unlocked(installed.wheel, with_releases(installed.wheel), version, tmp_path)
    tables = [
        released(each, tmp_path / name).read_bytes()
        for each, name in ((newest, "newest"), (installed, "locked"))
    ]
    assert tables[0] == tables[1]


def unlocked(wheel: Path, asked: object, version: str, folder: Path) -> Installed:
    """An environment of that Python with what the index serves today."""
    if (python := interpreter(version)) is None:
        pytest.skip(f"no Python {version} on this machine, in the path or of pyenv")
    assert uv("venv", "--python", python, folder / "env", cwd=folder).returncode == 0
    done = uv("pip", "install", "--python", folder / "env" / "bin" / "python", asked, cwd=folder)
    if no_network(done):
        pytest.skip("no index is in reach")
    assert done.returncode == 0, done.stderr
    return Installed(folder / "env" / "bin", wheel)


def released(program: Installed, folder: Path) -> Path:
    """The table that this program publishes of a small demonstration."""
    folder.mkdir()
    size = ["--countries", 3, "--activities", 4, "--sizes", 2]
    asked = [
        "--domain",
        folder / "demo" / "domain.yaml",
        "--period",
        "2024",
        "--inbox",
        folder / "demo" / "inbox",
    ]
    for command in (["demo", folder / "demo", *size], ["release", *asked, "--out", folder / "out"]):
        done = program.run("sdc", *command, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out" / "table.csv"


def test_the_installed_program_releases_the_same_bytes(installed: Installed, tmp_path: Path):
    size = ["--countries", 3, "--activities", 4, "--sizes", 2]
    assert installed.run("sdc", "demo", tmp_path / "demo", *size, cwd=tmp_path).returncode == 0
    asked = [
        "--domain",
        tmp_path / "demo" / "domain.yaml",
        "--period",
        "2024",
        "--inbox",
        tmp_path / "demo" / "inbox",
    ]
    released = installed.run("sdc", "release", *asked, "--out", tmp_path / "out", cwd=tmp_path)
    assert released.returncode == 0, released.stdout + released.stderr
    ours = alone(
        Path(sys.executable).with_name("sdc"), "release", *asked, "--out", tmp_path / "ours", cwd=tmp_path
    )
    assert ours.returncode == 0, ours.stdout + ours.stderr
    assert (tmp_path / "out" / "table.csv").read_bytes() == (tmp_path / "ours" / "table.csv").read_bytes()
    audited = installed.run(
        "sdc", "audit", *asked, "--published", tmp_path / "out" / "table.csv", cwd=tmp_path
    )
    assert audited.returncode == 0, audited.stdout + audited.stderr
    kept = ["--warehouse", f"sqlite:///{tmp_path / 'out' / 'warehouse.db'}"]
    for duty in ("maintenance", "verify-log"):
        done = installed.run("sdc", duty, *kept, cwd=tmp_path)
        assert done.returncode == 0, (duty, done.stdout + done.stderr)
