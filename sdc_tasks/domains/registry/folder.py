"""A structure file, or a folder of them as exported from a registry, and what is looked up there."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from sdc_tasks.domains.registry import sdmx_json, sdmx_ml
from sdc_tasks.domains.registry.artefacts import Artefacts, Component, Constraint, Identity, Row, referred
from sdc_tasks.errors import InvalidInput
from sdc_tasks.untrusted import settings_text

STRUCTURE_BYTES = 1 << 24  # of a hundred thousand codes and more
SUFFIXES = {".xml": sdmx_ml.read, ".json": sdmx_json.read}
Found = TypeVar("Found")
_PLAIN = re.compile(r"\d+(?:\.\d+)*")
_LATER = re.compile(r"((?:\d+\.)*\d+)\+(?:\.\d+)*")  # the number before the sign is open


class Registry:
    """The artefacts of a file or a folder at `path`. Raises InvalidInput naming the
    file, what it lacks and the remedy.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        files = [path]
        if path.is_dir():
            files = sorted(each for each in path.rglob("*") if each.suffix.lower() in SUFFIXES)
            if not files:
                raise InvalidInput(
                    f"{path}: no structure message (.xml, .json) in this folder. Remedy: export them from "
                    f"the registry"
                )
        elif path.suffix.lower() not in SUFFIXES:
            raise InvalidInput(
                f"{path}: no structure message (.xml, .json), and no folder of them. Remedy: name one, as "
                f"structures"
            )
        self._all = Artefacts()
        for each in files:
            try:
                self._all.include(_read(each, _state(each)))
            except InvalidInput as error:
                told = str(error)
                raise InvalidInput(told if told.startswith(str(path)) else f"{each}: {told}") from None

    @property
    def contents(self) -> tuple[object, ...]:
        """All that counts, in an order of its own, for a digest."""
        return tuple(
            sorted(
                (kind, str(key), repr(content))
                for kind, found in vars(self._all).items()
                for key, content in found.items()
            )
        )

    def codelist(self, identifier: str | None) -> list[Row]:
        """The code list of this id, or AGENCY:ID(VERSION); without one, the only list."""
        lists = self._all.codelists
        if not lists:
            raise InvalidInput(
                f"{self.path}: no code list. Remedy: name a structure message with one, or a CSV file"
            )
        known = ", ".join(sorted(each.id for each in lists))
        if identifier is None:
            if len(lists) > 1:
                raise InvalidInput(
                    f"{self.path}: several code lists. Remedy: say which as codelist_id: one of {known}"
                )
            return self._whole(*next(iter(lists.items())))
        alike = [each for each in lists if identifier in (each.id, str(each))]
        if len(alike) > 1:
            names = ", ".join(map(str, sorted(alike)))
            raise InvalidInput(
                f"{self.path}: several code lists {identifier}. Remedy: say which as codelist_id: one of "
                f"{names}"
            )
        if not alike:
            raise InvalidInput(f"{self.path}: no code list {identifier}. Remedy: name one of {known}")
        return self._whole(alike[0], lists[alike[0]])

    def _whole(self, identity: Identity, rows: list[Row]) -> list[Row]:
        """The rows of a list. A country or an activity that is not among them would be left out without a
        word.
        """
        if identity in self._all.partial:
            why = self._all.partial[identity]
            raise InvalidInput(
                f"{self.path}: code list {identity}: {why}. Remedy: get the whole list, or name a CSV file "
                f"as codelist"
            )
        return rows

    def named(self, structure_id: str) -> Identity:
        """What a domain file calls the structure of its deliveries."""
        found = referred(structure_id)
        if found is None:
            raise InvalidInput(
                f"structure_id {structure_id}: AGENCY:ID(VERSION) is needed to find it in {self.path}. "
                f"Remedy: write it so"
            )
        return found[0]

    def structure(self, structure_id: str) -> tuple[Identity, tuple[Component, ...]]:
        """The data structure of a data flow, or of this id itself."""
        flow = self.named(structure_id)
        if flow in self._all.dataflows:
            return self._got(
                self._all.dataflows[flow],
                self._all.structures,
                "data structure",
                f", which data flow {flow} refers to",
            )
        if flow in self._all.structures:
            return flow, self._all.structures[flow]
        known = ", ".join(map(str, sorted((*self._all.dataflows, *self._all.structures)))) or "none"
        raise InvalidInput(
            f"{self.path}: no data flow and no data structure {flow}. Remedy: add it, or correct "
            f"structure_id (there: {known})"
        )

    def codes(self, component: Component) -> tuple[Identity, list[Row]] | None:
        """The code list of a component, its own or that of its concept; None where it has none."""
        named = component.codes or (self._all.concepts.get(component.concept) if component.concept else None)
        if named is None:
            return None
        identity, rows = self._got(
            named, self._all.codelists, "code list", f", which {component.id} refers to"
        )
        return identity, self._whole(identity, rows)

    def constraints(self, of: set[Identity]) -> list[Constraint]:
        """The content constraints that say which keys may be reported of these artefacts."""
        found = [
            each
            for each in self._all.constraints.values()
            if any(_is(to, mine) for to in each.of for mine in of)
        ]
        return sorted(found, key=lambda each: each.identity)

    def _got(
        self, named: Identity, among: dict[Identity, Found], what: str, why: str
    ) -> tuple[Identity, Found]:
        """The artefact of a reference, whose version may be open (1.0+)."""
        alike = [each for each in among if _is(named, each)]
        if len(alike) != 1:
            wrong = f"{len(alike)} versions of {what} {named}{why}" if alike else f"no {what} {named}{why}"
            raise InvalidInput(
                f"{self.path}: {wrong}. Remedy: export it from the registry with its references, one version "
                f"of each"
            )
        return alike[0], among[alike[0]]


def _is(named: Identity, found: Identity) -> bool:
    """Whether a reference means this artefact. One with an open version means every version, of which there
    must be one; 2.0+ means those from 2.0 to below 3: what stands before the open number is the same.
    """
    if named[:2] != found[:2] or named.version == found.version:
        return named[:2] == found[:2]
    if (later := _LATER.fullmatch(named.version)) and _PLAIN.fullmatch(found.version):
        least, here = _numbers(named.version.replace("+", "")), _numbers(found.version)
        same = later[1].count(".")
        return here >= least and here[:same] == least[:same]
    return any(sign in named.version for sign in "+*~")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0  # reading it says why
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=64)  # a domain looks at its lists many times
def _read(path: Path, _: tuple[int, int]) -> Artefacts:
    return SUFFIXES[path.suffix.lower()](settings_text(path, STRUCTURE_BYTES, "structure message"), path)
