"""Repair of a choice of bases, driven by the audit (METHOD §4).

An attack that succeeds gives a cut that every safe choice satisfies (`cut.py`),

    need ≤ reach + Σ_k price⁺_k (high_k − high⁰_k) + Σ_k price⁻_k (low_k − low⁰_k).

Repair takes the attacks one by one. It raises bases at least loss until the cut holds, attacks again, and
repeats this until the attack fails. The next attack meets the bases already raised. An attack is not repeated
if a witness has meanwhile shown that it fails. Cells of one stratum rise together. A full audit follows,
because a raised interval need not contain the earlier one. Repair ends: every raise moves a cell towards
withheld, and withholding everything is the baseline.

If a safe choice above is given, no cell needs to rise above it: the safe choice meets every cut. An attack
that an LP shows to fail also gives a cut: the present choice meets it, a lower choice may not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack import Attacker
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.methods.bases.search.cut import cut_of, slack_of
from sdc_tasks.model.progress import Progress, Say
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, TINY
from sdc_tasks.optimise import Cut


class Stuck(Unprotectable):
    """An attack succeeds although no aggregate cell that it uses may be raised further; `decided` are these
    cells.
    """

    def __init__(self, decided: Ints) -> None:
        super().__init__(
            "bases: an attack succeeds although no aggregate cell that it leans on may be raised any further"
        )
        self.decided = decided


def repair(
    attacker: Attacker,
    ladder: Ladder,
    choice: Ints,
    rounds: int,
    progress: Say,
    cuts: list[Cut],
    safe: Ints | None = None,
) -> Ints:
    """A safe choice, nowhere below the given one. From audit number `rounds` on, cells that attacks
    still use are withheld one by one.

    With a `safe` choice above: the result is nowhere above it, and such cells take its option instead. The
    cuts of all attacks are appended to `cuts`. Raises Stuck if the ladder has no higher allowed option.
    """
    choice = choice.copy()
    most = np.full(len(choice), ladder.withheld) if safe is None else safe
    audits, work = 0, Progress(progress, "repair")
    while True:
        attacker.set_publication(ladder.publication(choice))
        attacker.prove_all()
        audits += 1
        broken = list(attacker.broken)
        found = [cut_of(attack, attacker.needs, ladder, choice) for attack in broken]
        cuts += found + _close(attacker, ladder, choice)
        progress(f"audit {audits}: {len(broken)} requirements broken")
        if not broken:
            return choice
        for number, (attack, cut) in enumerate(zip(broken, found, strict=True)):
            work.tell(number, len(broken), f"attacks of audit {audits} answered")
            if audits < rounds:
                raise_to(cut, attack.need, ladder, choice, most)
            while not attacker.shown(attack):
                again = attacker.again(attack, ladder.publication(choice))
                cuts += _close(attacker, ladder, choice)
                if again is None:
                    break
                cuts.append(cut_of(again, attacker.needs, ladder, choice))
                if audits >= rounds or not raise_to(cuts[-1], attack.need, ladder, choice, most):
                    _last(cuts[-1], ladder, choice, most)


def _close(attacker: Attacker, ladder: Ladder, choice: Ints) -> list[Cut]:
    """The cuts from attacks that just failed, except those that every choice meets."""
    return [
        cut for attack in attacker.failed if (cut := cut_of(attack, attacker.needs, ladder, choice)).right > 0
    ]


def raise_to(cut: Cut, need: float, ladder: Ladder, choice: Ints, most: Ints) -> bool:
    """Raises bases, at most to `most`, until the cut of an attack with this need holds: each time the base
    with the least loss per unit of what is missing. Then it lowers bases that are higher than needed, those
    with much loss first. False if it raised nothing.
    """
    slack = np.abs(cut.coefficients)[:, None] * slack_of(ladder, cut.columns, cut.coefficients)
    gives: dict[int, Floats] = {}  # a cell may be named on both sides
    for k, by_option in zip(cut.columns.tolist(), slack, strict=True):
        gives[k] = gives.get(k, 0.0) + by_option
    before, enough = dict[int, int](), -FEASIBILITY * need / 2
    while True:
        missing = cut.right - sum(float(by_option[choice[k]]) for k, by_option in gives.items())
        if missing <= enough:
            break
        k, option = _cheapest(gives, missing - enough, ladder, choice, most)
        if k < 0 and missing <= -enough:  # all that a choice can give which just meets the need
            break
        if k < 0:
            raise Stuck(np.unique(cut.columns))
        before.setdefault(k, int(choice[k]))
        choice[ladder.together(k, option, choice)] = option
    for k in sorted(before, key=lambda k: (-float(ladder.loss[k, choice[k]]), k)):
        if ladder.stratum[k] < 0:
            back = np.arange(before[k], choice[k])
            more = gives[k][choice[k]] - gives[k][back]
            fits = np.flatnonzero((missing + more <= enough) & np.isfinite(ladder.loss[k, back]))
            if len(fits):
                missing += float(more[fits[0]])
                choice[k] = back[fits[0]]
    return bool(before)


def _cheapest(
    gives: Mapping[int, Floats], missing: float, ladder: Ladder, choice: Ints, most: Ints
) -> tuple[int, int]:
    """(cell, option) of the higher base with the least loss per unit of what is missing; −1 for none."""
    best, cell, at = np.inf, -1, -1
    options = np.arange(ladder.loss.shape[1])
    for k, by_option in gives.items():
        gain = np.minimum(by_option - by_option[choice[k]], missing)
        loss = np.maximum(ladder.dearer(k, choice), TINY)
        upwards = (options > choice[k]) & (options <= most[k]) & (gain > 0) & np.isfinite(loss)
        ratio = np.where(upwards, loss / np.where(upwards, gain, 1.0), np.inf)
        option = int(ratio.argmin())
        if ratio[option] < best:
            best, cell, at = float(ratio[option]), k, option
    return cell, at


def _last(cut: Cut, ladder: Ladder, choice: Ints, most: Ints) -> None:
    """The last resort: every cell that a successful attack uses rises as far as allowed."""
    cells = np.unique(cut.columns)
    free = cells[np.isfinite(ladder.loss[cells, most[cells]]) & (choice[cells] < most[cells])]
    if not len(free):
        raise Stuck(cells)
    choice[free] = most[free]
