"""What the structures of a registry say of a domain: its columns and codes are those of the data structure,
and constraints say which keys may be reported.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sdc_tasks.domains.registry.artefacts import Component, Constraint, Kind, Listed, Row
from sdc_tasks.domains.registry.folder import Registry
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Bools

TOLD_CODES = 5  # codes in a message
FREQ, TIME = "FREQ", "TIME_PERIOD"
_ANY = Listed(False, ())  # a dimension that a region does not name


@dataclass(frozen=True)
class DomainColumns:
    """What a domain has. `axes`: the codes of area, indicator and each hierarchy, in this order.
    `attributes`: key of the domain file → column; `codes`: the codes of a column that is no axis. `unsaid`:
    the indicators that do not say what a cell without a record means.
    """

    axes: Mapping[str, Sequence[str]]
    attributes: Mapping[str, str]
    codes: Mapping[str, Sequence[str]]
    unsaid: Collection[str]

    @property
    def dimensions(self) -> list[str]:
        return [FREQ, *self.axes]

    @property
    def frequency(self) -> str:
        return self.codes[FREQ][0]


class Structure:
    """The data structure of a domain's data flow, in a registry. Raises InvalidInput naming
    the file, the key and the remedy.
    """

    def __init__(self, registry: Registry, structure_id: str) -> None:
        self.registry = registry
        self.identity, components = registry.structure(structure_id)
        flow = registry.named(structure_id)
        self.components: Mapping[str, Component] = {each.id: each for each in components}
        self.constraints = registry.constraints({self.identity, flow})

    def rows(self, dimension: str) -> list[Row]:
        """The codes of a dimension: those of its code list that some key may have."""
        component = self.components.get(dimension)
        found = self.registry.codes(component) if component else None
        if found is None:
            raise InvalidInput(
                f"{self.registry.path}: {self.identity} has no code list for {dimension}. Remedy: name one, "
                f"as codelist of the dimension"
            )
        return [
            row for row in found[1] if all(_some_key(each, dimension, row[0]) for each in self.constraints)
        ]

    def check(self, mine: DomainColumns) -> None:
        """Refuses a domain whose columns or codes are not those of the data structure."""
        self._dimensions(mine.dimensions)
        self._attributes(mine.attributes)
        self._constrained(mine.dimensions)
        for name, codes in {**mine.axes, **mine.codes}.items():
            self._codes(name, codes)
        self._sendable(mine)

    def reportable(self, mine: DomainColumns) -> Bools | None:
        """(areas, cells of a national table): which records the constraints allow; None without one."""
        if not self.constraints:
            return None
        shape = tuple(map(len, mine.axes.values()))
        allowed = np.ones(shape, dtype=np.bool_)
        for constraint in self.constraints:
            here = np.full(shape, not any(each.included for each in constraint.regions))
            for region in sorted(
                constraint.regions, key=lambda each: not each.included
            ):  # what is taken out, last
                if region.keys.get(FREQ, _ANY).has(mine.frequency):
                    here[
                        np.ix_(
                            *(
                                _chosen(codes, region.keys.get(name, _ANY))
                                for name, codes in mine.axes.items()
                            )
                        )
                    ] = region.included
            allowed &= here
        return allowed.reshape(shape[0], math.prod(shape[1:]))

    def _dimensions(self, mine: Collection[str]) -> None:
        theirs = self._of_kind("dimension")
        if lacking := [name for name in mine if name not in theirs]:
            raise self._refused(
                f"{', '.join(lacking)}: no dimension of it. Remedy: its dimensions are {', '.join(theirs)}"
            )
        if more := [name for name in theirs if name not in mine]:
            raise self._refused(
                f"the domain file lacks its dimensions {', '.join(more)}. Remedy: add each to hierarchies"
            )
        if TIME not in self._of_kind("time"):
            raise self._refused(f"no time dimension {TIME}. Remedy: deliveries need one")

    def _attributes(self, mine: Mapping[str, str]) -> None:
        theirs = self._of_kind("attribute")
        for key, name in sorted(mine.items()):
            if name not in theirs:
                raise self._refused(
                    f"attributes.{key} {name}: no attribute of it. Remedy: name one of {', '.join(theirs)}, "
                    f"or null"
                )

    def _constrained(self, mine: Collection[str]) -> None:
        """Refuses constraints on what is no dimension here."""
        for constraint in self.constraints:
            named = {name for region in constraint.regions for name in region.keys}
            for name in sorted(named - set(mine)):
                raise InvalidInput(
                    f"{self.registry.path}: content constraint {constraint.identity} is on {name}, which is "
                    f"not read here. "
                    f"Remedy: one on {', '.join(mine)}"
                )

    def _of_kind(self, kind: Kind) -> list[str]:
        return [each.id for each in self.components.values() if each.kind == kind]

    def _codes(self, name: str, codes: Iterable[str]) -> None:
        component = self.components.get(name)
        found = self.registry.codes(component) if component else None
        if found is None:
            return
        known = {row[0] for row in found[1]}
        if unknown := [code for code in codes if code not in known]:
            told = ", ".join(unknown[:TOLD_CODES]) + (
                f" … ({len(unknown)} in all)" if len(unknown) > TOLD_CODES else ""
            )
            raise self._refused(
                f"{name} {told}: not in code list {found[0]}. Remedy: correct them, or get the newer list"
            )

    def _sendable(self, mine: DomainColumns) -> None:
        """A cell that nobody may report has no record, and somebody must say what that means."""
        allowed = self.reportable(mine)
        if allowed is None:
            return
        areas, *axes = mine.axes.values()
        for area, row in zip(areas, allowed, strict=True):
            if not row.any():
                raise self._refused(
                    f"its content constraints allow no record of {area}. Remedy: correct them, or take "
                    f"{area} out"
                )
        everywhere: list[bool] = np.all(allowed, axis=0).tolist()
        for key, every in zip(product(*axes), everywhere, strict=True):
            if not every and key[0] in mine.unsaid:
                raise self._refused(
                    f"its content constraints allow no record of {printed_key(key)}, and indicator {key[0]} "
                    f"does not say what a cell "
                    "without a record means. Remedy: give the indicator absent: zero, or absent: missing"
                )

    def _refused(self, why: str) -> InvalidInput:
        return InvalidInput(f"{self.registry.path}: data structure {self.identity}: {why}")


def _chosen(codes: Iterable[str], listed: Listed) -> Bools:
    return np.fromiter((listed.has(code) for code in codes), dtype=np.bool_)


def _some_key(constraint: Constraint, dimension: str, code: str) -> bool:
    """Whether a constraint leaves a key with this code."""
    regions = constraint.regions
    within = [each for each in regions if each.included]
    if within and not any(each.keys.get(dimension, _ANY).has(code) for each in within):
        return False
    return not any(
        not each.included and set(each.keys) == {dimension} and each.keys[dimension].has(code)
        for each in regions
    )
