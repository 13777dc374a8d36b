"""The ladder of strategies: each rung is tried when the one before returned no table good enough, and says so.

    milp     the whole model through PuLP, from the table of an earlier rung if there is one, stopped by gap, nodes or time
    bcd      block coordinate descent, from an earlier table that protects every cell, or from an elastic one
    elastic  fixed senses; some cells may fall short of their level
    (none)   an empty ladder, or no table good enough: audit-driven bases alone

A table found when the clock ran out depends on the machine: it is used where it is accepted, and else only reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from sdc_tasks.methods.cta.bcd import block_coordinate_descent
from sdc_tasks.methods.cta.elastic import Incumbent, elastic, polished
from sdc_tasks.methods.cta.model import CtaProblem, verify
from sdc_tasks.model.results import Adjustment, Outcome, Rung
from sdc_tasks.model.table import Floats
from sdc_tasks.solver.lp import Status
from sdc_tasks.solver.milp import SolverName, solve_milp

Found = tuple[Incumbent | None, float | None, bool]  # table, bound in weight · data units, stopped by the clock


class RungOptions(Protocol):
    """One rung as the domain file gives it."""

    @property
    def method(self) -> Literal["milp", "bcd", "elastic"]: ...
    @property
    def solver(self) -> SolverName: ...
    @property
    def seconds(self) -> float: ...
    @property
    def nodes(self) -> int | None: ...
    @property
    def gap(self) -> float: ...
    @property
    def accept_gap(self) -> float: ...
    @property
    def blocks(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def flips(self) -> int: ...


def climb(problem: CtaProblem, truth: Floats, options: RungOptions, seed: int, period: int, before: Adjustment) -> Adjustment:
    """The next rung: `before` plus what this one returned. `truth` = a of the whole release, for the adjusted table x.

    Does nothing where an earlier rung was accepted.
    """
    if before.accepted:
        return before
    began = time.monotonic()
    if len(problem.sensitive) == 0:
        nothing = Rung(options.method, Outcome.OPTIMAL, 0.0, 0.0, 0.0, 0.0, "nothing to protect", accepted=True, chosen=True)
        return Adjustment(truth, (*before.rungs, nothing))
    start = None if before.x is None else (before.x - truth)[problem.cells] / problem.unit
    found, bound, clock = _METHODS[options.method](problem, options, seed, period, start)
    bounds = [max(0.0, known) for known in (bound, *(rung.bound for rung in before.rungs)) if known is not None]
    rung = _rung(options, found, max(bounds, default=None), clock, time.monotonic() - began)
    x = before.x
    if found is not None and (rung.accepted or not clock) and _better(rung, before):
        x = truth.copy()
        x[problem.cells] += found.z * problem.unit
    return Adjustment(x, (*before.rungs, replace(rung, chosen=x is not before.x)))


def _better(rung: Rung, before: Adjustment) -> bool:
    """Is this table to be used instead of the earlier one: better protected, then closer."""

    def rank(r: Rung) -> tuple[int, float]:
        return r.unprotected, r.objective if r.objective is not None else np.inf

    earlier = [r for r in before.rungs if r.chosen]
    return not earlier or rank(rung) < rank(earlier[-1])


def _rung(options: RungOptions, found: Incumbent | None, bound: float | None, clock: bool, seconds: float) -> Rung:
    stopped = " when its time was up" if clock else ""
    if found is None:
        return Rung(options.method, Outcome.NONE, None, bound, None, seconds, f"no table{stopped}", clock=clock)
    objective, short = found.verdict.objective, found.verdict.unprotected
    gap = None if bound is None or objective <= 0 else max(0.0, (objective - bound) / objective)
    if short:
        outcome, accepted = Outcome.RELAXED, False
        reason = f"{short} sensitive cells fall short of their level{stopped}"
    elif objective == 0 or (gap is not None and gap <= options.gap):
        outcome, accepted, reason = Outcome.OPTIMAL, True, f"proven within {options.gap:.1%}"
    else:
        outcome, accepted = Outcome.FEASIBLE, gap is not None and gap <= options.accept_gap
        shown = "no bound" if gap is None else f"gap {gap:.1%}"
        reason = f"{shown}{stopped}; accepted up to {options.accept_gap:.1%}"
    return Rung(options.method, outcome, objective, bound, gap, seconds, reason, short, clock, accepted)


def _milp(problem: CtaProblem, options: RungOptions, seed: int, period: int, start: Floats | None) -> Found:
    usable = start is not None and verify(problem, start).unprotected == 0
    warm = problem.columns(start) if start is not None and usable else None
    result = solve_milp(problem.milp, options.solver, options.seconds, options.gap, options.nodes, warm)
    bound = None if result.bound is None else result.bound * problem.unit
    if result.x is None:
        return None, bound, result.status is Status.STOPPED
    return _sound(polished(problem, problem.deviation(result.x))), bound, result.status is not Status.OPTIMAL


def _bcd(problem: CtaProblem, options: RungOptions, seed: int, period: int, start: Floats | None) -> Found:
    begun, clock = elastic(problem, options.seconds, options.flips, seed, start)
    if clock or begun.verdict.unprotected:
        return _sound(begun), None, clock
    best, clock = block_coordinate_descent(problem, begun, period, options.blocks, options.cycles, options.seconds, seed)
    return _sound(best), None, clock


def _elastic(problem: CtaProblem, options: RungOptions, seed: int, period: int, start: Floats | None) -> Found:
    best, clock = elastic(problem, options.seconds, options.flips, seed, start)
    return _sound(best), None, clock


def _sound(found: Incumbent) -> Incumbent | None:
    """The table, if it is one: additive and within its bounds."""
    return found if found.verdict.is_table else None


_METHODS: dict[str, Callable[[CtaProblem, RungOptions, int, int, Floats | None], Found]] = {"milp": _milp, "bcd": _bcd, "elastic": _elastic}
