"""The methods of this program on the tables of `make compare`, as a user calls them; and two that nobody
should use by themselves, to see what a method is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.compare_judge import TOTAL, Judge, Key
from benchmarks.compare_tables import VALUE
from sdc_tasks.api import (
    NoiseDesign,
    SuppressResult,
    adjust,
    perturb,
    primary,
    round_counts,
    round_table,
    suppress,
)
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.attainable import attainable
from sdc_tasks.methods.suppression.engine import PatternOptions
from sdc_tasks.methods.suppression.engine import suppress as suppress_problem
from sdc_tasks.methods.suppression.linked import Link, linked
from sdc_tasks.methods.suppression.names import METHODS as PATTERNS
from sdc_tasks.methods.suppression.names import PatternMethod
from sdc_tasks.methods.suppression.partial.intervals import width_weights
from sdc_tasks.methods.suppression.partial.run import IntervalRun
from sdc_tasks.methods.suppression.partial.search import narrow_intervals
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.solver.clock import Limit

SECONDS = 10.0  # of a search that may take long
SEED = 1
SECRET, NOISE = "1f" * 31 + "a0", NoiseDesign(max_step=5, variance=3, js=2)
Cells = Mapping[Key, tuple[float, float | None, float | None]]  # low, high (None: nobody knows), shown
Method = Callable[[Judge], Cells]
MOVED = {"CTA, L1", "CTA, L2"}  # which say of no cell how far it may have moved


def frame(judge: Judge) -> pd.DataFrame:
    """The table with its requirements, a row for each cell, of linked tables for all their crossings. Empty
    cells stay open, but not among counts.
    """
    found = pd.DataFrame(judge.keys, columns=list(judge.case.dims))
    found[VALUE] = judge.a
    found["STATUS"] = np.where(
        judge.primary, "u", np.where((judge.a == 0) & (not judge.case.counted), "z", "s")
    )
    found["LPL"], found["UPL"] = judge.below, judge.above
    found["SINGLETON"] = [
        int(len(people) == 1 and secret)
        for people, secret in zip(judge.respondents, judge.primary, strict=True)
    ]
    return found


def _asked(judge: Judge) -> dict[str, object]:
    return {"total": TOTAL, "hierarchy": judge.case.hierarchy}


def _told(judge: Judge) -> dict[str, object]:
    return {**_asked(judge), "progress": False}


def _keys(judge: Judge, table: pd.DataFrame) -> list[Key]:
    """The code of totals as the judge has it."""
    return list(table[list(judge.case.dims)].replace("TOTAL", TOTAL).itertuples(index=False, name=None))


def _suppressed(judge: Judge, method: PatternMethod) -> SuppressResult:
    case, dims = judge.case, list(judge.case.dims)
    given: dict[str, object] = {"method": method, "seconds": SECONDS, "attainable": True, **_told(judge)}
    if case.counted:
        return suppress(frame(judge), dims, VALUE, singleton="SINGLETON", **given)
    return suppress(case.records, dims, VALUE, rules=case.rules, **given)


def _joined(judge: Judge) -> tuple[SensitiveTable, list[Key]]:
    """Tables that share cells, as one problem, and the codes of its cells."""
    case = judge.case
    found = {
        "x".join(dims): primary(case.records, list(dims), VALUE, rules=case.rules, **_asked(judge))
        for dims in case.linked
    }
    where: dict[Key, list[tuple[str, int]]] = {}
    for (name, table), dims in zip(found.items(), case.linked, strict=True):
        for place, codes in enumerate(table.cells.keys):
            told = dict(zip(dims, codes, strict=True))
            key = tuple(told.get(each, TOTAL).replace("TOTAL", TOTAL) for each in case.dims)
            where.setdefault(key, []).append((name, place))
    shared = [Link(tuple(cells)) for cells in where.values() if len(cells) > 1]
    joined = linked({name: table._crossed.problem for name, table in found.items()}, shared)
    keys = {int(joined.cells[name][place]): key for key, ((name, place), *_) in where.items()}
    return attainable(joined.problem).problem, [keys[cell] for cell in range(len(keys))]


def _pattern_of_linked(judge: Judge, method: PatternMethod) -> Cells:
    problem, keys = _joined(judge)
    hidden = suppress_problem(problem, PatternOptions(method, SECONDS)).pattern
    if hidden is None:
        raise InvalidInput("no safe pattern in the time given")
    return {
        key: (0.0, None, None) if blank else (value, value, value)
        for key, value, blank in zip(keys, problem.a.tolist(), hidden.tolist(), strict=True)
    }


def _pattern(judge: Judge, method: PatternMethod) -> Cells:
    if judge.case.linked:
        return _pattern_of_linked(judge, method)
    table = _suppressed(judge, method).public
    return {
        key: (0.0, None, None) if np.isnan(value) else (value, value, value)
        for key, value in zip(_keys(judge, table), table[VALUE], strict=True)
    }


def _intervals(judge: Judge) -> Cells:
    """The search of `sdc intervals`, on the problem that `suppress` solves."""
    if judge.case.linked:
        problem, keys = _joined(judge)
    else:
        found = _suppressed(judge, "cover")
        problem, keys = found._crossed.problem, _keys(judge, found.table)
    run = IntervalRun(problem, width_weights(problem), Limit(SECONDS))
    narrow_intervals(run)
    if run.incumbent is None:
        raise InvalidInput("no safe intervals in the time given")
    below, above = run.incumbent.below, run.incumbent.above
    return {
        key: (a - down, a + up, a if down == up == 0 else None)
        for key, a, down, up in zip(keys, problem.a, below, above, strict=True)
    }


def _adjusted(judge: Judge, distance: str) -> Cells:
    found = adjust(
        frame(judge), list(judge.case.dims), VALUE, distance=distance, seconds=SECONDS, **_told(judge)
    )
    return {
        key: (0.0, None, value)
        for key, value in zip(_keys(judge, found.public), found.public[VALUE], strict=True)
    }


def base_of(judge: Judge) -> float:
    """The least of 1, 2, 5, 10, 20 … that is no less than any level, 3 for counts."""
    if judge.case.counted:
        return 3.0
    largest = max(judge.below.max(), judge.above.max())
    steps = (step * 10.0**power for power in range(12) for step in (1, 2, 5))
    return next(step for step in steps if step >= largest)


def _rounded(judge: Judge, method: str, weights: str = "one") -> Cells:
    base = base_of(judge) if method == "controlled" else None
    found = round_table(
        frame(judge),
        list(judge.case.dims),
        VALUE,
        base=base,
        method=method,
        seconds=SECONDS,
        seed=SEED,
        attainable=True,
        weights=weights,
        **_told(judge),
    )
    shown = dict(zip(_keys(judge, found.public), found.public[VALUE], strict=True))
    between = found.intervals()
    ends = {
        key: (low, high)
        for key, low, high in zip(_keys(judge, between), between["LOW"], between["HIGH"], strict=True)
    }
    return {key: (*ends.get(key, (value, value)), value) for key, value in shown.items()}


def _counts(judge: Judge, rule_aware: bool) -> Cells:
    """Of a published count a reader knows the base, and which inner cells may have moved."""
    case = judge.case
    if not case.counted:
        raise InvalidInput("it rounds counts alone")
    found = round_counts(
        case.records,
        list(case.dims),
        base=3,
        hierarchy=case.hierarchy,
        seed=SEED,
        rule_aware=rule_aware,
        progress=False,
    )
    between = found.intervals()
    ends = {
        key: (low, high)
        for key, low, high in zip(_keys(judge, between), between["LOW"], between["HIGH"], strict=True)
    }
    shown = dict(zip(_keys(judge, found.public), found.public["ROUNDED"], strict=True))
    return {key: (*ends.get(key, (value, value)), value) for key, value in shown.items()}


def _cell_keys(judge: Judge) -> Cells:
    """A reader knows the largest noise of the design."""
    case = judge.case
    if not case.counted:
        raise InvalidInput("it perturbs counts alone")
    people = case.records.assign(PERSON=range(len(case.records)))
    found = perturb(
        people,
        list(case.dims),
        NOISE,
        secret=SECRET,
        record="PERSON",
        hierarchy=case.hierarchy,
        progress=False,
    )
    return {
        key: (max(0.0, float(count) - NOISE.max_step), float(count) + NOISE.max_step, float(count))
        for key, count in zip(_keys(judge, found.public), found.public["PERTURBED"], strict=True)
    }


def _primaries_hidden(judge: Judge) -> Cells:
    return {
        key: (0.0, None, None) if secret else (a, a, a)
        for key, a, secret in zip(judge.keys, judge.a, judge.primary, strict=True)
    }


def _each_rounded(judge: Judge) -> Cells:
    base = base_of(judge)
    shown = np.floor(judge.a / base + 0.5) * base
    return {
        key: (max(0.0, value - base / 2), value + base / 2, value)
        for key, value in zip(judge.keys, shown, strict=True)
    }


METHODS: Mapping[str, Method] = {
    **{f"suppression, {name}": partial(_pattern, method=name) for name in PATTERNS if name != "auto"},
    "intervals": _intervals,
    "CTA, L1": partial(_adjusted, distance="l1"),
    "CTA, L2": partial(_adjusted, distance="l2"),
    "controlled rounding": partial(_rounded, method="controlled"),
    "controlled rounding, inverse weights": partial(_rounded, method="controlled", weights="inverse"),
    "quadratic rounding": partial(_rounded, method="quadratic"),
    "small count rounding": partial(_counts, rule_aware=False),
    "small count rounding, rule-aware": partial(_counts, rule_aware=True),
    "cell keys": _cell_keys,
    "primaries alone hidden": _primaries_hidden,
    "each cell rounded": _each_rounded,
}
