"""A sum over hidden cells is one more equation for an attacker: it is confidential where it is
offered, and no public file has it.
"""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from scipy.optimize import linprog

import sdc_tasks as api
from sdc_tasks.cli.app import app
from support.desk import sdc

# Everybody knows the totals and which cells are hidden. In the second table the same cells hide other values:
# 10 more on one diagonal of the square, 10 less on the other.
TABLE = """REGION,ACTIVITY,VALUE,STATUS,LPL,UPL
A,X,{ax},u,20,20
A,Y,{ay},s,0,0
A,Z,500,s,0,0
A,TOTAL,808,s,0,0
B,X,{bx},s,0,0
B,Y,{by},s,0,0
B,Z,600,s,0,0
B,TOTAL,1000,s,0,0
C,X,400,s,0,0
C,Y,500,s,0,0
C,Z,700,s,0,0
C,TOTAL,1600,s,0,0
TOTAL,X,697,s,0,0
TOTAL,Y,911,s,0,0
TOTAL,Z,1800,s,0,0
TOTAL,TOTAL,3408,s,0,0
"""
FIRST = {"ax": 97, "ay": 211, "bx": 200, "by": 200}
SECOND = {"ax": 107, "ay": 201, "bx": 190, "by": 210}
HIDDEN = ("ax", "ay", "bx", "by")


MICRO = [(r, a, i, 40 + 10 * i) for r in "ABC" for a in "XYZ" for i in range(6)] + [("A", "X", 9, 9000)]
JJ = """0
5
0 10 1 s 0 30 0 0 0
1 4 1 u 0 30 1 1 0
2 6 1 s 0 30 0 0 0
3 3 1 s 0 30 0 0 0
4 3 1 s 0 30 0 0 0
2
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 2 (-1) 3 (1) 4 (1)
"""


def table(folder: Path, values: dict[str, int]) -> Path:
    path = folder / "table.csv"
    path.write_text(TABLE.format(**values), encoding="utf-8")
    return path


def commands() -> dict[str, Any]:
    return dict(typer.main.get_group(app).commands)


def test_the_objective_is_an_equation() -> None:
    """The primary A, X is somewhere in [0, 308]: rows and columns of the square leave that. With the sum
    of the secondaries it is known.
    """
    rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=float)
    right = np.array([308, 400, 297, 411], dtype=float)
    objective = float(sum(FIRST[name] for name in HIDDEN[1:]))

    def ends(A: np.ndarray, b: np.ndarray) -> list[float]:
        found = [linprog(sign * np.eye(4)[0], A_eq=A, b_eq=b, bounds=[(0, None)] * 4) for sign in (1, -1)]
        return [round(float(each.x[0]), 6) for each in found]

    assert ends(rows, right) == [0.0, 297.0]
    assert ends(np.vstack([rows, [0, 1, 1, 1]]), np.append(right, objective)) == [97.0, 97.0]


def test_every_option_that_writes_figures_or_pictures_says_that_it_is_confidential() -> None:
    silent = [
        f"{name} {option.opts[-1]}"
        for name, command in commands().items()
        for option in command.params
        if {"--json", "--plot", "--deviations"} & set(option.opts)
        and "confidential" not in (option.help or "")
    ]
    assert silent == []


WITH_SUMS = {
    "suppress": ("suppress", "{table}", "--dims", "REGION,ACTIVITY", "--json", "{json}", "--plot", "{plot}"),
    "intervals": ("intervals", "{table}", "--dims", "REGION,ACTIVITY", "--seed", "1", "--json", "{json}"),
    "check": ("suppress", "{table}", "--dims", "REGION,ACTIVITY", "--check", "{pattern}", "--json", "{json}"),
    "protect": (
        "protect",
        "{micro}",
        "--dims",
        "REGION,ACTIVITY",
        "--contributor",
        "WHO",
        "--p",
        "10",
        "--json",
        "{json}",
        "--plot",
        "{plot}",
    ),
    "cta": ("cta", "{jj}", "--json", "{json}", "--plot", "{plot}"),
    "round-counts": (
        "round-counts",
        "{micro}",
        "--dims",
        "REGION,ACTIVITY",
        "--seed",
        "1",
        "--json",
        "{json}",
        "--plot",
        "{plot}",
    ),
    "round-table": (
        "round-table",
        "{table}",
        "--dims",
        "REGION,ACTIVITY",
        "--base",
        "50",
        "--seed",
        "1",
        "--json",
        "{json}",
    ),
}


@pytest.mark.parametrize("name", WITH_SUMS)
def test_a_command_that_tells_a_sum_calls_it_confidential_and_keeps_its_files_to_their_owner(
    tmp_path: Path, name: str
) -> None:
    source = table(tmp_path, FIRST)
    places = {
        "table": source,
        "json": tmp_path / "f.json",
        "plot": tmp_path / "f.svg",
        "pattern": tmp_path / "pattern.csv",
    }
    places |= {"micro": tmp_path / "micro.csv", "jj": tmp_path / "table.jj"}
    places["micro"].write_text(
        "REGION,ACTIVITY,WHO,VALUE\n" + "".join(f"{r},{a},{r}{a}{i},{v}\n" for r, a, i, v in MICRO)
    )
    places["jj"].write_text(JJ, encoding="utf-8")
    assert sdc("suppress", source, "--dims", "REGION,ACTIVITY", "--out", places["pattern"]).code == 0
    ended = sdc(*(each.format(**places) for each in WITH_SUMS[name]))
    assert ended.code == 0, ended.text
    assert re.search(r"confidential: .*sums? over .*hidden", ended.said), ended.said
    for place in (places["json"], places["plot"]):
        if place.exists():
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
            assert str(place) in ended.said.split("confidential:")[1]


def test_what_may_be_published_of_a_pattern_does_not_depend_on_what_it_hides(tmp_path: Path) -> None:
    """The same public part and the same pattern: the confidential figures differ, the public
    table does not.
    """
    public, objectives = [], []
    for number, values in enumerate((FIRST, SECOND)):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = table(folder, values)
        assert sdc("suppress", source, "--dims", "REGION,ACTIVITY", "--json", folder / "f.json").code == 0
        objectives.append(json.loads((folder / "f.json").read_text())["objective"])
        found = api.suppress(
            pd.read_csv(source),
            dims=["REGION", "ACTIVITY"],
            value="VALUE",
            status="STATUS",
            lpl="LPL",
            upl="UPL",
        )
        assert found.loss == objectives[-1]
        told = (found.public.to_csv(index=False), repr(found), str(found.figures))
        public.append([re.sub(r"seconds\W+[0-9.]+", "", text) for text in told])
    assert objectives[0] != objectives[1]
    assert public[0] == public[1]
    assert all(f"{objective:g}" not in text for objective in objectives for text in public[0])
