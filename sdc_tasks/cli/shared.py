"""What several commands share: their options, and the protection problem of an inbox."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import INPUT, METHOD
from sdc_tasks.cli.screen import out
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
    from sdc_tasks.model.secret import Secret

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
        content, digest = intake.named_content(inbox / name, intake.most_bytes(spec, name), salt)
        sheet = intake.read_sheet(content, name, spec, period, digest)
        sheets[sheet.country or name, series_of(name).name] = sheet
    return delivered_by_sheets([sheet for _, sheet in sorted(sheets.items())], spec, salt)


def other_tables(given: Sequence[str], spec: Domain, period: str) -> list[tuple[Path, Path]]:
    """The domain file and the inbox of each other table. Raises InvalidInput as `_other_table`, and for one
    that is named twice.
    """
    found = [_other_table(each, spec, period) for each in given]
    for number, (file, _) in enumerate(found):
        if file in [other for other, _ in found[:number]]:
            raise InvalidInput(f"--also: {file} stands more than once. Remedy: name each table once")
    return found


def _halves(given: str) -> tuple[str, str]:
    """What stands before and behind the comma; where there are several, before the first one is a file."""
    commas = [at for at, sign in enumerate(given) if sign == ","]
    at = next((at for at in commas if Path(given[:at]).is_file()), commas[-1] if commas else len(given))
    return given[:at], given[at + 1 :]


def _other_table(given: str, spec: Domain, period: str) -> tuple[Path, Path]:
    """The domain file and the inbox of another table. Raises InvalidInput where it is none that is decided
    together with this one.
    """
    from sdc_tasks.domains import load_domain

    file, folder = _halves(given)
    if not file or not folder:
        raise InvalidInput(
            f"--also {given}: no DOMAIN,INBOX. Remedy: the domain file, a comma, and the folder with its "
            "deliveries"
        )
    other = load_domain(file).of(period)
    if other.id == spec.id:
        raise InvalidInput(f"--also {given}: {spec.id} is this table itself. Remedy: leave it out")
    if other.frequency != spec.frequency:
        raise InvalidInput(
            f"--also {given}: {other.id} has frequency {other.frequency}, and no figures of {period}. "
            f"Remedy: leave it out; what is out of it counts all the same"
        )
    if not spec.linked.together or other.id not in spec.linked.tables:
        raise InvalidInput(
            f"--also {given}: {spec.id} is not decided together with {other.id}. Remedy: in its domain file, "
            f"linked: {{tables: [{other.id}], together: true}}"
        )
    if Path(file).resolve() != (spec.folder / f"{other.id}.yaml").resolve():
        raise InvalidInput(
            f"--also {given}: the domain file of {other.id} is looked for as "
            f"{spec.folder / f'{other.id}.yaml'}. Remedy: put it there"
        )
    if not Path(folder).is_dir():
        raise InvalidInput(
            f"--also {given}: {folder} is no folder. Remedy: the folder with the deliveries of {other.id}"
        )
    return Path(file).resolve(), Path(folder)


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
