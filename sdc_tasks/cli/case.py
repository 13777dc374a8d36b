"""The case of `sdc audit` and `sdc verify-certificate`: a domain, a period, its deliveries,
and the tables published before.

Both commands take and check the same options. Each computes with its own program what earlier tables reveal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import INPUT, RULES
from sdc_tasks.cli.shared import DomainOption, InboxOption, PeriodOption, delivered_by, secured
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.api.deliveries import Delivered
    from sdc_tasks.domains import Domain
    from sdc_tasks.model.problem import Earlier, ProtectionProblem
    from sdc_tasks.model.results import Publication
    from sdc_tasks.model.secret import Secret

    Told = tuple[ProtectionProblem, Publication]


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
        told_before: Callable[
            [ProtectionProblem, Sequence[tuple[ProtectionProblem, Publication]], float | None], Earlier
        ],
        salt: Secret | None = None,
    ) -> tuple[ProtectionProblem, list[str]]:
        """The protection problem of the deliveries, with what `told_before` computes from the tables
        published before; and the digests of these publications.
        """
        from sdc_tasks import pipeline

        delivered = delivered_by(self.spec, self.inbox, self.period, salt)
        before, read = self._published_before(delivered)
        problem = secured(delivered, self.spec, [then for then, _ in before])
        read += pipeline.as_delivered(delivered.problem, problem, self.spec)
        problem = replace(
            problem,
            earlier=told_before(problem, pipeline.read_before(before, read), self.spec.audit.revised_by),
        )
        return problem, [publication.digest for _, publication in before]

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
