"""EU aggregates of national tables in frames: decided and audited; and the audit of any table of
aggregates.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sdc_tasks import intake, pipeline, report
from sdc_tasks.api.asked import checks_options
from sdc_tasks.api.deliveries import delivered_by_sheets
from sdc_tasks.api.frames import Table, as_frame
from sdc_tasks.api.progress import Progress, teller
from sdc_tasks.api.results import Cells, Explanation, Picture, Result
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods import attack
from sdc_tasks.model.claim import Claim, claim_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, AuditReport, Publication
from sdc_tasks.model.secret import Secret, name_of_delivery
from sdc_tasks.releases.why import why_not_exact
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    import pandas as pd

Tables = Mapping[str, Table] | Table  # by country, or one with all countries
Made = TypeVar("Made")
LINE = re.compile(r"\bline (\d+)\b")


@dataclass(frozen=True)
class ReleaseCase:
    """The protection problem of national tables in frames, of one period."""

    spec: Domain
    period: str
    problem: ProtectionProblem = field(repr=False)


@dataclass(frozen=True, repr=False)
class _OfAggregates(Result):
    """The part that the release and the audit of one share. `table` and `public` hold aggregates alone:
    nothing of them is confidential where the audit passed. Confidential: `intervals`, `explain`,
    `certificate`, which name primary cells.
    """

    case: ReleaseCase = field(repr=False)
    requirements: attack.Requirements = field(repr=False)
    publication: Publication = field(repr=False)
    report: AuditReport = field(repr=False)

    @property
    def safe(self) -> bool:
        """Whether every primary is protected, and no small count shows."""
        return bool(self.report.protected.all()) and not self.report.small

    @cached_property
    def cells(self) -> Cells:
        """The keys of the aggregate cells."""
        spec = self.case.spec
        names = (
            spec.areas.dimension,
            spec.indicator_dimension,
            *(source.dimension for source in spec.hierarchies),
        )
        codes = self.case.problem.space.codes
        return Cells(names, tuple(codes(int(cell)) for cell in self.publication.cells))

    @cached_property
    def table(self) -> pd.DataFrame:
        """The columns of `table.csv` of a release: the dimensions, OBS_VALUE,
        OBS_STATUS, CONF_STATUS, ROUNDING_BASE …
        """
        return _frame_of(
            report.table_text(self.case.spec, self.case.problem.space, self.case.period, self.publication)
        )

    @property
    def public(self) -> pd.DataFrame:
        """As `table`, which holds nothing else; the keys alone where it is not safe."""
        return self.table if self.safe else self.cells.frame()

    @cached_property
    def states(self) -> tuple[str, ...]:
        """exact, rounded, visible or withheld, of every aggregate cell."""
        p = self.publication
        return tuple(
            np.where(
                p.withheld,
                "withheld",
                np.where(p.visible, "visible", np.where(p.rounded, "rounded", "exact")),
            ).tolist()
        )

    @property
    def loss(self) -> float:
        """Public: Σ (base / 2) / |value| over the rounded cells, and 1 for each withheld one."""
        rounded = self.publication.rounded & (self.publication.value != 0)
        share = self.publication.base[rounded] / 2 / np.abs(self.publication.value[rounded])
        return float(share.sum() + self.publication.withheld.sum())

    @property
    def bound(self) -> float | None:
        """None: see the report of a release for what the cuts prove."""
        return None

    @property
    def figures(self) -> Mapping[str, str]:
        kinds: tuple[str, ...] = ("exact", "rounded", "visible", "withheld")
        states = {state: str(self.states.count(state)) for state in kinds if state in self.states}
        claim = self.claim
        protected = "; ".join(filter(None, (f"{claim.protected} of {claim.primaries}", claim.exceptions)))
        audited = f"{claim.verdict if self.safe else 'NOT SAFE'} {claim.attackers}"
        return {**states, "primaries protected": protected, "audit": audited, "loss": f"{self.loss:.3f}"}

    @cached_property
    def claim(self) -> Claim:
        """What the certificate lets anybody say of the confidential cells."""
        return claim_of(json.loads(self.certificate))

    def intervals(self) -> pd.DataFrame:
        """Confidential: of each hidden national cell the share of its requirement that the
        attacker leaves, in quarters; no value.
        """
        return _frame_of(pipeline.intervals(self.case.problem, self.report))

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        """Confidential: why an aggregate is not exact, which attack holds it, through which
        countries' cells, what would free it.
        """
        i = self.cells.find(cell)
        spec = self.case.spec
        why = why_not_exact(
            self.case.problem,
            self.requirements,
            self.publication,
            int(self.publication.cells[i]),
            spec.audit.seed,
        )
        return Explanation(why.cell, why.state.value, why.sentences)

    @property
    def certificate(self) -> str:
        """Confidential: the audit certificate as JSON."""
        return pipeline.certificate(
            self.case.problem, self.publication, self.report, self.case.spec, self.case.period
        )

    def plot(self) -> Picture:
        """What is exact, rounded and withheld: a row for each aggregate."""
        require_tested("plot")
        from sdc_tasks.report.pattern_figures import STATES, plot_states

        return Picture(lambda image: plot_states(self.cells.keys, list(self.states), STATES, image))


@dataclass(frozen=True, repr=False)
class ReleaseResult(_OfAggregates):
    """The aggregates of a release that passed its audit. It is decided, not published: only a
    warehouse publishes, with its approvals.
    """

    adjustment: Adjustment = field(default_factory=Adjustment, repr=False)

    @property
    def title(self) -> str:
        return (
            f"release of {self.case.spec.id}, {self.case.period}: "
            f"{len(self.publication.cells)} aggregate cells"
        )


@dataclass(frozen=True, repr=False)
class AggregateAudit(_OfAggregates):
    """The audit of a table of aggregates that somebody made. `unjudged`: what of the
    table was not judged as it stands.
    """

    unjudged: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return (
            f"audit of {len(self.publication.cells)} aggregate cells: {'safe' if self.safe else 'NOT SAFE'}"
        )

    @property
    def at_risk(self) -> tuple[str, ...]:
        """Confidential: the primaries that are not protected."""
        return tuple(
            self.case.problem.space.key(int(cell)) for cell in self.report.primaries[~self.report.protected]
        )


@checks_options
def release(
    tables: Tables, domain: Domain | str | Path, period: str, *, progress: Progress = None
) -> ReleaseResult:
    """The aggregates of national tables: exact, rounded or withheld, so that no attacker comes too close
    to a confidential cell; audited.

    tables   by country; or one frame with all countries. The columns are those of a delivery
    (SDMX-CSV): dimensions, TIME_PERIOD,
             OBS_VALUE and the attributes of the domain. All countries of the domain are needed.
    domain   the name of a domain, the path of its file, or a Domain. Where something of its tables is drawn
    (`rule_aware`, `rounding`), the
             environment variable SDC_WAREHOUSE_SECRET must hold the secret of the office: by another
             one, another table would be drawn.

    Raises InvalidInput with country, row, cell, rule and remedy; Unprotectable;
    ReleaseBlocked where the audit does not pass.

    >>> import sdc_tasks as sdc, pandas as pd, tempfile, pathlib
    >>> from sdc_tasks.demo import write_demo
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> path = write_demo(folder, countries=3, activities=4, sizes=2)
    >>> tables = {file.name[:2]: pd.read_csv(file, sep=None, engine="python", dtype=str,
    ...         keep_default_na=False, encoding="utf-8-sig")
    ...           for file in (folder / "inbox").glob("*.csv")}
    >>> found = sdc.release(tables, path, "2024")
    >>> found.safe, len(found.table) == len(found.states)
    (True, True)
    """
    tell = teller(progress)
    spec = _spec(domain, period)
    case = _case(tables, spec, period, _salt(spec, period))
    spec, problem = case.spec, case.problem
    requirements, lps = pipeline.baseline(problem, spec, tell)
    tell(f"{len(requirements.cells)} primaries, {lps} LPs for what the national tables protect")
    adjustment = Adjustment()
    for rung in range(len(spec.cta.ladder)):
        adjustment = pipeline.climb(problem, requirements, spec, rung, adjustment, tell)
        tell(f"{adjustment.rungs[-1].method}: {adjustment.rungs[-1].outcome}")
        if adjustment.accepted:
            break
    kept: dict[str, Any] = {}
    publication = pipeline.choose_bases(problem, requirements, adjustment, spec, tell, kept.__setitem__)
    tell("audit")
    tried = pipeline.to_try(problem, adjustment, kept.get(pipeline.TABLES))
    found = pipeline.audit(problem, publication, requirements, spec, tried=tried, progress=tell)
    pipeline.release(
        f"{spec.id}-{period}",
        problem,
        requirements,
        publication,
        found,
        pipeline.profiles_of(problem, spec),
        spec.audit.unjudged == "refused",
    )
    return ReleaseResult(case, requirements, publication, found, adjustment)


def audit_aggregates(
    df: Table, tables: Tables, domain: Domain | str | Path, period: str, progress: Progress = None
) -> AggregateAudit:
    """The audit of a table of aggregates against the national tables. A cell without a row counts as
    withheld.
    """
    case = _case(tables, _spec(domain, period), period, Secret.fresh())
    frame = as_frame(df, "the published frame")
    text = _told_by_row(lambda: _published(frame, case))
    tell = teller(progress)
    requirements, _ = pipeline.baseline(case.problem, case.spec, tell)
    tell("audit")
    found = pipeline.audit(case.problem, text.publication, requirements, case.spec, progress=tell)
    key, cells = case.problem.space.key, text.publication.cells
    untold = cells[case.problem.withheld[cells] & ~text.publication.withheld]
    unjudged = (
        *text.unknown,
        *(f"{key(int(cell))}: no row, counted as withheld" for cell in text.absent),
        *(f"{key(int(cell))}: not a multiple of its base, judged as exact" for cell in text.off_base),
        *(
            f"{key(int(cell))}: contradicts the national tables, the attacker is given the true total"
            for cell in found.contradictions
        ),
        *(f"{key(int(cell))}: needs a national cell that is not available" for cell in untold),
    )
    return AggregateAudit(case, requirements, text.publication, found, unjudged)


def _spec(domain: Domain | str | Path, period: str) -> Domain:
    return (domain if isinstance(domain, Domain) else load_domain(domain)).of(period)


def _salt(spec: Domain, period: str) -> Secret:
    """The key of the period under the secret of the office; a random one where none is
    given, and nothing is drawn by it.
    """
    from sdc_tasks.warehouse.confidential.secret import VARIABLE, given_secret, salt_by

    given = given_secret(os.environ.get(VARIABLE))
    if given is not None:
        return salt_by(given, spec.id, period)
    if spec.draws:
        raise InvalidInput(
            f"{spec.id}: its tables are drawn by a secret, and each call would draw others of the period. "
            f"Whoever sees two of them "
            f"can compute hidden cells. Remedy: set {VARIABLE} to the one secret of the office (`openssl "
            f"rand -hex 32` makes one)"
        )
    return Secret.fresh()


def _case(tables: Tables, spec: Domain, period: str, salt: Secret) -> ReleaseCase:
    sheets = []
    for country, frame in sorted(_by_country(tables, spec).items()):
        data = _sdmx(frame, spec).encode()
        sheets.append(intake.read_sheet(data, f"{country}.csv", spec, period, name_of_delivery(data, salt)))
    delivered = _told_by_row(lambda: delivered_by_sheets(sheets, spec, salt))
    return ReleaseCase(spec, period, delivered.secured(spec))


def _by_country(tables: Tables, spec: Domain) -> dict[str, pd.DataFrame]:
    if isinstance(tables, Mapping):
        found = {
            str(country): as_frame(frame, f"the frame of {country}") for country, frame in tables.items()
        }
    else:
        frame, name = as_frame(tables, "the frame"), spec.areas.dimension
        if name not in frame.columns:
            raise InvalidInput(
                f"the frame: no column {name}. Remedy: name the country of each row there, or give a frame "
                f"for each country"
            )
        found = {str(country): own for country, own in frame.groupby(name, sort=True)}
    if missing := sorted(set(spec.countries) - set(found)):
        raise InvalidInput(
            f"no table of {', '.join(missing)}. Remedy: give the table of every country of the domain"
        )
    if unknown := sorted(set(found) - set(spec.countries)):
        raise InvalidInput(
            f"{', '.join(unknown)}: no country of the domain. Remedy: name one of {', '.join(spec.countries)}"
        )
    return found


def _published(frame: pd.DataFrame, case: ReleaseCase) -> report.ReadTable:
    name = Path("the published frame")
    told = report.told_by_csv(name, _sdmx(frame, case.spec))
    return report.read_published(name, case.spec, case.problem.space, case.period, told)


def _sdmx(frame: pd.DataFrame, spec: Domain) -> str:
    """The frame as SDMX-CSV 2.0, whose first columns it may leave out."""
    first = {"STRUCTURE": "dataflow", "STRUCTURE_ID": spec.structure_id, "ACTION": "I"}
    if "DATAFLOW" in frame.columns or "STRUCTURE" in frame.columns:
        first = {}
    lead = "DATAFLOW" if "DATAFLOW" in frame.columns else "STRUCTURE"
    whole = frame.assign(**{name: value for name, value in first.items() if name not in frame.columns})
    ordered = [lead, *(name for name in whole.columns if name != lead)]
    return str(whole[ordered].to_csv(index=False, lineterminator="\n", float_format=_printed))


def _printed(number: Any) -> str:
    return repr(float(number)).removesuffix(".0")


def _told_by_row(read: Callable[[], Made]) -> Made:
    """A message about a line of the text that a frame was made names the row of the frame, counted from 0."""
    try:
        return read()
    except InvalidInput as error:
        raise InvalidInput(
            LINE.sub(
                lambda line: f"row {int(line[1]) - 2}" if int(line[1]) > 1 else "its columns", str(error)
            )
        ) from None


def _frame_of(text: str) -> pd.DataFrame:
    import io

    import pandas as pd

    return pd.read_csv(
        io.StringIO(text),
        dtype={"TIME_PERIOD": str},
        keep_default_na=False,
        na_values={"OBS_VALUE": [""], "ROUNDING_BASE": [""]},
    )
