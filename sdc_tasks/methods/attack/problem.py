"""The attacker's problem (METHOD §2; [2] eq. 5–6; [3] eq. 2.1–2.5).

The attacker knows every public cell, the relations `M x = 0`, the external bounds and what was published of the aggregates. In
deviations `z = x − a` of the suppressed national cells alone that is

    A z = 0            each relation inside a country, restricted to its suppressed cells
    s⁻ ≤ B z ≤ s⁺      each aggregate cell, s⁻ = lower − a_k, s⁺ = upper − a_k (both 0 where exact, ∓∞ where withheld)
    lb − a ≤ z ≤ ub − a

Public cells have z = 0 and are gone; relations between aggregates follow from the rest. The truth is `z = 0`. A primary `p` reaches
down to `min z_p` and up to `max z_p`.

Everything is divided by a `unit` near the protection levels at stake, and no deviation is followed beyond `BOX` units: a witness
inside the box is a witness, so the box errs on the safe side only, and solver tolerances stay small against the levels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.presolve import distinct_rows, tie
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL, named
from sdc_tasks.model.results import Multipliers, Publication
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Bools, Floats, Ints

BOX = 1e4
WHOLE = 1e-9  # by which a distance may miss a whole number and count as it
FEASIBLE = 1e-6  # units by which a witness may miss a row or a bound


@dataclass(frozen=True)
class Requirements:
    """What each primary needs against each profile, as distances ≥ 0 in the unit of the data; all arrays of shape (rows,).

    A row is a primary (flat index) faced by `profiles[profile]`; rows ascend by profile, cell and `knower`. `down up slide` are the
    levels cut at the external bounds and at what the national tables alone protect; `cut` says where the latter happened: an
    under-protection that no treatment of the aggregates can mend, to be reported to its NSI. `knower` is −1, or for a profile whose
    attackers act alone the one attacker that the row is about, where the national tables protect less against him than promised.
    `why` proves the cuts; `whole` (cuts, 5) are those that integer knowledge makes (`Evidence.whole_cut`).
    """

    primaries: Ints = field(repr=False)
    down: Floats = field(repr=False)
    up: Floats = field(repr=False)
    slide: Floats = field(repr=False)
    cut: Bools = field(repr=False)
    profile: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    knower: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    profiles: tuple[str, ...] = field(kw_only=True)
    why: Multipliers = field(default_factory=Multipliers, repr=False)
    whole: Ints = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "profiles", named(self.profiles))
        n = len(self.primaries)
        if not len(self.profile):
            object.__setattr__(self, "profile", np.zeros(n, dtype=np.int64))
        if not len(self.knower):
            object.__setattr__(self, "knower", np.full(n, -1, dtype=np.int64))

    def digest(self, salt: Secret) -> str:
        """Digest of what was required, keyed by the salt of its problem: an audit says against what it was done."""
        names = ("primaries", "down", "up", "slide", "cut", "profile", "knower")
        arrays = (name.encode() + np.ascontiguousarray(getattr(self, name)).tobytes() for name in names)
        return salt.derive("requirements").digest("|".join(self.profiles).encode(), *arrays)

    @cached_property
    def cells(self) -> Ints:
        """The primaries, each once, ascending."""
        return np.unique(self.primaries)

    def keeps(self, promise: Requirements) -> bool:
        """Is nothing less than the promise required, but of the rows that are openly cut to the national baseline?"""
        general = self.rows(self.knower < 0)
        if self.profiles != promise.profiles or not all(
            np.array_equal(getattr(general, name), getattr(promise, name)) for name in ("primaries", "profile")
        ):
            return False
        whole = all(np.array_equal(getattr(general, s)[~general.cut], getattr(promise, s)[~general.cut]) for s in ("down", "up", "slide"))
        least = np.minimum(np.minimum(self.down, self.up), self.slide)
        return whole and bool((least >= 0).all()) and bool(self.cut[self.knower >= 0].all())

    def rows(self, chosen: Bools | Ints) -> Requirements:
        """Some of the rows."""
        parts = {name: getattr(self, name)[chosen] for name in ("primaries", "down", "up", "slide", "cut", "profile", "knower")}
        return Requirements(**parts, profiles=self.profiles)

    def cut_to(self, reached: Iterable[tuple[int, str, int, float]]) -> Requirements:
        """Cut to the levels that are reached: (row, name of its side, the one attacker against whom or −1 for all, level).

        What holds against one attacker alone becomes a row of its own.
        """
        level = {name: getattr(self, name).copy() for name in ("down", "up", "slide")}
        cut, special = self.cut.copy(), dict[tuple[int, int], dict[str, float]]()
        for row, name, knower, most in reached:
            if knower < 0:
                level[name][row], cut[row] = min(level[name][row], most), True
            else:
                known = special.setdefault((row, knower), {})
                known[name] = min(known.get(name, np.inf), most)
        pairs = sorted(special)
        at = np.array([row for row, _ in pairs], dtype=np.int64)
        more = {name: np.minimum(each[at], [special[pair].get(name, np.inf) for pair in pairs]) for name, each in level.items()}
        whole = Requirements(
            primaries=np.concatenate([self.primaries, self.primaries[at]]),
            down=np.concatenate([level["down"], more["down"]]),
            up=np.concatenate([level["up"], more["up"]]),
            slide=np.concatenate([level["slide"], more["slide"]]),
            cut=np.concatenate([cut, np.ones(len(at), dtype=bool)]),
            profile=np.concatenate([self.profile, self.profile[at]]),
            knower=np.concatenate([self.knower, np.array([knower for _, knower in pairs], dtype=np.int64)]),
            profiles=self.profiles,
        )
        return whole.rows(np.lexsort((whole.knower, whole.primaries, whole.profile)))

    @cached_property
    def strongest(self) -> Requirements:
        """One row for each primary, with the most that any profile asks for: for a method that knows the external attacker alone."""
        cells, at = np.unique(self.primaries, return_inverse=True)
        down, up, slide, cut = np.zeros(len(cells)), np.zeros(len(cells)), np.zeros(len(cells)), np.zeros(len(cells), dtype=bool)
        for target, each in ((down, self.down), (up, self.up), (slide, self.slide)):
            np.maximum.at(target, at, each)
        cut[at[self.cut]] = True
        return Requirements(cells, down, up, slide, cut, profiles=(EXTERNAL,))


def promised(problem: ProtectionProblem, profiles: tuple[str, ...]) -> Requirements:
    """The protection levels as promised, cut at the external bounds (METHOD §2), against each profile. Whole numbers of integral cells:
    a level is rounded up to what a whole table can be off by, a bound down. Raises ValueError where no profile is named, or an unknown one.
    """
    p = np.flatnonzero(problem.primary)
    integral = problem.integral[p]
    below, above = _down(integral, problem.a[p] - problem.lb[p]), _down(integral, problem.ub[p] - problem.a[p])
    lpl, upl, spl = (_up(integral, level[p]) for level in (problem.lpl, problem.upl, problem.spl))
    down, up, slide = np.minimum(lpl, below), np.minimum(upl, above), np.minimum(spl, below + above)
    at, profile = np.tile(np.arange(len(p)), len(profiles)), np.repeat(np.arange(len(profiles)), len(p))
    return Requirements(p[at], down[at], up[at], slide[at], np.zeros(len(at), dtype=bool), profile, profiles=profiles)


@dataclass(frozen=True)
class AttackSystem:
    """The attacker's polyhedron in units: rows `row_lower ≤ A z ≤ row_upper`, columns `lower ≤ z ≤ upper`.

    `cells` (columns) are flat indices of suppressed cells; `decided` (rows) is the position of the aggregate cell in the
    publication, −1 for any other row; `source` its row in `space.relations`, earlier releases counted behind them. Behind the columns
    of `cells` stand those of earlier deliveries (see vintage.py). Solvers get the core of the system, z = R u (see presolve): the rows
    `core_rows` of A R. `magnitude` is |A|, for the tolerance of a check; `area code` say where a column stands.
    """

    unit: float
    cells: Ints = field(repr=False)
    A: sp.csr_array = field(repr=False)
    row_lower: Floats = field(repr=False)
    row_upper: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    decided: Ints = field(repr=False)
    R: sp.csr_array = field(repr=False)
    core: sp.csr_array = field(repr=False)
    core_rows: Ints = field(repr=False)
    magnitude: sp.csr_array = field(repr=False)
    source: Ints = field(repr=False)
    area: Ints = field(repr=False)
    code: Ints = field(repr=False)

    def core_bounds(self) -> tuple[Floats, Floats]:
        """(lower, upper) of u."""
        cell, u = self.R.nonzero()
        sign = self.R.data
        lower, upper = np.full(self.R.shape[1], -np.inf), np.full(self.R.shape[1], np.inf)
        np.maximum.at(lower, u, np.where(sign > 0, self.lower[cell], -self.upper[cell]))
        np.minimum.at(upper, u, np.where(sign > 0, self.upper[cell], -self.lower[cell]))
        return lower, upper

    def columns_of(self, cells: Ints) -> Ints:
        """Columns of suppressed cells given by flat index."""
        return np.searchsorted(self.cells, cells)

    def is_witness(self, z: Floats) -> bool:
        """Is `a + z` a table that the attacker cannot tell from the truth?"""
        return self.are_witnesses(z)[0]

    def are_witnesses(self, z: Floats) -> tuple[bool, bool]:
        """As `is_witness`, of `a + z` and of its mirror image `a − z`. Plain arithmetic: no solver is asked."""
        row, slack = self.A @ z, FEASIBLE + 1e-12 * (self.magnitude @ np.abs(z))
        low, high, lower, upper = self.row_lower - slack, self.row_upper + slack, self.lower - FEASIBLE, self.upper + FEASIBLE

        def fits(row: Floats, z: Floats) -> bool:
            return bool((row >= low).all() and (row <= high).all() and (z >= lower).all() and (z <= upper).all())

        return fits(row, z), fits(-row, -z)


def _up(integral: Bools, level: Floats) -> Floats:
    """Levels, those of integral cells up to the next whole number but for the noise of their computation."""
    return np.where(integral, np.ceil(level - WHOLE), level)


def _down(integral: Bools, room: Floats) -> Floats:
    return np.where(integral, np.floor(room + WHOLE), room)


def attack_system(problem: ProtectionProblem, unit: float = 1.0, profile: str = EXTERNAL) -> AttackSystem:
    """The polyhedron of the external attacker before anything is published of the aggregates: their rows are there, unbounded; and what
    attackers of this profile kept of what was published before.
    """
    space, cells = problem.space, np.flatnonzero(problem.suppressed)
    inside = space.relations.shape[0] - space.aggregate_relations.shape[0]
    national, kept = _restrict(space.relations[:inside], cells)
    above, decided = _restrict(space.aggregate_relations, cells)
    earlier = problem.earlier.known_to(profile)
    more = len(earlier.lower)
    before = sp.csr_array(sp.csc_array(earlier.rows)[:, np.concatenate([cells, space.size + np.arange(more)])] if more or earlier.rows.nnz
                          else sp.csr_array((0, len(cells))))  # fmt: skip
    whole = sp.csr_array(sp.vstack([sp.hstack([sp.vstack([national, above]), sp.csr_array((len(kept) + len(decided), more))]), before]))
    row_lower = np.concatenate([np.zeros(len(kept)), np.full(len(decided), -np.inf), earlier.row_lower]) / unit
    row_upper = np.concatenate([np.zeros(len(kept)), np.full(len(decided), np.inf), earlier.row_upper]) / unit
    equal = (row_lower == 0) & (row_upper == 0)
    R = tie(sp.csr_array(whole[equal]))
    reduced = _nonzero(whole @ R)
    relations = np.flatnonzero(equal)[distinct_rows(sp.csr_array(reduced[equal]))]
    core_rows = np.concatenate([relations, np.flatnonzero(~equal & (np.diff(reduced.indptr) > 0))])
    lower = np.concatenate([(problem.lb - problem.a)[cells], earlier.lower])
    upper = np.concatenate([(problem.ub - problem.a)[cells], earlier.upper])
    return AttackSystem(
        unit=unit,
        cells=cells,
        A=whole,
        row_lower=row_lower,
        row_upper=row_upper,
        lower=np.maximum(lower / unit, -BOX),
        upper=np.minimum(upper / unit, BOX),
        decided=np.concatenate([np.full(len(kept), -1), decided, np.full(before.shape[0], -1)]).astype(np.int64),
        R=R,
        core=sp.csr_array(reduced[core_rows]),
        core_rows=core_rows,
        magnitude=sp.csr_array(abs(whole)),
        source=np.concatenate([kept, inside + decided, space.relations.shape[0] + np.arange(before.shape[0])]).astype(np.int64),
        area=np.concatenate([cells // space.national_size, earlier.area]),
        code=np.concatenate([cells % space.national_size, earlier.code]),
    )


def facing(system: AttackSystem, problem: ProtectionProblem, publication: Publication) -> AttackSystem:
    """The same attacker once the publication is out; see `slacks` for published intervals that exclude the true value."""
    if not np.array_equal(publication.cells, np.flatnonzero(problem.aggregate)):
        raise ValueError("the publication is not over the aggregate cells of this problem, in their order")
    low, high = slacks(problem, publication)
    told = system.decided >= 0
    at = system.decided[told]
    row_lower, row_upper = system.row_lower.copy(), system.row_upper.copy()
    row_lower[told], row_upper[told] = low[at] / system.unit, high[at] / system.unit
    return replace(system, row_lower=row_lower, row_upper=row_upper)


def slacks(problem: ProtectionProblem, publication: Publication) -> tuple[Floats, Floats]:
    """(lower − a, upper − a) of every aggregate cell, in the unit of the data; exactly 0 for exact cells, ∓∞ for withheld ones.

    An interval that excludes the true value is moved until it just holds it: the attacker is given more than is printed, not less.
    """
    truth = problem.a[publication.cells]
    exact = publication.exact
    low, high = np.where(exact, 0.0, publication.lower - truth), np.where(exact, 0.0, publication.upper - truth)
    off = np.maximum(low, 0) + np.minimum(high, 0)
    return low - off, high - off


def contradicted(problem: ProtectionProblem, publication: Publication) -> Bools:
    """Aggregate cells whose published interval excludes the true value: such a table is not of these deliveries."""
    truth = problem.a[publication.cells]
    tolerance = 1e-14 * (1 + np.abs(truth))  # the noise of adding up, nothing more
    return (publication.lower > truth + tolerance) | (publication.upper < truth - tolerance)


def _nonzero(A: sp.csr_array) -> sp.csr_array:
    A = sp.csr_array(A)
    A.eliminate_zeros()
    return A


def _restrict(relations: sp.csr_array, cells: Ints) -> tuple[sp.csr_array, Ints]:
    """Relations on some cells only, without the rows that became empty; and which rows stayed."""
    columns = sp.csr_array(sp.csc_array(relations)[:, cells])
    kept = np.flatnonzero(np.diff(columns.indptr) > 0)
    return sp.csr_array(columns[kept]), kept
