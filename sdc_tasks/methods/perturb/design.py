"""Designs a perturbation table: for each count the noise of maximum entropy under what the office asks of it.

Giessing (2016) after Marley & Leaver (2011): of all distributions p of the steps v with Σ p = 1, Σ p v = 0
and Σ p v² = V, none of which leads below 0 or to 1 … js or moves farther than D, the one whose entropy −Σ p
ln p is largest: it tells least beyond what it must. A convex program with a smooth dual. With the constraints
as Σ_v p_v f_k(v) = b_k, or ≤ b_k for inequalities, and multipliers θ (θ_k ≥ 0 there),

    q(θ) = ln Σ_v exp(−Σ_k θ_k f_k(v)) + Σ_k θ_k b_k  ≥  −Σ p ln p        for every p that satisfies them,

with equality at p_v ∝ exp(−Σ_k θ_k f_k(v)) where θ minimises q (Boyd & Vandenberghe, *Convex optimization*,
§5.2.4). Newton's method with bounds (Bertsekas 1982) finds θ. `proof_of` recomputes both sides in decimal
arithmetic of 50 digits from p and θ alone, so that nobody needs to trust the search.
"""

from __future__ import annotations

import decimal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.perturb.ptable import NoiseRow, PerturbationTable
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import EPSILON, FEASIBILITY, ZERO

DIGITS = 50  # of the arithmetic of a proof
MOST_STEP = 100  # D: a larger one is no noise of a count
NEWTON_STEPS = 500
ARMIJO = 2.0**-13  # share of the promised descent that a step must keep


def is_number(told: object) -> bool:
    """Whether a caller gave a finite number."""
    return (
        isinstance(told, int | float | np.integer | np.floating)
        and not isinstance(told, bool)
        and bool(np.isfinite(told))
    )


def is_whole(told: object) -> bool:
    """Whether a caller gave a whole number."""
    return isinstance(told, int | np.integer) and not isinstance(told, bool)


@dataclass(frozen=True)
class NoiseDesign:
    """What is asked of each row. `max_step`: D, the largest step; `variance`: V; `js`: no count is published
    as 1 … js.

    `at_most`: a row may have less variance than V where that leaves more entropy; else each has V exactly.
    `monotone`: below the count, a step is at least as likely as the next farther one. Both are the defaults
    of R ptable 1.0.0. `stay`: a count stays at least with this probability; 0: as entropy has it. Raises
    InvalidInput for numbers that are none of this kind.
    """

    max_step: int
    variance: float
    js: int = 0
    at_most: bool = False
    monotone: bool = False
    stay: float = 0.0

    def __post_init__(self) -> None:
        if not (is_whole(self.max_step) and 1 <= self.max_step <= MOST_STEP):
            raise InvalidInput(
                f"the largest step is no whole number from 1 to {MOST_STEP}. Remedy: give one such as 5"
            )
        if not (is_number(self.variance) and 0 < self.variance < self.max_step**2):
            raise InvalidInput(
                f"the variance is no number above 0 and below {self.max_step**2}, the square of the largest "
                f"step. Remedy: give one such as {self.max_step / 2:g}"
            )
        if not (is_whole(self.js) and 0 <= self.js < self.max_step):
            raise InvalidInput(
                "js is no whole number from 0 to below the largest step. Remedy: give one, or a larger step"
            )
        if not (is_number(self.stay) and 0 <= self.stay < 1):
            raise InvalidInput("stay is no probability from 0 to below 1. Remedy: give one such as 0.5")


@dataclass(frozen=True)
class RowProof:
    """That a row has the largest entropy: no distribution that satisfies the constraints has more than
    `bound` nats, and the row has `entropy`. `broken`: by how much it misses a constraint at most.
    """

    entropy: float
    bound: float
    broken: float
    multipliers: Floats = field(repr=False)

    @property
    def gap(self) -> float:
        """How much more entropy there might be; a row that misses a constraint by 1e-16 may be below 0 by as
        much.
        """
        return self.bound - self.entropy


@dataclass(frozen=True)
class DesignedTable:
    """A perturbation table, and the proof of each of its rows 1 … top."""

    design: NoiseDesign
    table: PerturbationTable
    proofs: tuple[RowProof, ...] = field(repr=False)

    @property
    def gap(self) -> float:
        """The largest gap of a row, in nats."""
        return max(proof.gap for proof in self.proofs)


