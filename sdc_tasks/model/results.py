"""What each step of a release hands to the next: frozen, checked once, arrays read-only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.profiles import named
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Bools, Floats, Ints, read_only


class State(StrEnum):
    """What is published of an aggregate cell."""

    EXACT = "exact"
    ROUNDED = "rounded"
    VISIBLE = "visible"
    WITHHELD = "withheld"


# (OBS_STATUS, CONF_STATUS) of a published cell: normal and free; estimated (it is rounded) and free; another
# definition (the sum of the visible countries) and free; suppressed, by the receiver.
STATUS = {
    State.EXACT: ("A", "F"),
    State.ROUNDED: ("E", "F"),
    State.VISIBLE: ("D", "F"),
    State.WITHHELD: ("Q", "S"),
}


@dataclass(frozen=True)
class Lost:
    """What a publication loses: information (weight · half-width), and the number of cells that lose some."""

    information: float
    cells: int


@dataclass(frozen=True)
class Room:
    """Bases that leave the totals of a longer period room to come out exact (methods/linked/reserve.py), and
    what is lost: `now`, in this release, and `then`, in the longer period, each with the room and without it.
    """

    publication: Publication = field(repr=False)
    now: tuple[Lost, Lost]
    then: tuple[Lost, Lost]

    @property
    def saves(self) -> bool:
        """Whether more totals of the longer period come out exact."""
        return self.then[0].cells < self.then[1].cells


@dataclass(frozen=True)
class FlagCost:
    """What the flag of a primary `cell` costs in tables that are decided together. `tables`: in which it is
    primary. `share`: of the least loss of all tables; `within`: the part of it for the aggregate cells that
    each table shows, so that a cell of several tables counts in each of them.
    """

    cell: str
    country: str
    tables: tuple[str, ...]
    share: float
    within: tuple[float, ...]


@dataclass(frozen=True)
class Publication:
    """The decision for every aggregate cell, in the order of `cells` (flat indices, ascending); all
    arrays have shape (aggregate cells,).

    `value` is the printed value, in the unit of the data (NaN where withheld). `lower upper` is what a reader
    concludes of the total: [value, value] for an exact cell, [value − base/2, value + base/2] for a rounded
    one, [−∞, ∞] for a withheld one. `base` is 0 for an exact cell, ∞ for a withheld one. Where `covers` is
    above 0 (and the base ∞), the value is the sum of the visible countries, at least the share `covers` of
    the total: a reader concludes [value, value / covers] (methods/bases/printed/visible_share_rule.py).
    Raises ValueError for arrays that contradict this.
    """

    cells: Ints = field(repr=False)
    value: Floats = field(repr=False)
    base: Floats = field(repr=False)
    covers: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    def __post_init__(self) -> None:
        if not len(self.covers):
            object.__setattr__(self, "covers", np.zeros(len(self.cells)))
        if not (self.cells.shape == self.value.shape == self.base.shape == self.covers.shape):
            raise ValueError("cells, value, base and covers differ in shape")
        if (self.base < 0).any() or np.isnan(self.base).any():
            raise ValueError("a base is at least 0")
        if not ((self.covers >= 0) & (self.covers <= 1)).all():
            raise ValueError("a share is between 0 and 1")
        if ((np.isnan(self.value) | (self.covers > 0)) != np.isinf(self.base)).any() or (
            np.isnan(self.value) & (self.covers > 0)
        ).any():
            raise ValueError("a withheld cell has no value, and every other cell has one")
        if (self.value[self.covers > 0] < 0).any():
            raise ValueError("a sum of visible countries is at least 0")
        for name in ("cells", "value", "base", "covers"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def nothing(cls, cells: Ints) -> Publication:
        """The publication that withholds every aggregate cell."""
        return cls(cells, np.full(len(cells), np.nan), np.full(len(cells), np.inf))

    def where(self, cells: Bools, other: Publication) -> Publication:
        """The publication with what another one says of these cells. `cells` (aggregate cells,) is a mask."""
        told = (
            np.where(cells, theirs, mine)
            for theirs, mine in (
                (other.value, self.value),
                (other.base, self.base),
                (other.covers, self.covers),
            )
        )
        return Publication(self.cells, *told)

    def without(self, cells: Bools) -> Publication:
        """The publication that withholds these cells too. `cells` (aggregate cells,) is a mask."""
        told = (
            np.where(cells, np.nan, self.value),
            np.where(cells, np.inf, self.base),
            np.where(cells, 0.0, self.covers),
        )
        return Publication(self.cells, *told) if cells.any() else self

    @cached_property
    def exact(self) -> Bools:
        return read_only(self.base == 0)

    @cached_property
    def visible(self) -> Bools:
        """(aggregate cells,): the sum of the visible countries is printed instead of the total."""
        return read_only(self.covers > 0)

    @cached_property
    def withheld(self) -> Bools:
        return read_only(np.isnan(self.value))

    @cached_property
    def rounded(self) -> Bools:
        return read_only((self.base > 0) & np.isfinite(self.base))

    @cached_property
    def lower(self) -> Floats:
        return read_only(
            np.where(
                self.withheld, -np.inf, np.nan_to_num(self.value) - np.where(self.rounded, self.base, 0) / 2
            )
        )

    @cached_property
    def upper(self) -> Floats:
        highest = np.nan_to_num(self.value) + np.where(self.rounded, self.base, 0) / 2
        return read_only(np.where(self.withheld, np.inf, highest / np.where(self.visible, self.covers, 1)))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the decision. A release names its publication by it."""
        h = hashlib.sha256()
        told = (self.covers,) if self.visible.any() else ()
        for array in (self.cells, self.value, self.base, *told):
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()


