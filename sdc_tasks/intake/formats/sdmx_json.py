"""SDMX-JSON 2.0 and 2.1, from JSON to records: data messages by series or flat, components at every level,
values by index or as they are.

A name, a level or a value that has no place here is refused, and so is what is said of a series or a group
without an observation. A record is counted as a row of a table below a header: the first one is line 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, TypeGuard

from sdc_tasks.intake.findings import shown
from sdc_tasks.intake.formats.gathered import ACTIONS, Gathered, UnfitMessage
from sdc_tasks.intake.formats.groups import MEASURE
from sdc_tasks.intake.formats.records import WireFormat
from sdc_tasks.intake.formats.sdmx_ml import structure_of

WIRE = WireFormat("SDMX-JSON", ".", ("DATAFLOW",))
_LEVELS = {
    "dimensions": {"dataSet", "series", "observation"},
    "measures": {"observation"},
    "attributes": {"dataSet", "dimensionGroup", "series", "observation"},
}
_OF_A_MESSAGE, _OF_DATA = {"$schema", "meta", "data", "errors"}, {"structures", "dataSets"}
_OF_A_SET = {
    "structure",
    "action",
    "links",
    "annotations",
    "attributes",
    "dimensionGroupAttributes",
    "series",
    "observations",
    "setId",
    "reportingBegin",
    "reportingEnd",
    "validFrom",
    "validTo",
    "publicationYear",
    "publicationPeriod",
    "name",  # a title, as that of the structure: sdmxlib writes it here too
    "names",
}
_OF_A_SERIES = {"attributes", "observations", "annotations"}


def gather(message: Mapping[str, Any], gathered: Gathered) -> None:
    """Gathers the records. Raises UnfitMessage, or an error of its parts, where it cannot be read."""
    _Read(gathered).message(message)


def first(text: str, concept: str) -> str:
    """The first value of a concept, empty where there is none: a guess, without parsing."""
    component = re.search(rf'"id"\s*:\s*"(?i:{re.escape(concept)})"', text)
    value = (
        re.search(r'"values"\s*:\s*\[\s*\{[^{}]*?"(?:id|value)"\s*:\s*"([^"]*)"', text[component.end() :])
        if component
        else None
    )
    return value[1] if value else ""


class _Component:
    """A dimension, measure or attribute, and the texts of its values, None where they stand in the data
    themselves.
    """

    def __init__(self, given: Mapping[str, Any], named: Callable[[str], str]) -> None:
        self.name = named(str(given["id"]))
        values = given.get("values")
        self.values = list(map(_listed, values)) if values else None
        self.default = _plain(given.get("default")) or None
        self.position = given.get("keyPosition")

    def text(self, content: object) -> str | None:
        """The text of what the data hold, which may be empty; that of the default, or None,
        where they hold nothing.
        """
        if content is None:
            return self.default
        if self.values is None:
            return _plain(content)
        if not _is_index(content, len(self.values)):
            raise UnfitMessage(
                "the data name a value that the list of its concept does not have: export the message again"
            )
        return self.values[content]


def _is_index(content: object, number: int) -> TypeGuard[int]:
    """Whether this is the place of one of so many, from 0 on."""
    return isinstance(content, int) and not isinstance(content, bool) and 0 <= content < number


def _listed(value: Mapping[str, Any]) -> str:
    """The code, or the value, of one in the list. One that is empty and has nothing else
    is none; a name alone is no code.
    """
    told = {_plain(value.get(each)) for each in ("id", "value")} - {""}
    if not told and value and value.keys() <= {"id", "value"}:
        return ""
    if len(told) != 1:
        raise UnfitMessage(
            "a listed value has no id and no value, or two that differ: export the message again"
        )
    return told.pop()


def _plain(content: object) -> str:
    """The text of one value; a text that no code and no number has, for several values or languages."""
    if content is None:
        return ""
    if isinstance(content, list) and len(content) == 1:
        return _plain(content[0])
    if isinstance(content, bool | dict | list):
        raise UnfitMessage("a concept of several values or languages: send one value of each")
    return str(content).strip()


class _Read:
    """The message, level by level."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered

    def message(self, message: Mapping[str, Any]) -> None:
        if "data" not in message and {"header", "dataSets"} <= message.keys():
            raise UnfitMessage("SDMX-JSON 1.0 is not read here: send 2.0 or 2.1, or SDMX-CSV")
        _only(message, _OF_A_MESSAGE, "message")
        if message.get("meta", {}).get("test", False) is not False:
            raise UnfitMessage("the message says that it is a test: send the delivery with test false")
        if message.get("errors"):
            raise UnfitMessage(
                "the message has errors, in which a service says what went wrong: send a complete message "
                "without them"
            )
        _only(message["data"], _OF_DATA, "data")
        structures = message["data"]["structures"]
        for data_set in message["data"]["dataSets"]:
            at = data_set.get("structure", 0)
            if not _is_index(at, len(structures)):
                raise UnfitMessage(
                    "a data set names a structure that the message does not have: export it again"
                )
            self._data_set(data_set, structures[at])

    def _data_set(self, data_set: Mapping[str, Any], structure: Mapping[str, Any]) -> None:
        _only(data_set, _OF_A_SET, "data set")
        self.gathered.data_set()
        self._components(structure)
        if data_set.get("annotations"):
            self.gathered.note()
        said = self._of_the_set(data_set, structure)
        self.gathered.above(said)
        self._group_attributes(data_set.get("dimensionGroupAttributes", {}))
        self._refuse_defaults(data_set)
        for number, (key, series) in enumerate(data_set.get("series", {}).items(), start=1):
            self._series(said, key, series, number)
        self._observations(said, data_set.get("observations", {}))

    def _components(self, structure: Mapping[str, Any]) -> None:
        """The dimensions and attributes of each level, the measures, and how many notes there are."""
        self._dimensions = self._levels(structure, "dimensions")
        self._attributes = self._levels(structure, "attributes")
        measures = self._levels(structure, "measures")
        self._measures = (
            measures.get("observation", [])
            if structure.get("measures") is not None
            else [_Component({"id": MEASURE}, str)]
        )
        if any(each.default for each in self._measures):
            raise UnfitMessage(
                "a default for a measure, and only attributes have one: send each value at its observation"
            )
        self._notes = len(structure.get("annotations") or ())

    def _of_the_set(self, data_set: Mapping[str, Any], structure: Mapping[str, Any]) -> dict[str, str]:
        """What is said of all observations of a data set, and the structure of them."""
        links = [*(structure.get("links") or ()), *(data_set.get("links") or ())]
        named = next(filter(None, (structure_of(link.get("urn", "")) for link in links)), None)
        if named is None:
            raise UnfitMessage("the structure has no link with its urn: add it, with agency, id and version")
        said = {"DATAFLOW": named}
        if "action" in data_set:
            said["ACTION"] = ACTIONS.get(data_set["action"], str(data_set["action"]))
        for dimension in self._dimensions.get("dataSet", []):
            if len(dimension.values or ()) != 1:
                raise UnfitMessage(
                    f"{self._shown(dimension)} of the data set has not one value: list the one of all "
                    f"observations, or send the dimension at the series or the observations"
                )
            self._say(said, dimension, 0)
        return self._attributed(said, self._attributes.get("dataSet", []), data_set.get("attributes", []))

    def _refuse_defaults(self, data_set: Mapping[str, Any]) -> None:
        """Refuses a default at a level that some observation may not have."""
        if any(each.default for each in self._attributes.get("dimensionGroup", [])):
            raise UnfitMessage(
                "a default for groups, and not every observation need have one: say it in each group, or at "
                "the observations"
            )
        if data_set.get("observations") and any(each.default for each in self._attributes.get("series", [])):
            raise UnfitMessage(
                "a default for series, and there are observations without one: say it at the observations"
            )

    def _series(self, said: Mapping[str, str], key: str, series: Mapping[str, Any], number: int) -> None:
        _only(series, _OF_A_SERIES, "series")
        if series.get("annotations"):
            self.gathered.note()
        since = self.gathered.number
        own = self._attributed({}, self._attributes.get("series", []), series.get("attributes", []))
        said = self._both(self._keyed(said, "series", key), own)
        self._observations(said, series.get("observations", {}))
        self.gathered.series(own, since, kind=f"a series (number {number} of its data set)")

    def _observations(self, said: Mapping[str, str], observations: Mapping[str, Sequence[object]]) -> None:
        components = [*self._measures, *self._attributes.get("observation", [])]
        for key, contents in observations.items():
            self.gathered.record(
                self._attributed(self._keyed(said, "observation", key), components, contents or [])
            )

    def _keyed(self, said: Mapping[str, str], level: str, key: str) -> dict[str, str]:
        """With the dimensions of a level, whose indices are in the key."""
        found, dimensions = dict(said), self._dimensions.get(level, [])
        for dimension, index in zip(dimensions, key.split(":") if dimensions else [], strict=True):
            self._place(found, dimension, index)
        return found

    def _place(self, said: dict[str, str], dimension: _Component, index: str) -> None:
        """Adds the code of a dimension that a key names by its index."""
        if dimension.values is None:
            raise UnfitMessage(
                f"{self._shown(dimension)} has no list of its values: add it, as keys name them"
            )
        if not (index.isascii() and index.isdigit()):  # int would read 0_1, +1 and digits of other scripts
            raise UnfitMessage("a key has no index of a value where one must be: export the message again")
        self._say(said, dimension, int(index))

    def _shown(self, dimension: _Component) -> str:
        """A dimension, as a finding names it."""
        told = shown(dimension.name, self.gathered.texts)
        return f"dimension{f' {told}' if told else ''}"

    def _attributed(
        self, said: Mapping[str, str], components: Sequence[_Component], contents: Sequence[object]
    ) -> dict[str, str]:
        """With the values of these components; those at the end may be left out, and the
        numbers of annotations may follow.
        """
        if len(contents) > len(components):
            self._beyond(contents[len(components) :])
        found = dict(said)
        for at, component in enumerate(components):
            self._say(found, component, contents[at] if at < len(contents) else None)
        return found

    def _beyond(self, contents: Sequence[object]) -> None:
        """What stands behind the values of the components."""
        for content in contents:
            if content is None:
                continue
            for note in content if isinstance(content, list) else [content]:
                if not isinstance(note, int) or isinstance(note, bool) or not 0 <= note < self._notes:
                    raise UnfitMessage(
                        "the data have more values than its structure has components: export the message "
                        "again"
                    )
            self.gathered.note()

    def _both(self, said: dict[str, str], own: Mapping[str, str]) -> dict[str, str]:
        """With what is said at a further level. Where they differ in a concept, it is noted."""
        for name, text in own.items():
            if said.setdefault(name, text) != text:
                self.gathered.differs(name)
        return said

    def _say(self, said: dict[str, str], component: _Component, content: object) -> None:
        text = component.text(content)
        self.gathered.seen((component.name,))
        if text is not None and said.setdefault(component.name, text) != text:
            self.gathered.differs(component.name)

    def _levels(self, structure: Mapping[str, Any], of: str) -> dict[str, list[_Component]]:
        given: Mapping[str, Iterable[Mapping[str, Any]]] = structure.get(of) or {}
        if not {level for level, components in given.items() if components} <= _LEVELS[of]:
            raise UnfitMessage(
                f"a level that is not read here ({of}): send its values at the data set, a group, a series "
                f"or an observation"
            )
        return {
            level: [_Component(each, self.gathered.concept) for each in components]
            for level, components in given.items()
        }

    def _group_attributes(self, groups: Mapping[str, Sequence[object]]) -> None:
        dimensions = self._of_whole_key() if groups else []
        for number, (key, contents) in enumerate(groups.items(), start=1):
            part: dict[str, str] = {}
            for dimension, index in zip(dimensions, key.split(":"), strict=True):
                if index:
                    self._place(part, dimension, index)
            if not part.keys() <= self.gathered.texts.keys():
                raise UnfitMessage(
                    "attributes of a dimension that is not in the structure: send them with its dimensions"
                )
            own = self._attributed({}, self._attributes.get("dimensionGroup", []), contents)
            self.gathered.group(self._both(part, own), kind=f"a group (number {number} of its data set)")

    def _of_whole_key(self) -> list[_Component]:
        """The dimensions of all levels, in the order of the whole key, which only their positions say."""
        dimensions = [each for level in self._dimensions.values() for each in level]
        placed: dict[int, _Component] = {}
        for each in dimensions:
            if not _is_index(each.position, len(dimensions)) or each.position in placed:
                raise UnfitMessage(
                    f"the keyPosition of {self._shown(each)} is not one of 0 to {len(dimensions) - 1}, "
                    f"each once: add or correct it, as the keys of dimensionGroupAttributes follow it"
                )
            placed[each.position] = each
        return [placed[position] for position in sorted(placed)]


def _only(given: Mapping[str, Any], known: Set[str], what: str) -> None:
    if not given.keys() <= known:
        raise UnfitMessage(f"a name that is not read here ({what}): take it away")
