"""The rule for bases that withstands somebody who has the program (METHOD §9, Theorems 3 and 4).

    1. The key takes options away (`floors`).
    2. The finest choice that is left is published if it passes two tests: the audit, and
       `attack/replay/residual.py`, which tests whether the tables that pass leave every primary an interval
       as wide as both its levels together.
    3. Otherwise a search goes on over the options that are left. It may use the true values without
       restriction: for every table for which its result passes both tests, another key publishes that
       result in step 2.

A table that passes is a level away from both ends of what is published, and two levels must be left between.
So the search asks for a sliding level of about four levels for each primary, and repair raises bases until
all have it. What is still too narrow is raised by what it lacks (`attack/replay/width_deficit.py`) and gets a
wider sliding level; and so on. In the end bases are lowered as long as both tests pass, by counted work.
Withholding everything always passes, because the result no longer depends on the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Attack, Attacker, Requirements
from sdc_tasks.methods.attack.replay.residual import ResidualUncertainty, residual_uncertainty
from sdc_tasks.methods.attack.replay.width_deficit import WidthDeficit, width_deficits
from sdc_tasks.methods.bases.aware.floors import Floors
from sdc_tasks.methods.bases.comparison import RULES, Keep
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.rules import Case
from sdc_tasks.methods.bases.search.cut import cut_of
from sdc_tasks.methods.bases.search.repair import Stuck, raise_to
from sdc_tasks.methods.bases.strata import hides_something
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.model.results import Adjustment, Outcome, Publication, Rung
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY

FIRST_SLIDE = (
    2.05  # sliding level of a primary at first, as a multiple of both levels; 2.0 leaves more of them narrow
)
WIDER_SLIDE = 1.3  # times so much for a primary that is still narrow
MOST_SLIDE = 10.0
TANGENT_LESS = 1.2  # times what is lacking: a tangent promises too much
MORE_EACH_TIME = 0.05  # of the width, and so much more with each test
SOMEBODY = "somebody who has the program"
WIDENINGS = 16  # tests; then the cells over narrow primaries are withheld
LOWERING_LPS = 200  # linear programs of the tests after which no base is lowered any more


def require_fit(problem: ProtectionProblem, requirements: Requirements) -> None:
    """Raises InvalidInput where bases.rule_aware is not offered, and says why."""
    why = ""
    if problem.earlier.rows.shape != (0, 0):
        why = (
            "the period has an earlier version, and what two versions tell together to "
            "somebody who has the program is not known"
        )
    elif requirements.profiles != (EXTERNAL,):
        why = (
            "audit.profiles asks for attackers who know more than the public figures, and "
            "what the program tells them is not known"
        )
    elif problem.integral.any():
        why = "an indicator is counted (integer, kind: count), and whole tables do not form a polytope"
    elif (problem.lb[problem.suppressed] < 0).any():
        why = (
            "an indicator is signed, and the level of a cell that may be negative is no "
            "increasing function of its value"
        )
    elif problem.spl[problem.primary].any():
        why = "a rule of a flag asks for a sliding level, which rule_aware sets itself"
    elif problem.levels is None:
        why = "the levels are not known as functions of the values"
    if why:
        raise InvalidInput(
            f"bases.rule_aware: {why}. Remedy: leave out rule_aware; the report then says what the choice of "
            f"bases may tell"
        )


def aware(case: Case, keep: Keep, decimals: Sequence[int]) -> Publication:
    """Bases that withstand somebody who has the program. `keep` as in `comparison.least_lossy`; `decimals` of
    each indicator. The ladder of the case is that of `left_by`.
    """
    require_fit(case.problem, case.requirements)
    tests = Tests(case, decimals)
    if tests.never.any():
        case.note(
            f"{SOMEBODY}: {int(tests.never.sum())} primaries have no claim, because the test fails for them "
            f"with nothing published"
        )
    choice = case.ladder.at_least(np.zeros(len(case.ladder.cells)))
    if tests.pass_(choice):
        case.note(f"{SOMEBODY}: the finest choice that the key leaves passes both tests")
    else:
        choice = Widening(case, tests).wide(choice)
        around = np.zeros(case.problem.space.size, dtype=bool)
        while (narrow := tests.narrow(choice)).any():
            wider = around_of(case.problem, around, tests.needs.primaries[narrow])
            if np.array_equal(wider, around):
                raise Stuck(np.flatnonzero(hides_something(case.problem)))
            around, choice = wider, _withheld(case, wider, choice)
            gone = int((choice == case.ladder.withheld).sum())
            case.progress(
                f"{SOMEBODY}: {int(narrow.sum())} primaries were left too little; {gone} cells over them and "
                f"beside are withheld"
            )
        choice = _lowered(case, tests, choice)
    rung = Rung(
        SOMEBODY,
        Outcome.FEASIBLE,
        case.ladder.loss_of(choice),
        None,
        None,
        0.0,
        "drawn and tested",
        chosen=True,
    )
    keep(RULES, Adjustment(rungs=(rung,)))
    return case.ladder.publication(choice)


class Tests:
    """The two tests for one choice after another. `lps`: linear programs of the second one so far, at most
    `lps_each` for one choice. `never` (primaries,): without a claim.
    """

    def __init__(self, case: Case, decimals: Sequence[int]) -> None:
        self._case, self.needs, self.lps, self.lps_each = case, case.requirements.strongest, 0, 0
        self._step = case.problem.space.last_decimals(decimals)
        self._free, self._found = hides_something(case.problem), dict[bytes, ResidualUncertainty]()
        self.never = residual_uncertainty(
            case.problem, self.needs, Publication.nothing(case.ladder.cells), self._step, case.seed
        ).narrow

    def pass_(self, choice: Ints) -> bool:
        """Does the choice pass the audit, and leave every primary enough?"""
        return self._case.passes(self._case.ladder.publication(choice)) and not self.narrow(choice).any()

    def narrow(self, choice: Ints) -> Bools:
        """(primaries,): left too little by a choice; none if nothing is published but what anybody
        can add up. Primaries for which the test fails with nothing published have no claim; which
        ones follows from public figures.
        """
        if (choice[self._free] == self._case.ladder.withheld).all():
            return np.zeros(len(self.needs.primaries), dtype=bool)
        if (key := choice.tobytes()) not in self._found:
            found = residual_uncertainty(
                self._case.problem,
                self.needs,
                self._case.ladder.publication(choice),
                self._step,
                self._case.seed,
            )
            self.lps += found.lps
            self.lps_each = max(self.lps_each, found.lps)
            self._found[key] = found
        return self._found[key].narrow & ~self.never

    def width_deficits(self, choice: Ints) -> list[WidthDeficit]:
        """What a tested choice would need."""
        return width_deficits(
            self._found[choice.tobytes()], self.narrow(choice), self._step[self.needs.primaries]
        )


def _lowered(case: Case, tests: Tests, choice: Ints) -> Ints:
    """The choice with bases lowered, the dearest first, as long as both tests pass and the work
    is not done.
    """
    ladder, end = case.ladder, tests.lps + LOWERING_LPS - tests.lps_each
    for k in np.argsort(-ladder.loss[np.arange(len(choice)), choice], kind="stable").tolist():
        now = ladder.loss[k, choice[k]]
        for option in np.flatnonzero(ladder.loss[k] < now)[
            np.argsort(ladder.loss[k][ladder.loss[k] < now], kind="stable")
        ].tolist():
            if tests.lps >= end:
                return choice
            lower = choice.copy()
            lower[k] = option
            if tests.pass_(lower):
                choice = lower
                break
    return choice


class Widening:
    """Raises bases until no primary is left too little. `_slides`: the case with the
    sliding levels `_slide` (primaries,).
    """

    def __init__(self, case: Case, tests: Tests) -> None:
        self._case, self._slides, self._tests = case, case, tests
        self._slide = np.zeros(len(tests.needs.primaries))

    def wide(self, choice: Ints) -> Ints:
        """The choice, raised. It may leave some too little when the tests are used up, or
        when nothing more can be raised.
        """
        self._ask(~self._tests.never)
        try:
            choice = self._slides.safe(choice)
        except Stuck:
            choice = self._case.safe(choice)
        for number in range(1, WIDENINGS):
            narrow = self._tests.narrow(choice)
            self._case.progress(
                f"{SOMEBODY}, test {number}: {int(narrow.sum())} of {len(narrow)} primaries are left too "
                f"little"
            )
            if not narrow.any():
                break
            higher = self._raised(choice, number)
            self._ask(narrow)
            with suppress(Stuck):
                choice = self._slides.safe(higher)
        return choice

    def _raised(self, choice: Ints, number: int) -> Ints:
        """The choice raised by what it lacks, as far as it can be."""
        ladder, needs = self._case.ladder, self._tests.needs
        higher, most = choice.copy(), np.full(len(choice), ladder.withheld)
        for deficit in sorted(
            self._tests.width_deficits(choice),
            key=lambda deficit: (-deficit.missing / deficit.need, deficit.primary),
        ):
            missing = deficit.missing * TANGENT_LESS + MORE_EACH_TIME * (number + 1) * deficit.need
            attack = Attack(
                max(deficit.primary, 0),
                0,
                deficit.need,
                deficit.need - missing,
                deficit.decided,
                deficit.price,
            )
            with suppress(Stuck):
                raise_to(cut_of(attack, needs, ladder, choice), deficit.need, ladder, higher, most)
        return higher

    def _ask(self, rows: Bools) -> None:
        """Asks for wider sliding levels. Tables that were found for the last ones are tried first."""
        needs, case = self._tests.needs, self._case
        both = needs.down + needs.up
        wanted = np.minimum(
            np.where(self._slide > 0, self._slide * WIDER_SLIDE, FIRST_SLIDE * both), MOST_SLIDE * both
        )
        self._slide[rows] = _left_alone(
            case, needs.rows(np.flatnonzero(rows)), np.where(needs.cut, 0.0, wanted)[rows]
        )
        wider = replace(needs, slide=self._slide.copy(), profiles=case.requirements.profiles)
        attacker = Attacker(case.problem, wider, case.seed)
        attacker.try_witnesses(
            witness.dense(int(case.problem.suppressed.sum()))
            for _, witness in self._slides.attacker.witnesses()
        )
        self._slides = replace(case, requirements=wider, attacker=attacker)


def _left_alone(case: Case, needs: Requirements, slide: Floats) -> Floats:
    """(rows,): the sliding level, but no more than what the national tables leave."""
    most, none = slide.copy(), np.zeros(len(slide))
    alone = Attacker(
        case.problem,
        replace(needs, down=none, up=none, slide=slide, profiles=case.requirements.profiles),
        case.seed,
    )
    alone.prove_all()
    for attack in alone.broken:
        most[attack.requirement] = min(most[attack.requirement], attack.reach * (1 - FEASIBILITY))
    return most


def _withheld(case: Case, around: Bools, choice: Ints) -> Ints:
    """The choice with the cells over these national cells withheld; Stuck if they may
    not be, and if they are already.
    """
    space, ladder = case.problem.space, case.ladder
    over = np.isin(
        (ladder.cells - space.first_aggregate) % space.national_size,
        np.flatnonzero(around) % space.national_size,
    )
    free = over & hides_something(case.problem) & np.isfinite(ladder.loss[:, ladder.withheld])
    if not free.any():
        raise Stuck(np.flatnonzero(over))
    return np.asarray(np.where(free, ladder.withheld, choice))


def around_of(problem: ProtectionProblem, before: Bools, cells: Ints) -> Bools:
    """What was withheld before and these cells, too. Where that is nothing new, the cells beside them as
    well: more around others would not help them, and cost much.
    """
    wider, own = before.copy(), np.zeros(len(before), dtype=bool)
    wider[cells], own[cells] = True, True
    while np.array_equal(wider, before) and not np.array_equal(own, more := _linked(problem, own)):
        own = more
        wider |= own
    return wider


def _linked(problem: ProtectionProblem, cells: Bools) -> Bools:
    """These cells, and the hidden ones that stand in a national relation with them; all
    hidden cells if there are no more.
    """
    inside = problem.space.relations.shape[0] - problem.space.aggregate_relations.shape[0]
    touching = abs(problem.space.relations[:inside])
    more = (touching.T @ (touching @ cells.astype(float)) > 0) & problem.suppressed
    return np.asarray(more | cells if (more & ~cells).any() else problem.suppressed)


def left_by(ladder: Ladder, floors: Floors) -> Ladder:
    """The ladder without the options that the key takes away."""
    gone = (ladder.base < floors.finest[:, None]) | (
        (ladder.base > 0) & (ladder.base < floors.first[:, None])
    )
    loss = np.where(gone, np.inf, ladder.loss)
    return replace(ladder, loss=loss)
