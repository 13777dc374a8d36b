"""The names of codes and the units of numbers, from the settings of a domain (`reader.settings_of`).

For an unknown domain, and for one registered by an older version without code lists, codes are shown as they
are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sdc_tasks.model.keys import codes_in

MULTIPLIERS = {0: "", 3: "thousand ", 6: "million ", 9: "billion "}


@dataclass(frozen=True)
class Name:
    """A code and its label."""

    code: str
    label: str

    @property
    def told(self) -> str:
        """The label, if it differs from the code."""
        return "" if self.label == self.code else self.label


@dataclass(frozen=True)
class Measure:
    """An indicator: its name, the unit of its values, and their decimals."""

    name: Name
    unit: str
    decimals: int


@dataclass(frozen=True)
class Dimension:
    """One hierarchy: its codes in order, and the parent of each (None for the top)."""

    name: str
    codes: tuple[Name, ...]
    parents: Mapping[str, str | None]

    def depth(self, code: str) -> int:
        above = self.parents.get(code)
        return 0 if above is None else 1 + self.depth(above)

    def block(self, code: str) -> str:
        """The code of depth 0 or 1 that represents this code in a summary."""
        while self.depth(code) > 1:
            code = str(self.parents[code])
        return code


@dataclass(frozen=True)
class Labels:
    """The names of a domain, its areas, indicators and dimensions."""

    domain: str
    title: str
    areas: Mapping[str, str]
    measures: Mapping[str, Measure]
    dimensions: tuple[Dimension, ...]

    def area(self, code: str) -> Name:
        return Name(code, self.areas.get(code, code))

    def measure(self, code: str) -> Measure:
        return self.measures.get(code) or Measure(Name(code, code), "units", 0)

    def codes_of(self, cell: str) -> tuple[str, ...]:
        """The codes of a cell key after area and indicator, one for each dimension."""
        return codes_in(cell)[2:]

    def cell(self, cell: str) -> str:
        """A cell key in words, without area and indicator."""
        pairs = zip(self.dimensions, self.codes_of(cell), strict=False)
        return " · ".join(
            next((name.label for name in dimension.codes if name.code == code), code)
            for dimension, code in pairs
        )


def labels_of(domain: str, settings: Mapping[str, Any]) -> Labels:
    lists: Mapping[str, list[list[str]]] = settings.get("codelists", {})
    areas = {code: label for code, _, label in lists.get(settings.get("areas", {}).get("dimension", ""), [])}
    for each in settings.get("aggregates", []):
        areas[each["code"]] = each["label"]
        if each.get("partial_code"):
            areas[each["partial_code"]] = f"{each['label']}, incomplete"
    dimensions = [
        _dimension(each.get("label") or each["dimension"], lists.get(each["dimension"], []))
        for each in settings.get("hierarchies", [])
    ]
    return Labels(
        domain=domain,
        title=settings.get("title", domain),
        areas=areas,
        measures={each["code"]: _measure(each) for each in settings.get("indicators", [])},
        dimensions=tuple(dimensions),
    )


def _dimension(name: str, rows: list[list[str]]) -> Dimension:
    codes = {code for code, _, _ in rows}
    parents = {code: parent if parent in codes else None for code, parent, _ in rows}
    return Dimension(name, tuple(Name(code, label) for code, _, label in rows), parents)


def _measure(indicator: Mapping[str, Any]) -> Measure:
    power = int(indicator.get("unit_multiplier", 0))
    unit = (
        MULTIPLIERS.get(power, f"10^{power} ") + indicator["unit"]
        if indicator["unit"]
        else f"in the unit of its {indicator['unit_of']}"
    )
    return Measure(Name(indicator["code"], indicator["label"]), unit, int(indicator.get("decimals", 0)))
