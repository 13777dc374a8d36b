"""Hierarchies of a dimension: which codes add up to which other code. A code may have several parents, as a
country belongs to several compositions; `AT*` and `?1` stand for all codes of the data that match.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count.cells import Codes

WILD = frozenset("*?[")


@dataclass(frozen=True)
class CodeTree:
    """Pairs (code, parent) of one dimension; a code may be a wildcard for codes of the data.
    Raises InvalidInput for a cycle.

    `source` names the hierarchy in messages. `leaves` are codes without a parent.
    """

    source: str
    pairs: tuple[tuple[str, str], ...] = field(repr=False)
    leaves: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        _ = self.bottom_up

    @cached_property
    def children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for code, parent in self.pairs:
            found.setdefault(parent, []).append(code)
        return found

    @cached_property
    def bottom_up(self) -> tuple[str, ...]:
        """The codes that have parts, each after its parts."""
        try:
            order = tuple(TopologicalSorter(self.children).static_order())
        except CycleError as error:
            raise InvalidInput(
                f"{self.source}: {error.args[1][0]} is below itself. Remedy: correct its parent"
            ) from error
        return tuple(code for code in order if code in self.children)

    def groups(self, labels: Sequence[str]) -> dict[str, frozenset[int]]:
        """For every code that has parts: the codes of the data below it, as indices of `labels`.

        Raises InvalidInput for a code of the data that is not in the hierarchy (its totals would silently
        miss it), and for a total that has records.
        """
        index = {label: i for i, label in enumerate(labels)}
        if wrong := [label for label in labels if label in self.children]:
            raise InvalidInput(
                f"{self.source}: {wrong[0]} is a total, and has records too. Remedy: take records of totals "
                f"out of the table"
            )
        below = self._below(index)
        self._refuse_unknown(index, below)
        return {code: own for code, own in below.items() if own}

    def _refuse_unknown(self, index: Mapping[str, int], below: Mapping[str, frozenset[int]]) -> None:
        """Raises InvalidInput for the first code of the data that is neither below another nor a leaf."""
        known, leaves = frozenset[int]().union(*below.values()), frozenset(self.leaves)
        for label, place in index.items():
            if place not in known and label not in leaves:
                raise InvalidInput(
                    f"{self.source}: the code {label} of the table is missing. Remedy: add it with its parent"
                )

    def _below(self, index: Mapping[str, int]) -> dict[str, frozenset[int]]:
        """For every code that has parts: the codes of the data below it, by `index`."""
        below: dict[str, frozenset[int]] = {}
        for code in self.bottom_up:
            own: set[int] = set()
            for child in self.children[code]:
                if child in below:
                    own |= below[child]
                elif WILD & set(child):
                    own |= {place for label, place in index.items() if fnmatch.fnmatchcase(label, child)}
                elif child in index:
                    own.add(index[child])
            below[code] = frozenset(own)
        return below

    def root(self, labels: Sequence[str]) -> str | None:
        """The code that contains all codes of the data; the highest one where there are several."""
        every = [code for code, own in self.groups(labels).items() if len(own) == len(labels)]
        return every[-1] if every else None

    def levels(self, labels: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Codes]]:
        """(codes, group of every label) for each level: all groups except the root, in few levels
        of disjoint groups (first fit).
        """
        root = self.root(labels)
        open_levels: list[tuple[list[str], Codes]] = []
        for code, own in sorted(self.groups(labels).items(), key=lambda item: (-len(item[1]), item[0])):
            if code == root:
                continue
            members = np.array(sorted(own))
            level = next((level for level in open_levels if np.all(level[1][members] < 0)), None)
            if level is None:
                level = [], np.full(len(labels), -1, dtype=np.int32)
                open_levels.append(level)
            level[1][members] = len(level[0])
            level[0].append(code)
        for names, group in open_levels:
            yield tuple(names), group


def together(trees: Sequence[CodeTree]) -> CodeTree:
    """Several hierarchies of one dimension as one. Raises InvalidInput as `CodeTree`."""
    pairs = dict.fromkeys(pair for tree in trees for pair in tree.pairs)
    leaves = dict.fromkeys(code for tree in trees for code in tree.leaves)
    return CodeTree(" and ".join(tree.source for tree in trees), tuple(pairs), tuple(leaves))
