"""SDMX-ML 2.1, 3.0 and 3.1, from bytes to records: data messages, generic and structure-specific, by series or flat.

An attribute may stand at the data set, a group, a series or an observation; a record has it wherever it stands, and two different ones are
a finding. The parser reads as it goes and keeps each distinct text once. A document type is refused before anything in it is expanded.
This module does not know the meaning of a concept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pyexpat import ExpatError, errors

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.gathered import ACTIONS, Gathered, UnfitMessage
from sdc_tasks.intake.formats.records import Concepts, Records, WireFormat
from sdc_tasks.untrusted import xml_parser

SDMX_ML = WireFormat("SDMX-ML", ".", ("DATAFLOW",))
OF_A_SET = {"structureRef", "action", "setID", "dataScope", "validFromDate", "validToDate", "publicationYear", "publicationPeriod"}
TAKEN = 1 << 16  # bytes; what the parser takes at a time, so that too long a file is noticed early
_KIND = re.compile(r"http://www\.sdmx\.org/resources/sdmxml/schemas/v(2_1|3_0|3_1)/message (Generic|StructureSpecific)(TimeSeries)?Data")
_URN = re.compile(r"(?:urn:sdmx:[\w.]+=)?([\w.-]+:[\w@$-]+\([\w.+*~]+\))")
_OBSERVED = (["DataSet"], ["DataSet", "Series"])
UNKNOWN = "an element of a data set that is not read here, such as a concept of several values: send one value of each"
_MISSING = "NaN"  # of the standard, for a value that is not there


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The records of a data message; None where the whole file cannot be read (the findings say why)."""
    message = _Message(concepts, most)
    try:
        for at in range(0, len(data), TAKEN):
            message.parser.Parse(data[at : at + TAKEN], False)
        message.parser.Parse(b"", True)
    except ExpatError as error:
        found.add("140", f"not well-formed XML ({errors.messages[error.code]}): is the file complete? Send it again", error.lineno)
        return None
    except (LookupError, ValueError):  # what Python says of an encoding that it does not have, or that takes several bytes a character
        found.add("140", "the file declares an encoding that is not read here: save it as UTF-8", 1)
        return None
    except UnfitMessage as unfit:
        found.add("140", str(unfit), message.parser.CurrentLineNumber)
        return None
    return message.gathered.records(SDMX_ML, found, _plain)


def first(data: bytes, concept: str) -> str:
    """The first text of a concept, empty where there is none: a guess, without parsing."""
    text = data.decode("utf-8", "replace")
    name = re.escape(concept)
    match = re.search(rf"""\b(?:{name}|id=["']{name}["']\s+value)=["']([^"']*)["']""", text)
    return match[1] if match else ""


