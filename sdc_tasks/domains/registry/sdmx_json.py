"""Structure messages of SDMX-JSON 1.0, 2.0 and 2.1."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sdc_tasks.domains.registry.artefacts import (
    EXTENDED,
    PARTIAL,
    Artefacts,
    Component,
    Constraint,
    Identity,
    Kind,
    Listed,
    Region,
    Row,
    attached_to,
    keys_of,
    may_be,
    referred,
    refuse_unread,
)
from sdc_tasks.errors import InvalidInput

_NAMED = (
    "id",
    "agencyID",
    "version",
    "name",
    "names",
    "description",
    "descriptions",
    "links",
    "annotations",
    "urn",
)
_OF_CONSTRAINT = (
    *_NAMED,
    "isFinal",
    "role",
    "type",
    "constraintAttachment",
    "cubeRegions",
    "dataKeySets",
    "releaseCalendar",
)
_OF_REGION = ("include", "isIncluded", "keyValues", "annotations", "links")
_OF_KEY_VALUE = ("id", "include", "values", "value")
_COMPONENTS: tuple[tuple[str, str, Kind], ...] = (
    ("dimensionList", "dimensions", "dimension"),
    ("dimensionList", "measureDimensions", "dimension"),
    ("dimensionList", "timeDimensions", "time"),
    ("dimensionList", "timeDimension", "time"),
    ("measureList", "measures", "measure"),
    ("measureList", "primaryMeasure", "measure"),
    ("attributeList", "attributes", "attribute"),
)


def read(text: str, path: object) -> Artefacts:
    """The artefacts of a message. Raises InvalidInput naming the file and the remedy."""
    try:
        data = json.loads(text)["data"]
        return _artefacts(data)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            f"{path}: no structure message of SDMX-JSON. Remedy: get the structure as one, or as SDMX-ML"
        ) from error


def _artefacts(data: Mapping[str, Any]) -> Artefacts:
    found = Artefacts()
    for kind, add in _ARTEFACTS:
        for each in _own(data, kind):
            add(found, each)
    return found


def _add_codelist(found: Artefacts, given: Mapping[str, Any]) -> None:
    found.add("codelists", _identity(given), [_row(code) for code in given.get("codes", [])])
    if given.get("codelistExtensions") or _yes(given, "isPartial", False):
        found.partial[_identity(given)] = EXTENDED if given.get("codelistExtensions") else PARTIAL


def _add_concepts(found: Artefacts, given: Mapping[str, Any]) -> None:
    for item in given.get("concepts", []):
        if codes := _enumerated(item.get("coreRepresentation")):
            found.concepts[_identity(given), item["id"]] = codes


def _add_structure(found: Artefacts, given: Mapping[str, Any]) -> None:
    components = tuple(_components(given.get("dataStructureComponents", {})))
    found.add("structures", _identity(given), components)


def _add_dataflow(found: Artefacts, given: Mapping[str, Any]) -> None:
    if structure := referred(given.get("structure", "")):
        found.add("dataflows", _identity(given), structure[0])


def _add_data_constraint(found: Artefacts, given: Mapping[str, Any]) -> None:
    """Since 2.0 it says what may be where it has no role."""
    _add_constraint(found, {"role": "Allowed", **given})


def _add_constraint(found: Artefacts, given: Mapping[str, Any]) -> None:
    if may_be(given.get("role", given.get("type"))):
        refuse_unread(f"content constraint {given['id']}", _said(given), _OF_CONSTRAINT)
        attached = given.get("constraintAttachment", {})
        of = attached_to(
            (kind, referred(str(to))) for kind, every in attached.items() for to in _several(every)
        )
        identity = _identity(given)
        found.add("constraints", identity, Constraint(identity, of, tuple(_regions(given))))


_ARTEFACTS: tuple[tuple[str, Callable[[Artefacts, Mapping[str, Any]], None]], ...] = (
    ("codelists", _add_codelist),
    ("conceptSchemes", _add_concepts),
    ("dataStructures", _add_structure),
    ("dataflows", _add_dataflow),
    ("dataConstraints", _add_data_constraint),
    ("contentConstraints", _add_constraint),
)


def _own(data: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [each for each in data.get(kind, []) if not _yes(each, "isExternalReference", False)]


def _yes(given: Mapping[str, Any], name: str, usual: bool) -> bool:
    told = given.get(name, usual)
    if not isinstance(told, bool):
        raise InvalidInput(f"{name} is neither true nor false. Remedy: get the structure again")
    return told


def _said(given: Mapping[str, Any]) -> list[str]:
    """The keys that say something: a registry writes empty ones, too."""
    return [name for name, told in given.items() if told not in (None, False, "", [], {})]


def _several(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _identity(each: Mapping[str, Any]) -> Identity:
    return Identity(str(each.get("agencyID", "")), str(each["id"]), str(each.get("version", "1.0")))


def _row(code: Mapping[str, Any]) -> Row:
    name = str(code["id"])
    label = code.get("names", {}).get("en") or code.get("name") or name
    return name, str(code.get("parent") or ""), str(label)


def _components(given: Mapping[str, Any]) -> Iterator[Component]:
    for listed, name, kind in _COMPONENTS:
        parts = given.get(listed, {}).get(name, [])
        for part in parts if isinstance(parts, list) else [parts]:
            concept = referred(part.get("conceptIdentity", ""))
            yield Component(
                str(part.get("id") or (concept or ("", ""))[1]),
                kind,
                _enumerated(part.get("localRepresentation")),
                concept,
            )


def _enumerated(represented: Mapping[str, Any] | None) -> Identity | None:
    found = referred((represented or {}).get("enumeration", ""))
    return found[0] if found else None


def _regions(constraint: Mapping[str, Any]) -> Iterator[Region]:
    for region in constraint.get("cubeRegions", []):
        if region.get("attributes") or region.get("components"):
            raise InvalidInput(
                "a constraint on attributes, which is not read here. Remedy: list the flags in the domain "
                "file, and drop it"
            )
        refuse_unread("a cube region", _said(region), _OF_REGION)
        yield Region(
            _yes(region, "include", _yes(region, "isIncluded", True)),
            keys_of(map(_listed, region.get("keyValues", []))),
        )
    for keys in constraint.get("dataKeySets", []):
        refuse_unread("a key set", _said(keys), ("isIncluded", "keys"))
        for key in keys.get("keys", []):
            refuse_unread("a key of a key set", _said(key), ("keyValues", "annotations", "links"))
            yield Region(_yes(keys, "isIncluded", True), keys_of(map(_listed, key.get("keyValues", []))))


def _listed(given: Mapping[str, Any]) -> tuple[str, Listed]:
    name, codes = str(given["id"]), _values(given)
    cascaded = any(each.get("cascadeValues") for each in (given, *codes))
    if given.get("timeRange") or cascaded:
        raise InvalidInput(
            f"{name} by a range of time, or with all codes below one: not read here. Remedy: list each code"
        )
    if given.get("removePrefix"):
        raise InvalidInput(f"{name} by codes without their prefix: not read here. Remedy: list each code")
    refuse_unread(name, _said(given), _OF_KEY_VALUE)
    refuse_unread(f"a code of {name}", {said for each in codes for said in _said(each)}, ("value",))
    return name, Listed(_yes(given, "include", True), tuple(sorted({str(each["value"]) for each in codes})))


def _values(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The codes of a key value, each with what is said of it: one or several, plain or as objects."""
    values = given.get("values", [given["value"]] if "value" in given else [])
    return [each if isinstance(each, dict) else {"value": each} for each in values]
