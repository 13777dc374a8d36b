"""The table of one country as a problem of its own: for the attacker (no aggregates),
and for cell suppression ([2] §4).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack import Requirements
from sdc_tasks.methods.receiver.options import ReceiverCosts
from sdc_tasks.methods.suppression.costs import Priced, cell_costs
from sdc_tasks.model.problem import CELL_ARRAYS, ProtectionProblem
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, CellSpace, Floats
from sdc_tasks.model.tolerances import TIE_BREAK


def of_country(problem: ProtectionProblem, country: str) -> ProtectionProblem:
    """The national table of a country, without aggregates and without what was published before."""
    space = problem.space
    n = space.national_size
    start = space.countries.index(country) * n
    return ProtectionProblem(
        space=CellSpace((country,), (), space.indicators, space.hierarchies, space.indicator_relations),
        deliveries=problem.deliveries,
        salt=problem.salt,
        **{name: getattr(problem, name)[start : start + n] for name in CELL_ARRAYS},
    )


def hidden_too(table: ProtectionProblem, cells: Bools) -> ProtectionProblem:
    """The problem with these cells hidden as well (one entry for each of its cells)."""
    return replace(table, public=table.public & ~cells)


def totals_over(table: ProtectionProblem, cells: Bools) -> Bools:
    """(cells,): the totals of which one of the cells is a part, and the totals of these, and so on."""
    M = table.space.national_relations
    parts, totals = sp.csr_array(M > 0).astype(float), sp.csr_array(M < 0).astype(float)
    found = np.zeros(len(cells), dtype=bool)
    while True:
        above = (totals.T @ ((parts @ (cells | found).astype(float)) > 0).astype(float) > 0) & ~found
        if not above.any():
            return found
        found |= above


def as_suppression(
    table: ProtectionProblem, may_hide: Bools, needs: Requirements, lone: Bools, costs: ReceiverCosts
) -> SensitiveTable:
    """Cell suppression of the table: cells that the country hides cost nothing, open ones
    that `may_hide` cost by `costs`.

    `needs`: the levels that can be reached, of which each primary gets the least over all attackers. `lone`
    primaries have one respondent. Hidden cells whose value a respondent knows count as open.
    """
    levels: dict[str, Floats] = {}
    for name in ("down", "up", "slide"):
        level = np.full(table.space.size, np.inf)
        np.minimum.at(level, needs.primaries, getattr(needs, name))
        levels[name] = np.where(table.primary, level, 0.0)
    M = table.space.national_relations
    cost = cell_costs(Priced(M, table.a, table.primary), costs)
    cost = np.where(table.public, np.maximum(cost, TIE_BREAK / 100 * float(cost.mean())), 0.0)
    told = table.public & ~may_hide
    if lone.any():
        told |= ~table.public & ~table.primary & (table.known == table.a)
    return SensitiveTable(
        M,
        table.a,
        table.lb,
        table.ub,
        levels["down"],
        levels["up"],
        levels["slide"],
        cost=cost,
        primary=table.primary,
        fixed=told,
        rhs=M @ table.a,
        singleton=lone,
        label=table.space.key,
    )
