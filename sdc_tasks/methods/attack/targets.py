"""The questions for a prover: one side of one requirement each, at its place in a
polyhedron. Targets are immutable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdc_tasks.methods.attack.polyhedron import Polyhedron
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.model.table import Bools, Floats, Ints

DOWN, UP, SLIDE = -1, 1, 0
SIDES = {DOWN: "down", UP: "up", SLIDE: "slide"}


@dataclass(frozen=True, repr=False)
class Targets:
    """Arrays with one entry for each target: its `row` in the requirements, its `cell` and `side`, its `need`
    in the unit of the polyhedron, and the `column` of its cell in z. There z = `sign`·u[`core`]; `sign` is 0
    if the national relations fix the cell.
    """

    row: Ints
    cell: Ints
    side: Ints
    need: Floats
    column: Ints
    core: Ints
    sign: Floats

    @classmethod
    def of(cls, needs: Requirements, polyhedron: Polyhedron, row: Ints, side: Ints, need: Floats) -> Targets:
        cell = needs.primaries[row]
        column = polyhedron.columns_of(cell)
        return cls(row, cell, side, need, column, *polyhedron.place(column))

    def __len__(self) -> int:
        return len(self.row)

    def pushable(self, bounds: tuple[Floats, Floats]) -> Bools:
        """(targets,): whether a joint push within these bounds of u can serve the target. A sliding level is
        pushed only if its row has no other target: otherwise these targets prove it on the way.
        """
        lone = ~np.isin(self.row, self.row[self.side != SLIDE])
        return np.asarray(
            ((self.side != SLIDE) | lone) & (self.sign != 0) & (bounds[0] < bounds[1])[self.core]
        )

    def push(
        self, which: Ints, core: Ints, bounds: tuple[Floats, Floats], least: float, rng: np.random.Generator
    ) -> Push:
        """Pushes these targets at once, each in the sense that serves it; the sense is
        random if both senses serve a target.

        `core`: the columns of the targets among the columns of `bounds`. Cells that are tied to each other
        move together: as far as the largest of their needs (at least `least`), and no further.
        """
        n = len(bounds[0])
        rise, fall = np.zeros(n), np.zeros(n)
        direction = self.side[which] * self.sign[which]
        for way, target in ((UP, rise), (DOWN, fall)):
            chosen = (direction == way) | (self.side[which] == SLIDE)
            np.maximum.at(target, core[chosen], self.need[which[chosen]])
        sense = np.where(
            (rise > 0) & (fall > 0),
            rng.choice([DOWN, UP], n),
            np.where(rise > 0, UP, np.where(fall > 0, DOWN, 0)),
        )
        need = np.maximum(np.where(sense == UP, rise, fall), least)
        lower = np.where(sense == DOWN, np.maximum(bounds[0], -need), bounds[0])
        upper = np.where(sense == UP, np.minimum(bounds[1], need), bounds[1])
        return Push(-sense / need, lower, upper)


@dataclass(frozen=True, repr=False)
class Push:
    """A joint push as a linear program: min `cost`·u within the bounds `lower`, `upper`."""

    cost: Floats
    lower: Floats
    upper: Floats


def mirrored(bounds: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The largest box within these bounds that holds the mirror image of each of its points."""
    return np.maximum(bounds[0], -bounds[1]), np.minimum(bounds[1], -bounds[0])
