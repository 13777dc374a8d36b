"""`sdc suppress`: a table with primaries in, the same with secondaries out; watched, stopped in time, never without what was found so far.

The method works in a thread of its own. The main thread shows how far it is. At the limit, or at Ctrl-C, it asks the method to stop, gives
it a moment, and writes the best pattern that the run holds. A run holds only patterns that its verifier has found safe.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.searches.given import APRIORI_HELP, DISCOUNT_HELP, KEEP_HELP, PREVIOUS_HELP, GivenFiles, given_problem
from sdc_tasks.cli.searches.watch import Status, Worker, drawing, follow
from sdc_tasks.cli.shared import refuse_place
from sdc_tasks.cli.terminal import Terminal, out
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.suppression.names import COSTS, METHODS, CellCosts, PatternMethod

if TYPE_CHECKING:
    from sdc_tasks.methods.suppression.pattern.result import Alone, Pattern
    from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
    from sdc_tasks.model.table import Floats

METHOD_HELP = "; ".join(f"{name}: {what}" for name, what in METHODS.items())
COST_HELP = "what a secondary costs. " + "; ".join(f"{name}: {what}" for name, what in COSTS.items())


def suppress(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="a τ-ARGUS JJ file, FILE.jj or FILE.jj.gz; status u marks the primaries")],
    method: Annotated[PatternMethod, typer.Option(help=METHOD_HELP)] = "auto",
    costs: Annotated[CellCosts, typer.Option(help=COST_HELP)] = "value",
    counts: Annotated[Path | None, typer.Option("--counts", help="with costs by frequency: a CSV file cell,count")] = None,
    apriori: Annotated[Path | None, typer.Option("--apriori", help=APRIORI_HELP)] = None,
    previous: Annotated[Path | None, typer.Option("--previous", help=PREVIOUS_HELP)] = None,
    keep: Annotated[Path | None, typer.Option("--keep", help=KEEP_HELP)] = None,
    keep_discount: Annotated[float | None, typer.Option("--keep-discount", help=f"{DISCOUNT_HELP} [default: 10]")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", min=0.0, help="seconds of the search; without it counted work ends it, on any machine the same"),
    ] = None,
    gap: Annotated[float, typer.Option(min=0.0, help="stop when (cost − bound) / cost is proven to be no more than this")] = 1e-4,
    seed: Annotated[int, typer.Option(min=0, help="another seed searches in another order")] = 1,
    place: Annotated[Path | None, typer.Option("--out", help="the table with its pattern, .jj or .jj.gz: u, m secondary, s, z")] = None,
    facts: Annotated[Path | None, typer.Option("--json", help="objective, bound, gap, history …; no value")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="pattern and bound over time, .svg or .png")] = None,
) -> None:
    """Finds the cheapest secondary cells that keep every primary cell of a table at its protection levels.

    Ctrl-C and the time limit end with the best pattern found so far. Exit codes: 0 a safe pattern, 2 bad input, 3 none.
    """
    from sdc_tasks.intake.tables.given.earlier import read_earlier_jj
    from sdc_tasks.intake.tables.jj import read_jj, write_jj, write_private
    from sdc_tasks.intake.tables.suppression import suppressed, suppression_of
    from sdc_tasks.methods.suppression import engine
    from sdc_tasks.methods.suppression.given.instructions import kept_open
    from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
    from sdc_tasks.solver.clock import Limit

    interruption: Interruption = context.obj
    for each in (place, facts, plot):
        refuse_place(each, file)
    draw = None if plot is None else drawing(plot, f"Suppression, costs: {costs}", "pattern")
    files = GivenFiles(apriori, previous, keep, keep_discount)
    table = read_jj(file)
    n = len(table.a)
    given = given_problem(
        files, suppression_of(table, costs, _frequencies(counts, costs, n)), [(str(i),) for i in range(n)],
        lambda path: read_earlier_jj(path, table.A),
    )  # fmt: skip
    problem = given.problem
    seconds = math.inf if time_limit is None else time_limit
    run, options = SuppressionRun(problem, Limit(seconds), gap), engine.PatternOptions(method, seconds, gap, seed)
    told = Terminal(stderr=True)
    told.print(f"{file}: {len(table.a)} cells, {len(table.rhs)} relations, {len(problem.primaries)} primaries", style="dim")
    interruption.something_to_save = True
    worker = Worker(lambda: engine.execute(run, options))
    worker.start()
    follow(run, worker, seconds, interruption, told, lambda: _progress(run))
    best, bound, elapsed = run.best, run.bound, run.elapsed
    status = _status(run, best, worker, interruption)
    if best is not None and place is not None:
        write_jj(place, suppressed(table, problem, best.hidden, kept_open(given.instructions, n)))
    if facts is not None:
        shift = given.facts(None if best is None else best.hidden)
        asked = {"status": status, "method": method, "costs": costs, "seed": seed, **shift}
        write_private(facts, _facts(run, best, bound, elapsed, asked))
    if plot is not None and draw is not None:
        plot.write_bytes(draw(list(run.history)))
    _show(run, best, bound, elapsed, status, place)
    code = 0 if best is not None else Unprotectable.exit_code
    if worker.is_alive():  # inside a solver that hears nobody
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if worker.error is not None and not isinstance(worker.error, MemoryError):
        raise worker.error
    raise typer.Exit(code)


def _frequencies(counts: Path | None, costs: CellCosts, n: int) -> Floats | None:
    from sdc_tasks.intake.tables.suppression import read_frequencies

    if (counts is None) == (costs == "frequency"):
        raise InvalidInput("costs by frequency need --counts FILE, and no others do. Remedy: give both, or neither")
    return None if counts is None else read_frequencies(counts, n)


def _progress(run: SuppressionRun) -> str:
    best, bound = run.best, run.bound
    if best is None:
        return f"no safe pattern yet, bound {bound:.6g}"
    return f"pattern {best.cost:.6g}, bound {bound:.6g}, gap {best.gap(bound):.2%}"


def _status(run: SuppressionRun, best: Pattern | None, worker: Worker, interruption: Interruption) -> Status:
    if best is not None and best.gap(run.bound) <= run.gap_wanted:
        return "optimal"
    if isinstance(worker.error, MemoryError):
        return "out of memory"
    if worker.error is not None:
        return "unprotectable" if isinstance(worker.error, Unprotectable) else "failed"
    if interruption.asked:
        return "interrupted"
    return "feasible" if best is not None else "none"


def _facts(run: SuppressionRun, best: Pattern | None, bound: float, elapsed: float, asked: Mapping[str, str | int]) -> str:
    """The run as JSON: figures of the whole table, none of a cell; keys of those that a published method leaves at risk."""
    problem = run.problem
    body = {
        "objective": None if best is None else best.cost,
        "bound": bound,
        "gap": None if best is None else best.gap(bound),
        "secondaries": None if best is None else int((best.hidden & ~problem.primary).sum()),
        "unprotected": len(problem.primaries) if best is None else 0,
        "seconds": round(elapsed, 3),
        **asked,
        "cells": len(problem.a),
        "primaries": len(problem.primaries),
        **({} if run.alone is None else {"alone": _alone(run, run.alone)}),
        "history": [[round(m.seconds, 3), m.objective, m.bound, m.method] for m in list(run.history) if m.seconds <= elapsed],
    }
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(fact)}" for name, fact in body.items()) + "\n}\n"


def _alone(run: SuppressionRun, alone: Alone) -> dict[str, float | int | list[str]]:
    """What a published method left before it was completed; the cells at risk by their keys."""
    at_risk = alone.at_risk.tolist()
    return {"objective": alone.cost, "at_risk": len(at_risk), "keys": [run.problem.name(cell) for cell in at_risk]}


def _show(run: SuppressionRun, best: Pattern | None, bound: float, elapsed: float, status: Status, place: Path | None) -> None:
    """The end of the run on the terminal."""
    if best is None:
        reason = {"unprotectable": "no pattern can protect", "interrupted": "interrupted: none yet that protects"}
        out.print(f"{reason.get(status, 'none yet that protects')} every primary cell", style="bold")
        if place is not None:
            out.print(f"{place} was not written")
        return
    ending = {
        "optimal": "proven within the gap asked for",
        "interrupted": "interrupted: the best pattern so far",
        "out of memory": "out of memory: the best pattern so far",
    }
    table = Table(title=ending.get(status, "the best pattern so far"), show_header=False, title_justify="left")
    table.add_row("objective", f"{best.cost:.10g}")
    table.add_row("bound", f"{bound:.10g}")
    table.add_row("gap", f"{best.gap(bound):.3%}")
    table.add_row("secondaries", str(int((best.hidden & ~run.problem.primary).sum())))
    table.add_row("primaries", f"{len(run.problem.primaries)}, all protected")
    if run.alone is not None:
        table.add_row("the method alone", f"{run.alone.cost:.10g}, {len(run.alone.at_risk)} primaries at risk")
    table.add_row("seconds", f"{elapsed:.1f}")
    out.print(table)
    if place is not None:
        out.print(f"table with its pattern, with true values, for your eyes only: {place}")
