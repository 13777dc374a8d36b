"""The comparison of methods: its judge on tables that can be judged by hand, and that its page says what its
records say.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.compare_document import DOCS, KINDS, NO_METHODS, OTHERS, PICTURE, RECORDS, dearer, drawn, page
from benchmarks.compare_judge import Judge, Judged
from benchmarks.compare_methods import METHODS
from benchmarks.compare_tables import VALUE, Case, cases

AGAINST_ALL = ("suppression", "intervals", "controlled", "quadratic")
AGAINST_OUTSIDERS = ("CTA",)


def case(drawing: str) -> Case:
    """A row for each region, a column for each branch; the values of a cell's respondents joined by +."""
    head, *lines = [line.split() for line in drawing.strip().splitlines()]
    rows = [
        (region, branch, float(value))
        for region, *cells in lines
        for branch, told in zip(head, cells, strict=True)
        for value in told.split("+")
    ]
    return Case(
        "drawn", "drawn", ("REGION", "BRANCH"), pd.DataFrame(rows, columns=["REGION", "BRANCH", VALUE])
    )


def judged(judge: Judge, blank: str) -> Judged:
    """With these cells blank, such as N.A."""
    hidden = {tuple(each.split(".")) for each in blank.split()}
    assert hidden <= set(judge.keys)
    return judge.judge(
        judge.published(
            {
                key: (0.0, None, None) if key in hidden else (a, a, a)
                for key, a in zip(judge.keys, judge.a, strict=True)
            }
        )
    )


def broken(found: Judged) -> tuple[int, int, int, int]:
    return found.outsider, found.one, found.two, found.all_lone


TWO_LONE = """
    A         B          C          D
N   90+9      80         70         20+20+20
S   20+20+20  30+30+30   30+30+30   20+20+20
"""


def test_a_blank_alone_is_added_up_by_anybody():
    judge = Judge(case("A B\nN 90+9 20+20+20\nS 20+20+20 30+30+30"))
    assert [key for key, primary in zip(judge.keys, judge.primary, strict=True) if primary] == [("N", "A")]
    found = judged(judge, "N.A")
    assert (found.requirements, *broken(found)) == (2, 2, 2, 2, 2)
    assert found.hidden == 0, "a primary cell is no loss"


def test_a_square_hides_from_everybody_where_nobody_is_alone():
    judge = Judge(case("A B\nN 90+9 20+20+20\nS 20+20+20 30+30+30"))
    found = judged(judge, "N.A N.B S.A S.B")
    assert broken(found) == (0, 0, 0, 0)
    assert found.hidden == pytest.approx(3 / 8)
    assert found.value_hidden == pytest.approx((60 + 60 + 90) / (4 * (99 + 60 + 60 + 90) - 99))


def test_who_is_alone_in_a_corner_of_a_square_adds_up_the_rest():
    judge = Judge(case("A B\nN 90+9 20+20+20\nS 20+20+20 100"))
    assert broken(judged(judge, "N.A N.B S.A S.B")) == (0, 2, 2, 2), "his own cell is no secret to him"


def test_two_who_are_alone_know_more_than_each_of_them():
    """N.A + N.B + N.C is known, and so is each column: what B and C tell each other leaves N.A."""
    judge = Judge(case(TWO_LONE))
    found = judged(judge, "N.A N.B N.C S.A S.B S.C")
    assert (found.outsider, found.one) == (0, 0)
    assert found.two == found.all_lone > 0


def test_a_total_that_another_table_prints_gives_away_what_one_hides():
    """N + S, A + B, and the same respondents by class: X are those of A, which no table tells."""
    rows = case("A B\nN 90+9 20+20+20\nS 20+20+20 30+30+30").records
    rows["CLASS"] = rows["BRANCH"].map({"A": "X", "B": "Y"})
    both = Case(
        "two",
        "drawn",
        ("REGION", "BRANCH", "CLASS"),
        rows,
        linked=(("REGION", "BRANCH"), ("REGION", "CLASS")),
    )
    judge = Judge(both)
    assert int(judge.told.sum()) == 9 + 9 - 3
    of_first = "N.A.Total N.Total.Total S.A.Total S.Total.Total"
    assert judged(judge, of_first).outsider > 0
    assert broken(judged(judge, f"{of_first} N.Total.X S.Total.X")) == (0, 0, 0, 0)


