"""A total that goes by a name of its own is found by what it is, also where it stands in the
totals of several dimensions alone.

            x    y   Alle              x    y   Alle
    a       5    7                     5    7
    b       6   12                     6   12
    Alle             30               11   19    30

It was counted once more as a cell of its own, by `sdc suppress --missing zero`, `sdc protect`, `sdc
round-counts` and `sdc round-table`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as api
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.totals import lone, unnamed
from support.desk import sdc

INNER = ["a,x,5,u,2,2", "a,y,7,s,,", "b,x,6,s,,", "b,y,12,s,,"]
LONE, MARGIN = ["Alle,Alle,30,s,,"], ["Alle,x,11,s,,", "Alle,y,19,s,,"]
COMMANDS = {
    "suppress": ("--dims", "A,B", "--missing", "zero"),
    "protect": ("--dims", "A,B", "--p", "10"),
    "round-counts": ("--dims", "A,B", "--count", "VALUE"),
    "round-table": ("--dims", "A,B", "--base", "5"),
}


def table(folder: Path, *rows: str) -> Path:
    place = folder / "t.csv"
    place.write_text("".join(f"{row}\n" for row in ("A,B,VALUE,STATUS,LPL,UPL", *rows)))
    return place


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("totals", [LONE, LONE + MARGIN], ids=["alone", "with a margin"])
def test_a_lone_total_is_never_counted_once_more(tmp_path: Path, command: str, totals: list[str]) -> None:
    out = tmp_path / "out.csv"
    ended = sdc(command, table(tmp_path, *INNER, *totals), *COMMANDS[command], "--out", out)
    assert ended.refused("is the sum of all others, so a total", "Remedy: ")
    assert "Alle" in ended.complained
    assert not out.exists()
    assert sdc(command, table(tmp_path, *INNER), *COMMANDS[command], "--out", out).code == 0


def test_python_is_told_how_to_name_a_total_in_python() -> None:
    table = pd.DataFrame({"A": ["x", "y", "Alle"], "VALUE": [10, 20, 30], "STATUS": "s"})
    asked = (
        r"A Alle is the sum of all others.*Remedy: total={'A': 'Alle'}, or total={'A': 'none'} if it is none"
    )
    with pytest.raises(InvalidInput, match=asked):
        api.suppress(table, ["A"])
    lone = pd.DataFrame(
        [(*row.split(",")[:3], "s") for row in (*INNER, *LONE)], columns=["A", "B", "VALUE", "STATUS"]
    )
    with pytest.raises(
        InvalidInput, match=r"the cell with A Alle .*Remedy: total={'A': 'Alle'}, .*total='none'"
    ):
        api.suppress(lone, ["A", "B"])
    assert api.suppress(table, ["A"], total={"A": "Alle"}).table.shape[0] == 3


def test_named_it_is_the_total(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    asked = ("suppress", table(tmp_path, *INNER, *LONE), *COMMANDS["suppress"], "--out", out)
    assert sdc(*asked, "--total", "Alle").code == 0
    assert "Alle,Alle,30,s" in out.read_text()
    assert "TOTAL" not in out.read_text()
    assert sdc(*asked, "--total", "none").code == 0
    assert "TOTAL,TOTAL,60,s" in out.read_text(), "somebody said that it is none"


def drawn(*shape: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Cells of a table with different powers of 3, of which none is the sum of others;
    codes begin at 1, 0 is for totals.
    """
    at = np.indices(shape).reshape(len(shape), -1) + 1
    return list(at), 3.0 ** np.arange(at.shape[1])


@pytest.mark.parametrize("alone", [(0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_a_lone_total_of_some_dimensions_is_found(alone: tuple[int, ...]) -> None:
    codes, values = drawn(2, 3, 2)
    assert lone(codes, values, range(3)) is None
    free = [each for j, each in enumerate(codes) if j not in alone]
    kinds = np.unique(np.stack(free), axis=1) if free else np.zeros((0, 1), dtype=np.int64)
    for kind in kinds.T:
        here = (
            np.all([each == code for each, code in zip(free, kind, strict=True)], axis=0)
            if free
            else np.ones(len(values), dtype=bool)
        )
        codes = [
            np.append(each, 0 if j in alone else kind[[k for k in range(3) if k not in alone].index(j)])
            for j, each in enumerate(codes)
        ]
        values = np.append(values, values[: len(here)][here].sum())
        free = [each[: len(here)] for each in free]
    found = lone(codes, values, range(3))
    assert found == (alone[0], 0)
    assert lone(codes, values, []) is None, "somebody has named all totals"


def test_a_cell_that_is_the_sum_of_two_others_by_chance_is_none() -> None:
    codes = [np.array([0, 1, 2]), np.array([0, 1, 2])]
    assert lone(codes, np.array([2.0, 3.0, 5.0]), range(2)) is None


def test_a_margin_that_ends_in_the_grand_total_is_found() -> None:
    codes, values = drawn(3, 3)
    sums = [values[codes[1] == column].sum() for column in (1, 2, 3)]
    codes = [np.append(codes[0], [0, 0, 0, 0]), np.append(codes[1], [1, 2, 3, 0])]
    values = np.append(values, [*sums, sum(sums)])
    assert unnamed(codes[0], [codes[1]], values) == 0
    assert unnamed(codes[0], [codes[1]], np.append(values[:-1], values[-1] + 1)) is None
