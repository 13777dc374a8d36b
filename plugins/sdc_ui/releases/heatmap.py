"""Treatments of the cells of a release by two dimensions, for one aggregate: in blocks
for an overview, and code by code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdc_ui.shared.labels import Dimension, Labels, Name

SIZES = (
    "exact",
    "under 0.1 %",
    "0.1 to 1 %",
    "1 to 5 %",
    "5 to 20 %",
    "20 % and more",
)  # classes of base / value
TREATMENTS = ("exact", "rounded", "visible", "withheld")


@dataclass(frozen=True)
class Field:
    """The cells of one row and column. `size` is the class of the median relative base of the
    rounded cells.
    """

    exact: int = 0
    rounded: int = 0
    visible: int = 0
    withheld: int = 0
    size: int = 0

    @property
    def total(self) -> int:
        return self.exact + self.rounded + self.visible + self.withheld

    @property
    def share(self) -> float:
        """The share of exact cells."""
        return self.exact / self.total if self.total else 0.0


@dataclass(frozen=True)
class Row:
    name: Name
    depth: int
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class HeatMap:
    """One aggregate. `blocks` groups cells under the codes of depth 0 and 1, `codes` has a row
    for each code.
    """

    area: Name
    dimensions: tuple[str, str]
    columns: tuple[Name, ...]
    blocks: tuple[Row, ...]
    codes: tuple[Row, ...]


def tally(cells: Iterable[Mapping[str, Any]]) -> Field:
    """The number of cells by treatment."""
    counts = dict.fromkeys(TREATMENTS, 0)
    sizes = []
    for cell in cells:
        counts[cell["treatment"]] += 1
        if cell["treatment"] == "rounded":
            sizes.append(cell["size"])
    return Field(**counts, size=sorted(sizes)[len(sizes) // 2] if sizes else 0)


def heat_maps(cells: Sequence[Mapping[str, Any]], labels: Labels) -> tuple[HeatMap, ...]:
    """One heat map for each area, in the order of the publication; none where the dimensions are unknown."""
    if not labels.dimensions:
        return ()
    rows = labels.dimensions[0]
    columns = labels.dimensions[1] if len(labels.dimensions) > 1 else _indicators(labels)
    second: Callable[[Mapping[str, Any]], str] = (
        (lambda cell: labels.codes_of(cell["cell"])[1])
        if len(labels.dimensions) > 1
        else (lambda cell: str(cell["indicator"]))
    )
    block = {name.code: rows.block(name.code) for name in rows.codes}
    found = []
    for area in dict.fromkeys(cell["area"] for cell in cells):
        at: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        of_block: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for cell in cells:
            if cell["area"] == area:
                row, column = labels.codes_of(cell["cell"])[0], second(cell)
                at.setdefault((row, column), []).append(cell)
                of_block.setdefault((block.get(row, row), column), []).append(cell)
        heads = [name for name in rows.codes if rows.depth(name.code) <= 1]
        found.append(
            HeatMap(
                area=labels.area(area),
                dimensions=(rows.name, columns.name),
                columns=columns.codes,
                blocks=_rows(heads, rows, columns, of_block),
                codes=_rows(rows.codes, rows, columns, at),
            )
        )
    return tuple(found)


def _rows(
    names: Sequence[Name],
    rows: Dimension,
    columns: Dimension,
    at: Mapping[tuple[str, str], list[Mapping[str, Any]]],
) -> tuple[Row, ...]:
    return tuple(
        Row(
            name,
            rows.depth(name.code),
            tuple(tally(at.get((name.code, column.code), ())) for column in columns.codes),
        )
        for name in names
    )


def _indicators(labels: Labels) -> Dimension:
    return Dimension("indicator", tuple(measure.name for measure in labels.measures.values()), {})
