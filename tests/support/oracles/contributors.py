"""What each contributor works out of each other one, from the records: dense matrices, scipy, no
code and no array of the program.

A table of two dimensions, each a flat list of codes below a total. A contributor knows what is open, every
hidden cell that has no records but his own, and that nothing is below 0. He is asked about every cell in
which he and another one stand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.optimize import linprog

Key = tuple[str, str]
NEAR = 1e-6
TOTAL = "T"


@dataclass(frozen=True)
class Record:
    row: str
    column: str
    firm: str
    value: float
    waived: bool = False

    @property
    def cells(self) -> list[Key]:
        return [(row, column) for row in (self.row, TOTAL) for column in (self.column, TOTAL)]


@dataclass(frozen=True)
class Breach:
    """`attacker` comes closer to what `target` has in `cells` together than the level: on side 1
    from above, on side −1 from below.
    """

    cells: tuple[Key, ...]
    attacker: str
    target: str
    side: int


class Contributors:
    """The cells of a table from its records, and what its contributors know of a pattern."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.inside: dict[Key, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        kept: dict[tuple[Key, str], bool] = defaultdict(bool)
        for record in records:
            for key in record.cells:
                self.inside[key][record.firm] += record.value
                kept[key, record.firm] |= not record.waived
        self.waived = {where for where in kept if not kept[where]}
        rows, columns = (
            [*sorted({getattr(record, name) for record in records}), TOTAL] for name in ("row", "column")
        )
        self.keys = [(row, column) for row in rows for column in columns]
        self.place = {key: i for i, key in enumerate(self.keys)}
        self.values = np.array(
            [sum(self.inside[key].values()) if key in self.inside else 0.0 for key in self.keys]
        )
        self.relations: list[list[Key]] = [[(TOTAL, c), *((r, c) for r in rows[:-1])] for c in columns]
        self.relations += [[(r, TOTAL), *((r, c) for c in columns[:-1])] for r in rows]
        self.A = np.zeros((len(self.relations), len(self.keys)))
        for number, (total, *parts) in enumerate(self.relations):
            self.A[number, self.place[total]] = -1.0
            self.A[number, [self.place[part] for part in parts]] = 1.0

    def alone(self, firm: str) -> list[Key]:
        return [key for key, mine in self.inside.items() if list(mine) == [firm]]

    def sizes(self, cells: Sequence[Key]) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for key in cells:
            for firm, value in self.inside[key].items():
                found[firm] += value
        return found

    def levels(self, cells: Sequence[Key], p: float, q: float = 100.0) -> Iterator[tuple[str, str, float]]:
        """(attacker, target, level) of all ordered pairs that the p% rule names in these cells together."""
        sizes = self.sizes(cells)
        whole = sum(sizes.values())
        for attacker, target in permutations(sorted(sizes), 2):
            if all((key, target) in self.waived for key in cells if target in self.inside[key]):
                continue
            level = p / q * sizes[target] - (whole - sizes[target] - sizes[attacker])
            if level > NEAR * whole:
                yield attacker, target, level

    def reach(
        self, hidden: Mapping[Key, bool], cells: Sequence[Key], attacker: str | None, side: int
    ) -> float:
        """How far the sum of these cells can be from the truth on a side, for who knows what this contributor
        knows.
        """
        known = set(self.alone(attacker)) if attacker else set()
        blank = [hidden[key] and key not in known for key in self.keys]
        bounds = [
            (0.0, None) if unknown else (value, value)
            for unknown, value in zip(blank, self.values, strict=True)
        ]
        cost = np.zeros(len(self.keys))
        cost[[self.place[key] for key in cells]] = -side
        found = linprog(cost, A_eq=self.A, b_eq=np.zeros(len(self.A)), bounds=bounds, method="highs")
        if found.status == 3:
            return np.inf
        assert found.status == 0, found.message
        return -float(found.fun) + float(self.values @ cost)

    def breaches(self, hidden: Mapping[Key, bool], p: float, q: float = 100.0) -> list[Breach]:
        """Every ordered pair of every cell for whom the p% rule is broken."""
        return [breach for key in self.inside for breach in self.of([key], hidden, p, q)]

    def of(
        self, cells: Sequence[Key], hidden: Mapping[Key, bool], p: float, q: float = 100.0
    ) -> list[Breach]:
        whole = sum(self.values[self.place[key]] for key in cells)
        found, known = [], dict[tuple[str, int], float]()
        for attacker, target, level in self.levels(cells, p, q):
            for side, needed in ((1, level), (-1, min(level, whole))):
                if (attacker, side) not in known:
                    known[attacker, side] = self.reach(hidden, cells, attacker, side)
                if known[attacker, side] < needed * (1 - NEAR):
                    found.append(Breach(tuple(cells), attacker, target, side))
        return found

    def sums(self, hidden: Mapping[Key, bool]) -> list[list[Key]]:
        """Sums of hidden cells: the hidden parts of each relation, those of them with one largest
        contributor, all inner cells with one.
        """
        largest = {key: max(mine, key=lambda firm: (mine[firm], firm)) for key, mine in self.inside.items()}
        blank = [[part for part in parts if hidden[part] and part in largest] for _, *parts in self.relations]
        everywhere = [key for key in largest if hidden[key] and TOTAL not in key]
        by_largest = [
            [key for key in cells if largest[key] == firm]
            for cells in (*blank, everywhere)
            for firm in sorted(set(largest.values()))
        ]
        return [cells for cells in (*blank, *by_largest) if len(cells) > 1]
