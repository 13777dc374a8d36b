"""`sdc argus`: a batch of τ-ARGUS, as it is, on our methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdc_tasks.cli.options import OUTPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.shared import SeedOption, refuse_place
from sdc_tasks.errors import InvalidInput


def argus(
    batch: Annotated[
        Path, typer.Argument(metavar="BATCH.arb", help="a batch file; what it names is sought beside it")
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", help="folder for what it writes; default: that of the batch", rich_help_panel=OUTPUT
        ),
    ] = None,
    hst: Annotated[
        Path | None,
        typer.Option(
            "--hst",
            help="write the last pattern as a-priori file, .hst; confidential",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    seed: SeedOption = None,
) -> None:
    """Runs a τ-ARGUS batch: reads its data, applies its rules, protects its tables with our
    methods, and says what differs.

    Exit codes: 0 all tables protected, 2 bad input or a command that is not ours, 3 no protection found.

    Example: sdc argus BATCH.arb --out results
    """
    from sdc_tasks.argus.run import run_batch
    from sdc_tasks.model.secret import drawn_seed

    if folder is not None and folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder}: a file, not a folder. Remedy: name another one")
    refuse_place(hst, batch)
    if not run_batch(batch, folder, drawn_seed(seed), out.print, hst) and seed is not None:
        out.print("differs: --seed is of a rounding, and this batch rounds nothing")
