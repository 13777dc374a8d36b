"""`sdc demo`, `sdc release`, `sdc findings`: the same steps as the DAG."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.evidence import WITNESSES, write_evidence
from sdc_tasks.cli.options import INPUT, METHOD, OUTPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.shared import DomainOption, InboxOption, PeriodOption, WarehouseOption, other_tables
from sdc_tasks.errors import NAMED_CELLS, CountryAwaited, CountryMissing, InvalidInput, SdcError

if TYPE_CHECKING:
    from sdc_tasks.outputs import Summary
    from sdc_tasks.steps import Desk


def demo(
    folder: Annotated[Path, typer.Argument(help="where to write domain.yaml and inbox/")],
    countries: Annotated[int, typer.Option(min=2, help="number of countries", rich_help_panel=METHOD)] = 27,
    activities: Annotated[
        int,
        typer.Option(
            min=3,
            max=10_000,
            help="codes of the activity, totals included; --statistic: 12 or more",
            rich_help_panel=METHOD,
        ),
    ] = 120,
    sizes: Annotated[
        int, typer.Option(min=2, help="size classes, beside their total", rich_help_panel=METHOD)
    ] = 5,
    seed: Annotated[
        int, typer.Option(min=0, help="the same seed gives the same demonstration", rich_help_panel=METHOD)
    ] = 1,
    period: Annotated[
        str, typer.Option(help="reference period of the deliveries", rich_help_panel=INPUT)
    ] = "2024",
    indicators: Annotated[
        int,
        typer.Option(
            min=1,
            max=5,
            help="turnover, value added, its two parts, purchases: the first ones",
            rich_help_panel=METHOD,
        ),
    ] = 1,
    euro_area: Annotated[
        bool,
        typer.Option("--euro-area", help="the euro area as a second composition", rich_help_panel=METHOD),
    ] = False,
    statistic: Annotated[
        bool,
        typer.Option(
            "--statistic",
            help="three linked tables of the same enterprises: sbs_main.yaml (activities alone), "
            "sbs_sizes.yaml (fewer activities by size class), sbs_regions.yaml (still fewer by region)",
            rich_help_panel=METHOD,
        ),
    ] = False,
    quarters: Annotated[
        bool,
        typer.Option(
            "--quarters",
            help="with --statistic: also sbs_quarters.yaml, the turnover of each quarter of the year",
            rich_help_panel=METHOD,
        ),
    ] = False,
    regions: Annotated[
        int | None,
        typer.Option(
            min=2, help="with --statistic: regions of each country; default: 8", rich_help_panel=METHOD
        ),
    ] = None,
) -> None:
    """Writes synthetic national deliveries, protected within each country, and their domain file.

    Example: sdc demo demo --countries 4 --activities 6 --sizes 2
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from sdc_tasks.cli import terminal
    from sdc_tasks.demo import StatisticShape, write_deliveries, write_domain, write_statistic

    for name, asked in (("--regions", regions is not None), ("--quarters", quarters)):
        if asked and not statistic:
            raise InvalidInput(f"{name} is of --statistic. Remedy: give both, or neither")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=terminal.out, transient=True) as bar:
        task = bar.add_task("writing deliveries", total=countries)

        def told(country: str, done: int, of: int) -> None:
            bar.update(task, completed=done, total=of, description=f"delivery of {country}")

        if statistic:
            try:
                shape = StatisticShape(
                    countries, activities, sizes, regions or 8, indicators, euro_area, quarters
                )
                files = write_statistic(folder, shape, seed, period, told)
            except ValueError as error:
                raise InvalidInput(f"--statistic: {error}. Remedy: ask for another shape or period") from None
        else:
            path = write_domain(folder, countries, activities, sizes, indicators, euro_area)
            write_deliveries(path, seed, period, told)
    if statistic:
        names = ", ".join(path.name for path in files.values())
        out.print(f"{countries} deliveries of each table in {folder / 'inbox'}, domain files {names}")
        return
    out.print(f"{countries} deliveries in {path.parent / 'inbox'}, domain file {path}")


