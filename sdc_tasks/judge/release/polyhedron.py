"""The polyhedron of an attacker: all tables that agree with what he knows, as relations, bounds and published
intervals over the hidden cells.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.judge.release.knowledge import Known, knowledge_of_profile
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import EPSILON, JUDGED_INTEGRALITY


@dataclass(frozen=True, repr=False)
class AttackerPolyhedron:
    """The deviations z from the truth that an attacker cannot exclude, in the unit of the data: rows low ≤
    A z ≤ high, columns lower ≤ z ≤ upper.

    `cells`: the hidden cells, which are the first columns; unknown earlier values follow. The last rows are
    the rows `prior_rows` of earlier releases.
    """

    cells: Ints
    A: sp.csr_array
    low: Floats
    high: Floats
    lower: Floats
    upper: Floats
    prior_rows: Ints


def polyhedron_of(
    problem: ProtectionProblem, publication: Publication | None, profile: str, lacks: Collection[int] = ()
) -> AttackerPolyhedron:
    """The rows and bounds of attackers of a profile who lack these pieces. Without a
    publication: every aggregate is withheld.
    """
    space = problem.space
    totals = _totals(problem)
    cells = np.flatnonzero(problem.suppressed)
    inside = space.relations.shape[0] - len(totals)
    if publication is None:
        low, high = np.full(len(totals), -np.inf), np.full(len(totals), np.inf)
    else:
        truth = problem.a[totals]
        low = np.where(publication.base == 0, 0.0, publication.lower - truth)
        high = np.where(publication.base == 0, 0.0, publication.upper - truth)
        beside = np.clip(0.0, low, high)
        low, high = (
            low - beside,
            high - beside,
        )  # an interval without the truth is moved to it, which tells the attacker more
    rows = sp.csr_array(sp.csc_array(space.relations)[:, cells])
    lower, upper = (problem.lb - problem.a)[cells], (problem.ub - problem.a)[cells]
    low, high = np.concatenate([np.zeros(inside), low]), np.concatenate([np.zeros(inside), high])
    prior_rows = known_prior_rows(problem, profile, lacks)
    if len(prior_rows) or (knowledge_of_profile(profile).published and problem.earlier.rows.shape != (0, 0)):
        before, more = problem.earlier, len(problem.earlier.lower)
        prior = sp.csr_array(
            sp.csc_array(before.rows[prior_rows])[:, [*cells, *range(space.size, space.size + more)]]
        )
        rows = sp.csr_array(sp.vstack([sp.hstack([rows, sp.csr_array((rows.shape[0], more))]), prior]))
        low, high = (
            np.concatenate([low, before.row_lower[prior_rows]]),
            np.concatenate([high, before.row_upper[prior_rows]]),
        )
        lower, upper = np.concatenate([lower, before.lower]), np.concatenate([upper, before.upper])
    return AttackerPolyhedron(cells, rows, low, high, lower, upper, prior_rows)


def _totals(problem: ProtectionProblem) -> Ints:
    """The cells that the release decides: those of its compositions."""
    n, countries = problem.space.national_size, len(problem.space.countries)
    return n * countries + np.arange(n * len(problem.space.aggregates))


def known_prior_rows(problem: ProtectionProblem, profile: str, lacks: Collection[int]) -> Ints:
    """The rows of earlier releases that attackers of a profile know who lack these pieces. Raises ValueError
    for a piece that there is not.
    """
    ours, before = knowledge_of_profile(profile), problem.earlier
    if before.rows.shape == (0, 0):
        return np.zeros(0, dtype=np.int64)
    if not ours.published:
        return np.flatnonzero(before.everybody)  # relations between tables, whatever was published
    if any(piece >= len(before.pieces) for piece in lacks):
        raise ValueError("the witnesses are no evidence (weaker: a piece that no earlier release has)")
    told_by = before.told_by if before.pieces else np.zeros((len(before.assumed), 0), dtype=bool)
    lost = np.isin(np.arange(len(before.pieces)), list(lacks))
    by_lost, by_kept = told_by[:, lost].any(axis=1), told_by[:, ~lost].any(axis=1)
    # One of its pieces tells a published row; an assumption on a revision takes all of its pieces.
    published = by_kept if lacks else np.ones(len(before.assumed), dtype=bool)
    assumed = ours.revised & ~by_lost
    return np.flatnonzero(np.where(before.assumed, assumed, published) | before.everybody)


def contradicted(problem: ProtectionProblem, publication: Publication) -> Bools:
    """Aggregate cells whose printed interval excludes the true value: it was made from other
    deliveries and tells nothing about these.
    """
    truth = problem.a[_totals(problem)]
    noise = EPSILON * (1 + np.abs(truth))
    return np.asarray((publication.lower - truth > noise) | (truth - publication.upper > noise))


def integer_polyhedron(
    problem: ProtectionProblem, publication: Publication | None, polyhedron: AttackerPolyhedron
) -> tuple[AttackerPolyhedron, Bools]:
    """The polyhedron for an attacker who knows which values are whole numbers; and which columns these are.

    He knows that the upper end of the interval of a rounded whole number would have been rounded up.
    """
    n, before = len(polyhedron.cells), problem.earlier
    whole = np.concatenate([problem.integral[polyhedron.cells], before.integral[: len(polyhedron.lower) - n]])
    rows = np.asarray(abs(polyhedron.A) @ np.where(whole, 0.0, 1.0) == 0)
    below, above = (
        np.ceil(polyhedron.low - JUDGED_INTEGRALITY),
        np.floor(polyhedron.high + JUDGED_INTEGRALITY),
    )
    decided = len(_totals(problem))
    inside = problem.space.relations.shape[0] - decided
    rounded = np.zeros(len(rows), dtype=bool)
    rounded[inside : inside + decided] = False if publication is None else publication.rounded
    rounded[inside + decided :] = before.rounded[polyhedron.prior_rows]
    under = np.maximum(np.ceil(polyhedron.high - JUDGED_INTEGRALITY) - 1, 0.0)
    above = np.where(rounded, np.minimum(above, under), above)
    found = AttackerPolyhedron(
        polyhedron.cells,
        polyhedron.A,
        np.where(rows, below, polyhedron.low),
        np.where(rows, above, polyhedron.high),
        np.where(whole, np.ceil(polyhedron.lower - JUDGED_INTEGRALITY), polyhedron.lower),
        np.where(whole, np.floor(polyhedron.upper + JUDGED_INTEGRALITY), polyhedron.upper),
        polyhedron.prior_rows,
    )
    return found, whole


def integer_known(known: Known, polyhedron: AttackerPolyhedron, whole: Bools) -> Known:
    """What respondents know about cells that are whole numbers."""
    return replace(
        known,
        lower=np.where(
            whole[np.searchsorted(polyhedron.cells, known.cells)],
            np.ceil(known.lower - JUDGED_INTEGRALITY),
            known.lower,
        ),
    )
