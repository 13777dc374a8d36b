"""Who is judged by nobody? What the judge says without looking at each attacker, against all of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.judge.release.owed.everyone import Judged, left_out
from sdc_tasks.model.problem import PriorReleases
from sdc_tasks.model.table import CellSpace, Hierarchy
from support.laws import law

Pieces = frozenset[int]
CELL, MOST = 0, 4


def subsets(count: int) -> list[Pieces]:
    return [
        frozenset(each)
        for each in chain.from_iterable(combinations(range(count), k) for k in range(count + 1))
    ]


def with_pieces(count: int) -> SimpleNamespace:
    """A table of one country, and a row of earlier versions that each piece tells."""
    earlier = PriorReleases(
        rows=sp.csr_array(np.ones((1, 2))),
        row_lower=np.zeros(1),
        row_upper=np.ones(1),
        rounded=np.zeros(1, dtype=bool),
        assumed=np.zeros(1, dtype=bool),
        pieces=tuple(f"version {i}" for i in range(count)),
        told_by=np.ones((1, count), dtype=bool),
    )
    two = Hierarchy("ACTIVITY", ("X", "Y"), (None, None))
    return SimpleNamespace(earlier=earlier, space=CellSpace(("AT",), (), ("TURNOVER",), (two,)))


@st.composite
def owed(draw: st.DrawFn) -> Mapping[Pieces, np.ndarray]:
    """By the pieces that somebody lacks, what is owed to him: the less he has, the more."""
    each = subsets(draw(st.integers(2, MOST)))
    own = {lacks: np.array(draw(st.tuples(*[st.integers(0, 3)] * 2)), dtype=float) for lacks in each}
    return {lacks: np.max([own[fewer] for fewer in each if fewer <= lacks], axis=0) for lacks in each}


def covered(told: Mapping[Pieces, np.ndarray], judged: set[Pieces], promise: np.ndarray) -> bool:
    count = max(map(len, told))
    asked = [Judged("external", frozenset(), {CELL: told[frozenset(range(count))]})]
    asked += [Judged("vintage", lacks, {CELL: told[lacks]}) for lacks in sorted(judged, key=sorted)]
    found = left_out(with_pieces(count), np.array([CELL]), promise[:, None], asked)  # type: ignore[arg-type]
    assert [each for each in found if each[0] == "external"] == []
    return found == []


@law(400)
@given(st.data())
def test_who_is_said_to_be_judged_is_judged_with_no_less_than_he_is_owed(data: st.DataObject) -> None:
    told = data.draw(owed())
    everything = max(told, key=len)
    judged = data.draw(st.sets(st.sampled_from(list(told)))) | {frozenset()}
    if not covered(told, judged, told[everything]):
        return
    for lacks, level in told.items():
        judges = [each for each in {*judged, everything} if each <= lacks and (told[each] >= level).all()]
        assert judges, f"who lacks {set(lacks)} is owed {level}"


@law(50)
@given(owed())
def test_where_each_of_them_is_judged_nobody_is_left_out(told: Mapping[Pieces, np.ndarray]) -> None:
    """Who lacks all is the public: it is judged as such."""
    everything = max(told, key=len)
    assert covered(told, set(told) - {everything}, told[everything])


def test_who_has_all_is_enough_only_where_he_is_owed_what_was_promised() -> None:
    nothing, promise = frozenset[int](), np.array([2.0, 2.0])
    told = dict.fromkeys(subsets(2), promise)
    assert covered(told, {nothing}, promise)
    assert not covered(told | {nothing: np.array([1.0, 2.0])}, {nothing}, promise)
    assert not covered(told, {frozenset({0})}, promise), "and he must be judged"