@dataclass(frozen=True)
class RowProgram:
    """The constraints of one row over its steps (m,): `f` (k, m) and `b` (k,); `equal` (k,): = or ≤."""

    steps: Ints
    f: Floats
    b: Floats
    equal: Bools


def design_table(design: NoiseDesign) -> DesignedTable:
    """The perturbation table of maximum entropy. Raises InvalidInput, with the count and the variances that
    it can have, where there is none.
    """
    top = design.max_step + design.js + (1 if design.js else 0)  # from here on a row is symmetric
    rows, proofs = [NoiseRow.likely([0], [1.0])], []
    for count in range(1, top + 1):
        row, proof = _row(design, count)
        rows.append(row)
        proofs.append(proof)
    return DesignedTable(design, PerturbationTable(tuple(rows)), tuple(proofs))


def symmetric_row(design: NoiseDesign) -> NoiseRow:
    """The row of a count so large that nothing is cut off. Raises InvalidInput as `design_table`."""
    return _row(design, design.max_step + design.js + 1)[0]


def program_of(design: NoiseDesign, count: int) -> RowProgram:
    """The constraints of the row of a count, but for Σ p = 1."""
    published = np.array(list(_published(design, count)))
    v = published - count
    f: list[Floats] = [v.astype(float), v.astype(float) ** 2]
    b, equal = [0.0, design.variance], [True, not design.at_most]
    if design.stay and (v == 0).any():
        f.append(-(v == 0).astype(float))
        b.append(-design.stay)
        equal.append(False)
    if design.monotone and (v == 0).any():
        for left in range(int(np.flatnonzero(v == 0)[0])):
            f.append((np.arange(len(v)) == left).astype(float) - (np.arange(len(v)) == left + 1))
            b.append(0.0)
            equal.append(False)
    return RowProgram(v.astype(np.int64), np.array(f), np.array(b), np.array(equal))


def _published(design: NoiseDesign, count: int) -> Iterator[int]:
    for published in range(max(0, count - design.max_step), count + design.max_step + 1):
        if not 1 <= published <= design.js:
            yield published


def _row(design: NoiseDesign, count: int) -> tuple[NoiseRow, RowProof]:
    program = program_of(design, count)
    _refuse_impossible(design, count, program)
    theta = minimised(program)
    p = likely(program, theta)
    proof = proof_of(program, p, theta)
    if proof.gap > ZERO or proof.broken > ZERO:
        raise InvalidInput(
            f"count {count}: the variance is too near to the end of what is possible. Remedy: change it a "
            f"little"
        )
    return NoiseRow.likely(program.steps, p), proof


def _refuse_impossible(design: NoiseDesign, count: int, program: RowProgram) -> None:
    """Raises InvalidInput where no distribution satisfies the constraints, or only one does. Without a
    variance one always does: a count stays or, if 1 … js is closed to it, goes to 0 or js + 1 ≤ count + D.
    """
    others = np.arange(len(program.b)) != 1
    free, fixed = others & ~program.equal, others & program.equal
    v2 = program.f[1]
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * v2,
            A_ub=program.f[free] if free.any() else None,
            b_ub=program.b[free] if free.any() else None,
            A_eq=np.vstack([program.f[fixed], np.ones(len(v2))]),
            b_eq=np.append(program.b[fixed], 1.0),
            bounds=(0, 1),
            method="highs",
        )
        ends.append(float(v2 @ found.x))
    low, high = ends
    room = FEASIBILITY * max(high - low, 1.0)  # at the ends of the attainable variances the noise is fixed
    if design.variance < low + room or (not design.at_most and design.variance > high - room):
        raise InvalidInput(
            f"count {count}: its variance is above {low:g} and below {high:g}. Remedy: a variance "
            f"between these, or another largest step, js or stay"
        )


def likely(program: RowProgram, theta: Floats) -> Floats:
    """(m,): p_v ∝ exp(−Σ_k θ_k f_k(v))."""
    exponent = -(theta @ program.f)
    weight = np.exp(exponent - exponent.max())
    return np.asarray(weight / weight.sum())