class Related(NamedTuple):
    """A published version of another table, or another period, of the statistic: two of them may print the
    same and promise other cells their levels.
    """

    domain: str
    period: str
    version: int
    publication: str


@dataclass(frozen=True)
class ReceiverSuppression:
    """The secondaries that the receiver set in the table of a country (flag S), as
    positions in that table, ascending.

    `unsafe`: the primaries that the table did not protect as it came. Of these, hiding more cannot protect
    the ones that were `shown` by an earlier version of the period, nor the `known` ones, of which respondents
    know too much. `own`: the country had set secondaries itself.
    """

    country: str
    cells: Ints = field(repr=False)
    unsafe: Ints = field(repr=False)
    shown: Ints = field(repr=False)
    known: Ints = field(repr=False)
    own: bool

    def __post_init__(self) -> None:
        for name in ("cells", "unsafe", "shown", "known"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


class Outcome(StrEnum):
    """The outcome of a rung of the CTA ladder."""

    OPTIMAL = "optimal"  # proven within the requested gap
    FEASIBLE = "feasible"  # a verified incumbent, with a bound
    RELAXED = "relaxed"  # elastic: some sensitive cells fall short of their level
    NONE = "none"  # no table


@dataclass(frozen=True)
class Rung:
    """One rung of the ladder, for the operator. It holds no cell values: the objective is a
    weighted sum over aggregate cells.

    `accepted`: no further rung is needed. `chosen`: its table replaced the table of the rungs before it.
    """

    method: str
    outcome: Outcome
    objective: float | None
    bound: float | None
    gap: float | None
    seconds: float
    reason: str
    unprotected: int = 0
    accepted: bool = False
    chosen: bool = False


@dataclass(frozen=True)
class Adjustment:
    """The adjusted table `x` (space.size,) of CTA and the rungs that led to it. `x` is
    None when no rung returned a table.
    """

    x: Floats | None = field(default=None, repr=False)
    rungs: tuple[Rung, ...] = ()

    def __post_init__(self) -> None:
        if self.x is not None:
            object.__setattr__(self, "x", read_only(self.x))

    @property
    def accepted(self) -> bool:
        """Whether the table of a rung was good enough to stop there."""
        return any(rung.accepted for rung in self.rungs)


def _ints(*items: int) -> Ints:
    return np.array(items, dtype=np.int64)


@dataclass(frozen=True)
class Multipliers:
    """Proofs by weak duality that an attacker comes too close to a cell. Confidential: with
    the table they bound a primary.

    Attack i has the multipliers `start[i] … start[i + 1]`. It is on primary `cell`, by attacker `knower`
    (−1: any) of profile number `profile` (of the profiles, then of the weaker adversaries), on the side −1
    (downwards), 1 (upwards) or 0 (both: then the first `split` multipliers are the downward ones). `row` is
    a row of `space.relations`, followed by the rows of earlier releases. `reach`: the attacker's
    uncertainty, in the unit of the data.
    """

    profile: Ints = field(default_factory=_ints, repr=False)
    cell: Ints = field(default_factory=_ints, repr=False)
    side: Ints = field(default_factory=_ints, repr=False)
    knower: Ints = field(default_factory=_ints, repr=False)
    split: Ints = field(default_factory=_ints, repr=False)
    reach: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    start: Ints = field(default_factory=lambda: _ints(0), repr=False)
    row: Ints = field(default_factory=_ints, repr=False)
    value: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> Multipliers:
        """From arrays by name. Arrays of an earlier version have no `reach`: they become empty,
        because they prove nothing without it.
        """
        told = {each.name: arrays[each.name] for each in fields(cls) if each.name in arrays}
        return cls(**{"reach": np.full(len(arrays["cell"]), np.nan)} | told)


@dataclass(frozen=True)
class Weaker:
    """The weaker adversaries of an audit, in the order of their numbers (METHOD §2, every attacker).

    Adversary i is of profile number `profile[i]`, lacks the pieces `piece[lack[i]:lack[i + 1]]`, and was
    judged for the primaries `cell[judged[i]:judged[i + 1]]`.
    """

    profile: Ints = field(default_factory=_ints, repr=False)
    lack: Ints = field(default_factory=lambda: _ints(0), repr=False)
    piece: Ints = field(default_factory=_ints, repr=False)
    judged: Ints = field(default_factory=lambda: _ints(0), repr=False)
    cell: Ints = field(default_factory=_ints, repr=False)

    @classmethod
    def of(cls, adversaries: Sequence[tuple[int, Sequence[int], Ints]]) -> Weaker:
        """From (number of the profile, pieces that he lacks, primaries) of each."""
        return cls(
            profile=_ints(*(int(profile) for profile, _, _ in adversaries)),
            lack=_ints(*np.cumsum([0, *(len(lacks) for _, lacks, _ in adversaries)])),
            piece=_ints(*(piece for _, lacks, _ in adversaries for piece in lacks)),
            judged=_ints(*np.cumsum([0, *(len(cells) for _, _, cells in adversaries)])),
            cell=np.concatenate([_ints(), *(cells for _, _, cells in adversaries)]),
        )


@dataclass(frozen=True)
class Evidence:
    """What a second program needs to check a verdict without solving anything
    (`judge/release`). Confidential.

    `witness` (witnesses, columns): deviations from the true values, first of the suppressed cells, then
    of unknown earlier values; columns after the last one that moves are left out. It fools the attackers
    of number `profile`: first the profiles of the audit, then its `weaker` adversaries. `lot` is the batch
    of the audit that found it, −1 for the shared part. `broken` proves requirements that are not met,
    `cut` requirements that the national tables alone do not keep. `whole whole_profile whole_lot` are the
    same for whole tables, against an attacker with integer knowledge. `whole_cut` (cuts, 5) holds
    profile, cell, side, knower and reach of requirements that the national tables alone do not keep
    against that attacker; it rests on the result of a MILP. `program program_centre`: tables that prove
    what somebody who has the program is left, as deviations from the truth, or from the table before it
    whose number `program_centre` is. `weaker`: the attackers who lack a part of what their profile knows,
    and for which primaries each was judged.
    """

    witness: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)), repr=False)
    profile: Ints = field(default_factory=_ints, repr=False)
    lot: Ints = field(default_factory=_ints, repr=False)
    broken: Multipliers = field(default_factory=Multipliers, repr=False)
    cut: Multipliers = field(default_factory=Multipliers, repr=False)
    whole: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)), repr=False)
    whole_profile: Ints = field(default_factory=_ints, repr=False)
    whole_lot: Ints = field(default_factory=_ints, repr=False)
    whole_cut: Ints = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64), repr=False)
    program: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)), repr=False)
    program_centre: Ints = field(default_factory=_ints, repr=False)
    weaker: Weaker = field(default_factory=Weaker, repr=False)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All fields as plain arrays, by name."""
        w = self.witness
        own = {
            "witness.data": w.data,
            "witness.indices": w.indices,
            "witness.indptr": w.indptr,
            "witness.shape": np.array(w.shape),
        }
        own |= {"profile": self.profile, "lot": self.lot}
        if self.whole.shape[0] or len(self.whole_cut):
            w = self.whole
            own |= {
                "whole.data": w.data,
                "whole.indices": w.indices,
                "whole.indptr": w.indptr,
                "whole.shape": np.array(w.shape),
            }
            own |= {name: getattr(self, name) for name in ("whole_profile", "whole_lot", "whole_cut")}
        if len(self.program_centre):
            w = self.program
            own |= {
                "program.data": w.data,
                "program.indices": w.indices,
                "program.indptr": w.indptr,
                "program.shape": np.array(w.shape),
            }
            own |= {"program_centre": self.program_centre}
        if len(self.weaker.profile):
            own |= {f"weaker.{each.name}": getattr(self.weaker, each.name) for each in fields(Weaker)}
        return own | {
            f"{kind}.{each.name}": getattr(getattr(self, kind), each.name)
            for kind in ("broken", "cut")
            for each in fields(Multipliers)
        }

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> Evidence:
        """The inverse of `arrays`."""
        kinds = {
            kind: {n.removeprefix(f"{kind}."): a for n, a in arrays.items() if n.startswith(f"{kind}.")}
            for kind in ("broken", "cut")
        }
        parts = {kind: Multipliers.of(named) for kind, named in kinds.items()}

        def tables(name: str) -> sp.csr_array:
            csr = (arrays[f"{name}.data"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"])
            return sp.csr_array(csr, shape=tuple(arrays[f"{name}.shape"].tolist()))

        more: dict[str, Any] = {}
        if "whole_cut" in arrays:
            more |= {
                "whole": tables("whole"),
                **{name: arrays[name] for name in ("whole_profile", "whole_lot", "whole_cut")},
            }
        if "program_centre" in arrays:
            more |= {"program": tables("program"), "program_centre": arrays["program_centre"]}
        if "weaker.profile" in arrays:
            more |= {
                "weaker": Weaker(**{each.name: arrays[f"weaker.{each.name}"] for each in fields(Weaker)})
            }
        return cls(tables("witness"), arrays["profile"], arrays["lot"], parts["broken"], parts["cut"], **more)

    def digest(self, salt: Secret) -> str:
        """Digest of all fields, keyed by the salt of the problem. A certificate names its evidence by it."""
        parts = (
            f"{name}{array.shape}".encode() + np.ascontiguousarray(array).tobytes()
            for name, array in sorted(self.arrays.items())
        )
        return salt.derive("evidence").digest(*parts)


@dataclass(frozen=True, kw_only=True)
class CandidateWitnesses:
    """Tables that may be witnesses, for an audit to check. Confidential.

    Table i has the deviations `value` from the truth at the `column`s from `start[i]` to `start[i + 1]`, 0
    elsewhere; the columns are the suppressed cells in ascending order.
    """

    start: Ints = field(repr=False)
    column: Ints = field(repr=False)
    value: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("start", "column", "value"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @staticmethod
    def rows(tables: Sequence[tuple[Ints, Floats]]) -> dict[str, Any]:
        """`start`, `column` and `value` of tables, each given by its columns and their deviations."""
        return {
            "start": np.cumsum([0, *(len(column) for column, _ in tables)]),
            "column": np.concatenate([np.zeros(0, dtype=np.int64), *(column for column, _ in tables)]),
            "value": np.concatenate([np.zeros(0), *(value for _, value in tables)]),
        }

    @property
    def sparse(self) -> list[tuple[Ints, Floats]]:
        """The columns of each table, and their deviations."""
        return [
            (self.column[first:after], self.value[first:after])
            for first, after in pairwise(self.start.tolist())
        ]

    def dense(self, n: int) -> Iterator[Floats]:
        """Each table with all n deviations, one at a time: all together would not fit into memory."""
        yield from (_spread(each, n) for each in self.sparse)


def _spread(table: tuple[Ints, Floats], n: int) -> Floats:
    z = np.zeros(n)
    z[table[0]] = table[1]
    return z


@dataclass(frozen=True, kw_only=True)
class SharedWitnesses(CandidateWitnesses):
    """The tables that the joint searches of an audit found, for the chunks of this audit:
    each chunk checks every one again.

    `problem publication requirements`: digests of what was attacked; `seed`: of the searches. Prover number
    `prover[i]` found table i; its deviations are in the units of that prover, and unknown values of earlier
    deliveries are further columns. `lps` (provers,): the LPs solved.
    """

    problem: str
    publication: str
    requirements: str
    seed: int
    prover: Ints = field(repr=False)
    lps: Ints = field(repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("prover", "lps"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def of(self, prover: int, n: int) -> Iterator[Floats]:
        """The tables of a prover, in the order in which they were found, each with all n deviations."""
        yield from (
            _spread(each, n)
            for each, number in zip(self.sparse, self.prover.tolist(), strict=True)
            if number == prover
        )


@dataclass(frozen=True)
class AuditReport:
    """The result of the attack of each profile on exactly one publication of exactly one problem.

    Arrays (primaries,), in ascending cell order: `down up slide` are the strongest attacker's uncertainty as
    a share of the effective requirement, cut at 1 (so 1.0 means protected, and no value shows); `by_lp`: the
    verdict needed LPs for this cell; `baseline`: a requirement was cut to what the national tables alone
    protect; `by_milp`: the verdict against integer knowledge needed MILPs for this cell; `undecided`: such a
    MILP stopped at its limit, and the cell counts as not protected. `held` (profiles, primaries): the cell is
    protected against that profile. `requirements` is the digest of the requirements. Every chunk solves the
    `shared_lps` among the `lps`. `evidence` supports the verdict and is confidential. `small`: flat indices
    of aggregate cells that reveal a small count, alone or together with others. `narrow`: primaries with a
    claim that leave somebody who has the program less than both levels together, None where that was not
    asked; `unclaimed`: primaries without a claim (METHOD §9). `unjudged`: (profile, primary) for which not
    every weaker attacker of the profile was judged.
    """

    problem: str
    publication: str
    profiles: tuple[str, ...]
    primaries: Ints = field(repr=False)
    down: Floats = field(repr=False)
    up: Floats = field(repr=False)
    slide: Floats = field(repr=False)
    by_lp: Bools = field(repr=False)
    baseline: Bools = field(repr=False)
    lps: int
    requirements: str
    contradictions: tuple[int, ...] = ()
    shared_lps: int = 0
    held: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=bool), repr=False)
    evidence: Evidence = field(default_factory=Evidence, repr=False)
    by_milp: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    undecided: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    small: tuple[int, ...] = ()
    narrow: tuple[int, ...] | None = None
    unclaimed: tuple[int, ...] = ()
    unjudged: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "profiles", named(self.profiles))
        if not self.held.size:
            object.__setattr__(self, "held", np.repeat(self.protected[None, :], len(self.profiles), axis=0))
        for name in ("by_milp", "undecided"):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.zeros(len(self.primaries), dtype=bool))
        for name in ("held", "primaries", "down", "up", "slide", "by_lp", "baseline", "by_milp", "undecided"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @cached_property
    def protected(self) -> Bools:
        return read_only((self.down >= 1) & (self.up >= 1) & (self.slide >= 1))

    @property
    def broken(self) -> int:
        """The number of requirements that the attacker breaks: below, above and sliding ones."""
        return int((self.down < 1).sum() + (self.up < 1).sum() + (self.slide < 1).sum())

    @property
    def passed(self) -> bool:
        return bool(self.protected.all()) and not self.contradictions and not self.small and not self.narrow


@dataclass(frozen=True)
class Release:
    """A publication together with its passed audit. The publisher takes nothing else."""

    id: str
    problem: str
    publication: Publication
    report: AuditReport
