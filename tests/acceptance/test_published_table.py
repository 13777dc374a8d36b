"""What leaves the house of a table that was protected: every cell, no value of a hidden one, and nothing that
tells a primary cell from a secondary one; in every format of a release.
"""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.api.masked import MaskedTable
from sdc_tasks.errors import InvalidInput
from support.desk import in_one_line

FLOW = "OFFICE:TOWNS(1.0)"

# M2.P3 is primary. P, M are the other cells that the cheapest pattern hides: M1.P1, M1.P3, M2.P1.
DRAWN = """
       P1     P2     P3
M1     20713  24     28571
M2     38119  38     40337
M3     40     39     42
"""
HIDDEN = {("M1", "P1"), ("M1", "P3"), ("M2", "P1"), ("M2", "P3")}
SECRETS = ("20713", "28571", "38119", "40337")


def frame() -> pd.DataFrame:
    head, *lines = [line.split() for line in DRAWN.strip().splitlines()]
    rows = [(line[0], job, int(told)) for line in lines for job, told in zip(head, line[1:], strict=True)]
    made = pd.DataFrame(rows, columns=["TOWN", "JOB", "VALUE"])
    return made.assign(SECRET=((made["TOWN"] == "M2") & (made["JOB"] == "P3")).astype(int), LEVEL=4000)


def found() -> sdc.SuppressResult:
    # those cells are cheap, so that the pattern is the drawn one
    hidden = [key in HIDDEN for key in zip(frame()["TOWN"], frame()["JOB"], strict=True)]
    df = frame().assign(PRICE=np.where(hidden, 1, 1000))
    rest = pd.DataFrame(
        [(t, j, 1000) for t in ("M1", "M2", "M3", "TOTAL") for j in ("P1", "P2", "P3", "TOTAL")],
        columns=["TOWN", "JOB", "PRICE"],
    )
    totals = rest[(rest["TOWN"] == "TOTAL") | (rest["JOB"] == "TOTAL")]
    inner = df.set_index(["TOWN", "JOB"])["VALUE"]
    totals = totals.assign(
        VALUE=[
            inner[[(a, b) for a, b in inner.index if t in (a, "TOTAL") and j in (b, "TOTAL")]].sum()
            for t, j in zip(totals["TOWN"], totals["JOB"], strict=True)
        ],
        SECRET=0,
        LEVEL=0,
    )
    return sdc.suppress(
        pd.concat([df, totals]), ["TOWN", "JOB"], primary="SECRET", level="LEVEL", cost="PRICE"
    )


def told(place: Path) -> dict[tuple[str, str], float | None]:
    """(town, job) → the value in a file of any format, None where it has none."""
    if place.suffix == ".xml":
        cells = [each.attrib for each in ElementTree.parse(place).iter("Obs")]
        return {
            (c["TOWN"], c["JOB"]): float(c["OBS_VALUE"]) if "OBS_VALUE" in c else None
            for c in map(dict, cells)
        }
    if place.suffix == ".json":
        body = json.loads(place.read_text())["data"]
        towns, jobs = (
            [each["id"] for each in dimension["values"]]
            for dimension in body["structures"][0]["dimensions"]["observation"]
        )
        return {
            (towns[int(key.split(":")[0])], jobs[int(key.split(":")[1])]): value[0]
            for key, value in body["dataSets"][0]["observations"].items()
        }
    read = pd.read_parquet(place) if place.suffix == ".parquet" else pd.read_csv(place)
    return {(t, j): None if pd.isna(v) else float(v) for t, j, v in read[["TOWN", "JOB", "VALUE"]].to_numpy()}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.xml", "t.json"])
def test_every_format_tells_the_open_cells_and_not_the_hidden_ones(tmp_path: Path, name: str) -> None:
    result = found()
    place = result.published(tmp_path / name, FLOW if name.endswith(("xml", "json")) else None)
    cells = told(place)
    public = {
        (t, j): None if pd.isna(v) else v for t, j, v in result.public[["TOWN", "JOB", "VALUE"]].to_numpy()
    }
    assert cells == public
    assert {key for key, value in cells.items() if value is None} == HIDDEN
    assert len(cells) == 16, "totals too"
    if not name.endswith(("gz", "parquet")):
        assert not [secret for secret in SECRETS if secret in place.read_text()]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xml", "t.json"])
