"""How a caller describes a table with dimensions, and how its hierarchies are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from sdc_tasks.api.options import Hierarchies, Parents, Totals
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.names import COSTS, CellCosts
from sdc_tasks.model.keys import refuse_twins
from sdc_tasks.model.layout import DEFAULTS, TableLayout, Trees
from sdc_tasks.model.table import Hierarchy

READ_HERE = ("value", "total", "hierarchy", "cost")  # no plain columns of a table


def layout_of(dims: Sequence[str], value: str, options: Mapping[str, object]) -> TableLayout:
    """Where is what, as the keywords of a function say it; a column of costs is none of them (`costs_of`)."""
    trees = trees_of(cast(Hierarchies | None, options.get("hierarchy")))
    totals = totals_of(cast(Totals, options.get("total")), dims, trees)
    named: dict[str, Any] = {
        name: told for name, told in options.items() if name in DEFAULTS and name not in READ_HERE
    }
    return TableLayout(tuple(dims), value, totals, trees, **named)


def totals_of(total: Totals, dimensions: Sequence[str], hierarchies: Mapping[str, object]) -> dict[str, str]:
    """The code of the total by dimension; a dimension with a hierarchy has its top, whatever
    `total` says of all dimensions.
    """
    if total is None:
        return {}
    if isinstance(total, Mapping):
        return dict(total)
    return {name: total for name in dimensions if name not in hierarchies}


def trees_of(hierarchies: Hierarchies | None) -> dict[str, Trees]:
    """The trees by dimension. Raises InvalidInput for a code that is given twice, has an
    unknown parent, or is below itself.
    """
    return {
        name: tuple(_tree(name, each) for each in several(given))
        for name, given in (hierarchies or {}).items()
    }


def several(given: Parents | Sequence[Parents]) -> Sequence[object]:
    """The trees of one dimension, of which one may stand for itself."""
    return given if isinstance(given, list | tuple) and given else [given]


def _tree(name: str, given: object) -> Path | Hierarchy:
    if isinstance(given, str | Path):
        return Path(given)
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"the hierarchy of {name} is none. Remedy: give each code its parent, or a file, code,parent "
            f"or .hrc"
        )
    try:
        found = Hierarchy(name, tuple(given), tuple(given.values()))
    except ValueError as error:
        raise InvalidInput(f"the frame: {error}. Remedy: correct the hierarchy") from error
    refuse_twins(f"the hierarchy of {name}", given)
    return found


def costs_of(cost: str) -> tuple[CellCosts, str | None]:
    """What a secondary costs: one of the measures by name, else the column of the table that says it."""
    named = next((name for name in COSTS if name == cost), None)
    return ("file", cost) if named is None else (named, None)
