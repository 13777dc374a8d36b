"""What structure messages hold, however they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sdc_tasks.errors import InvalidInput

_URN = re.compile(r"(?:urn:sdmx:[\w.]+=)?([\w.-]+):([\w@$-]+)\(([\w.+*~-]+)\)(?:\.([\w@$-]+))?")
Row = tuple[str, str, str]  # code, parent, label
Kind = Literal["dimension", "time", "measure", "attribute"]


class Identity(NamedTuple):
    """What names an artefact."""

    agency: str
    id: str
    version: str

    def __str__(self) -> str:
        return f"{self.agency}:{self.id}({self.version})"


class Component(NamedTuple):
    """A column of a data structure. `codes`: its own code list; without one, that of its
    `concept`, a scheme and an item of it.
    """

    id: str
    kind: Kind
    codes: Identity | None
    concept: tuple[Identity, str] | None


@dataclass(frozen=True)
class Listed:
    """The codes of a dimension that a region has, or, where `included` is False, does not have."""

    included: bool
    codes: tuple[str, ...]

    def has(self, code: str) -> bool:
        return (code in self.codes) == self.included


class Region(NamedTuple):
    """Keys that may be reported, or, where `included` is False, may not. A dimension
    that is not named has any code.
    """

    included: bool
    keys: Mapping[str, Listed]


class Constraint(NamedTuple):
    """Which keys may be reported of the artefacts `of`."""

    identity: Identity
    of: tuple[Identity, ...]
    regions: tuple[Region, ...]


@dataclass
class Artefacts:
    """All artefacts of a file or of a folder. `concepts`: the code list of an item of a concept scheme;
    `partial`: the code lists of which not all codes are there, and why.
    """

    codelists: dict[Identity, list[Row]] = field(default_factory=dict)
    concepts: dict[tuple[Identity, str], Identity] = field(default_factory=dict)
    structures: dict[Identity, tuple[Component, ...]] = field(default_factory=dict)
    dataflows: dict[Identity, Identity] = field(default_factory=dict)
    constraints: dict[Identity, Constraint] = field(default_factory=dict)
    partial: dict[Identity, str] = field(default_factory=dict)

    def add(self, kind: str, identity: Identity, content: object) -> None:
        """Raises InvalidInput where another artefact of this identity says something else. Files of a
        folder repeat what they refer to.
        """
        kept = vars(self)[kind]
        if kept.setdefault(identity, content) != content:
            raise InvalidInput(
                f"{_CALLED[kind]} {identity.id} stands twice, differently. Remedy: keep one version of "
                f"{identity}"
            )

    def include(self, other: Artefacts) -> None:
        for kind, found in vars(other).items():
            for identity, content in found.items():
                if kind in ("concepts", "partial"):
                    vars(self)[kind].setdefault(identity, content)
                else:
                    self.add(kind, identity, content)


_CALLED = {
    "codelists": "code list",
    "structures": "data structure",
    "dataflows": "data flow",
    "constraints": "content constraint",
}


EXTENDED = "it extends another list, whose codes are not read here"
PARTIAL = "it holds only a part of its codes"


def refuse_unread(what: str, said: Iterable[str], known: Collection[str]) -> None:
    """What a constraint says and nobody here understands might take keys out: then it is not applied as it is
    meant.
    """
    if odd := sorted(set(said) - set(known)):
        raise InvalidInput(
            f"{what} says {odd[0]}, which is not read here. Remedy: list each key that is allowed, or drop "
            f"the constraint"
        )


def may_be(role: str | None) -> bool:
    """Whether a constraint says what may be reported; not what is there. Raises InvalidInput for one that
    says neither. Since SDMX 3.0 it says what may be where it has no role, which the readers know.
    """
    if role not in ("Allowed", "Actual"):
        raise InvalidInput(
            "a content constraint that is neither Allowed nor Actual. Remedy: say which, or drop the "
            "constraint"
        )
    return role == "Allowed"


def attached_to(references: Iterable[tuple[str, tuple[Identity, str] | None]]) -> tuple[Identity, ...]:
    """The data flows and data structures of a constraint, by the kind of what it is attached to.
    Raises InvalidInput for another kind: one for a single provider or provision agreement would be
    left out, or would count for all.
    """
    found = []
    for kind, to in references:
        if kind.lower().rstrip("s") not in ("dataflow", "datastructure") or to is None:
            told = "a reference that is none" if to is None and kind.lower().startswith("data") else kind
            raise InvalidInput(
                f"a content constraint attached to {told}: not read here. Remedy: attach it to a data flow, "
                f"or drop it"
            )
        found.append(to[0])
    if not found:
        raise InvalidInput(
            "a content constraint attached to nothing. Remedy: attach it to a data flow, or drop it"
        )
    return tuple(sorted(set(found)))


def keys_of(listed: Iterable[tuple[str, Listed]]) -> Mapping[str, Listed]:
    """The codes by dimension. Raises InvalidInput for a dimension that is named twice, where the order would
    decide, and for one without codes or with a wildcard: a region that is taken out would take out nothing.
    """
    found: dict[str, Listed] = {}
    for name, codes in listed:
        if name in found:
            raise InvalidInput(
                f"{name} stands twice in one region of a constraint. Remedy: list its codes once"
            )
        if not codes.codes or {"", "%", "*"} & {*codes.codes}:
            raise InvalidInput(
                f"{name} without codes, or with a wildcard: not read here. Remedy: list each code"
            )
        found[name] = codes
    return found


def referred(urn: str) -> tuple[Identity, str] | None:
    """The artefact that a URN of SDMX names, and an item of it, empty without one; also
    without the beginning of a URN.
    """
    match = _URN.fullmatch(urn.strip())
    return (Identity(match[1], match[2], match[3]), match[4] or "") if match else None
