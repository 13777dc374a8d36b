"""The questions of the checks to each cell, each answered by yes or no. `registry.py` lists the checks.

A cell that a check does not concern is not `asked`. The columns hold no value, no number of units and no
share, so nothing confidential can reach a validation result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sdc_tasks.domains.schema import Domain, Role
from sdc_tasks.methods.primary import LevelRule
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.table import Bools, CellSpace, Ints

_SHARE_ROUNDING = 1.0  # percentage points: two shares, each rounded to whole percent


@dataclass(frozen=True)
class Answers:
    """(national_size,), for each cell of the national table: whether the check concerns it (`asked`),
    and whether it passes (`holds`). `words`: what is said of a cell behind its key.
    """

    asked: Bools = field(repr=False)
    holds: Bools = field(repr=False)
    words: Mapping[int, str] = field(default_factory=dict)


def additivity(table: NationalTable, domain: Domain) -> Answers:
    """Every relation of a total holds: |Σ parts − total| ≤ absolute + relative · |total|."""
    M, total = domain.space.national_relations, domain.space.totals
    near = np.abs(M @ table.value) <= domain.checks.allowed(table.value[total])
    return _of_sums(near, domain, len(table.value))


def complete_keys(table: NationalTable, domain: Domain) -> Answers:
    """No total is absent or zero while its parts add up to something else.

    A total without a record and a total sent as zero are the same public zero here. Parts that cancel out
    (signed indicators only) correctly have a total of zero.
    """
    M, total = domain.space.national_relations, domain.space.totals
    absent = (table.value[total] == 0) & (
        np.abs(M @ table.value) > domain.checks.allowed(np.zeros(len(total)))
    )
    return _of_sums(~absent, domain, len(table.value))


def non_negative(table: NationalTable, domain: Domain) -> Answers:
    """Indicators that are not signed have no value below zero."""
    signed = domain.space.spread(indicator.signed for indicator in domain.indicators)
    return Answers(~signed, table.value >= 0)


def shares(table: NationalTable, domain: Domain) -> Answers:
    """100 ≥ share 1 ≥ share 2 ≥ 0; their sum is at most 100, and equals 100 in cells of one or two units
    (within rounding). The largest of n units holds at least the mean, 100/n, and the two largest 200/n: a
    share of 0.81 is a fraction, no percentage.
    """
    first, second = table.share_1, np.nan_to_num(table.share_2)
    both = first + second
    holds = (first <= 100) & (first >= second) & (second >= 0) & (both <= 100 + _SHARE_ROUNDING)
    signed = domain.space.spread(indicator.signed for indicator in domain.indicators)
    mean = 100 / np.maximum(table.units, 1)
    of_one = (table.units == 1) | ((table.units > 1) & ~signed)
    of_two = (table.units == 2) | ((table.units > 2) & ~signed & ~np.isnan(table.share_2))
    holds &= ~of_one | (first >= mean - _SHARE_ROUNDING / 2)
    holds &= ~of_two | (both >= 2 * mean - _SHARE_ROUNDING)
    return Answers(~np.isnan(table.share_1) | ~np.isnan(table.share_2), holds)


def shares_for_rule(table: NationalTable, domain: Domain) -> Answers:
    """A primary cell has the shares that the level rule of its flag needs."""
    first, second = np.isnan(table.share_1), np.isnan(table.share_2)
    asked, lacking = np.zeros(len(table.value), dtype=bool), np.zeros(len(table.value), dtype=bool)
    for code, flag in domain.flags.items():
        if flag.rule is None or not flag.rule.shares:
            continue
        few = (table.units >= 0) & (table.units <= flag.rule.few_units)
        concerned = (table.flag == code) & ~few
        asked |= concerned
        lacking |= concerned & (first | second if flag.rule.shares == 2 else first)
    return Answers(asked, ~lacking)


def unflagged(table: NationalTable, domain: Domain) -> Answers:
    """No public cell is one that the rule of a flag protects: by few units, or by the shares as sent. An NSI
    may use one of several flags: those count that the table has elsewhere, or all of them where it has none
    with shares, or none without. Impossible shares are judged by `shares`, and are none here.
    """
    free = table.available & (table.value != 0) & ~suppressed(table, domain)
    known = (table.units >= 0) | ~np.isnan(table.share_1)
    found = np.zeros(len(table.value), dtype=bool)
    first, second = (
        np.where((share >= 0) & (share <= 100), share, np.nan) for share in (table.share_1, table.share_2)
    )
    for rule in _rules_in_use(table, domain):
        level = rule.level(np.abs(table.value), first - rule.share_error[0], second - rule.share_error[1])
        found |= (table.units >= 1) & (table.units <= rule.few_units)
        found |= np.nan_to_num(level) > _SHARE_ROUNDING / 100 * np.abs(table.value)
    return Answers(free & known, ~found)


def _rules_in_use(table: NationalTable, domain: Domain) -> Iterator[LevelRule]:
    """Of the rules without shares, and of those with shares: those whose flag the table has, or all."""
    rules = {code: flag.rule for code, flag in domain.flags.items() if flag.rule is not None}
    for with_shares in (False, True):
        mine = {code: rule for code, rule in rules.items() if bool(rule.shares) is with_shares}
        used = {code: rule for code, rule in mine.items() if (table.flag == code).any()}
        yield from (used or mine).values()


def units_fit(table: NationalTable, domain: Domain) -> Answers:
    """A total has no fewer units than any of its parts, and what has a value has a unit."""
    space = replace(domain.space, indicator_relations=())
    relations = space.national_relations.tocoo()
    part = relations.data > 0
    most = np.full(relations.shape[0], -1, dtype=np.int64)
    np.maximum.at(most, relations.row[part], table.units[relations.col[part]])
    holds = _of_totals(
        (table.units[space.totals] < 0) | (most <= table.units[space.totals]), space.totals, len(table.value)
    ).holds
    return Answers(table.units >= 0, holds & ((table.value == 0) | (table.units != 0) | ~table.available))


def units_known(table: NationalTable, domain: Domain) -> Answers:
    """A suppressed cell has its number of units, unless the domain file says what its flag means
    without it.
    """
    stated = [code for code, flag in domain.flags.items() if flag.units_unknown == "one"]
    return Answers(suppressed(table, domain), (table.units >= 0) | np.isin(table.flag, stated))


def lone_suppressed(table: NationalTable, domain: Domain) -> Answers:
    """No relation has exactly one suppressed cell: its value would follow from the other cells."""
    hidden = suppressed(table, domain)
    member = abs(domain.space.national_relations)
    alone = member @ hidden.astype(float) == 1
    return Answers(hidden, ~(hidden & (member.T @ alone.astype(float) > 0)))


def vintage_change(table: NationalTable, domain: Domain, previous: NationalTable) -> Answers:
    """No cell grew or shrank by more than the factor `vintage_change_ratio`. A cell that is zero
    in either delivery has no ratio.
    """
    new, old = np.abs(table.value), np.abs(previous.value)
    ratio = domain.checks.vintage_change_ratio
    return Answers((new > 0) & (old > 0), (new <= ratio * old) & (old <= ratio * new))


def suppressed(table: NationalTable, domain: Domain) -> Bools:
    """The cells that the NSI does not publish."""
    return ~np.isin(table.flag, [code for code, flag in domain.flags.items() if flag.role is Role.PUBLIC])


def published(table: NationalTable, domain: Domain) -> Bools:
    """The published cells. A public zero counts as published only where no cell is suppressed."""
    hidden = suppressed(table, domain)
    return np.asarray(~hidden & ((table.value != 0) | ~hidden.any()))


def primary(table: NationalTable, domain: Domain) -> Bools:
    """The primary cells: those with a requirement."""
    return np.isin(table.flag, [code for code, flag in domain.flags.items() if flag.role is Role.PRIMARY])


def _of_sums(holds: Bools, domain: Domain, cells: int) -> Answers:
    """Answers for relations as answers for their totals, with the parts of the first that is broken where a
    code has several sums.
    """
    space = domain.space
    found, several = _of_totals(holds, space.totals, cells), _several_sums(space)
    words: dict[int, str] = {}
    for row in np.flatnonzero(~holds).tolist() if several.any() else ():
        total = int(space.totals[row])
        if several[total]:
            parts = space.national_relations[[row]]
            own = space.national_keys[total]
            first, *more = (
                next(code for code, its in zip(space.national_keys[cell], own, strict=True) if code != its)
                for cell in parts.indices[parts.data > 0].tolist()
            )
            words.setdefault(total, f"={first}" + (f"+…+{more[-1]}" if more else ""))
    return replace(found, words=words)


def _several_sums(space: CellSpace) -> Bools:
    """(national_size,): the cells with a code that is the total of several sums."""
    found = np.zeros(space.national_shape, dtype=bool)
    for axis, hierarchy in enumerate(space.hierarchies, start=1):
        totals = Counter(total for total, _ in hierarchy.families)
        np.moveaxis(found, axis, 0)[[total for total, times in totals.items() if times > 1]] = True
    return found.ravel()


def _of_totals(holds: Bools, total: Ints, cells: int) -> Answers:
    """Answers for relations as answers for their totals: a total passes when all its relations pass."""
    asked, broken = np.zeros(cells, dtype=bool), np.zeros(cells, dtype=bool)
    asked[total] = True
    broken[total[~holds]] = True
    return Answers(asked, ~broken)
