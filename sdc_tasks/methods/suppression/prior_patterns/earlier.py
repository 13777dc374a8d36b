"""Patterns of earlier publications, and what they mean for a new one.

*Published before*: the same table, with the same values. What was open then is known; it stays open, and the
new pattern hides some of what was hidden then. *Last period*: another table of the same cells. Its values are
not used. Users want the same cells from year to year, so a cell that was hidden then costs less now.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.errors import NAMED_CELLS, InvalidInput
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, read_only
from sdc_tasks.model.tolerances import SAME


@dataclass(frozen=True)
class EarlierPattern:
    """(n): which cells an earlier publication hid, which it left `open` (others it did not have), and the
    values it gave, NaN where none.

    `source` is what messages call it.
    """

    source: str
    hidden: Bools = field(repr=False)
    open: Bools = field(repr=False)
    a: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("hidden", "open", "a"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class PatternShift:
    """How far a pattern moved from an earlier one, in numbers of cells: hidden in both,
    hidden only now, hidden only then.
    """

    kept: int
    hidden_now: int
    opened_now: int


def hidden_in(problem: SensitiveTable, pattern: EarlierPattern) -> Bools:
    """(n): what a pattern of this very table hides.

    Raises InvalidInput, naming cell and remedy, for a cell that it does not have, or shows with another
    value: then it is that of another table.
    """
    _refuse_another(problem, pattern)
    return np.asarray(pattern.hidden)


def frozen(problem: SensitiveTable, earlier: EarlierPattern) -> SensitiveTable:
    """The problem of a table that was published before: cells that were open stay open.

    Raises InvalidInput, naming cell and remedy: for a cell that the earlier publication did
    not have, a primary that was open, or an open cell that had another value (then the table
    is not the one that was published).
    """
    _refuse(
        problem,
        earlier,
        earlier.open & problem.primary,
        "it published this primary cell, and nothing protects it any more",
        "withdraw that publication, or call the cell s in a file of --apriori",
    )
    _refuse_another(problem, earlier)
    return replace(problem, fixed=problem.fixed | earlier.open)


def coordinated(problem: SensitiveTable, earlier: EarlierPattern, discount: float) -> SensitiveTable:
    """The problem with the costs of cells that were hidden in the last period divided by `discount` (≥ 1)."""
    if not (np.isfinite(discount) and discount >= 1):
        raise InvalidInput(
            "a discount for cells that were hidden before is at least 1. Remedy: 1 for none, 10 to move the "
            "pattern rarely"
        )
    return replace(problem, cost=np.where(earlier.hidden, problem.cost / discount, problem.cost))


def moved(hidden: Bools, earlier: EarlierPattern) -> PatternShift:
    """How far a pattern (n) lies from an earlier one."""
    return PatternShift(
        int((hidden & earlier.hidden).sum()),
        int((hidden & ~earlier.hidden).sum()),
        int((~hidden & earlier.hidden).sum()),
    )


def _refuse_another(problem: SensitiveTable, earlier: EarlierPattern) -> None:
    """Refuses the pattern of another table: without some of the cells, or with other open values."""
    _refuse(
        problem,
        earlier,
        ~earlier.hidden & ~earlier.open,
        "it does not have this cell",
        "give the pattern of this very table",
    )
    miss = np.abs(np.nan_to_num(earlier.a) - problem.a)
    other = earlier.open & (np.isnan(earlier.a) | (miss > SAME * np.abs(problem.a)))
    _refuse(
        problem,
        earlier,
        other,
        "it published this cell with another value, or with none",
        "for a table of another period use --keep",
    )


def _refuse(problem: SensitiveTable, earlier: EarlierPattern, wrong: Bools, why: str, remedy: str) -> None:
    cells = np.flatnonzero(wrong)
    if len(cells):
        more = f" and {len(cells) - NAMED_CELLS} more" if len(cells) > NAMED_CELLS else ""
        names = ", ".join(problem.name(cell) for cell in cells[:NAMED_CELLS])
        raise InvalidInput(f"{earlier.source}: {names}{more}: {why}. Remedy: {remedy}")
