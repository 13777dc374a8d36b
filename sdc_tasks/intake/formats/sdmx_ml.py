"""SDMX-ML 2.1, 3.0 and 3.1, from bytes to records: data messages, generic and
structure-specific, by series or flat.

An attribute may stand at the data set, a group, a series or an observation; a record has it wherever it
stands, and two different ones are a finding. Nothing of a data set is passed over: an element, an attribute
or a text that has no place here refuses the file, and so does what is said of a series or a group without an
observation. The parser reads as it goes and keeps each distinct text once. A document type is refused before
anything in it is expanded. This module does not know the meaning of a concept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from pyexpat import ExpatError, errors

from sdc_tasks.intake.content import Content
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.gathered import ACTIONS, Gathered, UnfitMessage
from sdc_tasks.intake.formats.groups import MEASURE
from sdc_tasks.intake.formats.records import Concepts, Records, WireFormat
from sdc_tasks.intake.formats.sdmx_ml_alike import OPENING, Layouts
from sdc_tasks.untrusted import xml_parser

SDMX_ML = WireFormat("SDMX-ML", ".", ("DATAFLOW",))
OF_A_SET = {
    "structureRef",
    "action",
    "setID",
    "dataScope",
    "validFromDate",
    "validToDate",
    "publicationYear",
    "publicationPeriod",
}
TAKEN = 1 << 18  # bytes; what the parser takes at a time, so that too long a file is noticed early
_LOOKED_AT = 3  # times as much, of which the parser takes some
_MOST_TAKEN = 8  # times as much, of observations that are alike
_KIND = re.compile(
    r"http://www\.sdmx\.org/resources/sdmxml/schemas/v(2_1|3_0|3_1)/message "
    r"(Generic|StructureSpecific)(TimeSeries)?Data"
)
_URN = re.compile(r"(?:urn:sdmx:[\w.]+=)?([\w.-]+:[\w@$-]+\([\w.+*~]+\))")
_OBSERVED = (["DataSet"], ["DataSet", "Series"])
_XSI, _SDMX = "http://www.w3.org/2001/XMLSchema-instance ", "http://www.sdmx.org/resources/sdmxml/schemas/"
_OF_SCHEMAS = {
    "type",
    "schemaLocation",
    "noNamespaceSchemaLocation",
}  # what a schema has at any element, but for nil: no value
_SAID = {"Value"}
_NOTED = {
    "Annotations": {"Annotation"},
    "Annotation": {"AnnotationTitle", "AnnotationType", "AnnotationURL", "AnnotationText", "AnnotationValue"},
}
_NOTE = {"Annotations"}
_SPECIFIC = _NOTED | {
    "DataSet": {"Series", "Obs", "Group", "Atts"} | _NOTE,
    "Series": {"Obs"} | _NOTE,
    "Obs": _NOTE,
    "Group": _NOTE,
    "Atts": _NOTE,
}
_GENERIC = _NOTED | {
    "DataSet": {"Attributes", "Group", "Series", "Obs"} | _NOTE,
    "Group": {"GroupKey", "Attributes"} | _NOTE,
    "Series": {"SeriesKey", "Attributes", "Obs"} | _NOTE,
    "Obs": {"ObsKey", "ObsDimension", "ObsValue", "Attributes"} | _NOTE,
    "GroupKey": _SAID, "SeriesKey": _SAID, "ObsKey": _SAID, "Attributes": _SAID,
}  # fmt: skip
_OF_A_RECORD = {"action", "type"}
UNKNOWN = (
    "an element of a data set that is not read here, such as a concept of several "
    "values: send one value of each"
)
_GENERIC_INSIDE = "generic elements in a structure-specific message: export it as one of the two"
_UNREAD = (
    "an attribute of the format that is not read here: a concept has no namespace, "
    "and stands where the format says"
)
_NO_VALUE = (
    "an element that says a value (Value, ObsValue, ObsDimension) without its attribute value, or a Value "
    "without its id: write them, or leave the element out where there is nothing to say"
)
_TEXT = (
    "text where none may be, between the elements of a data set: is it a value or a "
    "flag? Send it as an attribute"
)
_BEHIND = "attributes of a series or a data set behind its observations: send them before"


def parse(content: Content, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The records of a data message; None where the whole file cannot be read (the findings say why)."""
    message = _Message(concepts, most)
    try:
        _feed(message, _Window(content.pieces()))
    except ExpatError as error:
        found.add(
            "140",
            f"not well-formed XML ({errors.messages[error.code]}): is the file complete? Send it again",
            error.lineno,
        )
        return None
    except (
        LookupError,
        ValueError,
    ):  # what Python says of an encoding that it does not have, or that takes several bytes a character
        found.add("140", "the file declares an encoding that is not read here: save it as UTF-8", 1)
        return None
    except UnfitMessage as unfit:
        found.add("140", str(unfit), message.parser.CurrentLineNumber)
        return None
    return message.gathered.records(SDMX_ML, found)


