"""Laws of tables whose codes add up in several ways: what all trees tell together is what is protected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import sdc_tasks as sdc
from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack import audit, baseline
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy, added_up, inside, joined
from support.laws import law
from support.oracles.attack import Draw, shares
from support.oracles.groupings import Key, Sums, reach

SIZES: Sums = {"_T": ["S", "L"]}


@dataclass(frozen=True)
class Grouped:
    """Trees over the same inner codes, the value of each cell, and the secret ones."""

    trees: list[Sums]
    value: dict[Key, float]
    secret: set[Key]

    def frame(self, trees: int) -> pd.DataFrame:
        """The cells whose codes the first trees have."""
        known = {code for tree in self.trees[:trees] for total in tree for code in (total, *tree[total])}
        rows = [
            (code, size, number, "u" if (code, size) in self.secret else "s", 0.2 * number)
            for (code, size), number in self.value.items()
            if code in known
        ]
        return pd.DataFrame(rows, columns=["CODE", "SIZE", "VALUE", "STATUS", "LEVEL"])

    def leaking(self, hidden: set[Key]) -> list[Key]:
        found = reach(self.trees, SIZES, self.value, hidden)
        short = []
        for key in sorted(self.secret):
            (low, high), value = found[key], self.value[key]
            if value - low < 0.2 * value - 1e-6 or high - value < 0.2 * value - 1e-6:
                short.append(key)
        return short


@st.composite
def grouped(draw: st.DrawFn) -> Grouped:
    """Four to six inner codes, two trees that divide them, and a special aggregate."""
    inner = [f"c{i}" for i in range(draw(st.integers(4, 6)))]
    trees: list[Sums] = []
    for name in ("p", "q"):
        group = draw(st.lists(st.integers(0, 1), min_size=len(inner), max_size=len(inner)))
        parts = {f"{name}{k}": [code for code, g in zip(inner, group, strict=True) if g == k] for k in (0, 1)}
        parts = {total: codes for total, codes in parts.items() if codes}
        trees.append({"T": [*parts], **parts})
    some = draw(st.lists(st.sampled_from(inner), min_size=2, max_size=3, unique=True))
    trees.append({"special": some})
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    value = {(code, size): float(rng.integers(1, 100)) for code in inner for size in ("S", "L")}
    secret = {key for key in value if rng.random() < 0.25}
    for code in inner:
        value[code, "_T"] = value[code, "S"] + value[code, "L"]
    for tree in trees:
        for total in reversed(tree):
            for size in ("_T", "S", "L"):
                value[total, size] = sum(value[part, size] for part in tree[total])
    return Grouped(trees, value, secret)


def parents(sums: Sums) -> dict[str, str | None]:
    above = {part: total for total, parts in sums.items() for part in parts}
    return {code: above.get(code) for code in dict.fromkeys([*sums, *above])}


def pattern(table: Grouped, trees: int) -> set[Key] | None:
    told = [parents(tree) for tree in table.trees[:trees]]
    try:
        found = sdc.suppress(
            table.frame(trees), ["CODE", "SIZE"], hierarchy={"CODE": told}, level="LEVEL", seconds=None
        ).table
    except Unprotectable:
        return None
    marked = found[found["STATUS"].isin(["u", "m"])]
    return set(map(tuple, marked[["CODE", "SIZE"]].to_numpy().tolist()))


@given(grouped())
@law(15)
def test_a_pattern_withstands_all_trees_together(table: Grouped) -> None:
    hidden = pattern(table, len(table.trees))
    assert hidden is not None, "without bounds and fixed cells everything can be hidden"
    assert table.secret <= hidden
    assert table.leaking(hidden) == []


def test_a_pattern_of_one_tree_does_not() -> None:
    """Of one draw after the other, the first tree alone gives a secret away soon."""
    rng = np.random.default_rng(5)
    inner = [f"c{i}" for i in range(5)]
    trees: list[Sums] = [
        {"T": ["p0", "p1"], "p0": inner[:2], "p1": inner[2:]},
        {"T": ["q0", "q1"], "q0": [inner[0], *inner[3:]], "q1": inner[1:3]},
        {"special": [inner[0], inner[4]]},
    ]
    gave_away, held = 0, 0
    for _ in range(6):
        value = {(code, size): float(rng.integers(1, 100)) for code in inner for size in ("S", "L")}
        secret = {("c0", "S")}
        for code in inner:
            value[code, "_T"] = value[code, "S"] + value[code, "L"]
        for tree in trees:
            for total in reversed(tree):
                for size in ("_T", "S", "L"):
                    value[total, size] = sum(value[part, size] for part in tree[total])
        table = Grouped(trees, value, secret)
        first, every = pattern(table, 1), pattern(table, 3)
        assert first is not None
        assert every is not None
        gave_away += bool(table.leaking(first))
        held += not table.leaking(every)
    assert gave_away > 0
    assert held == 6


@given(grouped())
@law(40)
def test_all_that_is_added_up_adds_up_in_every_tree(table: Grouped) -> None:
    trees = [Hierarchy("CODE", tuple(parents(tree)), tuple(parents(tree).values())) for tree in table.trees]
    both = joined(trees)
    assert not both.rivals
    told = np.array([table.value[code, "_T"] for code in both.codes])
    assert np.array_equal(added_up(np.where(inside([both]), told, 0.0), [both]), told)
    for total, parts in both.families:
        assert told[total] == told[list(parts)].sum()
        assert all(both.depth[part] > both.depth[total] for part in parts)


@given(grouped(), st.integers(0, 2**32 - 1))
@law(15)
def test_firms_behind_a_special_aggregate_are_those_of_its_codes(table: Grouped, seed: int) -> None:
    """Primaries by rules of microdata in several trees, against the same microdata recoded to one tree."""
    rng = np.random.default_rng(seed)
    inner = sorted({code for code, size in table.value if code.startswith("c")})
    firms = pd.DataFrame(
        {
            "CODE": [*inner, *rng.choice(inner, 30 - len(inner))],
            "VALUE": rng.integers(1, 500, 30).astype(float),
            "FIRM": rng.integers(0, 12, 30).astype(str),
        }
    )
    rules = sdc.Rules(p=20)
    who = sdc.Contributors(contributor="FIRM")
    trees = [parents(tree) for tree in table.trees]
    every = sdc.primary(firms, ["CODE"], rules=rules, contributors=who, hierarchy={"CODE": trees}).table
    got = set(every.loc[every["STATUS"] == "u", "CODE"])
    for tree in table.trees:
        for total, parts in tree.items():
            below = {part for part in parts if part in inner} | {
                leaf for part in parts for leaf in tree.get(part, ()) if leaf in inner
            }
            recoded = firms.assign(CODE=np.where(firms["CODE"].isin(below), total, "rest"))
            one = sdc.primary(recoded, ["CODE"], rules=rules, contributors=who).table
            alone = set(one.loc[one["STATUS"] == "u", "CODE"])
            assert (total in got) == (total in alone)


@given(st.integers(0, 2**32 - 1))
@law(40)
def test_rival_trees_are_attacked_as_two_cold_programs_do(seed: int) -> None:
    """Regions and degrees of urbanisation of the same countries: other inner codes, one total."""
    rng = np.random.default_rng(seed)
    codes, parent = ("T", "N", "S", "URB", "TOWN", "RUR"), (None, "T", "T", None, None, None)
    tree = Hierarchy("GEO", codes, parent, (("T", ("URB", "TOWN", "RUR")),))
    space = CellSpace(("AT", "BE", "CY"), (Aggregate("EU", ("AT", "BE", "CY")),), ("V",), (tree,))
    areas = []
    for _ in space.countries:
        first, second, total = int(rng.integers(1, 60)), int(rng.integers(1, 40)), 100
        areas.append([total, first, total - first, second, 50 - second, 50])
    a = np.array([*areas, np.sum(areas, axis=0)], dtype=float).ravel()
    assert not (space.relations @ a).any()
    national = np.arange(space.size) < space.first_aggregate
    hidden = national & (rng.random(space.size) < 0.6)
    primary = hidden & (a > 0) & (rng.random(space.size) < 0.5)
    none, level = np.zeros(space.size), np.round(0.2 * a, 2) * primary
    problem = ProtectionProblem(
        space=space,
        a=a,
        lb=none,
        ub=np.full(space.size, np.inf),
        lpl=level,
        upl=level,
        spl=none,
        public=national & ~hidden,
        primary=primary,
        deliveries=("drawn",),
    )
    publication = Draw(problem, rng).publication()
    report = audit(problem, publication, baseline(problem, ("external",))[0])
    told = np.column_stack([report.down, report.up, report.slide])
    np.testing.assert_allclose(told, shares(problem, publication), atol=1.1e-4)
