"""No printed value that the other printed values exclude.

A rounded cell says that the total lies in [m − b/2, m + b/2]. The other cells may narrow this interval
to [L, U]: the total is at least the sum of the visible countries; EU28 less a public United Kingdom
bounds EU27_2020; so do a parent and its other parts. If m lies outside [L, U], the interval is right but
the printed figure is impossible.

Such a cell gets a multiple r of another base b' ≤ b, with

    L ≤ r ≤ U,   r − b'/2 ≤ L,   U ≤ r + b'/2:

It takes the roundest such base (of the ladder, then of one, two, three digits), and of these the smallest. r
is the multiple nearest to the middle, because |r − (L + U)/2| must be at most (U − L)/2 and (b' − U + L)/2.
If there is no such base, the cell is withheld: the other cells tell [L, U] anyway.

This is as safe as before, without another audit, for the reason given in `implied`: the new interval contains
the box of all tables that an attacker cannot tell from the truth. Of whole numbers one more audit asks
(`policy`): a half is printed on one side, so that a number on the end of an interval may not belong to it. r
and b' follow from the earlier publication and public data, so they tell nothing new. The box from the
narrower intervals lies inside the box that a reader computes from the wider ones.

The box comes from propagation along the relations, one at a time: what a reader finds by adding and
subtracting, without linear programs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdc_tasks.methods.bases.printed.implied import box
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import ROUNDING

DIGITS = (np.arange(1.0, 10.0), np.arange(10.0, 100.0), np.arange(100.0, 1000.0))


def impossible(problem: ProtectionProblem, publication: Publication) -> Bools:
    """The rounded cells whose printed value the other cells exclude, by one relation or several in turn."""
    lower, upper = box(problem, publication)
    value = np.nan_to_num(publication.value)
    slack = ROUNDING * (np.abs(value) + publication.base)
    return np.asarray(publication.rounded & ((value < lower - slack) | (value > upper + slack)))


def possible(
    problem: ProtectionProblem,
    publication: Publication,
    mantissas: Sequence[float],
    smallest: float,
    kept: Bools,
) -> Publication:
    """The publication with every printed value possible; it is as safe, and no cell is coarser. If no base
    of up to three digits fits, the cell is withheld; a `kept` cell (cells,) stays as it is instead. Bases
    are whole multiples of `smallest`.
    """
    wrong = np.flatnonzero(impossible(problem, publication))
    lower, upper = box(problem, publication)
    value, base = publication.value.copy(), publication.base.copy()
    for k in wrong.tolist():
        if upper[k] - lower[k] <= ROUNDING * abs(upper[k]):
            value[k], base[k] = problem.a[publication.cells[k]], 0.0  # the other cells fix it
            continue
        fit = _roundest(float(lower[k]), float(upper[k]), float(base[k]), mantissas, smallest)
        if fit is not None:
            value[k], base[k] = fit
        elif not kept[k]:
            value[k], base[k] = np.nan, np.inf
    return Publication(publication.cells, value, base, publication.covers)


def _roundest(
    lower: float, upper: float, most: float, mantissas: Sequence[float], smallest: float
) -> tuple[float, float] | None:
    """(value, base) for the interval, of a base of at most `most`."""
    middle, width = (lower + upper) / 2, upper - lower
    decades = 10.0 ** np.arange(0, max(np.floor(np.log10(most / smallest)), 0) + 1)
    for digits in (np.array(mantissas), *DIGITS):
        bases: Floats = np.unique(np.outer(decades, digits)) * smallest
        bases = bases[(bases >= width) & (bases <= most)]
        near = np.rint(middle / bases) * bases
        fits = np.flatnonzero(np.abs(near - middle) <= np.minimum(width, bases - width) / 2)
        if len(fits):
            return float(near[fits[0]]), float(bases[fits[0]])
    return None
