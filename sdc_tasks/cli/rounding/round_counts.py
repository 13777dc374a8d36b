"""`sdc round-counts`: reads a table of counts, and rounds it so that no small count is published."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sdc_tasks.cli.options import INPUT, METHOD, OUTPUT, AskedLayout, takes
from sdc_tasks.cli.rounding.crossings import AskedCrossings
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.told import tell_sums
from sdc_tasks.cli.shared import QUIET_SECONDS, SeedOption, refuse_place
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.names import DRAWN, Quality

if TYPE_CHECKING:
    from rich.table import Table

    from sdc_tasks.methods.rounding.small_count import (
        CountOptions,
        Crossings,
        Dummy,
        InnerCells,
        RoundedCells,
        Steps,
    )

IMAGES: dict[str, Literal["svg", "png"]] = {".svg": "svg", ".png": "png"}


@dataclass(frozen=True)
class AskedPublication(AskedCrossings):
    """Also which inner cells are rounded in any case, or were."""

    force: Annotated[
        str | None,
        typer.Option(
            help="a column with 1 where an inner cell must be rounded, 0 elsewhere", rich_help_panel=INPUT
        ),
    ] = None
    given: Annotated[
        str | None,
        typer.Option(
            help="a column of rounded values that are fixed, empty where free", rich_help_panel=INPUT
        ),
    ] = None


@dataclass(frozen=True)
class CountRounding:
    """How to round."""

    base: Annotated[
        list[int] | None,
        typer.Option(
            help="the rounding base; repeat it to compare several; default: 3", rich_help_panel=METHOD
        ),
    ] = None
    seed: SeedOption = None
    quality: Annotated[
        Quality, typer.Option(help="paper: the algorithm of [4]; fast, best: refined", rich_help_panel=METHOD)
    ] = "fast"
    max_round: Annotated[
        int | None,
        typer.Option(
            help="the largest published count to be rounded; default: base − 1", rich_help_panel=METHOD
        ),
    ] = None
    zero_candidates: Annotated[
        bool,
        typer.Option(
            "--zero-candidates",
            help="empty inner cells of small published cells may be filled",
            rich_help_panel=METHOD,
        ),
    ] = False
    protect_zeros: Annotated[
        bool,
        typer.Option(
            "--protect-zeros",
            help="inner cells of empty published cells may be filled",
            rich_help_panel=METHOD,
        ),
    ] = False
    leverage: Annotated[
        bool,
        typer.Option(
            "--leverage",
            help="also round small inner cells that follow from sums and differences",
            rich_help_panel=METHOD,
        ),
    ] = False
    rule_aware: Annotated[
        bool,
        typer.Option(
            "--rule-aware",
            help="also against somebody who runs the program on every hidden table: every small count moves",
            rich_help_panel=METHOD,
        ),
    ] = False
    drawn: Annotated[
        float | None,
        typer.Option(
            help="--rule-aware: chance that the seed decides about a small count; default: 0.1",
            rich_help_panel=METHOD,
        ),
    ] = None
    steps: Annotated[
        str | None,
        typer.Option(
            help="FORWARD,BACK,FINAL: how fillings and removals alternate; default: 0,0,1",
            rich_help_panel=METHOD,
        ),
    ] = None
    batch: Annotated[
        int | None, typer.Option(help="number of inner cells filled at once", rich_help_panel=METHOD)
    ] = None

    def __post_init__(self) -> None:
        if len(set(self.bases)) < len(self.bases):
            raise InvalidInput("--base: a base is given twice. Remedy: give each base once")
        if self.drawn is not None and not self.rule_aware:
            raise InvalidInput(
                "--drawn: only with --rule-aware. Remedy: leave out --drawn, or give --rule-aware"
            )
        if self.rule_aware and len(self.bases) > 1:
            raise InvalidInput(
                "--base: with --rule-aware only one. Two roundings of one table together leave fewer "
                "candidates. Remedy: give one --base"
            )

    @property
    def bases(self) -> list[int]:
        return self.base or [3]

    def options(self) -> list[CountOptions]:
        """Those of the method, for each base; all have one seed."""
        from sdc_tasks.methods.rounding.small_count import CountOptions
        from sdc_tasks.model.secret import drawn_seed

        secret, chance = drawn_seed(self.seed), DRAWN if self.drawn is None else self.drawn
        return [
            CountOptions(
                secret,
                base,
                self.quality,
                self.max_round,
                self.zero_candidates,
                self.protect_zeros,
                self.leverage,
                _steps(self.steps),
                self.batch,
                self.rule_aware,
                chance,
            )
            for base in self.bases
        ]


@dataclass(frozen=True)
class CountFiles:
    """What is written where."""

    inner: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="inner cells with original and rounded counts; confidential",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    published: Annotated[
        Path | None,
        typer.Option(
            help="the rounded publication; only this file may leave the house", rich_help_panel=OUTPUT
        ),
    ] = None
    facts: Annotated[
        Path | None,
        typer.Option("--json", help="measures and the tables of [4]; confidential", rich_help_panel=OUTPUT),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(
            help="the tables of [4] as a picture, .svg or .png; confidential", rich_help_panel=OUTPUT
        ),
    ] = None

    def refuse_for(self, file: Path) -> None:
        """Raises InvalidInput for a place that cannot be written, or is the table itself."""
        for place in (self.inner, self.published, self.facts, self.plot):
            refuse_place(place, file)
        if self.plot is not None and self.plot.suffix.lower() not in IMAGES:
            raise InvalidInput(f"{self.plot}: not a picture that can be drawn. Remedy: name it .svg or .png")


def round_counts(
    file: Annotated[Path, typer.Argument(help="inner cells, or microdata: CSV (also .gz) or Parquet")],
    layout: Annotated[
        AskedLayout,
        takes(
            "dims",
            "count",
            needed=("dims",),
            meanings={"count": "column of counts; without it each record counts one"},
        ),
    ],
    publication: AskedPublication,
    rounding: CountRounding,
    files: CountFiles,
) -> None:
    """Rounds small counts so that no published cell is in 1 … base − 1, and all cells stay
    close, additive and consistent.

    Without --count each record counts one. Without --max-order, --crossings, --formula or --hierarchy all
    crossings are published. Nothing is written if the input is wrong.

    Example: sdc round-counts people.csv --dims AGE,SEX --count N --published rounded.csv
    """
    from sdc_tasks.intake.tables.counts import read_counts
    from sdc_tasks.methods.rounding.small_count import dummy_of
    from sdc_tasks.methods.rounding.small_count import round_counts as round_all

    files.refuse_for(file)
    options = rounding.options()
    where = layout.of(file)
    with _progress() as tell:
        tell("reading")
        table = read_counts(file, list(where.dims), where.count, publication.force, publication.given)
        tell("published cells")
        dummy = dummy_of(table.cells, _publication(table.cells, publication))
        results = [
            round_all(dummy, each, table.force, table.given, _under(tell, each.base, len(options)))
            for each in options
        ]
        tell("writing")
        _write(results, files)
    out.print(
        f"{len(table.cells)} inner cells, {dummy.published} published cells in {len(dummy.parent)} crossings",
        style="dim",
    )
    for result in results:
        out.print(_shown(result))
    tell_sums(files.facts, files.plot)
    if files.inner is not None:
        out.tell(("confidential", "bold"), f", original counts: {files.inner}")
    if files.published is not None:
        out.print(f"publication: {files.published}")


def _publication(cells: InnerCells, asked: AskedPublication) -> Crossings:
    from sdc_tasks.api.rounding import code_trees, publication_of

    trees = code_trees(cells, asked.hierarchies(cells.dimensions))
    return publication_of(cells, asked.max_order, asked.named, asked.formula, trees)


def _steps(text: str | None) -> Steps:
    from sdc_tasks.methods.rounding.small_count import Steps

    if text is None:
        return Steps()
    numbers = text.split(",")
    if len(numbers) > 3 or not all(number.strip().isdigit() for number in numbers):
        raise InvalidInput(
            f"--steps {text}: up to three numbers are expected. Remedy: give FORWARD,BACK,FINAL, such as "
            f"10,5,10"
        )
    forward = int(numbers[0])
    backward = int(numbers[1]) if len(numbers) > 1 else forward // 2
    return Steps(forward, backward, int(numbers[2]) if len(numbers) > 2 else max(forward, 1))


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Shows progress: one changing line at a terminal, otherwise a line from time to time."""
    if out.is_terminal:
        with out.status("") as status:
            yield status.update
        return
    said = time.monotonic()

    def tell(what: str) -> None:
        nonlocal said
        if time.monotonic() >= said + QUIET_SECONDS:
            said = time.monotonic()
            out.print(what)

    yield tell


