"""The exact set of counts that each published cell may have: every value with a witness, and no other.

A witness is a true table, a whole number for each inner cell, that can have been published as this one: each
cell's count is one of its origins, and cells with the same records are published alike (`audit.py`). For each
value of each cell a depth-first search finds one or proves that there is none: bounds go through all
relations, then the range of an inner cell is halved. All in whole numbers; work is counted, so that the same
table gives the same answer on every machine. Hard values get more of it in later rounds, when the easy ones
are decided: one hard value takes nothing from them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sdc_tasks.methods.perturb.audit import CountBounds
from sdc_tasks.methods.perturb.grid import HIDDEN, PublishedGrid
from sdc_tasks.methods.perturb.ptable import PerturbationTable

MOST_EXACT = 250  # cells of a grid that is enumerated unless somebody asks for it: tens of seconds
WORK = 30_000  # looks at a cell, for each cell of the grid
FIRST_WORK = 20_000  # looks at a cell, in the search for one value in the first round
MORE_WORK = 8  # times as many in each next round
WALKS = 30  # witnesses from which a next one is sought by single steps


@dataclass(frozen=True)
class PossibleCounts:
    """`counts[c]`: the counts that published cell c may have, increasing; none for a hidden cell.
    `undecided`: the cells with a value for which the work ran out: it is among their counts, though it may be
    impossible. These cells are judged by bounds, all others exactly.
    """

    counts: tuple[tuple[int, ...], ...] = field(repr=False)
    undecided: frozenset[int]


@dataclass(frozen=True)
class AdditiveCells:
    """The cells of a grid, by number: `relations` (total, its parts), the finest `inner` cells, and what is
    `published`, HIDDEN where nothing is.
    """

    relations: tuple[tuple[int, tuple[int, ...]], ...] = field(repr=False)
    inner: tuple[int, ...] = field(repr=False)
    published: tuple[int, ...] = field(repr=False)

    @cached_property
    def touching(self) -> dict[int, list[int]]:
        """Cell → the relations that it stands in."""
        found: dict[int, list[int]] = defaultdict(list)
        for r, (total, parts) in enumerate(self.relations):
            for cell in (total, *parts):
                found[cell].append(r)
        return dict(found)

    @cached_property
    def members(self) -> tuple[frozenset[int], ...]:
        """The inner cells of each cell."""
        parts, found = dict(self.relations), {cell: frozenset({cell}) for cell in self.inner}

        def of(cell: int) -> frozenset[int]:
            if cell not in found:
                found[cell] = frozenset().union(*(of(part) for part in parts[cell]))
            return found[cell]

        return tuple(of(cell) for cell in range(len(self.published)))

    @cached_property
    def differing(self) -> tuple[tuple[int, ...], ...]:
        """Of each relation, the parts that are published unlike its total: somebody is outside of each."""
        y = self.published
        return tuple(
            tuple(i for i in parts if HIDDEN not in (y[i], y[total]) and y[i] != y[total])
            for total, parts in self.relations
        )


def additive_cells(grid: PublishedGrid) -> AdditiveCells:
    """The relations of a grid one by one."""
    numbers = np.arange(len(grid.published))
    relations: list[tuple[int, tuple[int, ...]]] = []
    for edge in grid.edges:
        fine, coarse = grid.blocks[edge.fine], grid.blocks[edge.coarse]
        parts = np.moveaxis(numbers[fine.cells].reshape(fine.shape), edge.axis, -1)
        totals = numbers[coarse.cells].reshape(coarse.shape)
        if edge.codes is None:
            rows = parts.reshape(-1, fine.shape[edge.axis]).tolist()
            relations += [
                (total, tuple(row)) for total, row in zip(totals.ravel().tolist(), rows, strict=True)
            ]
            continue
        totals = np.moveaxis(totals, edge.axis, -1).reshape(-1, coarse.shape[edge.axis])
        for code in range(coarse.shape[edge.axis]):
            own = parts.reshape(-1, fine.shape[edge.axis])[:, edge.codes == code].tolist()
            relations += [
                (total, tuple(row)) for total, row in zip(totals[:, code].tolist(), own, strict=True)
            ]
    inner = tuple(sorted(set(numbers.tolist()) - {total for total, _ in relations}))
    return AdditiveCells(tuple(relations), inner, tuple(grid.published.tolist()))


def possible_values(bounds: CountBounds, table: PerturbationTable, work: int = WORK) -> PossibleCounts:
    """For every published cell of a grid. `bounds`: those that `narrowed` found, or wider ones; `work`: looks
    at a cell, for each cell of the grid.
    """
    cells = additive_cells(bounds.grid)
    rules = WitnessRules.of(cells, table)
    low, high = bounds.low.tolist(), bounds.high.tolist()
    waiting, most = _within(rules.origins, low, high), FIRST_WORK
    in_all = Looks(work * len(cells.published))
    rounds = _Rounds(rules, low, high, in_all)
    while waiting and not in_all.is_out:
        waiting, most = rounds.next(waiting, most), most * MORE_WORK
    seen = rounds.seen
    open_values = [(cell, count) for cell, count in waiting if count not in seen[cell]]
    for cell, count in open_values:
        seen[cell].add(count)
    counts = tuple(
        tuple(sorted(own)) if there is not None else ()
        for own, there in zip(seen, rules.origins, strict=True)
    )
    return PossibleCounts(counts, frozenset(cell for cell, _ in open_values))


def _within(
    origins: Sequence[frozenset[int] | None], low: Sequence[int], high: Sequence[int]
) -> list[tuple[int, int]]:
    """(cell, count) for each count that a published cell may have by its value and its bounds."""
    return [
        (cell, count)
        for cell, allowed in enumerate(origins)
        for count in sorted(allowed or ())
        if low[cell] <= count <= high[cell]
    ]


class _Rounds:
    """Rounds of searches for witnesses. `seen[c]`: the counts of cell c that some witness has."""

    def __init__(self, rules: WitnessRules, low: list[int], high: list[int], in_all: Looks) -> None:
        self._rules, self._low, self._high, self._in_all = rules, low, high, in_all
        self._last: deque[list[int]] = deque(maxlen=WALKS)
        self.seen: list[set[int]] = [set() for _ in low]

    def next(self, waiting: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
        """Searches for each (cell, count) with so many looks at most; those for which these ran out."""
        hard = []
        # a walk is short, and what it did not find once it seldom finds later
        starts = self._last if most == FIRST_WORK else ()
        for cell, count in waiting:
            if count in self.seen[cell]:
                continue
            witness = _walked(self._rules, self._in_all, starts, (cell, count))
            own = Looks(min(most, self._in_all.left))
            if witness is None:
                witness = _Search(self._rules, own).with_count(self._low, self._high, cell, count)
                self._in_all.spend(own.done)
            if witness is not None:
                self._add(witness)
            elif own.is_out:
                hard.append((cell, count))
        return hard

    def _add(self, witness: list[int]) -> None:
        self._last.appendleft(witness)
        for cell, value in enumerate(witness):
            self.seen[cell].add(value)


@dataclass
class Looks:
    """Looks at a cell, a part of a relation or an inner cell that a walk would move: `done` of `most`."""

    most: int
    done: int = 0

    def spend(self, looks: int) -> None:
        self.done += looks

    @property
    def left(self) -> int:
        """What is not done yet."""
        return max(0, self.most - self.done)

    @property
    def is_out(self) -> bool:
        """Whether there is none left."""
        return self.left == 0


def _walked(
    rules: WitnessRules, work: Looks, starts: Iterable[Sequence[int]], value: tuple[int, int]
) -> list[int] | None:
    """A witness in which a cell has a count, some steps away from one that is known."""
    for start in starts:
        if work.is_out:
            return None
        if (found := rules.walked(start, *value, work)) is not None:
            return found
    return None


@dataclass(frozen=True)
class WitnessRules:
    """What makes a table a witness. `origins[c]`: the counts of published cell c that its value leaves, None
    for a hidden cell.
    """

    cells: AdditiveCells
    origins: Sequence[frozenset[int] | None] = field(repr=False)

    @classmethod
    def of(cls, cells: AdditiveCells, table: PerturbationTable) -> WitnessRules:
        """Those of cells that were published by this table."""
        origins = [None if y == HIDDEN else frozenset(table.origins(y).tolist()) for y in cells.published]
        return cls(cells, origins)

    @cached_property
    def above(self) -> dict[int, list[int]]:
        """Inner cell → the cells that it is in, itself too."""
        found: dict[int, list[int]] = {cell: [] for cell in self.cells.inner}
        for cell, members in enumerate(self.cells.members):
            for i in members:
                found[i].append(cell)
        return found

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """The inner cells of each cell, as bits."""
        place = {cell: bit for bit, cell in enumerate(self.cells.inner)}
        return tuple(sum(1 << place[i] for i in members) for members in self.cells.members)

    def is_witness(self, values: Sequence[int]) -> bool:
        """Whether a whole additive table can have been published so."""
        filled = sum(1 << bit for bit, i in enumerate(self.cells.inner) if values[i] > 0)
        alike: dict[int, int] = {}
        for value, allowed, mask, y in zip(
            values, self.origins, self.masks, self.cells.published, strict=True
        ):
            if allowed is None:
                continue
            records = mask & filled
            if value not in allowed or (records and alike.setdefault(records, y) != y):
                return False
        return True

    def walked(self, start: Sequence[int], cell: int, count: int, work: Looks) -> list[int] | None:
        """A witness with this count of a cell, some single steps away from another one; None where the steps
        find none, which proves nothing.
        """
        values = list(start)
        members = sorted(self.cells.members[cell])
        while values[cell] != count:
            way = 1 if values[cell] < count else -1
            # the fullest first where it loses, the emptiest first where it gains: fewest become empty
            turn = sorted(members, key=lambda i: way * values[i])
            if not any(
                self._stepped(values, i, way, work) or self._swapped(values, cell, i, way, work) for i in turn
            ):
                return None
        return values if self.is_witness(values) else None

    def _stepped(self, values: list[int], inner: int, way: int, work: Looks) -> bool:
        """Moves an inner cell and all cells that it is in by one, if they may; in place."""
        work.spend(1)
        if values[inner] + way < 0 or any(
            (allowed := self.origins[c]) is not None and values[c] + way not in allowed
            for c in self.above[inner]
        ):
            return False
        for c in self.above[inner]:
            values[c] += way
        return True

    def _swapped(self, values: list[int], cell: int, inner: int, way: int, work: Looks) -> bool:
        """The same, while another inner cell outside of the cell moves the other way, in place."""
        inside = self.cells.members[cell]
        for other in self.cells.inner:
            if work.is_out:
                break
            if other in inside:
                continue
            work.spend(1)
            before = values.copy()
            for c in self.above[other]:
                values[c] -= way
            if values[other] >= 0 and self._stepped(values, inner, way, work) and self._fits(values, other):
                return True
            values[:] = before
        return False

    def _fits(self, values: Sequence[int], inner: int) -> bool:
        """Whether the cells that an inner cell is in may have these values."""
        return all((allowed := self.origins[c]) is None or values[c] in allowed for c in self.above[inner])


class _Search:
    """One depth-first search, which ends without an answer where the work is out."""

    def __init__(self, rules: WitnessRules, work: Looks) -> None:
        self._rules, self._cells, self._work = rules, rules.cells, work

    def with_count(self, low: list[int], high: list[int], cell: int, count: int) -> list[int] | None:
        """A witness (cells,) in which one cell has this count; None where there is none or work ran out."""
        start = low.copy(), high.copy()
        start[0][cell] = start[1][cell] = count
        waiting = [(*start, self._cells.touching.get(cell, []))]
        while waiting and not self._work.is_out:
            lows, highs, changed = waiting.pop()
            if not self._taken_through(lows, highs, changed):
                continue
            open_cells = [i for i in self._cells.inner if lows[i] < highs[i]]
            if not open_cells:
                if self._rules.is_witness(lows):
                    return lows
                continue
            halved = min(open_cells, key=lambda i: (highs[i] - lows[i], i))
            waiting += list(self._halves(lows, highs, halved))
        return None

    def _halves(
        self, lows: list[int], highs: list[int], cell: int
    ) -> Iterator[tuple[list[int], list[int], list[int]]]:
        """The two problems with the lower and the upper half of the range of a cell."""
        middle = (lows[cell] + highs[cell]) // 2
        touching = self._cells.touching.get(cell, [])
        below = highs.copy()
        below[cell] = middle
        above = lows.copy()
        above[cell] = middle + 1
        yield lows.copy(), below, touching
        yield above, highs.copy(), touching

    def _taken_through(self, low: list[int], high: list[int], changed: Sequence[int]) -> bool:
        """Takes bounds through the relations until none moves, in place; False where one is empty."""
        queue, queued = deque(changed), set(changed)
        relations, touching = self._cells.relations, self._cells.touching
        while queue:
            r = queue.popleft()
            queued.discard(r)
            self._work.spend(1 + len(relations[r][1]))
            if self._work.is_out:
                return False
            moved = self._narrowed(low, high, r)
            if moved is None:
                return False
            for i in moved:
                for other in touching[i]:
                    if other not in queued:
                        queued.add(other)
                        queue.append(other)
        return True

    def _narrowed(self, low: list[int], high: list[int], relation: int) -> list[int] | None:
        """Takes bounds through one relation, in place: the cells whose bounds moved; None where one is
        empty.
        """
        (total, parts), differing = self._cells.relations[relation], self._cells.differing[relation]
        lows, highs = sum(low[i] for i in parts), sum(high[i] for i in parts)
        moved = []
        least, most = max(low[total], lows), min(high[total], highs)
        least = max([least, *(low[i] + 1 for i in differing)])
        if least > most:
            return None
        if (least, most) != (low[total], high[total]):
            low[total], high[total] = least, most
            moved.append(total)
        apart = set(differing)
        for i in parts:
            over = max(low[i], least - (highs - high[i]))
            under = min(high[i], most - (lows - low[i]), most - (i in apart))
            for other in differing:  # somebody is in a part other than this one
                if other != i:
                    over = max(over, 1 - (highs - high[other] - high[i]))
            if over > under:
                return None
            if (over, under) != (low[i], high[i]):
                lows += over - low[i]
                highs += under - high[i]
                low[i], high[i] = over, under
                moved.append(i)
        return moved
