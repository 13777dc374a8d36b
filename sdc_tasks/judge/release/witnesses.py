"""Protection shown: tables that an attacker cannot tell from the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.knowledge import Known
from sdc_tasks.judge.release.polyhedron import AttackerPolyhedron
from sdc_tasks.judge.release.sides import SIDES
from sdc_tasks.model.table import Bools, Floats, Ints


def remaining(
    polyhedron: AttackerPolyhedron,
    witnesses: sp.csr_array,
    primaries: Ints,
    needed: Floats,
    unproven: Bools,
    known: Known,
    slack: Floats,
    short: float,
) -> Bools:
    """The requirements of `unproven` (sides, primaries, attackers) that neither the witnesses nor their
    mirror images meet. `needed`: the levels, in the same shape. `slack`: allowed miss of rows and bounds
    together, and of an attacker's knowledge. `short`: the share of a requirement that may be missing.
    """
    unproven = unproven.copy()
    at, held = np.searchsorted(polyhedron.cells, primaries), np.searchsorted(polyhedron.cells, known.cells)
    width = np.zeros((2, *needed.shape[1:]))
    for z in (sign * each for each in _tables(witnesses, len(polyhedron.lower)) for sign in (1.0, -1.0)):
        row = polyhedron.A @ z
        miss = _excess(polyhedron.low - row, row - polyhedron.high) + _excess(
            polyhedron.lower - z, z - polyhedron.upper
        )
        seen, off = z[at], _off(known, z[held])
        for side, direction in enumerate(SIDES):
            sound = (miss <= slack[side]) & (off <= slack[side])
            if direction:
                reached = direction * seen[:, None]
                width[side] = np.where(
                    miss <= slack[2], np.maximum(width[side], np.where(sound, reached, 0.0)), width[side]
                )
                unproven[side] &= ~(sound & (reached >= needed[side] * (1 - short)))
    unproven[2] &= width.sum(axis=0) < needed[2] * (1 - short)
    return unproven


def _excess(*sides: Floats) -> float:
    """The sum of all misses of rows or bounds: many small misses may add up in one cell."""
    return float(np.maximum(np.maximum(*sides), 0.0).sum())


def _tables(witnesses: sp.csr_array, n: int) -> Iterator[Floats]:
    """The n deviations of each witness."""
    for start, end in zip(witnesses.indptr[:-1].tolist(), witnesses.indptr[1:].tolist(), strict=True):
        z = np.zeros(n)
        z[witnesses.indices[start:end]] = witnesses.data[start:end]
        yield z


def _off(known: Known, z: Floats) -> Floats:
    """(primaries or 1, attackers): how far a witness differs from what each attacker of each
    primary knows.
    """
    each = np.maximum(known.lower - z, z - known.upper)
    if known.alone:
        return each[None, :]
    if not len(each):
        return np.zeros((1, 1))
    worst = known.owner[each.argmax()]  # all see his cells, but those who look for them the next worst
    rest = float(each[known.owner != worst].max(initial=0.0))
    return np.where(known.victim == worst, rest, float(each.max()))[:, None]
