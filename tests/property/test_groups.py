"""Indicators that no relation links are decided apart: side by side or one after the other, with others or
alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.assemble import BY_GROUP, Decision, assemble, assemble_kept
from sdc_tasks.methods.attack import baseline
from sdc_tasks.methods.bases.comparison import ALONE, RULES
from sdc_tasks.methods.bases.rules import AUDIT, GROWN, LEAST
from sdc_tasks.methods.indicator_blocks import groups_of, restrict
from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
from sdc_tasks.model.results import Adjustment, CandidateWitnesses, Outcome, Publication, Rung
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy, linked
from support.laws import law
from support.oracles.attack import releases
from support.oracles.drawn import drawn_domain, quiet

FEW = law(20)
TWO_SIZES = Hierarchy("SIZECLASS", ("TOTAL", "S"), (None, "TOTAL"))


def test_relations_link_indicators_also_through_others():
    codes = ("A", "B", "C", "D", "E")
    assert linked(codes, ()) == (("A",), ("B",), ("C",), ("D",), ("E",))
    assert linked(codes, [("D", ("A", "B")), ("B", ("C",))]) == (("A", "B", "C", "D"), ("E",))


@FEW
@given(releases(most=6), st.sampled_from([0, 10**6]))
def test_each_group_is_decided_as_if_it_were_alone(drawn, grown_from):
    """Two copies of a release as two indicators, the second one ten times as large."""
    one = drawn.problem
    assume(len(one.space.indicators) == 1)
    whole = twice(one)
    domain = drawn_domain(grown_from=grown_from)
    requirements, _ = baseline(whole, ("external",))
    kept, apart = dict[str, object](), list[Decision]()
    both = pipeline.choose_bases(whole, requirements, Adjustment(), domain, quiet, kept.__setitem__)
    for group, indicators in reversed(list(enumerate(whole.space.groups))):
        own = dict[str, object]()
        found = pipeline.choose_bases(
            whole, requirements, Adjustment(), domain, quiet, own.__setitem__, group=group
        )
        apart.insert(0, Decision(indicators, found, own))
        part = restrict(whole, indicators)
        alone = pipeline.choose_bases(
            part.problem, part.requirements(requirements), Adjustment(), domain, quiet
        )
        assert part.publication(both).digest == alone.digest
    assert (
        assemble(whole.space, [(each.indicators, each.publication) for each in apart]).digest == both.digest
    )
    assert told(assemble_kept(whole.space, apart)) == told(kept)
    report = pipeline.audit(whole, both, requirements, domain, tried=kept[pipeline.TABLES])
    assert report.passed


def twice(one: ProtectionProblem) -> ProtectionProblem:
    space = replace(one.space, indicators=("TURNOVER", "WAGES"))

    def both(name: str, factor: float) -> np.ndarray:
        array = getattr(one, name).reshape(len(space.areas), 1, -1)
        return np.concatenate([array, array * factor if array.dtype == float else array], axis=1).ravel()

    names = ("a", "lb", "ub", "lpl", "upl", "spl", "public", "primary", "known")
    return ProtectionProblem(space, **{name: both(name, 10.0) for name in names}, deliveries=one.deliveries)


def told(kept: dict[str, object]) -> dict[str, object]:
    """What is kept, by bytes."""
    return {
        name: item.digest
        if isinstance(item, Publication)
        else item.rungs
        if isinstance(item, Adjustment)
        else by_bytes(item)
        for name, item in kept.items()
    }


def by_bytes(tables: object) -> tuple[bytes, ...]:
    assert isinstance(tables, CandidateWitnesses)
    return tuple(each.tobytes() for each in (tables.start, tables.column, tables.value))


# --- which indicators are decided together ------------------------------------------------------------------


def test_what_an_earlier_version_linked_is_decided_together():
    """Its domain said B = C + D. An earlier value of D is no cell any more; A and E have rows of their own.
    Where D is rounded as a whole table, it cannot be decided together with the others.
    """
    space = space_of("A", "B", "C", "D", "E")
    n, zero, no = space.size, np.zeros(space.size), np.zeros(space.size, dtype=bool)
    rows = np.zeros((3, n + 1))
    rows[0, [0, 1]], rows[1, [2, 4]], rows[1, n], rows[2, [8, 9]] = 1, 1, -1, 1
    told = {name: np.zeros(3) for name in ("row_lower", "row_upper")} | {
        name: np.zeros(3, dtype=bool) for name in ("rounded", "assumed")
    }
    gone = {
        "lower": np.zeros(1),
        "upper": np.ones(1),
        "area": np.zeros(1, dtype=int),
        "code": np.array([6]),
        "integral": np.zeros(1, dtype=bool),
    }
    before = PriorReleases(rows=sp.csr_array(rows), **told, **gone)
    problem = ProtectionProblem(
        space, zero, zero, zero + np.inf, zero, zero, zero, no, no, ("drawn",), earlier=before
    )
    apart = [(code,) for code in space.indicators]
    assert groups_of(replace(problem, earlier=PriorReleases()), apart, ()) == (
        ("A",),
        ("B",),
        ("C",),
        ("D",),
        ("E",),
    )
    assert groups_of(problem, apart, ()) == (("A",), ("B", "C", "D"), ("E",))
    assert groups_of(problem, apart, ("A",)) == groups_of(problem, apart, ())
    with pytest.raises(
        InvalidInput, match="indicator D: rounding, but an earlier version of the period links it"
    ):
        groups_of(problem, apart, ("D",))


def test_bases_that_withstand_who_has_the_program_are_chosen_for_all_indicators_together():
    domain = drawn_domain(rule_aware=True)
    assert drawn_domain().groups == (("TURNOVER",), ("WAGES",))
    assert domain.groups == (("TURNOVER", "WAGES"),)


# --- the comparison, by hand --------------------------------------------------------------------------------


def space_of(*indicators: str) -> CellSpace:
    return CellSpace(("Q",), (Aggregate("P", ("Q",)),), indicators, (TWO_SIZES,))


def rounded(value: float) -> Publication:
    """Four aggregate cells, each published as this value with base 1."""
    return Publication(np.arange(4, 8), np.full(4, value), np.ones(4))


def rung(rule: str, loss: float, bound: float | None, chosen: bool = False, unprotected: int = 0) -> Rung:
    return Rung(
        rule, Outcome.FEASIBLE, loss, bound, None, 0.0, "repaired", chosen=chosen, unprotected=unprotected
    )


def decision(indicator: str, value: float, rungs: list[Rung], **others: Publication) -> Decision:
    return Decision((indicator,), rounded(value), {RULES: Adjustment(rungs=tuple(rungs)), **others})


def test_where_groups_take_different_rules_each_rule_is_told_with_the_rest_as_it_was_decided():
    first = decision("A", 1, [rung(AUDIT, 8, 4), rung(LEAST, 6, 4, chosen=True)], **{AUDIT: rounded(2)})
    second = decision("B", 3, [rung(AUDIT, 5, 5, chosen=True), rung(LEAST, 7, 5)], **{LEAST: rounded(4)})
    found = assemble_kept(space_of("A", "B"), [first, second])
    assert [(each.method, each.objective, each.bound, each.chosen) for each in found[RULES].rungs] == [
        (AUDIT, 13, 9, False), (LEAST, 13, 9, False), (BY_GROUP, 11, 9, True),
    ]  # fmt: skip
    assert found[AUDIT].value.tolist() == [2, 2, 3, 3]
    assert found[LEAST].value.tolist() == [1, 1, 4, 4]


def test_a_rule_that_all_take_is_the_one_that_was_taken():
    """What the CTA rule alone would break counts; a group without a bound leaves none for the whole."""
    first = decision(
        "A", 1, [rung(ALONE, 5, None, unprotected=3), rung(AUDIT, 6, 4, chosen=True)], **{ALONE: rounded(9)}
    )
    second = decision("B", 3, [rung(AUDIT, 5, None, chosen=True)])
    found = assemble_kept(space_of("A", "B"), [first, second])
    assert [
        (each.method, each.objective, each.bound, each.chosen, each.unprotected)
        for each in found[RULES].rungs
    ] == [
        (ALONE, 10, None, False, 3),
        (AUDIT, 11, None, True, 0),
    ]
    assert found[ALONE].value.tolist() == [9, 9, 3, 3]


def test_where_no_group_knows_the_rule_of_another_they_are_told_together():
    """One is grown from tables, the other one is not: what each rule alone gives is what is published."""
    first = decision("A", 1, [rung(GROWN, 8, None, chosen=True)])
    second = decision("B", 3, [rung(AUDIT, 5, 4), rung(LEAST, 4, 4, chosen=True)], **{AUDIT: rounded(2)})
    found = assemble_kept(space_of("A", "B"), [first, second])
    assert [(each.method, each.objective, each.bound, each.chosen) for each in found[RULES].rungs] == [
        (AUDIT, 13, None, False), (BY_GROUP, 12, None, True),
    ]  # fmt: skip
    assert found[AUDIT].value.tolist() == [1, 1, 2, 2]
    assert set(found) == {AUDIT, RULES}


def test_a_group_that_is_rounded_as_a_whole_table_has_no_rules():
    counted = Decision(("A",), rounded(1), {})
    assert assemble_kept(space_of("A"), [counted]) == {}
    found = assemble_kept(
        space_of("A", "B"),
        [
            counted,
            decision("B", 3, [rung(AUDIT, 5, 5, chosen=True), rung(LEAST, 7, 5)], **{LEAST: rounded(4)}),
        ],
    )
    assert found[LEAST].value.tolist() == [1, 1, 4, 4]
    assert [(each.method, each.objective, each.chosen) for each in found[RULES].rungs] == [
        (AUDIT, 5, True),
        (LEAST, 7, False),
    ]


def test_cells_of_no_group_are_withheld():
    found = assemble(space_of("A", "B"), [(("B",), rounded(3))])
    assert found.withheld.tolist() == [True, True, False, False]


@pytest.mark.parametrize("codes", [("A",), ("A", "B")])
def test_tables_of_all_groups_are_tried(codes):
    each = CandidateWitnesses(**CandidateWitnesses.rows([(np.array([0]), np.array([1.0]))]))
    found = assemble_kept(
        space_of(*codes), [Decision((code,), rounded(1), {pipeline.TABLES: each}) for code in codes]
    )
    assert len(found[pipeline.TABLES].sparse) == len(codes)
