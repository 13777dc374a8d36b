"""Synthetic enterprises of one country, and the table they add up to.

An enterprise belongs to one inner cell (a leaf of every hierarchy). For country c, activity j and size class
s:

    n_cjs ~ Poisson(Gamma)     mean    share_c · enterprises_j · profile_js · specialisation_cj
    turnover ~ log-normal      median  turnover_s · price_j, spread σ; whole thousands, at least 1

What else it reports are shares of its turnover, drawn for each enterprise (`_shares`).

Shares of countries are heavy-tailed as in the European Union, activities and the specialisation of countries
are log-normal, so small countries have empty cells and cells of one or two enterprises, and large ones have
cells that one enterprise dominates. Every random number of country c comes from its own stream, so its table
does not depend on which other countries are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sdc_tasks.model.table import Floats, Hierarchy, Ints, read_only

# Rough shares of EU turnover, in per mille; a country beyond this list goes on by Zipf's law.
SHARES = {
    "DE": 240, "FR": 170, "IT": 130, "ES": 90, "NL": 62, "PL": 48, "BE": 36, "SE": 36, "IE": 30,
    "AT": 30, "DK": 24, "RO": 21, "CZ": 20, "FI": 17, "PT": 16, "EL": 14, "HU": 13, "SK": 8,
    "BG": 7, "HR": 6, "LU": 6, "LT": 6, "SI": 5, "LV": 4, "EE": 4, "CY": 3, "MT": 2,
}  # fmt: skip
MOST_ENTERPRISES = 20_000
QUARTERS_ALIKE = (
    20.0  # parameter of the Dirichlet distribution of an enterprise's quarters: shares of 25 ± 5 %
)
INDICATORS = ("TURNOVER", "VALUE_ADDED", "PERSONNEL_COSTS", "SURPLUS", "PURCHASES")


@dataclass(frozen=True)
class Economy:
    """What all countries have in common. `crowd` is the mean number of enterprises of an
    inner cell over all 27 countries.

    The figures are set so that the default table has about 4 000 primary cells, at every level of the
    hierarchies.
    """

    seed: int
    crowd: float = 1_100
    dispersion: float = 2.0
    spread: float = 1.6
    specialisation: float = 0.5


@dataclass(frozen=True)
class Microtable:
    """The table of one country with what its cells are made of; arrays of shape
    (activities, sizes), whole numbers.

    `x1 ≥ x2` are the contributions of the two largest enterprises of the cell, 0 where there are none.
    """

    value: Ints = field(repr=False)
    units: Ints = field(repr=False)
    x1: Ints = field(repr=False)
    x2: Ints = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("value", "units", "x1", "x2"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class Enterprises:
    """The enterprises of one country. `activity`, `size` (enterprises,): positions among the finest codes
    (`names` of each dimension); `amounts` (enterprises,): what each reports of each indicator. `above`: of
    each activity the code above it.
    """

    activity: Ints = field(repr=False)
    size: Ints = field(repr=False)
    amounts: dict[str, Ints] = field(repr=False)
    names: dict[str, list[str]] = field(repr=False)
    above: dict[str, str] = field(repr=False)


def microtables(
    economy: Economy, number: int, country: str, hierarchies: tuple[Hierarchy, Hierarchy], indicators: int = 1
) -> dict[str, Microtable]:
    """The complete tables of the `number`-th country, for the first `indicators`. The turnover does
    not depend on how many there are.
    """
    leaves = [_leaves(hierarchy) for hierarchy in hierarchies]
    n, cell, amounts = _drawn(economy, number, country, len(leaves[0]), len(leaves[1]))
    tables = {}
    for name in INDICATORS[:indicators]:
        inner = _inner_table(cell, amounts[name], n)
        tables[name] = _add_up(tuple(_spread_out(part, hierarchies, leaves) for part in inner), hierarchies)
    return tables


def enterprises(
    economy: Economy, number: int, country: str, hierarchies: tuple[Hierarchy, Hierarchy]
) -> Enterprises:
    """The enterprises of the `number`-th country by activity and size class: those of `microtables`."""
    activities, _ = hierarchies
    leaves = [_leaves(hierarchy) for hierarchy in hierarchies]
    _, cell, amounts = _drawn(economy, number, country, len(leaves[0]), len(leaves[1]))
    activity, size = np.divmod(cell, len(leaves[1]))
    return Enterprises(
        activity,
        size,
        amounts,
        {each.dimension: [each.codes[i] for i in own] for each, own in zip(hierarchies, leaves, strict=True)},
        {code: above for code, above in zip(activities.codes, activities.parent, strict=True) if above},
    )


def quarters_of(economy: Economy, number: int, found: Enterprises) -> list[Enterprises]:
    """The same enterprises in each quarter: what they report of the first indicator, in whole numbers that
    add up to the year.
    """
    name, of_year = next(iter(found.amounts.items()))
    share = _stream(economy, 5, number).dirichlet([QUARTERS_ALIKE] * 4, size=len(of_year))
    until = np.rint(np.cumsum(share, axis=1) * of_year[:, None]).astype(np.int64)
    until[:, -1] = of_year
    return [replace(found, amounts={name: amount}) for amount in np.diff(until, axis=1, prepend=0).T]


def table_of(
    amount: Ints,
    codes: Sequence[npt.NDArray[np.str_]],
    hierarchies: Sequence[Hierarchy],
    above: Mapping[str, str],
) -> Microtable:
    """The table of enterprises by their `codes` (enterprises,) of each hierarchy; a code that a hierarchy
    does not have counts at the one `above` it.
    """
    shape = tuple(len(hierarchy.codes) for hierarchy in hierarchies)
    places = []
    for own, hierarchy in zip(codes, hierarchies, strict=True):
        names, which = np.unique(own, return_inverse=True)
        at = []
        for name in names.tolist():
            while name not in hierarchy.index:
                name = above[name]
            at.append(hierarchy.index[name])
        places.append(np.array(at, dtype=np.int64)[which])
    cell = np.ravel_multi_index(places, shape).astype(np.int64)
    n = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
    return _add_up(_inner_table(cell, amount, n), hierarchies)


def _drawn(
    economy: Economy, number: int, country: str, activities: int, sizes: int
) -> tuple[Ints, Ints, dict[str, Ints]]:
    """The number of enterprises of each inner cell, the cell of each enterprise, and what it reports."""
    counts, medians = _inner_cells(economy, number, country, activities, sizes)
    rng = _stream(economy, 2, number)
    n = rng.poisson(counts * rng.gamma(economy.dispersion, 1 / economy.dispersion, counts.shape)).clip(
        max=MOST_ENTERPRISES
    )
    cell = np.repeat(np.arange(n.size), n.ravel())
    turnover = np.ceil(np.exp(rng.normal(np.log(medians).ravel()[cell], economy.spread))).astype(np.int64)
    return n, cell, {"TURNOVER": turnover} | _shares(turnover, _stream(economy, 3, number))


def _shares(turnover: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    """(enterprises,) each, whole and at least 1. Value added is the sum of personnel costs and
    surplus, which is never negative here.

    Purchases and value added do not add up to the turnover, as stocks and other income come in between.
    """
    personnel, surplus, purchases = (
        np.maximum(np.rint(turnover * rng.beta(share * 40, (1 - share) * 40, len(turnover))), 1).astype(
            np.int64
        )
        for share in (0.2, 0.1, 0.65)
    )
    return {
        "VALUE_ADDED": personnel + surplus,
        "PERSONNEL_COSTS": personnel,
        "SURPLUS": surplus,
        "PURCHASES": purchases,
    }


def _leaves(hierarchy: Hierarchy) -> list[int]:
    totals = {total for total, _ in hierarchy.families}
    return [i for i in range(len(hierarchy.codes)) if i not in totals]


def _stream(economy: Economy, *key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(economy.seed, spawn_key=key)))


def _share(number: int, country: str) -> float:
    """The country's part of the whole economy."""
    return SHARES[country] / 1000 if country in SHARES else 0.25 / (number + 1)


