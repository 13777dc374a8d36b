"""`sdc perturb`: counts or sums with the noise of the cell key method, and what they tell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import INPUT, METHOD, OUTPUT, AskedLayout, takes
from sdc_tasks.cli.rounding.crossings import AskedCrossings
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.shared import refuse_place
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.api.options import KeyedKeywords, PerturbKeywords
    from sdc_tasks.api.perturbing import (
        Noise,
        PerturbAudit,
        PerturbResult,
        PerturbValuesAudit,
        PerturbValuesResult,
    )
    from sdc_tasks.methods.perturb.values import ValueNoise
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

    def keywords(self, publication: AskedCrossings, dims: Sequence[str]) -> KeyedKeywords:
        """As the functions of the API take them."""
        return {
            "record": self.record,
            "record_key": self.record_key,
            "keys_below": self.keys_below,
            "unknown": self.unknown,
            "max_order": publication.max_order,
            "crossings": publication.named,
            "formula": publication.formula,
            "hierarchy": dict(publication.hierarchies(dims)) or None,
        }

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
        int | None,
        typer.Option(
            help="design one: no count moves farther; with --values in standard deviations, default 3",
            rich_help_panel=METHOD,
        ),
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
            if idle := self.of_design:
                raise InvalidInput(
                    f"{', '.join(idle)}: of a table that is designed; this one is given. Remedy: leave out "
                    f"{', '.join(idle)}, or design one by --max-step and --variance"
                )
            return self.ptable
        if self.max_step is None or self.variance is None:
            raise InvalidInput("a table is designed from --max-step and --variance. Remedy: give both")
        return NoiseDesign(self.max_step, self.variance, self.js, self.at_most, self.monotone, self.stay)

    @property
    def of_design(self) -> list[str]:
        """The options that were given and are of the design of a table alone."""
        given = {
            "--js": self.js, "--at-most": self.at_most, "--monotone": self.monotone, "--stay": self.stay
        }  # fmt: skip
        return [name for name, value in given.items() if value]


@dataclass(frozen=True)
class AskedValues:
    """Sums of values in place of counts, and how large their noise is."""

    values: Annotated[
        str | None,
        typer.Option(
            help="column of values, 0 or more: their sums are perturbed, and no counts", rich_help_panel=INPUT
        ),
    ] = None
    share: Annotated[
        float | None,
        typer.Option(
            help="with --values: the standard deviation of the noise, as a share of the largest contribution",
            rich_help_panel=METHOD,
        ),
    ] = None
    large: Annotated[
        float | None,
        typer.Option(
            help="with --values: the share that it falls to for contributions beyond --flex-point",
            rich_help_panel=METHOD,
        ),
    ] = None
    flex_point: Annotated[
        float | None,
        typer.Option(help="with --values: see --large; in the unit of the values", rich_help_panel=METHOD),
    ] = None
    q: Annotated[
        float | None,
        typer.Option(help="with --values: how fast it falls, 1 or more; default 3", rich_help_panel=METHOD),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            help="with --values: the weight of the noise of each of the largest contributions, as 1,0.5,0.2; "
            "default 1",
            rich_help_panel=METHOD,
        ),
    ] = None

    def noise(self, asked: AskedNoise, of_counts: Mapping[str, object]) -> ValueNoise | None:
        """None of counts. Raises InvalidInput for options of the other kind; `of_counts`: some of counts
        alone.
        """
        from sdc_tasks.methods.perturb.values import ValueNoise

        mine: Mapping[str, object] = {
            "--share": self.share, "--large": self.large, "--flex-point": self.flex_point, "--q": self.q,
            "--weights": self.weights,
        }  # fmt: skip
        theirs: Mapping[str, object] = {
            "--ptable": asked.ptable,
            "--variance": asked.variance,
            **of_counts,
            **dict.fromkeys(asked.of_design, True),
        }
        kind, others = ("counts", mine) if self.values is None else ("sums of values", theirs)
        if idle := [name for name, value in others.items() if value is not None]:
            raise InvalidInput(f"{', '.join(idle)}: no option of {kind}. Remedy: leave out {', '.join(idle)}")
        if self.values is None:
            return None
        if self.share is None:
            raise InvalidInput("how large is the noise? Remedy: give --share, such as 0.1")
        return ValueNoise(
            self.share,
            self.large,
            self.flex_point,
            3.0 if self.q is None else self.q,
            3 if asked.max_step is None else asked.max_step,
            (1.0,) if self.weights is None else self._weights(self.weights),
        )

    def _weights(self, text: str) -> tuple[float, ...]:
        try:
            return tuple(float(each) for each in text.split(","))
        except ValueError as error:
            raise InvalidInput("--weights: numbers are expected, as 1,0.5,0.2. Remedy: correct it") from error


@dataclass(frozen=True)
class PerturbFiles:
    """What is written where."""

    published: Annotated[
        Path | None,
        typer.Option(
            help="what is perturbed, above 0; this file may leave the house", rich_help_panel=OUTPUT
        ),
    ] = None
    cells: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="cells with what is true and what is perturbed; confidential",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    told: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            help="what the publication tells a reader who knows the perturbation table or the noise, .json; "
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
    of_values: AskedValues,
    files: PerturbFiles,
) -> None:
    """Adds the noise of the cell key method to counts, or with --values to sums: the same people get the same
    noise in every table, and totals are no sums of their parts.

    Without --max-order, --crossings, --formula or --hierarchy all crossings are published. Nothing is written
    if the input is wrong.

    Example: sdc perturb people.csv --dims AGE,SEX --record ID --secret secret.hex --max-step 5 --variance 3
    --js 2 --published perturbed.csv
    """
    from sdc_tasks.api.perturbing import PerturbAudit, perturbed_rows, perturbed_values
    from sdc_tasks.intake.tables.rows import read_rows

    files.refuse_for(file)
    where = layout.of(file)
    of_counts = {"--count": where.count, "--weight": keys.weight, "--write-ptable": files.write_ptable}
    noise = of_values.noise(asked, of_counts)
    keyed = keys.keywords(publication, where.dims)
    found: PerturbResult | PerturbValuesResult
    if noise is not None and of_values.values is not None:
        secret, rows = keys.read_secret(), read_rows(file)
        found = perturbed_values(rows, where.dims, of_values.values, noise, secret, keyed, False)
        dummy, size = found.dummy, f"noise of a sum at most {float(noise.reach):.0%} of it"
    else:
        table, secret, rows = asked.noise(), keys.read_secret(), read_rows(file)
        own: PerturbKeywords = {**keyed, "count": where.count, "weight": keys.weight}
        found = perturbed_rows(rows, where.dims, table, secret, own, False)
        dummy = found.perturbed.dummy
        size = f"largest step {found.ptable.largest}; rows of counts 0 … {found.ptable.top}"
    audit = None if files.told is None else found.audit()
    _write(found, audit, files)
    out.print(
        f"{len(dummy.cells)} inner cells, {dummy.published} published cells that somebody is in", style="dim"
    )
    out.print(size)
    for place, what in ((files.cells, "what is true"), (files.told, "what is told")):
        if place is not None:
            out.tell(("confidential", "bold"), f", {what}: {place}")
    if isinstance(audit, PerturbAudit):
        out.print(f"audit: {audit.judged}")
    if files.published is not None:
        out.print(f"publication: {files.published}")


def _write(
    found: PerturbResult | PerturbValuesResult,
    audit: PerturbAudit | PerturbValuesAudit | None,
    files: PerturbFiles,
) -> None:
    """Writes the files. All contents are computed before the first file is written."""
    from sdc_tasks.api.perturbing import PerturbResult
    from sdc_tasks.cli.rounding.round_counts import replace_file
    from sdc_tasks.intake.tables.counts import table_bytes
    from sdc_tasks.intake.tables.ptables import by_keys, by_probabilities

    made: list[tuple[Path, bytes, int]] = []
    if files.write_ptable is not None and isinstance(found, PerturbResult):
        table, many = found.ptable, files.whole_keys
        content = by_probabilities(table) if many is None else by_keys(table, many)
        made.append((files.write_ptable, content, 0o644))
    if files.told is not None and audit is not None:
        told = json.dumps(audit.facts, ensure_ascii=False, indent=1) + "\n"
        made.append((files.told, told.encode(), 0o600))
    for place, frame, mode in ((files.cells, found.table, 0o600), (files.published, found.public, 0o644)):
        if place is not None:
            columns = {str(name): frame[name].to_numpy() for name in frame.columns}
            made.append((place, table_bytes(place, columns), mode))
    for place, content, mode in made:
        replace_file(place, content, mode)
