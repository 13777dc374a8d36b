"""What the program is made of: every package pinned with hashes, under licences that an office
can accept, listed in an SBOM, held against known vulnerabilities where a database is at hand;
and no secret in the repository.
"""

from __future__ import annotations

import base64
import copy
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.supply import sbom
from support.supply.licences import INSTALLERS, NAMED, faults, is_allowed, licences
from support.supply.lock import ALONE, DEVELOPMENT, LATER, ROOT, RUN_TIME, no_network, pins, uv
from support.supply.vulnerabilities import is_affected, known, main

WITHOUT_PYARROW = """
import sys
sys.modules.update(dict.fromkeys(("pyarrow", "pyarrow.parquet", "pyarrow.compute")))
from sdc_tasks.cli import main
sys.argv[0] = "sdc"
main()
"""


def without_pyarrow(*arguments):
    command = [sys.executable, "-c", WITHOUT_PYARROW, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_only_parquet_needs_pyarrow(tmp_path):
    assert "pyarrow" not in pins(RUN_TIME)
    (tmp_path / "t.csv").write_text("a,n\np,1\nq,5\n")
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    rounded = without_pyarrow("round-counts", tmp_path / "t.csv", "--dims", "a", "--count", "n")
    assert rounded.returncode == 0, rounded.stderr
    refused = without_pyarrow("round-counts", tmp_path / "t.parquet", "--dims", "a", "--count", "n")
    assert refused.returncode == 2
    assert "pip install sdc-release[parquet]" in refused.stderr.replace("\n", "")


@pytest.mark.slow
def test_a_release_is_the_same_without_pyarrow(tmp_path):
    from support.deliveries import HEALTHY, PERIOD, sdmx_1, small_domain

    small_domain(tmp_path)
    (tmp_path / "inbox").mkdir()
    for country in ("AT", "BE"):
        (tmp_path / "inbox" / f"{country}.csv").write_text(sdmx_1(HEALTHY, country))
    where = ["--domain", tmp_path / "small.yaml", "--period", PERIOD, "--inbox", tmp_path / "inbox"]
    sdc = Path(sys.executable).with_name("sdc")
    beside = subprocess.run(
        [sdc, "release", *where, "--out", tmp_path / "with"], capture_output=True, text=True, check=False
    )
    alone = without_pyarrow("release", *where, "--out", tmp_path / "without")
    assert (beside.returncode, alone.returncode) == (0, 0), alone.stderr
    assert (tmp_path / "with" / "table.csv").read_bytes() == (tmp_path / "without" / "table.csv").read_bytes()


def test_the_environment_is_made_with_hashes_alone():
    """make installs the installer itself from the lock, and nothing by its name."""
    made = [
        line
        for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
        if "pip install" in line or "pip sync" in line
    ]
    assert made
    for line in made:
        assert (
            "--require-hashes" in line
            or "$(HASHED)" in line
            or "--no-deps --no-build-isolation --editable ." in line
        ), line


# --- the lock -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", [RUN_TIME, ALONE, DEVELOPMENT, *LATER], ids=lambda path: path.name)
def test_every_package_is_pinned_with_hashes(lock):
    assert len(pins(lock)) > (100 if lock in (RUN_TIME, DEVELOPMENT) else 10)


@pytest.mark.parametrize(
    ("part", "whole"), [(RUN_TIME, DEVELOPMENT), (ALONE, RUN_TIME)], ids=lambda path: path.name
)
def test_what_is_tested_is_what_is_released(part, whole):
    released, tested = pins(part), pins(whole)
    assert {name: pin.version for name, pin in released.items()}.items() <= {
        name: pin.version for name, pin in tested.items()
    }.items()
    assert [name for name, pin in released.items() if pin.hashes != tested[name].hashes] == []


@pytest.mark.parametrize("lock", LATER, ids=lambda path: path.name)
def test_what_is_added_later_changes_nothing_that_is_there(lock):
    before, added = pins(DEVELOPMENT), pins(lock)
    assert {name for name in before.keys() & added if before[name].version != added[name].version} == set()
    assert added.keys() - before.keys()


def on_disk(distribution):
    """Bytes of the files as they came, in whole blocks; not what Python compiles."""
    sizes = (each.size or 0 for each in distribution.files or () if each.suffix != ".pyc")
    return sum(-(-size // 4096) * 4096 for size in sizes)


def test_an_environment_takes_no_more_than_the_readme_says():
    """What few need belongs to LATER. pip and the folders come to that, 40 MiB."""
    locked = pins(DEVELOPMENT)
    taken = sum(
        on_disk(each)
        for each in importlib.metadata.distributions()
        if str(canonicalize_name(each.name)) in locked
    )
    assert 800 < taken / 2**20 < 1060


def test_what_is_installed_is_what_is_locked():
    locked = pins(DEVELOPMENT) | pins(LATER[0]) | pins(LATER[1])
    installed = {
        str(canonicalize_name(each.name)): each.version for each in importlib.metadata.distributions()
    }
    assert {
        name: version
        for name, version in installed.items()
        if name in locked and locked[name].version != version
    } == {}
    assert set(installed) - set(locked) <= {"sdc-release", "pip", "setuptools", "uv", "wheel"}


def test_the_lock_has_all_that_the_project_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = pins(RUN_TIME)
    asked = [
        *project["dependencies"],
        *(each for extra in ("airflow", "ui", "stack") for each in project["optional-dependencies"][extra]),
    ]
    for each in map(Requirement, asked):
        assert each.name == project["name"] or each.specifier.contains(
            locked[str(canonicalize_name(each.name))].version
        ), each


def test_the_command_line_alone_asks_for_no_engine_and_no_pages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {str(canonicalize_name(Requirement(each).name)) for each in project["dependencies"]}
    assert not [name for name in names if "airflow" in name or name in {"fastapi", "celery", "redis"}]


@pytest.mark.parametrize(
    "version", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("3.11", "3.12")), "3.13"]
)
@pytest.mark.parametrize("lock", [RUN_TIME, ALONE, DEVELOPMENT, *LATER], ids=lambda path: path.name)
def test_the_lock_holds_for_every_python(tmp_path, lock, version):
    """A wheel that the lock allows is there of every package: nothing is installed, all of it is
    looked up.
    """
    asked = [
        "pip",
        "sync",
        "--dry-run",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--python-version",
        version,
        "--target",
        tmp_path,
    ]
    done = uv(*asked, lock, cwd=tmp_path)
    if no_network(done):
        pytest.skip("no index is in reach, and uv has not kept what it said")
    assert done.returncode == 0, done.stderr


def test_the_lock_is_for_the_pythons_that_the_project_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11,<3.14"
    assert sys.version_info[:2] in {(3, 11), (3, 12), (3, 13)}


@pytest.mark.parametrize(
    "line",
    [
        "numpy==2.4.0",
        "numpy>=2 --hash=sha256:" + "0" * 64,
        "git+https://example.org/x.git",
        "-e .",
        "numpy==2.4.0 --hash=sha256:00",
    ],
)
def test_a_line_that_is_no_pin_with_hashes_is_seen(tmp_path, line):
    (tmp_path / "a.lock").write_text(f"{line}\n")
    with pytest.raises(ValueError, match="no pin with hashes"):
        pins(tmp_path / "a.lock")


# --- licences -----------------------------------------------------------------------------------------------


def test_every_licence_of_a_release_is_allowed():
    locked = sorted(name for name, pin in pins(RUN_TIME).items() if pin.is_needed_here)
    found = licences(locked)
    assert set(locked) - set(found) <= INSTALLERS, "all of them are installed"
    assert faults(found) == []
    assert {name for name, licence in found.items() if not is_allowed(licence)} == set(NAMED), (
        "a reason that nothing needs"
    )


@pytest.mark.parametrize(
    ("name", "licence", "fault"),
    [
        ("numpy", "BSD-3-Clause", ""),
        ("numpy", "GPL-3.0-only", "Remedy: another package"),
        ("numpy", "", "no licence known"),
        ("psycopg", "LGPL-3.0-only", ""),
        ("psycopg", "GPL-3.0-only", "no longer what its reason says"),
        ("psycopg", "AGPL-3.0-only", ("no longer what its reason says")),
        ("psycopg", "MIT", "needs no reason any more"),
        (
            "text-unidecode",
            (
                "Artistic License; GNU General Public License (GPL); GNU General Public License v2 or later "
                "(GPLv2+)"
            ),
            "",
        ),
    ],
)
def test_a_package_under_another_licence_is_named(name, licence, fault):
    told = faults({name: licence})
    assert (len(told), fault in "".join(told)) == (int(bool(fault)), True)


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        (("BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0"), True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-2.0-or-later", False),
        ("AGPL-3.0", False),
        ("UNKNOWN", False),
        ("", False),
        (("Apache Software License; MIT License"), True),
        (("MIT License; GNU General Public License (GPL)"), False),
    ],
)
def test_the_list_allows_what_it_should(licence, allowed):
    assert is_allowed(licence) == allowed


