"""No contributor estimates another one too closely: every ordered pair of every cell, and of sums of
hidden cells, after every method.

The attackers (support/oracles/contributors.py) read the records themselves. 2 000 tables like these
were judged once with every method.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdc_tasks as sdc
from sdc_tasks.errors import Unprotectable
from sdc_tasks.intake.tables.microdata import ContributorColumns, problem_by_rules
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.methods.contributions import ContributionRules
from sdc_tasks.methods.suppression.names import METHODS
from sdc_tasks.methods.suppression.pattern.sums import verify_with_sums
from sdc_tasks.model.layout import TableLayout
from support.laws import law
from support.oracles.contributors import TOTAL, Contributors, Key, Record

P = st.sampled_from([5.0, 10.0, 15.0, 30.0])


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """A few firms of unlike sizes in two or three rows and two to four columns; some firms
    stand in many cells, some waived.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns, firms = int(rng.integers(2, 4)), int(rng.integers(2, 5)), int(rng.integers(3, 9))
    often = rng.random(firms) + 0.1
    return [
        Record(
            f"r{rng.integers(rows)}",
            f"c{rng.integers(columns)}",
            f"f{rng.choice(firms, p=often / often.sum())}",
            float(np.ceil(np.exp(rng.normal(3, 1.2)))),
            bool(rng.random() < 0.05),
        )
        for _ in range(int(rng.integers(8, 30)))
    ]


def frame(drawn: list[Record]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"R": r.row, "C": r.column, "FIRM": r.firm, "VALUE": r.value, "WAIVED": int(r.waived)}
            for r in drawn
        ]
    )


def pattern(drawn: list[Record], method: str = "auto", **rules: float) -> dict[Key, bool]:
    found = sdc.suppress(
        frame(drawn),
        ["R", "C"],
        rules=sdc.Rules(**rules),
        contributors=sdc.Contributors("FIRM", waiver="WAIVED"),
        total=TOTAL,
        method=method,
    ).table
    return {
        (row, column): status in "um"
        for row, column, status in zip(found["R"], found["C"], found["STATUS"], strict=True)
    }


@pytest.mark.parametrize("method", METHODS)
@law(40)
@given(drawn=records(), p=P)
def test_no_contributor_comes_closer_to_another_one_than_the_rule_says(method, drawn, p):
    who = Contributors(drawn)
    try:
        hidden = pattern(drawn, method, p=p)
    except Unprotectable:
        everything = {key: who.values[who.place[key]] != 0 for key in who.keys}
        waived = {
            key
            for key in who.keys
            if who.inside.get(key) and all((key, firm) in who.waived for firm in who.inside[key])
        }
        assert (
            waived
            or who.breaches(everything, p)
            or [b for s in who.sums(everything) for b in who.of(s, everything, p)]
        )
        return
    assert who.breaches(hidden, p) == []
    assert [breach for cells in who.sums(hidden) for breach in who.of(cells, hidden, p)] == []


# --- by hand ------------------------------------------------------------------------------------------------


def grid(cells: dict[Key, dict[str, float]]) -> list[Record]:
    return [Record(*key, firm, value) for key, mine in cells.items() for firm, value in mine.items()]


FILL = {("r3", column): {f"{column}{i}": 50.0 for i in range(6)} for column in ("c1", "c2", "c3")}
FILL |= {(row, "c3"): {f"{row}{i}": 50.0 for i in range(6)} for row in ("r1", "r2")}
SECOND = grid(
    {
        ("r1", "c1"): {"F": 90, "G": 10},
        ("r1", "c2"): {"F": 70},
        ("r2", "c1"): {"F": 60},
        ("r2", "c2"): {"F": 80},
        **FILL,
    }
)


@pytest.mark.parametrize("method", METHODS)
def test_the_second_of_a_cell_is_kept_from_the_first(method):
    """F has 90 beside G's 10, and is alone in the three other cells of the square:
    hidden alone, they tell him the 10.
    """
    who = Contributors(SECOND)
    square = {key: key in {("r1", "c1"), ("r1", "c2"), ("r2", "c1"), ("r2", "c2")} for key in who.keys}
    assert {(breach.attacker, breach.target) for breach in who.breaches(square, 10)} == {("F", "G")}
    hidden = pattern(SECOND, method, p=10.0)
    assert all(hidden[key] for key in square if square[key])
    assert who.breaches(hidden, 10) == []


def test_the_same_with_a_waiver_of_the_first():
    """F gave up his protection, not that of G."""
    waived = [Record(r.row, r.column, r.firm, r.value, r.firm == "F") for r in SECOND]
    assert Contributors(waived).breaches(pattern(waived, p=10.0), 10) == []


