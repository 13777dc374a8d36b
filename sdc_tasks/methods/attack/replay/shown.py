"""The width that a publication by bases.rule_aware leaves each primary, shown by tables that a
second program can check (METHOD §9).

The tables of W prove how far the audit would let a primary reach; those of S, which keep their levels within
that, are tables for which the publication passes the audit too. Two tables of S that are far apart at a
primary prove its width. All of them are deviations of the hidden cells from the truth. Most tables move a few
cells of a table in the middle, so each one is stored as the difference from a table before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.lp.attacker import Attacker
from sdc_tasks.methods.attack.polyhedron import attack_system, facing
from sdc_tasks.methods.attack.replay.public import Public
from sdc_tasks.methods.attack.replay.residual import ResidualUncertainty, residual_uncertainty
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.witness import Witness, stacked
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import RIDGE, ROUNDING, VIOLATION

LEVELS = (2.5, 5.0, 10.0, 20.0)  # down from a table in the middle: as far as W is asked to reach
BALANCES = 6  # times: each one leaves a small part of what was open


@dataclass(frozen=True)
class Widths:
    """Rows of `table` (tables, hidden cells) are deviations from table `centre[i]`; −1 means the true table.
    `narrow` (primaries,): is left too little, and has a claim. Confidential.
    """

    table: sp.csr_array = field(repr=False)
    centre: Ints = field(repr=False)
    narrow: Bools = field(repr=False)


def without_claim(problem: ProtectionProblem, needs: Requirements, step: Floats, seed: int) -> Bools:
    """(primaries,): the test fails with nothing published, so that no publication can be blamed. It follows
    from public figures. Arguments as of `residual_uncertainty`.
    """
    return residual_uncertainty(
        problem, needs, Publication.nothing(np.flatnonzero(problem.aggregate)), step, seed
    ).narrow


def widths(
    problem: ProtectionProblem,
    needs: Requirements,
    publication: Publication,
    step: Floats,
    seed: int,
    never: Bools,
) -> Widths:
    """What a publication leaves each primary. `never`: `without_claim`; other arguments as of
    `residual_uncertainty`.
    """
    for levels in (
        LEVELS
    ):  # what is printed may differ from what the rule tested, and tell the same: then another W shows it
        found = residual_uncertainty(problem, needs, publication, step, seed, levels)
        if not (found.narrow & ~never).any():
            break
    return Widths(*_tables(problem, needs, publication, found, seed), found.narrow & ~never)


def _tables(
    problem: ProtectionProblem,
    needs: Requirements,
    publication: Publication,
    found: ResidualUncertainty,
    seed: int,
) -> tuple[sp.csr_array, Ints]:
    """The tables of W and of S."""
    window, cells = found.window, np.flatnonzero(problem.suppressed)
    if window is None:
        return sp.csr_array((0, 0)), np.zeros(0, dtype=np.int64)
    reached = replace(needs, down=window.down, up=window.up, slide=np.zeros(len(needs.primaries)))
    middle = replace(Public.of(problem, publication).problem, a=window.middle)
    attacker = Attacker(middle, reached, seed)
    attacker.set_publication(publication)
    attacker.prove_all()
    parts = [(window.middle, [each for _, each in attacker.witnesses()])]
    if window.inside is not None:
        columns = np.searchsorted(cells, needs.primaries)
        parts.append((window.inside, _ends(window.apart, columns, len(cells))))
    rows, centre, balanced = list[Witness](), list[int](), _Balance(problem, publication)
    for truth, tables in parts:
        middle_z, at = balanced((truth - problem.a)[cells]), len(rows)
        rows.append(Witness.of(middle_z, 0, (True, False)))
        for each in _both(tables):
            z = balanced(middle_z + each.dense(len(cells))) - middle_z
            rows.append(
                Witness.of(np.where(np.abs(z) > ROUNDING * (1 + np.abs(middle_z)), z, 0.0), 0, (True, False))
            )
        centre += [-1, *[at] * (len(rows) - at - 1)]
    return stacked(rows), np.array(centre, dtype=np.int64)


class _Balance:
    """Puts what a solver leaves open into the large cells: in the equations, and in the bounds and
    published intervals that it exceeds. It misses little against the largest cell, and a proof must miss
    little against the smallest level.
    """

    def __init__(self, problem: ProtectionProblem, publication: Publication) -> None:
        system = facing(attack_system(problem), problem, publication)
        equal = system.row_lower == system.row_upper
        self._size = 1 + np.abs(problem.a[system.cells])
        self._size /= self._size.max()
        levels = (problem.lpl + problem.upl)[problem.primary]
        self._least = VIOLATION * float(
            levels[levels > 0].min(initial=np.inf)
        )  # noise beside a value of 0 is not put anywhere
        self._rows, self._sums = sp.csr_array(system.A[equal]), system.row_lower[equal] * system.unit
        square = self._rows @ sp.diags_array(self._size**2) @ self._rows.T
        self._factor = sp.linalg.splu(
            sp.csc_array(square + sp.diags_array(RIDGE * square.diagonal()))
        )  # equations may follow from each other
        self._ways = dict[int, Floats]()
        each = sp.eye_array(len(self._size), format="csr")
        self._limits = sp.csr_array(sp.vstack([system.A[~equal], each]))
        self._low = np.concatenate([system.row_lower[~equal], system.lower]) * system.unit
        self._high = np.concatenate([system.row_upper[~equal], system.upper]) * system.unit

    def __call__(self, z: Floats) -> Floats:
        z, kept = self._level(z), np.zeros(len(self._low), dtype=bool)
        for _ in range(BALANCES):
            at = self._limits @ z
            over = np.maximum(self._low - at, at - self._high)
            if not (over > self._least).any():
                break
            kept |= over > self._least
            mine = np.flatnonzero(kept)
            part = sp.csr_array(self._limits[mine])
            push = np.column_stack([self._along(int(each)) for each in mine])
            wanted = np.clip(at[mine], self._low[mine], self._high[mine]) - at[mine]
            z = self._level(z + push @ np.linalg.lstsq(part @ push, wanted, rcond=None)[0])
        return z

    def _level(self, z: Floats) -> Floats:
        """With the equations kept."""
        for _ in range(BALANCES):
            z = z - self._size**2 * (self._rows.T @ self._factor.solve(self._rows @ z - self._sums))
        return z

    def _along(self, limit: int) -> Floats:
        """(cells,): the way to a limit, as far as the equations allow, and most of it in the large
        cells. Many tables exceed one limit.
        """
        if limit not in self._ways:
            way = self._size**2 * self._limits[[limit]].toarray()[0]
            for _ in range(BALANCES):
                way -= self._size**2 * (self._rows.T @ self._factor.solve(self._rows @ way))
            self._ways[limit] = way
        return self._ways[limit]


def _both(tables: Sequence[Witness]) -> list[Witness]:
    """The tables, and the mirror images of those that have one."""
    plain = [each for each in tables if each.sound[0]]
    return plain + [replace(each, value=-each.value) for each in tables if each.sound[1]]


def _ends(tables: Sequence[Witness], columns: Ints, n: int) -> list[Witness]:
    """The tables in which some primary is lowest or highest."""
    if not tables:
        return []
    both = _both(tables)
    value = np.array([each.dense(n)[columns] for each in both])
    kept: Bools = np.zeros(len(both), dtype=bool)
    kept[np.concatenate([value.argmin(axis=0), value.argmax(axis=0)])] = True
    return [replace(each, sound=(True, False)) for each, mine in zip(both, kept, strict=True) if mine]