# --- the list of what is in it ------------------------------------------------------------------------------


def test_the_sbom_lists_every_package_of_a_release_the_same_each_time(tmp_path, capsys):
    """As `make sbom` makes it."""
    for name in ("one.json", "two.json"):
        assert sbom.main([str(tmp_path / name)]) == 0, capsys.readouterr().err
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    made = json.loads((tmp_path / "one.json").read_text())
    assert (made["bomFormat"], made["metadata"]["component"]["name"]) == ("CycloneDX", "sdc-release")
    assert len(made["components"]) == len(pins(RUN_TIME))


def _twice(made):
    made["components"].append(made["components"][0])


def _less(made):
    del made["components"][0]


def _more(made):
    made["components"].append({**made["components"][0], "name": "leftpad"})


def _older(made):
    made["components"][0]["version"] = "0.0.1"


def _other_file(made):
    made["components"][0]["externalReferences"][0]["hashes"][0]["content"] = "0" * 64


def _from_elsewhere(made):
    made["components"][0]["purl"] = "pkg:generic/x"


def _copyleft(made):
    made["components"][0]["licenses"] = [{"license": {"name": "GPL-3.0-only"}}]


def _unknown(made):
    made["components"][0].pop("licenses")


@pytest.fixture(scope="module")
def made():
    return sbom.made()


