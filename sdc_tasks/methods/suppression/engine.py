"""The engine: one suppression problem, one method, one run that can be watched and stopped.

result = suppress(problem, PatternOptions(gap=0.01))             # a call that returns when it is done

run = SuppressionRun(problem, Limit(60.0), gap=0.01)             # in the thread that watches
execute(run, options)                                            # in the thread that works
run.incumbent, run.bound, run.history                                 # at any time

auto     cubes, for large crossed tables that are no networks; else exact
exact    cutting planes ([2] §4.1), anytime: exact.py
paths    shortest paths ([2] §4.2), for two-dimensional and 1H2D tables: paths.py
network  minimum-cost flows ([2] §4.2), for the same tables: network.py
cover    linear programs, one for each primary and side: covering/patterns.py
cubes    hypercubes through all levels, each its own proof, for tables whose dimensions are known: cubes/
hypercube, hitas   what offices know ([2] §4.3), for tables whose dimensions are known, completed
until they are safe: classical/

Where it is known who contributes to the cells, sums of hidden cells are protected too: summed.py. A pattern
counts only if `judge.pattern`, which shares no code with the methods, finds it safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from sdc_tasks.methods.suppression.classical.hitas import modular
from sdc_tasks.methods.suppression.classical.hypercube import hypercubes
from sdc_tasks.methods.suppression.covering.patterns import cover
from sdc_tasks.methods.suppression.cubes.method import cubes, large_grid
from sdc_tasks.methods.suppression.exact import Work, suppress_exactly
from sdc_tasks.methods.suppression.min_contributors import suppress_with_minimum
from sdc_tasks.methods.suppression.names import PatternMethod
from sdc_tasks.methods.suppression.network import minimum_cost_flows
from sdc_tasks.methods.suppression.paths import shortest_paths
from sdc_tasks.methods.suppression.pattern.result import SuppressionResult
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.methods.suppression.pattern.sums import sums_are_judged
from sdc_tasks.methods.suppression.summed import with_sums_kept
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.time.moment import Moment
from sdc_tasks.model.tolerances import GAP
from sdc_tasks.solver.clock import Limit


@dataclass(frozen=True)
class PatternOptions:
    """How to search.

    `seconds`: a time limit for any method; with it, the result depends on the load of the machine. Without
    it, a search ends by counted work, and equal problem, options and solver versions give the same pattern.
    `gap`: the search ends when (cost − bound) / cost is this small. `seed`: another seed searches in another
    order. `work`: the counted work of the exact method.
    """

    method: PatternMethod = "auto"
    seconds: float = math.inf
    gap: float = GAP
    seed: int = 1
    work: Work = field(default_factory=Work)


def suppress(
    problem: SensitiveTable,
    options: PatternOptions | None = None,
    report: Callable[[Moment], None] | None = None,
) -> SuppressionResult:
    """The cheapest safe pattern that a method finds for a problem, verified, and the bound
    that it proves ([2] §4, eq. 5–7).

    `report` receives each better pattern and bound. Raises Unprotectable, naming the cell, if even hiding
    every cell does not protect it.
    """
    options = options or PatternOptions()
    run = SuppressionRun(problem, Limit(options.seconds), options.gap, report)
    return run.result(options.method, execute(run, options))


def execute(run: SuppressionRun, options: PatternOptions) -> str:
    """Searches until the run is over or the work is done; returns "time" or "work"."""
    method = _METHODS[options.method]

    def search(inner: SuppressionRun) -> str:
        return (
            suppress_with_minimum(inner, lambda each: method(each, options))
            if inner.problem.minimum
            else method(inner, options)
        )

    return with_sums_kept(run, search, options.seed) if sums_are_judged(run.problem) else search(run)


def _auto(run: SuppressionRun, options: PatternOptions) -> str:
    grid = large_grid(run.problem)
    if grid is not None:
        ended = cubes(run, options.seed, grid)
        if run.incumbent is not None or run.left <= 0:
            return ended
    return _exact(run, options)


def _exact(run: SuppressionRun, options: PatternOptions) -> str:
    return suppress_exactly(run, options.work, options.seed)


def _paths(run: SuppressionRun, options: PatternOptions) -> str:
    return shortest_paths(run, options.seed)


def _network(run: SuppressionRun, options: PatternOptions) -> str:
    return minimum_cost_flows(run, options.seed)


def _cubes(run: SuppressionRun, options: PatternOptions) -> str:
    return cubes(run, options.seed)


def _hypercube(run: SuppressionRun, options: PatternOptions) -> str:
    return hypercubes(run, options.seed)


def _hitas(run: SuppressionRun, options: PatternOptions) -> str:
    return modular(run, options.seed)


def _cover(run: SuppressionRun, options: PatternOptions) -> str:
    return cover(run, options.seed)


_METHODS: Mapping[PatternMethod, Callable[[SuppressionRun, PatternOptions], str]] = {
    "auto": _auto,
    "exact": _exact,
    "paths": _paths,
    "network": _network,
    "cover": _cover,
    "cubes": _cubes,
    "hypercube": _hypercube,
    "hitas": _hitas,
}
assert set(_METHODS) == set(get_args(PatternMethod)), "a method without a name, or a name without a method"
