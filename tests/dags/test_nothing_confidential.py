"""A whole release by `run_here.py` with values that cannot be mistaken, then a search for them
wherever a run leaves something.

AT is scaled by a large prime, which keeps its table additive; a confidential value of CY is spoilt, so that a
refusal has something to quote. Looked through: everything printed, Airflow's home (log, database), the
outputs, and every table of the warehouse; of the confidential one both what is stored, encrypted, and, to see
that the search would find it, what is meant.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, Row, create_engine, select

from sdc_tasks.model.public_files import PUBLIC_FILES
from support.dags.airflow_home import DAGS
from support.deliveries import scaled

PRIME = 104_729
PRIMARY = set("AMOTGCN")
SPOILT = "918273645x"


def spoilt(delivery: bytes) -> bytes:
    """The delivery with letters in the value of its first primary cell."""
    return re.sub(
        rb"(,2024,)\d+(,EUR,3,A,[AMOTGCN],)", rb"\g<1>" + SPOILT.encode() + rb"\g<2>", delivery, count=1
    )


def spellings(value: int) -> list[bytes]:
    """The value as somebody may have written it: plain, grouped, in scientific notation, as eight bytes."""
    grouped = f"{value:,}"
    words = [
        str(value),
        grouped,
        grouped.replace(",", "."),
        grouped.replace(",", " "),
        f"{value:_}",
        f"{value:.6e}",
        repr(value / 1000),
    ]
    return [
        *(word.encode() for word in words),
        struct.pack(">d", value),
        struct.pack("<d", value),
        struct.pack(">q", value),
    ]


def leaks(content: bytes, secrets: list[int]) -> list[bytes]:
    """What of all this the bytes hold."""
    words = [SPOILT[:-1].encode(), *(word for secret in secrets for word in spellings(secret))]
    return [word for word in words if word in content]


def written(rows: Iterable[Row[Any]]) -> bytes:
    """Rows of a table as bytes; the repr of a row would be cut."""
    return b"\n".join(
        value if isinstance(value, bytes) else repr(value).encode() for row in rows for value in row
    )


@pytest.fixture
def secrets(inbox: Path, tmp_path: Path) -> list[int]:
    """Copies the small demonstration that goes on without a country to `tmp_path`, with the values to look
    for.
    """
    shutil.copytree(
        inbox.parent, tmp_path / "demo", ignore=shutil.ignore_patterns("domain.yaml", "nonsense.yaml")
    )
    folder = tmp_path / "demo" / "inbox"
    records = scaled(folder / "AT_2024.csv", PRIME)
    at = (folder / "AT_2024.csv").read_text(encoding="utf-8")
    (folder / "AT_2024.csv").write_text(
        at.replace(",D,", ",F,"), encoding="utf-8"
    )  # primaries only: the receiver hides as much again
    (folder / "CY_2024.csv").write_bytes(
        spoilt((folder / "CY_2024.csv").read_bytes().replace(b",0;", b";").replace(b";", b","))
    )
    domain = tmp_path / "demo" / "small_partial.yaml"
    settings = domain.read_text(encoding="utf-8")
    assert "\nchecks:\n" in settings
    settings = settings.replace(
        "\nchecks:\n", "\nchecks:\n  proportion: null\n"
    )  # its figures are those of no country
    domain.write_text(settings + "suppression: {receiver: when_missing}\n", encoding="utf-8")
    return [
        int(row["OBS_VALUE"]) for row in records if row["CONF_STATUS"] in PRIMARY and row["OBS_VALUE"] != "0"
    ]


def hidden_by_the_receiver(out: Path, delivery: Path) -> list[int]:
    """The values of the cells that are listed for the NSI of AT."""
    with (out / "secondaries" / "AT.csv").open(encoding="utf-8", newline="") as lines:
        keys = {(row["ACTIVITY"], row["SIZECLASS"]) for row in csv.DictReader(lines)}
    with delivery.open(encoding="utf-8", newline="") as lines:
        records = list(csv.DictReader(lines))
    return [
        int(row["OBS_VALUE"])
        for row in records
        if (row["ACTIVITY"], row["SIZECLASS"]) in keys and row["OBS_VALUE"] != "0"
    ]


@pytest.fixture
def metrics() -> Iterator[tuple[int, list[bytes]]]:
    """The port of a StatsD server, and what it was sent."""
    received: list[bytes] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def listen() -> None:
            while datagram := server.recv(65_536):
                received.append(datagram)

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield server.getsockname()[1], received
        server.sendto(b"", server.getsockname())
        thread.join()


def deciphered(url: str) -> bytes:
    """All payloads of a warehouse, read with its key."""
    from sdc_tasks.warehouse.confidential.store import load_artefact
    from sdc_tasks.warehouse.database.engine import open_warehouse
    from sdc_tasks.warehouse.database.schema import artefact

    engine = open_warehouse(url)
    with engine.connect() as connection:
        digests = connection.execute(select(artefact.c.digest)).scalars().all()
    found = b"\n".join(load_artefact(engine, digest) for digest in digests)
    engine.dispose()
    return found


@pytest.mark.slow
def test_a_run_leaves_no_confidential_value(
    secrets: list[int], metrics: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    home, out, warehouse = tmp_path / "airflow", tmp_path / "out", tmp_path / "warehouse.db"
    inbox = tmp_path / "demo" / "inbox"
    command = [
        sys.executable,
        str(DAGS / "run_here.py"),
        "--domain",
        str(tmp_path / "demo" / "small_partial.yaml"),
        "--period",
        "2024",
    ]
    command += ["--inbox", str(inbox), "--out", str(out), "--warehouse", f"sqlite:///{warehouse}"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SDC"))}
    port, sent = metrics
    settings = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
        "AIRFLOW__METRICS__STATSD_ON": "True",
        "AIRFLOW__METRICS__STATSD_PORT": str(port),
    }
    done = subprocess.run(command, capture_output=True, env=inherited | settings, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert b"ingest CY_2024" in done.stdout
    assert b"FAILED" in done.stdout, "the spoilt delivery is refused"

    assert b"suppress AT" in done.stdout
    hidden = hidden_by_the_receiver(out, inbox / "AT_2024.csv")
    assert len(hidden) > 3
    secrets = [*secrets, *hidden]
    assert leaks((inbox / "AT_2024.csv").read_bytes(), secrets), "the search finds what is there"
    assert leaks(done.stdout + done.stderr, secrets) == []
    assert leaks(b"\n".join(sent), secrets) == []
    names = {datagram.partition(b":")[0].decode() for datagram in sent}
    assert {
        f"airflow.sdc.{name}"
        for name in ("task.seconds", "step.seconds", "release.exact", "release.relative_loss")
    } <= names
    for path in [*home.rglob("*"), *out.rglob("*")]:
        if path.is_file():
            assert leaks(path.read_bytes(), secrets) == [], path.name
    assert {"run.log", "airflow.db"} <= {path.name for path in home.iterdir()}
    names = {path.name for path in out.iterdir()}
    assert names == {
        "report.html",
        "audit.json",
        "findings.csv",
        "secondaries",
        *PUBLIC_FILES.keys() - {"table.parquet"},
    }

    engine = create_engine(f"sqlite:///{warehouse}")
    tables = MetaData()
    tables.reflect(engine)
    with engine.connect() as connection:
        content = {name: written(connection.execute(select(table))) for name, table in tables.tables.items()}
    engine.dispose()
    assert leaks(deciphered(f"sqlite:///{warehouse}"), secrets), (
        "the confidential table holds them, and is looked into"
    )
    assert content["payload"]
    assert {name for name, rows in content.items() if leaks(rows, secrets)} == set()