@pytest.mark.parametrize(
    "change", [_twice, _less, _more, _older, _other_file, _from_elsewhere, _copyleft, _unknown]
)
def test_an_sbom_that_says_something_else_than_the_lock_is_refused(made, change):
    assert sbom.wrong(made, pins(RUN_TIME)) == []
    other = copy.deepcopy(made)
    change(other)
    assert sbom.wrong(other, pins(RUN_TIME))


def test_the_gate_makes_the_sbom():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^test: .*\n\t@\$\(MAKE\) --jobs lint sbom tests", makefile, flags=re.MULTILINE)
    assert re.search(
        r"^sbom:.*\n\t@PYTHONPATH=tests \$\(BIN\)/python -m support\.supply\.sbom",
        makefile,
        flags=re.MULTILINE,
    )


def test_the_gate_runs_what_the_readme_names_and_then_the_rest():
    """`make test-all` runs the same with laws on all their examples, and every fault."""
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r"make PYTHON=\S+ (.*)", gate) == ["test", "test-beyond"]
    assert "export MEASURED=yes" in gate
    assert "\nmake test " in (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^test-all: .*\n((?:\t.*\n)+)", makefile, flags=re.MULTILINE)
    assert recipe is not None
    assert re.findall(r"\$\(MAKE\) (.*)", recipe[1]) == [
        "test test-beyond MEASURED=yes THOROUGH=yes",
        "test-faults",
    ]


# --- vulnerabilities ----------------------------------------------------------------------------------------


def advisory(**affected: object) -> dict[str, object]:
    return {"id": "TEST-1", "aliases": ["CVE-0000-1"], "summary": "an example", "affected": [affected]}


@pytest.mark.parametrize(
    ("events", "hit"),
    [
        ([{"introduced": "0"}], True),
        ([{"introduced": "0"}, {"fixed": "2.0"}], False),
        ([{"introduced": "0"}, {"fixed": "2.0.1"}], True),
        ([{"introduced": "0"}, {"last_affected": "2.0"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.9"}], False),
        ([{"introduced": "2.0.1"}], False),
        ([{"introduced": "0"}, {"fixed": "1.0"}, {"introduced": "1.5"}, {"fixed": "2.5"}], True),
        ([{"introduced": "2.0rc1"}, {"fixed": "2.0"}], False),
    ],
)
def test_ranges_of_versions_are_read_as_osv_means_them(events, hit):
    assert is_affected("2.0", {"ranges": [{"type": "ECOSYSTEM", "events": events}]}) == hit


def test_a_vulnerable_pin_is_named(tmp_path, capsys):
    pin = pins(RUN_TIME)["numpy"]
    package = {"ecosystem": "PyPI", "name": "NumPy"}
    (tmp_path / "1.json").write_text(json.dumps(advisory(package=package, versions=[pin.version])))
    (tmp_path / "2.json").write_text(
        json.dumps(
            {**advisory(package=package, versions=[pin.version]), "id": "OLD", "withdrawn": "2020-01-01"}
        )
    )
    (tmp_path / "3.json").write_text(
        json.dumps({**advisory(package={**package, "ecosystem": "npm"}, versions=[pin.version]), "id": "NPM"})
    )
    assert [(each.package, each.advisory) for each in known(pins(RUN_TIME), tmp_path)] == [
        ("numpy", "TEST-1")
    ]
    assert main([str(tmp_path)]) == 1
    assert f"numpy {pin.version}: TEST-1 CVE-0000-1 an example" in capsys.readouterr().out


def test_without_a_database_it_says_that_nothing_was_checked(tmp_path, capsys):
    for arguments in ([], [str(tmp_path)], [str(tmp_path / "absent")]):
        assert main(arguments) == 2
        assert "nothing was checked" in capsys.readouterr().err


@pytest.mark.skipif(
    "SDC_OSV" not in os.environ, reason="nothing was checked: SDC_OSV names no folder with OSV advisories"
)
def test_no_vulnerability_is_known_of_a_release():
    assert known(pins(RUN_TIME), Path(os.environ["SDC_OSV"])) == []


# --- secrets ------------------------------------------------------------------------------------------------

SECRETS = {
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "cloud key": r"\b(AKIA|ASIA)[0-9A-Z]{16}\b",
    "token": r"\b(gh[pousr]_[A-Za-z0-9]{36}|glpat-[A-Za-z0-9_-]{20}|xox[abprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{20,})\b",  # noqa: E501
    # one without a signature opens nothing
    "web token": r"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "payload key": r"(?<![A-Za-z0-9_/+-])[A-Za-z0-9_-]{43}=(?![A-Za-z0-9_/+=-])",
    "password in an address": r"\b[a-z][a-z0-9+]*://[^\s/:@{}$<>]+:(?!(password|secret|not-for|\*+|x)\b)[^\s/:@{}$<>]{3,}@[a-z0-9]",
    "password": r"(?i)\b(password|passwd|api_key|secret_key|fernet_key)\s*[=:]\s*[\"'][A-Za-z0-9+/_-]{12,}[\"']",  # noqa: E501
}
# Nobody's secrets: keys of the tests that say so when they are decoded, and passwords of servers that do not
# exist.
OPEN = {
    "tests/support/payload_key.py": {"payload key"},
    "tests/integration/test_warehouse_keys.py": {"payload key"},
    "tests/integration/test_warehouse.py": {"password in an address"},
    "tests/integration/test_release_postgresql.py": {"password"},
}


def tree() -> list[Path]:
    """The files that are, or would be, committed."""
    told = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode == 0:
        return [path for name in told.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    kept = (
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not {".venv", "var", "__pycache__"} & set(path.parts)
    )
    return [
        path
        for path in kept
        if not any(part.startswith(".") and part != ".ci" for part in path.relative_to(ROOT).parts)
    ]


def secrets_in(text: str) -> set[str]:
    return {kind for kind, pattern in SECRETS.items() if re.search(pattern, text)}


def test_the_repository_holds_no_secret():
    files = tree()
    assert len(files) > 200
    found = {}
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        kinds = secrets_in(path.read_text(encoding="utf-8", errors="replace")) - OPEN.get(name, set())
        if kinds and path != Path(__file__).resolve():
            found[name] = kinds
    assert found == {}


def test_the_keys_of_the_tests_say_what_they_are():
    for name in ("tests/support/payload_key.py", "tests/integration/test_warehouse_keys.py"):
        keys = re.findall(SECRETS["payload key"], (ROOT / name).read_text(encoding="utf-8"))
        assert keys
        assert all(b"publi" in base64.urlsafe_b64decode(key) for key in keys)


def test_the_scan_sees_what_it_should():
    drawn = {
        "private key": "-----BEGIN RSA PRIVATE KEY-----",
        "cloud key": "AKIA" + "ABCDEFGHIJKLMNOP",
        "token": "ghp_" + "a1" * 18,
        "web token": f"eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}",
        "payload key": "c2" * 21 + "c=",
        "password in an address": "postgresql://me:hunter22@db/x",
        "password": 'password = "correct-horse-9"',
    }
    assert {kind for kind, text in drawn.items() if kind in secrets_in(text)} == set(SECRETS)


def test_nothing_that_is_made_at_run_time_is_committed():
    """Databases, keys, outputs, the environment of Python."""
    names = [path.relative_to(ROOT).as_posix() for path in tree()]
    assert [
        name for name in names if re.search(r"\.(db|key|pem|sqlite3?)(-wal|-shm)?$|^var/|^\.venv/", name)
    ] == []
