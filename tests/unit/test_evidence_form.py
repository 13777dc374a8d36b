"""Evidence has the form in which an audit writes it, or it is refused: a forgery for each rule, which breaks
that rule alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdc_tasks.judge.release.form import require_form, weaker_of
from sdc_tasks.model.results import Evidence, Multipliers, Weaker

PRIMARIES = np.array([3, 5, 8])


def whole(*numbers: object) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def tables(*rows: dict[int, float], width: int = 4) -> sp.csr_array:
    indices = [column for row in rows for column in row]
    data = [value for row in rows for value in row.values()]
    start = np.cumsum([0, *map(len, rows)])
    return sp.csr_array((np.array(data), whole(*indices), start), shape=(len(rows), width))


PROOFS = Multipliers(
    profile=whole(0, 1),
    cell=whole(3, 8),
    side=whole(-1, 0),
    knower=whole(-1, 1),
    split=whole(2, 1),
    reach=np.array([0.0, 2.5]),
    start=whole(0, 2, 4),
    row=whole(0, 4, 1, 1),
    value=np.array([1.0, -2.0, 0.5, 0.25]),
)
HONEST = Evidence(
    witness=tables({0: 1.0, 2: -1.0}, {1: 2.0}),
    profile=whole(0, 1),
    lot=whole(-1, 4),
    broken=PROOFS,
    cut=PROOFS,
    whole=tables({3: 1.0}),
    whole_profile=whole(1),
    whole_lot=whole(0),
    whole_cut=np.array([[0, 3, -1, -1, 0], [1, 8, 0, 1, 7]]),
    program=tables({0: 1.0}, {3: -1.0}, {1: 0.5}),
    program_centre=whole(-1, 0, 1),
    weaker=Weaker(whole(0, 1), whole(0, 1, 3), whole(0, 0, 1), whole(0, 2, 3), whole(3, 8, 5)),
)


def accepted(evidence: Evidence, **other: Any) -> None:
    judged = np.array([[True, True, True], [True, False, True]])
    told = {
        "primaries": PRIMARIES,
        "integral": np.array([True, False, True]),
        "widths": [4, 5],
        "rows": [5, 5],
        "attackers": [0, 2],
        "judged": judged,
    }
    require_form(evidence, **(told | other))


def put(place: int, value: object) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        changed = array.copy()
        changed[place] = value
        return changed

    return change


def as_floats(array: np.ndarray) -> np.ndarray:
    return array.astype(float)


def deeper(array: np.ndarray) -> np.ndarray:
    return array[None]


def longer(array: np.ndarray) -> np.ndarray:
    return np.append(array, array[-1:], axis=0)


Change = Callable[[Any], Any]
OF_TABLES: list[tuple[str, Change, str]] = [
    ("profile", as_floats, "whole numbers"),
    ("profile", deeper, "whole numbers"),
    ("lot", as_floats, "whole numbers"),
    ("lot", deeper, "whole numbers"),
    ("profile", longer, "different lengths"),
    ("lot", longer, "different lengths"),
    ("profile", put(0, -1), "of a profile that is not audited"),
    ("profile", put(1, 2), "of a profile that is not audited"),
    ("lot", put(0, -2), "of no lot"),
    ("witness", lambda _: tables({0: np.nan}, {1: 2.0}), "no number"),
    ("witness", lambda _: tables({0: 1e31}, {1: 2.0}), "no number"),
    ("witness", lambda _: tables({0: 1.0, 4: 1.0}, {1: 2.0}, width=5), "of other deliveries"),
    ("witness", lambda told: torn(told, indptr=whole(0, 2, 3, 3)), "different lengths"),
    ("witness", lambda told: torn(told, indptr=whole(0, 2, 1)), "torn rows"),
    ("witness", lambda told: torn(told, indptr=whole(1, 2, 3)), "torn rows"),
    ("witness", lambda told: torn(told, indices=whole(0, 0, 1)), "a cell twice"),
    ("witness", lambda told: torn(told, indices=whole(0, -1, 1)), "of other deliveries"),
    ("witness", lambda told: torn(told, data=np.array([1, 2, 3])), "no number"),
    ("program", lambda _: tables({0: 1.0}, {4: -1.0}, {1: 0.5}, width=5), "of other deliveries"),
    ("program_centre", as_floats, "whole numbers"),
    ("program_centre", deeper, "whole numbers"),
    ("program_centre", put(0, -2), "of no table before it"),
    ("program_centre", put(1, 1), "of no table before it"),
]
OF_WHOLE_CUTS: list[tuple[Change, str]] = [
    (as_floats, "five whole numbers"),
    (lambda cuts: cuts[:, :4], "five whole numbers"),
    (lambda cuts: cuts.ravel(), "five whole numbers"),
    (lambda cuts: cuts[::-1], "not in order"),
    (lambda cuts: cuts[[0, 1, 1]] + np.array([[0], [0], [1]]) * np.array([0, 0, 0, 0, 1]), "twice"),
    (put(0, [2, 3, -1, -1, 0]), "not in order"),
    (put(1, [2, 8, 0, 1, 7]), "of a profile that is not audited"),
    (put(0, [-1, 3, -1, -1, 0]), "of a profile that is not audited"),
    (put(1, [1, 7, 0, 1, 7]), "no primary"),
    (put(1, [1, 8, 2, 1, 7]), "of no side"),
    (put(1, [1, 8, 0, 2, 7]), "whom nobody knows"),
    (put(0, [0, 3, -1, -2, 0]), "whom nobody knows"),
    (put(0, [0, 3, -1, 0, 0]), "whom nobody knows"),
    (put(0, [1, 5, -1, -1, 0]), "not judged for it"),
    (put(0, [0, 5, -1, -1, 0]), "not counted"),
    (put(0, [0, 3, -1, -1, -1]), "a reach below 0"),
]
OF_PROOFS: list[tuple[str, Change, str]] = [
    *(
        (name, change, "whole numbers")
        for name in ("profile", "cell", "side", "knower", "split", "start", "row")
        for change in (as_floats, deeper)
    ),
    *(
        (name, change, "no number")
        for name in ("value", "reach")
        for change in (deeper, put(0, np.nan), put(1, -1e31), lambda array: array.astype(int))
    ),
    *((name, longer, "different lengths") for name in ("profile", "side", "knower", "split", "reach")),
    ("start", longer, "torn proofs"),
    ("start", put(0, 1), "torn proofs"),
    ("start", put(1, 5), "torn proofs"),
    ("start", put(2, 3), "torn proofs"),
    ("value", longer, "torn proofs"),
    ("profile", put(0, 2), "of a profile that is not audited"),
    ("profile", put(0, -1), "of a profile that is not audited"),
    ("cell", put(0, 4), "no primary"),
    ("cell", put(1, 5), "not judged for it"),
    ("side", put(1, 2), "of no side"),
    ("knower", put(0, 0), "whom nobody knows"),
    ("knower", put(1, 2), "whom nobody knows"),
    ("knower", put(1, -2), "whom nobody knows"),
    ("split", put(0, 1), "torn halves"),
    ("split", put(1, 3), "torn halves"),
    ("split", put(1, -1), "torn halves"),
    ("row", put(0, 5), "a row that no relation has"),
    ("row", put(0, -1), "a row that no relation has"),
    ("row", put(1, 0), "a relation twice"),
]
OF_WEAKER: list[tuple[str, Change, str]] = [
    *(
        (name, change, "whole numbers")
        for name in ("profile", "lack", "piece", "judged", "cell")
        for change in (as_floats, deeper)
    ),
    ("lack", longer, "torn"),
    ("judged", longer, "torn"),
    ("lack", lambda _: whole(0, 3), "torn"),
    ("judged", lambda _: whole(0, 1, 2, 3), "torn"),
    ("lack", put(0, 1), "torn"),
    ("lack", put(1, 0), "torn"),
    ("lack", put(2, 2), "torn"),
    ("judged", put(2, 4), "torn"),
    ("profile", put(0, -1), "of a profile that is not audited"),
    ("profile", put(1, 2), "of a profile that is not audited"),
    ("cell", put(2, 4), "no primary"),
    ("cell", put(1, 3), "out of order"),
    ("piece", put(2, 0), "weaker: "),
]


def torn(told: sp.csr_array, **parts: np.ndarray) -> sp.csr_array:
    """A matrix with other arrays, which nobody has looked at."""
    forged = told.copy()
    for name, array in parts.items():
        setattr(forged, name, array)
    return forged


def test_the_honest_one_is_accepted() -> None:
    accepted(HONEST)
    accepted(Evidence())
    found, judged = weaker_of(HONEST.weaker, ("external", "coalition"), PRIMARIES)
    assert [(each.profile, each.lacks) for each in found] == [("external", (0,)), ("coalition", (0, 1))]
    assert judged.tolist() == [[True, False, True], [False, True, False]]


@pytest.mark.parametrize(("name", "change", "why"), OF_TABLES)
def test_a_table_of_another_form_is_refused(name: str, change: Change, why: str) -> None:
    with pytest.raises(ValueError, match=rf"no evidence \(.*{why}"):
        accepted(replace(HONEST, **{name: change(getattr(HONEST, name))}))


@pytest.mark.parametrize(("change", "why"), OF_WHOLE_CUTS)
def test_a_cut_by_whole_numbers_of_another_form_is_refused(change: Change, why: str) -> None:
    with pytest.raises(ValueError, match=rf"no evidence \(whole_cut: .*{why}"):
        accepted(replace(HONEST, whole_cut=change(HONEST.whole_cut)))


@pytest.mark.parametrize("kind", ["broken", "cut"])
@pytest.mark.parametrize(("name", "change", "why"), OF_PROOFS)
def test_a_proof_of_another_form_is_refused(kind: str, name: str, change: Change, why: str) -> None:
    with pytest.raises(ValueError, match=rf"no evidence \({kind}: .*{why}"):
        accepted(replace(HONEST, **{kind: replace(PROOFS, **{name: change(getattr(PROOFS, name))})}))


@pytest.mark.parametrize(("name", "change", "why"), OF_WEAKER)
def test_a_weaker_attacker_of_another_form_is_refused(name: str, change: Change, why: str) -> None:
    told = replace(HONEST.weaker, **{name: change(getattr(HONEST.weaker, name))})
    with pytest.raises(ValueError, match=rf"no evidence \(weaker: .*{why.removeprefix('weaker: ')}"):
        weaker_of(told, ("external", "coalition"), PRIMARIES)


def test_an_adversary_twice_is_refused() -> None:
    told = Weaker(whole(0, 0), whole(0, 1, 2), whole(1, 1), whole(0, 1, 2), whole(3, 8))
    with pytest.raises(ValueError, match="an adversary twice"):
        weaker_of(told, ("external",), PRIMARIES)
