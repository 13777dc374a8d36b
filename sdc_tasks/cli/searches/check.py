"""`--check`: the pattern of a file is judged, and none is sought."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdc_tasks.cli.options import METHOD
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.told import figures_text, show_figures, tell_sums
from sdc_tasks.cli.shared import refuse_place
from sdc_tasks.errors import NAMED_CELLS, InvalidInput, Unprotectable, and_more
from sdc_tasks.model.tolerances import GAP

if TYPE_CHECKING:
    from sdc_tasks.cli.searches.pattern import PatternSearch, TableAtHand
    from sdc_tasks.model.sensitive import SensitiveTable
    from sdc_tasks.model.table import Bools

USUAL_SEARCH = ("auto", GAP, False, 1)  # method, gap, prove and seed of who asks for no others
CheckOption = Annotated[
    Path | None,
    typer.Option(
        "--check",
        rich_help_panel=METHOD,
        help="judges the pattern in this file, which --out wrote, and seeks none; for several "
        "tables the folder of their patterns",
    ),
]


def _refuse_search(asked: PatternSearch) -> None:
    """Raises InvalidInput for options of a search."""
    search = (asked.method, asked.gap, asked.prove, asked.seed)
    written = (asked.place, asked.published, asked.plot, asked.seconds)
    if (*written, *search) != (None, None, None, None, *USUAL_SEARCH):
        raise InvalidInput(
            "--check judges a pattern and seeks none. Remedy: leave out --out, --published, --plot, "
            "--seconds, --method, --gap, --prove and --seed"
        )


def check(
    files: Sequence[Path], read: Callable[[], TableAtHand], pattern: Path, asked: PatternSearch
) -> None:
    """Judges a pattern with the verifier, which needs nothing of how it was found.

    Always ends the command: exit code 0 if it is safe, 3 if not. Names the primary cells that are not
    shown to be protected; no value.
    """
    from sdc_tasks.cli.searches.lowered import LoweredLevels
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.methods.suppression.attainable import attainable

    _refuse_search(asked)
    for file in (*files, pattern):
        refuse_place(asked.facts, file)
    table = read()
    hidden = table.pattern_in(pattern)
    levels = attainable(table.problem) if asked.attainable else None
    judged = _judged(table.problem if levels is None else levels.problem, hidden)
    lowered = LoweredLevels() if levels is None else LoweredLevels.of(levels, hidden)
    figures = {**judged.figures, "costs": asked.costs, **(lowered.facts if asked.attainable else {})}
    if asked.facts is not None:
        write_private(asked.facts, figures_text(figures))
    shown = ("objective", "primaries", "secondaries", "unprotected", "programs", "seconds")
    show_figures("safe" if judged.safe else "NOT SAFE", {name: f"{figures[name]:.10g}" for name in shown})
    tell_sums(asked.facts)
    for line in judged.lines:
        out.print(line)
    lowered.show()
    raise typer.Exit(0 if judged.safe else Unprotectable.exit_code)


@dataclass(frozen=True)
class _Judged:
    """The verdict on a pattern: its figures, and what is said of it; no value of a cell."""

    safe: bool
    figures: dict[str, Any]
    lines: list[str]


def _judged(problem: SensitiveTable, hidden: Bools) -> _Judged:
    """`hidden` (n,): the pattern."""
    from sdc_tasks.judge.pattern.min_contributors import relations_below_minimum
    from sdc_tasks.methods.suppression.pattern.sums import limits_of, verify_with_sums, with_sums

    began = time.monotonic()
    verdict, sums = verify_with_sums(problem, hidden)
    short = relations_below_minimum(problem, hidden).tolist() if problem.minimum else []
    left_open = problem.primaries[~hidden[problem.primaries]]
    risky = sorted({*verdict.unprotected.tolist(), *left_open.tolist()})
    limits = limits_of(problem)
    named_sums = [with_sums(problem, sums).name(len(problem.a) + i) for i in range(len(sums))]
    known = int((hidden & problem.fixed).sum())
    safe = not risky and not short and not named_sums
    figures = {
        "safe": safe,
        "objective": problem.cost_of(hidden),
        "cells": len(problem.a),
        "primaries": len(problem.primaries),
        "secondaries": int((hidden & ~problem.primary).sum()),
        "unprotected": len(risky),
        "keys": [problem.name(cell) for cell in risky],
        "known_all_the_same": known,
        **({} if limits is None else {"sums_at_risk": named_sums, "limits": limits}),
        **({"relations_with_too_few_contributors": short} if problem.minimum else {}),
        "programs": verdict.programs,
        "seconds": round(time.monotonic() - began, 3),
    }
    return _Judged(safe, figures, _lines(problem, risky, short, named_sums, known))


def _lines(
    problem: SensitiveTable, risky: Sequence[int], short: Sequence[int], sums: Sequence[str], known: int
) -> list[str]:
    """What is said of a pattern: primaries at risk, relations with too few contributors, sums at risk, what
    was not judged, and how many hidden cells everybody knows.
    """
    from sdc_tasks.methods.suppression.pattern.sums import limits_of

    lines = []
    if risky:
        lines.append(f"not shown to be protected: {', '.join(map(problem.name, risky[:NAMED_CELLS]))}")
        lines[-1] += and_more(max(0, len(risky) - NAMED_CELLS))
    if short:
        lines.append(f"fewer contributors than {problem.minimum} in relation {short[0]}")
        lines[-1] += and_more(len(short) - 1)
    if sums:
        lines.append(f"not shown to be protected: {'; '.join(sums[:NAMED_CELLS])}")
        lines[-1] += and_more(max(0, len(sums) - NAMED_CELLS))
    if (limits := limits_of(problem)) is not None:
        lines.append(limits)
    if known:
        lines.append(f"{known} hidden cells must stay open or are empty; they are taken as known")
    return lines
