"""Which cells of a table are confidential, from the contributions themselves ([2] §4; Hundepool et
al. 2012, §4.2), and their levels.

X is the size of a cell, the sum of |x| over its contributors; x1 ≥ x2 ≥ … are the sizes of contributions,
sorted. A contributor is a record, or all records of one contributor, or of one holding. With sampling weights
a record stands for as many contributors of its size.

    p% (prior q)   x_t · p/q − (X − x_t − x_a) > 0     t: the largest that has not waived, a: the largest
                                                       other one, who attacks; or x_a is
                                                       the sum of the `intruders` largest
                                                       other ones, who attack together
    (n, k)         (x1 + … + xn) · 100/k − X > 0       unless all of these have waived
    frequency      fewer contributors than the minimum, unless all have waived; level: `range` % of X
    request        x_r · 100/c − X > 0                 for a contributor r who asked to be
                                                       protected where his share exceeds c %,
                                                       at least `request_range` % of X; this alone
                                                       where somebody asked, and contributors are
                                                       fewer than `request_minimum`

The left-hand sides are the protection levels, the same on both sides; the largest of a cell counts. A
contributor who asks for protection has not waived it. A contributor is who has a record, also one of 0. A
cell without contributors is empty, hence public.

That level keeps all others from the largest contributor who has not waived. The next ones have levels of
their own against all others, of whom the largest attacks best (`beside`): p% and requests as above, for x_t
of their own; (n, k) and frequency as they read in the cell without its largest contributor, for that is what
he does not know of it. A contributor beyond those whom p%, with its `intruders`, and (n, k) look at has none
by these rules: the others hide him.

The range of a cell, or of what is left of it, that has contributors and adds up to 0 is that of the median
contribution of the table above 0: a percentage of nothing would protect nothing.

A contributor who is alone in a cell knows it; so does one beside whom all have 0, unless the cell has too few
contributors, who are then to be kept from him. If no rule makes the cell primary (because he waived, for
example), the cell stays open: to hide it would protect nobody from him.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import ROUNDING

Rule = str  # p, nk, frequency, request


@dataclass(frozen=True)
class ContributionRules:
    """The rules that count. `p`, `q` in percent; `nk`: pairs (n, k in percent); `minimum`: of
    contributors; `range`: level of cells with fewer, in percent of their size; `requests`: c in
    percent for contributors who asked with 1, with 2 … `request_minimum` of contributors beside one who
    asked, and `request_range`: the least level of those cells, in percent of their size. `intruders`: how
    many contributors attack together under p%. Raises InvalidInput.
    """

    p: float | None = None
    q: float = 100.0
    nk: tuple[tuple[int, float], ...] = ()
    minimum: int | None = None
    range: float = 10.0
    requests: tuple[float, ...] = ()
    intruders: int = 1
    request_minimum: int = 0
    request_range: float = 0.0

    def __post_init__(self) -> None:
        if self.p is None and not self.nk and self.minimum is None and not self.requests:
            raise InvalidInput(
                "no rule says which cells are confidential. Remedy: give one: p%, (n,k), minimum frequency "
                "or requests"
            )
        # a wrong type would break the comparisons of the ranges
        if text := self._wrong_type() or self._out_of_range():
            raise InvalidInput(f"{text}. Remedy: correct the rule")

    def _wrong_type(self) -> str | None:
        """The first parameter of a wrong type, as a message."""
        kinds = (
            (
                not all(
                    each is None or _number(each) for each in (self.p, self.q, self.range, self.request_range)
                ),
                "p, q and the ranges are numbers",
            ),
            (not _several(self.nk, _pair), "nk is a list of pairs (n, k), n a whole number"),
            (
                not (self.minimum is None or _whole(self.minimum)) or not _whole(self.request_minimum),
                "a minimum of contributors is a whole number",
            ),
            (not _whole(self.intruders), "a number of intruders is whole"),
            (not _several(self.requests, _number), "requests is a list of percentages"),
        )
        return next((text for bad, text in kinds if bad), None)

    def _out_of_range(self) -> str | None:
        """The first parameter out of its range, as a message."""
        faults = (
            (
                self.p is not None and not 0 < self.p <= self.q <= 100,
                "p is above 0 and at most q, and q at most 100",
            ),
            (self.intruders < 1, "one contributor attacks at least"),
            (any(n < 1 or not 0 < k < 100 for n, k in self.nk), "n is at least 1, and k between 0 and 100"),
            (self.minimum is not None and self.minimum < 1, "a minimum of contributors is at least 1"),
            (not 0 < self.range < math.inf, "the range of cells below the minimum is above 0"),
            *self._faults_of_requests(),
        )
        return next((text for bad, text in faults if bad), None)

    def _faults_of_requests(self) -> tuple[tuple[bool, str], ...]:
        """Whether each of these is so, and what is to be instead."""
        return (
            (
                any(not 0 < percent < 100 for percent in self.requests),
                "shares of those who ask are between 0 and 100",
            ),
            (
                self.request_minimum < 0 or not 0 <= self.request_range < math.inf,
                "the minimum and the range of requests are not below 0",
            ),
            (
                not self.requests and (self.request_minimum > 0 or self.request_range > 0),
                "a minimum or a range of requests goes with shares of those who ask",
            ),
            (
                self.request_minimum > 0 and self.request_range == 0,
                "a minimum of requests asks for nothing without a range",
            ),
        )

    @property
    def most(self) -> int:
        """How many of the largest contributions the rules look at."""
        return max(1 + self.intruders, *(n for n, _ in self.nk), 2)


def _number(given: object) -> bool:
    return not isinstance(given, bool) and isinstance(given, Real)


def _whole(given: object) -> bool:
    return not isinstance(given, bool) and isinstance(given, Integral)


def _pair(given: object) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2 and _whole(given[0]) and _number(given[1])


def _several(given: object, each: Callable[[object], bool]) -> bool:
    return isinstance(given, tuple | list) and all(map(each, given))


@dataclass(frozen=True)
class Contributions:
    """What the n cells of a table are made of.

    `size` X; `count` of contributors; `top` (n, most): sizes of the largest contributions, 0 where there are
    no more; `guarded`: the largest size whose contributor has not waived; `waived` (n, most): whether all of
    so many of the largest have; `all_waived`: whether everybody has; `asked`: the largest x_r · 100/c, 0
    where nobody asked; `respondent`: the number of an only contributor, else −1; `protected`: that of the
    largest who has not waived, −1 if another one asked; `usual`: the median contribution above 0, 1 without
    one; `beside`, `beside_respondent` (m, n): the levels of further contributors, the largest first, and
    their numbers; 0 and −1 where none.
    """

    size: Floats = field(repr=False)
    count: Ints = field(repr=False)
    top: Floats = field(repr=False)
    guarded: Floats = field(repr=False)
    waived: Bools = field(repr=False)
    all_waived: Bools = field(repr=False)
    asked: Floats = field(repr=False)
    respondent: Ints = field(repr=False)
    protected: Ints = field(repr=False)
    usual: float = field(repr=False)
    beside: Floats = field(repr=False)
    beside_respondent: Ints = field(repr=False)


def usual_of(sizes: Floats) -> float:
    """The median of the sizes above 0; 1 where there are none."""
    some = sizes[sizes > 0]
    return float(np.median(some)) if len(some) else 1.0


@dataclass(frozen=True)
class ContributionEntries:
    """Contributions to cells: an entry for each record, or each contributor, in each cell that holds it.

    `cell`: its number. `x` is signed. `holder`: the number of who contributes; `weight`: how many
    contributors a record stands for; `percent`: c of who asked for protection, NaN else.
    """

    cell: Ints = field(repr=False)
    x: Floats = field(repr=False)
    holder: Ints = field(repr=False)
    weight: Floats = field(repr=False)
    waives: Bools = field(repr=False)
    percent: Floats = field(repr=False)

    def picked(self, entry: Ints, cell: Ints) -> ContributionEntries:
        """Some of them, perhaps several times, in other cells."""
        return ContributionEntries(
            cell,
            self.x[entry],
            self.holder[entry],
            self.weight[entry],
            self.waives[entry],
            self.percent[entry],
        )


@dataclass(frozen=True)
class Behind:
    """Who contributes what to the n cells of a table: an entry for each contributor in each cell, sorted by
    cell. `inner` (n): the cells that are no sums.
    """

    entries: ContributionEntries = field(repr=False)
    inner: Bools = field(repr=False)
    rules: ContributionRules
    usual: float = field(repr=False)

    @cached_property
    def largest(self) -> Ints:
        """(n): the number of the largest contributor of each cell, NOBODY of an empty one."""
        each = self.entries
        order = np.lexsort((each.holder, np.abs(each.x), each.cell))
        found = np.full(len(self.inner), NOBODY)
        found[each.cell[order]] = each.holder[order]  # of several the last
        return found

    def together(self, groups: sp.csr_array) -> Contributions:
        """The contributions of g sums of cells; `groups` (g, n): 1 where a cell belongs to a sum."""
        pairs = groups.tocoo()
        start = np.searchsorted(self.entries.cell, np.arange(len(self.inner) + 1))
        count = np.diff(start)[pairs.col]
        entry = np.arange(count.sum()) + np.repeat(start[pairs.col] - (np.cumsum(count) - count), count)
        group = np.repeat(pairs.row.astype(np.int64), count)
        return gathered(self.entries.picked(entry, group), groups.shape[0], self.rules, self.usual)


def behind_of(records: ContributionEntries, inner: Bools, rules: ContributionRules, usual: float) -> Behind:
    """Who contributes what, from records in cells; a holder has one entry in each of his cells."""
    first, which = _holders_in_cells(records)
    k = len(first)
    asked = np.full(k, np.inf)
    asking = np.flatnonzero(~np.isnan(records.percent))
    np.minimum.at(asked, which[asking], records.percent[asking])
    entries = ContributionEntries(
        records.cell[first],
        np.bincount(which, weights=records.x, minlength=k).astype(float),
        records.holder[first],
        records.weight[first],
        np.bincount(which, weights=~records.waives, minlength=k) == 0,
        np.where(np.isinf(asked), np.nan, asked),
    )
    return Behind(entries, inner, rules, usual)


def _holders_in_cells(records: ContributionEntries) -> tuple[Ints, Ints]:
    """The first record of each holder in each cell, and to which of these each record belongs."""
    key = records.cell * (int(records.holder.max(initial=0)) + 1) + records.holder
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first, which


def levels(cells: Contributions, rules: ContributionRules) -> Mapping[Rule, Floats]:
    """(n): the protection level that each rule asks of each cell, 0 where it asks none."""
    found: dict[Rule, Floats] = {}
    there = cells.count > 0
    if rules.p is not None:
        n = rules.intruders
        among = cells.guarded >= cells.top[:, n]  # the guarded one is one of the n + 1 largest
        other = np.where(
            among, cells.top[:, : n + 1].sum(axis=1) - cells.guarded, cells.top[:, :n].sum(axis=1)
        )
        rest = np.maximum(cells.size - cells.guarded - other, 0.0)
        found["p"] = np.where(cells.guarded > 0, rules.p / rules.q * cells.guarded - rest, 0.0)
    if rules.nk:
        largest = [
            np.where(cells.waived[:, n - 1], 0.0, cells.top[:, :n].sum(axis=1) * 100 / k - cells.size)
            for n, k in rules.nk
        ]
        found["nk"] = np.max(largest, axis=0)
    if rules.minimum is not None:
        few = rules.range / 100 * ranged(cells.size, cells.usual)
        found["frequency"] = np.where((cells.count < rules.minimum) & ~cells.all_waived, few, 0.0)
    if rules.requests:
        over, beside_few = cells.asked - cells.size, (cells.asked > 0) & (cells.count < rules.request_minimum)
        least_asked = rules.request_range / 100 * cells.size
        found["request"] = np.where((over > 0) | beside_few, np.maximum(over, least_asked), 0.0)
    least = ROUNDING * cells.size  # what adding fractions leaves is no level
    return {rule: np.where(there & (level > least), level, 0.0) for rule, level in found.items()}


def ranged(size: Floats, usual: float) -> Floats:
    """What a range is a percentage of: the size, and where that is 0 a usual contribution."""
    return np.where(size > 0, size, usual)


def gathered(records: ContributionEntries, n: int, rules: ContributionRules, usual: float) -> Contributions:
    """The contributions of n cells, from records in cells.

    A holder has waived if all his records in a cell did, and has asked if one of them did. `usual`: as of
    `Contributions`.
    """
    cell, x, holder, percent = records.cell, records.x, records.holder, records.percent
    first, which = _holders_in_cells(records)
    k = len(first)
    size = np.abs(np.bincount(which, weights=x, minlength=k))
    there = np.bincount(which, weights=np.abs(x), minlength=k)
    ask = np.full(k, np.inf)
    asking = np.flatnonzero(~np.isnan(percent))
    np.minimum.at(ask, which[asking], percent[asking])
    gone = (np.bincount(which, weights=~records.waives, minlength=k) == 0) & np.isinf(ask)
    size = np.where(there > 0, size, 0.0)
    order = np.lexsort((holder[first], -size, cell[first]))
    where, size, gone, ask, copies = (
        cell[first][order],
        size[order],
        gone[order],
        ask[order],
        records.weight[first][order],
    )
    by = holder[first][order]
    some = there[order] > 0
    top, waived = _largest(where[some], n, size[some], gone[some], copies[some], rules.most)
    guarded, asked = np.zeros(n), np.zeros(n)
    np.maximum.at(guarded, where, np.where(gone, 0.0, size))
    np.maximum.at(asked, where, size * 100 / ask)
    count, above = np.bincount(where, minlength=n), np.bincount(where[some], minlength=n)
    all_waived = np.bincount(where, weights=~gone, minlength=n) == 0
    few = np.zeros(n, dtype=bool) if rules.minimum is None else (count < rules.minimum) & ~all_waived
    alone = np.full(n, NOBODY)
    alone[where[::-1]] = by[::-1]  # the largest
    alone = np.where((count == 1) | ((above == 1) & ~few), alone, NOBODY)
    whole_size = np.bincount(where, weights=size * copies, minlength=n).astype(float)
    protected = _protected(where, n, by, gone, size * 100 / ask)
    next_ones = np.flatnonzero(by != protected[where])
    level = _level_of_next(_Ranked(where, size, gone, ask), top, whole_size, few, usual, rules)[next_ones]
    beside, beside_respondent = _by_rank(where[next_ones], n, level, by[next_ones])
    return Contributions(
        whole_size,
        count,
        top,
        guarded,
        np.logical_and.accumulate(waived, axis=1),
        all_waived,
        asked,
        alone,
        protected,
        usual,
        beside,
        beside_respondent,
    )


def _largest(
    where: Ints, n: int, size: Floats, gone: Bools, copies: Floats, most: int
) -> tuple[Floats, Bools]:
    """(n, most), (n, most): the largest contributions of each cell, and whether they have waived.
    ContributionEntries are sorted by cell and size.
    """
    whole = np.maximum(np.floor(copies), 1.0)  # so many contributors of this size at least
    before = np.cumsum(whole) - whole
    start = np.searchsorted(where, np.arange(n))
    rank = before - before[start.clip(max=max(len(where) - 1, 0))][where] if len(where) else before
    top, waived = np.zeros((n, most)), np.ones((n, most), dtype=bool)
    for place in range(most):
        here = np.flatnonzero((rank <= place) & (place < rank + whole))
        top[where[here], place] = size[here]
        waived[where[here], place] = gone[here]
    return top, waived


@dataclass(frozen=True)
class _Ranked:
    """Contributors of cells, by cell and size: the cell of each (`where`), its `size`, whether it has waived
    (`gone`), and c of those who asked (`ask`), infinite else.
    """

    where: Ints
    size: Floats
    gone: Bools
    ask: Floats


def _level_of_next(
    each: _Ranked, top: Floats, X: Floats, few: Bools, usual: float, rules: ContributionRules
) -> Floats:
    """(entries): the level of each contributor of each cell who is not its largest, against all others."""
    where, size, gone, ask = each.where, each.size, each.gone, each.ask
    X, top = X[where], top[where]
    asked = [np.where(np.isfinite(ask), size * 100 / ask - X, 0.0)]
    if rules.p is not None:
        n = rules.intruders
        others = np.where(size >= top[:, n], top[:, : n + 1].sum(axis=1) - size, top[:, :n].sum(axis=1))
        asked.append(rules.p / rules.q * size - np.maximum(X - size - others, 0.0))
    without = X - top[:, 0]
    for n, k in rules.nk:
        if n > 1:
            asked.append(np.where(size >= top[:, n - 1], top[:, 1:n].sum(axis=1) * 100 / k - without, 0.0))
    if rules.minimum is not None:
        asked.append(
            np.where(
                few[where],
                rules.range / 100 * ranged(np.where(without > ROUNDING * X, without, 0.0), usual),
                0.0,
            )
        )
    level = np.where(gone, 0.0, np.max(asked, axis=0))
    return np.where(level > ROUNDING * X, level, 0.0)


def _by_rank(where: Ints, n: int, level: Floats, by: Ints) -> tuple[Floats, Ints]:
    """(m, n), (m, n): the levels above 0 of each cell, the largest first, and whose they are;
    m: of the cell with most of them.
    """
    some = np.flatnonzero(level > 0)
    order = some[np.lexsort((by[some], -level[some], where[some]))]
    where, level, by = where[order], level[order], by[order]
    rank = np.arange(len(where)) - np.searchsorted(where, where)
    m = int(rank.max(initial=-1)) + 1
    levels, whose = np.zeros((m, n)), np.full((m, n), NOBODY)
    levels[rank, where], whose[rank, where] = level, by
    return levels, whose


def _protected(where: Ints, n: int, by: Ints, gone: Bools, asks: Floats) -> Ints:
    """(n): the first of each cell who has not waived, NOBODY where who asks most is another one.
    ContributionEntries are sorted by cell and size.
    """
    found, loudest = np.full(n, NOBODY), np.full(n, NOBODY)
    for number, entries in (
        (found, np.flatnonzero(~gone)),
        (loudest, np.lexsort((-asks, where))[: len(where)]),
    ):
        if number is loudest:
            entries = entries[asks[entries] > 0]
        cells, first = np.unique(where[entries], return_index=True)
        number[cells] = by[entries[first]]
    return np.where((loudest != NOBODY) & (loudest != found), NOBODY, found)