def dual(program: RowProgram, theta: Floats) -> float:
    """q(θ), in nats."""
    exponent = -(theta @ program.f)
    return float(exponent.max() + np.log(np.exp(exponent - exponent.max()).sum()) + theta @ program.b)


def minimised(program: RowProgram) -> Floats:
    """(k,): θ where q is least, by projected Newton steps. Multipliers at 0 that would fall stay there."""
    theta = np.zeros(len(program.b))
    signed = ~program.equal
    for _ in range(NEWTON_STEPS):
        p = likely(program, theta)
        slope = program.b - program.f @ p
        held = signed & (theta <= 0) & (slope >= 0)
        free = np.flatnonzero(~held)
        if not len(free) or np.abs(slope[free]).max() < 10 * EPSILON:
            break
        centred = program.f[free] - (program.f[free] @ p)[:, None]
        move = np.zeros(len(theta))
        move[free] = _step((centred * p) @ centred.T, slope[free], theta[free], signed[free])
        theta, before = _shortened(program, theta, move, slope), theta
        if (theta == before).all():  # rounding errors are all that is left
            break
    return read_only(theta)


def _step(curved: Floats, slope: Floats, theta: Floats, signed: Bools) -> Floats:
    """(k,): Newton's step. Where constraints depend on each other, as variance and stay of three steps do,
    q is linear along some moves: then down one of them, to where a multiplier is 0.
    """
    newton = np.linalg.lstsq(curved, slope, rcond=EPSILON)[0]
    linear = slope - curved @ newton
    falling = signed & (linear > 0)
    if np.abs(linear).max() > 10 * EPSILON * max(1.0, np.abs(slope).max()) and falling.any():
        farthest = float((theta[falling] / linear[falling]).min())
        if farthest > 0:
            return np.asarray(-farthest * linear)
    return np.asarray(-newton)


def _shortened(program: RowProgram, theta: Floats, move: Floats, slope: Floats) -> Floats:
    """θ after the longest of the moves 1, 1/2, 1/4 … that lowers q enough (Armijo), but for rounding
    errors.
    """
    value = dual(program, theta)
    for halved in range(60):
        trial = theta + 0.5**halved * move
        trial[~program.equal] = np.maximum(trial[~program.equal], 0.0)
        allowed = value + ARMIJO * float(slope @ (trial - theta))
        if dual(program, trial) <= allowed + 2 * np.finfo(float).eps * max(1.0, abs(value)):
            return trial
    return theta


def proof_of(program: RowProgram, p: Sequence[float] | Floats, theta: Sequence[float] | Floats) -> RowProof:
    """Both sides of weak duality for these numbers as they are, by decimal and rational arithmetic that
    shares nothing with the search. Raises ValueError for a multiplier of an inequality below 0.
    """
    chances, multipliers, b = _exactly(p), _exactly(theta), _exactly(program.b)
    if any(each < 0 for each, equal in zip(multipliers, program.equal, strict=True) if not equal):
        raise ValueError("a multiplier of an inequality is below 0")
    f = [_exactly(row) for row in program.f]
    with decimal.localcontext() as context:
        context.prec = DIGITS
        entropy = -sum((_decimal(each) * _decimal(each).ln() for each in chances if each > 0), Decimal(0))
        exponents = [_decimal(-_dot(multipliers, column)) for column in zip(*f, strict=True)]
        bound = sum((each.exp() for each in exponents), Decimal(0)).ln() + _decimal(_dot(multipliers, b))
        told = float(entropy), float(entropy) + float(bound - entropy)
    broken = _most_missed(chances, f, b, program.equal)
    return RowProof(*told, float(broken), read_only(np.asarray(theta, dtype=np.float64)))


def _most_missed(
    chances: Sequence[Fraction], f: Sequence[Sequence[Fraction]], b: Sequence[Fraction], equal: Bools
) -> Fraction:
    """By how much a distribution misses a constraint at most, Σ p = 1 too."""
    missed: list[Fraction] = [abs(sum(chances, Fraction(-1)))]
    for row, right, is_equal in zip(f, b, equal, strict=True):
        over = _dot(chances, row) - right
        missed.append(abs(over) if is_equal else max(over, Fraction(0)))
    return max(missed)


def _exactly(numbers: Sequence[float] | Floats) -> list[Fraction]:
    return [Fraction(float(each)) for each in numbers]


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
