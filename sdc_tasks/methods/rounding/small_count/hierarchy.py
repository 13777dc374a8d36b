"""Hierarchies of a dimension: which codes are added up under which other code. A code may have several parents, as a country has
compositions; `AT*` and `?1` stand for all codes of the data that match.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count.cells import Codes

WILD = frozenset("*?[")


@dataclass(frozen=True)
class CodeTree:
    """Pairs (code, parent) of one dimension; a code may be a wildcard for codes of the data. Raises InvalidInput on a cycle.

    `source` is how messages name it. `leaves` are codes that must be there without having a parent.
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
        """The codes that others are below, each after those below it."""
        try:
            order = tuple(TopologicalSorter(self.children).static_order())
        except CycleError as error:
            raise InvalidInput(f"{self.source}: {error.args[1][0]} is below itself. Remedy: correct its parent") from error
        return tuple(code for code in order if code in self.children)

    def groups(self, labels: Sequence[str]) -> dict[str, frozenset[int]]:
        """The codes of the data below every code that others are below, as indices of `labels`. Raises InvalidInput where they do not fit.

        A code of the data that the hierarchy does not know would silently be missing in its totals: it is refused.
        """
        index = {label: i for i, label in enumerate(labels)}
        if wrong := [label for label in labels if label in self.children]:
            raise InvalidInput(
                f"{self.source}: {wrong[0]} has codes below it, and records of its own. Remedy: take records of totals out of the table"
            )
        below: dict[str, frozenset[int]] = {}
        for code in self.bottom_up:
            own: set[int] = set()
            for child in self.children[code]:
                if child in below:
                    own |= below[child]
                elif WILD & set(child):
                    own |= {index[label] for label in labels if fnmatch.fnmatchcase(label, child)}
                elif child in index:
                    own.add(index[child])
            below[code] = frozenset(own)
        known = frozenset[int]().union(*below.values()) | {index[leaf] for leaf in self.leaves if leaf in index}
        if len(known) < len(labels):
            missing = next(label for i, label in enumerate(labels) if i not in known)
            raise InvalidInput(f"{self.source}: the code {missing} of the table is missing. Remedy: add it with its parent")
        return {code: own for code, own in below.items() if own}

    def root(self, labels: Sequence[str]) -> str | None:
        """The code that stands for all codes of the data; the one nearest to the top where there are several."""
        every = [code for code, own in self.groups(labels).items() if len(own) == len(labels)]
        return every[-1] if every else None

    def levels(self, labels: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Codes]]:
        """(codes, group of every label): the groups but the root, spread over as few levels as disjointness takes them to, first fit."""
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
