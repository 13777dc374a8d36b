"""Witness-guided search: safe bases of a large table, grown from witnesses of its requirements (METHOD §4).

Attack and repair take too long where the table is large: an LP takes seconds, and thousands are needed. This
search makes no attack. A publication is safe if each side of each requirement has a witness: a table that
fits the publication and in which the cell lies its level away. So witnesses are collected, and each aggregate
cell is published in the finest interval that all of them fit:

1. With all aggregates exact, joint LPs over parts of the table find witnesses of most requirements.
2. Each remaining requirement gets a witness of its own: the one with the least additional loss
   (`attack/lp/elastic.py`), first in a part of the table, then in its country. The intervals grow until this
   table fits as well as all earlier ones. Each time half of the requirements are proven, joint LPs try the
   rest, as long as that pays. An LP that takes many iterations is postponed: later witnesses may prove its
   requirement.
3. Cells are lowered, those with the largest loss first: witnesses that need more than the lower interval are
   dropped, and requirements that only they proved get other witnesses. The change is kept if it loses less.
   This ends after a counted number of LPs, and the choice is safe at any time.

Every witness is checked by plain arithmetic. Requirements without a witness are left to attack and repair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.polyhedron import AttackSystem
from sdc_tasks.methods.attack.prover import FOR_ALL
from sdc_tasks.methods.attack.targets import SLIDE
from sdc_tasks.methods.attack.witness import Witness
from sdc_tasks.methods.bases.ladder import Ladder
from sdc_tasks.model.progress import Progress, Say
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, IMPROVEMENT, ROUNDING, SAME

MOST_BARE = 40  # requirements that get other tables when a cell is lowered
STEPS = (1_000, None)  # of an LP for one requirement, in turn: later tables may show what takes many
BEYOND = 1e30  # stands for the slack of a withheld cell


@dataclass(frozen=True, repr=False)
class FittingTable:
    """A table, in the units of the prover of this number, and the targets that it shows. `cells`, `move`: the
    aggregate cells that it moves, as positions in the publication, and how far, in the unit of the data.
    """

    prover: int
    columns: Ints
    value: Floats
    targets: Ints
    cells: Ints
    move: Floats

    def dense(self, width: int) -> Floats:
        """All deviations."""
        z = np.zeros(width)
        z[self.columns] = self.value
        return z


@dataclass(frozen=True, repr=False)
class Grown:
    """A choice, and how it came about: the LPs for single targets, and how many targets no table shows."""

    choice: Ints
    lps: int
    left: int


class WitnessGuidedSearch:
    """The state of the search. `choice` is the finest one, nowhere below `lowest`, that all `tables` fit."""

    def __init__(self, attacker: Attacker, ladder: Ladder, lowest: Ints, progress: Say) -> None:
        self._ladder, self._lowest, self._say = ladder, lowest, progress
        self._provers = attacker.provers
        self._aggregate_rows = [_AggregateRows.of(prover.system) for prover in self._provers]
        self._allowed = np.isfinite(ladder.loss) & (np.arange(ladder.loss.shape[1]) >= lowest[:, None])
        self._elastic = [prover.elastic() for prover in self._provers]
        self._covers = [np.zeros(len(prover.targets), dtype=np.int64) for prover in self._provers]
        self._last = ladder.loss.shape[1] - 1 - np.isfinite(ladder.loss[:, ::-1]).argmax(axis=1)
        self._tables = list[FittingTable]()
        self._never = set[tuple[int, int]]()  # targets that no table shows
        self._low, self._high = np.zeros(len(lowest)), np.zeros(len(lowest))
        self.choice = lowest
        attacker.set_publication(
            ladder.publication(lowest)
        )  # forgets what was shown against an earlier publication
        for prover, elastic in zip(self._provers, self._elastic, strict=True):
            elastic.set_system(prover.system)

    def run(self, steps: int) -> Grown:
        """The three steps. `steps`: LPs of the third one."""
        for number in range(len(self._provers)):
            self._show_jointly(number)
        self._say(
            f"bases: {self._open} requirements are left after joint searches in parts, with all aggregates "
            f"exact"
        )
        self._show_each()
        self._never = {
            (number, int(target))
            for number, covers in enumerate(self._covers)
            for target in np.flatnonzero(covers == 0)
        }
        self._left = len(self._never)
        self._say(
            f"bases: all but {self._open} requirements are shown after {self.lps} LPs; lost: "
            f"{self._ladder.loss_for_log(self.choice)}"
        )
        self._lower_each(self.lps + steps)
        self._say(f"bases: lost after {self.lps} LPs: {self._ladder.loss_for_log(self.choice)}")
        for number, prover in enumerate(self._provers):
            prover.keep(self._packed(number))
        return Grown(self.choice, self.lps, self._open)

    @property
    def lps(self) -> int:
        """LPs for tables of single targets so far."""
        return sum(elastic.solves for elastic in self._elastic)

    @property
    def _open(self) -> int:
        return sum(int((covers == 0).sum()) for covers in self._covers)

    # --- tables ---------------------------------------------------------------------------------------------

    def _take(self, number: int, z: Floats, sound: tuple[bool, bool]) -> None:
        """Takes a table and its mirror image, as far as they fit and show something new."""
        for point, fits in zip((z, -z), sound, strict=True):
            if fits and (self._covers[number][(shown := self._shown(number, point)).targets] == 0).any():
                self._add(shown)

    def _shown(self, number: int, z: Floats) -> FittingTable:
        targets, aggregates, unit = (
            self._provers[number].targets,
            self._aggregate_rows[number],
            self._provers[number].system.unit,
        )
        met = (targets.side != SLIDE) & (targets.side * z[targets.column] >= targets.need * (1 - FEASIBILITY))
        move = aggregates.rows @ z
        # a table may miss an interval by half of what a witness may
        moved, columns = np.flatnonzero(np.abs(move) > FEASIBILITY / 2), np.flatnonzero(z)
        far = np.sign(move[moved]) * (np.abs(move[moved]) - FEASIBILITY / 2) * unit
        return FittingTable(number, columns, z[columns], np.flatnonzero(met), aggregates.cells[moved], far)

    def _add(self, shown: FittingTable) -> None:
        self._tables.append(shown)
        self._covers[shown.prover][shown.targets] += 1
        np.minimum.at(self._low, shown.cells, shown.move)
        np.maximum.at(self._high, shown.cells, shown.move)

    def _fit(self) -> Ints:
        """The finest choice that all tables fit; the coarsest allowed one where there is none."""
        far = np.flatnonzero((self._low < 0) | (self._high > 0))
        choice = self._lowest.copy()
        choice[far] = self._finest(far, -self._low[far], self._high[far])
        return choice

    def _finest(self, cells: Ints, low: Floats, high: Floats) -> Ints:
        """The finest allowed option of each cell, nowhere below the lowest, whose interval reaches so far
        down and up; the last one if there is none.
        """
        ladder = self._ladder
        fits = (ladder.low[cells] >= low[:, None] * (1 - ROUNDING)) & (
            ladder.high[cells] >= high[:, None] * (1 - ROUNDING)
        )
        fits &= self._allowed[cells]
        return np.asarray(np.where(fits.any(axis=1), fits.argmax(axis=1), self._last[cells]))

    def _set_choice(self, choice: Ints) -> None:
        """Faces the publication of a choice that all tables fit."""
        self.choice = choice
        publication = self._ladder.publication(choice)
        for prover, elastic in zip(self._provers, self._elastic, strict=True):
            prover.shift(publication)
            elastic.set_system(prover.system)

    # --- a table for each requirement -----------------------------------------------------------------------

    def _show_jointly(self, number: int) -> bool:
        """Takes what joint LPs in parts show of a prover, within the present intervals. Returns whether
        they showed more than one each.
        """
        prover, before, solved = self._provers[number], self._open, self._provers[number].solves
        for witness in prover.propose_in_parts():
            self._take(number, witness.dense(prover.width), witness.sound)
        return before - self._open > prover.solves - solved

    def _show_each(self) -> None:
        """Each time half of what is left of a prover is shown, joint LPs look at the rest, as long as this
        pays: intervals that have grown have room for more.
        """
        work, targets = Progress(self._say, "bases"), sum(map(len, self._covers))
        pays = [True] * len(self._provers)
        for steps in STEPS:
            for number in range(len(self._provers)):
                pays[number] = pays[number] and self._show_jointly(number)
                while self._show_some(
                    number,
                    steps,
                    pays[number],
                    lambda: work.tell(targets - self._open, targets, "requirements shown"),
                ):
                    pays[number] = self._show_jointly(number)

    def _show_some(self, number: int, steps: int | None, half: bool, tell: Callable[[], None]) -> bool:
        """Shows targets of a prover one by one: `half` of those that are open, or all.
        Returns whether it stopped half-way.
        """
        prover, first, stop = self._provers[number], len(self._tables), False
        order = np.argsort(-prover.targets.need, kind="stable")
        left = order[self._covers[number][order] == 0]
        for target in left.tolist():
            if not self._covers[number][target]:
                self._show(number, target, steps)
                tell()
                stop = half and 2 * int((self._covers[number] == 0).sum()) <= len(left)
            if stop:
                break
        prover.recount((table.dense(prover.width) for table in self._tables[first:]), 0)
        return stop

    def _show(self, number: int, target: int, steps: int | None, capped: int = -1) -> bool:
        """Finds the table of a target that asks for least, and grows the intervals to it; the cell `capped`
        does not grow. No LP takes more than so many `steps`.
        """
        prover = self._provers[number]
        targets, system = prover.targets, prover.system
        if targets.sign[target] == 0 or targets.side[target] == SLIDE:
            return False
        way, need = float(targets.side[target] * targets.sign[target]), float(targets.need[target])
        for part in self._elastic[number].around(int(targets.core[target])):
            u = part.reach(
                int(targets.core[target]),
                way,
                need,
                *self._prices(part.aggregates, need * system.unit, capped),
                steps,
            )
            if u is None:
                continue
            z, before = system.R @ u, self._state()
            self._add(self._shown(number, z))
            self._set_choice(self._fit())
            fits = prover.system.are_witnesses(z)
            if fits[0] and self._covers[number][target]:
                self._take(number, z, (False, fits[1]))
                return True
            self._restore(before)
        return False

    def _prices(self, cells: Ints, far: float, capped: int) -> tuple[Floats, Floats]:
        """What more slack of these cells costs, below and above, if a cell that needs any needs `far`;
        ∞ where there is none to be had.
        """
        ladder, now = self._ladder, self.choice[cells]
        low, high = np.minimum(ladder.low[cells, now], BEYOND), np.minimum(ladder.high[cells, now], BEYOND)
        prices = []
        for below in (True, False):
            # the next option has more slack than the present one
            more = (
                np.maximum(far - self._low[cells], low * (1 + SAME))
                if below
                else np.maximum(far + self._high[cells], high * (1 + SAME))
            )
            wanted = (more, self._high[cells]) if below else (-self._low[cells], more)
            option = self._finest(cells, *wanted)
            enough = (ladder.low[cells, option] >= wanted[0]) & (ladder.high[cells, option] >= wanted[1])
            dearer = np.maximum(ladder.loss[cells, option] - ladder.loss[cells, now], 0.0)
            prices.append(np.where(enough & (cells != capped), dearer, np.inf))
        return prices[0], prices[1]

    # --- lower cells ----------------------------------------------------------------------------------------

    def _lower_each(self, most: int) -> None:
        """Lowers cells until `most` LPs are solved, or no cell can be lowered."""
        work, began, rows, gained = Progress(self._say, "bases"), self.lps, np.arange(len(self.choice)), True
        while gained:
            gained = False
            order = np.argsort(-self._ladder.loss[rows, self.choice], kind="stable")
            for k in order[self.choice[order] > self._lowest[order]].tolist():
                options = dict.fromkeys((int(self._lowest[k]), int(self.choice[k]) - 1))
                for option in options:
                    if self.choice[k] > option and self._allowed[k, option] and self._lowered(k, option):
                        gained = True
                        break
                    if self.lps >= most:
                        return
                work.tell(self.lps - began, most - began, "linear programs to lower cells solved at most")

    def _uncovered(self, gone: Bools) -> list[tuple[int, int]]:
        """Takes these tables out of the covers; the targets (prover, target) that no other table shows."""
        self._covers = [covers.copy() for covers in self._covers]
        for i in np.flatnonzero(gone).tolist():
            self._covers[self._tables[i].prover][self._tables[i].targets] -= 1
        return [
            (number, int(target))
            for number, covers in enumerate(self._covers)
            for target in np.flatnonzero(covers <= 0)
        ]

    def _lowered(self, k: int, option: int) -> bool:
        """Lowers a cell to this option, and gives other tables to what only tables beyond it
        show. Does so only if it loses less.
        """
        before, loss = self._state(), self._ladder.loss_of(self.choice)
        entries = self._entries()
        at = entries.cell == k
        beyond = (-entries.move[at] > self._ladder.low[k, option]) | (
            entries.move[at] > self._ladder.high[k, option]
        )
        gone = np.zeros(len(self._tables), dtype=bool)
        gone[entries.table[at][beyond]] = True
        bare = self._uncovered(gone)
        if len(bare) - self._left > MOST_BARE:
            self._restore(before)
            return False
        self._tables = [table for table, out in zip(self._tables, gone.tolist(), strict=True) if not out]
        kept = ~gone[entries.table]
        self._low, self._high = np.zeros(len(self._low)), np.zeros(len(self._high))
        np.minimum.at(self._low, entries.cell[kept], entries.move[kept])
        np.maximum.at(self._high, entries.cell[kept], entries.move[kept])
        choice = self._fit()
        choice[k] = option
        self._set_choice(choice)
        for number, target in sorted(
            bare,
            key=lambda each: (
                -self._provers[each[0]].targets.need[each[1]] * self._provers[each[0]].system.unit,
                each,
            ),
        ):
            if self._covers[number][target] or (number, target) in self._never:
                continue
            if not self._show(number, target, STEPS[0], capped=k) or self._ladder.loss_of(
                self.choice
            ) >= loss * (1 - IMPROVEMENT):
                self._restore(before)
                return False
        self._set_choice(self._fit())
        if self._ladder.loss_of(self.choice) >= loss * (1 - IMPROVEMENT):
            self._restore(before)
            return False
        return True

    def _entries(self) -> _Entries:
        sizes = [len(table.cells) for table in self._tables]
        return _Entries(
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([np.zeros(0, dtype=np.int64), *(table.cells for table in self._tables)]),
            np.concatenate([np.zeros(0), *(table.move for table in self._tables)]),
        )

    def _state(self) -> _State:
        return _State(
            list(self._tables),
            [covers.copy() for covers in self._covers],
            self._low.copy(),
            self._high.copy(),
            self.choice,
        )

    def _restore(self, state: _State) -> None:
        self._tables, self._low, self._high = list(state.tables), state.low.copy(), state.high.copy()
        self._covers = [covers.copy() for covers in state.covers]
        self._set_choice(state.choice)

    # --- tables for the audit -------------------------------------------------------------------------------

    def _packed(self, number: int) -> list[Witness]:
        """The tables of a prover, those of different places added up: a few tables that show the same."""
        prover, packs = self._provers[number], list[_Pack]()
        mine = sorted(
            (table for table in self._tables if table.prover == number), key=lambda table: -len(table.columns)
        )
        for table in mine:
            pack = next((pack for pack in packs if pack.takes(table, self._ladder, self.choice)), None)
            if pack is None:
                packs.append(pack := _Pack(prover.width, len(self.choice)))
            pack.put(table)
        witnesses = []
        for pack in packs:
            sound = prover.system.are_witnesses(pack.z)
            whole = (
                [(pack.z, sound)]
                if sound[0]
                else [(z := each.dense(prover.width), prover.system.are_witnesses(z)) for each in pack.tables]
            )
            witnesses += [Witness.of(z, FOR_ALL, fits) for z, fits in whole]
        return witnesses


@dataclass(frozen=True, repr=False)
class _State:
    tables: list[FittingTable]
    covers: list[Ints]
    low: Floats
    high: Floats
    choice: Ints


@dataclass(frozen=True, repr=False)
class _Entries:
    """The moves of all tables: the number of the table, the aggregate cell, the move."""

    table: Ints
    cell: Ints
    move: Floats


@dataclass(frozen=True, repr=False)
class _AggregateRows:
    """The rows of a polyhedron that give the moves of aggregate `cells`."""

    rows: sp.csr_array
    cells: Ints

    @classmethod
    def of(cls, system: AttackSystem) -> _AggregateRows:
        at = np.flatnonzero(system.decided >= 0)
        return cls(sp.csr_array(system.A[at]), system.decided[at])


class _Pack:
    """Tables of different places, added up."""

    def __init__(self, width: int, aggregates: int) -> None:
        self.z, self.tables = np.zeros(width), list[FittingTable]()
        self._moves = np.zeros(aggregates)

    def takes(self, table: FittingTable, ladder: Ladder, choice: Ints) -> bool:
        if self.z[table.columns].any():
            return False
        move, at = self._moves[table.cells] + table.move, (table.cells, choice[table.cells])
        return bool((move >= -ladder.low[at]).all() and (move <= ladder.high[at]).all())

    def put(self, table: FittingTable) -> None:
        self.z[table.columns] = table.value
        self._moves[table.cells] += table.move
        self.tables.append(table)
