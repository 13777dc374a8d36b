"""`sdc audit`: a table of the aggregates, also one made elsewhere, judged against the deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.case import CaseOptions
from sdc_tasks.cli.evidence import WITNESSES, write_evidence
from sdc_tasks.cli.options import INPUT, METHOD, OUTPUT, RULES
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.searches.replayed import replayed
from sdc_tasks.cli.shared import refuse_place
from sdc_tasks.errors import NAMED_CELLS, InvalidInput, some_of

if TYPE_CHECKING:
    from sdc_tasks.domains import Domain
    from sdc_tasks.methods.attack import Requirements
    from sdc_tasks.model.claim import Claim, Proof
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.results import AuditReport, Publication
    from sdc_tasks.model.table import Ints
    from sdc_tasks.report import ReadTable, standing
    from sdc_tasks.report.standing import Contradictions

SHOWN_ROWS = 40  # rows of a table on the terminal
SHOWN_ATTACKS = 10
# Exit codes: see the command.
UNSAFE, CONTRADICTS, INCOMPLETE = 3, 5, 6


@dataclass(frozen=True)
class AskedAudit:
    """What is judged, and how."""

    published: Annotated[
        Path | None,
        typer.Option(
            help="any table of the aggregates, in any format that is written; ROUNDING_BASE optional",
            rich_help_panel=INPUT,
        ),
    ] = None
    national: Annotated[
        bool,
        typer.Option(
            "--national",
            help="without aggregates: audits the national tables alone against the promised levels",
            rich_help_panel=INPUT,
        ),
    ] = False
    tolerance: Annotated[
        str,
        typer.Option(
            help="largest difference of printed values and sums: 0.1 (unit of the indicator) or "
            "0.01% (of the total)",
            rich_help_panel=RULES,
        ),
    ] = "0"
    replay: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="attack by somebody who has the program, with so many runs of it; shown, not judged",
            rich_help_panel=METHOD,
        ),
    ] = None
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="of the audit; by default one per core where the table is large, 4 at most",
            rich_help_panel=METHOD,
        ),
    ] = None

    def refuse_unfit(self, case: CaseOptions) -> None:
        """Raises InvalidInput for options that contradict one another."""
        if (self.published is None) != self.national:
            raise InvalidInput(
                "either --published TABLE or --national. Remedy: give the table of the aggregates, or "
                "--national without a table"
            )
        if self.replay is not None and (self.national or case.earlier):
            raise InvalidInput(
                "--replay: only with --published, and without --earlier. Remedy: leave out --national and "
                "--earlier"
            )


@dataclass(frozen=True)
class AuditFiles:
    """What is written where."""

    differences: Annotated[
        Path | None,
        typer.Option(
            help="CSV of the values that contradict the deliveries, with figures; confidential",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    json: Annotated[
        Path | None,
        typer.Option(
            help="write the certificate here; confidential, it names primary cells; the tolerance "
            "does not change it",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    intervals: Annotated[
        Path | None,
        typer.Option(
            help="CSV of suppressed cells: the share of the "
            "requirement that the attacker leaves, in quarters",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    witnesses: Annotated[Path | None, typer.Option(help=WITNESSES, rich_help_panel=OUTPUT)] = None

    def refuse_for(self, source: Path) -> None:
        """Raises InvalidInput for a place that cannot be written, or is the table itself."""
        for place in (self.differences, self.json, self.intervals, self.witnesses):
            refuse_place(place, source)


@dataclass(frozen=True)
class AuditedTable:
    """The case of an audit and what was found. `read` and `before`: the table as it was read, None without
    one, and the LPs of the baseline. `beside`: values that contradict the deliveries; `untold` (cells,):
    values that need a national cell that is not available.
    """

    problem: ProtectionProblem = field(repr=False)
    publication: Publication = field(repr=False)
    requirements: Requirements = field(repr=False)
    read: ReadTable | None = field(repr=False)
    before: int
    found: AuditReport = field(repr=False)
    beside: Contradictions = field(repr=False)
    untold: Ints = field(repr=False)

    @property
    def safe(self) -> bool:
        return bool(self.found.protected.all()) and not self.found.small

    @property
    def code(self) -> int:
        """The exit code."""
        if not self.safe:
            return UNSAFE
        if len(self.beside.beyond):
            return CONTRADICTS
        return INCOMPLETE if len(self.untold) or (self.read is not None and self.read.unknown) else 0


def audit(case: CaseOptions, asked: AskedAudit, files: AuditFiles) -> None:
    """Judges any table of the aggregates, also one made elsewhere, against the deliveries of an inbox.

    It reports whether the table is safe, where it contradicts the deliveries, and what was not judged. A cell
    without a row counts as withheld. Where the deliveries contradict a printed value, the audit gives the
    attacker the true total. Exit codes: 0 safe; 2 bad input; 3 not safe; 5 safe, but it contradicts the
    deliveries by more than the tolerance; 6 safe as far as it was judged, because it has rows with cells that
    are not in the domain, or values that need a national cell that is not available.

    Example: sdc audit --domain demo/domain.yaml --period 2024 --inbox demo/inbox --published out/table.csv
    """
    from json import loads

    from sdc_tasks import pipeline
    from sdc_tasks.methods import attack
    from sdc_tasks.model.claim import Proof, claim_of
    from sdc_tasks.report import standing

    files.refuse_for(asked.published or case.inbox)
    asked.refuse_unfit(case)
    allowed = standing.Tolerance.of(asked.tolerance)
    spec, of = case.spec, case.problem(attack.prior_releases)
    problem = of.problem
    judged = _judged(case, asked, problem, allowed)
    certificate = pipeline.certificate(
        problem, judged.publication, judged.found, spec, case.period, of.beside, linked=of.related
    )
    _write(files, judged, certificate)
    _tell_found(judged, claim_of(loads(certificate)), Proof.of(judged.found, judged.before))
    if spec.linked and not case.linked:
        out.print(
            f"alone: {spec.id} links other tables and periods, and none of them was attacked together with "
            f"this one. Remedy: --linked DOMAIN,PERIOD,INBOX,TABLE for each that is out"
        )
    _tell_beside(judged, spec)
    if asked.replay is not None:
        out.print(replayed(case, problem, judged.publication, judged.requirements, asked.replay))
    if judged.code:
        raise typer.Exit(judged.code)


def _judged(
    case: CaseOptions, asked: AskedAudit, problem: ProtectionProblem, allowed: standing.Tolerance
) -> AuditedTable:
    """Reads the table, or takes none, and attacks it."""
    import numpy as np

    from sdc_tasks import pipeline, report
    from sdc_tasks.api.published import told_by
    from sdc_tasks.cli import side_by_side
    from sdc_tasks.methods import attack
    from sdc_tasks.model.results import Publication
    from sdc_tasks.report import standing

    spec, read, before = case.spec, None, 0
    if asked.published is None:
        publication = Publication.nothing(np.flatnonzero(problem.aggregate))
        requirements = attack.promised(problem, pipeline.profiles_of(problem, spec))
    else:
        told = told_by(asked.published, spec, problem.space)
        read = report.read_published(asked.published, spec, problem.space, case.period, told)
        publication = read.publication
        requirements, before = pipeline.baseline(problem, spec, out.tell)
    processes = asked.processes or side_by_side.processes_for(problem)
    found = side_by_side.audit(problem, publication, requirements, spec, processes, out.tell)
    known = np.array([cell for cell in found.contradictions if not problem.withheld[cell]], dtype=np.int64)
    beside = standing.contradictions(problem, publication, known, allowed)
    untold = publication.cells[problem.withheld[publication.cells] & ~publication.withheld]
    return AuditedTable(problem, publication, requirements, read, before, found, beside, untold)


def _write(files: AuditFiles, judged: AuditedTable, certificate: str) -> None:
    from sdc_tasks import pipeline, report
    from sdc_tasks.intake.tables.jj import write_private
    from sdc_tasks.report import standing

    problem, found = judged.problem, judged.found
    if files.json is not None:
        report.write_whole(files.json, certificate)
    if files.intervals is not None:
        report.write_whole(files.intervals, pipeline.intervals(problem, found))
    if files.witnesses is not None:
        write_evidence(files.witnesses, problem.salt, found.evidence)
    if files.differences is not None:
        write_private(files.differences, standing.differences(problem, judged.beside))


def _tell_found(judged: AuditedTable, claim: Claim, proof: Proof) -> None:
    """Prints which primaries are not protected, and the verdict."""
    problem, found = judged.problem, judged.found
    _tell_small(problem, found.small)
    _tell_shares(problem, found)
    _tell_attacks(judged)
    _tell_weaker(problem, found)
    if found.undecided.any():
        out.print(
            f"{int(found.undecided.sum())} cells count as not protected, because a MILP stopped at its limit"
        )
    out.print(
        f"{'safe' if judged.safe else 'NOT SAFE'}: {found.broken} one-sided requirements of "
        f"{int((~found.protected).sum())} cells broken; {claim.sentence}; "
        f"audited {claim.attackers}; {proof.said}"
    )


def _tell_small(problem: ProtectionProblem, small: Sequence[int]) -> None:
    for cell in small[:SHOWN_ROWS]:
        out.print(
            f"{problem.space.key(cell)} minus its public part reveals a small count, alone or with other "
            f"compositions"
        )
    if len(small) > SHOWN_ROWS:
        out.print(f"… and {len(small) - SHOWN_ROWS} more reveal small counts; --json FILE lists all")


def _tell_shares(problem: ProtectionProblem, found: AuditReport) -> None:
    """Prints what the attacker leaves of each requirement that is not met."""
    from rich.table import Table

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


def _tell_attacks(judged: AuditedTable) -> None:
    """Prints who attacks which primary, and what would end it."""
    from sdc_tasks.releases import why

    for each in why.successes(judged.problem, judged.requirements, judged.found)[:SHOWN_ATTACKS]:
        through = f" through {some_of(each.through)}" if each.through else ""
        out.print(
            f"{each.primary} is attacked by {each.attacker}{through}"
            + ("; to withhold one of them ends it" if through else "")
        )


def _tell_beside(judged: AuditedTable, spec: Domain) -> None:
    """Prints what contradicts the deliveries, and what was not judged."""
    from sdc_tasks.report import standing

    problem, untold = judged.problem, judged.untold
    _tell_contradictions(problem, judged.beside)
    if len(untold):
        cells = ", ".join(problem.space.key(int(cell)) for cell in untold[:NAMED_CELLS])
        out.print(
            f"not judged: {len(untold)} values need a national cell that is not available: "
            f"{_and_more(cells, len(untold))}"
        )
    if judged.read is not None:
        hints = standing.looks_rounded(problem, judged.publication, spec)
        _tell_unjudged(problem, judged.read, hints)


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
    from rich.table import Table

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
