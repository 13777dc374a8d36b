"""Earlier patterns and instructions that stand in CSV files, by codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.given.apriori import read_apriori
from sdc_tasks.intake.tables.given.earlier import read_earlier_csv

KEYS = [(town, job) for town in ("_T", "A", "B") for job in ("_T", "x")]


def written(folder: Path, text: str) -> Path:
    path = folder / "file.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_pattern_by_codes_in_any_order(tmp_path):
    path = written(tmp_path, "JOB;TOWN;STATUS;OBS\nx;A;u;\n_T;_T;;7\nx;B;m;\n_T;C;s;1\n")
    found = read_earlier_csv(path, ["TOWN", "JOB"], "OBS", KEYS)
    assert found.hidden.tolist() == [False, False, False, True, False, True]
    assert found.open.tolist() == [True, False, False, False, False, False]
    assert found.a[0] == 7
    assert np.isnan(found.a[1:]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty file"),
        ("TOWN,JOB\nA,x\n", "line 1: the header needs the columns TOWN, JOB, STATUS, each once"),
        ("TOWN,JOB,STATUS,STATUS\nA,x,s,s\n", "line 1: the header needs"),
        ("TOWN,JOB,STATUS\nA,x\n", "line 2: 2 fields, but 3 columns"),
        ("TOWN,JOB,STATUS\nA,x,q\n", "line 2: A.x: its STATUS is none of s u m z"),
        ("TOWN,JOB,STATUS\nA,x,s\n\nA,x,s\n", "line 4: A.x stands there twice"),
        ("TOWN,JOB,STATUS,OBS\nA,x,s,1_000\n", "line 2: A.x: its OBS is not a number"),
    ],
)
def test_what_is_no_pattern_is_told(tmp_path, text, message):
    with pytest.raises(InvalidInput, match=message) as refused:
        read_earlier_csv(written(tmp_path, text), ["TOWN", "JOB"], "OBS", KEYS)
    assert "Remedy: " in str(refused.value)


def test_instructions_by_codes(tmp_path):
    found = read_apriori(written(tmp_path, "A, x, u\nA, x, pl, 5, 10, 2\n_T,_T,C,3\n"), KEYS)
    assert [(each.cell, each.what, each.numbers) for each in found] == [
        (3, "u", ()),
        (3, "pl", (5, 10, 2)),
        (0, "c", (3,)),
    ]
    with pytest.raises(InvalidInput, match=r"line 1: A\.y is no cell of the table"):
        read_apriori(written(tmp_path, "A,y,u\n"), KEYS)
