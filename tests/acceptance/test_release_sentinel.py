"""The sentinel: values that cannot be mistaken go in as secrets, and are looked for in everything
that comes out of `sdc release`.

Every country is scaled by a prime of its own, which keeps its table additive and makes each of its values
unmistakable. Looked through: what is printed, the files of the out folder, and every number and text of every
table of the warehouse, also of the one that holds the confidential bytes, encrypted.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyarrow import parquet
from sqlalchemy import MetaData, create_engine, select

from sdc_tasks.demo import write_demo
from sdc_tasks.model.public_files import PUBLIC_FILES
from sdc_tasks.warehouse.confidential.store import load_artefact
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.schema import artefact
from support.deliveries import PERIOD, scaled
from support.desk import sdc

PRIMES = {"AT": 10_000_019, "BE": 9_999_991, "BG": 10_000_079, "CY": 10_000_103}
GROUPED = re.compile(r"(?<=\d)[ '_,.\u00a0\u202f](?=\d{3}(?!\d))")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
CARELESS = """
import numpy as np
from sdc_tasks import cli, pipeline
from sdc_tasks.model.results import Publication

def all_exact(problem, *_):
    cells = np.flatnonzero(problem.aggregate)
    return Publication(cells, problem.a[cells], np.zeros(len(cells)))

