"""The protection problem of a whole release as arrays: what must be protected, and what is known.

Symbols as in [2] §4: `a` true values, `lb ub` external bounds, `lpl upl spl` protection levels as distances ≥
0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import and_more
from sdc_tasks.model.profiles import PROFILES, Adversary, Keeper, profile_of
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints, read_only


@dataclass(frozen=True)
class NationalTable:
    """The complete accepted delivery of one country: true values and flags. All arrays
    have shape (space.national_size,).

    `deliveries` are the digests of its files. `value` is in the unit of the indicator, after the
    sender's multiplier; an empty cell without a record is a public zero. `flag` is the CONF_STATUS code.
    `units` is the number of units, −1 where not sent. `share_1 share_2` are the shares of the two
    largest units in percent, NaN where not sent. Nobody knows the value of a cell that is not
    `available`: its number is a filler that fits the rest of the table (intake/unavailable.py). Raises
    ValueError for arrays of different lengths.
    """

    country: str
    deliveries: tuple[str, ...]
    value: Floats = field(repr=False)
    flag: np.ndarray = field(repr=False)
    units: Ints = field(repr=False)
    share_1: Floats = field(repr=False)
    share_2: Floats = field(repr=False)
    available: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)

    def __post_init__(self) -> None:
        if not len(self.available):
            object.__setattr__(self, "available", np.ones(len(self.value), dtype=bool))
        sizes = {
            name: len(getattr(self, name))
            for name in ("value", "flag", "units", "share_1", "share_2", "available")
        }
        if len(set(sizes.values())) != 1:
            raise ValueError(f"{self.country}: arrays of different lengths {sizes}")
        for name in sizes:
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class Levels:
    """The protection level of a cell as a function of its value X: max(slope · |X|, least). Arrays
    (space.size,); 0 where there is none.
    """

    slope: Floats = field(repr=False)
    least: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("slope", "least"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


ROWS, COLUMNS = (
    ("row_lower", "row_upper", "rounded", "assumed"),
    ("lower", "upper", "area", "code", "integral"),
)

MARKS = ("related", "everybody")  # of rows, beside releases alone


@dataclass(frozen=True)
class PriorReleases:
    """What is known of the cells from releases before this one: earlier versions of the period and, in a
    joint problem, the related tables beside it. In deviations z: rows `row_lower ≤ rows · z ≤ row_upper`.

    `rows` (m, n + k): the first n columns are the cells of this release, the other k are earlier values of
    cells. Arrays (m,): `row_lower row_upper`; `rounded`: the row is the published interval of a rounded
    value; `assumed`: the row is an assumption on revisions. Assumed rows come last, and only profile
    `revision` knows them (methods/attack/vintage.py). Arrays (k,): `lower upper` bound the earlier values;
    `area code` are the country and the cell within the table of one area (or a substitute, where there is
    none); `integral`: the value is known to be whole.

    `pieces`: what somebody may have or lack, by name: a version, or the table of one country as it came.
    `told_by` (m, pieces): the pieces each of which tells the row; of an assumption, those that are needed
    together. Both are empty where there are fewer than two pieces: then nobody has a part of it. `beside`
    (k,): the earlier value is one of a table beside the release (`CellSpace.beside`); `related` (m,): the row
    is of such a table, or a relation with it; `everybody` (m,): it is a relation that everybody knows,
    whatever he read. Raises
    ValueError for arrays of different lengths, and for assumed rows that are not last.
    """

    rows: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)), repr=False)
    row_lower: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    row_upper: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    rounded: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    assumed: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    lower: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    upper: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    area: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    code: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    integral: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    pieces: tuple[str, ...] = ()
    told_by: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=bool), repr=False)
    beside: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    related: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    everybody: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)

    def __post_init__(self) -> None:
        if not len(self.beside):
            object.__setattr__(self, "beside", np.zeros(len(self.lower), dtype=bool))
        if not len(self.related):
            object.__setattr__(self, "related", np.zeros(self.rows.shape[0], dtype=bool))
        if not len(self.everybody):
            object.__setattr__(self, "everybody", np.zeros(self.rows.shape[0], dtype=bool))
        rows, columns = (
            {len(getattr(self, name)) for name in (*ROWS, *MARKS)},
            {len(getattr(self, name)) for name in (*COLUMNS, "beside")},
        )
        if rows != {self.rows.shape[0]} or len(columns) != 1:
            raise ValueError("earlier releases: arrays of different lengths")
        if (np.diff(self.assumed.astype(np.int64)) < 0).any():
            raise ValueError("earlier releases: rows assumed of revisions must follow the published rows")
        if self.told_by.shape != ((self.rows.shape[0], len(self.pieces)) if self.pieces else (0, 0)):
            raise ValueError("earlier releases: it is not said of each row which piece tells it")

    @property
    def profiles(self) -> tuple[str, ...]:
        """The profiles that the next release must withstand because of these earlier ones, whether
        or not its domain asks for them.
        """
        if self.rows.shape == (0, 0):
            return ()
        return tuple(
            name
            for name, each in PROFILES.items()
            if isinstance(each, Keeper) and each.must_be_withstood(self)
        )

    def known_to(self, adversary: Adversary) -> PriorReleases:
        """The rows that these attackers know."""
        keeper = profile_of(adversary.profile)
        if not isinstance(keeper, Keeper):
            return self.picked(np.flatnonzero(self.everybody)) if self.everybody.any() else PriorReleases()
        kept = keeper.kept(self, adversary.lacks)
        return self if kept.all() else self.picked(np.flatnonzero(kept))

    def picked(self, rows: Ints) -> PriorReleases:
        """Some of the rows."""
        by = self.told_by[rows] if self.pieces else self.told_by
        return replace(
            self,
            rows=sp.csr_array(self.rows[rows]),
            told_by=by,
            **{name: getattr(self, name)[rows] for name in (*ROWS, *MARKS)},
        )

    def within(self, own: int, size: int) -> PriorReleases:
        """What the releases tell of the first `own` of `size` cells, and of their earlier values, alone."""
        kept = np.flatnonzero(~self.related)
        later = np.flatnonzero(~self.beside)
        found = self.picked(kept)
        pieces = np.flatnonzero(found.told_by.any(axis=0)) if self.pieces else np.zeros(0, dtype=np.int64)
        several = len(pieces) > 1
        if not len(kept) and not len(later):
            return PriorReleases()
        columns = np.concatenate([np.arange(own), size + later])
        return replace(
            found,
            rows=sp.csr_array(sp.csc_array(found.rows)[:, columns]),
            pieces=tuple(self.pieces[piece] for piece in pieces.tolist()) if several else (),
            told_by=found.told_by[:, pieces] if several else np.zeros((0, 0), dtype=bool),
            **{name: getattr(self, name)[later] for name in COLUMNS},
            beside=self.beside[later],
        )

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All fields as plain arrays, by name."""
        indices, indptr = (
            each.astype(np.int32) for each in (self.rows.indices, self.rows.indptr)
        )  # scipy chooses 32 or 64 bits
        matrix = {
            "data": self.rows.data,
            "indices": indices,
            "indptr": indptr,
            "shape": np.array(self.rows.shape),
        }
        parts = (
            {"told_by": self.told_by, "pieces": np.array(self.pieces, dtype=np.str_)} if self.pieces else {}
        )
        beside = {name: getattr(self, name) for name in MARKS if getattr(self, name).any()}
        beside |= {"beside": self.beside} if self.beside.any() else {}
        return matrix | {name: getattr(self, name) for name in (*ROWS, *COLUMNS)} | parts | beside

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> PriorReleases:
        """The inverse of `arrays`."""
        a = dict(arrays)
        m, n = a.pop("shape").tolist()
        if "assumed" not in a:  # stored by an earlier version of the program
            a |= {
                "rounded": np.zeros(m, dtype=bool),
                "assumed": np.zeros(m, dtype=bool),
                "integral": np.zeros(len(a["lower"]), dtype=bool),
            }
        pieces = tuple(a.pop("pieces", np.zeros(0, dtype=np.str_)).tolist())
        return cls(
            pieces=pieces,
            rows=sp.csr_array((a.pop("data"), a.pop("indices"), a.pop("indptr")), shape=(m, n)),
            **a,
        )