def first(data: bytes, concept: str) -> str:
    """The first text of a concept, empty where there is none: a guess, without parsing."""
    text = data.decode("utf-8", "replace")
    name = re.escape(concept)
    match = re.search(rf"""(?i)\b(?:{name}|id=["']{name}["']\s+value)=["']([^"']*)["']""", text)
    return match[1] if match else ""


class _Window:
    """The part of a message that is in memory: what the parser gets next, and what it got last. How the
    message came in pieces makes no difference.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._begins = 0  # at which byte of the message
        self.data, self.at = b"", 0  # the bytes in memory, and where in them the next ones are

    @property
    def position(self) -> int:
        """The byte of the message that is next."""
        return self._begins + self.at

    def fill(self, number: int) -> bool:
        """Has so many of the next bytes in memory, or all that are left; False where none are."""
        if len(self.data) - self.at < number:
            dropped = max(self.at - 2 * TAKEN, 0)
            parts = [self.data[dropped:]] if self.data else []  # so that one piece alone is not copied
            there = len(self.data) - self.at
            while there < number and (piece := next(self._pieces, None)) is not None:
                parts.append(piece)
                there += len(piece)
            self.data = b"".join(parts)
            self._begins, self.at = self._begins + dropped, self.at - dropped
        return self.at < len(self.data)

    def match(self, pattern: re.Pattern[bytes], position: int) -> re.Match[bytes] | None:
        """What the pattern says of the bytes from here on, where they are still in memory."""
        return pattern.match(self.data, position - self._begins) if position >= self._begins else None


def _feed(message: _Message, window: _Window) -> None:
    """Gives the parser a whole message. Where an observation, or a series with one, begins for certain, as
    the parser saw the one before it begin and end, those that are written alike are read many at a time.
    """
    parse, certain, times = message.parser.Parse, False, 1
    while window.fill(max(times, _LOOKED_AT) * TAKEN):
        data, at = window.data, window.at
        layouts = message.layouts_of(window)
        first = end = -1
        if layouts is not None:
            last = data.rfind(layouts.opening, at + 1, at + times * TAKEN)
            if certain and last > 0 and message.stretch(layouts, data[at:last]):
                window.at, times = last, min(2 * times, _MOST_TAKEN)
                continue
            first = data.find(layouts.opening, at + TAKEN)
            end = data.find(layouts.opening, first + 1) if first > 0 else -1
        certain, times = False, 1
        if layouts is None or end < 0:
            parse(data[at : at + TAKEN], False)
            window.at = min(at + TAKEN, len(data))
            continue
        began = window.position + first - at
        parse(data[at:first], False)
        parse(data[first:end], False)
        window.at = end
        certain = message.began == began and layouts.read(data[first:end]) is not None
    parse(b"", True)


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
        self._of_series: dict[str, str] = {}
        self._since, self._line = 0, 0  # where the series began
        self._opened = -1  # at which byte the series began; −1 outside of one
        self._several = False  # whether a series of this data set has several observations
        self._here: dict[str, str] | None = None  # what a generic Value belongs to
        self._value = ""  # the whole name of a Value, as this message writes it
        self._header, self._ref = "", ""
        self._at = 0  # the line on which a generic observation begins
        self.began = -1  # the byte at which the last observation begins, or the series that has it alone
        self._layouts: Layouts | None = None
        self._utf8 = True
        self.parser = xml_parser(lambda why: UnfitMessage(f"{why}: send the message without it"))
        self.parser.CommentHandler = self._comment
        self.parser.XmlDeclHandler = self._declared
        self._start: Callable[[str, dict[str, str]], None] = self._start_message
        self._listen()

    def _listen(self) -> None:
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def layouts_of(self, window: _Window) -> Layouts | None:
        """How observations of this data set are written; None before the first one, or where nobody knows."""
        if self._layouts is None and self._utf8 and self.began >= 0:
            opening = window.match(OPENING, self.began)
            if opening:
                at = self._at_observation.get(self._ref, "TIME_PERIOD")
                self._layouts = Layouts(opening[0], self._generic, at)
        return self._layouts

    def stretch(self, layouts: Layouts, data: bytes) -> bool:
        """Reads observations that follow what the parser has; False, with nothing done, where it must read
        them.
        """
        stretch = layouts.read(data)
        line = self.parser.CurrentLineNumber
        if stretch is None or not self.gathered.stretch(self._series, stretch, line):
            return False
        self.parser.StartElementHandler = self.parser.EndElementHandler = None
        self.parser.CharacterDataHandler = None
        self.parser.Parse(data, False)
        self._listen()
        return True

    def _declared(self, _: str, encoding: str | None, __: int) -> None:
        self._utf8 = encoding is None or encoding.upper() == "UTF-8"

    def _start_message(self, name: str, _: dict[str, str]) -> None:
        kind = _KIND.fullmatch(name)
        if kind is None:
            raise UnfitMessage(
                "XML, but no data message of SDMX-ML 2.1, 3.0 or 3.1: send one of these, or SDMX-CSV"
            )
        self._generic = kind[2] == "Generic"
        self._start = self._start_in_generic if self._generic else self._start_in_specific
        self._path.append(name.rpartition(" ")[2])
        self._listen()

    def _start_in_generic(self, name: str, attributes: dict[str, str]) -> None:
        here = self._here
        if name == self._value and here is not None:  # nine of ten elements: as in `_say`
            if len(attributes) != 2 or "id" not in attributes or "value" not in attributes:
                raise UnfitMessage(_unlike_value(attributes))
            concept, text = attributes["id"], attributes["value"]
            if here.setdefault(concept, text) != text:
                self.gathered.differs(concept, self.parser.CurrentLineNumber)
            return
        local = name.rpartition(" ")[2]
        self._path.append(local)
        if local == "Value" and here is not None:
            if attributes.keys() != {"id", "value"}:
                raise UnfitMessage(_unlike_value(attributes))
            self._say(here, attributes["id"], attributes)
            return
        self._start_within(local, attributes)

    def _start_in_specific(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        self._path.append(local)
        if (
            local == "Obs" and self._path[1:-1] in _OBSERVED and not any(" " in each for each in attributes)
        ):  # as in `_start_data`, of most elements of most messages
            self._begins()
            self._record(self._with(self._series, attributes))
            return
        self._start_within(local, attributes)

    def _start_within(self, local: str, attributes: dict[str, str]) -> None:
        """An element of the header or of a data set begins, or one of these two."""
        if self._path[1] == "Header":
            self._start_header(local, attributes)
        elif len(self._path) > 2:
            self._start_data(local, attributes)
        elif local == "DataSet":
            self._start_set(attributes)
        elif local == "Footer":
            raise UnfitMessage(
                "the message has a footer, in which a service says what went wrong: send a complete "
                "message without it"
            )
        else:
            raise UnfitMessage("an element beside header and data sets that is not read here: take it away")

    def _start_header(self, local: str, attributes: dict[str, str]) -> None:
        if local == "Structure" and len(self._path) == 3:
            self._header = attributes.get("structureID", "")
            self._at_observation[self._header] = attributes.get("dimensionAtObservation", "TIME_PERIOD")
        elif local == "Ref" and "id" in attributes:
            self._structure[self._header] = (
                f"{attributes.get('agencyID', '')}:{attributes['id']}({attributes.get('version', '1.0')})"
            )
        if local in ("Test", "URN", "Structure", "StructureUsage", "ProvisionAgreement", "ProvisionAgrement"):
            self._said = []

    def _start_set(self, attributes: dict[str, str]) -> None:
        plain, of_format = _by_namespace(attributes, OF_A_SET)
        for name in plain.keys() & OF_A_SET:  # some write them without a namespace, as a generic message does
            of_format.setdefault(name, plain.pop(name))
        self._ref = of_format.get("structureRef", "")
        self.began, self._layouts, self._several = -1, None, False
        if self._ref not in self._structure:
            raise UnfitMessage(
                "the header does not say of which structure this data set is: add it, with agency, id and "
                "version"
            )
        self._set = {"DATAFLOW": self._structure[self._ref], **plain}
        if "action" in of_format:
            self._set["ACTION"] = ACTIONS.get(of_format["action"], of_format["action"])
        self.gathered.data_set(self.parser.CurrentLineNumber)
        self.gathered.above(plain)
        self._series = self._set

    def _start_data(self, local: str, attributes: dict[str, str]) -> None:
        if local not in (_GENERIC if self._generic else _SPECIFIC).get(self._path[-2], ()):
            other = not self._generic and local in _GENERIC.get(self._path[-2], ())
            raise UnfitMessage(_GENERIC_INSIDE if other else UNKNOWN)
        if local in _NOTED or self._path[-2] in _NOTED:
            self.gathered.note(self.parser.CurrentLineNumber)
        elif self._generic:
            self._start_generic(local, attributes)
        elif local == "Series":
            self._of_series = _of_record(attributes)
            self._start_series()
            self._series = self._with(self._set, self._of_series)
        elif local == "Obs":
            self._record(self._with(self._series, _of_record(attributes)))
        else:
            said = _of_record(attributes)
            if self.gathered.says(said):  # a title, which is in no domain, may speak of any group
                self.gathered.of_known(said.keys())
            self._group(said)

    def _start_generic(self, local: str, attributes: dict[str, str]) -> None:
        if local == "ObsDimension":
            self._say(
                self._own,
                attributes.get("id", self._at_observation.get(self._ref, "TIME_PERIOD")),
                attributes,
            )
        elif local == "ObsValue":
            self._say(self._own, attributes.get("id", MEASURE), attributes)
        elif attributes and not _of_schemas_alone(attributes):
            raise UnfitMessage(_UNREAD)
        elif local in ("Obs", "Group"):
            self._own = {}
            if local == "Obs":
                self._at = self.parser.CurrentLineNumber
                self._begins()
        elif local == "Series":
            self._own = self._of_series = {}
            self._start_series()
        else:
            self._start_values(self._path[-2])

    def _start_values(self, above: str) -> None:
        """An element begins whose Values say something of what stands above it."""
        behind_records = (above == "DataSet" and self.gathered.in_set) or (
            above == "Series" and self.gathered.number > self._since
        )
        if behind_records:
            raise UnfitMessage(_BEHIND)
        self._here = {} if above == "DataSet" else self._own

    def _start_series(self) -> None:
        self._since, self._line = self.gathered.number, self.parser.CurrentLineNumber
        self._opened = self.parser.CurrentByteIndex

    def _begins(self) -> None:
        """An observation begins. What repeats in the message is it, or a series with one."""
        if self._opened >= 0 and self.gathered.number > self._since and not self._several:
            self._several, self._layouts = True, None
        self.began = self.parser.CurrentByteIndex
        if self._opened >= 0 and not self._several:
            self.began = self._opened

    def _end(self, name: str) -> None:
        if name == self._value and self._here is not None:
            return
        local = self._path.pop()
        if local == "Value":
            self._value = self._value or name
            return
        if self._said is not None and self._path[1:2] == ["Header"]:
            self._end_header(local, "".join(self._said).strip())
        elif local == "Series":
            self.gathered.series(self._of_series, self._since, self._line)
            self._series, self._opened = self._set, -1
        elif self._generic and self._path[1:2] == ["DataSet"]:
            self._end_generic(local)

    def _end_header(self, local: str, said: str) -> None:
        self._said = None
        if local == "Test" and said in ("true", "1"):
            raise UnfitMessage(
                "the header says that this is a test message: send the delivery with Test false"
            )
        if said and local != "Test" and (structure := structure_of(said)):
            self._structure[self._header] = structure

    def _end_generic(self, local: str) -> None:
        if local == "Attributes" and self._path[-1] == "DataSet":
            self.gathered.above(self._here or {})
            self._set = self._series = self._with(self._set, self._here or {})
        elif local in ("SeriesKey", "Attributes") and self._path[-1] == "Series":
            self._series = self._with(self._set, self._own)
        elif local == "GroupKey":
            self.gathered.of_known(self._own.keys())
        elif local == "Group":
            self._group(self._own)
        elif local == "Obs":
            self.gathered.record(self._with(self._series, self._own), self._at)
        if local in ("SeriesKey", "ObsKey", "GroupKey", "Attributes"):
            self._here = None

    def _text(self, text: str) -> None:
        if self._said is not None:
            self._said.append(text)
        elif (
            not text.isspace()
            and self._path[1:2] != ["Header"]
            and not self._path[-1].startswith("Annotation")
        ):
            raise UnfitMessage(_TEXT)

    def _comment(self, _: str) -> None:
        self.gathered.note(self.parser.CurrentLineNumber)

    def _say(self, here: dict[str, str], name: str, attributes: Mapping[str, str]) -> None:
        """Adds what a generic element says of a concept. Where that was said before, differently, it is
        noted.
        """
        if "value" not in attributes or len(attributes) > 1 + ("id" in attributes):
            raise UnfitMessage(_unlike_value(attributes))
        text = attributes["value"]
        if here.setdefault(name, text) != text:
            self.gathered.differs(name, self.parser.CurrentLineNumber)

    def _with(self, before: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
        return self.gathered.both(before, more, self.parser.CurrentLineNumber)

    def _group(self, said: Mapping[str, str]) -> None:
        self.gathered.group(said, self.parser.CurrentLineNumber)

    def _record(self, said: Mapping[str, str]) -> None:
        self.gathered.record(said, self.parser.CurrentLineNumber)


def _unlike_value(attributes: Mapping[str, str]) -> str:
    """What is wrong with a generic element that has neither these two attributes nor `value` alone."""
    return _UNREAD if attributes.keys() - {"id", "value"} else _NO_VALUE


def _of_schemas_alone(attributes: Mapping[str, str]) -> bool:
    """Whether a generic element says nothing but its type and what any element may."""
    return all(name == "type" or name.startswith(_XSI) for name in attributes)


def structure_of(urn: str) -> str | None:
    """AGENCY:ID(VERSION) in a URN of SDMX, or without its beginning."""
    match = _URN.fullmatch(urn)
    return match[1] if match else None


def _by_namespace(attributes: Mapping[str, str], known: Set[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Attributes without a namespace, which are concepts, and those of the format by their local names.
    Raises UnfitMessage for an attribute of the format that is not known.
    """
    plain, of_format = {}, {}
    for name, text in attributes.items():
        space, _, local = name.rpartition(" ")
        if not space:
            plain[name] = text
        elif space.startswith(_SDMX) and local in known:
            of_format[local] = text
        elif not name.startswith(_XSI) or local not in _OF_SCHEMAS:
            raise UnfitMessage(_UNREAD)
    return plain, of_format


def _of_record(attributes: Mapping[str, str]) -> dict[str, str]:
    """The concepts of a series or an observation; SDMX-ML 3 allows it an action of its own."""
    plain, of_format = _by_namespace(attributes, _OF_A_RECORD)
    return plain | (
        {"ACTION": ACTIONS.get(of_format["action"], of_format["action"])} if "action" in of_format else {}
    )
