"""Every attacker: whoever has a part of what a profile knows is judged by a requirement of his own,
against dense LPs for every part.

The law (METHOD §2): somebody who has the pieces K is owed the level of a primary, cut to what K
leaves him with nothing new published. The oracle asks it for *every* K, by two cold LPs each; the
program judges only the critical ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks import pipeline
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.judge.release import published_before, recheck
from sdc_tasks.methods.attack import audit, baseline, prior_releases, weaker
from sdc_tasks.methods.attack.weaker import family, support
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Multipliers, Publication, Weaker
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.laws import law
from support.oracles import profiles as cold
from support.oracles.attack import Draw, all_keys, everything, releases, table_of
from support.oracles.drawn import drawn_domain, with_respondents
from support.oracles.earlier import another

Reach = Callable[
    [Publication | None], np.ndarray
]  # of one attacker: (primaries, 2), nothing or something published
LIST = (Hierarchy("ACTIVITY", ("T", "K", "M", "N"), (None, "T", "T", "T")),)


# --- the oracle: every part of what is known ----------------------------------------------------------------


def parts(pieces: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(pieces, size) for size in range(len(pieces) + 1))


def coalitions(problem: ProtectionProblem) -> list[Reach]:
    """Every group of the respondents of single-unit cells, the empty one too."""
    singles = [int(cell) for cell in np.flatnonzero((problem.known == problem.a) & problem.suppressed)]
    owners = sorted({min(group) for group in cold.respondents(problem, singles).values()})
    of = {cell: min(group) for cell, group in cold.respondents(problem, singles).items()}

    def reach(group: tuple[int, ...], publication: Publication | None) -> np.ndarray:
        everybody, found = cold.knowledge(problem, publication), []
        for p in np.flatnonzero(problem.primary).tolist():
            mine = {
                cell: (problem.a[cell],) * 2
                for cell in singles
                if of[cell] in group and of[cell] != of.get(p)
            }
            found.append(cold.intervals(everybody.told(mine), [p])[0])
        return distance(problem, np.array(found).reshape(-1, 2))

    return [lambda publication, group=group: reach(group, publication) for group in parts(owners)]


def keepers(
    problem: ProtectionProblem, pieces: Sequence[cold.Vintage], revision: float | None
) -> list[Reach]:
    """Whoever has some of these earlier tables."""

    def reach(kept: tuple[int, ...], publication: Publication | None) -> np.ndarray:
        return cold.reaches(problem, cold.vintages(problem, publication, [pieces[i] for i in kept], revision))

    return [lambda publication, kept=kept: reach(kept, publication) for kept in parts(range(len(pieces)))]


def distance(problem: ProtectionProblem, ends: np.ndarray) -> np.ndarray:
    return (ends - problem.a[problem.primary][:, None]) * [-1, 1]


def held_against(
    problem: ProtectionProblem, publication: Publication, attackers: Sequence[Reach]
) -> np.ndarray:
    """(primaries,): does each attacker leave what he must?"""
    p = np.flatnonzero(problem.primary)
    room = np.column_stack([problem.a[p] - problem.lb[p], problem.ub[p] - problem.a[p]])
    asked = np.minimum(np.column_stack([problem.lpl[p], problem.upl[p]]), room)
    held = np.ones(len(p), dtype=bool)
    for reach in attackers:
        needed = np.minimum(asked, reach(None))
        held &= (reach(publication) >= needed * (1 - 1e-5) - 1e-4).all(axis=1)
    return held


def agree(
    problem: ProtectionProblem, publication: Publication, profile: str, attackers: Sequence[Reach]
) -> None:
    """Attacker, second program and oracle; and what the program chooses withstands the oracle."""
    profiles = tuple(dict.fromkeys(("external", profile, *problem.earlier.profiles)))
    requirements, _ = baseline(problem, profiles)
    report = audit(problem, publication, requirements)
    assert not report.unjudged
    expected = held_against(problem, publication, attackers)
    held = report.held[[0, profiles.index(profile)]].all(axis=0)
    np.testing.assert_array_equal(held, expected)
    again = recheck(problem, publication, profiles, report.evidence)
    np.testing.assert_array_equal(again.protected, report.held)
    np.testing.assert_array_equal(again.exposed, ~report.held)
    assert again.unjudged == ()
    assert again.weaker == requirements.weaker


def withstands(problem: ProtectionProblem, profile: str, attackers: Sequence[Reach]) -> None:
    """What the program chooses."""
    domain = drawn_domain().with_profiles(("external", profile) if profile == "coalition" else ("external",))
    requirements, _ = pipeline.baseline(problem, domain)
    publication = pipeline.choose_bases(problem, requirements, Adjustment(), domain)
    assert pipeline.audit(problem, publication, requirements, domain).passed
    assert held_against(problem, publication, attackers).all()


SMALL = releases(most=4, signed=False, sliding=False)


def few_respondents(draw: Draw) -> ProtectionProblem:
    """At most five respondents, so that there are at most 32 coalitions."""
    problem = with_respondents(draw)
    singles = np.flatnonzero((problem.known == problem.a) & problem.suppressed)
    known = problem.known.copy()
    known[singles[5:]] = np.nan
    return replace(problem, known=known)


@law(60)
@given(SMALL)
def test_no_coalition_however_small_comes_closer_than_it_may(draw):
    problem = few_respondents(draw)
    agree(problem, draw.publication(), "coalition", coalitions(problem))


@law(20)
@given(SMALL)
def test_what_is_chosen_withstands_every_coalition(draw):
    problem = few_respondents(draw)
    withstands(problem, "coalition", coalitions(problem))


def versions(draw: Draw, count: int, revision: float | None) -> tuple[ProtectionProblem, list[cold.Vintage]]:
    """The release with `count` earlier versions, with anything that may differ."""
    rng, told = draw.rng, []
    for _ in range(count):
        then = another(
            draw.problem,
            rng,
            bool(rng.random() < 0.5),
            bool(rng.random() < 0.8),
            len(draw.problem.space.countries),
        )
        publication = replace(draw, problem=then).publication()
        if publication.withheld.all():
            publication = everything(then, "exact")
        told.append((then, publication))
    problem = replace(draw.problem, earlier=prior_releases(draw.problem, told, revision))
    assert replace(problem, earlier=published_before(draw.problem, told, revision)).digest == problem.digest
    return problem, [cold.Vintage(*each) for each in told]


@law(40)
@given(SMALL, st.integers(2, 3))
def test_nobody_who_lacks_a_version_comes_closer_than_he_may(draw, count):
    problem, told = versions(draw, count, None)
    agree(problem, draw.publication(), "vintage", keepers(problem, told, None))


@law(40)
@given(SMALL, st.sampled_from([0.0, 10.0]))
def test_nobody_who_lacks_a_version_and_knows_revisions_comes_closer_than_he_may(draw, revision):
    """Of a version that he lacks he knows no revision either."""
    problem, told = versions(draw, 2, revision)
    if "revision" in problem.earlier.profiles:
        agree(problem, draw.publication(), "revision", keepers(problem, told, revision))


@law(15)
@given(SMALL)
def test_what_is_chosen_withstands_whoever_has_some_versions(draw):
    problem, told = versions(draw, 2, None)
    withstands(problem, "vintage", keepers(problem, told, None))


def as_it_came(draw: Draw) -> tuple[ProtectionProblem, list[cold.Vintage]]:
    """Some cells were public as the tables came: one piece for each country, which hides nothing of the
    others.
    """
    now, rng = draw.problem, draw.rng
    shown = now.suppressed & ~now.primary & (rng.random(now.space.size) < 0.7)
    came = replace(now, public=now.public | shown, primary=now.primary, known=np.full(now.space.size, np.nan))
    nothing = Publication.nothing(np.flatnonzero(now.aggregate))
    problem = replace(now, earlier=prior_releases(now, [(came, nothing)]))
    assert replace(problem, earlier=published_before(now, [(came, nothing)], 0.0)).digest == problem.digest
    n, pieces = now.space.national_size, []
    for i in range(len(now.space.countries)):
        mine = np.zeros(now.space.size, dtype=bool)
        mine[i * n : (i + 1) * n] = True
        if (shown & mine).any():
            pieces.append(cold.Vintage(replace(now, public=now.public | (shown & mine)), nothing))
    return problem, pieces


@law(60)
@given(releases(most=6, signed=False, sliding=False))
def test_whoever_read_some_tables_as_they_came_gives_no_other_country_away(draw):
    problem, pieces = as_it_came(draw)
    if problem.earlier.profiles:
        agree(problem, draw.publication(), "vintage", keepers(problem, pieces, None))


# --- by hand ------------------------------------------------------------------------------------------------


def countries(hidden: dict[str, str], **values: str) -> ProtectionProblem:
    """Countries with a public total T = K + M + N; `hidden`: the hidden cells of each, primaries
    with their level after a slash.
    """
    names = tuple(values)
    space = CellSpace(names, (Aggregate("EU", names),), ("X",), LIST)
    a = table_of(space, [float(v) for country in names for v in values[country].split()])
    keys = [f"{key[0]}.{key[2]}" for key in all_keys(space)]
    level, is_hidden = np.zeros(space.size), np.zeros(space.size, dtype=bool)
    for country, cells in hidden.items():
        for cell in cells.split():
            code, _, least = cell.partition("/")
            at = keys.index(f"{country}.{code}")
            is_hidden[at], level[at] = True, float(least or 0)
    zeros, national = np.zeros(space.size), np.arange(space.size) < space.first_aggregate
    return ProtectionProblem(
        space=space,
        a=a,
        lb=zeros,
        ub=zeros + np.inf,
        lpl=level,
        upl=level,
        spl=zeros,
        public=~is_hidden & national,
        primary=level > 0,
        deliveries=("drawn",),
    )


def single(problem: ProtectionProblem, *cells: str) -> ProtectionProblem:
    """The same with one unit in each of these cells."""
    known = np.full(problem.space.size, np.nan)
    for cell in cells:
        at = [f"{key[0]}.{key[2]}" for key in all_keys(problem.space)].index(cell)
        known[at] = problem.a[at]
    return replace(problem, known=known)


def test_the_units_of_two_other_countries_are_enough():
    """AT.K = 10 000 with three units; AT.M and AT.N have one unit each, and so have BE.K and CY.K. All four
    together know AT.K from the table of AT alone, so nothing is owed to them. Those of BE.K and CY.K alone
    are owed 1 000, and EU.K exact leaves them nothing.
    """
    problem = three_countries()
    requirements, _ = baseline(problem, COALITION)
    report = audit(problem, everything(problem, "exact"), requirements)
    assert report.held.tolist() == [[True], [False]]
    assert not audit(
        problem, everything(problem, "exact"), baseline(problem, COALITION, every=False)[0]
    ).broken, "today"
    withheld = audit(problem, everything(problem, "withheld"), requirements)
    assert withheld.passed


COALITION = ("external", "coalition")


def three_countries() -> ProtectionProblem:
    """AT.K is owed 1 000; whoever has AT.M and AT.N knows it from the table of AT."""
    problem = countries(
        {"AT": "K/1000 M N", "BE": "K M N", "CY": "K M N"},
        AT="10000 500 700",
        BE="4000 3000 100",
        CY="2000 1000 100",
    )
    return single(problem, "AT.M", "AT.N", "BE.K", "CY.K")


def renumbered(proofs: Multipliers, number: dict[int, int]) -> Multipliers:
    """The proofs about these adversaries, with their new numbers."""
    kept = [i for i, n in enumerate(proofs.profile.tolist()) if n in number]
    spans = [slice(proofs.start[i], proofs.start[i + 1]) for i in kept]
    return Multipliers(
        profile=np.array([number[n] for n in proofs.profile[kept].tolist()]),
        **{name: getattr(proofs, name)[kept] for name in ("cell", "side", "knower", "split", "reach")},
        start=np.cumsum([0, *(span.stop - span.start for span in spans)]),
        row=np.concatenate([proofs.row[span] for span in spans]),
        value=np.concatenate([proofs.value[span] for span in spans]),
    )


def test_evidence_without_a_weaker_attacker_does_not_cover_him():
    """Whoever forges a certificate leaves out one of those who must be judged: the second program
    misses him.
    """
    problem = three_countries()
    publication = everything(problem, "withheld")
    report = audit(problem, publication, baseline(problem, COALITION)[0])
    assert recheck(problem, publication, COALITION, report.evidence).unjudged == ()
    told = report.evidence.weaker
    assert len(told.profile) > 0
    for left_out in range(len(told.profile)):
        numbers = [i for i in range(len(told.profile)) if i != left_out]
        kept = Weaker.of(
            [
                (
                    told.profile[i],
                    told.piece[told.lack[i] : told.lack[i + 1]],
                    told.cell[told.judged[i] : told.judged[i + 1]],
                )
                for i in numbers
            ]
        )
        number = {2 + i: 2 + n for n, i in enumerate(numbers)} | {0: 0, 1: 1}
        forged = replace(
            report.evidence,
            weaker=kept,
            cut=renumbered(report.evidence.cut, number),
            profile=np.array([number.get(n, 1) for n in report.evidence.profile.tolist()]),
        )
        assert recheck(problem, publication, COALITION, forged).unjudged == (("coalition", 1),)


def test_where_too_many_would_have_to_be_judged_the_primary_is_named():
    """With room for the strongest alone, AT.K is named, by the second program too; a
    domain may refuse such a release.
    """
    problem = three_countries()
    publication = everything(problem, "withheld")
    with patch.object(family, "MOST_WEAKER", 1):
        requirements, _ = baseline(problem, COALITION)
    report = audit(problem, publication, requirements)
    assert report.unjudged == (("coalition", 1),)
    assert recheck(problem, publication, COALITION, report.evidence).unjudged == report.unjudged
    assert (
        pipeline.release("r", problem, requirements, publication, report, COALITION).publication
        is publication
    )
    with pytest.raises(
        ReleaseBlocked, match=r"AT\.X\.K: not judged against every attacker.*of profile coalition.*Remedy"
    ):
        pipeline.release("r", problem, requirements, publication, report, COALITION, everybody=True)
    silent = replace(report, unjudged=())
    with pytest.raises(ReleaseBlocked, match="does not say whom it did not judge"):
        pipeline.release("r", problem, requirements, publication, silent, COALITION)


@pytest.mark.parametrize("profile", ["internal", "coalition"])
def test_no_primary_is_said_to_withstand_a_unit_that_kept_a_version(profile):
    """EU = AT + BE + CY was out, P = CY + DK is to come. The units of BE and DK, who kept EU, have AT = EU -
    BE - (P - DK) then; to each profile alone AT is as uncertain as before.
    """
    problem = three_countries()
    beside = replace(problem, earlier=prior_releases(problem, [(problem, everything(problem, "exact"))]))
    publication, profiles = everything(problem, "withheld"), ("external", profile, "vintage")
    report = audit(beside, publication, baseline(beside, profiles)[0])
    assert report.unjudged == ((profile, 1),)
    assert recheck(beside, publication, profiles, report.evidence).unjudged == report.unjudged


def test_a_country_that_honours_its_list_is_not_given_away_by_one_that_does_not():
    """AT and BE came with K hidden alone, the release hides M as well. AT publishes as asked; BE.T −
    BE.M − BE.N is BE.K = 4 000, so EU.K − BE.K − CY.K is AT.K exactly, though AT's own table leaves
    it anything between 0 and 10 500.
    """
    now = countries(
        {"AT": "K/1000 M", "BE": "K/400 M"}, AT="10000 500 700", BE="4000 3000 100", CY="2000 1000 100"
    )
    came = replace(now, public=now.public | (now.suppressed & ~now.primary))
    problem = replace(
        now, earlier=prior_releases(now, [(came, Publication.nothing(np.flatnonzero(now.aggregate)))])
    )
    assert problem.earlier.pieces == ("the table of AT as it came", "the table of BE as it came")
    requirements, _ = baseline(problem, ("external", "vintage"))
    report = audit(problem, everything(problem, "exact"), requirements)
    assert report.held.tolist() == [[True, True], [False, False]]
    broken = report.evidence.broken
    names = {weaker.who(problem, requirements.adversaries[n]) for n in broken.profile.tolist()}
    assert names == {f"vintage without the table of {country} as it came" for country in ("AT", "BE")}


def told_apart(kept: Sequence[int]) -> tuple[ProtectionProblem, Publication]:
    """AT hides K, M and N, K with a level. Version 1 told EU.M exactly, so AT.M is known; in version 2 AT.K
    was public. To whoever has version 2, nothing is owed. Who has version 1 alone is owed 1 000, and EU.N
    exact, which is published now, leaves him AT.K = T - M - N.
    """
    now = countries({"AT": "K/1000 M N"}, AT="10000 5000 7000", BE="4000 3000 100", CY="2000 1000 100")

    def told(code: str) -> Publication:
        nothing = Publication.nothing(np.flatnonzero(now.aggregate))
        at = nothing.cells == now.space.first_aggregate + LIST[0].codes.index(code)
        return Publication(
            nothing.cells, np.where(at, now.a[nothing.cells], np.nan), np.where(at, 0.0, np.inf)
        )

    shown = replace(now, public=now.public | now.primary, primary=np.zeros(now.space.size, dtype=bool))
    problem = replace(
        now, earlier=prior_releases(now, [((now, told("M")), (shown, told("T")))[i] for i in kept])
    )
    return problem, told("N")


@pytest.mark.parametrize("kept", [(0,), (1,), (0, 1)])
def test_who_lacks_a_version_is_owed_what_the_others_leave_him(kept):
    problem, publication = told_apart(kept)
    report = audit(problem, publication, baseline(problem, ("external", "vintage"))[0])
    assert report.held[0].tolist() == [True]
    assert report.held[1].tolist() == [0 not in kept]


def test_everybody_of_a_profile_is_asked_in_one_polyhedron():
    """Whatever versions somebody lacks: their rows have no ends while he is asked."""
    problem, _ = told_apart((0, 1))
    with patch.object(support, "attack_system", wraps=support.attack_system) as made:
        requirements, _ = baseline(problem, ("external", "vintage"))
    assert len(requirements.weaker) > 1
    assert made.call_count == 1