def _under(tell: Callable[[str], None], base: int, count: int) -> Callable[[str], None]:
    return tell if count == 1 else lambda what: tell(f"base {base}: {what}")


def _write(results: list[RoundedCells], files: CountFiles) -> None:
    """Writes the files. All contents are computed before the first file is written."""
    import numpy as np

    from sdc_tasks.intake.tables.counts import table_bytes

    inner, published, facts, plot = files.inner, files.published, files.facts, files.plot
    dummy = results[0].dummy
    dimensions = dummy.cells.dimensions
    made: list[tuple[Path, bytes, int]] = []
    if plot is not None:
        made.append((plot, _picture(results[0], plot), 0o600))
    if facts is not None:
        made.append(
            (facts, (json.dumps(_facts(results), ensure_ascii=False, indent=1) + "\n").encode(), 0o600)
        )
    if inner is not None:
        codes = {
            name: np.array(labels, dtype=object)[own]
            for name, labels, own in zip(dimensions, dummy.cells.labels, dummy.cells.codes, strict=True)
        }
        columns = {"original": dummy.cells.y} | {
            name + _suffix(result, results): values
            for result in results
            for name, values in (("rounded", result.inner), ("difference", result.inner - dummy.cells.y))
        }
        made.append((inner, table_bytes(inner, codes | columns), 0o600))
    if published is not None:
        keys = dict(zip(dimensions, dummy.labels(np.arange(dummy.published)), strict=True))
        values = {"rounded" + _suffix(result, results): result.published for result in results}
        made.append((published, table_bytes(published, keys | values), 0o644))
    for path, content, mode in made:
        replace_file(path, content, mode)


