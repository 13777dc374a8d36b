"""Tables whose codes add up in several ways, worked by hand and drawn from what users ask for. The attackers
are linear programs over relations that are written down again (`support.oracles.groupings`).

A high-tech sum beside a tree, in one country:

    T = C + J        C = C26 + C27     J = J61 + J62        HT = C26 + J62
    100 = 60 + 40   60 = 50 + 10     40 = 15 + 25         75 = 50 + 25

C26 is secret, down and up by 5. In the tree, C27 alone hides it (cost 10): C26 then is 0 … 60. But HT less
J62 is 50. Together C27 and J61, J62 (cost 50) hide it, or C27 and HT (cost 85).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import audit, promised
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.oracles.groupings import Sums, reach

TREE: Sums = {"T": ["C", "J"], "C": ["C26", "C27"], "J": ["J61", "J62"]}
HIGH_TECH: Sums = {"HT": ["C26", "J62"]}
VALUE = {"T": 100, "C": 60, "C26": 50, "C27": 10, "J": 40, "J61": 15, "J62": 25, "HT": 75}


def parents(sums: Sums) -> dict[str, str | None]:
    """A tree as the API takes it: each code's parent."""
    above = {part: total for total, parts in sums.items() for part in parts}
    return {code: above.get(code) for code in dict.fromkeys([*sums, *above])}


def hidden_in(table: pd.DataFrame, dims: Sequence[str]) -> set[tuple[str, ...]]:
    marked = table[table["STATUS"].isin(["u", "m"])]
    return set(map(tuple, marked[list(dims)].to_numpy().tolist()))


def one_line(codes: Sequence[str]) -> pd.DataFrame:
    rows = [
        {"NACE": code, "VALUE": VALUE[code], "STATUS": "u" if code == "C26" else "s", "LPL": 5, "UPL": 5}
        for code in codes
    ]
    return pd.DataFrame(rows)


# --- a high-tech sum ----------------------------------------------------------------------------------------


def test_the_tree_alone_gives_the_secret_away_and_both_do_not() -> None:
    alone = sdc.suppress(one_line([*VALUE][:-1]), ["NACE"], hierarchy={"NACE": parents(TREE)})
    assert (hidden_in(alone.table, ["NACE"]), alone.loss) == ({("C26",), ("C27",)}, 10)
    both = sdc.suppress(
        one_line([*VALUE]), ["NACE"], hierarchy={"NACE": [parents(TREE), parents(HIGH_TECH)]}, gap=0.0
    )
    assert (hidden_in(both.table, ["NACE"]), both.loss) == ({("C26",), ("C27",), ("J61",), ("J62",)}, 50)

    value = {(code, "_T"): float(number) for code, number in VALUE.items()}
    for result, wanted in ((alone, (50, 50)), (both, (35, 60))):
        hidden = {(code, "_T") for (code,) in hidden_in(result.table, ["NACE"])}
        assert reach([TREE, HIGH_TECH], {}, value, hidden)["C26", "_T"] == pytest.approx(wanted)


def test_an_audit_knows_all_trees() -> None:
    frame = one_line([*VALUE]).assign(STATUS=["s", "s", "u", "m", "s", "s", "s", "s"])
    trees = [parents(TREE), parents(HIGH_TECH)]
    assert not sdc.audit(frame, dims=["NACE"], hierarchy={"NACE": trees}).safe
    without = frame[frame["NACE"] != "HT"]
    assert sdc.audit(without, dims=["NACE"], hierarchy={"NACE": parents(TREE)}).safe


@pytest.mark.parametrize("method", ["hitas", "hypercube", "cubes"])
def test_methods_that_need_one_tree_say_so(method: str) -> None:
    trees = {"NACE": [parents(TREE), parents(HIGH_TECH)]}
    with pytest.raises(InvalidInput, match=f"{method}: this method needs .* one tree of codes"):
        sdc.suppress(one_line([*VALUE]), ["NACE"], hierarchy=trees, method=method)


# --- the labour cost survey: five groupings of sections that do not nest ------------------------------------

SECTIONS = [
    "B",
    "C",
    "D",
    "E",
    "F",
    "G",
    "H",
    "I",
    "J",
    "K",
    "L",
    "M",
    "N",
    "O",
    "P",
    "Q",
    "R",
    "S95",
    "S_REST",
]
GROUPINGS: list[Sums] = [
    {
        "B-S": ["B-F", "G-N", "O-S"],
        "B-F": list("BCDEF"),
        "G-N": list("GHIJKLMN"),
        "O-S": [*"OPQR", "S95", "S_REST"],
    },
    {"B-S": ["B-N", "O-S"], "B-N": ["B-E", "F", "G-N"], "B-E": list("BCDE")},
    {"B-N_S95": ["B-N", "S95"]},
    {"B-S_X_O": ["B-N", *"PQR", "S95", "S_REST"], "G-J": list("GHIJ"), "K-N": list("KLMN")},
    {"C_F": ["C", "F"], "P-S": ["P-R", "S95", "S_REST"], "P-R": list("PQR")},
]
CLASSES: Sums = {"_T": ["S", "L"]}


