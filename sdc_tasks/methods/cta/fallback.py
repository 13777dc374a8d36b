"""Fallbacks: the rungs that a domain file lists (`cta.ladder`), one after the other. A rung runs if no rung
before it returned a table that is good enough, and each rung records its result.

    auto            the fast path: bound, first table, local search by regions
    bcd             block coordinate descent, from an earlier table that protects every cell, or else from
                    fix-and-relax
    milp            the whole model by CBC (through PuLP) or HiGHS, from the table of an earlier rung if there
                    is one
    fix-and-relax   a start point only
    benders         for two-dimensional tables
    (none)          no rung is listed, or no table is good enough: audit-driven bases alone

Each rung ends by counted work, the same on any machine. Its seconds are an abort: a rung that reaches them
returns nothing, and the release stops, because its figures would be different without this rung.
"""

from __future__ import annotations

import time
from dataclasses import replace

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.engine import EngineOptions, execute
from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.options import RungOptions
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.model.results import Adjustment, Outcome, Rung
from sdc_tasks.model.table import Floats
from sdc_tasks.solver.clock import Abort


def climb(
    problem: CtaProblem,
    truth: Floats,
    options: RungOptions,
    seed: int,
    before: Adjustment,
    accept_short: float = 0.0,
    say: Say = silent,
) -> Adjustment:
    """Runs the next rung. Returns `before` with its result. `truth` are the values a of the whole
    release, for the adjusted table x.

    A table that leaves at most the share `accept_short` of the sensitive cells short is accepted: the audit
    repairs the rest. Does nothing if an earlier rung was accepted.
    """
    if before.accepted:
        return before
    began = time.monotonic()
    if len(problem.sensitive) == 0:
        nothing = Rung(
            options.method,
            Outcome.OPTIMAL,
            0.0,
            0.0,
            0.0,
            0.0,
            "nothing to protect",
            accepted=True,
            chosen=True,
        )
        return Adjustment(truth, (*before.rungs, nothing))
    clock = Abort(f"rung {len(before.rungs) + 1} of the ladder, {options.method}", options.seconds)
    run = Run(problem, gap=options.gap, clock=clock, say=say, name=options.method)
    run.raise_bound(
        max((rung.bound for rung in before.rungs if rung.bound is not None), default=0.0), "an earlier rung"
    )
    chosen = EngineOptions(
        options.method, options.solver, gap=options.gap, seed=seed, rounds=options.rounds,
        polygon=options.polygon, blocks=options.blocks, nodes=options.nodes,
    )  # fmt: skip
    impossible = ""
    try:
        execute(run, chosen, None if before.x is None else (before.x - truth)[problem.cells] / problem.unit)
    except Unprotectable as error:
        impossible = str(error)
    rung = _rung(options, run, accept_short * len(problem.sensitive), impossible, time.monotonic() - began)
    x, z = before.x, run.table
    if z is not None and _better(rung, before):
        x = truth.copy()
        x[problem.cells] += z * problem.unit
    return Adjustment(x, (*before.rungs, replace(rung, chosen=x is not before.x)))


def _better(rung: Rung, before: Adjustment) -> bool:
    """Whether this table is better than the earlier one: better protected, or equally protected
    and closer.
    """

    def rank(r: Rung) -> tuple[int, float]:
        return r.unprotected, r.objective if r.objective is not None else float("inf")

    earlier = [r for r in before.rungs if r.chosen]
    return not earlier or rank(rung) < rank(earlier[-1])


def _work_done(run: Run) -> str:
    """“ after 3 rounds of bcd”, of all that the run counted; "" if that is nothing."""
    work = ", ".join(
        f"{number} {name if number != 1 else name.replace('s of', ' of', 1)}"
        for name, number in run.work.items()
    )
    return f" after {work}" if work else ""


def _falls_short(short: int, after: str, accepted: bool) -> str:
    fall = "cell falls short of its" if short == 1 else "cells fall short of their"
    return f"{short} sensitive {fall} level{after}{'; so few are left to the audit' if accepted else ''}"


def _rung(options: RungOptions, run: Run, few: float, impossible: str, seconds: float) -> Rung:
    best, bound, after = run.incumbent, run.bound or None, _work_done(run)
    if best is None:
        reason = impossible or f"no table{after}"
        return Rung(options.method, Outcome.NONE, None, bound, None, seconds, reason)
    objective, short, gap = best.verdict.objective, best.verdict.unprotected, run.gap
    if short:
        outcome, accepted = Outcome.RELAXED, short <= few and not impossible
        reason = impossible or _falls_short(short, after, accepted)
    elif gap is not None and gap <= options.gap:
        outcome, accepted, reason = Outcome.OPTIMAL, True, f"proven within {options.gap:.1%}{after}"
    else:
        outcome, accepted = Outcome.FEASIBLE, gap is not None and gap <= options.accept_gap
        reason = f"gap {gap:.1%}{after}; accepted up to {options.accept_gap:.1%}"
    return Rung(options.method, outcome, objective, bound, gap, seconds, reason, short, accepted)
