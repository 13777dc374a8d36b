"""A code list with several trees and sums over the same codes: what adds up to what, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_tasks.methods.linked.relations import partners
from sdc_tasks.model.grid import grid_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy, added_up, inside, joined
from sdc_tasks.warehouse.confidential import artefacts
from sdc_tasks.warehouse.forms.packing import unpack

CODES = ("T", "C", "C1", "C2", "J", "J1", "J2", "ICT")
PARENT = (None, "T", "C", "C", "T", "J", "J", None)
TREE = Hierarchy("NACE", CODES[:-1], PARENT[:-1])
ICT = Hierarchy("NACE", CODES, PARENT, (("ICT", ("C2", "J1")),))


def test_the_text_of_a_tree_is_what_it_always_was() -> None:
    told = "Hierarchy(dimension='A', codes=('T', 'x'), parent=(None, 'T'))"
    assert repr(Hierarchy("A", ("T", "x"), (None, "T"))) == told
    assert "sums=(('ICT', ('C2', 'J1')),)" in repr(ICT)


def test_a_special_aggregate_stands_beside_the_tree() -> None:
    assert ICT.families == (*TREE.families, (7, (3, 5)))
    assert ICT.depth == (*TREE.depth, 0)
    assert ICT.roots == TREE.roots == (0,)
    assert not ICT.rivals
    assert inside([ICT]).tolist() == [False, False, True, True, False, True, True, False]
    inner = np.array([0.0, 0, 1, 2, 0, 4, 8, 0])
    assert added_up(inner, [ICT]).tolist() == [15, 3, 1, 2, 12, 4, 8, 6]


def test_a_total_of_a_sum_may_be_a_code_of_the_tree() -> None:
    found = Hierarchy("A", ("T", "x", "y", "z"), (None, "T", "T", None), (("x", ("z",)),))
    assert found.depth == (0, 1, 1, 2)
    assert added_up(np.array([0.0, 0, 2, 5]), [found]).tolist() == [7, 5, 2, 5]


def test_two_trees_that_do_not_nest_join() -> None:
    second = Hierarchy("NACE", ("T", "P", "Q", "C1", "J1", "C2", "J2"), (None, "T", "T", "P", "P", "Q", "Q"))
    both = joined([TREE, second])
    assert both.codes == (*TREE.codes, "P", "Q")
    assert both.sums == (("T", ("P", "Q")), ("P", ("C1", "J1")), ("Q", ("C2", "J2")))
    assert both.roots == (0,)
    assert not both.rivals
    part_deeper = [both.depth[part] > both.depth[total] for total, parts in both.families for part in parts]
    assert all(part_deeper)
    assert added_up(np.array([0.0, 0, 1, 2, 0, 4, 8, 0, 0]), [both]).tolist() == [
        15,
        3,
        1,
        2,
        12,
        4,
        8,
        5,
        10,
    ]


def test_what_both_trees_say_is_one_relation() -> None:
    assert joined([TREE, TREE]) == TREE
    assert joined([TREE]) is not None
    space = CellSpace(("A",), (), ("V",), (joined([TREE, ICT]),))
    assert space.national_relations.shape[0] == len(TREE.families) + 1


def test_trees_of_other_inner_codes_are_rivals() -> None:
    towns = Hierarchy("GEO", ("T", "city", "land"), (None, "T", "T"))
    both = joined([Hierarchy("GEO", ("T", "n", "s"), (None, "T", "T")), towns])
    assert both.rivals == (0,)
    assert inside([both]).tolist() == [False, True, True, True, True]
    assert added_up(np.array([0.0, 1, 2, 1.5, 1.5]), [both]).tolist() == [3, 1, 2, 1.5, 1.5]


@pytest.mark.parametrize(
    ("sums", "words"),
    [
        ((("ICT", ()),), "ICT has no parts"),
        ((("ICT", ("C2", "K9")),), "K9, in the sum ICT, is no code"),
        ((("K9", ("C2",)),), "K9, in the sum K9, is no code"),
        ((("ICT", ("C2", "C2")),), "ICT counts C2 twice"),
        ((("ICT", ("C", "C2")),), "ICT counts C2 twice"),
        ((("ICT", ("J1", "C2")), ("ICT", ("C2", "J1"))), "is given twice"),
        ((("C", ("C2", "C1")),), "is given twice"),
        ((("T", ("C", "J1")),), "T is a sum with J2, and of the rest alone"),
        ((("C2", ("T",)),), "form a cycle"),
        ((("ICT", ("J1",)), ("J1", ("ICT",))), "form a cycle"),
    ],
)
def test_sums_that_are_none(sums: tuple[tuple[str, tuple[str, ...]], ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Hierarchy("NACE", CODES, PARENT, sums)


def test_no_grid_of_two_trees() -> None:
    assert grid_of([ICT]) is None
    assert grid_of([TREE]) is not None


@pytest.mark.parametrize(("tree", "told"), [(ICT, True), (TREE, False)])
def test_a_stored_problem_keeps_its_sums_and_a_tree_its_bytes(tree: Hierarchy, told: bool) -> None:
    space = CellSpace(("A",), (Aggregate("EU", ("A",)),), ("V",), (tree,))
    n = space.size
    none, free = np.zeros(n), np.full(n, np.inf)
    is_public = np.arange(n) < space.national_size
    problem = ProtectionProblem(
        space, none, none, free, none, none, none, is_public, none > 0, deliveries=("d",)
    )
    stored = artefacts.to_bytes(problem)
    found = artefacts.from_bytes(stored)
    assert isinstance(found, ProtectionProblem)
    assert (found.space, found.digest) == (space, problem.digest)
    assert ("sums" in repr(unpack(stored)[0])) is told


def test_a_table_without_the_dimension_stands_at_the_root_of_the_tree() -> None:
    """A special aggregate without a parent is no second whole."""
    with_it = CellSpace(("AT",), (), ("V",), (ICT,))
    without = CellSpace(("AT",), (), ("V",), ())
    assert partners(without, with_it).tolist() == [0]
    assert partners(with_it, without).tolist() == [0, *[-1] * (len(CODES) - 1)]
