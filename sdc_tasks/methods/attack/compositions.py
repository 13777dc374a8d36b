"""What several compositions of the same countries tell together (METHOD §2, profile composition).

The audit of a release always attacks all its compositions at once. This module also attacks each composition alone, to show what
the others add. For example, EU28 less a public United Kingdom and a rounded EU27_2020 together leave a narrower interval than each of
them alone. It solves two LPs for each cell and publication, each from the same basis: the audit's joint LPs give no intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.polyhedron import FARTHEST_UNITS, AttackSystem, attack_system, facing
from sdc_tasks.methods.attack.requirements import Requirements, promised
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Aggregate, Bools, Floats, Ints
from sdc_tasks.solver.lp import LiveLP, Status

MOST_WIDTH = 1000.0  # requirements: an interval that reaches further on one side counts as reaching this far
UNIT_SPAN = 1e6  # requirements that differ by a larger factor do not share a unit
SAMPLE = 50  # primaries: about five seconds on a release of the paper's size, 27 countries and two compositions


@dataclass(frozen=True)
class Together:
    """The width of the external attacker's interval for each primary of `cells`, as a multiple of the required width.

    `aggregates`: positions of the compositions that share members with another one. `alone` (aggregates, cells): the widths if only that
    composition is published. `whole` (cells,): the widths if everything is published. The widths are confidential, because the required
    width follows from true values. The ratio of two widths is not: anybody can compute it from what is published.
    """

    aggregates: tuple[int, ...]
    cells: Ints = field(repr=False)
    alone: Floats = field(repr=False)
    whole: Floats = field(repr=False)


def together(problem: ProtectionProblem, publication: Publication, most: int = SAMPLE) -> Together | None:
    """The intervals of at most `most` primaries, evenly spaced in cell order; None if no two compositions share a member.

    A primary is left out if one of its LPs gives no reliable interval.
    """
    overlapping = _overlapping(problem.space.aggregates)
    if not overlapping:
        return None
    area = publication.cells // problem.space.national_size - len(problem.space.countries)
    faced = [publication, *(_only(publication, area == k) for k in overlapping)]
    needs = _sample(promised(problem, (EXTERNAL,)), most)
    width = np.zeros((len(faced), len(needs.primaries)))
    for rows, unit in _groups(needs):
        system = attack_system(problem, unit)
        for i, each in enumerate(faced):
            width[i, rows] = _widths(facing(system, problem, each), needs.rows(rows))
    sound = ~np.isnan(width).any(axis=0)
    return Together(overlapping, needs.primaries[sound], width[1:, sound], width[0, sound])


def _overlapping(aggregates: Sequence[Aggregate]) -> tuple[int, ...]:
    """Positions of the aggregates that have a member in common with another one."""
    members = [set(aggregate.members) for aggregate in aggregates]
    return tuple(i for i, mine in enumerate(members) if any(mine & other for j, other in enumerate(members) if j != i))


def _only(publication: Publication, told: Bools) -> Publication:
    """The publication with every cell withheld that is not `told`."""
    value, base = np.where(told, publication.value, np.nan), np.where(told, publication.base, np.inf)
    return Publication(publication.cells, value, base, np.where(told, publication.covers, 0.0))


def _sample(needs: Requirements, most: int) -> Requirements:
    """Evenly spaced rows among those that require anything."""
    rows = np.flatnonzero(needs.down + needs.up > 0)
    return needs.rows(rows[np.unique(np.linspace(0, max(len(rows) - 1, 0), min(most, len(rows))).astype(np.int64))])


def _groups(needs: Requirements) -> Iterator[tuple[Ints, float]]:
    """(rows, unit): rows whose requirements lie within `UNIT_SPAN`. The box of the unit holds `MOST_WIDTH` times the largest of them."""
    size = np.maximum(needs.down, needs.up)
    left = np.arange(len(size))
    while len(left):
        largest = size[left].max()
        near = size[left] > largest / UNIT_SPAN
        yield left[near], float(2.0 ** np.ceil(np.log2(MOST_WIDTH * largest / FARTHEST_UNITS)))
        left = left[~near]


def _widths(system: AttackSystem, needs: Requirements) -> Floats:
    """The width of each interval as a multiple of what `needs` requires on both sides; NaN if an LP failed."""
    rows = system.core_rows
    live = LiveLP(np.zeros(system.core.shape[1]), system.core, system.row_lower[rows], system.row_upper[rows], *system.core_bounds())
    live.method("dual")
    live.solve()  # without a cost: a feasible basis for the primal steps below
    live.method("primal")
    basis = live.basis()
    columns = system.columns_of(needs.primaries)
    tied = sp.csr_array(system.R[columns])

    def reach(i: int, side: int) -> float:
        """How far the interval reaches to a side of the truth, in the unit of the data; 0 if the national relations fix the cell."""
        at = slice(tied.indptr[i], tied.indptr[i + 1])
        core, sign = tied.indices[at].astype(np.int64), tied.data[at]
        if not len(core):
            return 0.0
        live.restore(basis)
        live.set_cost(core, -side * sign)
        result = live.solve()
        live.set_cost(core, np.zeros(len(core)))
        z = system.R @ result.x
        stands = result.status is Status.OPTIMAL and system.is_witness(z)
        return float(side * z[columns[i]] * system.unit) if stands else np.nan

    found = np.array([[reach(i, -1), reach(i, 1)] for i in range(len(columns))]).reshape(-1, 2)
    asked = np.column_stack([needs.down, needs.up])
    width: Floats = np.minimum(found, MOST_WIDTH * asked).sum(axis=1) / asked.sum(axis=1)
    return width