def _inner_cells(
    economy: Economy, number: int, country: str, activities: int, sizes: int
) -> tuple[Floats, Floats]:
    """(expected enterprises, median turnover) of each inner cell."""
    common = _stream(economy, 0)
    enterprises = common.lognormal(0.0, 1.3, activities)
    price = common.lognormal(0.0, 0.5, activities)
    lean = common.normal(0.0, 0.35, activities)  # how far an activity leans to large enterprises
    step = np.arange(sizes) * (4 / max(sizes - 1, 1))
    profile = np.exp(-1.05 * step[None, :] + lean[:, None] * step[None, :])
    own = _stream(economy, 1, number).lognormal(0.0, economy.specialisation, activities)
    total = economy.crowd * activities * sizes * _share(number, country)
    expected = (
        total
        * (enterprises / enterprises.sum() * own)[:, None]
        * profile
        / profile.sum(axis=1, keepdims=True)
    )
    return expected, price[:, None] * 150 * np.exp(1.75 * step)[None, :]


def _inner_table(cell: Ints, turnover: Ints, n: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """(value, units, x1, x2) of the inner cells, from one record per enterprise grouped by cell."""
    ordered = turnover[np.lexsort((turnover, cell))]
    last = np.cumsum(n.ravel()) - 1
    value = np.bincount(cell, weights=turnover, minlength=n.size).astype(np.int64)
    x1 = np.where(n.ravel() >= 1, ordered[last], 0)
    x2 = np.where(n.ravel() >= 2, ordered[last - 1], 0)
    return value.reshape(n.shape), n, x1.reshape(n.shape), x2.reshape(n.shape)


def _spread_out(inner: Ints, hierarchies: tuple[Hierarchy, Hierarchy], leaves: list[list[int]]) -> Ints:
    """The inner cells at their places in a table of all codes."""
    full = np.zeros(tuple(len(hierarchy.codes) for hierarchy in hierarchies), dtype=np.int64)
    full[np.ix_(*leaves)] = inner
    return full


def _add_up(full: tuple[Ints, ...], hierarchies: Sequence[Hierarchy]) -> Microtable:
    """Totals along the hierarchies, deepest first; the top two of a total are the top two of its parts' top
    twos.
    """
    value, units, x1, x2 = full
    for axis, hierarchy in enumerate(hierarchies):
        v, u, first, second = (np.moveaxis(array, axis, 0) for array in (value, units, x1, x2))
        for total, parts in sorted(hierarchy.families, key=lambda family: -hierarchy.depth[family[0]]):
            members = list(parts)
            v[total], u[total] = v[members].sum(axis=0), u[members].sum(axis=0)
            best = np.sort(np.concatenate([first[members], second[members]]), axis=0)
            first[total], second[total] = best[-1], best[-2]
    return Microtable(value, units, x1, x2)
