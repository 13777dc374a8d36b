"""`sdc perturb`: records in, perturbed counts out; the same people, the same noise; nothing where the input
is wrong.
"""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as api
from support.desk import sdc

SECRET = "5e" * 31 + "01"
NOISE = ("--max-step", "5", "--variance", "3", "--js", "2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """people.csv: 60 records, of some the age is missing; secret.hex."""
    chance = np.random.default_rng(9)
    lines = [
        f"p{i},{age},{sex},{key:.8f}"
        for i, age, sex, key in zip(
            range(60),
            chance.choice(["0", "15", ""], 60),
            chance.choice(["f", "m"], 60),
            chance.random(60),
            strict=True,
        )
    ]
    (tmp_path / "people.csv").write_text("\n".join(["ID,AGE,SEX,KEY", *lines, ""]))
    (tmp_path / "secret.hex").write_text(SECRET + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(name: str) -> dict[tuple[str, ...], int]:
    with Path(name).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {(row["AGE"], row.get("SEX", "TOTAL")): int(row["PERTURBED"]) for row in rows}


def test_two_tables_of_one_secret_agree_where_they_show_the_same_people(folder: Path) -> None:
    keyed = ("--record", "ID", "--secret", "secret.hex", *NOISE)
    first = sdc(
        "perturb", "people.csv", "--dims", "AGE,SEX", *keyed, "--published", "a.csv", "--out", "in.csv"
    )
    assert first.code == 0, first.text
    assert sdc("perturb", "people.csv", "--dims", "AGE", *keyed, "--published", "b.csv").code == 0
    a, b = read("a.csv"), read("b.csv")
    assert {key: count for key, count in a.items() if key[1] == "TOTAL"} == b
    assert ("_U", "TOTAL") in a
    assert not set(a.values()) & {0, 1, 2}
    assert stat.S_IMODE(Path("in.csv").stat().st_mode) == 0o600
    assert "ORIGINAL" not in Path("a.csv").read_text()
    assert SECRET not in first.text


def test_a_designed_table_is_written_and_read_back(folder: Path) -> None:
    keyed = ("perturb", "people.csv", "--dims", "AGE,SEX", "--record-key", "KEY")
    assert sdc(*keyed, *NOISE, "--published", "a.csv", "--write-ptable", "noise.csv").code == 0
    assert sdc(*keyed, "--ptable", "noise.csv", "--published", "b.csv").code == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert sdc(*keyed, *NOISE, "--write-ptable", "keys.csv", "--whole-keys", "256").code == 0
    assert Path("keys.csv").read_text().startswith("pcv,ckey,pvalue\n1,0,")


def test_what_is_told_is_a_confidential_file_of_numbers_of_cells(folder: Path) -> None:
    keyed = ("--record", "ID", "--secret", "secret.hex", *NOISE)
    done = sdc("perturb", "people.csv", "--dims", "AGE,SEX", *keyed, "--audit", "told.json")
    assert done.code == 0
    assert "audit: exact for 12 of 12 cells" in done.text
    told = json.loads(Path("told.json").read_text())
    assert told["cells"] == 4 * 3
    assert told["enumerated"] is True
    assert told["told_exactly"] >= told["told_to_be_0"] + told["told_to_be_1"]
    assert stat.S_IMODE(Path("told.json").stat().st_mode) == 0o600


def test_sums_of_values_are_what_the_function_says_and_their_audit_is_confidential(folder: Path) -> None:
    people = pd.read_csv("people.csv", dtype=str)
    people["PAY"] = [str(value) for value in np.random.default_rng(4).integers(1, 900, 60)]
    people.to_csv("pay.csv", index=False)
    keyed = (
        "--record",
        "ID",
        "--secret",
        "secret.hex",
        "--values",
        "PAY",
        "--share",
        "0.2",
        "--weights",
        "1,0.5",
    )
    files = ("--published", "a.csv", "--audit", "told.json", "--out", "in.csv")
    done = sdc("perturb", "pay.csv", "--dims", "AGE,SEX", *keyed, *files)
    assert done.code == 0, done.text
    assert "at most 90% of it" in done.text
    noise = api.ValueNoise(0.2, weights=(1, 0.5))
    same = api.perturb_values(people, ["AGE", "SEX"], "PAY", noise, secret=SECRET, record="ID")
    pd.testing.assert_frame_equal(pd.read_csv("a.csv", dtype={"AGE": str}), same.public, check_dtype=False)
    assert json.loads(Path("told.json").read_text()) == same.audit().facts
    assert list(pd.read_csv("in.csv").columns) == ["AGE", "SEX", "PAY", "PERTURBED"]
    for name in ("told.json", "in.csv"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600


KEYED = ("--record", "ID", "--secret", "secret.hex")
PAY = (*KEYED, "--values", "KEY", "--share", "0.1")
WRONG = {
    "no noise": ((*KEYED,), "which noise"),
    "a rule beside a table": ((*KEYED, "--ptable", "noise.csv", "--js", "2"), "leave out --js"),
    "two noises": ((*KEYED, *NOISE, "--ptable", "noise.csv"), "which noise"),
    "half of a design": ((*KEYED, "--max-step", "5"), "from --max-step and --variance"),
    "no variance that a row has": (
        (*KEYED, "--max-step", "2", "--variance", "3"),
        "count 1: its variance is above",
    ),
    "no keys": (NOISE, "people.csv: where do the keys"),
    "no secret": (("--record", "ID", *NOISE), "people.csv: names of records become keys by a secret only"),
    "no file of it": (("--record", "ID", "--secret", "none.hex", *NOISE), "cannot read none.hex"),
    "a secret that is none": (("--record", "ID", "--secret", "people.csv", *NOISE), "secret"),
    "a missing column": (("--record-key", "K", *NOISE), "no column K"),
    "no modulus": (
        ("--record-key", "KEY", "--keys-below", "256", *NOISE),
        "line 2: column KEY: the key is missing",
    ),
    "a table that is none": ((*KEYED, "--ptable", "people.csv"), "people.csv, line 1: neither"),
    "whole keys of nothing": (
        (*KEYED, *NOISE, "--whole-keys", "8"),
        "--whole-keys: only with --write-ptable",
    ),
    "too few keys": ((*KEYED, *NOISE, "--write-ptable", "t.csv", "--whole-keys", "4"), "4 keys are fewer"),
    "a share of counts": ((*KEYED, *NOISE, "--share", "0.1"), "--share: no option of counts"),
    "a design of sums": ((*PAY, "--js", "2"), "--js: no option of sums of values"),
    "a table of sums": ((*PAY, "--write-ptable", "t"), "--write-ptable: no option of sums of values"),
    "sums of weights": ((*PAY, "--weight", "KEY"), "--weight: no option of sums of values"),
    "no share": ((*KEYED, "--values", "KEY"), "how large is the noise"),
    "too large a share": ((*KEYED, "--values", "KEY", "--share", "0.5"), "share is no number above 0"),
    "no weights": ((*PAY, "--weights", "1,x"), "--weights: numbers are expected"),
    "values that are none": ((*KEYED, "--values", "SEX", "--share", "0.1"), "column SEX is a dimension"),
    "onto the table": ((*KEYED, *NOISE, "--out", "people.csv"), "this is the table itself"),
}


@pytest.mark.parametrize("case", WRONG)
def test_nothing_is_written_where_something_is_wrong(folder: Path, case: str) -> None:
    options, told = WRONG[case]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = sdc("perturb", "people.csv", "--dims", "AGE,SEX", "--published", "a.csv", *options)
    said = " ".join(done.text.split())
    assert done.code == 2, said
    assert told in said
    assert "Remedy" in said
    assert SECRET not in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
