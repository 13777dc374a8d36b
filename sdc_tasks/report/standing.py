"""Compares a table made elsewhere with the deliveries: where it contradicts them, by how
much, and which totals look rounded.

Official totals differ from sums by rounding, so differences within a tolerance are listed separately. A
difference between a printed value and the true sum may be confidential. The terminal shows only a class of
its size (`share`); the figures go to a file that only its owner can read (`differences`).
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Floats, Ints
from sdc_tasks.model.tolerances import ROUNDING, SAME

CLASSES = (
    (0.01 / 100, "under 0.01 %"),
    (1e-3, "0.01 to 0.1 %"),
    (1e-2, "0.1 to 1 %"),
    (1e-1, "1 to 10 %"),
    (np.inf, "10 % or more"),
)
WRITTEN_TOLERANCE = re.compile(r"(\d+(?:\.\d+)?) ?(%?)")
ZEROS = 2  # least number of final zeros of all values: fewer may be chance


@dataclass(frozen=True)
class Tolerance:
    """How far a printed value may be off: `absolute` in the unit of the indicator, `relative` to the true
    total.
    """

    absolute: float = 0.0
    relative: float = 0.0

    @classmethod
    def of(cls, text: str) -> Tolerance:
        """The tolerance of a text such as 0.1 or 0.01%. Raises InvalidInput for anything else."""
        found = WRITTEN_TOLERANCE.fullmatch(text.strip())
        if found is None:
            raise InvalidInput(
                "--tolerance: a number in the unit of the indicator, such as 0.1, or a share of the total, "
                "such as 0.01%"
            )
        size = float(found[1])
        return cls(relative=size / 100) if found[2] else cls(absolute=size)


@dataclass(frozen=True)
class Contradictions:
    """Cells whose printed interval excludes the true total; arrays (contradictions,). `off`: the
    signed distance of the interval from the total; `within`: at most the tolerance. Confidential,
    except for `cells` and `within`.
    """

    cells: Ints = field(repr=False)
    truth: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    off: Floats = field(repr=False)
    within: np.ndarray = field(repr=False)

    @property
    def beyond(self) -> Ints:
        return np.asarray(self.cells[~self.within])

    def share(self, i: int) -> str:
        """The class of the difference, as a share of the total."""
        share = abs(self.off[i]) / abs(self.truth[i]) if self.truth[i] else np.inf
        return next(name for most, name in CLASSES if share < most or most == np.inf)


def contradictions(
    problem: ProtectionProblem, publication: Publication, cells: Ints, tolerance: Tolerance
) -> Contradictions:
    """The contradictions at `cells`, which the audit found."""
    at = np.searchsorted(publication.cells, cells)
    truth, lower, upper = problem.a[cells], publication.lower[at], publication.upper[at]
    off = np.maximum(lower - truth, 0) + np.minimum(upper - truth, 0)
    # by SAME more: 2500.1 − 2500 is a little above 0.1 in binary fractions
    most = np.maximum(tolerance.absolute, tolerance.relative * np.abs(truth))
    return Contradictions(
        cells, truth, lower, upper, off, np.abs(off) <= most * (1 + SAME) + ROUNDING * np.abs(truth)
    )


def differences(problem: ProtectionProblem, found: Contradictions) -> str:
    """CSV of the contradictions with all figures. Confidential: a printed value and its
    difference give the true total.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["CELL", "PRINTED_LOWER", "PRINTED_UPPER", "SUM_OF_DELIVERIES", "DIFFERENCE", "WITHIN_TOLERANCE"]
    )
    rows = zip(found.cells, found.lower, found.upper, found.truth, found.off, found.within, strict=True)
    for cell, lower, upper, truth, off, within in rows:
        writer.writerow(
            [
                problem.space.key(int(cell)),
                *(format(float(x), ".15g") for x in (lower, upper, truth, off)),
                int(within),
            ]
        )
    return text.getvalue()


def looks_rounded(problem: ProtectionProblem, publication: Publication, domain: Domain) -> list[str]:
    """Hints: one for each composition and indicator whose exact values all end in zeros
    while most national values do not.
    """
    problem, space = problem.own, problem.space.alone
    each = space.national_size // len(space.indicators)
    area, indicator = (
        publication.cells // space.national_size,
        (publication.cells % space.national_size) // each,
    )
    hints = []
    for k, code in enumerate(space.areas):
        for i, spec in enumerate(domain.indicators):
            values = publication.value[
                (area == k) & (indicator == i) & publication.exact & (publication.value != 0)
            ]
            here = np.arange(space.size) % space.national_size // each == i
            national = problem.a[here & problem.public & (problem.a != 0)]
            grid = 10.0**-spec.decimals
            for zeros in range(9, 0, -1) if len(values) and len(national) else ():
                unit = grid * 10.0**zeros
                if (
                    zeros * len(values) >= ZEROS
                    and _multiples(values, unit) == 1
                    and _multiples(national, unit) < 0.5
                ):
                    hints.append(
                        f"{code}.{spec.code}: every value without a ROUNDING_BASE is a multiple of {unit:g}, "
                        f"most national values are not. "
                        "The values may be rounded, but were judged as exact. Remedy: give ROUNDING_BASE, or "
                        "LOWER and UPPER"
                    )
                    break
    return hints


def _multiples(values: Floats, unit: float) -> float:
    """The share of the values that are multiples of a unit."""
    steps = values / unit
    return float((np.abs(steps - np.rint(steps)) <= SAME * np.maximum(1, np.abs(steps))).mean())