def test_no_byte_depends_on_a_hidden_value_or_on_which_cell_is_primary(tmp_path: Path, name: str) -> None:
    """A law: two tables with the same open cells and the same hidden ones have the same file."""
    keys = [(t, j) for t in ("a", "b") for j in ("x", "y")]
    hidden, flow = np.array([True, True, False, False]), FLOW if name.endswith(("xml", "json")) else None

    def content(secret: float) -> bytes:
        table = MaskedTable(("T", "J"), "V", keys, np.array([secret, secret / 3, 7.5, 8.0]), hidden)
        return re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"", table.content(tmp_path / name, flow))

    assert content(1234.0) == content(99.0)
    assert b"1234" not in content(1234.0)


def test_the_commands_write_what_python_writes(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "in.csv", index=False)
    asked = ("suppress", tmp_path / "in.csv", "--dims", "TOWN,JOB", "--primary", "SECRET", "--level", "LEVEL")
    code, said = in_one_line(*asked, "--out", tmp_path / "own.csv", "--published", tmp_path / "out.csv")
    assert code == 0, said
    assert f"publication: {tmp_path / 'out.csv'}" in said.replace(" /", " /")
    same = sdc.suppress(frame(), ["TOWN", "JOB"], primary="SECRET", level="LEVEL")
    assert (tmp_path / "out.csv").read_bytes() == same.published(tmp_path / "mine.csv").read_bytes()


def test_protect_writes_it_too(tmp_path: Path) -> None:
    firms = pd.DataFrame(
        {"REGION": list("NNNSSS"), "BRANCH": list("CCDCDD"), "VALUE": [90417, 4, 30, 40, 50, 60]}
    )
    firms.to_csv(tmp_path / "firms.csv", index=False)
    out = tmp_path / "out.json"
    code, said = in_one_line(
        "protect", tmp_path / "firms.csv", "--dims", "REGION,BRANCH", "--p", "10",
        "--published", out, "--flow", FLOW,
    )  # fmt: skip
    assert code == 0, said
    assert "90417" not in out.read_text()
    assert json.loads(out.read_text())["meta"]["sender"] == {"id": "OFFICE"}


@pytest.mark.parametrize(
    ("more", "told_"),
    [
        (("--published", "x.odt"), "no format has this suffix"),
        (("--published", "x.xml"), "needs the data flow of the table"),
        (("--published", "x.json", "--flow", "TOWNS"), "needs the data flow of the table"),
        (("--published", "x.csv", "--flow", FLOW), "a data flow is for SDMX-ML and SDMX-JSON"),
        (("--flow", FLOW), "--flow goes with --published"),
        (("--published", "x.csv", "--out", "x.csv"), "name one place"),
        (("--published", "in.csv"), "this is the table itself"),
    ],
)
def test_what_cannot_be_published_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], told_: str
) -> None:
    monkeypatch.chdir(tmp_path)
    frame().to_csv("in.csv", index=False)
    code, said = in_one_line(
        "suppress", "in.csv", "--dims", "TOWN,JOB", "--primary", "SECRET", "--level", "LEVEL", *more
    )
    assert (code, told_ in said) == (2, True), said
    assert "Remedy" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_jj_file_has_no_codes_to_publish(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(
        "0\n3\n0 5 1 s 0 9 0 0 0\n1 2 1 u 0 9 1 1 0\n2 3 1 s 0 9 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"
    )
    code, said = in_one_line("suppress", tmp_path / "t.jj", "--published", tmp_path / "x.csv")
    assert (code, "a JJ file has no codes to publish" in said) == (2, True), said


def test_what_would_give_cells_away_is_not_published(tmp_path: Path) -> None:
    """Primary cells alone, and a pattern that is not safe: totals give them away."""
    firms = pd.DataFrame({"REGION": list("NNS"), "BRANCH": list("CDC"), "VALUE": [90, 4, 30]})
    alone = sdc.primary(firms, ["REGION", "BRANCH"], rules=sdc.Rules(p=10))
    unsafe = sdc.audit(
        frame().assign(STATUS=np.where(frame()["SECRET"] == 1, "u", "s")), ["TOWN", "JOB"], level="LEVEL"
    )
    for result in (alone, unsafe):
        with pytest.raises(InvalidInput, match="Remedy: suppress the table"):
            result.published(tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_dimension_without_a_name_in_sdmx_is_refused_for_messages_alone(tmp_path: Path) -> None:
    table = MaskedTable(("a b",), "V", [("x",), ("y",)], np.ones(2), np.zeros(2, dtype=bool))
    assert table.content(tmp_path / "t.csv") == b"a b,V,STATUS\nx,1,\ny,1,\n"
    with pytest.raises(InvalidInput, match="no name of a dimension in SDMX"):
        table.content(tmp_path / "t.xml", FLOW)
    assert pd.read_parquet(BytesIO(table.content(tmp_path / "t.parquet")))["V"].tolist() == [1.0, 1.0]