def release(
    domain: DomainOption,
    period: PeriodOption,
    inbox: InboxOption,
    out_folder: Annotated[
        Path,
        typer.Option(
            "--out",
            help="folder for table.csv and the other public files, audit.json, report.html and findings.csv",
            rich_help_panel=OUTPUT,
        ),
    ],
    warehouse: Annotated[
        str | None,
        typer.Option(help="database URL; default: warehouse.db in the out folder", rich_help_panel=INPUT),
    ] = None,
    witnesses: Annotated[
        Path | None, typer.Option("--witnesses", help=WITNESSES, rich_help_panel=OUTPUT)
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            metavar="DOMAIN,INBOX",
            help="the domain file and the inbox of another table of the statistic, whose deliveries are "
            "received and checked first, so that both are decided together (linked: together); it is "
            "released by a command of its own. Repeatable",
            rich_help_panel=INPUT,
        ),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            min=1,
            help="for groups of linked indicators and parts of the audit; each holds the whole release",
            rich_help_panel=METHOD,
        ),
    ] = 1,
) -> None:
    """Runs a whole release without Airflow: receive, check, protect, audit, publish.

    Example: sdc release --domain demo/domain.yaml --period 2024 --inbox demo/inbox --out out --witnesses
    witnesses.zip
    """
    from sdc_tasks import outputs, steps
    from sdc_tasks.cli import side_by_side
    from sdc_tasks.domains import load_domain

    read = load_domain(domain).of(period)  # an unknown domain leaves no folder and no database behind
    others = other_tables(also or (), read, period)
    _refuse_inboxes(inbox, [folder for _, folder in others], out_folder)
    _refuse_another(out_folder, read.id, period)
    out_folder.mkdir(parents=True, exist_ok=True)
    url = warehouse or f"sqlite:///{(out_folder / 'warehouse.db').resolve()}"
    place = side_by_side.Place(url, domain, period, time.monotonic())
    for other, folder in others:
        of_table = replace(place, domain=other).desk()
        _take_in(of_table, folder, f"{of_table.domain.id}, {folder}: ")
    desk = place.desk()
    say = desk.say
    _take_in(desk, inbox)
    place_of = outputs.write_findings(desk, out_folder)
    say(f"deliveries read and checked, {_warned(outputs.warnings(desk))}; see {place_of}")
    try:
        release_id = steps.assemble(desk)
    except (CountryMissing, CountryAwaited) as error:
        raise _of_refused(error, outputs.missing(desk)) from None
    finally:
        outputs.write_findings(desk, out_folder)  # with what the comparison of the countries found
    say(release_id)
    steps.baseline(desk, release_id)
    for rung in range(len(desk.domain.cta.ladder)):
        if not steps.adjust(desk, release_id, rung):
            break
    side_by_side.run(steps.choose_bases, release_id, desk.domain.largest_first, place, desk, processes)
    side_by_side.run(steps.audit_chunk, release_id, range(desk.domain.audit.chunks), place, desk, processes)
    steps.verdict(desk, release_id)
    try:
        steps.publish(desk, release_id)
    finally:
        page = outputs.write_out(desk, release_id, out_folder)
        if witnesses is not None:
            problem, _, report = steps.decided(desk, release_id)
            write_evidence(witnesses, problem.salt, report.evidence, steps.drawn_by(desk))
        show(outputs.summary(desk, release_id), url, page)


def _refuse_inboxes(inbox: Path, others: Sequence[Path], out_folder: Path) -> None:
    """Raises InvalidInput where one of the inboxes is the folder of the release, or `inbox` is missing beside
    others.
    """
    for folder in (inbox, *others):
        if out_folder.resolve() == folder.resolve():
            raise InvalidInput(
                f"--out {out_folder}: is the inbox, and what a release writes would count as deliveries. "
                f"Remedy: another folder"
            )
    if others and not inbox.is_dir():
        raise InvalidInput(f"--inbox {inbox}: no such folder. Remedy: the folder with the deliveries")


def _refuse_another(folder: Path, domain: str, period: str) -> None:
    """Raises InvalidInput where the files of another period, or of another domain, are in the folder: those
    of this release would take their names.
    """
    certificate = folder / "audit.json"
    if not certificate.is_file():
        return
    try:
        told = json.loads(certificate.read_text(encoding="utf-8"))
        there = (str(told["domain"]), str(told["period"]))
    except (ValueError, KeyError, TypeError):  # none of ours
        return
    if there != (domain, period):
        raise InvalidInput(
            f"--out {folder}: holds the release of {' '.join(there)}, which this one would overwrite. "
            f"Remedy: another folder, with --warehouse sqlite:///{(folder / 'warehouse.db').resolve()} where "
            f"both belong to one warehouse"
        )


def _of_refused(error: SdcError, missing: Mapping[str, str]) -> SdcError:
    """The last line of a release that did not begin: which files were refused. Another setting of the domain
    is no remedy for them.
    """
    from sdc_tasks.outputs import NO_FILE

    refused = [told for told in missing.values() if told != NO_FILE]
    if not refused:
        return error
    silent = [country for country, told in missing.items() if told == NO_FILE]
    more = f"; no accepted delivery from {', '.join(silent)}" if silent else ""
    return type(error)(
        f"{_and_more('; '.join(refused[:NAMED_CELLS]), len(refused))}, see findings.csv{more}. Remedy: "
        f"correct {'it' if len(refused) == 1 else 'them'}, and release again"
    )


