"""What a point shows of the targets of a prover, against whom; and what a snapshot keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdc_tasks.methods.attack import attack_system, knowledge_of, promised
from sdc_tasks.methods.attack.knowledge import Insiders
from sdc_tasks.methods.attack.proof_state import ProofState
from sdc_tasks.methods.attack.targets import DOWN, SLIDE, UP, Targets, mirrored
from sdc_tasks.model.profiles import Adversary
from support.oracles.attack import one_cell_release

AT, BE, CY = 0, 1, 2
PROBLEM = one_cell_release("AT 100 secret 10 | BE 240 secret 20 | CY 357 secret 30", EU="AT BE CY")
BOTH = (True, True)


def asked(
    profile: str, known: tuple[int, ...] = (), slide: float = 0, skip_proven: bool = False
) -> tuple[ProofState, Targets, Insiders]:
    """The proof state of down, up and (of AT) sliding levels, with single units of these cells."""
    cells = np.arange(PROBLEM.space.size)
    problem = replace(
        PROBLEM,
        known=np.where(np.isin(cells, known), PROBLEM.a, np.nan),
        spl=np.where(cells == AT, slide, 0.0),
    )
    needs, knowledge = promised(problem, (profile,)), knowledge_of(problem, profile)
    system = attack_system(problem, Adversary(profile)).scaled(1.0)
    row, side = (
        np.array([AT, BE, CY] * 2 + [AT] * bool(slide)),
        np.array([DOWN] * 3 + [UP] * 3 + [SLIDE] * bool(slide)),
    )
    need = np.select([side == DOWN, side == UP], [needs.down[row], needs.up[row]], needs.slide[row])
    targets = Targets.of(needs, system, row, side, need)
    insiders = Insiders.of(knowledge, system, targets.cell)
    return ProofState(targets, insiders, knowledge.asked(needs, row), need, skip_proven), targets, insiders


def z(at: float, be: float, cy: float) -> np.ndarray:
    return np.array([at, be, cy], dtype=float)


def test_a_point_and_its_mirror_image_close_what_they_reach():
    state, _, _ = asked("external")
    news = state.count(z(10, -20, 29), BOTH)
    assert state.waiting.tolist() == [False, False, True, False, False, True], "30 asked of CY, 29 shown"
    assert (news.closed, news.wider) == (True, False)
    assert state.reach.tolist() == [10, 20, 29, 10, 20, 29]
    assert not state.count(z(10, -20, 29), BOTH).closed, "nothing new"


def test_what_is_no_witness_shows_nothing():
    state, _, _ = asked("external")
    state.count(z(10, -20, 29), (False, True))
    assert state.waiting.tolist() == [False, True, True, True, False, True]
    state.count(z(99, 99, 99), (False, False))
    assert state.waiting.tolist() == [False, True, True, True, False, True]


def test_a_sliding_level_is_met_by_two_points_together():
    state, _, _ = asked("external", slide=25)
    assert state.count(z(15, 0, 0), (True, False)).wider
    assert state.waiting[-1]
    state.count(z(-10, 0, 0), (True, False))
    assert not state.waiting[-1]


def test_a_snapshot_is_not_changed_by_what_comes_later():
    state, _, _ = asked("external", slide=25)
    state.count(z(5, 20, 0), BOTH)
    before = state.snapshot()
    told = state.waiting.tolist(), state.reach.tolist()
    for _ in range(2):
        state.count(z(50, 50, 50), BOTH)
        assert not state.waiting.any()
        state.restore(before)
        assert (state.waiting.tolist(), state.reach.tolist()) == told
    state.forget()
    assert state.waiting.all()


def test_of_a_coalition_everybody_but_the_victim_is_fooled_by_a_point_that_moves_one_of_its_cells():
    state, _, insiders = asked("coalition", known=(AT, BE))
    assert insiders.fooled(z(0, 0, 30)).all()
    assert insiders.fooled(z(10, 0, -10)).ravel().tolist() == [True, False, False] * 2, (
        "AT moves: that fools who attacks AT, with BE"
    )
    assert not insiders.fooled(z(10, -10, 0)).any()
    state.count(z(10, -10, 0), BOTH)
    assert state.waiting.all()
    state.count(z(10, 0, -30), BOTH)
    assert state.waiting.tolist() == [False, True, True] * 2, (
        "CY moved as far as it needs, but AT did as well, and it is one of those who attack CY"
    )


def test_what_is_imposed_depends_on_the_victim():
    _, targets, insiders = asked("coalition", known=(AT, BE))
    nobody = np.zeros(1, dtype=bool)
    everybody = [insiders.against(target, nobody) for target in range(3)]
    still = [[bool(lower[c] == upper[c] == 0) for c in targets.core[:3]] for lower, upper in everybody]
    assert still == [[False, True, False], [True, False, False], [True, True, False]]
    assert [insiders.differing(target).tolist() for target in range(3)] == [
        [targets.core[AT]],
        [targets.core[BE]],
        [],
    ]


def test_those_who_attack_alone_are_fooled_each_for_himself():
    """The only unit of BE holds nothing against BE; a point that moves BE fools him who knows AT."""
    state, _, insiders = asked("internal", known=(AT, BE))
    assert state.open.tolist() == [[False, True], [True, False], [True, True]] * 2
    assert insiders.fooled(z(0, 20, -20)).tolist() == [[True, False]]
    state.count(z(0, 30, -30), BOTH)
    assert state.open.tolist() == [[False, True], [False, False], [False, True]] * 2


@pytest.mark.parametrize("skip_proven", [False, True])
def test_whom_nobody_asks_about_any_more_may_be_left_out(skip_proven):
    """The sliding level of AT is asked against the unit of BE alone; a point that the unit
    of AT sees through may serve it.
    """
    state, targets, _ = asked("internal", known=(AT, BE), slide=25, skip_proven=skip_proven)
    state.count(z(15, 0, -15), BOTH)
    assert state.waiting[len(targets) - 1] != skip_proven


def test_the_mirror_box_is_the_largest_that_is_its_own_mirror_image():
    lower, upper = mirrored((np.array([-5.0, 0.0, -np.inf]), np.array([3.0, 7.0, 2.0])))
    assert lower.tolist() == [-3, 0, -2]
    assert upper.tolist() == [3, 0, 2]
