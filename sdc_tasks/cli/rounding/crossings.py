"""The options of a command that publishes crossings of inner cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sdc_tasks.cli.options import INPUT
from sdc_tasks.errors import InvalidInput


@dataclass(frozen=True)
class AskedCrossings:
    """What is published of inner cells: all crossings, unless one of these says less."""

    max_order: Annotated[
        int | None,
        typer.Option(
            min=0, help="publish all crossings of at most this number of dimensions", rich_help_panel=INPUT
        ),
    ] = None
    crossings: Annotated[
        str | None,
        typer.Option(help="publish these and their sub-totals, as A:B,C:D:E", rich_help_panel=INPUT),
    ] = None
    formula: Annotated[
        str | None,
        typer.Option(help="publish the terms of a formula, as ~(A+B)*C", rich_help_panel=INPUT),
    ] = None
    hierarchy: Annotated[
        list[Path] | None,
        typer.Option(
            help="a dimension's code,parent or .hrc, as FILE (named DIM.csv) or DIM=FILE; repeat",
            rich_help_panel=INPUT,
        ),
    ] = None

    @property
    def named(self) -> list[list[str]] | None:
        """The dimensions of each crossing that is named."""
        if self.crossings is None:
            return None
        return [[name.strip() for name in crossing.split(":")] for crossing in self.crossings.split(",")]

    def hierarchies(self, dimensions: Sequence[str]) -> dict[str, list[Path]]:
        """The files of codes of each dimension. Raises InvalidInput for one of no dimension."""
        found: dict[str, list[Path]] = {}
        for given in self.hierarchy or []:
            name, equals, file = str(given).partition("=")
            path = Path(file) if equals and name in dimensions else given
            dimension = name if path is not given else given.stem
            if dimension not in dimensions:
                raise InvalidInput(
                    f"{given}: the dimension of this hierarchy is missing. Remedy: write DIM=FILE, with "
                    f"DIM one of {', '.join(dimensions)}"
                )
            found.setdefault(dimension, []).append(path)
        return found
