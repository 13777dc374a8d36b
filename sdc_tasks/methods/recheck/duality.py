"""Exposure shown: the most that an attacker's uncertainty can be, by weak duality."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.recheck.knowledge import Known
from sdc_tasks.methods.recheck.tolerance import FAR
from sdc_tasks.methods.recheck.world import World
from sdc_tasks.model.results import Multipliers
from sdc_tasks.model.table import Floats, Ints


def bounds(
    world: World, tied: sp.csr_array, proofs: Multipliers, number: int, primaries: Ints, known: Known
) -> Iterator[tuple[int, float, slice | int]]:
    """(entry, most that the attacker's uncertainty can be, whose) of the proofs of one profile."""
    core = sp.csr_array(world.A @ tied)
    for i in np.flatnonzero(proofs.profile == number).tolist():
        far = FAR * float(proofs.unit[i])
        lower, upper = np.maximum(world.lower, -far), np.minimum(world.upper, far)
        knower = int(proofs.knower[i])
        if known.alone:
            told = np.arange(len(known.cells)) == knower
        else:
            told = known.owner != known.victim[np.searchsorted(primaries, proofs.cell[i])]
        k = np.searchsorted(world.cells, known.cells[told])
        lower[k], upper[k] = np.maximum(lower[k], known.lower[told]), np.minimum(upper[k], known.upper[told])
        p = tied[[int(np.searchsorted(world.cells, proofs.cell[i]))]]
        span = np.arange(proofs.start[i], proofs.start[i + 1])
        side, split = int(proofs.side[i]), int(proofs.split[i])
        halves = [(side, span)] if side else [(-1, span[:split]), (1, span[split:])]
        room = _room(tied, lower, upper)
        bound = sum(_bound(world, core, way * p, room, proofs.row[part], proofs.value[part]) for way, part in halves)
        yield i, bound, knower if known.alone and knower >= 0 else slice(None)


def _bound(world: World, core: sp.csr_array, cost: sp.csr_array, room: tuple[Floats, Floats], rows: Ints, y: Floats) -> float:
    """The weak dual bound on max cost·u."""
    ends = np.where(y > 0, world.high[rows], world.low[rows])
    if np.isinf(ends).any():
        return np.inf
    left = cost.toarray().ravel() - np.asarray(core[rows].T @ y).ravel()
    left[np.abs(left) < 1e-9] = 0.0
    return float(y @ ends + np.where(left > 0, left * room[1], left * room[0]).sum())


def _room(tied: sp.csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """(lower, upper) of each class."""
    entries = sp.coo_array(tied)
    cell, u, sign = entries.row, entries.col, entries.data
    low, high = np.full(tied.shape[1], -np.inf), np.full(tied.shape[1], np.inf)
    np.maximum.at(low, u, np.where(sign > 0, lower[cell], -upper[cell]))
    np.minimum.at(high, u, np.where(sign > 0, upper[cell], -lower[cell]))
    return low, high


def classes(world: World) -> sp.csr_array:
    """(columns, classes) with entries ±1: equations of one cell fix it, of two tie them, until none is left; no entry where fixed."""
    equations = sp.csr_array(world.A[(world.low == 0) & (world.high == 0)])
    tied = sp.csr_array(sp.eye_array(equations.shape[1]))
    while True:
        left = sp.csr_array(equations @ tied)
        left.eliminate_zeros()
        length = np.diff(left.indptr)
        one_to_one = [row for row in np.flatnonzero(length == 2).tolist() if np.ptp(np.abs(left.data[left.indptr[row] :][:2])) == 0]
        short = np.sort(np.concatenate([np.flatnonzero(length == 1), np.array(one_to_one, dtype=np.int64)]))
        if not len(short):
            return tied
        step, seen = sp.lil_array(sp.eye_array(left.shape[1])), set[int]()
        for row in short.tolist():
            span = slice(left.indptr[row], left.indptr[row + 1])
            columns, entries = left.indices[span].tolist(), left.data[span].tolist()
            if seen & set(columns):
                continue  # in the next round
            seen |= set(columns)
            step[columns[0], columns[0]] = 0
            if len(columns) == 2:
                step[columns[0], columns[1]] = -entries[1] / entries[0]
        tied = sp.csr_array(tied @ step.tocsr())
        kept = np.flatnonzero(np.diff(sp.csc_array(tied).indptr) > 0)
        tied = sp.csr_array(sp.csc_array(tied)[:, kept])
        tied.eliminate_zeros()
