"""Does the evidence have the form in which an audit writes it? Anything else is refused as evidence, whatever
it says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.sides import SIDES
from sdc_tasks.model.profiles import Adversary
from sdc_tasks.model.results import Evidence, Multipliers, Weaker
from sdc_tasks.model.table import Bools, Ints

LARGEST_NUMBER = 1e30  # larger than any number in a table; the comparison also refuses NaN


def weaker_of(told: Weaker, profiles: Sequence[str], primaries: Ints) -> tuple[tuple[Adversary, ...], Bools]:
    """The weaker adversaries of the evidence, and (adversaries, primaries): for which each was judged. Raises
    ValueError where an entry cannot be one.
    """
    n = len(told.profile)
    for array in (told.profile, told.lack, told.piece, told.judged, told.cell):
        _ask(array.ndim == 1 and array.dtype.kind == "i", "weaker: whole numbers are expected")
    for start, of in ((told.lack, told.piece), (told.judged, told.cell)):
        _ask(
            len(start) == n + 1
            and start[0] == 0
            and start[-1] == len(of)
            and bool((np.diff(start) > 0).all()),
            "weaker: torn",
        )
    _ask(
        bool(((told.profile >= 0) & (told.profile < len(profiles))).all()),
        "weaker: of a profile that is not audited",
    )
    _ask(bool(np.isin(told.cell, primaries).all()), "weaker: about a cell that is no primary")
    try:
        found = tuple(
            Adversary(profiles[profile], tuple(told.piece[told.lack[i] : told.lack[i + 1]].tolist()))
            for i, profile in enumerate(told.profile.tolist())
        )
    except ValueError as error:
        raise ValueError(f"the witnesses are no evidence (weaker: {error})") from error
    _ask(len(set(found)) == n, "weaker: an adversary twice")
    judged = np.zeros((n, len(primaries)), dtype=bool)
    for i in range(n):
        cells = told.cell[told.judged[i] : told.judged[i + 1]]
        _ask(bool((np.diff(cells) > 0).all()), "weaker: cells out of order")
        judged[i, np.searchsorted(primaries, cells)] = True
    return found, judged


def require_form(
    evidence: Evidence,
    primaries: Ints,
    integral: Bools,
    widths: list[int],
    rows: list[int],
    attackers: list[int],
    judged: Bools,
) -> None:
    """Raises ValueError if an entry cannot be a proof about these primaries.

    `integral` (primaries,): whether the cell holds counts; `judged` (adversaries, primaries). For each
    adversary: `widths`, the number of cells that a witness may move; `rows`, the number of relations;
    `attackers`, the number of attackers who act alone, 0 if they act together.
    """
    _tables("witnesses", evidence.witness, evidence.profile, evidence.lot, widths)
    _tables("whole tables", evidence.whole, evidence.whole_profile, evidence.whole_lot, widths)
    for name in ("cut", "broken"):
        proofs = getattr(evidence, name)
        _multipliers(name, proofs, primaries, rows, attackers)
        _ask(
            bool(judged[proofs.profile, np.searchsorted(primaries, proofs.cell)].all()),
            f"{name}: of an adversary who was not judged for it",
        )
    _against_program(evidence, widths[0])
    cuts = evidence.whole_cut
    _ask(
        cuts.ndim == 2 and cuts.shape[1] == 5 and cuts.dtype.kind == "i", "whole_cut: five whole numbers each"
    )
    _ask(cuts.tolist() == sorted(cuts.tolist()), "whole_cut: not in order")
    _ask(len(np.unique(cuts[:, :4], axis=0)) == len(cuts), "whole_cut: twice of one requirement")
    _places("whole_cut", cuts[:, 0], cuts[:, 1], cuts[:, 2], cuts[:, 3], primaries, attackers)
    _ask(
        bool(judged[cuts[:, 0], np.searchsorted(primaries, cuts[:, 1])].all()),
        "whole_cut: of an adversary who was not judged for it",
    )
    _ask(
        bool(integral[np.searchsorted(primaries, cuts[:, 1])].all()),
        "whole_cut: about a cell whose indicator is not counted",
    )
    _ask(bool((cuts[:, 4] >= 0).all()), "whole_cut: a reach below 0")


def _against_program(evidence: Evidence, width: int) -> None:
    """Tables as others, of the first profile; each one may be a deviation from a table before it."""
    centre = evidence.program_centre
    _tables("program", evidence.program, np.zeros_like(centre), np.full_like(centre, -1), [width])
    _ask(
        bool(((centre >= -1) & (centre < np.arange(len(centre)))).all()),
        "program_centre: of no table before it",
    )


def _tables(name: str, tables: sp.csr_array, profile: Ints, lot: Ints, widths: list[int]) -> None:
    for array in (tables.indices, tables.indptr, profile, lot):
        _ask(array.ndim == 1 and array.dtype.kind == "i", f"{name}: whole numbers are expected")
    n = tables.shape[0]
    _ask(
        len(profile) == len(lot) == n and len(tables.indptr) == n + 1, f"{name}: arrays of different lengths"
    )
    _ask(
        tables.data.dtype.kind == "f" and bool((np.abs(tables.data) <= LARGEST_NUMBER).all()),
        f"{name}: a deviation that is no number",
    )
    start = tables.indptr
    _ask(
        start[0] == 0
        and start[-1] == len(tables.indices) == len(tables.data)
        and bool((np.diff(start) >= 0).all()),
        f"{name}: torn rows",
    )
    _ask(
        bool((profile >= 0).all() and (profile < len(widths)).all()),
        f"{name}: of a profile that is not audited",
    )
    _ask(bool((lot >= -1).all()), f"{name}: of no lot")
    row = np.repeat(np.arange(n), np.diff(start))
    width = np.array(widths, dtype=np.int64)[profile[row]]
    _ask(bool((tables.indices >= 0).all() and (tables.indices < width).all()), f"{name}: of other deliveries")
    _ask(
        len(np.unique(np.column_stack([row, tables.indices]), axis=0)) == len(row),
        f"{name}: a cell twice in one table",
    )


def _multipliers(name: str, m: Multipliers, primaries: Ints, rows: list[int], attackers: list[int]) -> None:
    n = len(m.cell)
    for array in (m.profile, m.cell, m.side, m.knower, m.split, m.start, m.row):
        _ask(array.ndim == 1 and array.dtype.kind == "i", f"{name}: whole numbers are expected")
    for numbers in (m.value, m.reach):
        _ask(
            numbers.ndim == 1
            and numbers.dtype.kind == "f"
            and bool((np.abs(numbers) <= LARGEST_NUMBER).all()),
            f"{name}: what is no number",
        )
    _ask(
        all(len(each) == n for each in (m.profile, m.side, m.knower, m.split, m.reach)),
        f"{name}: arrays of different lengths",
    )
    _ask(
        len(m.start) == n + 1 and m.start[0] == 0 and bool((np.diff(m.start) >= 0).all()),
        f"{name}: torn proofs",
    )
    _ask(m.start[-1] == len(m.row) == len(m.value), f"{name}: torn proofs")
    _places(name, m.profile, m.cell, m.side, m.knower, primaries, attackers)
    length = np.diff(m.start)
    _ask(
        bool(((m.split >= 0) & (m.split <= length) & ((m.side == 0) | (m.split == length))).all()),
        f"{name}: torn halves",
    )
    count = np.array(rows, dtype=np.int64)[np.repeat(m.profile, length)]
    _ask(bool(((m.row >= 0) & (m.row < count)).all()), f"{name}: a row that no relation has")
    half = (
        np.repeat(np.arange(n), length),
        np.arange(len(m.row)) - np.repeat(m.start[:-1], length) >= np.repeat(m.split, length),
        m.row,
    )
    _ask(
        len(np.unique(np.column_stack(half), axis=0)) == len(m.row), f"{name}: a relation twice in one proof"
    )


def _places(
    name: str, profile: Ints, cell: Ints, side: Ints, knower: Ints, primaries: Ints, attackers: list[int]
) -> None:
    """Checks the profile, the cell, the side and the attacker of each entry."""
    _ask(
        bool(((profile >= 0) & (profile < len(attackers))).all()), f"{name}: of a profile that is not audited"
    )
    _ask(bool(np.isin(cell, primaries).all()), f"{name}: about a cell that is no primary")
    _ask(bool(np.isin(side, SIDES).all()), f"{name}: of no side")
    alone = np.array(attackers, dtype=np.int64)[profile]
    _ask(bool(((knower >= -1) & (knower < alone)).all()), f"{name}: by an attacker whom nobody knows")


def _ask(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"the witnesses are no evidence ({otherwise})")
