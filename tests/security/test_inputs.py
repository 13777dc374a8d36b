"""Damaged, compressed and crafted files of the tools: one line that says what to do, little
memory, no formula for a spreadsheet.
"""

from __future__ import annotations

import gzip
import io
import random
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sdc_tasks import untrusted
from sdc_tasks.cli.app import app
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.counts import read_counts, table_bytes
from sdc_tasks.intake.tables.jj import read_jj
from sdc_tasks.untrusted import formula
from sdc_tasks.warehouse.forms.packing import pack, unpack

COLUMNS = {"a": np.array(["p", "q"] * 50), "b": np.array(["u"] * 60 + ["v"] * 40), "n": np.arange(100)}


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Cut, with bytes changed, or with a piece twice."""
    kind = chance.randrange(3)
    at = chance.randrange(len(content))
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]
    return content[:at] + content[max(0, at - 9) :]


def refusal(path: Path) -> str | None:
    try:
        read_counts(path, ["a", "b"], "n")
    except InvalidInput as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet"])
def test_a_damaged_table_of_counts_is_refused_or_read(tmp_path: Path, name: str) -> None:
    path, chance = tmp_path / name, random.Random(1)
    honest = table_bytes(path, COLUMNS)
    refused = 0
    for _ in range(400):
        path.write_bytes(damaged(honest, chance))
        said = refusal(path)
        assert said is None or "Remedy" in said
        refused += said is not None
    assert refused > 200


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet"])
def test_round_counts_says_so_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(table_bytes(path, COLUMNS)[:-30])
    done = CliRunner().invoke(app, ["round-counts", str(path), "--dims", "a,b", "--count", "n"])
    assert isinstance(done.exception, InvalidInput)


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.jj.gz"])
@pytest.mark.parametrize("piece", [b"a,b,n\n", b"p,u,1,", b"\n"])
def test_a_bomb_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, piece: bytes
) -> None:
    monkeypatch.setattr(untrusted, "ROOM", 1 << 17)
    monkeypatch.setattr(untrusted, "RATIO", 2)
    path = tmp_path / name
    path.write_bytes(gzip.compress(piece * ((40 << 20) // len(piece))))
    assert path.stat().st_size < 1 << 17
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=r"bomb\..*Remedy"):
        read_jj(path) if "jj" in name else read_counts(path, ["a", "b"], "n")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20, "it was never whole in memory"


def test_evidence_is_not_unpacked_beyond_its_size() -> None:
    honest = pack({"a": 1}, {"x": np.arange(3)})
    assert unpack(honest)[0] == {"a": 1}
    crafted = io.BytesIO()
    with zipfile.ZipFile(crafted, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{" + " " * 10_000_000 + "}")
    with pytest.raises(zipfile.BadZipFile):
        unpack(crafted.getvalue())


@pytest.mark.parametrize(
    ("text", "computes"),
    [
        ("=1", True),
        ("@A", True),
        ("\tA", True),
        ("\rA", True),
        ("+A1", True),
        ("-A1", True),
        ("-1+2", True),
        ("-", True),
        ("-1", False),
        ("+1.5", False),
        ("A=1", False),
        ("", False),
        ("_T", False),
        ("10-19", False),
    ],
)
def test_what_a_spreadsheet_computes(text: str, computes: bool) -> None:
    assert formula(text) is computes


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_no_tool_writes_a_code_that_a_spreadsheet_computes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(table_bytes(path, {"a": np.array(["p", "=cmd|' /C calc'!A0"]), "n": np.array([3, 4])}))
    said = CliRunner().invoke(
        app,
        ["round-counts", str(path), "--dims", "a", "--count", "n", "--published", str(tmp_path / "out.csv")],
    )
    assert "a spreadsheet would compute" in str(said.exception)
    if name == "t.csv":
        said = CliRunner().invoke(
            app, ["round-table", str(path), "--dims", "a", "--value", "n", "--base", "5"]
        )
        assert "a spreadsheet would compute" in str(said.exception)