def _suffix(result: RoundedCells, results: list[RoundedCells]) -> str:
    return f"_{result.options.base}" if len(results) > 1 else ""


def replace_file(path: Path, content: bytes, mode: int) -> None:
    """Replaces the file in one step. Only the owner can read a confidential file, from its first byte."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as stream:
            stream.write(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _picture(result: RoundedCells, plot: Path) -> bytes:
    from sdc_tasks.methods.rounding.small_count.measures import differences, frequencies
    from sdc_tasks.report.rounding_figures import plot_rounding

    return plot_rounding(
        frequencies(result),
        differences(result),
        differences(result, simple=True),
        IMAGES[plot.suffix.lower()],
    )


def _facts(results: list[RoundedCells]) -> dict[str, Any]:
    from sdc_tasks.methods.rounding.small_count.measures import differences, frequencies, largest, measures

    dummy: Dummy = results[0].dummy
    return {
        "inner_cells": len(dummy.cells),
        "published_cells": dummy.published,
        "crossings": len(dummy.parent),
        "roundings": [
            {
                "options": asdict(result.options)
                | {
                    "seed": str(result.options.seed),
                    "max_round": result.options.largest,
                    "batch": result.options.filled_at_once,
                },
                "parts": result.parts,
                "rounds": result.rounds,
                "rounded_inner_cells": int(result.rounded.sum()),
                "inner": asdict(measures(dummy.cells.y, result.inner)),
                "published": asdict(measures(dummy.z, result.published)),
                "frequencies": asdict(frequencies(result)),
                "differences": asdict(differences(result)),
                "simple_differences": asdict(differences(result, simple=True)),
                "largest": [asdict(moved) for moved in largest(result)],
            }
            for result in results
        ],
    }


def _shown(result: RoundedCells) -> Table:
    """Measures of the whole table, without the count of any cell."""
    from rich.table import Table

    from sdc_tasks.methods.rounding.small_count.measures import measures

    grid = Table(
        "",
        "cells",
        "changed",
        "max |difference|",
        "mean",
        "root mean square",
        "utility",
        title=f"base {result.options.base}",
    )
    grid.title_justify = "left"
    dummy = result.dummy
    for name, found in (
        ("inner", measures(dummy.cells.y, result.inner)),
        ("published", measures(dummy.z, result.published)),
    ):
        grid.add_row(
            name,
            str(found.cells),
            str(found.changed),
            str(found.maximum),
            f"{found.mean:.4f}",
            f"{found.rms:.4f}",
            f"{found.utility:.6f}",
        )
    return grid
