"""What a result tells of levels that cannot be kept, and were lowered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdc_tasks.errors import some_of
from sdc_tasks.methods.suppression.pattern.sums import told_of
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    import pandas as pd

    from sdc_tasks.methods.suppression.attainable import AttainableLevels


def lowered_cells(problem: SensitiveTable) -> Mapping[str, str]:
    """How many primary cells have levels that were lowered; nothing where none has."""
    number = int(problem.lowered.sum())
    return {"primary cells with lowered levels": f"{number:,}"} if number else {}


def disclosed_cells(levels: AttainableLevels | None) -> Mapping[str, str]:
    """The names of primary cells of which outsiders too are left nothing on a side; nothing without one."""
    if levels is None or not levels.disclosed:
        return {}
    return {
        "not protected, also against outsiders": some_of(list(map(levels.problem.name, levels.disclosed)))
    }


def lowered_frame(levels: AttainableLevels | None, hidden: Bools | None) -> pd.DataFrame:
    """A row for each side of a cell, and of a sum of the hidden cells of a pattern, if there is one."""
    import pandas as pd

    told = [] if levels is None else told_of(levels, hidden)
    return pd.DataFrame(
        [(name, each.side, each.wanted, each.kept, each.outsiders) for name, each in told],
        columns=["CELL", "SIDE", "WANTED", "KEPT", "OUTSIDERS"],
    )


def not_judged(levels: AttainableLevels | None) -> tuple[str, ...]:
    """The primary cells with lowered levels whose attackers are too many to judge all."""
    return () if levels is None else tuple(map(levels.problem.name, levels.unjudged))
