"""What small count rounding promises of every table, against sums by plain Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count import (
    CodeTree,
    CountOptions,
    Crossings,
    InnerCells,
    RoundedCells,
    Steps,
    by_formula,
    by_hierarchies,
    by_list,
    by_order,
    dummy_of,
    inner_cells,
    round_counts,
)
from sdc_tasks.methods.rounding.small_count.leverage import told_by_the_publication
from sdc_tasks.methods.rounding.small_count.measures import differences, frequencies, largest, measures
from support.dummy_matrix import matrix
from support.laws import law
from support.oracles.small_counts import Key, Rows, every_crossing, publication

NAMES = ("A", "B", "C")
QUALITIES = ("paper", "fast", "best")
SOON = law(40)


@dataclass(frozen=True)
class Case:
    counts: dict[Key, int]
    base: int
    order: int

    @property
    def cells(self) -> InnerCells:
        return cells_of(self.counts)


def cells_of(counts: dict[Key, int]) -> InnerCells:
    columns = []
    for d in range(len(next(iter(counts)))):
        labels = list(dict.fromkeys(key[d] for key in counts))  # in no order
        columns.append((np.array([labels.index(key[d]) for key in counts], dtype=np.int32), labels))
    return inner_cells(NAMES[: len(columns)], columns, np.array(list(counts.values()), dtype=np.int64))[0]


@st.composite
def cases(draw: st.DrawFn, smallest: int = 1) -> Case:
    keys = st.tuples(
        *(
            st.sampled_from([f"{name.lower()}{i}" for i in range(size)])
            for name, size in zip(NAMES, (4, 5, 3), strict=True)
        )
    )
    counts = st.one_of(st.integers(smallest, 3), st.integers(smallest, 30))
    return Case(
        draw(st.dictionaries(keys, counts, min_size=1, max_size=40)),
        draw(st.integers(2, 6)),
        draw(st.integers(0, 3)),
    )


def rows_of(result: RoundedCells) -> Rows:
    cells = result.dummy.cells
    keys = [tuple(cells.key(i).split(".")) for i in range(len(cells))]
    return list(zip(keys, cells.y.tolist(), result.inner.tolist(), strict=True))


def published_of(result: RoundedCells) -> dict[Key, tuple[int, int]]:
    keys = list(zip(*result.dummy.labels(np.arange(result.dummy.published)), strict=True))
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, zip(result.dummy.z.tolist(), result.published.tolist(), strict=True), strict=True))


def rounded(cells: InnerCells, published: Crossings, **options: Any) -> RoundedCells:
    return round_counts(dummy_of(cells, published), CountOptions(**{"seed": 1, **options}))


@given(case=cases(), quality=st.sampled_from(QUALITIES), seed=st.integers(0, 5))
@SOON
def test_published_cells_are_sums_of_inner_cells_and_none_is_small(
    case: Case, quality: str, seed: int
) -> None:
    result = rounded(case.cells, by_order(case.cells, case.order), base=case.base, quality=quality, seed=seed)
    rows = rows_of(result)
    assert {key: original for key, original, _ in rows} == case.counts
    assert published_of(result) == publication(rows, every_crossing(3, case.order))
    assert not [value for _, value in published_of(result).values() if 0 < value < case.base]
    assert all(r == o or (r % case.base == 0 and abs(r - o) < case.base) for _, o, r in rows)
    assert abs(sum(r - o for _, o, r in rows)) <= case.base / 2


@given(case=cases())
@SOON
def test_every_way_to_state_a_publication_rounds_alike(case: Case) -> None:
    cells = case.cells
    stated = [
        by_order(cells, 3),
        by_list(cells, [NAMES]),
        by_formula(cells, "~A*B*C"),
        by_formula(cells, "~(A+B+C)^3"),
        by_hierarchies(cells, {}),
        by_hierarchies(cells, {name: CodeTree("flat", (("*", "TOTAL"),)) for name in NAMES}),
    ]
    results = [rounded(cells, each, base=case.base) for each in stated]
    assert all(published_of(each) == published_of(results[0]) for each in results)
    some = [
        rounded(cells, each, base=case.base)
        for each in (by_formula(cells, "~(A+B)*C"), by_list(cells, [("A", "C"), ("C", "B")]))
    ]
    assert published_of(some[0]) == published_of(some[1])
    assert set(published_of(some[0])) == set(
        publication(rows_of(some[0]), [(), (0,), (1,), (2,), (0, 2), (1, 2)])
    )


@given(case=cases())
@SOON
def test_hierarchies_are_groups_that_add_up(case: Case) -> None:
    """Codes with several parents: A has two overlapping groups below its total, as countries have
    compositions.
    """
    tree = CodeTree(
        "A",
        (("a0", "low"), ("a[12]", "low"), ("a2", "high"), ("a3", "high"), ("low", "all"), ("high", "all")),
    )
    cells = case.cells
    result = rounded(cells, by_hierarchies(cells, {"A": tree}), base=case.base)
    rows = rows_of(result)
    groups = {"low": {"a0", "a1", "a2"}, "high": {"a2", "a3"}, "all": {"a0", "a1", "a2", "a3"}}
    found = published_of(result)
    for key, values in found.items():
        members = groups.get(key[0], {key[0]})
        sums = [
            (o, r)
            for (a, b, c), o, r in rows
            if a in members and key[1] in (b, "TOTAL") and key[2] in (c, "TOTAL")
        ]
        assert values == (sum(o for o, _ in sums), sum(r for _, r in sums))
        assert not 0 < values[1] < case.base
    present = {key[0] for key in case.counts}
    assert {key[0] for key in found} >= present | {"all"}
    assert {key[0] for key in found} <= present | set(groups)


@given(case=cases(), data=st.data())
@SOON
def test_the_order_of_records_does_not_matter(case: Case, data: st.DataObject) -> None:
    shuffled = cells_of(dict(data.draw(st.permutations(list(case.counts.items())))))
    first, second = (
        rounded(cells, by_order(cells, case.order), base=case.base) for cells in (case.cells, shuffled)
    )
    assert rows_of(first) == rows_of(second)
    assert published_of(first) == published_of(second)


@given(case=cases(), quality=st.sampled_from(QUALITIES))
@SOON
def test_parts_alone_are_rounded_as_in_the_whole(case: Case, quality: str) -> None:
    """Every crossing names A: what holds a0 has nothing to do with what holds a1."""
    formula = "~A:B + A:C - 1"
    together = rounded(case.cells, by_formula(case.cells, formula), base=case.base, quality=quality)
    apart: Rows = []
    for code in sorted({key[0] for key in case.counts}):
        cells = cells_of({key: count for key, count in case.counts.items() if key[0] == code})
        apart += rows_of(rounded(cells, by_formula(cells, formula), base=case.base, quality=quality))
    assert sorted(apart) == sorted(rows_of(together))


@given(case=cases(), largest_small=st.integers(1, 12), quality=st.sampled_from(QUALITIES))
@SOON
def test_up_to_the_largest_value_to_round_only_multiples_are_published(
    case: Case, largest_small: int, quality: str
) -> None:
    result = rounded(
        case.cells, by_order(case.cells, case.order), base=case.base, max_round=largest_small, quality=quality
    )
    assert all(value % case.base == 0 for _, value in published_of(result).values() if value <= largest_small)


@given(case=cases(smallest=0), data=st.data())
@SOON
def test_zeros_are_filled_only_where_asked(case: Case, data: st.DataObject) -> None:
    published = by_order(case.cells, case.order)
    kept = rounded(case.cells, published, base=case.base)
    assert all(r == 0 for _, o, r in rows_of(kept) if o == 0)
    option = data.draw(st.sampled_from(["zero_candidates", "protect_zeros"]))
    filled = rounded(case.cells, published, base=case.base, **{option: True})
    rows = rows_of(filled)
    assert all(r in (0, case.base) for _, o, r in rows if o == 0)
    assert published_of(filled) == publication(rows, every_crossing(3, case.order))
    assert not [value for _, value in published_of(filled).values() if 0 < value < case.base]


@given(case=cases(), data=st.data())
@SOON
def test_forced_cells_are_rounded_and_given_ones_stay(case: Case, data: st.DataObject) -> None:
    cells = case.cells
    dummy = dummy_of(cells, by_order(cells, case.order))
    force = np.array(data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))))
    result = round_counts(dummy, CountOptions(1, base=case.base), force=force)
    assert np.all(result.inner[force] % case.base == 0)
    multiples = np.array(
        data.draw(
            st.lists(
                st.sampled_from([-1, -1, 0, case.base, 4 * case.base]),
                min_size=len(cells),
                max_size=len(cells),
            )
        )
    )
    given_ = round_counts(dummy, CountOptions(1, base=case.base), given=multiples)
    assert np.array_equal(given_.inner[multiples >= 0], multiples[multiples >= 0])
    assert not np.any((given_.published > 0) & (given_.published < case.base))


def test_given_values_that_publish_a_small_count_are_refused() -> None:
    cells = cells_of({("x", "u"): 7, ("y", "u"): 4})
    dummy = dummy_of(cells, by_formula(cells, "~A"))
    with pytest.raises(InvalidInput, match=r"x\.TOTAL: .* fixed beforehand"):
        round_counts(dummy, CountOptions(1, base=5), given=np.array([3, -1]))


@given(case=cases(), quality=st.sampled_from(QUALITIES))
@SOON
def test_the_same_seed_gives_the_same_table(case: Case, quality: str) -> None:
    first, second = (
        rounded(case.cells, by_order(case.cells, 2), base=case.base, quality=quality, seed=7)
        for _ in range(2)
    )
    assert np.array_equal(first.inner, second.inner)


@given(
    case=cases(),
    steps=st.sampled_from([Steps(2, 1, 2), Steps(5, 3, 5), Steps(0, 0, 4), Steps(3, 0, 0)]),
    batch=st.integers(1, 9),
)
@SOON
def test_step_schedules_and_batches_keep_every_promise(case: Case, steps: Steps, batch: int) -> None:
    published = by_order(case.cells, case.order)
    result = rounded(case.cells, published, base=case.base, quality="paper", steps=steps, batch=batch)
    assert not np.any((result.published > 0) & (result.published < case.base))
    assert abs(int(result.inner.sum() - case.cells.y.sum())) <= case.base / 2


@given(case=cases(), order=st.integers(0, 3))
@SOON
def test_leverage_is_one_exactly_where_the_published_cells_tell_the_inner_cell(
    case: Case, order: int
) -> None:
    """Against the rank of X: e_i is a combination of the columns iff it raises no rank."""
    cells = case.cells
    dummy = dummy_of(cells, by_order(cells, order))
    X = matrix(dummy).toarray()
    rank = np.linalg.matrix_rank(X)
    expected = [np.linalg.matrix_rank(np.column_stack([X, unit])) == rank for unit in np.eye(len(cells))]
    assert told_by_the_publication(dummy, seed=1).tolist() == expected
    result = round_counts(dummy, CountOptions(1, base=case.base, leverage=True))
    assert not np.any(np.array(expected) & (result.inner > 0) & (result.inner < case.base))


@given(case=cases(), extra=st.integers(0, 2))
@SOON
def test_refinement_is_no_worse_than_the_paper_where_it_rounds_the_same_cells(case: Case, extra: int) -> None:
    """Everything forced: all qualities round all cells, and only the search differs. One
    batch, so that the start is the same.
    """
    cells = case.cells
    dummy = dummy_of(cells, by_order(cells, case.order))
    force = np.ones(len(cells), dtype=bool)
    off = [
        int(
            np.sum(
                (
                    round_counts(
                        dummy, CountOptions(1, base=case.base, quality=quality, batch=1000), force=force
                    ).published
                    - dummy.z
                )
                ** 2
            )
        )
        for quality in ("paper", "best")
    ]
    assert off[1] <= off[0] + case.base**2 * len(dummy.parent)  # the total may cost one move at the end


@given(case=cases())
@SOON
def test_measures_and_tables_count_what_is_there(case: Case) -> None:
    result = rounded(case.cells, by_order(case.cells, 2), base=case.base)
    rows = rows_of(result)
    published = list(publication(rows, every_crossing(3, 2)).values())
    found = measures(result.dummy.z, result.published)
    off = [abs(r - o) for o, r in published]
    assert found.cells == len(off)
    assert found.maximum == max(off)
    assert found.mean == pytest.approx(sum(off) / len(off))
    assert found.rms == pytest.approx((sum(e * e for e in off) / len(off)) ** 0.5)
    lost = sum((o**0.5 - r**0.5) ** 2 for o, r in published) / 2
    assert found.utility == pytest.approx(1 - lost**0.5 / sum(o for o, _ in published) ** 0.5)
    table = frequencies(result)
    for name, values in (
        ("published, original", [o for o, _ in published]),
        ("inner, rounded", [r for _, _, r in rows]),
    ):
        counts = dict(zip(table.columns, dict(table.rows)[name], strict=True))
        assert counts["all"] == len(values) == sum(counts.values()) - counts["all"]
        for v in range(case.base + 1):
            assert counts[str(v)] == values.count(v)
    moved = differences(result)
    for step, counted in moved.rows:
        if step in ("0", "1", "2"):
            for value in range(1, case.base):
                at = moved.columns.index(f"inner {value}")
                assert counted[at] == sum(1 for _, o, r in rows if o == value and abs(r - o) == int(step))
    whole = sum(
        counted[i]
        for _, counted in moved.rows
        for i, name in enumerate(moved.columns)
        if name.startswith("published")
    )
    assert whole == len(off)
    top = largest(result, 3)
    assert [abs(each.difference) for each in top] == sorted((e for e in off if e), reverse=True)[:3]


def test_options_that_make_no_sense_are_refused() -> None:
    for change in ({"base": 1}, {"max_round": 0}, {"batch": 0}):
        with pytest.raises(InvalidInput, match="Remedy"):
            replace(CountOptions(1), **change)
    for steps in ((1, 1, 1), (-1, 0, 1), (2, 3, 1)):
        with pytest.raises(InvalidInput, match="Remedy"):
            Steps(*steps)
