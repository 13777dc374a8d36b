"""Rules on contributions against a second program: record by record, with lists and sorting, no arrays."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.intake.tables.microdata import ContributorColumns, problem_by_rules
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.methods.contributions import ContributionRules
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.model.layout import TableLayout
from sdc_tasks.model.table import Hierarchy
from support.laws import law
from support.oracles.suppression import unprotected

TREE = {"T": None, "a": "T", "b": "T", "a1": "a", "a2": "a"}
LEAVES = (("a1", "a2", "b"), ("x", "y"))
ABOVE = {
    "a1": ("a1", "a", "T"),
    "a2": ("a2", "a", "T"),
    "b": ("b", "T"),
    "x": ("x", "TOTAL"),
    "y": ("y", "TOTAL"),
}
Record = dict[str, object]


@st.composite
def microdata(draw: st.DrawFn) -> list[Record]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    low = draw(st.sampled_from([0, -20]))
    return [
        {
            "A": rng.choice(LEAVES[0]),
            "B": rng.choice(LEAVES[1]),
            "VALUE": int(rng.integers(low, 60)),
            "FIRM": f"f{rng.integers(9)}",
            "GROUP": rng.choice(["", "g1", "g2"]),
            "WAIVED": int(rng.random() < 0.3),
            "ASKED": int(rng.choice([0, 0, 1, 2])),
            "WEIGHT": float(rng.choice([1.0, 1.5, 3.0])),
        }
        for _ in range(draw(st.integers(1, 25)))
    ]


def whose(record: Record, number: int, by: tuple[str, ...]) -> str:
    if "GROUP" in by and record["GROUP"]:
        return f"group {record['GROUP']}"
    return f"firm {record['FIRM']}" if "FIRM" in by else f"record {number}"


def by_hand(
    records: list[Record], by: tuple[str, ...], weighted: bool, rules: ContributionRules, waivers: bool
) -> dict[tuple[str, str], float]:
    """The level of every cell that has one."""
    found, usual = {}, _usual(records)
    for key in product(("T", "a", "b", "a1", "a2"), ("TOTAL", "x", "y")):
        mine: dict[str, list[Record]] = {}
        for number, record in enumerate(records):
            if key[0] in ABOVE[str(record["A"])] and key[1] in ABOVE[str(record["B"])]:
                mine.setdefault(whose(record, number, by), []).append(record)
        people = []  # (size, waived, asked for c, weight)
        for each in mine.values():
            shares = [
                rules.requests[int(record["ASKED"]) - 1]
                for record in each
                if record["ASKED"] and rules.requests
            ]
            waived = waivers and all(record["WAIVED"] for record in each) and not shares
            people.append(
                (
                    abs(sum(record["VALUE"] for record in each)),
                    waived,
                    min(shares, default=None),
                    each[0]["WEIGHT"] if weighted else 1,
                )
            )
        X = sum(size * weight for size, _, _, weight in people)
        units = sorted(
            ((size, waived) for size, waived, _, weight in people if size for _ in range(math.floor(weight))),
            reverse=True,
        )
        asked = [0.0]
        guarded = [i for i, (_, waived) in enumerate(units) if not waived]
        if rules.p is not None and guarded:
            others = units[: guarded[0]] + units[guarded[0] + 1 :]
            asked.append(
                rules.p / rules.q * units[guarded[0]][0]
                - (X - units[guarded[0]][0] - (others[0][0] if others else 0))
            )
        for n, k in rules.nk:
            if units and not all(waived for _, waived in units[:n]):
                asked.append(sum(size for size, _ in units[:n]) * 100 / k - X)
        if (
            rules.minimum is not None
            and len(people) < rules.minimum
            and not all(waived for _, waived, _, _ in people)
        ):
            asked.append(rules.range / 100 * (X or usual))
        asked += [size * 100 / share - X for size, _, share, _ in people if share]
        if max(asked) > 1e-9 * X:
            found[key] = max(asked)
    return found


def _usual(records: list[Record]) -> float:
    """What the range of a cell of zeros is a percentage of."""
    sizes = [abs(int(record["VALUE"])) for record in records if record["VALUE"]]
    return float(np.median(sizes)) if sizes else 1.0


RULES = (
    ContributionRules(p=20.0),
    ContributionRules(p=10.0, q=50.0),
    ContributionRules(nk=((1, 60.0), (3, 90.0))),
    ContributionRules(minimum=3),
    ContributionRules(p=15.0, nk=((2, 80.0),), minimum=4, range=20.0, requests=(50.0, 70.0)),
)


@given(
    microdata(),
    st.sampled_from(RULES),
    st.sampled_from([(), ("FIRM",), ("FIRM", "GROUP"), ("WEIGHT",)]),
    st.booleans(),
)
@law(60)
def test_levels_are_those_of_a_second_program(records, rules, by, waivers):
    columns = ContributorColumns(
        "FIRM" if "FIRM" in by else None, "GROUP" if "GROUP" in by else None, "WAIVED" if waivers else None,
        "ASKED" if rules.requests else None, "WEIGHT" if "WEIGHT" in by else None,
    )  # fmt: skip
    found = protected(records, rules, columns)
    problem = found.table.problem
    expected = by_hand(records, by, "WEIGHT" in by, rules, waivers)
    assert {
        key: level for key, level in zip(found.table.keys, problem.lpl, strict=True) if level > 0
    } == pytest.approx(expected, rel=1e-9)
    assert np.array_equal(problem.lpl, problem.upl)
    assert {found.table.keys[p] for p in problem.primaries} == set(expected)
    totals = dict.fromkeys(found.table.keys, 0.0)
    for record in records:
        for key in product(ABOVE[str(record["A"])], ABOVE[str(record["B"])]):
            totals[key] += float(record["VALUE"]) * (float(record["WEIGHT"]) if "WEIGHT" in by else 1.0)
    assert dict(zip(found.table.keys, problem.a, strict=True)) == pytest.approx(totals)
    for i, key in enumerate(found.table.keys):
        mine = [
            (whose(record, number, by), record) for number, record in enumerate(records)
            if key[0] in ABOVE[str(record["A"])] and key[1] in ABOVE[str(record["B"])]
        ]  # fmt: skip
        behind, above = {name for name, _ in mine}, {name for name, record in mine if record["VALUE"]}
        kept = any(
            not (waivers and record["WAIVED"]) or (record["ASKED"] and rules.requests) for _, record in mine
        )
        few = rules.minimum is not None and len(behind) < rules.minimum and kept
        alone = len(behind) == 1 or (len(above) == 1 and not few)
        assert problem.lone[i] == (alone and bool(problem.primary[i]))
        if alone and not problem.primary[i] and problem.a[i]:
            assert problem.fixed[i], "nobody is protected by what a single respondent knows"


@given(microdata(), st.sampled_from(RULES[:3]))
@law(12)
def test_patterns_withstand_all_respondents_but_whom_a_cell_protects(records, rules):
    problem = protected(records, rules, ContributorColumns("FIRM", "GROUP")).table.problem
    try:
        found = suppress(problem, PatternOptions("exact"))
    except Unprotectable:
        assert unprotected(problem, ~problem.fixed)
        return
    assert unprotected(problem, found.pattern) == []


def test_a_cell_of_two_firms_in_two_parts_is_protected():
    """a = a1 + a2, one firm each: the smaller of both attacks a, not both."""
    firms = [
        ("a1", "x", 30),
        ("a2", "x", 20),
        ("a1", "y", 9),
        ("a1", "y", 8),
        ("a2", "y", 9),
        ("a2", "y", 8),
        ("b", "x", 40),
        ("b", "y", 50),
    ]
    records = [{"A": a, "B": b, "VALUE": value, "FIRM": f"f{i}"} for i, (a, b, value) in enumerate(firms)]
    found = protected(records, ContributionRules(p=10.0), ContributorColumns("FIRM"))
    problem = found.table.problem
    cell = found.table.keys.index(("a", "x"))
    assert problem.primary[cell]
    assert not problem.lone[cell]
    pattern = suppress(problem, PatternOptions("exact")).pattern
    assert unprotected(problem, pattern) == []
    assert cell in unprotected(replace(problem, guarded=None), pattern), "both together know it"


def protected(records: list[Record], rules: ContributionRules, columns: ContributorColumns):
    header = list(records[0])
    rows = TextRows("drawn", header, [[str(record[name]) for name in header] for record in records])
    tree = Hierarchy("A", tuple(TREE), tuple(TREE.values()))
    flat = Hierarchy("B", ("TOTAL", "x", "y"), (None, "TOTAL", "TOTAL"))
    return problem_by_rules(
        rows, TableLayout(("A", "B"), "VALUE", {}, {"A": (tree,), "B": (flat,)}), rules, columns
    )


def test_no_rule_is_no_rule() -> None:
    with pytest.raises(InvalidInput, match=r"no rule says.*Remedy"):
        ContributionRules()
    for wrong in (
        {"p": 0.0},
        {"p": 20.0, "q": 10.0},
        {"nk": ((0, 70.0),)},
        {"nk": ((1, 100.0),)},
        {"minimum": 0},
        {"requests": (120.0,)},
    ):
        with pytest.raises(InvalidInput, match=r"Remedy: correct the rule"):
            ContributionRules(**wrong)
