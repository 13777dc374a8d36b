"""`sdc what-if`: which confidential flags cost most European information. It shows shares and keys, no
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import INPUT, OUTPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.shared import DomainOption, InboxOption, PeriodOption, other_tables, problem_of_inbox

if TYPE_CHECKING:
    from rich.table import Table

    from sdc_tasks.model.results import FlagCost

Row = tuple[str, Sequence[str], float, Sequence[float]]  # name, flagged in, share, in each table


def what_if(
    domain: DomainOption,
    period: PeriodOption,
    inbox: InboxOption,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            metavar="DOMAIN,INBOX",
            help="the domain file and the inbox of another table of the statistic that is decided together "
            "with this one (linked: together): the shares are of the loss of all tables, and each table "
            "has a column; what several tables show counts in each of them. Repeatable",
            rich_help_panel=INPUT,
        ),
    ] = None,
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

    spec = load_domain(domain).of(period)
    others = other_tables(also or (), spec, period)
    tables = [(spec, inbox), *((load_domain(file).of(period), folder) for file, folder in others)]
    problems = [problem_of_inbox(each, folder, period) for each, folder in tables]
    costs = pipeline.flag_costs(problems, [each for each, _ in tables])
    if not costs:
        out.print("nothing is lost: every aggregate cell can be published exactly")
        return
    names = [each.id for each, _ in tables] if others else []
    out.print(_table("country", "", names, by_country(costs)))
    cells = [(each.cell, each.tables, each.share, each.within) for each in costs[:top]]
    more = f", the first {top} of {len(costs)}" if len(costs) > top else ""
    out.print(_table("primary cell", more, names, cells))


def by_country(costs: Sequence[FlagCost]) -> list[Row]:
    """A row for each country and the tables in which it flags the same cells, the largest share first."""
    found: dict[tuple[str, tuple[str, ...]], list[FlagCost]] = {}
    for each in costs:
        found.setdefault((each.country, each.tables), []).append(each)
    rows = [
        (
            country,
            tables,
            sum(each.share for each in flags),
            [sum(parts) for parts in zip(*(each.within for each in flags), strict=True)],
        )
        for (country, tables), flags in found.items()
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))


def _table(what: str, more: str, names: Sequence[str], rows: Sequence[Row]) -> Table:
    """`names`: of the tables where there are several."""
    from rich.table import Table

    shares = ", shares of the least loss of all tables" if names else ""
    table = Table(
        "rank",
        what,
        *(["flagged in"] if names else []),
        "in all" if names else "share of the least loss",
        *(f"in {name}" for name in names),
        title=f"causes of the largest losses{shares}{more}",
        title_justify="left",
    )
    for rank, (name, tables, share, within) in enumerate(rows, start=1):
        of_tables = [", ".join(tables)] if names else []
        parts = [f"{each:.1%}" for each in within] if names else []
        table.add_row(str(rank), name, *of_tables, f"{share:.1%}", *parts)
    return table
