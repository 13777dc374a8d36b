"""Attackers who kept what was published before: against two cold LPs per cell, on small
pairs of releases of one period.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks import pipeline
from sdc_tasks.judge.release import published_before, recheck
from sdc_tasks.methods.attack import audit, baseline, prior_releases
from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.laws import law
from support.oracles import profiles as cold
from support.oracles.attack import Draw, all_keys, everything, one_cell_release, published, releases, table_of
from support.oracles.drawn import drawn_domain
from support.oracles.earlier import another

FEW = law(30)
MANY = law(400)
SMALL = releases(most=3, signed=False, sliding=False)
REVISIONS = st.sampled_from([0.0, 0.0, 10.0, 60.0, None])
OF = {"vintage": lambda revision: None, "revision": lambda revision: revision}


# --- what was before ----------------------------------------------------------------------------------------


def before(draw: Draw, most: int = 2) -> list[tuple[ProtectionProblem, Publication]]:
    """One or two releases of then, with anything that may differ."""
    rng, countries = draw.rng, len(draw.problem.space.countries)
    found = []
    for _ in range(rng.integers(1, most + 1)):
        members = countries if rng.random() < 0.6 else int(rng.integers(1, countries))
        then = another(draw.problem, rng, bool(rng.random() < 0.7), bool(rng.random() < 0.7), members)
        found.append((then, replace(draw, problem=then).publication()))
    return found


def agree(draw: Draw, revision: float | None) -> None:
    """Attacker, re-checker and oracle, for every profile that has to be attacked."""
    told = before(draw)
    problem, publication = (
        replace(draw.problem, earlier=prior_releases(draw.problem, told, revision)),
        draw.publication(),
    )
    profiles = ("external", *problem.earlier.profiles)
    assert "vintage" in profiles
    assert replace(problem, earlier=published_before(draw.problem, told, revision)).digest == problem.digest
    requirements, _ = baseline(
        problem, profiles, every=False
    )  # who has some versions alone: test_attack_weaker.py
    report = audit(problem, publication, requirements)
    old, p = [cold.Vintage(*each) for each in told], np.flatnonzero(problem.primary)
    room = np.column_stack([problem.a[p] - problem.lb[p], problem.ub[p] - problem.a[p]])
    asked = np.minimum(np.column_stack([problem.lpl[p], problem.upl[p]]), room)
    for number, profile in enumerate(profiles[1:], start=1):
        assumed = OF[profile](revision)
        needed = np.minimum(asked, cold.reaches(problem, cold.vintages(problem, None, old, assumed)))
        found = cold.reaches(problem, cold.vintages(problem, publication, old, assumed))
        np.testing.assert_array_equal(report.held[number], (found >= needed * (1 - 1e-6) - 1e-6).all(axis=1))
    again = recheck(problem, publication, profiles, report.evidence)
    np.testing.assert_array_equal(again.protected, report.held)
    np.testing.assert_array_equal(again.exposed, ~report.held)


@FEW
@given(SMALL, REVISIONS)
def test_who_kept_what_was_published_before_finds_what_two_cold_lps_find(draw, revision):
    agree(draw, revision)


@pytest.mark.exhaustive
@MANY
@given(SMALL, REVISIONS)
def test_who_kept_what_was_published_before_finds_what_two_cold_lps_find_in_hundreds_of_pairs(draw, revision):
    agree(draw, revision)


# --- releases one after the other ---------------------------------------------------------------------------


def withstands(draw: Draw, revision: float | None) -> None:
    """The first release, then what this program chooses for the second: no attacker of the oracle breaks a
    requirement of it, but where the national tables and the first release alone do.
    """
    told = before(draw)
    problem = replace(draw.problem, earlier=prior_releases(draw.problem, told, revision))
    domain = drawn_domain()
    requirements, _ = pipeline.baseline(problem, domain)
    publication = pipeline.choose_bases(problem, requirements, Adjustment(), domain)
    old, p = [cold.Vintage(*each) for each in told], np.flatnonzero(problem.primary)
    for assumed in {None, revision}:
        alone = cold.reaches(problem, cold.vintages(problem, None, old, assumed))
        needed = np.minimum(np.column_stack([problem.lpl[p], problem.upl[p]]), alone)
        found = cold.reaches(problem, cold.vintages(problem, publication, old, assumed))
        assert (found >= needed * (1 - 1e-5) - 1e-5).all()


@FEW
@given(SMALL, REVISIONS)
def test_what_is_chosen_beside_what_is_out_withstands_who_kept_it(draw, revision):
    withstands(draw, revision)


@pytest.mark.exhaustive
@MANY
@given(SMALL, REVISIONS)
def test_what_is_chosen_beside_what_is_out_withstands_who_kept_it_in_hundreds_of_pairs(draw, revision):
    withstands(draw, revision)


# --- by hand ------------------------------------------------------------------------------------------------


def beside(
    now: ProtectionProblem, *told: tuple[ProtectionProblem, Publication], revision: float | None = 0.0
) -> ProtectionProblem:
    return replace(now, earlier=prior_releases(now, told, revision))


def judged(problem: ProtectionProblem, publication: Publication) -> dict[str, list[bool]]:
    """profile → whether each primary is protected."""
    profiles = ("external", *problem.earlier.profiles)
    report = audit(problem, publication, baseline(problem, profiles)[0])
    return dict(zip(profiles, report.held.tolist(), strict=True))


def test_two_roundings_of_the_same_total_intersect():
    """EU = 697. Once [660, 700], now [694, 734]: each leaves AT 3 or more on both sides; together [694,
    700] does, [695, 735] does not.
    """
    problem = one_cell_release("AT 100 secret 3 | BE 240 public | CY 357 public", EU="AT BE CY")
    later = beside(problem, (problem, published(problem, (680, 40))))
    assert later.earlier.profiles == ("vintage",), "nothing was revised"
    assert judged(later, published(problem, (714, 40))) == {"external": [True], "vintage": [True]}
    assert judged(later, published(problem, (715, 40))) == {"external": [False], "vintage": [False]}
    assert judged(later, published(problem, (697, 1000)))["vintage"] == [True], (
        "what was told before cannot be taken back"
    )


LIST = (Hierarchy("ACTIVITY", ("TOTAL", "A", "B"), (None, "TOTAL", "TOTAL")),)


def two(
    at: dict[str, float], be: dict[str, float], secret: str, level: float, hidden: str = ""
) -> ProtectionProblem:
    """AT and BE with activities A and B and their totals; cells named `AT.A` are secret or hidden, the others
    public.
    """
    space = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), LIST)
    a = table_of(space, [at["A"], at["B"], be["A"], be["B"]])
    keys = [f"{key[0]}.{key[2]}" for key in all_keys(space)]
    primary = np.array([key in secret.split() for key in keys])
    public = np.array([key[:2] != "EU" and key not in [*secret.split(), *hidden.split()] for key in keys])
    levels = np.where(primary, level, 0.0)
    zeros = np.zeros(space.size)
    return ProtectionProblem(
        space=space,
        a=a,
        lb=zeros,
        ub=zeros + np.inf,
        lpl=levels,
        upl=levels,
        spl=zeros,
        public=public,
        primary=primary,
        deliveries=("d",),
    )


HIDDEN = "AT.B AT.TOTAL BE.A BE.B BE.TOTAL"


def test_what_was_not_revised_is_the_same_unknown_though_another_cell_of_the_country_was():
    """AT.A = 100 stays, AT.B is revised from 50 to 51. EU.A was [150, 190] and is [185, 225] now: AT.A is
    known as if nothing had changed.
    """
    then, now = (two({"A": 100, "B": b}, {"A": 88, "B": 70}, "AT.A", 4, HIDDEN) for b in (50, 51))
    now = replace(now, public=now.public | np.isin(np.arange(now.space.size), [4]))
    then = replace(then, public=now.public)
    assert now.space.key(4) == "BE.TURNOVER.A"
    first, second = (
        published(then, "withheld", (170, 40), "withheld"),
        published(now, "withheld", (205, 40), "withheld"),
    )
    assert judged(beside(now, (then, first), revision=None), second) == {
        "external": [False],
        "vintage": [False],
    }
    wide = published(now, "withheld", (207, 40), "withheld")
    assert (
        judged(beside(now, (then, published(then, "withheld", "withheld", "withheld"))), wide)["vintage"]
        == judged(now, wide)["external"]
    )


def test_a_cell_that_was_printed_once_is_not_counted_as_protected():
    """All was public; AT.B is revised, and AT hides all now. AT.A is as it was printed: known. AT.B
    was printed with another value.
    """
    then, now = (
        two({"A": 100, "B": 50}, {"A": 88, "B": 70}, "", 0),
        two({"A": 100, "B": 60}, {"A": 88, "B": 70}, "AT.A AT.B", 4, "AT.TOTAL"),
    )
    assert now.space.key(1) == "AT.TURNOVER.A"
    problem = beside(now, (then, everything(then, "withheld")))
    requirements, _ = baseline(problem, ("external", *problem.earlier.profiles))
    cut = {
        (requirements.profiles[profile], int(cell)): (bool(shorter), float(down))
        for profile, cell, shorter, down in zip(
            requirements.profile, requirements.primaries, requirements.cut, requirements.down, strict=True
        )
    }
    assert cut == {
        ("external", 1): (False, 4.0),
        ("external", 2): (False, 4.0),
        ("vintage", 1): (True, 0.0),
        ("vintage", 2): (False, 4.0),
        ("revision", 1): (True, 0.0),
        ("revision", 2): (True, 0.0),
    }
    assert judged(problem, published(now, "withheld", "withheld", "exact")) == {
        "external": [True, False],
        "vintage": [True, False],
        "revision": [True, True],
    }


def test_a_small_revision_of_a_hidden_cell_does_not_make_another_number_of_it():
    """EU was exact; AT is revised from 100 to 101, and now the sum of the other two is. So AT was 100, and
    who knows that it was revised by little knows it.
    """
    then, now = (
        one_cell_release(f"AT {value} secret 8 | BE 240 hidden | CY 357 hidden", EU="AT BE CY", DUO="BE CY")
        for value in (100, 101)
    )
    told, second = (then, published(then, "exact", "withheld")), published(now, "withheld", "exact")
    assert judged(beside(now, told, revision=None), second) == {"external": [True], "vintage": [True]}
    assert judged(beside(now, told, revision=20), second) == {
        "external": [True],
        "vintage": [True],
        "revision": [True],
    }
    assert judged(beside(now, told, revision=5), second) == {
        "external": [True],
        "vintage": [True],
        "revision": [False],
    }
    assert judged(beside(now, told), second) == {"external": [True], "vintage": [True], "revision": [False]}


def test_a_part_and_the_whole_are_told_together():
    """First without CY, then with it: the difference of two exact sums is CY."""
    now = one_cell_release("AT 100 secret 10 | BE 240 hidden | CY 357 secret 10", EU="AT BE CY")
    then = one_cell_release("AT 100 secret 10 | BE 240 hidden", EU_PARTIAL="AT BE")
    problem = beside(now, (then, everything(then, "exact")))
    assert judged(problem, everything(now, "exact")) == {"external": [True, True], "vintage": [True, False]}
    assert judged(problem, published(now, (690, 40))) == {"external": [True, True], "vintage": [True, True]}


def test_two_releases_with_the_same_delivery_share_its_unknowns():
    """AT was 100 in two releases, whose intervals [90, 104] and [98, 130] leave [98, 104] of
    it; its value of now is another.
    """
    then, now = (
        one_cell_release(f"AT {value} secret 3 | BE 240 hidden | CY 357 public", EU="AT BE CY", DUO="BE CY")
        for value in (100, 120)
    )
    told = [(then, published(then, (694, 14), "exact")), (then, published(then, (711, 32), "exact"))]
    assert len(prior_releases(now, told).lower) == 1


def test_other_codes_and_indicators_are_related_by_key():
    """Activity C came to the code list, and A was told then: it is known still."""
    then = two({"A": 100, "B": 50}, {"A": 88, "B": 70}, "AT.A AT.B", 4, "AT.TOTAL")
    longer = (Hierarchy("ACTIVITY", ("TOTAL", "C", "A", "B"), (None, "TOTAL", "TOTAL", "TOTAL")),)
    space = replace(then.space, hierarchies=longer)
    a = table_of(space, [7, 100, 50, 9, 88, 70])
    keys = [f"{key[0]}.{key[2]}" for key in all_keys(space)]
    hidden = np.isin(keys, ["AT.A", "AT.B", "AT.TOTAL"])
    zeros, primary = np.zeros(space.size), np.isin(keys, ["AT.A"])
    now = ProtectionProblem(
        space=space, a=a, lb=zeros, ub=zeros + np.inf, lpl=primary * 4.0, upl=primary * 4.0, spl=zeros,
        public=~hidden & (np.arange(space.size) < 8), primary=primary, deliveries=("d",),
    )  # fmt: skip
    problem = beside(now, (then, published(then, "withheld", (190, 10), "withheld")))
    second = published(now, "withheld", "withheld", (185, 10), "withheld")
    assert judged(now, second) == {"external": [False]}, "[180, 190] less 88 leaves [92, 102]"
    assert judged(problem, published(now, *["withheld"] * 4))["vintage"] == [True]
    seen = cold.vintages(now, None, [cold.Vintage(then, published(then, "withheld", (190, 10), "withheld"))])
    assert seen.tolist() == [[97, 107]]
    requirements, _ = baseline(problem, ("external", "vintage"))
    assert requirements.down[requirements.profile == 1].tolist() == pytest.approx([3])


def test_other_dimensions_are_refused():
    then = one_cell_release("AT 100 secret 10 | BE 240 public", EU="AT BE")
    now = two({"A": 1, "B": 2}, {"A": 3, "B": 4}, "", 0)
    sizes = replace(now, space=replace(now.space, hierarchies=(replace(LIST[0], dimension="SIZECLASS"),)))
    with pytest.raises(ValueError, match="dimensions"):
        prior_releases(sizes, [(then, everything(then, "exact"))])


def test_a_table_of_other_deliveries_tells_nothing_where_it_contradicts_them():
    problem = one_cell_release("AT 100 secret 3 | BE 240 public | CY 357 public", EU="AT BE CY")
    later = beside(problem, (problem, published(problem, (900, 40))))
    assert judged(later, published(problem, (714, 40))) == {"external": [True], "vintage": [True]}


def test_without_an_earlier_release_there_is_nobody_more():
    problem = one_cell_release("AT 100 secret 3 | BE 240 public", EU="AT BE")
    assert prior_releases(problem, []).profiles == PriorReleases().profiles == ()


# --- a loosened domain file ---------------------------------------------------------------------------------


def keeps_its_promise(draw: Draw) -> None:
    """Version 1 is chosen by the program. Version 2 comes with other levels and flags, some values revised.
    Whoever kept version 1 is left the levels of version 1 of every cell that is hidden in both, as far as the
    tables and version 1 leave them.
    """
    rng, first, domain = draw.rng, draw.problem, drawn_domain()
    publication = pipeline.choose_bases(first, pipeline.baseline(first, domain)[0], Adjustment(), domain)
    then = another(first, rng, bool(rng.random() < 0.5), bool(rng.random() < 0.5), len(first.space.countries))
    primary = then.suppressed & (rng.random(then.space.size) < 0.5)
    factor = rng.choice([0.0, 1e-4, 0.1, 2.0])
    levels = {name: np.where(primary, getattr(first, name) * factor, 0.0) for name in ("lpl", "upl", "spl")}
    second, _ = pipeline.still_promised(replace(then, primary=primary, **levels), [first])
    second = replace(second, earlier=prior_releases(second, [(first, publication)], 0.0))
    requirements, _ = pipeline.baseline(second, domain)
    decided = pipeline.choose_bases(second, requirements, Adjustment(), domain)
    p = np.flatnonzero(second.primary)
    mine = first.primary[p]
    promised = np.column_stack([first.lpl[p], first.upl[p]])
    room = np.column_stack([second.a[p] - second.lb[p], second.ub[p] - second.a[p]])
    kept = [cold.Vintage(first, publication)]
    alone = cold.reaches(second, cold.vintages(second, None, kept, None))
    found = cold.reaches(second, cold.vintages(second, decided, kept, None))
    needed = np.minimum(np.minimum(promised, room), alone)
    assert (found >= needed * (1 - 1e-5) - 1e-5)[mine].all()


@FEW
@given(SMALL)
def test_a_loosened_domain_file_breaks_no_promise_of_the_first_version(draw):
    keeps_its_promise(draw)


@pytest.mark.exhaustive
@MANY
@given(SMALL)
def test_a_loosened_domain_file_breaks_no_promise_of_the_first_version_in_hundreds_of_pairs(draw):
    keeps_its_promise(draw)
