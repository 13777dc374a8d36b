"""The words of a table for readers, and its upper levels: the blocks into which reports divide a dimension.

A *block* is a branch of a hierarchy: a code one step below the root with all its descendants (the root is a
block of its own). The code on its top is its *head*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.table import CellSpace, Hierarchy, Ints
from sdc_tasks.report.facts import Header


@dataclass(frozen=True)
class Labels:
    """The labels of a domain."""

    domain: Domain

    def of(self, dimension: str, code: str) -> Header:
        """Of a code of a dimension; the code itself where it has none."""
        return Header(code, self.domain.labels.get(dimension, {}).get(code, code))

    def area(self, code: str) -> Header:
        """Of a country or aggregate, also of one that misses members."""
        partial = [
            f"{spec.label}, incomplete" for spec in self.domain.aggregates if spec.partial_code == code
        ]
        return Header(code, partial[0]) if partial else self.of(self.domain.areas.dimension, code)

    def dimension(self, dimension: str) -> str:
        """The name of a dimension in the domain."""
        return next((each.name for each in self.domain.hierarchies if each.dimension == dimension), dimension)

    def indicator(self, code: str) -> Header:
        """Of an indicator."""
        return self.of(self.domain.indicator_dimension, code)

    def cell(self, space: CellSpace, cell: int) -> str:
        """Those of a cell's national key, without the indicator where there is only one."""
        indicator, *codes = space.national_keys[cell % space.national_size]
        named = [
            self.of(hierarchy.dimension, code).label
            for hierarchy, code in zip(space.hierarchies, codes, strict=True)
        ]
        return " · ".join(([self.indicator(indicator).label] if len(space.indicators) > 1 else []) + named)


@dataclass(frozen=True)
class Blocks:
    """A hierarchy divided into blocks: its name, their headers and heads (positions of codes), and
    (codes,): the block of each code.
    """

    name: str
    headers: tuple[Header, ...]
    heads: tuple[int, ...]
    of_code: Ints


def blocks(hierarchy: Hierarchy, label: Labels) -> Blocks:
    """Every code without a parent, and every part of one, is a block; deeper codes belong to the block of
    their ancestor.
    """
    top = {
        None,
        *(code for code, parent in zip(hierarchy.codes, hierarchy.parent, strict=True) if not parent),
    }
    heads = [i for i, parent in enumerate(hierarchy.parent) if parent in top]
    block = {head: i for i, head in enumerate(heads)}
    for i in sorted(range(len(hierarchy.codes)), key=lambda i: hierarchy.depth[i]):
        above = hierarchy.parent[i]
        if i not in block and above is not None:
            block[i] = block[hierarchy.index[above]]
    return Blocks(
        label.dimension(hierarchy.dimension),
        tuple(label.of(hierarchy.dimension, hierarchy.codes[head]) for head in heads),
        tuple(heads),
        np.array([block[i] for i in range(len(hierarchy.codes))]),
    )
