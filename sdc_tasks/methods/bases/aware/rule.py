"""The rule for bases that withstands somebody who has the program (METHOD §9, Theorems 3 and 4).

    1. The key takes options away (`floors`).
    2. The finest choice that is left is published if it passes two tests: the audit, and `attack/replay/left.py`, which asks whether the
       tables that pass leave every primary as wide an interval as both its levels together.
    3. Otherwise a search goes on over what is left. It may use the true values as it likes: for every table for which its result passes
       both tests, another key publishes that result in step 2.

The search begins with the safe choice that loses least, as without this rule. The primaries that it leaves too little get a sliding level;
repair raises bases until all have it; and so on, with higher sliding levels. In the end it lowers bases as long as both tests pass, by
counted work. To withhold everything always passes: then nothing was decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Attacker, Requirements
from sdc_tasks.methods.attack.replay.left import left
from sdc_tasks.methods.bases.aware.floors import Floors
from sdc_tasks.methods.bases.comparison import Keep, Kept, best_choice
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.rules import Case
from sdc_tasks.methods.bases.search.repair import Stuck
from sdc_tasks.methods.bases.strata import hides_something
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.model.results import Adjustment, Outcome, Publication, Rung
from sdc_tasks.model.table import Bools, Floats, Ints

FIRST_SLIDE = 2.1  # sliding level of a primary that is narrow at first, as a multiple of both levels
WIDER_SLIDE = 1.6  # times so much where it is narrow again
SOMEBODY = "somebody who has the program"
WIDENINGS = 8  # searches; then the cells over narrow primaries are withheld
LOWERING_LPS = 1500  # linear programs of the tests after which no base is lowered any more


def require_fit(problem: ProtectionProblem, requirements: Requirements) -> None:
    """Raises InvalidInput where bases.rule_aware is not offered, and says why."""
    why = ""
    if problem.earlier.rows.shape != (0, 0):
        why = "the period has an earlier version, and what two versions tell together to somebody who has the program is not known"
    elif requirements.profiles != (EXTERNAL,):
        why = "audit.profiles asks for attackers who know more than the public figures, and what the program tells them is not known"
    elif problem.integral.any():
        why = "an indicator is counted (integer, kind: count), and whole tables do not form a polytope"
    elif (problem.lb[problem.suppressed] < 0).any():
        why = "an indicator is signed, and the level of a cell that may be negative is no increasing function of its value"
    elif problem.spl[problem.primary].any():
        why = "a rule of a flag asks for a sliding level, which rule_aware sets itself"
    elif problem.levels is None:
        why = "the levels are not known as functions of the values"
    if why:
        raise InvalidInput(f"bases.rule_aware: {why}. Remedy: leave out rule_aware; the report then says what the choice of bases may tell")


def aware(case: Case, options: BasesOptions, x: Floats | None, trusted: bool, keep: Keep, decimals: Sequence[int]) -> Publication:
    """Bases that withstand somebody who has the program. `x`, `trusted` and `keep` as in `comparison.least_lossy`; `decimals` of each
    indicator. The ladder of the case is that of `left_by`.
    """
    require_fit(case.problem, case.requirements)
    tests = Tests(case, decimals)
    if tests.without:
        case.note(f"{SOMEBODY}: {tests.without} primaries have no claim, because the test fails for them with nothing published")
    finest = case.ladder.at_least(np.zeros(len(case.ladder.cells)))
    if tests.pass_(finest):
        case.note(f"{SOMEBODY}: the finest choice that the key leaves passes both tests")
        keep("rules", Adjustment(rungs=(_rung(case, finest, None),)))
        return case.ladder.publication(finest)
    before = dict[str, Kept]()
    choice = best_choice(case, options, x, trusted, before.__setitem__)
    asked = np.zeros(len(tests.needs.primaries))
    for number in range(WIDENINGS):
        narrow = tests.narrow(choice)
        case.progress(f"{SOMEBODY}, test {number}: {int(narrow.sum())} of {len(narrow)} primaries are left too little")
        if not narrow.any():
            break
        asked[narrow] = np.where(asked[narrow] > 0, asked[narrow] * WIDER_SLIDE, FIRST_SLIDE)
        with suppress(Stuck):
            choice = _sliding(case, tests.needs, asked).safe(choice)
    around = np.zeros(case.problem.space.size, dtype=bool)
    while (narrow := tests.narrow(choice)).any():
        around[tests.needs.primaries[narrow]] = True
        choice = _withheld(case, around, choice)
        around = _linked(case.problem, around)
    choice = _lowered(case, tests, choice)
    bounds = [rung.bound for each in before.values() if isinstance(each, Adjustment) for rung in each.rungs if rung.bound is not None]
    keep("rules", Adjustment(rungs=(_rung(case, choice, max(bounds, default=None)),)))
    return case.ladder.publication(choice)


def _rung(case: Case, choice: Ints, bound: float | None) -> Rung:
    return Rung(SOMEBODY, Outcome.FEASIBLE, case.ladder.loss_of(choice), bound, None, 0.0, "drawn and tested", chosen=True)


class Tests:
    """The two tests for one choice after another. `lps`: linear programs of the second one so far."""

    def __init__(self, case: Case, decimals: Sequence[int]) -> None:
        self._case, self.needs, self.lps = case, case.requirements.strongest, 0
        self._step = np.tile(case.problem.space.spread(10.0**-each for each in decimals), len(case.problem.space.areas))
        self._free, self._known = hides_something(case.problem), dict[bytes, Bools]()
        self._never = left(case.problem, self.needs, Publication.nothing(case.ladder.cells), self._step, case.seed).narrow

    @property
    def without(self) -> int:
        """How many primaries have no claim."""
        return int(self._never.sum())

    def pass_(self, choice: Ints) -> bool:
        """Does the choice pass the audit, and leave every primary enough?"""
        return not self._case.broken(self._case.ladder.publication(choice)) and not self.narrow(choice).any()

    def narrow(self, choice: Ints) -> Bools:
        """(primaries,): left too little by a choice; none if nothing is published but what anybody can add up. Primaries for which the test
        fails with nothing published have no claim; which ones follows from public figures.
        """
        if (choice[self._free] == self._case.ladder.withheld).all():
            return np.zeros(len(self.needs.primaries), dtype=bool)
        if (key := choice.tobytes()) not in self._known:
            found = left(self._case.problem, self.needs, self._case.ladder.publication(choice), self._step, self._case.seed)
            self.lps += found.lps
            self._known[key] = found.narrow & ~self._never
        return self._known[key]


def _lowered(case: Case, tests: Tests, choice: Ints) -> Ints:
    """The choice with bases lowered, the dearest first, as long as both tests pass and the work is not done."""
    ladder, end = case.ladder, tests.lps + LOWERING_LPS
    for k in np.argsort(-ladder.loss[np.arange(len(choice)), choice], kind="stable").tolist():
        now = ladder.loss[k, choice[k]]
        for option in np.flatnonzero(ladder.loss[k] < now)[np.argsort(ladder.loss[k][ladder.loss[k] < now], kind="stable")].tolist():
            if tests.lps >= end:
                return choice
            lower = choice.copy()
            lower[k] = option
            if tests.pass_(lower):
                choice = lower
                break
    return choice


def _sliding(case: Case, needs: Requirements, asked: Floats) -> Case:
    """The case in which each primary that the national tables protect has a sliding level of so many times both its levels together."""
    slide = np.where(needs.cut, 0.0, asked * (needs.down + needs.up))
    wider = replace(needs, slide=slide, profiles=case.requirements.profiles)
    alone = Attacker(case.problem, replace(wider, down=np.zeros(len(slide)), up=np.zeros(len(slide))), case.seed)
    alone.settle()
    for attack in alone.broken:  # no more than the national tables leave
        slide[attack.primary] = min(slide[attack.primary], attack.reach * (1 - 1e-6))
    wider = replace(wider, slide=slide)
    return replace(case, requirements=wider, attacker=Attacker(case.problem, wider, case.seed), cuts=[])


def _withheld(case: Case, around: Bools, choice: Ints) -> Ints:
    """The choice with the cells over these national cells withheld; Stuck if they may not be, and if they are already."""
    space, ladder = case.problem.space, case.ladder
    over = np.isin((ladder.cells - space.first_aggregate) % space.national_size, np.flatnonzero(around) % space.national_size)
    free = over & hides_something(case.problem) & np.isfinite(ladder.loss[:, ladder.withheld])
    if not free.any():
        raise Stuck(np.flatnonzero(over))
    return np.asarray(np.where(free, ladder.withheld, choice))


def _linked(problem: ProtectionProblem, cells: Bools) -> Bools:
    """These cells, and the hidden ones that stand in a national relation with them; all hidden cells if there are no more."""
    inside = problem.space.relations.shape[0] - problem.space.aggregate_relations.shape[0]
    touching = abs(problem.space.relations[:inside])
    more = (touching.T @ (touching @ cells.astype(float)) > 0) & problem.suppressed
    return np.asarray(more | cells if (more & ~cells).any() else problem.suppressed)


def left_by(ladder: Ladder, floors: Floors) -> Ladder:
    """The ladder without the options that the key takes away."""
    gone = (ladder.base < floors.finest[:, None]) | ((ladder.base > 0) & (ladder.base < floors.first[:, None]))
    loss = np.where(gone, np.inf, ladder.loss)
    return replace(ladder, loss=loss)
