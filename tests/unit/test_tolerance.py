"""Official tables are rounded cell by cell, so their totals are off. A tolerance takes them: totals within it
are replaced by the sums of the inner cells, and the result says how many were.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdc_tasks as sdc
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.keyed import keyed_table
from sdc_tasks.intake.tables.rows import rows_of
from sdc_tasks.model.layout import TableLayout
from support.desk import in_one_line

# A table in millions that was rounded from thousands, cell by cell. The total of N is 10.8 and not 10.9,
# that of all is 24.9 and not 25.0, the sum of its inner cells.
ROUNDED = """
        C      D      TOTAL
N       5.6    5.3    10.8
S       7.1    7.0    14.1
TOTAL   12.7   12.3   24.9
"""


def frame(drawing: str = ROUNDED) -> pd.DataFrame:
    """A drawing as rows with REGION, BRANCH, VALUE; the cell N.C is primary, by 1."""
    head, *lines = [line.split() for line in drawing.strip().splitlines()]
    rows = [(line[0], code, float(told)) for line in lines for code, told in zip(head, line[1:], strict=True)]
    made = pd.DataFrame(rows, columns=["REGION", "BRANCH", "VALUE"])
    secret = (made["REGION"] == "N") & (made["BRANCH"] == "C")
    return made.assign(SECRET=secret.astype(int), LEVEL=np.where(secret, 1.0, 0.0))


DIMS = ["REGION", "BRANCH"]
OF_A_FRAME: dict[str, Callable[..., object]] = {
    "suppress": lambda df, **more: sdc.suppress(df, DIMS, primary="SECRET", level="LEVEL", **more),
    "audit": lambda df, **more: sdc.audit(
        df.assign(STATUS=np.where(df["SECRET"] == 1, "u", "m")), DIMS, level="LEVEL", **more
    ),
    "adjust": lambda df, **more: sdc.adjust(df, DIMS, primary="SECRET", level="LEVEL", **more),
    "round_table": lambda df, **more: sdc.round_table(df, DIMS, base=5, **more),
}


@pytest.mark.parametrize("function", OF_A_FRAME.values(), ids=OF_A_FRAME.keys())
def test_each_function_takes_a_table_within_the_tolerance_and_says_what_it_replaced(function) -> None:
    with pytest.raises(InvalidInput, match=r"N\.TOTAL is not the sum of its parts.*tolerance=0\.1 or more"):
        function(frame())
    found = function(frame(), tolerance=0.1)
    told = found.table.set_index(DIMS)["VALUE"]
    assert told["N", "TOTAL"] == pytest.approx(10.9)
    assert told["TOTAL", "TOTAL"] == pytest.approx(25.0)
    assert told["S", "TOTAL"] == 14.1
    assert found.figures["totals made consistent"] == "2"
    assert "totals made consistent 2" in repr(found)


def test_a_table_that_adds_up_says_nothing() -> None:
    exact = frame(ROUNDED.replace("10.8", "10.9").replace("24.9", "25.0"))
    assert "totals made consistent" not in sdc.round_table(exact, DIMS, base=5, tolerance=0.1).figures


def test_microdata_have_no_totals_that_could_be_off() -> None:
    firms = pd.DataFrame({"REGION": list("NNS"), "BRANCH": list("CDC"), "VALUE": [90, 4, 30]})
    with pytest.raises(InvalidInput, match=r"microdata have none\. Remedy: leave out tolerance=0\.5"):
        sdc.suppress(firms, DIMS, rules=sdc.Rules(p=10), tolerance=0.5)


def test_a_table_with_its_largest_contributions_takes_it_too() -> None:
    rows = [("N", 10.0, 4, 5.0, 2.0), ("S", 20.0, 4, 8.0, 5.0), ("TOTAL", 30.4, 8, 8.0, 5.0)]
    df = pd.DataFrame(rows, columns=["REGION", "VALUE", "FIRMS", "T1", "T2"])
    asked = {"rules": sdc.Rules(p=10), "count": "FIRMS", "top": ["T1", "T2"]}
    with pytest.raises(InvalidInput, match="tolerance="):
        sdc.primary(df, ["REGION"], **asked)
    found = sdc.primary(df, ["REGION"], **asked, tolerance=0.5)
    assert found.table.set_index("REGION")["VALUE"]["TOTAL"] == 30.0
    assert found.figures["totals made consistent"] == "1"


@pytest.mark.parametrize("wrong", [-1, "0.1", float("nan"), True])
def test_a_tolerance_is_a_number_of_at_least_0(wrong) -> None:
    with pytest.raises(InvalidInput, match="tolerance"):
        sdc.round_table(frame(), DIMS, base=5, tolerance=wrong)


def test_a_total_is_held_against_its_own_parts_and_not_against_what_lies_deeper() -> None:
    """Each of four groups is 0.4 off its parts, and the total is not off the groups: it is 1.6 off the inner
    cells, and within a tolerance of 0.4.
    """
    codes = ["TOTAL", *(f"G{i}" for i in range(4)), *(f"g{i}{j}" for i in range(4) for j in range(3))]
    tree = {code: None if code == "TOTAL" else "TOTAL" if code[0] == "G" else f"G{code[1]}" for code in codes}
    value = {code: 1.4 for code in codes if code[0] == "g"}  # groups are 4.2, printed 4.6
    value |= {code: 4.6 for code in codes if code[0] == "G"} | {"TOTAL": 18.4}
    df = pd.DataFrame({"CODE": codes, "VALUE": [value[code] for code in codes]})
    found = sdc.round_table(df, ["CODE"], base=5, hierarchy={"CODE": tree}, tolerance=0.4)
    assert found.table.set_index("CODE")["VALUE"]["TOTAL"] == pytest.approx(16.8)
    with pytest.raises(InvalidInput, match="is not the sum of its parts"):
        sdc.round_table(df, ["CODE"], base=5, hierarchy={"CODE": tree}, tolerance=0.3)


@given(
    inner=st.lists(st.integers(0, 99_999), min_size=6, max_size=6),
    places=st.sampled_from([0, 1, 2]),
)
def test_every_table_that_was_rounded_cell_by_cell_is_taken(inner: list[int], places: int) -> None:
    """A law: n parts and their total, each rounded by at most half a unit, are off by at most (n + 1)/2
    units. The table that is taken adds up, and its inner cells are as they came.
    """
    true = np.array(inner, dtype=float).reshape(2, 3) / 1000
    whole = np.block(
        [[true, true.sum(1, keepdims=True)], [true.sum(0, keepdims=True), true.sum(keepdims=True)]]
    )
    printed = np.round(whole, places)
    df = pd.DataFrame(
        [
            (r, c, printed[i, j])
            for i, r in enumerate(["a", "b", "_T"])
            for j, c in enumerate(["x", "y", "z", "_T"])
        ],
        columns=["R", "C", "VALUE"],
    )
    tolerance = (3 + 1) / 2 * 10.0**-places
    layout = TableLayout(("R", "C"), total={"": "_T"}, missing="zero", tolerance=tolerance)
    read = keyed_table(rows_of(df, "the frame"), layout)
    taken = dict(zip(read.keys, read.table.a, strict=True))
    for r in "ab":
        for c in "xyz":
            assert taken[r, c] == printed["ab".index(r), "xyz".index(c)]
        assert taken[r, "_T"] == pytest.approx(sum(taken[r, c] for c in "xyz"), abs=1e-9)
    assert taken["_T", "_T"] == pytest.approx(sum(taken[r, c] for r in "ab" for c in "xyz"), abs=1e-9)
    moved = sum(
        abs(taken[key] - printed[("a", "b", "_T").index(key[0]), ("x", "y", "z", "_T").index(key[1])]) > 1e-6
        for key in taken
    )
    assert read.consistent == moved


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        (("suppress", "--primary", "SECRET", "--level", "LEVEL"), "2 totals were off within the tolerance"),
        (("round-table", "--base", "5"), "2 totals were off within the tolerance"),
    ],
)
def test_commands_take_it_and_tell_it(tmp_path: Path, given_: tuple[str, ...], told: str) -> None:
    frame().to_csv(tmp_path / "table.csv", index=False)
    name, *more = given_
    table = (name, str(tmp_path / "table.csv"), "--dims", "REGION,BRANCH", *more)
    code, said = in_one_line(*table)
    assert (code, "--tolerance 0.1 or more" in said) == (2, True), said
    facts, place = tmp_path / "facts.json", tmp_path / "out.csv"
    code, said = in_one_line(*table, "--tolerance", "0.1", "--out", place, "--json", facts)
    assert (code, told in said) == (0, True), said
    assert '"totals_made_consistent": 2' in facts.read_text()
    assert pd.read_csv(place).shape[0] == 9
