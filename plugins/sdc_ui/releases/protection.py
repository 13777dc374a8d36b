"""One release: the treatment of its cells, the losses, the strategies tried, the audit, the approvals, and
the log.

Values of the publication are gathered only if the public may see them: `reader.released_cells`
decides, by the database's own clock.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.model.claim import Claim, Proof, claim_of
from sdc_tasks.warehouse import reader
from sdc_ui.releases.heatmap import Field, HeatMap, heat_maps, tally
from sdc_ui.releases.history import before
from sdc_ui.shared.approval import Approval, approval_of
from sdc_ui.shared.labels import Labels, Name, labels_of
from sdc_ui.shared.runs import DagRun, asking, of_releases, retracting, stayed, takings
from sdc_ui.shared.standing import ReleaseLine, cycle_lines, version_out
from sdc_ui.shared.steps import Step, of_release

TOP = 20  # most rounded cells that are named


@dataclass(frozen=True)
class RoundedCell:
    """A published cell that the public may see, with its unit."""

    cell: str
    label: str
    value: float
    base: float
    relative: float | None
    unit: str
    decimals: int


@dataclass(frozen=True)
class Verdict:
    """The number of fully protected primaries, and of all primaries: of one country, or against
    one profile.
    """

    name: Name
    primaries: int
    protected: int


@dataclass(frozen=True)
class Audit:
    """The newest audit: `claim` is what its certificate lets anybody say, `proof` how it was shown."""

    digest: str
    claim: Claim
    proof: Proof
    publication: str
    audited_at: datetime
    broken: int
    profiles: tuple[Verdict, ...]
    countries: tuple[Verdict, ...]


@dataclass(frozen=True)
class Rung:
    """One strategy of the ladder; objective and bound are weighted deviations, without a unit."""

    method: str
    outcome: str
    objective: float | None
    bound: float | None
    gap: float | None
    seconds: float
    reason: str
    short: int
    kept: bool


@dataclass(frozen=True)
class Entry:
    """A line of the log."""

    number: int
    recorded_at: datetime
    actor: str
    action: str
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Used:
    """A delivery that the release was made of. `state` is what became of the file since; `followed`
    names the file that replaced it.
    """

    country: Name
    file: str
    digest: str
    state: str
    followed: str | None


@dataclass(frozen=True)
class ReleaseFacts:
    """All facts of the page of a release. `counts` are None before the audit; `maps` are empty before the
    publication. `takings`: the runs that take releases of the cycle back, or took or asked; `later`: the
    newest release of the cycle, where this is another one.
    """

    line: ReleaseLine
    title: str
    terms: str | None
    submitted_at: datetime | None
    counts: Field | None
    maps: tuple[HeatMap, ...]
    largest: tuple[RoundedCell, ...]
    withheld: tuple[str, ...]
    rungs: tuple[Rung, ...]
    steps: tuple[Step, ...]
    audit: Audit | None
    approval: Approval
    log: tuple[Entry, ...]
    made_of: tuple[Used, ...]
    runs: tuple[DagRun, ...]
    latest: DagRun | None
    asking: DagRun | None
    takings: tuple[DagRun, ...]
    program: tuple[tuple[str, str], ...]
    certificate: str | None
    newest: bool
    out: ReleaseLine | None
    later: str | None
    before: str | None
    others: tuple[ReleaseLine, ...]

    @property
    def followed(self) -> bool:
        """Whether a later version is out, or under embargo."""
        return self.out is not None and (self.out.version or 0) > (self.line.version or 0)

    @property
    def retracting(self) -> tuple[DagRun, ...]:
        """The runs that take it back, or ask about that."""
        return () if self.line.retracted else retracting(self.takings, self.line.release_id)

    @property
    def stayed(self) -> DagRun | None:
        """The run that was asked last to take it back, where it did not."""
        return stayed(self.takings, self.line)


def release_facts(engine: Engine, release_id: str) -> ReleaseFacts | None:
    """The facts of a release; None for an unknown release."""
    history = reader.history(engine)
    mine = _record_of(history, release_id)
    if mine is None:
        return None
    domain, period = mine["domain"], mine["period"]
    known = reader.dag_runs(engine, domain, period)
    runs = of_releases(known)
    same = cycle_lines(_of_cycle(history, domain, period), runs)
    line = next(each for each in same if each.release_id == release_id)
    newest = same[0] == line
    submitted = _submitted(engine, release_id)
    labels = labels_of(line.domain, reader.settings_of(engine, line.domain, submitted.terms))
    cells = reader.treatments(engine, release_id)
    audits = reader.audits(engine, release_id)
    certificate: str | None = audits[-1]["certificate"] if audits else None
    told = json.loads(certificate) if certificate is not None else {}
    return ReleaseFacts(
        line=line,
        title=labels.title,
        terms=submitted.terms,
        submitted_at=submitted.at,
        counts=tally(cells) if cells else _counts(told),
        maps=heat_maps(cells, labels),
        largest=_largest(engine, line, labels),
        withheld=_withheld(cells),
        rungs=tuple(map(_rung, reader.rungs(engine, release_id))),
        steps=of_release(reader.steps(engine, release_id)),
        audit=_audit(audits[-1], told, reader.proof(engine, release_id, audits[-1]), labels)
        if audits
        else None,
        approval=approval_of(engine, line, audits),
        log=tuple(map(_entry, reader.log_of(engine, release_id))),
        made_of=_made_of(engine, line, labels),
        runs=tuple(each for each in runs if each.release_id == release_id),
        latest=next(iter(runs), None),
        asking=asking(line, runs),
        takings=takings(known),
        program=submitted.program,
        certificate=certificate,
        newest=newest,
        out=version_out(same),
        later=None if newest else same[0].release_id,
        before=before(same).get(release_id),
        others=_other_versions(same, release_id),
    )


@dataclass(frozen=True)
class _Submitted:
    """The newest submission of a release: its terms, when, and by which program; nothing where there is
    none.
    """

    terms: str | None = None
    at: datetime | None = None
    program: tuple[tuple[str, str], ...] = ()


def _submitted(engine: Engine, release_id: str) -> _Submitted:
    for each in reader.submissions(engine, release_id):
        return _Submitted(each["terms_digest"], each["submitted_at"], _program(each["environment"]))
    return _Submitted()


def _record_of(history: Sequence[Mapping[str, Any]], release_id: str) -> Mapping[str, Any] | None:
    return next((each for each in history if each["release_id"] == release_id), None)


def _of_cycle(history: Sequence[Mapping[str, Any]], domain: str, period: str) -> list[Mapping[str, Any]]:
    return [each for each in history if (each["domain"], each["period"]) == (domain, period)]


def _withheld(cells: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(each["cell"] for each in cells if each["treatment"] == "withheld")


def _other_versions(lines: Sequence[ReleaseLine], release_id: str) -> tuple[ReleaseLine, ...]:
    return tuple(each for each in lines if each.version is not None and each.release_id != release_id)


def _made_of(engine: Engine, line: ReleaseLine, labels: Labels) -> tuple[Used, ...]:
    """The deliveries of the release, by country. Their notes say country and file."""
    files = {each["digest"]: each for each in reader.deliveries(engine, line.domain, line.period)}
    found = []
    for digest, note in sorted(reader.made_of(engine, line.release_id).items(), key=lambda each: each[1]):
        country, _, name = note.partition(": ")
        now = files.get(digest)
        after = files.get(now["superseded_by"]) if now else None
        found.append(
            Used(
                labels.area(country),
                name,
                digest,
                now["state"] if now else "gone",
                after["file"] if after else None,
            )
        )
    return tuple(found)


def _program(environment: str) -> tuple[tuple[str, str], ...]:
    """What made the release: this project, its source, Airflow and Python, where they are known."""
    told = json.loads(environment)
    names = {"sdc-release": "program", "source": "source", "apache-airflow": "Airflow", "python": "Python"}
    return tuple((name, str(told[key])) for key, name in names.items() if key in told)


def _counts(certificate: Mapping[str, Any]) -> Field | None:
    counts = certificate.get("counts")
    if counts is None:
        return None
    return Field(
        counts["exact"], counts["rounded"], counts.get("sums_of_visible_countries", 0), counts["withheld"]
    )


def _largest(engine: Engine, line: ReleaseLine, labels: Labels) -> tuple[RoundedCell, ...]:
    """The rounded cells with the largest relative bases, largest first, of a version that the public may see
    now.
    """
    if line.version is None:
        return ()
    found = []
    for each in reader.released_cells(engine, line.domain, line.period, line.version):
        if each.rounding_base is not None and each.value is not None:
            measure = labels.measure(each.indicator)
            relative = each.rounding_base / abs(each.value) if each.value else None
            found.append(
                RoundedCell(
                    each.cell,
                    labels.cell(each.cell),
                    each.value,
                    each.rounding_base,
                    relative,
                    measure.unit,
                    measure.decimals,
                )
            )
    return tuple(sorted(found, key=lambda each: (-(each.relative or 0), each.cell))[:TOP])


def _audit(audit: Mapping[str, Any], certificate: Mapping[str, Any], proof: Proof, labels: Labels) -> Audit:
    claim = claim_of(certificate)
    short = {cell for each in claim.shorts for cell in each.cells}
    primaries: Sequence[Mapping[str, Any]] = certificate.get("primaries", ())
    all_of, held_of, against = Counter[str](), Counter[str](), Counter[str]()
    for each in primaries:
        country = each["cell"].split(".", 1)[0]
        all_of[country] += 1
        if each["cell"] not in short:
            held_of[country] += 1
            against.update(name for name, held in each.get("profiles", {}).items() if held)
    return Audit(
        digest=audit["digest"],
        claim=claim,
        proof=proof,
        publication=audit["publication_digest"],
        audited_at=audit["audited_at"],
        broken=audit["broken"],
        profiles=tuple(
            Verdict(Name(name, name), len(primaries), against[name]) for name in audit["profiles"].split(",")
        ),
        countries=tuple(
            Verdict(labels.area(code), number, held_of[code]) for code, number in sorted(all_of.items())
        ),
    )


def _rung(rung: Mapping[str, Any]) -> Rung:
    return Rung(
        method=rung["method"],
        outcome=rung["outcome"],
        objective=rung["objective"],
        bound=rung["bound"],
        gap=rung["gap"],
        seconds=rung["seconds"],
        reason=rung["reason"],
        short=rung["unprotected"],
        kept=rung["chosen"],
    )


def _entry(entry: Mapping[str, Any]) -> Entry:
    details = json.loads(entry["details"])
    told = tuple(
        (str(name), _worded(value)) for name, value in sorted(details.items()) if value not in (None, "")
    )
    return Entry(entry["number"], entry["recorded_at"], entry["actor"], entry["action"], told)


def _worded(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