def test_a_rounding_interval_is_what_a_reader_knows():
    judge = Judge(case("A B\nN 90+9 20+20+20\nS 20+20+20 30+30+30"))

    def rounded(base: float) -> Judged:
        shown = np.round(judge.a / base) * base
        told = {key: (x - base / 2, x + base / 2, x) for key, x in zip(judge.keys, shown, strict=True)}
        return judge.judge(judge.published(told))

    assert rounded(1.0).outsider == 2
    assert rounded(50.0).outsider == 0
    assert rounded(50.0).false_told == 0
    assert rounded(50.0).lost == pytest.approx(
        float(np.mean(np.abs(np.round(judge.a / 50) * 50 / judge.a - 1)))
    )


def test_what_was_moved_is_judged_by_its_distance():
    judge = Judge(case("A B\nN 90+9 20+20+20\nS 20+20+20 30+30+30"))
    at = judge.keys.index(("N", "A"))
    for far, breaks in ((0.5, 2), (1.5, 0)):
        shown = judge.a.copy()
        shown[at] += far * judge.above[at]
        told = {key: (0.0, None, x) for key, x in zip(judge.keys, shown, strict=True)}
        assert judge.judge(judge.published(told, moved=True)).outsider == breaks


def test_an_interval_without_the_value_is_noticed():
    judge = Judge(case("A B\nN 90+9 20+20+20\nS 20+20+20 30+30+30"))
    told = {key: (a + 1, a + 2, None) for key, a in zip(judge.keys, judge.a, strict=True)}
    assert judge.judge(judge.published(told)).false_told == len(judge.keys)


KEPT = json.loads(RECORDS.read_text(encoding="utf-8"))


def test_the_page_says_what_the_records_say():
    assert (DOCS / "comparison.md").read_text(encoding="utf-8") == page(KEPT["records"], KEPT["runs"])
    assert (DOCS / "img" / PICTURE).read_bytes() == drawn(KEPT["records"])


def test_every_family_that_was_measured_is_whole():
    """Each of its tables with every method; most methods answer somewhere."""
    for family in KEPT["runs"]:
        mine = [(each["table"], each["method"]) for each in KEPT["records"] if each["family"] == family]
        assert sorted(mine) == sorted((of.name, method) for of in cases(family) for method in KINDS)
    answering = {each["method"] for each in KEPT["records"] if "requirements" in each}
    assert len(answering - set(NO_METHODS)) >= 14
    assert answering & set(OTHERS)


def test_ours_keep_their_promises_on_every_table():
    for each in (each for each in KEPT["records"] if "requirements" in each):
        if each["method"].startswith(AGAINST_OUTSIDERS + AGAINST_ALL):
            assert (each["outsider"], each["false_told"]) == (0, 0), each
        if each["method"].startswith(AGAINST_ALL):
            assert each["all_lone"] == 0, each


def test_what_others_do_better_is_named():
    for table, other, *_ in dearer(KEPT["records"]):
        assert f"| {table} | *{other}* |" in page(KEPT["records"], KEPT["runs"])


@pytest.mark.parametrize("table", ["deep-1", "sparse-6"])
def test_least_squares_end_though_one_cell_is_a_neighbour_of_all_others(table):
    """Who was tried has half the chance: such a cell had none left, then nobody had, and drawing failed."""
    judge = Judge(next(each for each in cases() if each.name == table))
    found = judge.judge(judge.published(METHODS["CTA, L2"](judge), moved=True))
    assert found.outsider == 0
