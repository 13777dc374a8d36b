"""A pattern is searched for somebody who waits: shown, stopped in time, written with what was found so far.

The method works in a thread of its own. The main thread shows how far it is. At the limit, or at Ctrl-C, it
asks the method to stop, gives it a moment, and writes the best pattern that the run holds. A run holds only
patterns that its verifier has found safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.cli.options import METHOD, OUTPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.told import (
    FACTS_HELP,
    PLOT_HELP,
    figures_text,
    history_until,
    show_figures,
    tell_consistent,
    tell_sums,
)
from sdc_tasks.cli.searches.watch import Status, Worker, drawing, follow, leave_if_stuck
from sdc_tasks.cli.shared import refuse_place
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.suppression.names import (
    COSTS,
    METHODS,
    CellCosts,
    PatternMethod,
    refuse_gap,
    refuse_prove,
)
from sdc_tasks.model.time.moment import told_gap
from sdc_tasks.model.tolerances import GAP

if TYPE_CHECKING:
    from sdc_tasks.intake.tables.crossed import CrossedSuppression
    from sdc_tasks.methods.suppression.engine import PatternOptions
    from sdc_tasks.methods.suppression.pattern.result import Pattern, Uncompleted
    from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
    from sdc_tasks.model.sensitive import SensitiveTable
    from sdc_tasks.model.table import Bools


METHOD_HELP = "; ".join(f"{name}: {what}" for name, what in METHODS.items())
COST_HELP = "what a secondary costs. " + "; ".join(f"{name}: {what}" for name, what in COSTS.items())
COLUMN_HELP = f"{COST_HELP}; or the column of costs"


@dataclass(frozen=True)
class PatternSearch:
    """How to search, and where to write what."""

    method: Annotated[PatternMethod, typer.Option(help=METHOD_HELP, rich_help_panel=METHOD)] = "auto"
    cost: Annotated[str, typer.Option(help=COLUMN_HELP, rich_help_panel=METHOD)] = "value"
    margins: Annotated[
        float,
        typer.Option(
            min=0.001,
            help="tables of dimensions: the factor on the cost of a cell, for each dimension in which it is "
            "a total",
            rich_help_panel=METHOD,
        ),
    ] = 1.0
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="limit of the search; without it the search ends by counted work, the same on every machine",
            rich_help_panel=METHOD,
        ),
    ] = None
    gap: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="stop when (cost − bound) / cost is proven to be no more than this",
            rich_help_panel=METHOD,
        ),
    ] = GAP
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="go on until the gap is proven, perhaps for hours; else the search ends where more work "
            "hardly pays, and tells the gap",
            rich_help_panel=METHOD,
        ),
    ] = False
    attainable: Annotated[
        bool,
        typer.Option(
            "--attainable",
            help="lowers each level that no pattern keeps to what the pattern leaves that hides everything, "
            "and names its cell; else such a table is refused",
            rich_help_panel=METHOD,
        ),
    ] = False
    seed: Annotated[
        int, typer.Option(min=0, help="another seed searches in another order", rich_help_panel=METHOD)
    ] = 1
    place: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="table with its pattern, .jj or .jj.gz, else CSV: codes, value, STATUS u, m secondary, s, "
            "z; true values; of several tables a folder",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    published: Annotated[
        Path | None,
        typer.Option(
            help="the table without the values of hidden cells; only this file may leave the house: .csv, "
            ".parquet, or with --flow .xml (SDMX-ML), .json (SDMX-JSON); of several tables a folder",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    flow: Annotated[
        str | None,
        typer.Option(
            help="with --published in SDMX: the data flow of the table, AGENCY:ID(VERSION)",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    facts: Annotated[Path | None, typer.Option("--json", help=FACTS_HELP, rich_help_panel=OUTPUT)] = None
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help=PLOT_HELP.format(what="pattern and bound"), rich_help_panel=OUTPUT),
    ] = None

    def __post_init__(self) -> None:
        if self.gap != GAP:
            refuse_gap(self.method)
        if self.prove:
            refuse_prove(self.method)
        if self.flow is not None and self.published is None:
            raise InvalidInput("--flow goes with --published. Remedy: give both, or neither")

    @property
    def costs(self) -> CellCosts:
        """The measure of costs; that of a column is `file`."""
        return measure_of(self.cost) or "file"

    @property
    def column(self) -> str | None:
        """The column of costs, None where a measure says them."""
        return self.cost if measure_of(self.cost) is None else None

    def refuse_for_jj(self, file: Path) -> None:
        """Raises InvalidInput for what needs columns or dimensions."""
        refuse_column(file, self.cost)
        if self.margins != 1:
            raise InvalidInput(
                f"{file}: a JJ file brings its own relations and columns. Remedy: leave out --margins"
            )
        if self.published is not None:
            raise InvalidInput(
                f"{file}: --published: a JJ file has no codes to publish. Remedy: give the table as CSV or "
                f"Parquet, with columns of codes"
            )


def measure_of(cost: str) -> CellCosts | None:
    """The measure of costs that an option --cost names; None for a column."""
    return next((name for name in COSTS if name == cost), None)


def refuse_column(file: Path, cost: str) -> None:
    """Raises InvalidInput where the costs of a JJ file are those of a column."""
    if measure_of(cost) is None:
        raise InvalidInput(
            f"{file}: --cost {cost}: a JJ file has no columns. Remedy: give one of {', '.join(COSTS)}"
        )


@dataclass(frozen=True)
class TableAtHand:
    """A table that was read: its problem, the codes of its cells (of a JJ cell its number), how to write it
    with a pattern, what more to tell of one, if there is one, how to read one that was written, how many of
    its totals were made consistent, and how to write it as the world may see it, under a data flow or none.
    """

    problem: SensitiveTable
    keys: Sequence[tuple[str, ...]]
    write: Callable[[Path, Bools], None]
    more: Callable[[Bools | None], Mapping[str, int]]
    pattern_in: Callable[[Path], Bools]
    consistent: int = 0
    publish: Callable[[Path, Bools, str | None], None] | None = None


def publisher(table: CrossedSuppression) -> Callable[[Path, Bools, str | None], None]:
    """How a table with columns of codes is written as the world may see it."""

    def publish(place: Path, hidden: Bools, flow: str | None) -> None:
        from sdc_tasks.api.masked import MaskedTable
        from sdc_tasks.report.files import write_whole

        masked = MaskedTable(table.dimensions, table.value, table.keys, table.problem.a, hidden)
        write_whole(place, masked.content(place, flow))

    return publish


def search(
    files: Sequence[Path], read: Callable[[], TableAtHand], asked: PatternSearch, interruption: Interruption
) -> None:
    """Reads a table, or several as one, searches, writes and shows.

    Always ends the command: exit code 0 with a safe pattern, 3 with none.
    """
    from sdc_tasks.cli.searches.lowered import LoweredLevels
    from sdc_tasks.cli.terminal import Terminal
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.methods.suppression import engine
    from sdc_tasks.methods.suppression.attainable import attainable
    from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
    from sdc_tasks.solver.clock import Limit

    _refuse_places(files, asked)
    draw = (
        None if asked.plot is None else drawing(asked.plot, f"Suppression, costs: {asked.costs}", "pattern")
    )
    table = read()
    problem = table.problem
    options = _options(asked)
    told = Terminal(stderr=True)
    told.print(
        f"{', '.join(map(str, files))}: {len(problem.a)} cells, {problem.M.shape[0]} relations, "
        f"{len(problem.primaries)} primaries",
        style="dim",
    )
    tell_consistent(told, table.consistent)
    levels = attainable(problem) if asked.attainable else None
    problem = problem if levels is None else levels.problem
    run = SuppressionRun(problem, Limit(options.seconds), asked.gap)
    interruption.something_to_save = True
    worker = Worker(lambda: engine.execute(run, options))
    worker.start()
    follow(run, worker, options.seconds, interruption, told, lambda: _progress(run), asked.place)
    ended = _Ended.of(run, worker, interruption)
    hidden = ended.hidden
    lowered = LoweredLevels() if levels is None or hidden is None else LoweredLevels.of(levels, hidden)
    if hidden is not None:
        _write(table, hidden, asked)
    if asked.facts is not None:
        more = lowered.facts if asked.attainable else {}
        write_private(asked.facts, _facts(ended, asked, {**_facts_of_table(table, hidden), **more}))
    if asked.plot is not None and draw is not None:
        write_private(asked.plot, draw(list(run.history)))
    _show(ended, asked)
    lowered.show()
    tell_sums(asked.facts, asked.plot)
    leave(worker, found=hidden is not None)


def _options(asked: PatternSearch) -> PatternOptions:
    from sdc_tasks.methods.suppression.engine import PatternOptions
    from sdc_tasks.methods.suppression.exact import WHILE_IT_PAYS, Work

    seconds = math.inf if asked.seconds is None else asked.seconds
    work = Work() if asked.prove else WHILE_IT_PAYS
    return PatternOptions(asked.method, seconds, asked.gap, asked.seed, work)


def _write(table: TableAtHand, hidden: Bools, asked: PatternSearch) -> None:
    """The table with its pattern, and as the world may see it, where that was asked for."""
    if asked.place is not None:
        table.write(asked.place, hidden)
    if asked.published is not None:
        assert table.publish is not None, "a JJ file is refused when it is read"
        table.publish(asked.published, hidden, asked.flow)


def _refuse_places(files: Sequence[Path], asked: PatternSearch) -> None:
    """Several tables go to a folder, which is no file."""
    from sdc_tasks.api.masked import refuse_published

    one = len(files) == 1
    if one:
        refuse_published(asked.published, asked.flow)
    elif asked.flow is not None:
        raise InvalidInput("--flow: several tables are published as CSV. Remedy: leave it out")
    if (
        asked.published is not None
        and asked.place is not None
        and asked.published.resolve() == asked.place.resolve()
    ):
        raise InvalidInput(
            f"{asked.published}: --out, with true values, and --published name one place. Remedy: name two"
        )
    for file in files:
        for each in (asked.facts, asked.plot, *((asked.place, asked.published) if one else ())):
            refuse_place(each, file)


def leave(worker: Worker, found: bool) -> NoReturn:
    """Ends the command: with the error of the search, else with the exit code of what was found. A search
    that ran out of memory is no error: it found what it found.
    """
    code = 0 if found else Unprotectable.exit_code
    leave_if_stuck(worker, code)
    if worker.error is not None and not isinstance(worker.error, MemoryError):
        raise worker.error
    raise typer.Exit(code)


def _progress(run: SuppressionRun) -> str:
    best, bound = run.incumbent, run.bound
    doing = f"; {run.doing}" if run.doing else ""
    if best is None:
        return f"no safe pattern yet, bound {bound:.6g}{doing}"
    return f"pattern {best.cost:.6g}, bound {bound:.6g}, {told_gap(best.cost, bound)}{doing}"


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


def _facts_of_table(table: TableAtHand, hidden: Bools | None) -> dict[str, int]:
    consistent = {"totals_made_consistent": table.consistent} if table.consistent else {}
    return {**table.more(hidden), **consistent}


@dataclass(frozen=True)
class _Ended:
    """A run as it ended: its best pattern, the bound, the seconds, and why it ended."""

    run: SuppressionRun
    best: Pattern | None
    bound: float
    elapsed: float
    status: Status

    @classmethod
    def of(cls, run: SuppressionRun, worker: Worker, interruption: Interruption) -> _Ended:
        best, bound, elapsed = run.incumbent, run.bound, run.elapsed
        return cls(run, best, bound, elapsed, _status(run, best, worker, interruption))

    @property
    def hidden(self) -> Bools | None:
        """(cells,): what the best pattern hides."""
        return None if self.best is None else self.best.hidden


def _facts(ended: _Ended, asked: PatternSearch, said: Mapping[str, object]) -> str:
    """The run as JSON: figures of the whole table, none of a cell; keys of those that a published method
    leaves at risk. No time: where the search ends by counted work, equal input gives equal bytes.
    """
    from sdc_tasks.methods.suppression.pattern.sums import limits_of

    run, best, bound = ended.run, ended.best, ended.bound
    problem = run.problem
    body = {
        "objective": None if best is None else best.cost,
        "bound": bound,
        "gap": None if best is None else best.gap(bound),
        "secondaries": None if best is None else int((best.hidden & ~problem.primary).sum()),
        "unprotected": len(problem.primaries) if best is None else 0,
        "status": ended.status,
        "method": asked.method,
        "costs": asked.costs,
        "seed": asked.seed,
        **said,
        "cells": len(problem.a),
        "primaries": len(problem.primaries),
        **({} if (limits := limits_of(problem)) is None else {"limits": limits}),
        **({} if run.uncompleted is None else {"alone": _alone(run, run.uncompleted)}),
        "history": [moment[1:] for moment in history_until(run.history, ended.elapsed)],
    }
    return figures_text(body)


def _alone(run: SuppressionRun, alone: Uncompleted) -> dict[str, float | int | list[str]]:
    """What a published method left before it was completed; the cells at risk by their keys."""
    at_risk = alone.at_risk.tolist()
    return {
        "objective": alone.cost,
        "at_risk": len(at_risk),
        "keys": [run.problem.name(cell) for cell in at_risk],
    }


def _protected(primaries: int, lowered: int) -> str:
    if not lowered:
        return f"{primaries}, all protected"
    return f"{primaries}, {primaries - lowered} protected to their levels, {lowered} as far as can be"


def _show(ended: _Ended, asked: PatternSearch) -> None:
    """The end of the run on the terminal."""
    from sdc_tasks.methods.suppression.pattern.sums import limits_of

    run, best, bound, status = ended.run, ended.best, ended.bound, ended.status
    if best is None:
        reason = {
            "unprotectable": "no pattern can protect",
            "interrupted": "interrupted: none yet that protects",
        }
        out.print(f"{reason.get(status, 'none yet that protects')} every primary cell", style="bold")
        for place in (asked.place, asked.published):
            if place is not None:
                out.print(f"{place} was not written")
        return
    ending = {
        "optimal": "proven within the gap asked for",
        "interrupted": "interrupted: the best pattern so far",
        "out of memory": "out of memory: the best pattern so far",
    }
    figures = {
        "objective": f"{best.cost:.10g}",
        "bound": f"{bound:.10g}",
        "gap": told_gap(best.cost, bound, 3).removeprefix("gap "),
        "secondaries": str(int((best.hidden & ~run.problem.primary).sum())),
        "primaries": _protected(len(run.problem.primaries), int(run.problem.lowered.sum())),
    }
    if (left := run.uncompleted) is not None:
        figures["the method alone"] = f"{left.cost:.10g}, {len(left.at_risk)} primaries at risk"
    show_figures(
        ending.get(status, "the best pattern so far"), {**figures, "seconds": f"{ended.elapsed:.1f}"}
    )
    if (limits := limits_of(run.problem)) is not None:
        out.print(limits)
    if asked.place is not None:
        out.print(f"table with its pattern, with true values, confidential: {asked.place}")
    if asked.published is not None:
        out.print(f"publication: {asked.published}")
