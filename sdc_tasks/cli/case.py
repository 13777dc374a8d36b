"""The case of `sdc audit` and `sdc verify-certificate`: a domain, a period, its deliveries,
and the tables published before.

Both commands take and check the same options. Each computes with its own program what earlier tables reveal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sdc_tasks.cli.options import INPUT, RULES
from sdc_tasks.cli.shared import DomainOption, InboxOption, PeriodOption, delivered_by, secured
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.api.deliveries import Delivered
    from sdc_tasks.domains import Domain
    from sdc_tasks.methods.linked import Out, Told
    from sdc_tasks.model.problem import PriorReleases, ProtectionProblem
    from sdc_tasks.model.results import Related
    from sdc_tasks.model.secret import Secret


RELATED_PARTS = ("DOMAIN", "PERIOD", "INBOX", "TABLE")  # of --linked


class JudgedCase(NamedTuple):
    """What is judged: the joint problem, the `own` one of the release; the digests of the publications of
    the period that are out, by version; the related releases, by name and with their problems; and what
    was `told` before of the period.
    """

    problem: ProtectionProblem
    own: ProtectionProblem
    beside: list[str]
    related: list[Related]
    out: list[Out]
    told: list[Told]


@dataclass(frozen=True)
class CaseOptions:
    """The options that define the case."""

    domain: DomainOption
    period: PeriodOption
    inbox: InboxOption
    profile: Annotated[
        list[str] | None,
        typer.Option(help="attacker, repeatable; default: those of the domain", rich_help_panel=RULES),
    ] = None
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            help="a table of the period that was published before, repeatable", rich_help_panel=INPUT
        ),
    ] = None
    earlier_inbox: Annotated[
        list[Path] | None,
        typer.Option(
            rich_help_panel=INPUT,
            help="folder with the deliveries of each --earlier, in the same order; default: the present ones",
        ),
    ] = None

    linked: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DOMAIN,PERIOD,INBOX,TABLE",
            help="a related table that is out, repeatable: domain file, period, folder of deliveries, table",
            rich_help_panel=INPUT,
        ),
    ] = None

    @cached_property
    def spec(self) -> Domain:
        """The domain in this period, with the given profiles. Raises InvalidInput where a profile
        needs earlier tables but has none.
        """
        from sdc_tasks.domains import load_domain
        from sdc_tasks.model.profiles import KEEPERS

        spec = load_domain(self.domain).of(self.period)
        if self.earlier is None and set(KEEPERS) & set(self.profile or ()):
            raise InvalidInput(
                f"--profile {' and '.join(KEEPERS)} need the tables published before. Remedy: give --earlier "
                f"TABLE"
            )
        return spec.with_profiles(tuple(dict.fromkeys(self.profile))) if self.profile else spec

    def problem(
        self,
        told_before: Callable[[ProtectionProblem, Sequence[Told], float | None], PriorReleases],
        salt: Secret | None = None,
    ) -> JudgedCase:
        """The protection problem of the deliveries, with what `told_before` computes from the tables
        published before, and together with the related tables that are out.
        """
        from sdc_tasks import pipeline
        from sdc_tasks.model.results import Related

        delivered = delivered_by(self.spec, self.inbox, self.period, salt)
        before, read = self._published_before(delivered)
        problem = secured(delivered, self.spec, [then for then, _ in before])
        read += pipeline.as_delivered(delivered.problem, problem, self.spec)
        told = pipeline.read_before(before, read)
        problem = replace(problem, earlier=told_before(problem, told, self.spec.audit.revised_by))
        named = self._out()
        related = [Related(of, each.period, 1, each.publication.digest) for of, each in named]
        out, beside = [each for _, each in named], [publication.digest for _, publication in before]
        joint = pipeline.joint(problem, self.period, out, self.spec, before=told)
        return JudgedCase(joint, problem, beside, related, out, told)

    def _out(self) -> list[tuple[str, Out]]:
        """(domain, release) of each --linked, as a release has them: by domain and period. Raises
        InvalidInput for one that is not written so, is not linked by the domain file, or is named twice.
        """
        found = [self._related(each) for each in self.linked or ()]
        keys = [(of, each.period) for of, each in found]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise InvalidInput(
                f"--linked: {' '.join(twice)} is named twice. Remedy: name its last version, and the earlier "
                "ones nowhere: they are not judged here"
            )
        return sorted(found, key=lambda one: (one[0], one[1].period))

    def _related(self, written: str) -> tuple[str, Out]:
        from sdc_tasks import report
        from sdc_tasks.api.published import told_by
        from sdc_tasks.domains import load_domain
        from sdc_tasks.methods.linked import Out
        from sdc_tasks.warehouse.forms.related import same_time

        parts = written.split(",")
        if len(parts) != len(RELATED_PARTS):
            raise InvalidInput(
                f"--linked {written}: written {','.join(RELATED_PARTS)}. Remedy: all four parts"
            )
        file, period, inbox, table = parts
        spec = load_domain(file).of(period)
        own = spec.id == self.spec.id
        if not (self.spec.linked.periods is not None if own else spec.id in self.spec.linked.tables):
            raise InvalidInput(
                f"--linked {spec.id} {period}: the domain file of {self.spec.id} does not link it. Remedy: "
                + ("linked: {periods: sum}" if own else f"linked: {{tables: [{spec.id}]}}")
            )
        if own and period == self.period:
            raise InvalidInput(
                f"--linked {spec.id} {period}: this is the table that is judged. Remedy: --earlier TABLE for "
                "an earlier version of it, or leave it out"
            )
        if not same_time(period, self.period) and len(self.linked or ()) == 1:
            raise InvalidInput(
                f"--linked {spec.id} {period}: it has no day in common with {self.period}, and no other "
                "table links the two, so that nothing of it would be attacked. Remedy: leave it out"
            )
        problem = secured(delivered_by(spec, Path(inbox), period), spec)
        told = told_by(Path(table), spec, problem.space)
        publication = report.read_table(Path(table), spec, problem.space, period, told)
        return spec.id, Out(period if own else f"{spec.id} {period}", period, problem, publication)

    def _published_before(self, delivered: Delivered) -> tuple[list[Told], list[Told]]:
        """The tables published before, by version, each with the protection problem of its deliveries; and
        the delivered national tables in which the receiver had set secondaries.
        """
        from sdc_tasks import pipeline, report
        from sdc_tasks.api.published import told_by

        tables, sent = self.earlier or (), self._sent(delivered)
        thens: list[ProtectionProblem] = []
        for each in sent:
            thens.append(secured(each, self.spec, thens))
        told = []
        for path, then in zip(tables, thens, strict=True):
            found = told_by(path, self.spec, then.space)
            told.append((then, report.read_table(path, self.spec, then.space, self.period, found)))
        came = [
            pipeline.as_delivered(each.problem, then, self.spec)
            for each, then in zip(sent, thens, strict=True)
        ]
        return told, [each for one in came for each in one]

    def _sent(self, delivered: Delivered) -> Sequence[Delivered]:
        """The deliveries of each table published before; the present ones where none are named."""
        number = len(self.earlier or ())
        if not self.earlier_inbox:
            return [delivered] * number
        if len(self.earlier_inbox) != number:
            raise InvalidInput(
                "--earlier-inbox FOLDER: one for each --earlier TABLE. Remedy: give one for each, or none if "
                "nothing was revised"
            )
        return [delivered_by(self.spec, folder, self.period) for folder in self.earlier_inbox]
