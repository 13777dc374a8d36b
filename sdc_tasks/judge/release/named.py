"""The national cells of a table by their names: country, indicator, and a code of each dimension. Two cells
of one period are the same if they agree in all dimensions that both tables have, and stand at the only root
of every other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdc_tasks.model.table import CellSpace

Name = tuple[str, str, tuple[str, ...]]  # country, indicator, codes of some dimensions


@dataclass(frozen=True)
class NamedTable:
    """A table of a joint problem: its first cell, its period, and its cells."""

    first: int
    period: str
    space: CellSpace

    def indicator(self, cell: int) -> str:
        space = self.space
        return str(space.national_keys[(cell - self.first) % space.national_size][0])

    def shared(self, other: NamedTable) -> Iterator[tuple[int, int]]:
        """(cell, cell of the other table) for each cell that both name."""
        mine, theirs = (
            [hierarchy.dimension for hierarchy in each.space.hierarchies] for each in (self, other)
        )
        both = [dimension for dimension in mine if dimension in theirs]
        there = dict(other.named(both))
        for name, cell in self.named(both):
            if name in there:
                yield cell, there[name]

    def named(self, dimensions: Sequence[str]) -> Iterator[tuple[Name, int]]:
        """Each national cell at the only root of all other dimensions, by its name in these."""
        space = self.space
        at, roots = list[int](), list[tuple[int, str]]()
        for k, hierarchy in enumerate(space.hierarchies, start=1):
            if hierarchy.dimension in dimensions:
                continue
            tops = [c for c, parent in zip(hierarchy.codes, hierarchy.parent, strict=True) if parent is None]
            if len(tops) != 1:
                return
            roots.append((k, tops[0]))
        order = {hierarchy.dimension: k for k, hierarchy in enumerate(space.hierarchies, start=1)}
        at = [order[dimension] for dimension in dimensions]
        for i, key in enumerate(space.national_keys):
            if all(key[k] == root for k, root in roots):
                for number, country in enumerate(space.countries):
                    name = (country, str(key[0]), tuple(str(key[k]) for k in at))
                    yield name, self.first + number * space.national_size + i
