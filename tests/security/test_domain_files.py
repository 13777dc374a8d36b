"""A bad domain file harms only itself: it is refused by name within a moment and little
memory, and every other DAG stays.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput
from support.deliveries import small_domain

ROOT = Path(__file__).resolve().parents[2]


def text(content: str | bytes) -> Callable[[Path], None]:
    return lambda folder: (
        (folder / "bad.yaml").write_bytes(content.encode() if isinstance(content, str) else content) and None
    )


def list_at(target: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "bad.yaml").write_text(
            (folder / "small.yaml")
            .read_text()
            .replace("activities.csv", target)
            .replace("id: small", "id: bad")
        )

    return make


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "bad.yaml")


def folder_of_that_name(folder: Path) -> None:
    (folder / "bad.yaml").mkdir()


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
BAD: dict[str, Callable[[Path], None]] = {
    "a list as key": text("? [a, b] : c\n"),
    "a mapping as key": text("? {a: b} : c\n"),
    "50 000 brackets": text("[" * 50_000 + "]" * 50_000),
    "50 000 levels of lists": text("- " * 50_000),
    "laughs": text(LAUGHS),
    "an endless number": text("id: " + "9" * 10_000),
    "no such day": text("id: 2024-13-45\n"),
    "an unknown tag": text("id: !!python/object/apply:os.system [id]\n"),
    "not text": text(b"id: \xff\xfe\n"),
    "empty": text(""),
    "a word": text("hello\n"),
    "a null byte": text("id: \0\n"),
    "code list at a device": list_at("/dev/zero"),
    "code list at a pipe": list_at("fifo.csv"),
    "code list in a folder": list_at("."),
    "a pipe": pipe,
    "a folder": folder_of_that_name,
}


@pytest.fixture
def domains(tmp_path: Path) -> Path:
    small_domain(tmp_path)
    os.mkfifo(tmp_path / "fifo.csv")
    return tmp_path


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
def test_it_is_refused_with_one_line_that_names_it(domains: Path, make: Callable[[Path], None]) -> None:
    make(domains)
    with pytest.raises(InvalidInput) as refused:
        load_domain(domains / "bad.yaml")
    assert str(domains) in str(refused.value) or "code list of ACTIVITY" in str(refused.value)
    assert len(str(refused.value)) < 2000


def test_every_other_dag_stays(domains: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """In a process of its own, with a limit on memory and time, as a DAG processor is."""
    folders = []
    for make in BAD.values():
        folder = tmp_path_factory.mktemp("domains")
        small_domain(folder)
        os.mkfifo(folder / "fifo.csv")
        make(folder)
        (folder / "small.yaml").unlink()
        (folder / "bad.yaml").rename(folder / f"bad{len(folders)}.yaml")
        folders.append(str(folder))
    odd = os.fsencode(tmp_path_factory.mktemp("names")) + b"/\xff ()?.yaml"
    with open(odd, "wb") as file:
        file.write(b"hello")
    folders += [str(domains), os.path.dirname(os.fsdecode(odd))]
    program = (
        "import eu_release, sys; dags = eu_release.__dict__; "
        "print(*sorted(name for name in dags if name.startswith('eu_release_')), sep='\\n'); "
        "print(dags['eu_release_bad0'].doc_md)"
    )
    environment = {
        **os.environ,
        "SDC_DOMAINS": os.pathsep.join(folders),
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "dags", ROOT / "plugins"))),
        "AIRFLOW_HOME": str(tmp_path_factory.mktemp("airflow")),
    }
    limited = ["prlimit", f"--as={8 << 30}", sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(limited, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    told = done.stdout.splitlines()
    assert {"eu_release_sbs", "eu_release_small", "eu_release______"} <= set(told)
    assert {f"eu_release_bad{i}" for i in range(len(BAD))} <= set(told)
    assert "a key must be a word" in done.stdout


def test_a_refused_file_does_not_leave_the_domain_it_replaces_as_it_was(
    domains: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (domains / "sbs.yaml").write_text("id: sbs\n")
    program = "import eu_release; print(eu_release.eu_release_sbs.tags)"
    environment = {
        **os.environ,
        "SDC_DOMAINS": str(domains),
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "dags", ROOT / "plugins"))),
        "AIRFLOW_HOME": str(domains / "airflow"),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert "refused" in done.stdout


@pytest.mark.parametrize("code", ["=1+1", "@SUM(A1)", "+A1", "-A1", "-1+1", "a\x1bb"])
@pytest.mark.parametrize("file", ["areas.csv", "activities.csv"])
def test_a_code_that_a_spreadsheet_would_compute_is_refused(domains: Path, file: str, code: str) -> None:
    path = domains / file
    path.write_text(path.read_text() + f"{code},{'EU' if file == 'areas.csv' else 'TOTAL'}\n")
    with pytest.raises(InvalidInput, match=rf"{file}: .*Remedy"):
        load_domain(domains / "small.yaml")


@pytest.mark.parametrize(
    "piece", ["code: EU,", "label: Union,", "code: TURNOVER,", "unit: EUR,", "dimension: ACTIVITY,"]
)
def test_nor_does_the_domain_file_hold_one(domains: Path, piece: str) -> None:
    key, value = piece.rstrip(",").split(": ")
    with pytest.raises(InvalidInput, match="a spreadsheet would compute"):
        small_domain(domains, piece, f'{key}: "={value}",')
