"""Linked tables of a batch: which of their cells are one and the same, and the tables as one problem."""

from __future__ import annotations

from collections.abc import Mapping

from sdc_tasks.argus.tables import Held
from sdc_tasks.methods.suppression.linked import CellOf, Link, LinkedTables, linked
from sdc_tasks.model.sensitive import SensitiveTable

Named = frozenset[tuple[str, str]]  # the codes of a cell that are no totals, with their dimensions


def as_one(tables: Mapping[str, Held], problems: Mapping[str, SensitiveTable]) -> LinkedTables:
    """Tables of the same response as one problem; `problems`: that of each.

    Two cells are the same if both have the same codes in the same variables, and totals in all
    others: Region N1 of Region × Size is Region N1 of Region × Kind. Raises InvalidInput where
    such cells have different values.
    """
    found: dict[tuple[str, Named], list[CellOf]] = {}
    for name, held in tables.items():
        totals = [
            {code for code, parent in zip(axis.codes, axis.parent, strict=True) if parent is None}
            for axis in held.axes
        ]
        dimensions = held.crossed.dimensions
        for cell, key in enumerate(held.crossed.keys):
            told = zip(dimensions, key, totals, strict=True)
            named = frozenset(
                (dimension.lower(), code) for dimension, code, total in told if code not in total
            )
            found.setdefault((held.crossed.value.lower(), named), []).append((name, cell))
    links = [
        Link(tuple(cells), place=f"tables {' and '.join(dict(cells))}")
        for cells in found.values()
        if len(cells) > 1
    ]
    return linked(problems, links)
