"""`sdc what-if`: which confidential flags cost most European information. It shows shares and keys, no
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sdc_tasks.cli.options import OUTPUT
from sdc_tasks.cli.shared import DomainOption, InboxOption, PeriodOption, problem_of_inbox
from sdc_tasks.cli.terminal import out

if TYPE_CHECKING:
    from sdc_tasks.model.table import CellSpace


def what_if(
    domain: DomainOption,
    period: PeriodOption,
    inbox: InboxOption,
    top: Annotated[int, typer.Option(min=1, help="cells to list", rich_help_panel=OUTPUT)] = 25,
) -> None:
    """Ranks countries and primary cells by their share of the least possible loss, for a discussion with an
    NSI.

    A share is a marginal price: the gain from a slightly smaller requirement. Without one
    flag, other flags may cost more.

    Example: sdc what-if --domain demo/domain.yaml --period 2024 --inbox demo/inbox --top 10
    """
    from sdc_tasks import pipeline
    from sdc_tasks.domains import load_domain
    from sdc_tasks.methods.bases.policy import case_of
    from sdc_tasks.methods.bases.rules import least_loss
    from sdc_tasks.model.progress import silent

    spec = load_domain(domain).of(period)
    problem = problem_of_inbox(spec, inbox, period)
    part = pipeline.to_bases(problem, spec)
    shares: dict[int, float] = {}
    if part is not None:
        requirements, _ = pipeline.baseline(part.problem, spec)
        case = case_of(part.problem, requirements, spec.bases, spec.audit.seed, silent, silent)
        found = least_loss(case).blame()
        shares = {int(part.cells[cell]): share for cell, share in found.items()}
    if not shares:
        out.print("nothing is lost: every aggregate cell can be published exactly")
        return
    out.print(_table("country", "", by_country(shares, problem.space)))
    ranked = sorted(
        ((problem.space.key(cell), share) for cell, share in shares.items()),
        key=lambda item: (-item[1], item[0]),
    )
    out.print(
        _table(
            "primary cell", f", the first {top} of {len(ranked)}" if len(ranked) > top else "", ranked[:top]
        )
    )


def by_country(shares: dict[int, float], space: CellSpace) -> list[tuple[str, float]]:
    """(country, share), the largest share first."""
    total: dict[str, float] = {}
    for cell, share in sorted(shares.items()):
        country = space.codes(cell)[0]
        total[country] = total.get(country, 0.0) + share
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))


def _table(what: str, more: str, rows: list[tuple[str, float]]) -> Table:
    table = Table(
        "rank",
        what,
        "share of the least loss",
        title=f"causes of the largest losses{more}",
        title_justify="left",
    )
    for rank, (name, share) in enumerate(rows, start=1):
        table.add_row(str(rank), name, f"{share:.1%}")
    return table
