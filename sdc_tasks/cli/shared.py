"""What several commands share: their options, and the protection problem of an inbox."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import INPUT, METHOD
from sdc_tasks.cli.terminal import out
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.series import series_of

if TYPE_CHECKING:
    from sdc_tasks.api.deliveries import Delivered
    from sdc_tasks.domains import Domain
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.secret import Secret

QUIET_SECONDS = 1.0  # between two lines where the output is no terminal

DomainOption = Annotated[
    str,
    typer.Option(
        "--domain",
        help="a domain's name, such as sbs, or the path of a domain file",
        rich_help_panel=INPUT,
    ),
]
PeriodOption = Annotated[
    str, typer.Option("--period", help="reference period, such as 2024", rich_help_panel=INPUT)
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="repeats a rounding; keep it secret: with it, others can reconstruct the "
        "original values; default: random",
        rich_help_panel=METHOD,
    ),
]
InboxOption = Annotated[
    Path, typer.Option("--inbox", help="folder with the national deliveries", rich_help_panel=INPUT)
]
WarehouseOption = Annotated[
    str,
    typer.Option("--warehouse", envvar="SDC_WAREHOUSE_URL", help="database URL", rich_help_panel=INPUT),
]


def secured(
    delivered: Delivered, spec: Domain, before: Sequence[ProtectionProblem] = ()
) -> ProtectionProblem:
    """The problem of deliveries as a release has it. Prints the number of secondaries that the
    receiver sets.
    """
    problem = delivered.secured(spec, before)
    if number := int(delivered.problem.public.sum()) - int(problem.public.sum()):
        out.print(
            f"{number} national cells are secondaries set by the receiver (suppression in the domain file)"
        )
    return problem


def problem_of_inbox(spec: Domain, inbox: Path, period: str, salt: Secret | None = None) -> ProtectionProblem:
    """The protection problem of a release of a folder. Every delivery must be there and accepted.
    Without a salt, a random one is used.
    """
    return secured(delivered_by(spec, inbox, period, salt), spec.of(period))


def delivered_by(spec: Domain, inbox: Path, period: str, salt: Secret | None = None) -> Delivered:
    """The deliveries of a folder. Every delivery must be there and accepted. Without a salt, a random one is
    used.
    """
    from sdc_tasks import intake
    from sdc_tasks.api.deliveries import delivered_by_sheets
    from sdc_tasks.model.secret import Secret, name_of_delivery

    if not inbox.is_dir():
        raise InvalidInput(f"inbox {inbox}: no such folder")
    salt = salt or Secret.fresh()
    lying = intake.look(inbox, spec.inbox.ignore)
    if lying.unread:
        raise InvalidInput("; ".join(lying.unread.values()))
    spec = spec.of(period)
    sheets: dict[
        tuple[str, str], intake.Sheet
    ] = {}  # for each country and series, the sheet of the highest version
    for name in sorted(lying.files, key=series_of):
        data = intake.file_bytes(inbox / name, intake.most_bytes(spec, name))
        sheet = intake.read_sheet(data, name, spec, period, name_of_delivery(data, salt))
        sheets[sheet.country or name, series_of(name).name] = sheet
    return delivered_by_sheets([sheet for _, sheet in sorted(sheets.items())], spec, salt)


def refuse_place(place: Path | None, source: Path) -> None:
    """Raises InvalidInput, before the work starts, for a place that cannot be written or is the
    table itself.
    """
    if place is None:
        return
    folder = place.absolute().parent
    if not folder.is_dir() or place.is_dir() or not os.access(folder, os.W_OK):
        raise InvalidInput(f"{place}: cannot be written. Remedy: name a file in a writable folder")
    if place.resolve() == source.resolve():
        raise InvalidInput(f"{place}: this is the table itself. Remedy: write to another file")


def is_jj(file: Path) -> bool:
    """Whether the name is that of a τ-ARGUS JJ file. All other tables are CSV or Parquet."""
    return file.name.lower().endswith((".jj", ".jj.gz"))


def require_columns(file: Path) -> None:
    """Raises InvalidInput for a JJ file, which has no columns of codes."""
    if is_jj(file):
        raise InvalidInput(
            f"{file}: a JJ file has no dimensions. Remedy: give the table as CSV or Parquet, with a column "
            f"for each"
        )
