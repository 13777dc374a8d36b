"""Structure messages of SDMX-ML 2.1, 3.0 and 3.1. The message is small, so it is read as a
tree; a document type is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pyexpat import ExpatError

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
from sdc_tasks.untrusted import xml_parser

_MESSAGE = re.compile(r"http://www\.sdmx\.org/resources/sdmxml/schemas/v(?:2_1|3_0|3_1)/message Structure")
_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
_KINDS: dict[str, Kind] = {
    "Dimension": "dimension",
    "MeasureDimension": "dimension",
    "TimeDimension": "time",
    "PrimaryMeasure": "measure",
    "Measure": "measure",
    "Attribute": "attribute",
}
_DEEPEST = 100
_YES, _NO = ("true", "1"), ("false", "0")
_MAINTAINED = (
    "id",
    "agencyID",
    "version",
    "urn",
    "uri",
    "isFinal",
    "isExternalReference",
    "Annotations",
    "Name",
    "Description",
    "Link",
)
_OF_CONSTRAINT = (
    *_MAINTAINED,
    "type",
    "role",
    "ConstraintAttachment",
    "CubeRegion",
    "DataKeySet",
    "ReleaseCalendar",
)


@dataclass
class Element:
    """An element of a structure message: its local name, and the line where it begins."""

    name: str
    attributes: dict[str, str]
    line: int
    parts: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, *names: str) -> Iterator[Element]:
        """What stands directly in this element."""
        return (each for each in self.parts if each.name in names)

    def within(self, *names: str) -> Iterator[Element]:
        """What stands anywhere in it, in order."""
        left = list(reversed(self.parts))
        while left:
            node = left.pop()
            if node.name in names:
                yield node
            left.extend(reversed(node.parts))

    def one(self, *path: str) -> Element | None:
        node: Element | None = self
        for name in path:
            node = next(node.all(name), None) if node else None
        return node


def read(text: str, path: object) -> Artefacts:
    """The artefacts of a message. Raises InvalidInput naming the file, the line and the remedy."""
    found, root = Artefacts(), tree(text, path)
    for node in root.within(*_ARTEFACTS):
        if "id" not in node.attributes:
            continue  # a reference
        try:
            if not _yes(node, "isExternalReference", False):  # which only says where the artefact is
                _ARTEFACTS[node.name](found, _identity(node), node)
        except InvalidInput as error:
            raise InvalidInput(f"{path}, line {node.line}: {error}") from None
    return found


def _identity(node: Element) -> Identity:
    said = node.attributes
    return Identity(said.get("agencyID", ""), said["id"], said.get("version", "1.0"))


def _add_codelist(found: Artefacts, identity: Identity, node: Element) -> None:
    found.add("codelists", identity, [_row(code) for code in node.all("Code")])
    if (extended := node.one("CodelistExtension") is not None) or _yes(node, "isPartial", False):
        found.partial[identity] = EXTENDED if extended else PARTIAL


def _add_concepts(found: Artefacts, identity: Identity, node: Element) -> None:
    found.concepts |= {
        (identity, item.attributes.get("id", "")): codes
        for item in node.all("Concept")
        if (codes := _enumerated(item.one("CoreRepresentation")))
    }


def _add_structure(found: Artefacts, identity: Identity, node: Element) -> None:
    found.add("structures", identity, tuple(_components(node)))


def _add_dataflow(found: Artefacts, identity: Identity, node: Element) -> None:
    if structure := _reference(node.one("Structure")):
        found.add("dataflows", identity, structure[0])


def _add_constraint(found: Artefacts, identity: Identity, node: Element) -> None:
    usual = None if node.name == "ContentConstraint" else "Allowed"
    if may_be(node.attributes.get("type", node.attributes.get("role", usual))):
        refuse_unread(f"content constraint {identity.id}", _said(node), _OF_CONSTRAINT)
        found.add(
            "constraints",
            identity,
            Constraint(identity, attached_to(_attached(node)), tuple(_regions(node))),
        )


_ARTEFACTS: dict[str, Callable[[Artefacts, Identity, Element], None]] = {
    "Codelist": _add_codelist,
    "ConceptScheme": _add_concepts,
    "DataStructure": _add_structure,
    "Dataflow": _add_dataflow,
    "ContentConstraint": _add_constraint,
    "DataConstraint": _add_constraint,
}


def tree(text: str, path: object) -> Element:
    """A structure message as a tree below a nameless root. Raises InvalidInput with the line."""
    root = Element("", {}, 0)
    open_: list[Element] = [root]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_) == 1 and _MESSAGE.fullmatch(name) is None:
            raise refused(
                "no structure message of SDMX-ML 2.1, 3.0 or 3.1. Remedy: get the structure as one, or write "
                "a CSV file"
            )
        if len(open_) > _DEEPEST:
            raise refused(f"more than {_DEEPEST} levels. Remedy: get the structure again")
        node = Element(name.rpartition(" ")[2], attributes, parser.CurrentLineNumber)
        open_[-1].parts.append(node)
        open_.append(node)

    def say(text: str) -> None:
        open_[-1].text += text

    def refused(why: str) -> InvalidInput:
        return InvalidInput(f"{path}, line {parser.CurrentLineNumber}: {why}")

    parser = xml_parser(lambda why: refused(f"{why}. Remedy: get the structure again"), "utf-8")
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = (
        start,
        lambda _: open_.pop(),
        say,
    )
    try:
        parser.Parse(text.encode(), True)
    except ExpatError as error:
        raise InvalidInput(
            f"{path}, line {error.lineno}: not well-formed XML. Remedy: get the structure again"
        ) from error
    return root


def _row(code: Element) -> Row:
    parent = code.one("Parent")
    above = (
        ""
        if parent is None
        else (ref.attributes.get("id", "") if (ref := parent.one("Ref")) else parent.text.strip())
    )
    names = {each.attributes.get(_LANGUAGE, "en"): each.text.strip() for each in code.all("Name")}
    name = code.attributes.get("id", "")
    return name, above, names.get("en") or next(iter(names.values()), "") or name


def _components(structure: Element) -> Iterator[Component]:
    for parts in structure.all("DataStructureComponents"):
        for listed in parts.all("DimensionList", "AttributeList", "MeasureList"):
            for node in listed.all(*_KINDS):
                concept = _reference(node.one("ConceptIdentity"))
                name = node.attributes.get("id") or (concept[1] if concept else "")
                yield Component(
                    name, _KINDS[node.name], _enumerated(node.one("LocalRepresentation")), concept
                )


def _enumerated(represented: Element | None) -> Identity | None:
    found = _reference(represented.one("Enumeration") if represented else None)
    return found[0] if found else None


def _reference(node: Element | None) -> tuple[Identity, str] | None:
    """The artefact that an element refers to, and an item of it: by Ref or URN in 2.1, by a text
    since 3.0.
    """
    if node is None:
        return None
    if (ref := node.one("Ref")) is not None:
        said = ref.attributes
        if "maintainableParentID" in said:
            return Identity(
                said["agencyID"], said["maintainableParentID"], said.get("maintainableParentVersion", "1.0")
            ), said.get("id", "")
        return Identity(said.get("agencyID", ""), said.get("id", ""), said.get("version", "1.0")), ""
    urn = node.one("URN")
    return referred((urn or node).text)


def _attached(constraint: Element) -> Iterator[tuple[str, tuple[Identity, str] | None]]:
    for attachment in constraint.all("ConstraintAttachment"):
        for node in attachment.parts:
            yield node.name, _reference(node)


def _regions(constraint: Element) -> Iterator[Region]:
    for node in constraint.all("CubeRegion"):
        if node.one("Attribute") or node.one("Component"):
            raise InvalidInput(
                "a constraint on attributes, which is not read here. Remedy: list the flags in the domain "
                "file, and drop it"
            )
        refuse_unread("a cube region", _said(node), ("include", "KeyValue", "Annotations"))
        yield Region(_yes(node, "include", True), keys_of(map(_listed, node.all("KeyValue"))))
    for keys in constraint.all("DataKeySet"):
        refuse_unread("a key set", _said(keys), ("isIncluded", "Key"))
        for key in keys.all("Key"):
            refuse_unread("a key of a key set", _said(key), ("KeyValue", "Annotations"))
            yield Region(_yes(keys, "isIncluded", True), keys_of(map(_listed, key.all("KeyValue"))))


def _listed(node: Element) -> tuple[str, Listed]:
    name = node.attributes.get("id", "")
    cascaded = {each.attributes.get("cascadeValues", "false").strip() for each in (node, *node.all("Value"))}
    if node.one("TimeRange") or cascaded - {*_NO}:
        raise InvalidInput(
            f"{name} by a range of time, or with all codes below one: not read here. Remedy: list each code"
        )
    if _yes(node, "removePrefix", False):
        raise InvalidInput(f"{name} by codes without their prefix: not read here. Remedy: list each code")
    refuse_unread(name, _said(node), ("id", "include", "removePrefix", "cascadeValues", "Value"))
    for each in node.all("Value"):
        refuse_unread(f"a code of {name}", _said(each), ("cascadeValues", _LANGUAGE, "lang"))
    return name, Listed(
        _yes(node, "include", True), tuple(sorted({each.text.strip() for each in node.all("Value")}))
    )


def _said(node: Element) -> list[str]:
    """The names of its attributes and of what stands in it. Where the schema lies is none."""
    return [
        *(name for name in node.attributes if "XMLSchema-instance" not in name),
        *(each.name for each in node.parts),
    ]


def _yes(node: Element, name: str, usual: bool) -> bool:
    text = node.attributes.get(name, "true" if usual else "false").strip()
    if text not in (*_YES, *_NO):
        raise InvalidInput(f"{name} is neither true nor false. Remedy: get the structure again")
    return text in _YES
