"""`sdc intervals`: a table with primaries in, an interval for each cell out; watched and
stopped in time, as `sdc suppress`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.options import METHOD, OUTPUT, AskedLayout, takes
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.pattern import COST_HELP, leave, measure_of, refuse_column
from sdc_tasks.cli.searches.told import FACTS_HELP, figures_text, history_until, show_figures, tell_sums
from sdc_tasks.cli.searches.watch import Worker, follow
from sdc_tasks.cli.shared import is_jj, refuse_place
from sdc_tasks.errors import InvalidInput, Unprotectable

if TYPE_CHECKING:
    from sdc_tasks.methods.suppression.partial.intervals import Intervals
    from sdc_tasks.methods.suppression.partial.run import IntervalRun
    from sdc_tasks.model.sensitive import SensitiveTable
    from sdc_tasks.model.table import Floats

PRINTED_DECIMALS = 6


@dataclass(frozen=True)
class KeyedProblem:
    """The problem of a table, and what names its cells: a column of codes for each
    dimension; a JJ cell has its number.
    """

    problem: SensitiveTable = field(repr=False)
    dimensions: Sequence[str]
    keys: Sequence[tuple[str, ...]] = field(repr=False)


@dataclass(frozen=True)
class IntervalSearch:
    """How to search."""

    cost: Annotated[
        str,
        typer.Option(
            help=f"{COST_HELP}; or the column of costs; an interval as wide as the value costs as much as "
            f"hiding it",
            rich_help_panel=METHOD,
        ),
    ] = "value"
    blur: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=10.0,
            help="each level is enlarged by a secret random share of it, at most this; 0: levels as they are",
            rich_help_panel=METHOD,
        ),
    ] = 0.5
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="repeats the enlarged levels; must stay secret; default: random",
            rich_help_panel=METHOD,
        ),
    ] = None
    unit: Annotated[
        float | None,
        typer.Option(
            help="ends are moved outwards to multiples of this; default: the last decimal of the values",
            rich_help_panel=METHOD,
        ),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="limit of the search; without it the search ends by counted work",
            rich_help_panel=METHOD,
        ),
    ] = None
    gap: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="stop when (loss − bound) / loss is proven to be no more than this",
            rich_help_panel=METHOD,
        ),
    ] = 1e-3

    def __post_init__(self) -> None:
        if self.unit is not None and not (math.isfinite(self.unit) and self.unit > 0):
            raise InvalidInput(
                "--unit: a number above 0 is expected. Remedy: 1 for whole numbers, 0.01 for two decimals"
            )


def intervals(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="a τ-ARGUS JJ file with status u for primaries; or, with --dims, CSV or Parquet "
            "with STATUS, LPL, UPL"
        ),
    ],
    layout: Annotated[AskedLayout, takes("dims", "value", "total", "hierarchy")],
    asked: IntervalSearch,
    place: Annotated[
        Path | None,
        typer.Option(
            "--out", help="CSV: the codes of each cell, LOW and HIGH; no other value", rich_help_panel=OUTPUT
        ),
    ] = None,
    facts: Annotated[Path | None, typer.Option("--json", help=FACTS_HELP, rich_help_panel=OUTPUT)] = None,
) -> None:
    """Finds the narrowest intervals that keep every primary cell of a table at its protection
    levels, instead of hiding cells.

    Ctrl-C and the limit of time end with the best intervals found so far. Exit codes: 0 safe
    intervals, 2 bad input, 3 none.

    Example: sdc intervals primaries.csv --dims TOWN,JOB --out intervals.csv
    """
    from sdc_tasks.cli.terminal import Terminal
    from sdc_tasks.methods.suppression.partial.intervals import blurred, width_weights
    from sdc_tasks.methods.suppression.partial.run import IntervalRun
    from sdc_tasks.methods.suppression.partial.search import narrow_intervals
    from sdc_tasks.model.secret import drawn_seed
    from sdc_tasks.solver.clock import Limit

    interruption: Interruption = context.obj
    for each in (place, facts):
        refuse_place(each, file)
    table = _jj(file, layout, asked.cost) if is_jj(file) else _crossed(file, layout, asked.cost)
    true = table.problem
    seconds = math.inf if asked.seconds is None else asked.seconds
    run = IntervalRun(
        blurred(true, asked.blur, drawn_seed(asked.seed)), width_weights(true), Limit(seconds), asked.gap
    )
    told = Terminal(stderr=True)
    told.print(
        f"{file}: {len(true.a)} cells, {true.M.shape[0]} relations, {len(true.primaries)} primaries",
        style="dim",
    )
    interruption.something_to_save = True
    worker = Worker(lambda: narrow_intervals(run))
    worker.start()
    follow(run, worker, seconds, interruption, told, lambda: _progress(run), place)
    ended = _Ended(run.incumbent, run.bound, run.elapsed)
    _write(table, run, ended, asked.unit, place, facts)
    _show(run, ended, place)
    tell_sums(facts)
    if isinstance(worker.error, Unprotectable) and asked.blur > 0:
        raise Unprotectable(
            f"{worker.error}; or give --blur 0, as levels are enlarged by chance"
        ) from worker.error
    leave(worker, found=ended.best is not None)


@dataclass(frozen=True)
class _Ended:
    """The run as it was when the wait for it ended; its method may go on meanwhile."""

    best: Intervals | None
    bound: float
    elapsed: float


def _write(
    table: KeyedProblem,
    run: IntervalRun,
    ended: _Ended,
    unit: float | None,
    place: Path | None,
    facts: Path | None,
) -> None:
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.methods.suppression.partial.intervals import rounded_outwards

    true = table.problem
    if ended.best is not None and place is not None:
        ends = rounded_outwards(true, ended.best, unit or _last_decimal(true))
        write_private(place, _text(table, *ends))
    if facts is not None:
        write_private(facts, _facts(run, ended))


def _jj(file: Path, layout: AskedLayout, cost: str) -> KeyedProblem:
    from sdc_tasks.intake.tables.jj import read_jj
    from sdc_tasks.intake.tables.suppression import suppression_of

    layout.refuse_for_jj(file)
    refuse_column(file, cost)
    table = read_jj(file)
    problem = suppression_of(table, measure_of(cost) or "file")
    return KeyedProblem(problem, ("cell",), [(str(i),) for i in range(len(table.a))])


def _crossed(file: Path, layout: AskedLayout, cost: str) -> KeyedProblem:
    from sdc_tasks.intake.tables.crossed import suppression_in
    from sdc_tasks.intake.tables.rows import read_rows

    measure = measure_of(cost)
    own = replace(layout.of(file), cost=cost if measure is None else None)
    table = suppression_in(read_rows(file), own, measure or "file")
    return KeyedProblem(table.problem, table.dimensions, table.keys)


def _last_decimal(problem: SensitiveTable) -> float:
    """The place of the last decimal that any value has."""
    from sdc_tasks.intake.tables.jj import printed

    decimals = max((len(printed(float(a)).partition(".")[2]) for a in problem.a), default=0)
    return float(10.0 ** -min(decimals, PRINTED_DECIMALS))


def _text(table: KeyedProblem, low: Floats, high: Floats) -> str:
    """CSV: a line for each cell; LOW and HIGH are the same where it is open, empty where there is
    no bound.
    """
    from sdc_tasks.intake.tables.jj import printed

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.dimensions, "LOW", "HIGH"])
    for key, *ends in zip(table.keys, low, high, strict=True):
        writer.writerow(
            [
                *key,
                *(
                    printed(round(float(end), PRINTED_DECIMALS + 3) + 0.0) if math.isfinite(end) else ""
                    for end in ends
                ),
            ]
        )
    return text.getvalue()


def _progress(run: IntervalRun) -> str:
    best, bound = run.incumbent, run.bound
    if best is None:
        return f"no safe intervals yet, bound {bound:.6g}"
    return f"loss {best.loss:.6g}, bound {bound:.6g}, gap {best.gap(bound):.2%}"


def _facts(run: IntervalRun, ended: _Ended) -> str:
    """The run as JSON: figures of the whole table, none of a cell."""
    problem, best, bound, elapsed = run.problem, ended.best, ended.bound, ended.elapsed
    body = {
        "objective": None if best is None else best.loss,
        "bound": bound,
        "gap": None if best is None else best.gap(bound),
        "intervals": None if best is None else int((~best.open).sum()),
        "unprotected": len(problem.primaries) if best is None else 0,
        "seconds": round(elapsed, 3),
        "method": "intervals",
        "cells": len(problem.a),
        "primaries": len(problem.primaries),
        "history": history_until(run.history, elapsed),
    }
    return figures_text(body)


def _show(run: IntervalRun, ended: _Ended, place: Path | None) -> None:
    """The end of the run on the terminal."""
    best, bound, elapsed = ended.best, ended.bound, ended.elapsed
    if best is None:
        out.print("no intervals that protect every primary cell", style="bold")
        if place is not None:
            out.print(f"{place} was not written")
        return
    title = (
        "proven within the gap asked for"
        if best.gap(bound) <= run.gap_wanted
        else "the best intervals so far"
    )
    figures = {
        "loss": f"{best.loss:.10g}",
        "bound": f"{bound:.10g}",
        "gap": f"{best.gap(bound):.3%}",
        "intervals": f"{int((~best.open).sum())} of {len(run.problem.a)} cells",
        "primaries": f"{len(run.problem.primaries)}, all protected",
        "seconds": f"{elapsed:.1f}",
    }
    show_figures(title, figures)
    if place is not None:
        out.print(f"intervals, and the values of all other cells: {place}")