def survey(seed: int) -> tuple[dict[tuple[str, str], float], set[tuple[str, str]]]:
    """Sections × size classes with all totals, and some secret cells."""
    rng = np.random.default_rng(seed)
    value = {(code, size): float(rng.integers(5, 400)) for code in SECTIONS for size in ("S", "L")}
    secret = {key for key in value if rng.random() < 0.12}

    def add(code: str, size: str) -> float:
        if (code, size) not in value:
            ways = [(code, CLASSES[size])] if size in CLASSES else []
            parts = next((each[code] for each in GROUPINGS if code in each), None)
            value[code, size] = (
                sum(add(part, size) for part in parts)
                if parts
                else sum(add(code, part) for _, parts in ways for part in parts)
            )
        return value[code, size]

    for code in [*SECTIONS, *(total for each in GROUPINGS for total in each)]:
        for size in ("_T", "S", "L"):
            add(code, size)
    return value, secret


def frame_of(value: Mapping[tuple[str, str], float], secret: set[tuple[str, str]]) -> pd.DataFrame:
    rows = [
        {
            "NACE": code,
            "SIZE": size,
            "VALUE": number,
            "STATUS": "u" if (code, size) in secret else "s",
            "LEVEL": 0.1 * number,
        }
        for (code, size), number in value.items()
    ]
    return pd.DataFrame(rows)


def leaking(
    value: Mapping[tuple[str, str], float], secret: set[tuple[str, str]], hidden: set[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The secret cells that all groupings together tell more closely than 10 %."""
    found = reach(GROUPINGS, CLASSES, value, hidden)
    return [
        key
        for key in sorted(secret)
        if value[key] - found[key][0] < 0.1 * value[key] - 1e-6
        or found[key][1] - value[key] < 0.1 * value[key] - 1e-6
    ]


def test_groupings_that_do_not_nest_are_protected_together_and_not_one_by_one() -> None:
    gave_away = 0
    for seed in range(4):
        value, secret = survey(seed)
        trees = [parents(each) for each in GROUPINGS]
        asked = {"value": "VALUE", "level": "LEVEL", "method": "cover"}
        both = sdc.suppress(frame_of(value, secret), ["NACE", "SIZE"], hierarchy={"NACE": trees}, **asked)
        hidden = hidden_in(both.table, ["NACE", "SIZE"])
        assert secret <= hidden
        assert leaking(value, secret, hidden) == []
        first = {key: number for key, number in value.items() if key[0] in trees[0]}
        alone = sdc.suppress(frame_of(first, secret), ["NACE", "SIZE"], hierarchy={"NACE": trees[0]}, **asked)
        gave_away += len(leaking(value, secret, hidden_in(alone.table, ["NACE", "SIZE"])))
    assert gave_away > 0, "a law that ignoring the other groupings breaks"


# --- a release ----------------------------------------------------------------------------------------------


def release(sums: tuple[tuple[str, tuple[str, ...]], ...]) -> ProtectionProblem:
    """AT hides C26 (secret), C27, J61, J62 and HT; BE publishes everything."""
    codes, above = tuple(VALUE), {part: total for total, parts in TREE.items() for part in parts}
    tree = Hierarchy("NACE", codes, tuple(above.get(code) for code in codes), sums)
    space = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), (tree,))
    at = np.array([float(number) for number in VALUE.values()])
    a, n = np.concatenate([at, 2 * at, 3 * at]), len(codes)
    closed = np.isin(codes, ["C26", "C27", "J61", "J62", "HT"])
    none, level = np.zeros(3 * n), np.where(np.arange(3 * n) == codes.index("C26"), 5.0, 0.0)
    return ProtectionProblem(
        space=space,
        a=a,
        lb=none,
        ub=np.full(3 * n, np.inf),
        lpl=level,
        upl=level,
        spl=none,
        public=np.concatenate([~closed, np.ones(n, dtype=bool), np.zeros(n, dtype=bool)]),
        primary=level > 0,
        deliveries=("drawn",),
    )


@pytest.mark.parametrize(("sums", "safe"), [((), True), ((("HT", ("C26", "J62")),), False)])
def test_a_release_is_attacked_with_every_sum(
    sums: tuple[tuple[str, tuple[str, ...]], ...], safe: bool
) -> None:
    """EU C26 and C27 are withheld, EU HT and J62 are exact: less what BE publishes, HT − J62 of AT is 50."""
    problem = release(sums)
    cells = np.flatnonzero(problem.aggregate)
    withheld = np.isin(np.array(list(VALUE)), ["C26", "C27"])
    publication = Publication(
        cells, np.where(withheld, np.nan, problem.a[cells]), np.where(withheld, np.inf, 0.0)
    )
    assert audit(problem, publication, promised(problem, ("external",))).passed is safe
