"""A file of links between tables: a CSV file with the columns link, table, cell and perhaps coefficient.

    link,table,cell,coefficient
    1,A,3,                       lines with the same link name cells that are one and the same;
    1,B,0,
    2,A,7,1                      with coefficients they are the relation Σ coefficient · cell = 0
    2,B,4,-1
    2,B,5,-1

`cell` is the number of a cell in a JJ file, else its printed key: its codes, joined by dots, a code that
holds a dot in quotation marks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.given.lines import Line, below_header
from sdc_tasks.methods.suppression.linked import CellOf, Link
from sdc_tasks.model.keys import codes_in

LINK_COLUMNS = ("link", "table", "cell")
REMEDY = "write a CSV file link,table,cell,coefficient"


def read_links(path: Path, names: Mapping[str, Mapping[tuple[str, ...], int]]) -> list[Link]:
    """The links in a file. `names`: of each table its cells by their codes. Raises InvalidInput,
    with file, line, cell and remedy.
    """
    column, lines = below_header(path, LINK_COLUMNS, REMEDY)
    grouped: dict[str, list[Line]] = {}
    for line in lines:
        grouped.setdefault(line.fields[column["link"]], []).append(line)
    if not grouped:
        raise InvalidInput(f"{path}: no link. Remedy: {REMEDY}")
    return [_link(group, column, names) for group in grouped.values()]


def _link(
    lines: list[Line], column: Mapping[str, int], names: Mapping[str, Mapping[tuple[str, ...], int]]
) -> Link:
    cells = tuple(_cell(line, column, names) for line in lines)
    place = column.get("coefficient")
    with_it = [place is not None and line.fields[place] != "" for line in lines]
    if any(with_it) and not all(with_it):
        line = lines[with_it.index(False)]
        raise line.refused(
            "some cells of this link have a coefficient, this one has none. Remedy: all of them, or none"
        )
    coefficients = None
    if place is not None and all(with_it):
        coefficients = tuple(line.number_of(place, "the coefficient") for line in lines)
    for i, cell in enumerate(cells):
        if cell in cells[:i]:
            raise lines[i].refused(
                f"{cell[0]}: this cell stands in the link twice. Remedy: keep one of the lines"
            )
    return Link(cells, coefficients, lines[0].place)


def _cell(
    line: Line, column: Mapping[str, int], names: Mapping[str, Mapping[tuple[str, ...], int]]
) -> CellOf:
    table, cell = line.fields[column["table"]], line.fields[column["cell"]]
    if table not in names:
        raise line.refused(f"{table} is none of the tables. Remedy: name one of {', '.join(names)}")
    try:
        codes = codes_in(cell)
    except ValueError as error:
        raise line.refused(
            f"{cell}: {error}. Remedy: join codes by dots, one that holds a dot in quotation marks"
        ) from error
    if codes not in names[table]:
        raise line.refused(
            f"{cell} is no cell of {table}. Remedy: correct it; it has {len(names[table])} cells, and a code "
            f"that holds a dot stands "
            "between quotation marks"
        )
    return table, names[table][codes]
