"""`sdc demo`, `sdc release`, `sdc audit`: the same steps as the DAG."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sdc_tasks.cli.case import CaseOptions, about_a_case
from sdc_tasks.cli.evidence import write_evidence
from sdc_tasks.cli.searches.replayed import replayed
from sdc_tasks.cli.shared import DomainOption, InboxOption, PeriodOption, refuse_place
from sdc_tasks.cli.terminal import out
from sdc_tasks.errors import NAMED_CELLS, InvalidInput, some_of

if TYPE_CHECKING:
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.results import AuditReport
    from sdc_tasks.outputs import Summary
    from sdc_tasks.report import ReadTable
    from sdc_tasks.report.standing import Contradictions


SHOWN_ROWS = 40  # rows of a table on the terminal
SHOWN_ATTACKS = 10
WITNESSES = "write the evidence for `sdc verify-certificate` here; confidential"


def demo(
    folder: Annotated[Path, typer.Argument(help="where to write domain.yaml and inbox/")],
    countries: Annotated[int, typer.Option(min=2, help="number of countries")] = 27,
    activities: Annotated[int, typer.Option(min=3, help="codes of the activity, totals included")] = 120,
    sizes: Annotated[int, typer.Option(min=2, help="size classes, beside their total")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="the same seed gives the same demonstration")] = 1,
    period: Annotated[str, typer.Option(help="reference period of the deliveries")] = "2024",
    indicators: Annotated[
        int,
        typer.Option(min=1, max=5, help="turnover, value added, its two parts, purchases: the first ones"),
    ] = 1,
    euro_area: Annotated[
        bool, typer.Option("--euro-area", help="the euro area as a second composition")
    ] = False,
) -> None:
    """Writes synthetic national deliveries, protected within each country, and their domain file."""
    from sdc_tasks.demo import write_demo

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("writing deliveries", total=countries)
        path = write_demo(
            folder,
            countries,
            activities,
            sizes,
            seed,
            period,
            indicators,
            euro_area,
            lambda country, done, of: bar.update(
                task, completed=done, total=of, description=f"delivery of {country}"
            ),
        )
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
        ),
    ],
    warehouse: Annotated[
        str | None, typer.Option(help="database URL; default: warehouse.db in the out folder")
    ] = None,
    witnesses: Annotated[Path | None, typer.Option("--witnesses", help=WITNESSES)] = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            min=1,
            help="for groups of linked indicators and parts of the audit; each holds the whole release",
        ),
    ] = 1,
) -> None:
    """Runs a whole release without Airflow: receive, check, protect, audit, publish."""
    from sdc_tasks import outputs, steps
    from sdc_tasks.cli import side_by_side
    from sdc_tasks.domains import load_domain

    load_domain(domain).of(period)  # an unknown domain leaves no folder and no database behind
    if out_folder.resolve() == inbox.resolve():
        raise InvalidInput(
            f"--out {out_folder}: is the inbox, and what a release writes would count as deliveries. Remedy: "
            f"another folder"
        )
    out_folder.mkdir(parents=True, exist_ok=True)
    url = warehouse or f"sqlite:///{(out_folder / 'warehouse.db').resolve()}"
    place = side_by_side.Place(url, domain, period, time.monotonic())
    desk = place.desk()
    say = desk.say
    waiting = steps.discover(desk, inbox)
    say(f"{len(waiting)} deliveries")
    for each in waiting:
        try:
            steps.ingest(desk, inbox, each.file)
        except InvalidInput as error:  # a refused delivery never stops the others
            say(str(error))
    place_of = outputs.write_findings(desk, out_folder)
    say(f"deliveries read and checked, {_warned(outputs.warnings(desk))}; see {place_of}")
    try:
        release_id = steps.assemble(desk)
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
        show(outputs.summary(desk, release_id), warehouse or url, page)


def findings(
    domain: DomainOption,
    period: PeriodOption,
    warehouse: Annotated[str, typer.Option("--warehouse", envvar="SDC_WAREHOUSE_URL", help="database URL")],
) -> None:
    """Prints the findings on the deliveries of a period as CSV: country, file, severity, code,
    line, cell, message; never a value.
    """
    from sdc_tasks import outputs, steps

    out.print(outputs.findings(steps.open_desk(warehouse, domain, period)), end="")


@about_a_case
def audit(
    case: CaseOptions,
    published: Annotated[
        Path | None,
        typer.Option(
            "--published",
            help="any table of the aggregates, in any format that is written; ROUNDING_BASE optional",
        ),
    ] = None,
    national: Annotated[
        bool,
        typer.Option(
            "--national",
            help="without aggregates: audits the national tables alone against the promised levels",
        ),
    ] = False,
    tolerance: Annotated[
        str,
        typer.Option(
            "--tolerance",
            help="largest difference of printed values and sums: 0.1 (unit of the indicator) or "
            "0.01% (of the total)",
        ),
    ] = "0",
    differences: Annotated[
        Path | None,
        typer.Option(
            "--differences",
            help="CSV of the values that contradict the deliveries, with figures; confidential",
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="write the certificate here; confidential, it names primary cells; the tolerance "
            "does not change it",
        ),
    ] = None,
    intervals: Annotated[
        Path | None,
        typer.Option(
            "--intervals",
            help="CSV of suppressed cells: the share of the "
            "requirement that the attacker leaves, in quarters",
        ),
    ] = None,
    witnesses: Annotated[Path | None, typer.Option("--witnesses", help=WITNESSES)] = None,
    replay: Annotated[
        int | None,
        typer.Option(
            "--replay",
            min=1,
            help="attack by somebody who has the program, with so many runs of it; shown, not judged",
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            min=1,
            help="of the audit; by default one per core where the table is large, 4 at most",
        ),
    ] = None,
) -> None:
    """Judges any table of the aggregates, also one made elsewhere, against the deliveries of an inbox.

    It reports whether the table is safe, where it contradicts the deliveries, and what was not judged. A cell
    without a row counts as withheld. Where the deliveries contradict a printed value, the audit gives the
    attacker the true total. Exit codes: 0 safe; 2 bad input; 3 not safe; 5 safe, but it contradicts the
    deliveries by more than the tolerance; 6 safe as far as it was judged, because it has rows with cells that
    are not in the domain, or values that need a national cell that is not available.
    """
    from json import loads

    import numpy as np

    from sdc_tasks import pipeline, report
    from sdc_tasks.api.published import told_by
    from sdc_tasks.cli import side_by_side
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.methods import attack
    from sdc_tasks.model.claim import Proof, claim_of
    from sdc_tasks.model.results import Publication
    from sdc_tasks.releases import why
    from sdc_tasks.report import standing

    for place in (differences, json, intervals, witnesses):
        refuse_place(place, published or case.inbox)
    if (published is None) != national:
        raise InvalidInput(
            "either --published TABLE or --national. Remedy: give the table of the aggregates, or --national "
            "without a table"
        )
    if replay is not None and (national or case.earlier):
        raise InvalidInput(
            "--replay: only with --published, and without --earlier. Remedy: leave out --national and "
            "--earlier"
        )
    allowed = standing.Tolerance.of(tolerance)
    spec, (problem, earlier) = case.spec, case.problem(attack.earlier)
    read, before = None, 0
    if published is None:
        publication, requirements = (
            Publication.nothing(np.flatnonzero(problem.aggregate)),
            attack.promised(problem, pipeline.profiles_of(problem, spec)),
        )
    else:
        read = report.read_published(
            published, spec, problem.space, case.period, told_by(published, spec, problem.space)
        )
        publication = read.publication
        requirements, before = pipeline.baseline(problem, spec, out.tell)
    found = side_by_side.audit(
        problem, publication, requirements, spec, processes or side_by_side.processes_for(problem), out.tell
    )
    certificate = pipeline.certificate(problem, publication, found, spec, case.period, earlier)
    claim, proof = claim_of(loads(certificate)), Proof.of(found, before)
    if json is not None:
        report.write_whole(json, certificate)
    if intervals is not None:
        report.write_whole(intervals, pipeline.intervals(problem, found))
    if witnesses is not None:
        write_evidence(witnesses, problem.salt, found.evidence)
    for cell in found.small[:SHOWN_ROWS]:
        out.print(
            f"{problem.space.key(cell)} minus its public part reveals a small count, alone or with other "
            f"compositions"
        )
    if len(found.small) > SHOWN_ROWS:
        out.print(f"… and {len(found.small) - SHOWN_ROWS} more reveal small counts; --json FILE lists all")
    table = Table(
        "cell",
        "downwards",
        "upwards",
        "sliding",
        title="share of the required protection that the attacker leaves",
    )
    for i in (~found.protected).nonzero()[0][:SHOWN_ROWS]:
        table.add_row(
            problem.space.key(int(found.primaries[i])),
            *(_share(s[i]) for s in (found.down, found.up, found.slide)),
        )
    unprotected = int((~found.protected).sum())
    if unprotected > SHOWN_ROWS:
        table.add_row(f"… and {unprotected - SHOWN_ROWS} more; --json FILE lists all", "", "", "")
    if table.row_count:
        out.print(table)
    for each in why.successes(problem, requirements, found)[:SHOWN_ATTACKS]:
        through = f" through {some_of(each.through)}" if each.through else ""
        out.print(
            f"{each.primary} is attacked by {each.attacker}{through}"
            + ("; to withhold one of them ends it" if through else "")
        )
    _tell_weaker(problem, found)
    if found.undecided.any():
        out.print(
            f"{int(found.undecided.sum())} cells count as not protected, because a MILP stopped at its limit"
        )
    judged = np.array([cell for cell in found.contradictions if not problem.withheld[cell]], dtype=np.int64)
    beside = standing.contradictions(problem, publication, judged, allowed)
    untold = publication.cells[problem.withheld[publication.cells] & ~publication.withheld]
    if differences is not None:
        write_private(differences, standing.differences(problem, beside))
    safe = bool(found.protected.all()) and not found.small
    out.print(
        f"{'safe' if safe else 'NOT SAFE'}: {found.broken} one-sided requirements of {unprotected} cells "
        f"broken; {claim.sentence}; "
        f"audited {claim.attackers}; {proof.said}"
    )
    _tell_contradictions(problem, beside)
    if len(untold):
        cells = ", ".join(problem.space.key(int(cell)) for cell in untold[:NAMED_CELLS])
        out.print(
            f"not judged: {len(untold)} values need a national cell that is not available: "
            f"{_and_more(cells, len(untold))}"
        )
    if read is not None:
        _tell_unjudged(problem, read, standing.looks_rounded(problem, publication, spec))
    if replay is not None:
        out.print(replayed(case, problem, publication, requirements, replay))
    if not safe:
        raise typer.Exit(3)
    if len(beside.beyond):
        raise typer.Exit(5)
    if len(untold) or (read is not None and read.unknown):
        raise typer.Exit(6)


def _tell_weaker(problem: ProtectionProblem, found: AuditReport) -> None:
    """Prints for which primaries not everybody was judged who has a part of what a profile knows."""
    for profile in dict.fromkeys(profile for profile, _ in found.unjudged):
        cells = [problem.space.key(cell) for name, cell in found.unjudged if name == profile]
        out.print(
            f"not judged against every attacker of profile {profile}, who has a part of what it knows, or "
            f"kept earlier versions as well: "
            f"{some_of(cells)}"
        )


def _tell_contradictions(problem: ProtectionProblem, found: Contradictions) -> None:
    """Prints the values that contradict the deliveries, with the class of each difference; no figures."""
    if not len(found.cells):
        return
    near = int(found.within.sum())
    out.print(
        f"contradicts the deliveries: {len(found.beyond)} values exclude the true value, {near} more within "
        f"the tolerance"
    )
    table = Table(
        "cell",
        "difference, as a share of the true total",
        "",
        title="printed values that contradict the deliveries",
    )
    for i in sorted(range(len(found.cells)), key=lambda i: bool(found.within[i]))[:SHOWN_ROWS]:
        table.add_row(
            problem.space.key(int(found.cells[i])),
            found.share(i),
            "within the tolerance" if found.within[i] else "",
        )
    out.print(table)
    if len(found.cells) > SHOWN_ROWS:
        out.print(f"… and {len(found.cells) - SHOWN_ROWS} more; --differences FILE lists all")


def _tell_unjudged(problem: ProtectionProblem, read: ReadTable, hints: list[str]) -> None:
    """Prints what was not judged, or was perhaps judged differently from its meaning in the table."""
    key = problem.space.key
    if len(read.absent):
        cells = ", ".join(key(int(cell)) for cell in read.absent[:NAMED_CELLS])
        out.print(
            f"not judged: {len(read.absent)} cells of the domain have no row; they count as withheld: "
            f"{_and_more(cells, len(read.absent))}"
        )
    if read.unknown:
        out.print(
            f"not judged: {len(read.unknown)} rows with cells that are not in the domain; they may help an "
            f"attacker:"
        )
        for line in read.unknown[:NAMED_CELLS]:
            out.print(f"  {line}")
    if len(read.off_base):
        cells = ", ".join(key(int(cell)) for cell in read.off_base[:NAMED_CELLS])
        out.print(
            f"judged as exact: {len(read.off_base)} values are not multiples of their ROUNDING_BASE: "
            f"{_and_more(cells, len(read.off_base))}"
        )
        out.print(
            "  Remedy: give LOWER and UPPER, or set bases.additive or a rounding of the indicator in the "
            "domain file"
        )
    for hint in hints:
        out.print(f"hint: {hint}")


def _and_more(told: str, count: int) -> str:
    return f"{told} … and {count - NAMED_CELLS} more" if count > NAMED_CELLS else told


def _share(share: float) -> str:
    """A share of the requirement in words, no finer than quarters: see `pipeline.certificate`."""
    return "met" if share >= 1 else "nothing" if share == 0 else f"under {25 * (int(4 * share) + 1)} %"


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


def show(summary: Summary, warehouse: str, page: Path) -> None:
    """Prints the release in figures, without passwords."""
    from sqlalchemy import make_url

    table = Table(title=f"release {summary.release_id}", show_header=False, title_justify="left")
    table.add_row(
        "files",
        f"{summary.accepted} accepted, {summary.refused} refused, {summary.superseded} superseded by later "
        f"ones",
    )
    visible = f"{summary.visible} as sum of the visible countries, " if summary.visible else ""
    table.add_row("warnings", _warned(summary.warnings))
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
