"""What a published table shows of itself: its upper levels, a mark for each of their totals, and how much of
what it measures is exact or nearly so.

Made of the publication alone, without the deliveries: every reader of `table.csv` could compute it. The
report of a release and its public metadata show the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from sdc_tasks.domains.schema import Domain, Indicator
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import CellSpace, Floats, Hierarchy, Ints
from sdc_tasks.model.tolerances import INTEGRALITY, ZERO
from sdc_tasks.report.facts import Header, Mark, MarkMap, Overview, UpperTable, UpperTotal, ValueShare
from sdc_tasks.report.headings import Blocks, Labels, blocks
from sdc_tasks.report.table_csv import printed

# classes 1 to 5 of a relative width, base or deviation; class 0 is none at all
CLASS_EDGES = (0.001, 0.01, 0.05, 0.2)
CLOSE = (0.01, 0.05)  # a rounded value within so much of the total counts as close
TOP_UPPER = 24  # totals of one composition in the table of upper levels
TOP_MAPS = 12
MULTIPLIERS = {0: "", 3: "thousand ", 6: "million ", 9: "billion "}


def overview(domain: Domain, space: CellSpace, publication: Publication, values: bool = True) -> Overview:
    """Of the publication of a release, whose cells are all aggregate cells of its own `space`."""
    levels = _Levels(domain, space, publication, Labels(domain))
    maps = tuple(levels.maps(values))
    return Overview(
        unit=unit_of(domain),
        tables=tuple(levels.tables()) if values else (),
        maps=maps[:TOP_MAPS],
        more_maps=max(len(maps) - TOP_MAPS, 0),
        shares=tuple(levels.shares()) if values else (),
    )


def size_classes(ratio: npt.ArrayLike) -> Ints:
    """Class 0 for nothing, 1 to 5 by `CLASS_EDGES`."""
    found = np.asarray(ratio, dtype=float)
    return np.where(found > ZERO, 1 + np.searchsorted(CLASS_EDGES, found, side="right"), 0)


def unit_of(domain: Domain) -> str:
    """The unit of the values in words: one for all indicators, or one for each."""

    def words(indicator: Indicator) -> str:
        if indicator.unit_of is not None:
            return f"in the unit of its {indicator.unit_of}"
        return f"in {_power(indicator.unit_multiplier)}{indicator.unit}"

    units = {indicator.label: words(indicator) for indicator in domain.indicators}
    if len(set(units.values())) == 1:
        return next(iter(units.values()))
    return ", ".join(f"{label} {unit}" for label, unit in units.items())


def _power(power: int) -> str:
    return MULTIPLIERS.get(power, f"10^{power} ")


def value_text(domain: Domain, space: CellSpace, publication: Publication, i: int) -> str:
    """The value of published cell number i as the table prints it, with its unit where codes have units of
    their own; empty where it is withheld.
    """
    if publication.withheld[i]:
        return ""
    at = int(publication.cells[i]) % space.national_size
    indicator = _indicator(domain, space, at)
    # the sum of visible countries is added up here, and carries what adding binary fractions leaves
    noise = INTEGRALITY * 10.0**-indicator.decimals if publication.visible[i] else 0.0
    value = printed(float(publication.value[i]), indicator.decimals, noise)
    if domain.unit_by_code(indicator.code):
        unit, power = domain.units[at]
        value += f" {_power(power)}{unit}"
    return value


def _indicator(domain: Domain, space: CellSpace, at: int) -> Indicator:
    code = space.national_keys[at][0]
    return next(each for each in domain.indicators if each.code == code)


@dataclass(frozen=True)
class _Levels:
    """The upper levels of a publication."""

    domain: Domain
    space: CellSpace
    publication: Publication
    label: Labels

    @property
    def blocks(self) -> tuple[Blocks, ...]:
        return tuple(blocks(hierarchy, self.label) for hierarchy in self.space.hierarchies)

    def number(self, area: int, place: tuple[int, ...]) -> int:
        """The number among the published cells of the cell at a place of a national table."""
        at = int(np.ravel_multi_index(place, self.space.national_shape))
        return area * self.space.national_size + at

    def mark(self, i: int, values: bool = True) -> Mark:
        told = self.publication
        if told.withheld[i]:
            return Mark("withheld")
        if told.visible[i]:
            return Mark("visible")
        if told.exact[i]:
            return Mark("exact")
        value = abs(float(told.value[i]))
        within = float(told.base[i]) / 2 / value if value else None
        return Mark(
            "rounded", within if values else None, int(size_classes(np.inf if within is None else within))
        )

    def maps(self, values: bool) -> Iterator[MarkMap]:
        """One for each area, indicator, and root of the dimensions after the second. A table of one
        hierarchy has its indicators as columns.
        """
        of_area = self._of_several if len(self.space.hierarchies) > 1 else self._of_one
        for area in range(len(self.space.aggregates)):
            yield from of_area(area, values)

    def _of_one(self, area: int, values: bool) -> Iterator[MarkMap]:
        """Of a table of one hierarchy."""
        [rows] = self.blocks
        columns = tuple(self.label.indicator(code) for code in self.space.indicators)
        places = [[(c, row) for c in range(len(columns))] for row in rows.heads]
        yield self._map(area, (), (rows, "indicator", columns), places, values)

    def _of_several(self, area: int, values: bool) -> Iterator[MarkMap]:
        """Of a table of two hierarchies or more."""
        rows, column, *_ = self.blocks
        further = self.space.hierarchies[2:]
        for indicator, *root in product(range(len(self.space.indicators)), *map(_roots, further)):
            common = [
                self.label.of(hierarchy.dimension, hierarchy.codes[at])
                for hierarchy, at in zip(further, root, strict=True)
            ]
            if len(self.space.indicators) > 1:
                common.insert(0, self.label.indicator(self.space.indicators[indicator]))
            places = [[(indicator, r, c, *root) for c in column.heads] for r in rows.heads]
            about = (rows, column.name, column.headers)
            yield self._map(area, tuple(common), about, places, values)

    def _map(
        self,
        area: int,
        common: tuple[Header, ...],
        about: tuple[Blocks, str, tuple[Header, ...]],
        places: Sequence[Sequence[tuple[int, ...]]],
        values: bool,
    ) -> MarkMap:
        rows, name, columns = about
        marks = tuple(tuple(self.mark(self.number(area, at), values) for at in row) for row in places)
        code = self.space.aggregates[area].code
        return MarkMap(self.label.area(code), common, (rows.name, name), columns, rows.headers, marks)

    def tables(self) -> Iterator[UpperTable]:
        """For each area and indicator the heads of each hierarchy, with the others at their first root."""
        roots = [_roots(hierarchy)[0] for hierarchy in self.space.hierarchies]
        for area, aggregate in enumerate(self.space.aggregates):
            places = [
                (indicator, *roots[:axis], head, *roots[axis + 1 :])
                for indicator in range(len(self.space.indicators))
                for axis, each in enumerate(self.blocks)
                for head in each.heads
            ]
            unique = list(dict.fromkeys(places))
            totals = tuple(self._upper(area, place, roots) for place in unique[:TOP_UPPER])
            yield UpperTable(self.label.area(aggregate.code), totals, max(len(unique) - TOP_UPPER, 0))

    def _upper(self, area: int, place: tuple[int, ...], roots: Sequence[int]) -> UpperTotal:
        i, told = self.number(area, place), self.publication
        indicator = self.domain.indicators[place[0]]
        below = [
            self.label.of(hierarchy.dimension, hierarchy.codes[at]).label
            for hierarchy, at, root in zip(self.space.hierarchies, place[1:], roots, strict=True)
            if at != root
        ]
        name = self.label.indicator(self.space.indicators[place[0]]).label
        label = " · ".join(([name] if len(self.space.indicators) > 1 or not below else []) + below)
        half = float(told.base[i]) / 2 if told.rounded[i] else 0.0
        text = printed(float(np.floor(half)) if indicator.whole else half, indicator.decimals)
        return UpperTotal(
            label=label,
            value=value_text(self.domain, self.space, told, i),
            half=text if told.rounded[i] else "",
            covers=float(told.covers[i]),
            mark=self.mark(i),
            top=not below,
        )

    def shares(self) -> Iterator[ValueShare]:
        """Of each area and indicator whose cells of the finest level add up to a published total."""
        finest = [_finest(hierarchy) for hierarchy in self.space.hierarchies]
        leaves = [each for each in finest if each is not None]
        if len(leaves) < len(finest):
            return
        for area in range(len(self.space.aggregates)):
            for indicator in range(len(self.space.indicators)):
                if (found := self._share(area, indicator, leaves)) is not None:
                    yield found

    def _share(self, area: int, indicator: int, leaves: Sequence[Sequence[int]]) -> ValueShare | None:
        """Of one area and indicator, by the cells at these `leaves`; None where they add up to no total."""
        told, code = self.publication, self.space.indicators[indicator]
        roots = (_roots(hierarchy)[0] for hierarchy in self.space.hierarchies)
        top = self.number(area, (indicator, *roots))
        here = np.array([self.number(area, (indicator, *place)) for place in product(*leaves)])
        open_ = here[~told.withheld[here] & ~told.visible[here]]
        total = float(told.value[top]) if not told.visible[top] else np.nan
        if self.domain.unit_by_code(code) or not total > 0 or (told.value[open_] < 0).any():
            return None
        return ValueShare(
            self.label.area(self.space.aggregates[area].code),
            self.label.indicator(code),
            *_shares(told.value[open_], told.base[open_], total),
        )


def _shares(
    value: Floats, base: Floats, total: float
) -> tuple[float, tuple[tuple[float, float], ...], float]:
    """The shares of `ValueShare`. Rounded parts may add up to more than the total, by their bases: all of it
    is told then.
    """
    whole = max(total, float(value.sum()))

    def share(width: float) -> float:
        return float(value[base / 2 <= width * value].sum()) / whole

    return (
        float(value[base == 0].sum()) / whole,
        tuple((width, share(width)) for width in CLOSE),
        float(value.sum()) / whole,
    )


def _roots(hierarchy: Hierarchy) -> list[int]:
    """The positions of the codes on top: those without a parent, first those that have parts."""
    has_parts = set(hierarchy.parent)
    tops = [i for i, parent in enumerate(hierarchy.parent) if parent is None]
    return sorted(tops, key=lambda i: hierarchy.codes[i] not in has_parts)


def _finest(hierarchy: Hierarchy) -> list[int] | None:
    """The positions of the codes below the first root that have no parts; None where there is no root."""
    has_parts = set(hierarchy.parent)
    if hierarchy.codes[_roots(hierarchy)[0]] not in has_parts:
        return [0] if len(hierarchy.codes) == 1 else None
    below = {hierarchy.codes[_roots(hierarchy)[0]]}
    for i in sorted(range(len(hierarchy.codes)), key=lambda i: hierarchy.depth[i]):
        if hierarchy.parent[i] in below:
            below.add(hierarchy.codes[i])
    return [i for i, code in enumerate(hierarchy.codes) if code in below and code not in has_parts]