@pytest.mark.parametrize("method", ["auto", "cover", "cubes", "hitas"])
def test_a_firm_in_three_hidden_cells_is_not_told_by_their_sum(method):
    """900, 700 and 500 of one firm in a row, others with 205 in these cells: as far as the open total tells
    the 2 305, the next firm, with 60 of them, knows the 2 100 within 6.9 %.
    """
    firm = {
        ("r1", "c1"): {"F": 900, "a": 60},
        ("r1", "c2"): {"F": 700, "b": 70},
        ("r1", "c3"): {"F": 500, "c": 75},
    }
    others = {
        (row, column): {f"{row}{column}{i}": 400.0 for i in range(5)}
        for row in ("r2", "r3")
        for column in ("c1", "c2", "c3", "c4")
    }
    drawn = grid({**firm, ("r1", "c4"): {f"d{i}": 100.0 for i in range(6)}, **others})
    who, three = Contributors(drawn), [("r1", "c1"), ("r1", "c2"), ("r1", "c3")]
    alone = {key: key[0] in {"r1", "r2"} and key[1] in {"c1", "c2", "c3"} for key in who.keys}
    assert who.breaches(alone, 15) == []
    assert ("a", "F") in {(breach.attacker, breach.target) for breach in who.of(three, alone, 15)}
    hidden = pattern(drawn, method, p=15.0)
    assert [breach for cells in who.sums(hidden) for breach in who.of(cells, hidden, 15)] == []


ZEROS = grid(
    {
        ("r1", "c1"): {"Z": 0},
        ("r1", "c2"): {"A": 30, "B": 0},
        ("r2", "c1"): {"C": 20, "D": 20, "E": 30, "H": 40},
        **FILL,
    }
)


@pytest.mark.parametrize("method", METHODS)
def test_who_reports_nothing_is_a_contributor(method):
    """Z alone in a cell, and B beside A: the cell of zeros is hidden, A does not learn B's 0, and nobody
    learns Z's.
    """
    drawn = [*ZEROS, *grid({("r2", "c2"): {f"k{i}": 40.0 for i in range(5)}})]
    found = sdc.primary(
        frame(drawn),
        ["R", "C"],
        rules=sdc.Rules(minimum=3),
        contributors=sdc.Contributors("FIRM"),
        total=TOTAL,
    ).table
    counted = found.set_index(["R", "C"])
    assert counted.loc[("r1", "c1"), ["STATUS", "COUNT"]].tolist() == ["u", 1]
    assert counted.loc[("r1", "c1"), "UPL"] == pytest.approx(5), (
        "10 % of the median contribution of the table, 50"
    )
    assert counted.loc[("r1", "c2"), ["STATUS", "COUNT"]].tolist() == ["u", 2]
    hidden, who = pattern(drawn, method, minimum=3), Contributors(drawn)
    assert who.reach(hidden, [("r1", "c1")], None, 1) >= 5 * (1 - 1e-6)
    assert who.reach(hidden, [("r1", "c2")], "A", 1) >= 5 * (1 - 1e-6)


def test_a_table_whose_largest_contributions_are_zeros_is_valid():
    cells = pd.DataFrame(
        [
            {"R": row, "VALUE": value, "COUNT": count, "TOP1": one, "TOP2": two}
            for row, value, count, one, two in [
                ("a", 0, 1, 0, 0),
                ("b", 40, 3, 40, 0),
                ("c", 90, 6, 20, 20),
                ("d", 95, 7, 20, 20),
            ]
        ]
        + [{"R": "T", "VALUE": 225, "COUNT": 17, "TOP1": 40, "TOP2": 20}]
    )
    found = sdc.primary(
        cells, ["R"], rules=sdc.Rules(p=10, minimum=3), total="T", count="COUNT", top=["TOP1", "TOP2"]
    ).table
    status = dict(zip(found["R"], found["STATUS"], strict=True))
    assert status == {"a": "u", "b": "u", "c": "s", "d": "s", "T": "s"}
    upl = dict(zip(found["R"], found["UPL"], strict=True))
    assert upl["a"] == pytest.approx(0.1 * np.median([40 / 3, 15, 95 / 7, 225 / 17]))


def test_the_judge_of_sums_knows_every_pair_of_three_cells():
    """What the program calls short among pairs of hidden cells of a relation, the oracle breaks, and the
    reverse.
    """
    drawn = grid(
        {("r1", f"c{i}"): {"F": 900 - 100 * i, f"g{i}": 60 + i} for i in range(3)}
        | {("r1", "c3"): {f"h{i}": 90 for i in range(9)}}
    )
    rows = [[r.row, r.column, r.firm, str(r.value)] for r in drawn]
    wanted = TableLayout(("R", "C"), total={"R": TOTAL, "C": TOTAL})
    read = TextRows("drawn", ["R", "C", "FIRM", "VALUE"], rows, "line", 2)
    problem = problem_by_rules(read, wanted, ContributionRules(p=15.0), ContributorColumns("FIRM")).table
    who = Contributors(drawn)
    for blank in combinations(["c0", "c1", "c2"], 2):
        hidden = {key: key[1] in blank and key[0] == "r1" for key in who.keys}
        broken = who.of([("r1", column) for column in blank], hidden, 15)
        _, short = verify_with_sums(problem.problem, np.array([hidden[key] for key in problem.keys]))
        assert bool(broken) == bool(len(short))
