"""Whether a table is in proportion: to those of the other countries, to the indicators beside, to the last
period.

A unit multiplier of 6 in place of 3 leaves every sum intact, so no check of one table by itself sees it. What
is compared are ratios, as powers of ten, each the median over the cells that two tables have in common: half
of the cells may be odd without moving it. Of the ratios to the other countries the middle counts, and where
two stand in the middle the nearer one: a country is not out of proportion because half of the others are.

Malta beside Germany: the mean value of a unit is alike in a small country and in a large one, the value is
not. So, with r = `proportion_ratio`, a table is out of proportion where

    value per unit      to the middle of the others                 more than r
    value               to the middle of the other indicators, each
                        against the middle of the others            more than r
    value               to the middle of the others                 more than r²; more than r where the
    file was converted from another
                                                                    unit multiplier than the one of the domain
    value               to the last period of the country           more than `period_ratio`
    value per unit      of a code, to the middle of the others,
                        each against the whole table                more than r and a half power of ten

Values are compared only where no units are sent. The answers are to the top cell of each indicator,
or to the top cell of each code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.checks.columns import Answers
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.table import Bools, Floats, Ints

FEWEST_IN_COMMON = 5  # cells with units in two tables: fewer say nothing of the mean unit
FEWEST_UNITS = 30  # of the total of a code in two tables: fewer are the size of single enterprises
ROOM_OF_CODE = 0.5  # powers of ten beyond the ratio that one large enterprise may move the total of a code


@dataclass(frozen=True)
class Among:
    """The other countries of the period, and whether the files of this one were
    `converted` from another unit multiplier.
    """

    peers: Sequence[NationalTable] = field(repr=False)
    converted: bool = False


def proportion(table: NationalTable, domain: Domain, among: Among) -> Answers:
    """Each indicator is in proportion to the other countries: value per unit, or value, as the table above
    says.
    """
    limit, answers = _limit(domain), _Answering(table, domain)
    values = _levels(table, domain, among, _values)
    steady = {
        i: level for i, level in enumerate(values) if level is not None and not domain.indicators[i].signed
    }
    for i, (units, level) in enumerate(zip(_levels(table, domain, among, _per_unit), values, strict=True)):
        if units is not None:
            answers.say(i, abs(units) <= limit)
        elif level is not None:
            near = abs(level) <= (limit if among.converted else 2 * limit)
            answers.say(i, near and abs(_beside_others(i, steady)) <= limit)
    return answers.told


def _beside_others(indicator: int, levels: Mapping[int, float]) -> float:
    """How far the level of an indicator is from the middle of the other ones; 0 where nothing tells."""
    if indicator not in levels:
        return 0.0
    mine = levels[indicator]
    return _middle(mine - other for each, other in levels.items() if each != indicator) or 0.0


def size(table: NationalTable, domain: Domain, among: Among) -> Answers:
    """Each indicator without units is as large as those of the other countries, within the ratio: a
    large country, or another unit.
    """
    answers, per_unit = _Answering(table, domain), _levels(table, domain, among, _per_unit)
    for i, (units, level) in enumerate(zip(per_unit, _levels(table, domain, among, _values), strict=True)):
        if units is None and level is not None:
            answers.say(i, abs(level) <= _limit(domain))
    return answers.told


def code_proportion(table: NationalTable, domain: Domain, among: Among) -> Answers:
    """The value per unit of each code is in proportion to the rest of the table, as it is in the other
    countries: a part of the table may be in another unit, with totals that fit.
    """
    mine, cells, limit = _per_unit(table), _tops_of_codes(domain), _limit(domain) + ROOM_OF_CODE
    found: dict[int, list[float]] = {}
    for peer in among.peers:
        ratio = mine - _per_unit(peer)
        if np.isfinite(ratio).sum() >= FEWEST_IN_COMMON:
            whole = _median(ratio)
            for cell in cells[
                np.isfinite(ratio[cells]) & (np.minimum(table.units, peer.units)[cells] >= FEWEST_UNITS)
            ].tolist():
                found.setdefault(cell, []).append(float(ratio[cell]) - whole)
    asked, holds = np.zeros(len(mine), dtype=bool), np.ones(len(mine), dtype=bool)
    for cell, ratios in found.items():
        middle = _middle(ratios)
        asked[cell], holds[cell] = True, middle is None or abs(middle) <= limit
    return Answers(asked, holds)


def copied(table: NationalTable, domain: Domain, among: Among) -> Answers:
    """No indicator has the values of another country, cell by cell."""
    return _not_the_same(table, domain, among.peers)


def period_proportion(table: NationalTable, domain: Domain, last: NationalTable) -> Answers:
    """Each indicator is in proportion to the last period of the country."""
    return _within(table, domain, last, domain.checks.period_ratio)


def period_change(table: NationalTable, domain: Domain, last: NationalTable) -> Answers:
    """Each indicator moved by less than another currency would move it."""
    return _within(table, domain, last, domain.checks.period_change_ratio)


def _within(table: NationalTable, domain: Domain, last: NationalTable, ratio: float) -> Answers:
    answers = _Answering(table, domain)
    for i, moved in enumerate(np.split(_values(table) - _values(last), len(domain.indicators))):
        if np.isfinite(moved).any():
            answers.say(i, abs(_median(moved)) <= np.log10(ratio))
    return answers.told


def code_change(table: NationalTable, domain: Domain, last: NationalTable) -> Answers:
    """No total of a code grew or shrank against the rest of the table by more than
    `vintage_change_ratio` since the last period.
    """
    ratio, cells = _values(table) - _values(last), _tops_of_codes(domain)
    asked = np.zeros(len(ratio), dtype=bool)
    asked[cells] = np.isfinite(ratio[cells])
    by_indicator = ratio.reshape(len(domain.indicators), -1)
    whole = np.repeat(_medians(by_indicator), by_indicator.shape[1])
    return Answers(
        asked, np.abs(np.nan_to_num(ratio - whole)) <= np.log10(domain.checks.vintage_change_ratio)
    )


def columns_lost(table: NationalTable, domain: Domain, last: NationalTable) -> Answers:
    """Units and shares that the last period had of an indicator are there now."""
    answers = _Answering(table, domain)
    now, then = (
        [table.units >= 0, ~np.isnan(table.share_1), ~np.isnan(table.share_2)] for table in (table, last)
    )
    for i, of_indicator in enumerate(np.split(np.arange(len(table.value)), len(domain.indicators))):
        answers.say(
            i,
            all(
                mine[of_indicator].any() or not theirs[of_indicator].any()
                for mine, theirs in zip(now, then, strict=True)
            ),
        )
    return answers.told


def repeated(table: NationalTable, domain: Domain, last: NationalTable) -> Answers:
    """No indicator has the values of the last period, cell by cell."""
    return _not_the_same(table, domain, (last,))


def _median(ratio: Floats) -> float:
    """Of the powers of ten that are there; 0 where none is."""
    return float(_medians(ratio[None])[0])


def _medians(ratios: Floats) -> Floats:
    """(rows,): of each row (rows, cells), of the powers of ten that are there; 0 where none is."""
    there = np.isfinite(ratios).sum(axis=1)
    ordered = np.sort(ratios, axis=1)  # what is not there comes last
    rows, low, high = np.arange(len(ratios)), np.maximum(there - 1, 0) // 2, there // 2
    return np.where(there > 0, (ordered[rows, low] + ordered[rows, high]) / 2, 0.0)


def _limit(domain: Domain) -> float:
    return float(np.log10(domain.checks.proportion_ratio))


def _values(table: NationalTable) -> Floats:
    """(national_size,): the power of ten of each value, NaN where there is none."""
    return _power(np.abs(table.value), table.available & (table.value != 0))


def _per_unit(table: NationalTable) -> Floats:
    """(national_size,): the power of ten of each value per unit, NaN where one of them is not there."""
    known = table.available & (table.value != 0) & (table.units > 0)
    return _power(np.abs(table.value) / np.where(known, table.units, 1), known)


def _power(amount: Floats, known: Bools) -> Floats:
    return np.where(known, np.log10(np.where(known, amount, 1.0)), np.nan)


def _levels(
    table: NationalTable, domain: Domain, among: Among, power: Callable[[NationalTable], Floats]
) -> list[float | None]:
    """For each indicator the ratio to the middle of the other countries, as a power of ten; None
    where nothing is to be compared.
    """
    fewest = FEWEST_IN_COMMON if power is _per_unit else 1
    mine, found = power(table), [list[float]() for _ in domain.indicators]
    for peer in among.peers:
        ratios = (mine - power(peer)).reshape(len(domain.indicators), -1)
        compared = np.flatnonzero(np.isfinite(ratios).sum(axis=1) >= fewest)
        for i, middle in zip(compared.tolist(), _medians(ratios[compared]).tolist(), strict=True):
            found[i].append(middle)
    return [_middle(each) for each in found]


def _middle(ratios: Iterable[float]) -> float | None:
    """The middle of these powers of ten; of two, the nearer to 0, and 0 between them."""
    ordered = sorted(ratios)
    if not ordered:
        return None
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return 0.0 if low <= 0 <= high else min(low, high, key=abs)


def _not_the_same(table: NationalTable, domain: Domain, others: Sequence[NationalTable]) -> Answers:
    """Answers by indicator; an indicator of zeros alone is not asked."""
    answers, mine = _Answering(table, domain), np.split(table.value, len(domain.indicators))
    theirs = [np.split(other.value, len(domain.indicators)) for other in others]
    for i, value in enumerate(mine):
        if others and value.any():
            answers.say(i, not any(np.array_equal(value, each[i]) for each in theirs))
    return answers.told


def _tops_of_codes(domain: Domain) -> Ints:
    """The cells that are the total of one code, over all codes of the other hierarchies."""
    hierarchies = domain.space.hierarchies
    below = [~np.isin(np.arange(len(hierarchy.codes)), hierarchy.roots) for hierarchy in hierarchies]
    number = np.zeros(tuple(map(len, below)), dtype=int)
    for axis, each in enumerate(below):
        number += each.reshape([-1 if k == axis else 1 for k in range(len(below))])
    return np.flatnonzero(np.tile(number.ravel() == 1, len(domain.indicators)))


class _Answering:
    """Answers about whole indicators, at the top cell of each."""

    def __init__(self, table: NationalTable, domain: Domain) -> None:
        trees = domain.space.hierarchies
        top = np.ravel_multi_index([tree.roots[0] for tree in trees], [len(tree.codes) for tree in trees])
        size = len(table.value) // len(domain.indicators)
        self._cells = [int(top) + i * size for i in range(len(domain.indicators))]
        self._asked, self._holds = (
            np.zeros(len(table.value), dtype=bool),
            np.ones(len(table.value), dtype=bool),
        )

    def say(self, indicator: int, holds: bool) -> None:
        self._asked[self._cells[indicator]], self._holds[self._cells[indicator]] = True, holds

    @property
    def told(self) -> Answers:
        return Answers(self._asked, self._holds)