# The arrays of a problem with an entry for each cell.
CELL_ARRAYS = (
    "a",
    "lb",
    "ub",
    "lpl",
    "upl",
    "spl",
    "public",
    "primary",
    "known",
    "integral",
    "least",
    "withheld",
)
# Those that may be left out, and what then holds of each cell.
UNSAID: dict[str, float | bool] = {"known": np.nan, "integral": False, "least": 0, "withheld": False}


@dataclass(frozen=True)
class ProtectionProblem:
    """All countries and aggregates of one release. All arrays have shape (space.size,);
    values in the unit of the indicator.

    A cell is public (a national cell everybody can read), suppressed (national, `~public & ~aggregate`), or
    an aggregate cell, which the release decides. `primary` cells are suppressed cells with a requirement.
    `known` is what the largest unit of a cell with one or two units knows of the cell from its own books: the
    cell itself for a single unit, NaN elsewhere. It is −∞ for a suppressed cell whose number of units was not
    sent: then profiles of respondents cannot be attacked. `earlier` holds the earlier releases of the same
    period. `integral` cells hold whole numbers, and everybody knows it. `least` is above 0 under small count
    rounding: no published count may be in 1 … least − 1, and no count that follows from published ones
    (methods/attack/small.py). `withheld` aggregate cells have a member that is not available: they are never
    published. `levels`: the levels as functions of the values, for a rule that withstands somebody who has
    the program; they follow from flags, units and shares. `salt` keys the digests that people see and the
    seeds of roundings; only confidential files hold it. Raises ValueError for arrays that contradict this.
    """

    space: CellSpace
    a: Floats = field(repr=False)
    lb: Floats = field(repr=False)
    ub: Floats = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    spl: Floats = field(repr=False)
    public: Bools = field(repr=False)
    primary: Bools = field(repr=False)
    deliveries: tuple[str, ...]
    known: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    earlier: PriorReleases = field(default_factory=PriorReleases, repr=False)
    integral: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    least: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    withheld: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    levels: Levels | None = None
    salt: Secret = field(default_factory=Secret.fresh, repr=False)

    def __post_init__(self) -> None:
        n = self.space.size
        for name, nothing in UNSAID.items():
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(n, nothing))
        for name in CELL_ARRAYS:
            array = getattr(self, name)
            if array.shape != (n,):
                raise ValueError(f"{name}: shape {array.shape}, expected ({n},)")
            object.__setattr__(self, name, read_only(array))
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        if not np.isfinite(self.a).all():
            raise ValueError("true values must be finite")
        outside = np.flatnonzero((self.a < self.lb) | (self.a > self.ub))
        if len(outside):
            raise ValueError(
                f"{self.space.key(int(outside[0]))}{and_more(len(outside) - 1)}: true value outside its "
                f"external bounds"
            )
        if (self.a[self.integral] != np.rint(self.a[self.integral])).any():
            raise ValueError("an integral cell holds a whole number")
        if (self.known > self.a).any():
            raise ValueError("a respondent's part of a cell is at most the cell")
        told, size = self.earlier, self.space.size
        if told.rows.shape != (0, 0) and told.rows.shape[1] != size + len(told.lower):
            raise ValueError("earlier releases do not fit the cells of this release")
        if (self.primary & (self.public | self.aggregate)).any():
            raise ValueError("a primary cell must be a suppressed national cell")
        if (self.withheld & ~self.aggregate).any():
            raise ValueError("only an aggregate cell can be withheld")
        if min(self.lpl.min(initial=0), self.upl.min(initial=0), self.spl.min(initial=0)) < 0:
            raise ValueError("protection levels are distances, at least 0")

    @cached_property
    def aggregate(self) -> Bools:
        """The cells that the release decides."""
        mask = np.zeros(self.space.size, dtype=bool)
        mask[self.space.first_aggregate : self.space.own_size] = True
        return read_only(mask)

    @cached_property
    def suppressed(self) -> Bools:
        return read_only(~self.public & ~self.aggregate)

    @cached_property
    def own(self) -> ProtectionProblem:
        """The problem of this release without what is beside it: its own cells, and what its own earlier
        versions tell of them alone.
        """
        space, n = self.space.alone, self.space.own_size
        if space is self.space:
            return self
        levels = None if self.levels is None else Levels(self.levels.slope[:n], self.levels.least[:n])
        arrays = {name: getattr(self, name)[:n] for name in CELL_ARRAYS}
        return replace(
            self, space=space, earlier=self.earlier.within(n, self.space.size), levels=levels, **arrays
        )

    @cached_property
    def visible_sums(self) -> Floats:
        """(aggregate cells,): the sum of the public members, in the unit of the data; NaN where it is 0, or
        where a suppressed member may be negative.
        """
        first = self.space.first_aggregate
        members = self.space.aggregate_relations[:, :first]
        told, below = self.public[:first], self.suppressed[:first] & (self.lb[:first] < 0)
        total = members @ np.where(told, self.a[:first], 0.0)
        fit = (members @ below.astype(float) == 0) & (self.lb[self.aggregate] >= 0) & (total > 0)
        return read_only(np.where(fit, total, np.nan))

    @cached_property
    def digest(self) -> str:
        """Keyed digest of all fields. An audit names the problem by it."""
        return self.salt.derive("problem").digest(*self._told())

    def _told(self) -> Iterator[bytes]:
        yield repr(self.space).encode()
        for name in ("a", "lb", "ub", "lpl", "upl", "spl", "public", "primary", "known"):
            yield name.encode() + getattr(self, name).tobytes()
        for array in self.earlier.arrays.values():
            yield np.ascontiguousarray(array).tobytes()
        for name in ("integral", "least", "withheld"):
            if getattr(self, name).any():
                yield name.encode() + getattr(self, name).tobytes()
        yield "|".join(self.deliveries).encode()
        if self.space.links is not None:
            for part in (self.space.links.data, self.space.links.indices, self.space.links.indptr):
                yield part.astype(np.float64).tobytes()
