"""Repair against integer knowledge: it raises bases until whole tables show every
requirement of counts (METHOD §4, §5).

A choice that withstands the LP attack may fail here (`methods/attack/milp`). For each requirement that no
whole table shows, the least additional uncertainty that lets a whole table fit,

    min Σ_k w_k (s⁻_k + s⁺_k)   over  A z = 0,  −low − s⁻ ≤ B z ≤ high + s⁺,  lower ≤ z ≤
    upper,  σ z_p ≥ need,  z whole,  s ≥ 0

is found near its cell and in its whole country; the baseline guarantees that such a table exists. (For a
sliding level: two tables z and z' with z_p − z'_p ≥ need.) The cells that the table moves too far are raised
to the lowest option that allows the move. Then the LP repair and the attack are repeated, because a raised
interval need not contain the earlier one. Repair ends: each round raises a cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack import IntegerWitness, Shortfall, integer_attacks, integer_slacks
from sdc_tasks.methods.attack.milp.prover import MilpProver
from sdc_tasks.methods.attack.targets import SLIDE
from sdc_tasks.methods.bases.rules import Case
from sdc_tasks.methods.bases.search.repair import Stuck
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.solver.milp import LiveMilp, Milp

FURTHER_GAP, FURTHER_NODES = 0.05, 20  # of the MILP for the least additional uncertainty


def integer_safe(case: Case, choice: Ints) -> Ints:
    """A safe choice, nowhere below the given safe one, that also withstands integer knowledge.

    Raises Stuck if the wishes allow no safe choice, Unprotectable if the limits of the MILPs leave none.
    """
    slack, tried, afresh = _options(case), list[IntegerWitness](), True
    number = 0
    while True:
        number += 1
        attacker = integer_attacks(
            case.problem,
            case.ladder.publication(choice),
            case.requirements,
            case.seed,
            () if afresh else tried,
        )
        case.progress(
            f"integer knowledge, audit {number}: {len(attacker.short)} requirements not shown by whole tables"
        )
        if not attacker.short and afresh:
            return choice
        afresh = not attacker.short  # the last attack must find everything itself, as the audit that follows
        if afresh:
            continue
        tried += attacker.witnesses()
        before, choice = choice, choice.copy()
        for short in attacker.short:
            _raise(
                case,
                attacker.prover_of(short.row),
                short,
                slack,
                choice,
                forced=np.array_equal(before, choice),
            )
        choice = case.safe(choice)


def _options(case: Case) -> tuple[Floats, Floats]:
    """(below, above) of every option of every aggregate cell (cells, options), in whole
    numbers where the cell is integral.
    """
    count = case.ladder.base.shape[1]
    every = [
        integer_slacks(case.problem, case.ladder.publication(np.full(len(case.ladder.cells), option)))
        for option in range(count)
    ]
    return -np.column_stack([low for low, _ in every]), np.column_stack([high for _, high in every])


def _raise(
    case: Case, prover: MilpProver, short: Shortfall, slack: tuple[Floats, Floats], choice: Ints, forced: bool
) -> None:
    """Raises the cells that a whole table for this requirement moves too far; at least one cell
    if `forced`.
    """
    ladder, system = case.ladder, prover.system
    target, attackers = prover.target_of(short)
    columns = _near(prover, target)
    core = sp.csr_array(sp.csc_array(system.core)[:, columns])
    rows = np.flatnonzero(np.diff(core.indptr) > 0)
    decided = system.decided[system.core_rows[rows]]
    moved = _least(
        case, prover, target, columns, rows, slack, choice, prover.insiders.against(target, attackers)
    )
    aggregates = np.flatnonzero(decided >= 0)
    raised = False
    for i in aggregates[np.argsort(decided[aggregates], kind="stable")].tolist():
        k = int(decided[i])
        down, up = (
            (np.inf, np.inf)
            if moved is None
            else (max(0.0, -float(moved[0][i])), max(0.0, float(moved[1][i])))
        )
        if down > slack[0][k, choice[k]] or up > slack[1][k, choice[k]]:
            fit = (
                (slack[0][k] >= down)
                & (slack[1][k] >= up)
                & (np.arange(len(ladder.loss[k])) > choice[k])
                & np.isfinite(ladder.loss[k])
            )
            if not fit.any():
                if moved is None:
                    continue
                raise Stuck(np.array([k]))
            choice[ladder.together(k, int(fit.argmax()), choice)] = int(fit.argmax())
            raised = True
    if raised or not forced:
        return
    own = np.flatnonzero(
        core[:, [int(np.searchsorted(columns, prover.targets.core[target]))]].toarray().ravel()[rows] != 0
    )
    nearest = [
        *sorted(decided[np.intersect1d(own, aggregates)].tolist()),
        *sorted(decided[aggregates].tolist()),
    ]
    _raise_first(case, prover, target, nearest, choice)


def _raise_first(case: Case, prover: MilpProver, target: int, nearest: Sequence[int], choice: Ints) -> None:
    """Raises the first of these cells that has a higher base. Raises Unprotectable where none has."""
    ladder = case.ladder
    k = next((k for k in nearest if np.isfinite(ladder.loss[k, choice[k] + 1 :]).any()), -1)
    if k < 0:
        key = case.problem.space.key(int(prover.targets.cell[target]))
        raise Unprotectable(
            f"{key}: no table of whole numbers was found that keeps it protected, with nothing published "
            f"around it. "
            "Remedy: see that cell's national table, or take integer: true out of the domain file"
        )
    option = int(choice[k] + 1 + np.isfinite(ladder.loss[k, choice[k] + 1 :]).argmax())
    choice[ladder.together(k, option, choice)] = option


def _near(prover: MilpProver, target: int) -> Ints:
    """Columns of the core: the target's part of the table and its country, restricted to columns linked to
    the target.
    """
    area, column = prover.system.core_area, int(prover.targets.core[target])
    near = np.union1d(prover.part_around(column), np.flatnonzero(area == area[column]))
    return np.asarray(near[prover.component[near] == prover.component[column]])


def _least(
    case: Case,
    prover: MilpProver,
    target: int,
    columns: Ints,
    rows: Ints,
    slack: tuple[Floats, Floats],
    choice: Ints,
    bounds: tuple[Floats, Floats],
) -> tuple[Floats, Floats] | None:
    """(lowest, highest) B z in each of these rows for the tables that need the least additional
    uncertainty; None if none was found.
    """
    system, targets = prover.system, prover.targets
    need = int(targets.need[target])
    core = sp.csr_array(sp.csr_array(sp.csc_array(system.core)[:, columns])[rows])
    decided = system.decided[system.core_rows[rows]]
    elastic = np.flatnonzero(decided >= 0)
    m, n, e = len(rows), len(columns), len(elastic)
    low, high = (
        system.row_lower[system.core_rows[rows]].copy(),
        system.row_upper[system.core_rows[rows]].copy(),
    )
    at = decided[elastic]
    low[elastic], high[elastic] = -slack[0][at, choice[at]], slack[1][at, choice[at]]
    may = np.isfinite(case.ladder.loss)
    given = [np.where(np.isinf(each[at, choice[at]]), 0.0, each[at, choice[at]]) for each in slack]
    most = [
        np.maximum(np.where(may, each, 0.0).max(axis=1)[at] - now, 0.0)
        for each, now in zip(slack, given, strict=True)
    ]
    pick = sp.csr_array((np.ones(e), (elastic, np.arange(e))), shape=(m, e))
    lower, upper = bounds[0][columns].copy(), bounds[1][columns].copy()
    p, sign, side = (
        int(np.searchsorted(columns, prover.targets.core[target])),
        int(targets.sign[target]),
        int(targets.side[target]),
    )
    sliding = side == SLIDE
    tables = 2 if sliding else 1
    body = sp.block_diag([core] * tables, format="csr")
    loose = sp.vstack([sp.hstack([pick, -pick])] * tables)
    A = sp.csr_array(sp.hstack([body, loose]))
    row_lower, row_upper = np.tile(low, tables), np.tile(high, tables)
    if sliding:
        apart = sp.csr_array(
            (np.array([float(sign), -float(sign)]), (np.zeros(2, dtype=int), np.array([p, n + p]))),
            shape=(1, A.shape[1]),
        )
        A = sp.csr_array(sp.vstack([A, apart]))
        row_lower, row_upper = np.append(row_lower, need), np.append(row_upper, np.inf)
    elif side * sign > 0:
        lower[p] = max(lower[p], need)
    else:
        upper[p] = min(upper[p], -need)
    if lower[p] > upper[p]:
        return None
    weight = case.weights[at]
    model = Milp(
        cost=np.concatenate([np.zeros(tables * n), weight, weight]),
        A=A,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=np.concatenate([*[lower] * tables, np.zeros(2 * e)]),
        upper=np.concatenate([*[upper] * tables, *most]),
        binary=np.flatnonzero(
            np.tile(system.integral_core[columns], tables)
        ),  # HiGHS takes them as whole numbers within their bounds
    )
    x = LiveMilp(model).solve(None, np.inf, FURTHER_GAP, FURTHER_NODES).x
    if x is None:
        return None
    moved = [
        core @ np.where(system.integral_core[columns], np.rint(u), u)
        for u in np.split(x[: tables * n], tables)
    ]
    return np.minimum.reduce(moved), np.maximum.reduce(moved)
