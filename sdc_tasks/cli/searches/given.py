"""What `sdc suppress` is given beside the table: instructions for single cells, and
patterns of earlier publications.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdc_tasks.cli.options import INPUT
from sdc_tasks.cli.searches.together import LINK_HELP
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdc_tasks.methods.suppression.prior_patterns.earlier import EarlierPattern
    from sdc_tasks.methods.suppression.prior_patterns.instructions import Instruction
    from sdc_tasks.model.sensitive import SensitiveTable
    from sdc_tasks.model.table import Bools

APRIORI_HELP = (
    "lines key…,what,number…: u primary, s safe, z must stay open, c its cost, pl "
    "its levels; the key of a JJ cell is its number"
)
PREVIOUS_HELP = (
    "this table as it was published before, with its pattern: what was open then "
    "stays open; for several tables the folder"
)
KEEP_HELP = (
    "the pattern of the last period, for the same cells: what was hidden then costs "
    "less, so that the pattern changes rarely"
)
DISCOUNT_HELP = "with --keep: the number by which these costs are divided"


@dataclass(frozen=True)
class GivenFiles:
    """The files, None where there is none, and by how much the costs of what was hidden are lowered."""

    count_file: Annotated[
        Path | None,
        typer.Option(help="JJ, with costs by frequency: a CSV file cell,count", rich_help_panel=INPUT),
    ] = None
    link: Annotated[Path | None, typer.Option(help=LINK_HELP, rich_help_panel=INPUT)] = None
    apriori: Annotated[Path | None, typer.Option(help=APRIORI_HELP, rich_help_panel=INPUT)] = None
    previous: Annotated[Path | None, typer.Option(help=PREVIOUS_HELP, rich_help_panel=INPUT)] = None
    keep: Annotated[Path | None, typer.Option(help=KEEP_HELP, rich_help_panel=INPUT)] = None
    keep_discount: Annotated[
        float | None, typer.Option(help=f"{DISCOUNT_HELP}; default: 10", rich_help_panel=INPUT)
    ] = None

    def __post_init__(self) -> None:
        if self.keep_discount is not None and self.keep is None:
            raise InvalidInput("--keep-discount needs --keep PATTERN. Remedy: give both, or neither")


@dataclass(frozen=True)
class GivenProblem:
    """A problem after what was given: the instructions, and the pattern of the last period, None
    without one.
    """

    problem: SensitiveTable = field(repr=False)
    instructions: Sequence[Instruction] = field(repr=False)
    last: EarlierPattern | None = field(repr=False)

    def facts(self, hidden: Bools | None) -> dict[str, int]:
        """How far a pattern moved since the last period, for the facts of a run; nothing without one."""
        from sdc_tasks.methods.suppression.prior_patterns.earlier import moved

        if self.last is None or hidden is None:
            return {}
        far = moved(hidden, self.last)
        return {"kept": far.kept, "hidden_now": far.hidden_now, "opened_now": far.opened_now}


def given_problem(
    files: GivenFiles,
    problem: SensitiveTable,
    keys: Sequence[tuple[str, ...]],
    read: Callable[[Path], EarlierPattern],
) -> GivenProblem:
    """The problem after what was given. `keys` (n): the codes of the cells; `read` takes an
    earlier pattern for them from a file.
    """
    from sdc_tasks.intake.tables.given.apriori import read_apriori
    from sdc_tasks.methods.suppression.prior_patterns.earlier import coordinated, frozen
    from sdc_tasks.methods.suppression.prior_patterns.instructions import instructed

    instructions = () if files.apriori is None else read_apriori(files.apriori, keys)
    problem = instructed(problem, instructions)
    if files.previous is not None:
        problem = frozen(problem, read(files.previous))
    last = None if files.keep is None else read(files.keep)
    if last is not None:
        problem = coordinated(problem, last, 10.0 if files.keep_discount is None else files.keep_discount)
    return GivenProblem(problem, instructions, last)
