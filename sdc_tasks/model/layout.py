"""Where is what in a table: the one declaration of the options that say it.

Each field of `TableLayout` has its type, its default and its meaning here. The functions of the API and the
commands take the fields that they need, under these names (`api/options.py`, `cli/options.py`).
Loads nothing: a command shows its help at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.model.table import Hierarchy

Trees = tuple["Path | Hierarchy", ...]  # over the codes of one dimension
Missing = Literal["zero", "refuse"]
MEANING = "meaning"  # key of a field's metadata


class HasColumns(Protocol):
    """Records with named columns, such as the rows of a file."""

    @property
    def header(self) -> Sequence[str]: ...

    def column(self, name: str, /) -> list[str]:
        """The fields of a column. Raises InvalidInput if there is no such column."""


def _means(meaning: str, default: Any = None) -> Any:
    if default == {}:
        return field(default_factory=dict, metadata={MEANING: meaning})
    return field(default=default, metadata={MEANING: meaning})


@dataclass(frozen=True)
class TableLayout:
    """Where is what in a table with dimensions.

    A column that is None has its usual name, in capitals, where the table has such a column. `primary` may
    stand in the place of `status`, and `level` in that of `lpl` and `upl`. An empty bound is none; an empty
    status or mark, and an empty level of a primary cell, are refused by the reader.

    Raises InvalidInput where two fields contradict one another.
    """

    dims: tuple[str, ...] = _means("the columns of codes, one for each dimension", MISSING)
    value: str = _means("the column of values", "VALUE")
    # dimension → code, "" for every other dimension
    total: Mapping[str, str] = _means(
        "the code of totals, of all dimensions or by dimension, none for none; else TOTAL, _T or Total", {}
    )
    # dimension → its trees of codes, or the files that list them
    hierarchy: Mapping[str, Trees] = _means(
        "by dimension what its codes add up to, or a file: code,parent or a τ-ARGUS .hrc, or several of "
        "these where its codes add up in several ways; without it a dimension is its total and its parts",
        {},
    )
    status: str | None = _means("column of statuses: u primary, z stays open, s or m free [STATUS]")
    primary: str | None = _means("instead of statuses: column with 1 for a primary cell, else 0")
    level: str | None = _means("column of protection levels that are the same on both sides")
    lpl: str | None = _means("column of levels below [LPL]")
    upl: str | None = _means("column of levels above [UPL]")
    spl: str | None = _means("column of sliding levels: the least width of the interval [SPL]")
    lb: str | None = _means(
        "column of lower bounds that everybody knows; else 0, or none where a value is negative [LB]"
    )
    ub: str | None = _means("column of upper bounds that everybody knows; else none [UB]")
    singleton: str | None = _means(
        "column with 1 for a cell with one respondent, who knows it, else 0 [SINGLETON]"
    )
    respondent: str | None = _means(
        "column with the only respondent of a cell, or his holding; empty where there are several "
        "[RESPONDENT]"
    )
    cost: str | None = _means("column of costs [COST]")
    count: str | None = _means("column of the number of contributors [COUNT]")
    missing: Missing = _means(  # noqa: RUF009 a field, and no default that is shared
        "an inner cell without a row: refuse, or zero: it is empty, which everybody may know", "refuse"
    )
    tolerance: float = _means(
        "a total may be off by this from the sum of its parts, in the unit of the values, as after rounding; "
        "it is then replaced by the sum of its inner cells, and the result tells how many were. Whole "
        "numbers that add up need none",
        0.0,
    )
    min_contributors: int = _means(
        "the least number of contributors behind what is hidden in a relation; needs counts", 0
    )

    def __post_init__(self) -> None:
        if self.primary is not None and self.status is not None:
            raise InvalidInput(
                "a status and a column of primaries contradict one another. Remedy: name one of them"
            )
        if self.level is not None and (self.lpl is not None or self.upl is not None):
            raise InvalidInput(
                "one level for both sides, and a level for each, contradict one another. Remedy: name one or "
                "the other"
            )

    def column(self, name: str, records: HasColumns) -> str | None:
        """The name of the column that a field stands for, in these records; None if they have none. Raises
        InvalidInput if they lack one that was named.
        """
        named: str | None = getattr(self, name)
        if named is not None:
            records.column(named)
            return named
        if name in ("lpl", "upl") and self.level is not None:
            return self.column("level", records)
        return name.upper() if name.upper() in records.header else None

    def among(self, columns: Sequence[str]) -> TableLayout:
        """The same of a table that has only some of the dimensions among its columns."""
        own = tuple(name for name in self.dims if name in columns)
        return replace(
            self,
            dims=own,
            total={name: code for name, code in self.total.items() if name in {"", *own}},
            hierarchy={name: tree for name, tree in self.hierarchy.items() if name in own},
        )


MEANINGS: Mapping[str, str] = {each.name: each.metadata[MEANING] for each in fields(TableLayout)}
DEFAULTS: Mapping[str, Any] = {
    each.name: None if each.name in ("total", "hierarchy") else each.default
    for each in fields(TableLayout)
    if each.name != "dims"
}