class _Message:
    """Where the parser stands, and what was said on the way there."""

    def __init__(self, concepts: Concepts, most: int) -> None:
        self.gathered = Gathered(concepts, most)
        self._structure: dict[str, str] = {}
        self._at_observation: dict[str, str] = {}
        self._path: list[str] = []
        self._said: list[str] | None = None
        self._generic = False
        self._set: dict[str, str] = {}
        self._series: dict[str, str] = {}
        self._own: dict[str, str] = {}
        self._here: dict[str, str] | None = None  # what a generic Value belongs to
        self._value = ""  # the whole name of a Value, as this message writes it
        self._header, self._ref = "", ""
        self.parser = xml_parser(lambda why: UnfitMessage(f"{why}: send the message without it"))
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        here = self._here
        if name == self._value and here is not None:  # nine of ten elements of a generic message: as in `_say`
            concept, text = attributes.get("id", ""), attributes.get("value", "")
            if here.setdefault(concept, text) != text:
                self.gathered.differs(concept, self.parser.CurrentLineNumber)
            return
        local = name.rpartition(" ")[2]
        if local == "Value" and here is not None:
            self._path.append(local)
            self._say(here, attributes.get("id", ""), attributes)
            return
        if not self._path:
            kind = _KIND.fullmatch(name)
            if kind is None:
                raise UnfitMessage("XML, but no data message of SDMX-ML 2.1, 3.0 or 3.1: send one of these, or SDMX-CSV")
            self._generic = kind[2] == "Generic"
        self._path.append(local)
        if local == "Obs" and not self._generic and self._path[1:-1] in _OBSERVED and not any(" " in each for each in attributes):
            self._record(self._with(self._series, attributes))  # as below, of most elements of most messages
            return
        if len(self._path) > 1 and self._path[1] == "Header":
            self._start_header(local, attributes)
        elif local == "DataSet":
            self._start_set(attributes)
        elif len(self._path) > 2 and self._path[1] == "DataSet":
            self._start_data(local, attributes)

    def _start_header(self, local: str, attributes: dict[str, str]) -> None:
        if local == "Structure" and len(self._path) == 3:
            self._header = attributes.get("structureID", "")
            self._at_observation[self._header] = attributes.get("dimensionAtObservation", "TIME_PERIOD")
        elif local == "Ref" and "id" in attributes:
            self._structure[self._header] = f"{attributes.get('agencyID', '')}:{attributes['id']}({attributes.get('version', '1.0')})"
        if local in ("Test", "URN", "Structure", "StructureUsage", "ProvisionAgreement", "ProvisionAgrement"):
            self._said = []

    def _start_set(self, attributes: dict[str, str]) -> None:
        plain, of_format = _by_namespace(attributes)
        for name in plain.keys() & OF_A_SET:  # some write them without a namespace, as a generic message does
            of_format.setdefault(name, plain.pop(name))
        self._ref = of_format.get("structureRef", "")
        if self._ref not in self._structure:
            raise UnfitMessage("the header does not say of which structure this data set is: add it, with agency, id and version")
        self._set = {"DATAFLOW": self._structure[self._ref], **plain}
        if "action" in of_format:
            self._set["ACTION"] = ACTIONS.get(of_format["action"], of_format["action"])
        self._series = self._set

    def _start_data(self, local: str, attributes: dict[str, str]) -> None:
        if "Annotations" in self._path:
            return
        if self._generic:
            self._start_generic(local, attributes)
        elif local == "Series":
            self._series = self._with(self._set, _of_record(attributes))
        elif local in ("Group", "Atts"):
            self._group(_by_namespace(attributes)[0])
        elif local == "Obs":
            self._record(self._with(self._series, _of_record(attributes)))
        else:
            raise UnfitMessage(UNKNOWN)

    def _start_generic(self, local: str, attributes: dict[str, str]) -> None:
        if local in ("Series", "Obs", "Group"):
            self._own = {}
        if local in ("SeriesKey", "ObsKey", "GroupKey", "Attributes"):
            self._here = {} if self._path[-2] == "DataSet" else self._own
        elif local == "ObsDimension":
            self._say(self._own, attributes.get("id", self._at_observation.get(self._ref, "TIME_PERIOD")), attributes)
        elif local == "ObsValue":
            self._say(self._own, "OBS_VALUE", attributes)
        elif local not in ("Series", "Obs", "Group"):
            raise UnfitMessage(UNKNOWN)

    def _end(self, name: str) -> None:
        if name == self._value and self._here is not None:
            return
        local = self._path.pop()
        if local == "Value":
            self._value = self._value or name
            return
        if self._said is not None and self._path[1:2] == ["Header"]:
            self._end_header(local, "".join(self._said).strip())
        elif self._generic and self._path[1:2] == ["DataSet"]:
            self._end_generic(local)

    def _end_header(self, local: str, said: str) -> None:
        self._said = None
        if local == "Test" and said in ("true", "1"):
            raise UnfitMessage("the header says that this is a test message: send the delivery with Test false")
        if said and local != "Test" and (structure := structure_of(said)):
            self._structure[self._header] = structure

    def _end_generic(self, local: str) -> None:
        if local == "Attributes" and self._path[-1] == "DataSet":
            self._set = self._series = self._with(self._set, self._here or {})
        elif local in ("SeriesKey", "Attributes") and self._path[-1] == "Series":
            self._series = self._with(self._set, self._own)
        elif local == "Series":
            self._series = self._set
        elif local == "Group":
            self._group(self._own)
        elif local == "Obs":
            self._record(self._with(self._series, self._own))
        if local in ("SeriesKey", "ObsKey", "GroupKey", "Attributes"):
            self._here = None

    def _text(self, text: str) -> None:
        if self._said is not None:
            self._said.append(text)

    def _say(self, here: dict[str, str], name: str, attributes: Mapping[str, str]) -> None:
        """Adds what a generic element says of a concept. Where that was said before, differently, it is noted."""
        text = attributes.get("value", "")
        if here.setdefault(name, text) != text:
            self.gathered.differs(name, self.parser.CurrentLineNumber)

    def _with(self, before: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
        return self.gathered.both(before, more, self.parser.CurrentLineNumber)

    def _group(self, said: Mapping[str, str]) -> None:
        self.gathered.group(said, self.parser.CurrentLineNumber)

    def _record(self, said: Mapping[str, str]) -> None:
        self.gathered.record(said, self.parser.CurrentLineNumber)


def structure_of(urn: str) -> str | None:
    """AGENCY:ID(VERSION) in a URN of SDMX, or without its beginning."""
    match = _URN.fullmatch(urn)
    return match[1] if match else None


def _plain(name: str, text: str) -> str:
    text = text.strip()
    return "" if name == "OBS_VALUE" and text == _MISSING else text


def _by_namespace(attributes: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Attributes without a namespace, which are concepts, and those of the format by their local names."""
    plain = {name: text for name, text in attributes.items() if " " not in name}
    return plain, {name.rpartition(" ")[2]: text for name, text in attributes.items() if " " in name}


def _of_record(attributes: Mapping[str, str]) -> dict[str, str]:
    """The concepts of a series or an observation; SDMX-ML 3 allows it an action of its own."""
    plain, of_format = _by_namespace(attributes)
    return plain | ({"ACTION": ACTIONS.get(of_format["action"], of_format["action"])} if "action" in of_format else {})