def _take_in(desk: Desk, inbox: Path, told: str = "") -> None:
    """Receives and checks the deliveries of an inbox; one that is refused stops no other. `told` begins each
    line that is printed: of which table and folder they are, where there are several.
    """
    from sdc_tasks import steps

    waiting = steps.discover(desk, inbox)
    desk.say(f"{told}{len(waiting)} deliveries")
    for each in waiting:
        try:
            steps.ingest(desk, inbox, each.file)
        except InvalidInput as error:
            desk.say(f"{told}{error}")


def findings(
    domain: DomainOption,
    period: PeriodOption,
    warehouse: WarehouseOption,
) -> None:
    """Prints the findings on the deliveries of a period as CSV: country, file, severity, code,
    line, cell, message; never a value.

    Example: sdc findings --domain demo/domain.yaml --period 2024 --warehouse sqlite:///out/warehouse.db
    """
    from sdc_tasks import outputs, steps

    out.print(outputs.findings(steps.open_desk(warehouse, domain, period)), end="")


def _and_more(told: str, count: int) -> str:
    return f"{told} … and {count - NAMED_CELLS} more" if count > NAMED_CELLS else told


def _warned(found: Mapping[str, tuple[str, ...]]) -> str:
    """How many deliveries were accepted with warnings, and the codes of the first ones."""
    if not found:
        return "no delivery with warnings"
    told = ", ".join(
        f"{country} ({', '.join(codes)})" for country, codes in list(found.items())[:NAMED_CELLS]
    )
    return (
        f"{len(found)} {'delivery' if len(found) == 1 else 'deliveries'} with warnings: "
        f"{_and_more(told, len(found))}"
    )


def _of_first(countries: tuple[str, ...]) -> str:
    """What nobody could compare with a period before."""
    named = _and_more(", ".join(countries[:NAMED_CELLS]), len(countries))
    unseen = "what is wrong in a whole delivery alike, such as two indicators exchanged, may not show"
    return f"no earlier period to compare with: {named}; {unseen}"


def show(summary: Summary, warehouse: str, page: Path) -> None:
    """Prints the release in figures, without passwords."""
    from rich.table import Table
    from sqlalchemy import make_url

    table = Table(title=f"release {summary.release_id}", show_header=False, title_justify="left")
    table.add_row(
        "files",
        f"{summary.accepted} accepted, {summary.refused} refused, {summary.superseded} superseded by later "
        f"ones",
    )
    if summary.left_out:
        told = [f"{country}: {why}" for country, why in summary.left_out.items()]
        table.add_row("left out", _and_more("; ".join(told[:NAMED_CELLS]), len(told)))
    visible = f"{summary.visible} as sum of the visible countries, " if summary.visible else ""
    table.add_row("warnings", _warned(summary.warnings))
    if summary.first:
        table.add_row("first period", _of_first(summary.first))
    table.add_row(
        "aggregate cells",
        f"{summary.exact} exact, {summary.rounded} rounded, {visible}{summary.withheld} withheld",
    )
    table.add_row(
        "relative base",
        f"mean {summary.mean_relative_base:.2%}, median {summary.median_relative_base:.2%} of the rounded "
        f"cells; "
        f"Σ (base/2)/value {summary.relative_loss:.3f}",
    )
    table.add_row("strategies", "\n".join(summary.strategies) or "audit-driven bases alone")
    table.add_row(
        "audit",
        f"{summary.claim.verdict}: {summary.claim.sentence}; {summary.broken} requirements broken; "
        f"{summary.proof.said}",
    )
    table.add_row("audited", summary.claim.attackers)
    table.add_row("seconds", ", ".join(f"{step} {seconds:.1f}" for step, seconds in summary.seconds.items()))
    unseen = (
        ""
        if summary.embargo is None
        else f", under embargo until {summary.embargo:%Y-%m-%d %H:%M} UTC; run again then for table.csv"
    )
    table.add_row(
        "version", "none: blocked" if not summary.claim.passed else f"{summary.version or 'none yet'}{unseen}"
    )
    out.print(table)
    out.print(
        f"warehouse: {make_url(warehouse).render_as_string(hide_password=True)}"
    )  # below the table no path is wrapped
    out.print(f"report: {page}")
