"""SDMX-ML 2.1, 3.0 and 3.1, from bytes to records: data messages, generic and structure-specific, by series or flat.

An attribute may stand at the data set, a group, a series or an observation; a record has it wherever it stands, and two different ones are
a finding. The parser reads as it goes and keeps each distinct text once. A document type is refused before anything in it is expanded.
This module does not know the meaning of a concept.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from pyexpat import ExpatError, ParserCreate, errors

import numpy as np

from sdc_tasks.intake.findings import Findings, shown
from sdc_tasks.intake.formats.groups import UNSAID, Group, spread
from sdc_tasks.intake.formats.records import Concepts, Records, WireFormat
from sdc_tasks.model.findings import Severity

SDMX_ML = WireFormat("SDMX-ML", ".", ("DATAFLOW",))
ACTIONS = {"Append": "A", "Replace": "R", "Information": "I", "Delete": "D", "Merge": "M"}
OF_A_SET = {"structureRef", "action", "setID", "dataScope", "validFromDate", "validToDate", "publicationYear", "publicationPeriod"}
TAKEN = 1 << 16  # bytes; what the parser takes at a time, so that too long a file is noticed early
_KIND = re.compile(r"http://www\.sdmx\.org/resources/sdmxml/schemas/v(2_1|3_0|3_1)/message (Generic|StructureSpecific)(TimeSeries)?Data")
_URN = re.compile(r"(?:urn:sdmx:[\w.]+=)?([\w.-]+:[\w@$-]+\([\w.+*~]+\))")
UNKNOWN = "an element of a data set that is not read here, such as a concept of several values: send one value of each"
_MISSING = "NaN"  # of the standard, for a value that is not there


class _Refused(Exception):
    """The whole file: code and message of the finding."""


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
    except _Refused as refusal:
        found.add("140", str(refusal), message.parser.CurrentLineNumber)
        return None
    return message.records(found)


def first(data: bytes, concept: str) -> str:
    """The first text of a concept, empty where there is none: a guess, without parsing."""
    text = data.decode("utf-8", "replace")
    name = re.escape(concept)
    match = re.search(rf"""\b(?:{name}|id=["']{name}["']\s+value)=["']([^"']*)["']""", text)
    return match[1] if match else ""


class _Message:
    """What was read so far. The texts of each known concept are numbered; a record is a number for each."""

    def __init__(self, concepts: Concepts, most: int) -> None:
        self._concepts, self._most = concepts, most
        self._texts: dict[str, dict[str, int]] = {name: {} for name in (*concepts.required, *concepts.optional, "DATAFLOW", "ACTION")}
        self._which: dict[str, array[int]] = {name: array("q") for name in self._texts}
        self._line: array[int] = array("q")
        self._names: dict[str, int] = {}  # → the line on which it stands first
        self._twice: dict[str, int] = {}
        self._structure: dict[str, str] = {}
        self._at_observation: dict[str, str] = {}
        self._groups: list[Group] = []
        self._path: list[str] = []
        self._said: list[str] | None = None
        self._generic = False
        self._set: dict[str, str] = {}
        self._series: dict[str, str] = {}
        self._own: dict[str, str] = {}
        self._here: dict[str, str] | None = None  # what a generic Value belongs to
        self._header, self._ref = "", ""
        self.parser = ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._no_doctype

    def _no_doctype(self, *_: object) -> None:
        raise _Refused("a document type (DOCTYPE), which no data message has: send the message without it")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local == "Value" and self._here is not None:  # nine of ten elements of a generic message
            self._path.append(local)
            self._say(self._here, attributes.get("id", ""), attributes)
            return
        if not self._path:
            kind = _KIND.fullmatch(name)
            if kind is None:
                raise _Refused("XML, but no data message of SDMX-ML 2.1, 3.0 or 3.1: send one of these, or SDMX-CSV")
            self._generic = kind[2] == "Generic"
        self._path.append(local)
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
            raise _Refused("the header does not say of which structure this data set is: add it, with agency, id and version")
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
            raise _Refused(UNKNOWN)

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
            raise _Refused(UNKNOWN)

    def _end(self, name: str) -> None:
        local = self._path.pop()
        if local == "Value":
            return
        if self._said is not None and self._path[1:2] == ["Header"]:
            self._end_header(local, "".join(self._said).strip())
        elif self._generic and self._path[1:2] == ["DataSet"]:
            self._end_generic(local)

    def _end_header(self, local: str, said: str) -> None:
        self._said = None
        if local == "Test" and said in ("true", "1"):
            raise _Refused("the header says that this is a test message: send the delivery with Test false")
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
            self._twice.setdefault(name, self.parser.CurrentLineNumber)

    def _with(self, before: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
        """Both. Where they differ in a concept, it is noted as said twice."""
        for name in before.keys() & more.keys():
            if before[name] != more[name]:
                self._twice.setdefault(name, self.parser.CurrentLineNumber)
        return {**before, **more}

    def _group(self, said: Mapping[str, str]) -> None:
        """A group, or attributes of a part of a key: what it says holds for every record with its dimensions."""
        self._note(said)
        dimensions = self._concepts.dimensions
        key = {name: text for name, text in said.items() if name in dimensions}
        self._groups.append((key, {name: text for name, text in said.items() if name not in dimensions and name in self._texts}))

    def _record(self, said: Mapping[str, str]) -> None:
        if len(self._line) == self._most:
            raise _Refused(f"the file has more than {self._most} observations: send the table and nothing else")
        self._line.append(self.parser.CurrentLineNumber)
        self._note(said)
        for name, texts in self._texts.items():
            text = said.get(name)
            self._which[name].append(UNSAID if text is None else texts.setdefault(text, len(texts)))

    def _note(self, said: Mapping[str, str]) -> None:
        for name in said.keys() - self._names.keys():
            self._names[name] = self.parser.CurrentLineNumber

    def records(self, found: Findings) -> Records | None:
        """All that was read, with findings on what is missing, said twice or not known."""
        known = self._texts.keys()
        for name in self._concepts.required:
            if name not in self._names:
                found.add("150/003", f"concept {name} is missing: add it, at the observation, its series, a group or the data set")
        for name, line in self._names.items():
            if name not in known:
                told = shown(name, known)
                message = f"concept{f' {told}' if told else ''} is not in the structure and is not read"
                found.add("150/007", message, line, severity=Severity.WARNING)
        if not self._line:
            found.add("140", "the message has no observation: send the complete table")
        which = {name: np.array(numbers, dtype=np.int64) for name, numbers in self._which.items()}
        for name in sorted(spread(self._groups, self._texts, which)):
            self._twice.setdefault(name, self._names[name])
        for name, line in self._twice.items():
            message = f"concept{f' {name}' if name in known else ''} is said twice of one observation, differently: say it once"
            found.add("150/007", message, line)
        if found.refused:
            return None
        columns = {}
        for name, numbers in which.items():
            if name in self._names:
                texts = [_plain(name, text) for text in self._texts[name]]
                columns[name] = [*texts, ""], np.where(numbers == UNSAID, len(texts), numbers)
        return Records(SDMX_ML, np.array(self._line, dtype=np.int64), columns)


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
