"""`sdc cta`: reads a table, and writes the closest protected table found in time.

The method works in a thread of its own. The main thread shows progress and watches the clock:
at the limit, or at Ctrl-C, it asks the method to stop, waits a moment, and writes the best
table of the run, verified once more.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.options import INPUT, METHOD, OUTPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.told import (
    FACTS_HELP,
    PLOT_HELP,
    figures_text,
    history_until,
    show_figures,
    tell_sums,
)
from sdc_tasks.cli.searches.watch import Status, Worker, drawing, follow, image_kind, leave_if_stuck
from sdc_tasks.cli.shared import refuse_place
from sdc_tasks.errors import NAMED_CELLS, InvalidInput, Unprotectable
from sdc_tasks.methods.cta.names import Method
from sdc_tasks.model.keys import codes_in
from sdc_tasks.model.tolerances import GAP
from sdc_tasks.solver.names import SolverName

if TYPE_CHECKING:
    from sdc_tasks.intake.tables.jj import JJTable
    from sdc_tasks.methods.cta.engine import EngineOptions
    from sdc_tasks.methods.cta.run import Run
    from sdc_tasks.model.table import Floats
    from sdc_tasks.model.time.moment import Moment


@dataclass(frozen=True)
class CtaSearch:
    """How to search."""

    method: Annotated[Method, typer.Option(help="how to search", rich_help_panel=METHOD)] = "auto"
    solver: Annotated[
        SolverName, typer.Option(help="the solver of the mixed-integer models", rich_help_panel=METHOD)
    ] = "highs"
    weights: Annotated[
        Literal["file", "one", "inverse", "sqrt"],
        typer.Option(
            help="what moving a cell by one costs: as in the file, 1, 1/a or 1/√a", rich_help_panel=METHOD
        ),
    ] = "file"
    distance: Annotated[
        Literal["l1", "l2"], typer.Option(help="Σ w|z| or Σ w z²", rich_help_panel=METHOD)
    ] = "l1"
    seconds: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="limit of the command, reading included; the search gets at least half of it",
            rich_help_panel=METHOD,
        ),
    ] = 60.0
    gap: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="stop when (table − bound) / table is proven to be no more than this",
            rich_help_panel=METHOD,
        ),
    ] = GAP
    seed: Annotated[
        int, typer.Option(min=0, help="another seed searches in another order", rich_help_panel=METHOD)
    ] = 1
    threads: Annotated[
        int,
        typer.Option(min=1, help="more of them change the time, not the result", rich_help_panel=METHOD),
    ] = 2


@dataclass(frozen=True)
class CtaFiles:
    """What is written where."""

    solution: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="lines `i a_i x_i p_i`, p the side a primary went to: 1, −1, else 0; .csv with --table",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    facts: Annotated[Path | None, typer.Option("--json", help=FACTS_HELP, rich_help_panel=OUTPUT)] = None
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help=PLOT_HELP.format(what="table and bound"), rich_help_panel=OUTPUT),
    ] = None
    deviations: Annotated[
        Path | None,
        typer.Option(
            help="confidential; with --table: how far each cell of each area moved, .svg or .png",
            rich_help_panel=OUTPUT,
        ),
    ] = None


def cta(
    context: typer.Context,
    *,
    file: Annotated[Path | None, typer.Argument(help="a τ-ARGUS JJ file, FILE.jj or FILE.jj.gz")] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="the same with FILE.cells.csv beside it, as export-jj writes it", rich_help_panel=INPUT
        ),
    ] = None,
    asked: CtaSearch,
    files: CtaFiles,
) -> None:
    """Moves every primary cell of a table by at least its protection level, and all
    other cells as little as possible.

    Ctrl-C and the limit of time end with the best table found so far. Exit codes: 0 a protected table, 2 bad
    input, 3 none.

    Example: sdc cta table.jj --seconds 10 --out table.sol
    """
    from sdc_tasks.intake.tables.jj import problem_of, read_jj
    from sdc_tasks.methods.cta import engine
    from sdc_tasks.methods.cta.engine import EngineOptions
    from sdc_tasks.methods.cta.run import Run
    from sdc_tasks.model.weights import Distance

    interruption: Interruption = context.obj
    source, keys = _source(file, table, files.solution)
    for place in (files.solution, files.facts, files.plot, files.deviations):
        refuse_place(place, source)
    title = f"CTA, weights {asked.weights}, {asked.distance.upper()}"
    draw = None if files.plot is None else drawing(files.plot, title, "table")
    areas = None if files.deviations is None else _areas(keys, files.deviations)
    whole = read_jj(source, keys)
    problem = problem_of(whole, asked.weights, Distance(asked.distance))
    if keys is not None:
        problem = replace(problem, label=keys.__getitem__)
    left = max(asked.seconds - interruption.elapsed, asked.seconds / 2)
    run = Run(problem, left, asked.gap)
    options = EngineOptions(asked.method, asked.solver, left, asked.gap, asked.seed, threads=asked.threads)
    out.print(
        f"{source}: {len(whole.a)} cells, {len(whole.rhs)} relations, {len(problem.sensitive)} primaries",
        style="dim",
    )
    interruption.something_to_save = True
    worker = Worker(lambda: engine.execute(run, options))
    worker.start()
    follow(run, worker, left, interruption, out, lambda: _progress(run), files.solution)
    found = _found(run, worker, interruption)
    _write_table(found, run, whole, keys, files.solution)
    _write_beside(found, run, files, draw, areas, lambda: _facts(found, run, options, asked.weights))
    _show(found, run, files.solution)
    tell_sums(files.facts, files.plot, files.deviations)
    code = 0 if found.protected else Unprotectable.exit_code
    leave_if_stuck(worker, code)
    if worker.error is not None:
        raise worker.error
    raise typer.Exit(code)


def _write_table(
    found: Ending, run: Run, whole: JJTable, keys: Sequence[str] | None, solution: Path | None
) -> None:
    """The adjusted table: by key with a .csv, else as lines of a solution."""
    import numpy as np

    from sdc_tasks.intake.tables.jj import solution_text, write_private

    if found.z is None or solution is None:
        return
    x = np.clip(whole.a + found.z * run.problem.unit, whole.lb, whole.ub)
    by_key = keys is not None and _is_csv(solution)
    text = _by_key(keys, whole.a, x) if keys is not None and by_key else solution_text(whole, x)
    write_private(solution, text)


def _write_beside(
    found: Ending,
    run: Run,
    files: CtaFiles,
    draw: Callable[[Sequence[Moment]], bytes] | None,
    areas: Sequence[str] | None,
    facts: Callable[[], str],
) -> None:
    """The figures and pictures of a run."""
    from sdc_tasks.intake.tables.jj import write_private

    if files.facts is not None:
        write_private(files.facts, facts())
    if files.plot is not None and draw is not None:
        write_private(files.plot, draw(list(run.history)))
    if found.z is not None and files.deviations is not None and areas is not None:
        write_private(files.deviations, _map_of(files.deviations, found.z * run.problem.unit, areas))


@dataclass(frozen=True)
class Ending:
    """The result at the end. `z` (n,) are the deviations of all cells in the best table, protected or not, in
    units.
    """

    status: Status
    objective: float | None
    bound: float
    gap: float | None
    unprotected: int | None
    max_violation: float | None
    seconds: float
    short: tuple[str, ...] = ()  # some of the cells that fall short of their level
    z: Floats | None = field(default=None, repr=False)

    @property
    def protected(self) -> bool:
        return self.objective is not None


def _source(file: Path | None, table: Path | None, solution: Path | None) -> tuple[Path, list[str] | None]:
    """The JJ file, and the keys of its cells if it has a file with keys."""
    if (file is None) == (table is None):
        raise InvalidInput(
            "one table is expected. Remedy: give it as `sdc cta FILE.jj`, or as `sdc cta --table FILE.jj` "
            "with its cells file"
        )
    if file is not None:
        if solution is not None and _is_csv(solution):
            raise InvalidInput(
                f"{solution}: a .csv names cells by key. Remedy: give the table as --table FILE.jj, or name "
                f"it .sol"
            )
        return file, None
    from sdc_tasks.cli.export import cells_file, read_cells

    assert table is not None
    return table, read_cells(cells_file(table))


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _areas(keys: Sequence[str] | None, picture: Path) -> list[str]:
    """The areas of the table, in order: the beginnings of its keys. Each area has the same number
    of cells.
    """
    image_kind(picture)
    if keys is None:
        raise InvalidInput(
            f"{picture}: the areas of the cells are unknown. Remedy: give the table as --table FILE.jj, with "
            f"its cells file"
        )
    own = [codes_in(key)[0] for key in keys]
    areas = list(dict.fromkeys(own))
    if own != [area for area in areas for _ in range(len(keys) // len(areas))]:
        raise InvalidInput(
            f"{picture}: the areas of this table do not follow each other with equal numbers of cells"
        )
    return areas


def _map_of(picture: Path, z: Floats, areas: Sequence[str]) -> bytes:
    """Figure 1 of [1]."""
    from sdc_tasks.report.cta_figures import plot_deviations

    by_area = z.reshape(len(areas), -1)
    return plot_deviations(
        by_area, areas, f"{by_area.shape[1]} cells of each area", "the table's unit", image_kind(picture)
    )


def _progress(run: Run) -> str:
    best, gap = run.incumbent, run.gap
    if best is None or gap is None:
        short = "" if best is None else f" ({best.verdict.unprotected} cells short)"
        return f"no protected table yet{short}, bound {run.bound:.6g}"
    return f"table {best.verdict.objective:.6g}, bound {run.bound:.6g}, gap {gap:.2%}"


def _found(run: Run, worker: Worker, interruption: Interruption) -> Ending:
    """The best table of the run, verified once more."""
    from sdc_tasks.judge.adjusted import short_of

    seconds, bound, final, problem = run.elapsed, run.bound, run.final(), run.problem
    if final is None:
        return Ending(_status(worker, interruption, False, False), None, bound, None, None, None, seconds)
    z, verdict = final.z, final.verdict
    if verdict.unprotected or not verdict.is_feasible:
        short = tuple(problem.name(int(p)) for p in problem.sensitive[short_of(problem, z)][:NAMED_CELLS])
        return Ending(
            _status(worker, interruption, False, False),
            None,
            bound,
            None,
            verdict.unprotected,
            verdict.violation,
            seconds,
            short,
        )
    gap = 0.0 if verdict.objective <= 0 else max(0.0, (verdict.objective - bound) / verdict.objective)
    status = _status(worker, interruption, True, gap <= run.gap_wanted)
    return Ending(status, verdict.objective, bound, gap, 0, verdict.violation, seconds, z=z)


def _status(worker: Worker, interruption: Interruption, protected: bool, proven: bool) -> Status:
    if proven:
        return "optimal"
    if worker.error is not None:
        return "unprotectable" if isinstance(worker.error, Unprotectable) else "failed"
    if interruption.asked:
        return "interrupted"
    return "feasible" if protected else "none"


def _by_key(keys: Sequence[str], a: Floats, x: Floats) -> str:
    """The table as CSV."""
    from sdc_tasks.intake.tables.jj import printed

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["cell", "value", "adjusted"])
    writer.writerows(zip(keys, map(printed, a.tolist()), map(printed, x.tolist()), strict=True))
    return text.getvalue()


def _facts(found: Ending, run: Run, options: EngineOptions, weights: str) -> str:
    """The run as JSON: figures of the whole table, none of a single cell."""
    body = {
        "status": found.status,
        "objective": found.objective,
        "bound": found.bound,
        "gap": found.gap,
        "unprotected": found.unprotected,
        "max_violation": found.max_violation,
        "seconds": round(found.seconds, 3),
        "method": options.method,
        "solver": options.solver,
        "weights": weights,
        "distance": run.problem.distance.value,
        "seed": options.seed,
        "cells": len(run.problem.cells),
        "sensitive": len(run.problem.sensitive),
        "history": history_until(run.history, found.seconds),
    }
    return figures_text(body)


def _show(found: Ending, run: Run, solution: Path | None) -> None:
    """Prints the result of the run."""
    if found.z is None:
        reason = {
            "unprotectable": "no table can protect",
            "interrupted": "interrupted: no table yet that protects",
        }
        out.print(
            f"{reason.get(found.status, 'no table yet that protects')} every primary cell", style="bold"
        )
        if found.unprotected:
            more = found.unprotected - len(found.short)
            out.print(
                f"the best one leaves {', '.join(found.short)}{f' and {more} more' if more else ''} short of "
                f"their level"
            )
        if solution is not None:
            out.print(f"{solution} was not written")
        return
    ending = {
        "optimal": "proven within the requested gap",
        "interrupted": "interrupted: the best table so far",
    }
    figures = {
        "objective": f"{found.objective:.10g}",
        "bound": f"{found.bound:.10g}",
        "gap": f"{found.gap:.3%}",
        "primaries": f"{len(run.problem.sensitive)}, all protected",
        "largest violation": f"{found.max_violation:.1e}",
        "seconds": f"{found.seconds:.1f}",
    }
    show_figures(ending.get(found.status, "the best table so far"), figures)
    if solution is not None:
        out.print(f"adjusted table, with true values, confidential: {solution}")
