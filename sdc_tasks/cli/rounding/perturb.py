"""`sdc perturb`: counts with the noise of the cell key method, and what they tell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import INPUT, METHOD, OUTPUT, AskedLayout, takes
from sdc_tasks.cli.rounding.crossings import AskedCrossings
from sdc_tasks.cli.shared import refuse_place
from sdc_tasks.cli.terminal import out
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.api.perturbing import Noise, PerturbResult
    from sdc_tasks.model.secret import Secret

MOST_SECRET = 1000  # bytes of a file with a secret


@dataclass(frozen=True)
class AskedKeys:
    """Where the keys of the records come from."""

    secret: Annotated[
        Path | None,
        typer.Option(
            help="file with the secret of the statistic, 64 hexadecimal digits (openssl rand -hex 32), the "
            "same for all its tables; whoever has it undoes the noise",
            rich_help_panel=INPUT,
        ),
    ] = None
    record: Annotated[
        str | None,
        typer.Option(
            help="column of the records' names, which a secret makes keys of", rich_help_panel=INPUT
        ),
    ] = None
    record_key: Annotated[
        str | None,
        typer.Option(
            help="instead: column of keys that were given, decimal numbers in [0, 1) or whole numbers; with "
            "--count the sum of the keys of each cell",
            rich_help_panel=INPUT,
        ),
    ] = None
    keys_below: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="the number below which whole keys are, such as 256; default: as many as --ptable has",
            rich_help_panel=INPUT,
        ),
    ] = None
    weight: Annotated[str | None, typer.Option(help="column of survey weights", rich_help_panel=INPUT)] = None
    unknown: Annotated[
        str, typer.Option(help="the code of records that have none", rich_help_panel=INPUT)
    ] = "_U"

    def read_secret(self) -> Secret | None:
        from sdc_tasks.api.perturbing import secret_of
        from sdc_tasks.untrusted import settings_text

        return None if self.secret is None else secret_of(settings_text(self.secret, MOST_SECRET, "secret"))


@dataclass(frozen=True)
class AskedNoise:
    """Which noise: a perturbation table that is there, or the one of maximum entropy under these rules."""

    ptable: Annotated[
        Path | None,
        typer.Option(
            help="perturbation table, by probabilities (i;j;p;v;p_int_ub) or by keys (pcv,ckey,pvalue)",
            rich_help_panel=METHOD,
        ),
    ] = None
    max_step: Annotated[
        int | None, typer.Option(help="design one: no count moves farther", rich_help_panel=METHOD)
    ] = None
    variance: Annotated[
        float | None, typer.Option(help="design one: the variance of the noise", rich_help_panel=METHOD)
    ] = None
    js: Annotated[
        int, typer.Option(help="design one: no count is published as 1 … js", rich_help_panel=METHOD)
    ] = 0
    at_most: Annotated[
        bool,
        typer.Option(
            "--at-most",
            help="design one: rows may have less variance for more entropy",
            rich_help_panel=METHOD,
        ),
    ] = False
    monotone: Annotated[
        bool,
        typer.Option(
            "--monotone",
            help="design one: below the count, near steps are at least as likely as farther ones",
            rich_help_panel=METHOD,
        ),
    ] = False
    stay: Annotated[
        float,
        typer.Option(help="design one: the least probability that a count stays", rich_help_panel=METHOD),
    ] = 0.0

    def noise(self) -> Noise:
        """Raises InvalidInput where both are asked for, or none."""
        from sdc_tasks.methods.perturb.design import NoiseDesign

        rules = (self.max_step, self.variance)
        if (self.ptable is None) == (rules == (None, None)):
            raise InvalidInput(
                "which noise? Remedy: give --ptable FILE, or --max-step and --variance of one to be designed"
            )
        if self.ptable is not None:
            given = {
                "--js": self.js, "--at-most": self.at_most, "--monotone": self.monotone, "--stay": self.stay
            }  # fmt: skip
            if idle := [name for name, value in given.items() if value]:
                raise InvalidInput(
                    f"{', '.join(idle)}: of a table that is designed; this one is given. Remedy: leave out "
                    f"{', '.join(idle)}, or design one by --max-step and --variance"
                )
            return self.ptable
        if self.max_step is None or self.variance is None:
            raise InvalidInput("a table is designed from --max-step and --variance. Remedy: give both")
        return NoiseDesign(self.max_step, self.variance, self.js, self.at_most, self.monotone, self.stay)


@dataclass(frozen=True)
class PerturbFiles:
    """What is written where."""

    published: Annotated[
        Path | None,
        typer.Option(
            help="the perturbed counts above 0; this file may leave the house", rich_help_panel=OUTPUT
        ),
    ] = None
    cells: Annotated[
        Path | None,
        typer.Option(
            "--out", help="cells with counts and perturbed counts; confidential", rich_help_panel=OUTPUT
        ),
    ] = None
    told: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            help="what the perturbed counts tell a reader who knows the perturbation table, .json; "
            "confidential",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    write_ptable: Annotated[
        Path | None, typer.Option(help="the perturbation table", rich_help_panel=OUTPUT)
    ] = None
    whole_keys: Annotated[
        int | None,
        typer.Option(
            min=2, help="--write-ptable: by so many whole keys, else by probabilities", rich_help_panel=OUTPUT
        ),
    ] = None

    def refuse_for(self, file: Path) -> None:
        """Raises InvalidInput for a place that cannot be written, or is the table itself."""
        for place in (self.published, self.cells, self.told, self.write_ptable):
            refuse_place(place, file)
        if self.whole_keys is not None and self.write_ptable is None:
            raise InvalidInput("--whole-keys: only with --write-ptable. Remedy: give both")


def perturb(
    file: Annotated[Path, typer.Argument(help="microdata, or inner cells: CSV (also .gz) or Parquet")],
    layout: Annotated[
        AskedLayout,
        takes(
            "dims",
            "count",
            needed=("dims",),
            meanings={"count": "column of counts, where each line is a cell; else each line is a record"},
        ),
    ],
    keys: AskedKeys,
    publication: AskedCrossings,
    asked: AskedNoise,
    files: PerturbFiles,
) -> None:
    """Adds the noise of the cell key method to counts: the same people get the same noise in every table, and
    totals are no sums of their parts.

    Without --max-order, --crossings, --formula or --hierarchy all crossings are published. Nothing is written
    if the input is wrong.

    Example: sdc perturb people.csv --dims AGE,SEX --record ID --secret secret.hex --max-step 5 --variance 3
    --js 2 --published perturbed.csv
    """
    from sdc_tasks.api.perturbing import perturbed_rows
    from sdc_tasks.intake.tables.rows import read_rows

    files.refuse_for(file)
    noise, secret, where = asked.noise(), keys.read_secret(), layout.of(file)
    found = perturbed_rows(
        read_rows(file),
        where.dims,
        noise,
        secret,
        {
            "record": keys.record,
            "record_key": keys.record_key,
            "keys_below": keys.keys_below,
            "count": where.count,
            "weight": keys.weight,
            "unknown": keys.unknown,
            "max_order": publication.max_order,
            "crossings": publication.named,
            "formula": publication.formula,
            "hierarchy": dict(publication.hierarchies(where.dims)) or None,
        },
        False,
    )
    _write(found, files)
    dummy = found.perturbed.dummy
    out.print(
        f"{len(dummy.cells)} inner cells, {dummy.published} published cells that somebody is in", style="dim"
    )
    out.print(f"largest step {found.ptable.largest}; rows of counts 0 … {found.ptable.top}")
    for place, what in ((files.cells, "counts"), (files.told, "what is told")):
        if place is not None:
            out.tell(("confidential", "bold"), f", {what}: {place}")
    if files.published is not None:
        out.print(f"publication: {files.published}")


def _write(found: PerturbResult, files: PerturbFiles) -> None:
    """Writes the files. All contents are computed before the first file is written."""
    from sdc_tasks.cli.rounding.round_counts import replace_file
    from sdc_tasks.intake.tables.counts import table_bytes
    from sdc_tasks.intake.tables.ptables import by_keys, by_probabilities

    made: list[tuple[Path, bytes, int]] = []
    if files.write_ptable is not None:
        table, many = found.ptable, files.whole_keys
        content = by_probabilities(table) if many is None else by_keys(table, many)
        made.append((files.write_ptable, content, 0o644))
    if files.told is not None:
        told = json.dumps(found.audit().facts, ensure_ascii=False, indent=1) + "\n"
        made.append((files.told, told.encode(), 0o600))
    for place, frame, mode in ((files.cells, found.table, 0o600), (files.published, found.public, 0o644)):
        if place is not None:
            columns = {str(name): frame[name].to_numpy() for name in frame.columns}
            made.append((place, table_bytes(place, columns), mode))
    for place, content, mode in made:
        replace_file(place, content, mode)
