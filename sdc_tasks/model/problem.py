"""What must be protected, against what is known: the whole release as arrays.

Symbols as in [2] §4: `a` true values, `lb ub` external bounds, `lpl upl spl` protection levels as distances ≥ 0.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints, read_only


@dataclass(frozen=True)
class NationalTable:
    """The accepted delivery of one country, complete: true values and flags. All arrays have `space.national_size` entries.

    `value` is in the unit of the indicator (its multiplier applied by the sender); a cell without a record is a public zero.
    `flag` is the CONF_STATUS code; `units` is −1, `share_1 share_2` are NaN where not sent (shares in percent).
    """

    country: str
    delivery: str
    value: Floats = field(repr=False)
    flag: np.ndarray = field(repr=False)
    units: Ints = field(repr=False)
    share_1: Floats = field(repr=False)
    share_2: Floats = field(repr=False)

    def __post_init__(self) -> None:
        sizes = {name: len(getattr(self, name)) for name in ("value", "flag", "units", "share_1", "share_2")}
        if len(set(sizes.values())) != 1:
            raise ValueError(f"{self.country}: arrays of different lengths {sizes}")
        for name in sizes:
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class ProtectionProblem:
    """All countries and aggregates of one release, `space.size` cells. Values in the unit of the indicator.

    A cell is public (a national cell everybody can read), suppressed (national, `~public & ~aggregate`), or an aggregate
    cell, which the release decides. `primary` cells are suppressed cells with a requirement.
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

    def __post_init__(self) -> None:
        n = self.space.size
        for name in ("a", "lb", "ub", "lpl", "upl", "spl", "public", "primary"):
            array = getattr(self, name)
            if array.shape != (n,):
                raise ValueError(f"{name}: shape {array.shape}, expected ({n},)")
            object.__setattr__(self, name, read_only(array))
        if not np.isfinite(self.a).all():
            raise ValueError("true values must be finite")
        outside = np.flatnonzero((self.a < self.lb) | (self.a > self.ub))
        if len(outside):
            raise ValueError(f"{self.space.key(int(outside[0]))} and {len(outside) - 1} more: true value outside its external bounds")
        if (self.primary & (self.public | self.aggregate)).any():
            raise ValueError("a primary cell must be a suppressed national cell")
        if min(self.lpl.min(initial=0), self.upl.min(initial=0), self.spl.min(initial=0)) < 0:
            raise ValueError("protection levels are distances, at least 0")

    @cached_property
    def aggregate(self) -> Bools:
        """The cells that the release decides."""
        mask = np.zeros(self.space.size, dtype=bool)
        mask[len(self.space.countries) * self.space.national_size :] = True
        return read_only(mask)

    @cached_property
    def suppressed(self) -> Bools:
        return read_only(~self.public & ~self.aggregate)

    @cached_property
    def digest(self) -> str:
        """sha256 of everything above: what an audit says it audited."""
        h = hashlib.sha256(repr(self.space).encode())
        for name in ("a", "lb", "ub", "lpl", "upl", "spl", "public", "primary"):
            h.update(name.encode() + getattr(self, name).tobytes())
        h.update("|".join(self.deliveries).encode())
        return h.hexdigest()
