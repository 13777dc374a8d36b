"""The rule for bases that withstands somebody who has the program (METHOD §9, Theorems 3 and 4).

    1. The key takes options away (`floors`).
    2. The finest choice that is left is published if it passes two tests: the audit, and `attack/replay/left.py`, which asks whether the
       tables that pass leave every primary as wide an interval as both its levels together.
    3. Otherwise a search goes on over what is left. It may use the true values as it likes: for every table for which its result passes
       both tests, another key publishes that result in step 2.

The search begins with a safe choice, by the audit or the CTA rule. The primaries that it leaves too little get a sliding level, and repair
raises bases until all have it. What is still too narrow is raised by what it lacks (`attack/replay/lack.py`), or gets a higher sliding
level; and so on. In the end it lowers bases as long as both tests pass, by counted work. To withhold everything always passes: then nothing
was decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Attack, Attacker, Requirements
from sdc_tasks.methods.attack.replay.lack import Shortage, lacks
from sdc_tasks.methods.attack.replay.left import Left, left
from sdc_tasks.methods.bases.aware.floors import Floors
from sdc_tasks.methods.bases.comparison import RULES, Keep, Kept, best_choice
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.rules import Case, by_audit
from sdc_tasks.methods.bases.search.cut import cut_of
from sdc_tasks.methods.bases.search.repair import Stuck, raise_to
from sdc_tasks.methods.bases.strata import hides_something
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.model.results import Adjustment, Outcome, Publication, Rung
from sdc_tasks.model.table import Bools, Floats, Ints

FIRST_SLIDE = 2.2  # sliding level of a primary that is narrow at first, as a multiple of both levels
WIDER_SLIDE = 1.6  # times so much where raising by what is lacking does not help
MOST_SLIDE = 10.0
SLIDE_AGAIN = 2  # from this test on, every narrow primary gets a wider sliding level
TANGENT_LESS = 1.2  # times what is lacking: a tangent promises too much
MORE_EACH_TIME = 0.05  # of the width, and so much more with each test
SOMEBODY = "somebody who has the program"
WIDENINGS = 16  # tests; then the cells over narrow primaries are withheld
LOWERING_LPS = 300  # linear programs of the tests after which no base is lowered any more


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
    finest, safe = case.ladder.at_least(np.zeros(len(case.ladder.cells))), by_audit(case)
    if np.array_equal(safe, finest) and not tests.narrow(finest).any():  # repair changes what fails the audit, and only that
        case.note(f"{SOMEBODY}: the finest choice that the key leaves passes both tests")
        keep(RULES, Adjustment(rungs=(_rung(case, finest, None),)))
        return case.ladder.publication(finest)
    before = dict[str, Kept]()
    start = best_choice(case, options.model_copy(update={"rule": "cta"}), x, trusted, before.__setitem__, safe)
    choice = Widening(case, tests).wide(start)
    around = np.zeros(case.problem.space.size, dtype=bool)
    while (narrow := tests.narrow(choice)).any():
        wider = around_of(case.problem, around, tests.needs.primaries[narrow])
        if np.array_equal(wider, around):
            raise Stuck(np.flatnonzero(hides_something(case.problem)))
        around, choice = wider, _withheld(case, wider, choice)
        gone = int((choice == case.ladder.withheld).sum())
        case.progress(f"{SOMEBODY}: {int(narrow.sum())} primaries were left too little; {gone} cells over them and beside are withheld")
    choice = _lowered(case, tests, choice)
    bounds = [rung.bound for each in before.values() if isinstance(each, Adjustment) for rung in each.rungs if rung.bound is not None]
    keep(RULES, Adjustment(rungs=(_rung(case, choice, max(bounds, default=None)),)))
    return case.ladder.publication(choice)


def _rung(case: Case, choice: Ints, bound: float | None) -> Rung:
    return Rung(SOMEBODY, Outcome.FEASIBLE, case.ladder.loss_of(choice), bound, None, 0.0, "drawn and tested", chosen=True)


class Tests:
    """The two tests for one choice after another. `lps`: linear programs of the second one so far, at most `lps_each` for one choice."""

    def __init__(self, case: Case, decimals: Sequence[int]) -> None:
        self._case, self.needs, self.lps, self.lps_each = case, case.requirements.strongest, 0, 0
        self._step = case.problem.space.last_decimals(decimals)
        self._free, self._left, self._lacks = hides_something(case.problem), dict[bytes, Left](), dict[bytes, list[Shortage]]()
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
        if (key := choice.tobytes()) not in self._left:
            found = left(self._case.problem, self.needs, self._case.ladder.publication(choice), self._step, self._case.seed)
            self.lps += found.lps
            self.lps_each = max(self.lps_each, found.lps)
            self._left[key] = found
        return self._left[key].narrow & ~self._never

    def lacks(self, choice: Ints) -> list[Shortage]:
        """What a tested choice would need."""
        if (key := choice.tobytes()) not in self._lacks:
            self._lacks[key] = lacks(self._left[key], self.narrow(choice), self._step[self.needs.primaries])
        return self._lacks[key]


def _lowered(case: Case, tests: Tests, choice: Ints) -> Ints:
    """The choice with bases lowered, the dearest first, as long as both tests pass and the work is not done."""
    ladder, end = case.ladder, tests.lps + LOWERING_LPS - tests.lps_each
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


class Widening:
    """Raises bases until no primary is left too little. `_slides`: the case with sliding levels, `_asked` times both levels together,
    at most `_most` (not a number where none was asked yet).
    """

    def __init__(self, case: Case, tests: Tests) -> None:
        self._case, self._slides, self._tests = case, case, tests
        self._asked, self._most = np.zeros(len(tests.needs.primaries)), np.full(len(tests.needs.primaries), np.nan)

    def wide(self, choice: Ints) -> Ints:
        """The safe choice, raised. It may leave some too little when the tests are used up, or when nothing more can be raised."""
        for number in range(WIDENINGS):
            narrow = self._tests.narrow(choice)
            self._case.progress(f"{SOMEBODY}, test {number}: {int(narrow.sum())} of {len(narrow)} primaries are left too little")
            if not narrow.any():
                break
            higher, slide = self._raised(choice, narrow, number) if number else (choice, narrow)
            if number >= SLIDE_AGAIN:
                slide = narrow
            if slide.any():
                self._asked[slide] = np.where(self._asked[slide] > 0, self._asked[slide] * WIDER_SLIDE, FIRST_SLIDE)
                self._slides = self._sliding()
            with suppress(Stuck):
                choice = self._slides.safe(higher)
        return choice

    def _raised(self, choice: Ints, narrow: Bools, number: int) -> tuple[Ints, Bools]:
        """The choice raised by what it lacks, and the primaries for which that is not enough, or nothing can be raised."""
        ladder, needs = self._case.ladder, self._tests.needs
        higher, most, still = choice.copy(), np.full(len(choice), ladder.withheld), np.zeros(len(narrow), dtype=bool)
        for lack in sorted(self._tests.lacks(choice), key=lambda lack: (-lack.missing / lack.need, lack.primary)):
            missing = lack.missing * TANGENT_LESS + MORE_EACH_TIME * (number + 1) * lack.need
            attack = Attack(max(lack.primary, 0), 0, lack.need, lack.need - missing, lack.decided, lack.price)
            try:
                raise_to(cut_of(attack, needs, ladder, choice), lack.need, ladder, higher, most)
            except Stuck:
                still |= narrow if lack.primary < 0 else np.arange(len(narrow)) == lack.primary
        return higher, still

    def _sliding(self) -> Case:
        """The case with the sliding levels asked so far. Tables that were found for the last one are tried first."""
        needs, problem = self._tests.needs, self._case.problem
        new = np.flatnonzero((self._asked > 0) & np.isnan(self._most))
        self._most[new] = _most_sliding(self._case, needs.rows(new))
        slide = np.where(self._asked > 0, np.minimum(self._asked * (needs.down + needs.up), self._most), 0.0)
        wider = replace(needs, slide=slide, profiles=self._case.requirements.profiles)
        attacker = Attacker(problem, wider, self._case.seed)
        attacker.offer(witness.dense(int(problem.suppressed.sum())) for _, witness in self._slides.attacker.witnesses())
        return replace(self._slides, requirements=wider, attacker=attacker)


def _most_sliding(case: Case, needs: Requirements) -> Floats:
    """(rows,): no sliding level asks for more: what the national tables leave, and 0 for a primary that they do not protect."""
    most, none = np.where(needs.cut, 0.0, MOST_SLIDE * (needs.down + needs.up)), np.zeros(len(needs.primaries))
    alone = Attacker(case.problem, replace(needs, down=none, up=none, slide=most, profiles=case.requirements.profiles), case.seed)
    alone.settle()
    for attack in alone.broken:
        most[attack.primary] = min(most[attack.primary], attack.reach * (1 - 1e-6))
    return most


def _withheld(case: Case, around: Bools, choice: Ints) -> Ints:
    """The choice with the cells over these national cells withheld; Stuck if they may not be, and if they are already."""
    space, ladder = case.problem.space, case.ladder
    over = np.isin((ladder.cells - space.first_aggregate) % space.national_size, np.flatnonzero(around) % space.national_size)
    free = over & hides_something(case.problem) & np.isfinite(ladder.loss[:, ladder.withheld])
    if not free.any():
        raise Stuck(np.flatnonzero(over))
    return np.asarray(np.where(free, ladder.withheld, choice))


def around_of(problem: ProtectionProblem, before: Bools, cells: Ints) -> Bools:
    """What was withheld before and these cells, too. Where that is nothing new, the cells beside them as well: more around others would
    not help them, and cost much.
    """
    wider, own = before.copy(), np.zeros(len(before), dtype=bool)
    wider[cells], own[cells] = True, True
    while np.array_equal(wider, before) and not np.array_equal(own, more := _linked(problem, own)):
        own = more
        wider |= own
    return wider


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
