"""Rounding of the aggregates of one indicator as a whole table that adds up, also between compositions.

*Controlled* ([2] §3): all aggregates become multiples of one base b. The relations are those of the
hierarchies within each composition, and the sums and differences of compositions that are 0. The release
publishes the value x of a cell, and that the truth is in [x − s b, x + s b], with s the reach of the table,
usually 1: the attacker of [3] knows this. Where the audit breaks the table, the next base of the ladder 1, 2,
5 × 10^k is tried, up to twice the largest value.

*Quadratic* ([3]): whole numbers only. The aggregates that attacks on the exact table use are sensitive, and
are rounded. The aggregates beside them are adjusted by at most the base. Both are published as [x − b, x +
b]; totals that stay are exact. When an attack that succeeds uses other aggregates, these become sensitive
too; so do the totals where the margins leave no table. When there are no others, the next base is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.attack import Attacker, Requirements
from sdc_tasks.methods.attack.small import ALL_SUMS, membership
from sdc_tasks.methods.rounding.controlled import TableOptions, round_table
from sdc_tasks.methods.rounding.options import ControlledRounding, QuadraticRounding
from sdc_tasks.methods.rounding.quadratic import round_quadratic
from sdc_tasks.methods.rounding.separable import SearchOptions
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import CellSpace, Floats, Ints
from sdc_tasks.solver.clock import Abort

STEPS = (1.0, 2.0, 5.0)


def controlled_aggregates(
    problem: ProtectionProblem, wanted: ControlledRounding, seed: int, progress: Callable[[str], None]
) -> Iterator[tuple[str, Publication]]:
    """(description, publication) of the aggregates of a problem of one indicator, base by base. `seed`
    drives the search and is secret.
    """
    table = aggregate_table(problem)
    cells = np.flatnonzero(problem.aggregate)
    for base in _bases(wanted.base, float(np.abs(table.a).max(initial=0.0))):
        search = _counted(wanted, seed, f"controlled rounding to base {base:g}")
        try:
            found = round_table(
                table, TableOptions(base, search, wanted.zero_restricted, wanted.reach), progress
            )
        except Unprotectable as error:
            progress(f"base {base:g}: {error}")
            continue
        progress(f"base {base:g}: within {found.reach} × the base, gap {found.gap:.2%}")
        yield (
            f"rounded to base {base:g}",
            Publication(cells, found.x, np.full(len(cells), 2 * found.reach * base)),
        )


def quadratic_aggregates(
    problem: ProtectionProblem,
    requirements: Requirements,
    wanted: QuadraticRounding,
    seed: int,
    attacks: int,
    progress: Callable[[str], None],
) -> Iterator[tuple[str, Publication]]:
    """(description, publication), from all exact to coarser ones; each withstands an
    attacker without integer knowledge.

    `seed` drives the searches and is secret; `attacks` is the seed of the attacker. Raises
    InvalidInput where values are not whole.
    """
    table, attacker = aggregate_table(problem), Attacker(problem, requirements, attacks)
    cells = np.flatnonzero(problem.aggregate)
    publication = Publication(cells, table.a, np.zeros(len(cells)))
    sensitive = _leaned(attacker, publication)
    if not len(sensitive):
        yield "all aggregates exact", publication
        members = problem.space.aggregate_relations[:, : cells[0]]
        sensitive = np.flatnonzero(members @ problem.suppressed[: cells[0]].astype(float) > 0)
    for base in _bases(wanted.base, float(np.abs(table.a).max(initial=0.0))):
        while True:
            search = _counted(wanted, seed, f"quadratic rounding to base {base:g}")
            try:
                found = round_quadratic(
                    replace(table, primary=np.isin(np.arange(len(table.a)), sensitive)),
                    base,
                    search,
                    progress,
                )
            except Unprotectable:
                more = _totals_of(table, sensitive)
            else:
                publication = Publication(cells, found.x, np.where(found.margin, 0.0, 2 * base))
                more = _leaned(attacker, publication)
                if not len(more):
                    yield f"{len(sensitive)} sensitive aggregates rounded to base {base:g}", publication
                    break
            if np.isin(more, sensitive).all():
                break
            sensitive = np.union1d(sensitive, more)
            progress(f"base {base:g}: {len(sensitive)} aggregates are sensitive")


def _counted(wanted: ControlledRounding | QuadraticRounding, seed: int, what: str) -> SearchOptions:
    """A search that ends by counted work, the same on any machine."""
    return SearchOptions(seed, clock=Abort(what, wanted.seconds), gap=wanted.gap, nodes=wanted.nodes)


def _totals_of(table: SensitiveTable, cells: Ints) -> Ints:
    """The totals of which one of the cells is a part."""
    part = np.zeros(len(table.a))
    part[cells] = 1.0
    return np.unique(
        table.M.indices[(table.M.data < 0) & np.repeat(abs(table.M) @ part > 0, np.diff(table.M.indptr))]
    )


def _leaned(attacker: Attacker, publication: Publication) -> Ints:
    """The aggregates (positions, ascending) that successful attacks use."""
    attacker.set_publication(publication)
    attacker.prove_all()
    return np.unique(
        np.concatenate([np.zeros(0, dtype=np.int64), *(attack.decided for attack in attacker.broken)])
    )


def aggregate_table(problem: ProtectionProblem) -> SensitiveTable:
    """The aggregates as a table to be rounded. It has no primary cells, because the
    audit of the release judges it.
    """
    at, space = problem.aggregate, problem.space
    inside = sp.kron(sp.eye_array(len(space.aggregates)), space.national_relations, format="csr")
    between = sp.kron(sp.csr_array(_between(space)), sp.eye_array(space.national_size), format="csr")
    A = sp.csr_array(sp.vstack([inside, between], format="csr"))
    none = np.zeros(A.shape[1])
    first = int(np.flatnonzero(at)[0])
    return SensitiveTable(
        A,
        problem.a[at],
        problem.lb[at],
        problem.ub[at],
        none,
        none,
        none,
        primary=none > 0,
        label=lambda i: space.key(first + i),
        within=np.inf,  # the domain's tolerance, by which its deliveries were judged
    )


def _between(space: CellSpace) -> Floats:
    """(relations, compositions): independent sums and differences of compositions that are 0 for every
    country.
    """
    within = membership(space)
    rows = np.zeros((0, len(within)))
    for each in product((0.0, 1.0, -1.0), repeat=len(within)) if len(within) <= ALL_SUMS else ():
        if (
            any(each)
            and not (np.array(each) @ within).any()
            and np.linalg.matrix_rank(np.vstack([rows, each])) > len(rows)
        ):
            rows = np.vstack([rows, each])
    return rows


def _bases(first: float, largest: float) -> Iterator[float]:
    """`first`, then the larger bases of the ladder, up to twice the largest value."""
    yield first
    decade = 10.0 ** np.floor(np.log10(first))
    while decade <= 2 * largest:
        yield from (step * decade for step in STEPS if first < step * decade <= 2 * largest)
        decade *= 10