pipeline.choose_bases = all_exact
cli.main()
"""


@dataclass(frozen=True)
class Planted:
    """A domain and its inbox on disk, and the values that nobody outside may see."""

    domain: Path
    inbox: Path
    secrets: frozenset[int]


def suppressed(records: list[dict[str, str]]) -> frozenset[int]:
    return frozenset(int(record["OBS_VALUE"]) for record in records if record["CONF_STATUS"] != "F")


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """Four countries, of which a release may miss some."""
    domain = write_demo(tmp_path, countries=4, activities=15, sizes=3)
    every = {"formats": ["sdmx-ml", "sdmx-json", "parquet"]}
    settings = yaml.safe_load(domain.read_text(encoding="utf-8")) | {
        "missing_country": "partial",
        "cta": {},
        "dissemination": every,
    }
    domain.write_text(yaml.safe_dump(settings), encoding="utf-8")
    inbox = tmp_path / "inbox"
    secrets = frozenset[int]().union(
        *(suppressed(scaled(inbox / f"{country}_{PERIOD}.csv", prime)) for country, prime in PRIMES.items())
    )
    assert len(secrets) > 40
    assert min(secrets) > 10**7
    return Planted(domain, inbox, secrets)


def spoil(path: Path, how: str) -> None:
    """Makes the delivery one that is refused, at a secret value."""
    text = path.read_text(encoding="utf-8")
    record = next(line for line in text.splitlines() if re.search(r",[AMD],\d+,", line))
    value = record.split(f",{PERIOD},")[1].split(",")[0]
    wrong = {
        "letters": record.replace(value, f"{value}x"),
        "shifted columns": record.replace(f",{PERIOD},{value},", f",{value},{PERIOD},"),
        "twice": f"{record}\n{record}",
        "not additive": record.replace(value, f"{int(value) * 3}"),
        "negative": record.replace(value, f"-{value}"),
        "cut": record[: record.index(value) + len(value) - 2],
    }[how]
    path.write_text(
        (text[: text.index(record)] + wrong) if how == "cut" else text.replace(record, wrong),
        encoding="utf-8",
    )


def leaks(content: str, secrets: frozenset[int]) -> set[int]:
    """The secrets among the numbers of a text, grouped or not, in thousands or millions or not."""
    found = set()
    for text in (content, GROUPED.sub("", content)):
        for number in NUMBER.findall(text):
            if len(number) < 300 and (value := float(number.replace(",", "."))) < 1e300:
                found |= {round(value * unit) for unit in (1e-6, 1e-3, 1, 1e3, 1e6)}
    return found & secrets


def places(out: Path, printed: str) -> dict[str, str]:
    """name → content of everything a release left, the files of the database as they lie on the disk too."""
    content = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    if "table.parquet" in content:
        table = parquet.read_table(io.BytesIO(content["table.parquet"]))
        content["table.parquet"] = f"{table.schema.metadata}\n{table.to_pydict()}".encode()
    files = {name: told.decode() for name, told in content.items() if not name.startswith("warehouse.db")}
    raw = {name: told.decode("latin-1") for name, told in content.items() if name.startswith("warehouse.db")}
    return {"printed": printed, **files, **raw, **dict(stored(out))}


def stored(out: Path) -> Iterator[tuple[str, str]]:
    """Every table of the warehouse as text."""
    engine = create_engine(f"sqlite:///{out / 'warehouse.db'}")
    tables = MetaData()
    tables.reflect(engine)
    with engine.connect() as connection:
        for name, table in tables.tables.items():
            yield name, "\n".join(_text(value) for row in connection.execute(select(table)) for value in row)
    engine.dispose()


def deciphered(out: Path) -> str:
    """The deliveries of the warehouse, read with its key."""
    engine = open_warehouse(f"sqlite:///{out / 'warehouse.db'}")
    with engine.connect() as connection:
        digests = (
            connection.execute(select(artefact.c.digest).where(artefact.c.kind == "delivery")).scalars().all()
        )
    found = "\n".join(_text(load_artefact(engine, digest)) for digest in digests)
    engine.dispose()
    return found


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else repr(value)


def in_process_of_its_own(planted: Planted, out: Path, *start: str) -> tuple[int, str]:
    """A release: exit code and all that was printed, whoever printed it."""
    command = [
        *start,
        "release",
        "--domain",
        planted.domain,
        "--period",
        PERIOD,
        "--inbox",
        planted.inbox,
        "--out",
        out,
    ]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_search_finds_what_is_there() -> None:
    secrets = frozenset({123_456_789, 987_654_321_000})
    for text in (
        "x123456789x",
        "123,456,789",
        "123.456.789,00",
        "123 456 789",
        "123456.789",
        "1.23456789e8",
        "123\u202f456\u202f789",
    ):
        assert leaks(text, secrets) == {123_456_789}, text
    assert leaks("987654321", secrets) == {987_654_321_000}, "in thousands"
    assert leaks("1234567890 12345678", secrets) == set()


def test_a_release_with_a_refused_delivery_leaves_no_secret(planted: Planted, tmp_path: Path) -> None:
    spoil(planted.inbox / f"BE_{PERIOD}.csv", "letters")
    code, printed = in_process_of_its_own(
        planted, tmp_path / "out", str(Path(sys.executable).with_name("sdc"))
    )
    assert code == 0, printed
    assert "BE_2024.csv refused" in printed
    found = places(tmp_path / "out", printed)
    assert set(PUBLIC_FILES) <= set(found)
    assert {"audit.json", "report.html", "eu_cell", "audit", "finding", "check_result", "step"} <= set(found)
    assert found["eu_cell"]
    assert {name: leak for name, content in found.items() if (leak := leaks(content, planted.secrets))} == {}
    assert leaks(deciphered(tmp_path / "out"), planted.secrets), (
        "the confidential table holds them, and is looked into"
    )


def test_what_the_receiver_hides_is_as_secret_as_what_the_country_hid(
    planted: Planted, tmp_path: Path
) -> None:
    """AT sends primaries only. The values of the cells that are hidden in it go nowhere, their keys to its
    NSI and to the desk, and a country reads of no other.
    """
    settings = yaml.safe_load(planted.domain.read_text(encoding="utf-8"))
    planted.domain.write_text(
        yaml.safe_dump(settings | {"suppression": {"receiver": "when_missing"}}), encoding="utf-8"
    )
    file = planted.inbox / f"AT_{PERIOD}.csv"
    file.write_text(file.read_text(encoding="utf-8").replace(",D,", ",F,"), encoding="utf-8")
    out = tmp_path / "out"
    ended = sdc(
        "release", "--domain", planted.domain, "--period", PERIOD, "--inbox", planted.inbox, "--out", out
    )
    assert ended.code == 0, ended.text
    assert [path.name for path in (out / "secondaries").iterdir()] == ["AT.csv"]
    with (out / "secondaries" / "AT.csv").open(encoding="utf-8", newline="") as lines:
        keys = {(row["ACTIVITY"], row["SIZECLASS"]) for row in csv.DictReader(lines)}
    with file.open(encoding="utf-8", newline="") as lines:
        records = [row for row in csv.DictReader(lines) if row["OBS_VALUE"] != "0"]
    hidden = [row for row in records if (row["ACTIVITY"], row["SIZECLASS"]) in keys]
    assert len(hidden) > 3
    assert all(row["CONF_STATUS"] == "F" for row in hidden)
    secrets = frozenset(
        int(row["OBS_VALUE"]) for row in records if row["CONF_STATUS"] != "F" or row in hidden
    )
    found = places(out, ended.text)
    assert {name: leak for name, content in found.items() if (leak := leaks(content, secrets))} == {}
    assert leaks(deciphered(out), secrets), "the confidential table holds them, and is looked into"

    named = {f"AT.{row['INDICATOR']}.{row['ACTIVITY']}.{row['SIZECLASS']}" for row in hidden}
    readable = {name: content for name, content in found.items() if not name.startswith("warehouse.db")}
    told = {
        name
        for name, content in readable.items()
        if any(re.search(rf"\b{re.escape(key)}\b", content) for key in named)
    }
    assert told == {"findings.csv", "report.html", "finding"}, (
        "not the table, its certificate or what the world reads in the warehouse"
    )
    with (out / "findings.csv").open(encoding="utf-8", newline="") as lines:
        assert {row["COUNTRY"] for row in csv.DictReader(lines) if "AT." in row["MESSAGE"]} == {"AT"}


@pytest.mark.slow
def test_a_blocked_release_leaves_no_secret(planted: Planted, tmp_path: Path) -> None:
    code, printed = in_process_of_its_own(planted, tmp_path / "out", sys.executable, "-c", CARELESS)
    assert code == 3, printed
    assert "ReleaseBlocked" in printed
    found = places(tmp_path / "out", printed)
    assert not set(PUBLIC_FILES) & set(found)
    assert (found["eu_cell"], found["release"]) == ("", "")
    assert {name: leak for name, content in found.items() if (leak := leaks(content, planted.secrets))} == {}


SPOILT = [
    "shifted columns",
    "cut",
    *(pytest.param(how, marks=pytest.mark.slow) for how in ("twice", "not additive", "negative")),
]


@pytest.mark.parametrize("how", SPOILT)
def test_no_refusal_quotes_what_it_refuses(planted: Planted, tmp_path: Path, how: str) -> None:
    """A refusal of every kind, at a secret value; the sum of the others is published."""
    spoil(planted.inbox / f"BE_{PERIOD}.csv", how)
    where = ("--domain", planted.domain, "--period", PERIOD, "--inbox", planted.inbox)
    ended = sdc("release", *where, "--out", tmp_path / "out")
    assert ended.code == 0, ended.text
    assert "BE_2024.csv refused" in ended.said
    found = places(tmp_path / "out", ended.text)
    assert {name: leak for name, content in found.items() if (leak := leaks(content, planted.secrets))} == {}
