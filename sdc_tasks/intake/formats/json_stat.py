"""JSON-stat 2.0, as Eurostat's services write it: one data set, a cube of dimensions, its values and their
statuses.

    {"version": "2.0", "class": "dataset", "id": ["freq", "geo", "time"], "size": [1, 2, 1],
     "dimension": {"geo": {"category": {"index": {"AT": 0, "BE": 1}}}, …},
     "value": {"0": 79000.0, "1": 748591}, "status": {"0": "e"},
     "extension": {"agencyId": "ESTAT", "id": "SBS", "version": "1.0"}}

A place of the cube without a value and without a status is no record. The key may hold any concept, as in
Eurostat's TSV, whose flags a status has. What may say something of the data and is not read, such as a note,
is told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from sdc_tasks.intake.formats.eurostat import cell
from sdc_tasks.intake.formats.gathered import Gathered, UnfitMessage
from sdc_tasks.intake.formats.groups import MEASURE
from sdc_tasks.intake.formats.records import WireFormat

WIRE = WireFormat("JSON-stat", ".", ())
_OF_A_SET = {
    "version", "class", "label", "source", "updated", "href", "value", "status", "id", "size", "dimension",
    "role", "extension",
}  # fmt: skip
_OF_A_DIMENSION, _OF_A_CATEGORY, _NOTES = {"label", "category", "href"}, {"index", "label"}, {"note", "link"}
_OF_EUROSTAT = {
    "lang", "id", "agencyId", "version", "description", "datastructure", "annotation", "status",
    "positions-with-no-data",
}  # fmt: skip
_OF_A_NOTICE = {"type", "date", "title", "href"}
_NOTICES = re.compile(
    r"CREATED|DISSEMINATION_\w+|ESMS_\w+|OBS_COUNT|OBS_PERIOD_OVERALL_\w+|SOURCE_INSTITUTIONS"
    r"|UPDATE_(DATA|STRUCTURE)"
)  # how Eurostat announces a table, not its data
_TIME = "TIME_PERIOD"


def is_one(message: object) -> bool:
    """Whether this is JSON-stat, and no message of SDMX."""
    return isinstance(message, dict) and "class" in message and "data" not in message


def gather(message: Mapping[str, Any], gathered: Gathered) -> None:
    """Gathers the records. Raises UnfitMessage, or an error of its parts, where it cannot be read."""
    if message["class"] != "dataset" or message.get("version") != "2.0":
        raise UnfitMessage("JSON-stat, but no data set of its version 2.0: send one, or SDMX-CSV")
    _only(message, _OF_A_SET | _NOTES, "data set", gathered)
    gathered.data_set()
    common = _of_the_set(message.get("extension", {}), gathered)
    names, codes = _dimensions(message, gathered)
    places = math.prod(map(len, codes))
    values, statuses = (dict(_placed(message.get(each), places)) for each in ("value", "status"))
    gathered.seen((*names, MEASURE, gathered.concepts.obs_status, gathered.concepts.conf_status, *common))
    for place in sorted(values.keys() | statuses.keys()):
        said, rest = dict(common), place
        for name, mine in zip(reversed(names), reversed(codes), strict=True):
            rest, at = divmod(rest, len(mine))
            said[name] = mine[at]
        for name, text in _observed(values.get(place), statuses.get(place, ""), gathered).items():
            if said.setdefault(name, text) != text:
                gathered.differs(name)
        gathered.record(said)


def _dimensions(message: Mapping[str, Any], gathered: Gathered) -> tuple[list[str], list[list[str]]]:
    """The concepts of the dimensions, and the codes of each."""
    names = [_concept(name, gathered) for name in message["id"]]
    if len(set(names)) < len(names):
        raise UnfitMessage("two dimensions of one concept: send each once")
    codes = [_codes(message["dimension"][name], gathered) for name in message["id"]]
    if message["size"] != [*map(len, codes)] or message["dimension"].keys() != set(message["id"]):
        raise UnfitMessage("the size of the data set is not that of its dimensions: export it again")
    return names, codes


def first(text: str, concept: str) -> str:
    """The first code of a concept, empty where there is none: a guess, without parsing."""
    before = r'"\s*:\s*\{[^{}]*"category"\s*:\s*\{\s*"index"\s*:\s*[\[{]\s*'
    match = re.search(f'"(?i:{re.escape(concept)}){before}"([^"]*)"', text)
    return match[1] if match else ""


def _observed(value: str | None, status: str, gathered: Gathered) -> dict[str, str]:
    """Value, status and flag of a record, as in a cell of the TSV. What is empty is not said."""
    text = status if status.startswith(":") else f"{':' if value is None else value} {status}"
    if value is not None and status.startswith(":"):
        raise UnfitMessage("a value beside the status :, which says that there is none: correct it")
    names = (MEASURE, gathered.concepts.obs_status, gathered.concepts.conf_status)
    return {name: said for name, said in zip(names, cell(text.strip()), strict=True) if said}


def _of_the_set(extension: Mapping[str, Any], gathered: Gathered) -> dict[str, str]:
    """The data flow, where Eurostat's extension says it."""
    _only(extension, _OF_EUROSTAT, "extension", gathered)
    for notice in extension.get("annotation", ()):
        if not notice.keys() <= _OF_A_NOTICE or not _NOTICES.fullmatch(str(notice.get("type"))):
            gathered.note()
    said = [extension.get(name) for name in ("agencyId", "id", "version")]
    if not all(isinstance(each, str) for each in said):
        return {}
    return {"DATAFLOW": f"{said[0]}:{said[1]}({said[2]})"}


def _concept(name: str, gathered: Gathered) -> str:
    """The concept of a dimension; the one of time is `time` in JSON-stat."""
    own = gathered.concept(name)
    return _TIME if own.lower() == "time" and own not in gathered.texts else own


def _codes(dimension: Mapping[str, Any], gathered: Gathered) -> list[str]:
    """The codes of a dimension, in their order."""
    _only(dimension, _OF_A_DIMENSION | _NOTES, "dimension", gathered)
    category = dimension["category"]
    _only(category, _OF_A_CATEGORY | _NOTES, "category", gathered)
    listed = category.get("index", list(category.get("label", ()))[:2])
    if isinstance(listed, Mapping):
        if sorted(listed.values()) != list(range(len(listed))):
            raise UnfitMessage("the positions of codes are not 0, 1, 2 and so on: export the data set again")
        listed = sorted(listed, key=lambda code: int(listed[code]))
    elif "index" not in category and len(listed) != 1:
        raise UnfitMessage("several codes without their positions: export the data set again")
    if len(set(listed)) < len(listed) or not all(isinstance(code, str) for code in listed):
        raise UnfitMessage("a code twice, or one that is no text: export the data set again")
    return [code.strip() for code in listed]


def _placed(content: object, places: int) -> Iterator[tuple[int, str]]:
    """The texts at their places in the cube, of a list or of an object."""
    if content is None:
        return
    if isinstance(content, str):
        raise UnfitMessage("one status of all values: say it of each")
    pairs: Iterable[tuple[Any, Any]] = (
        content.items() if isinstance(content, Mapping) else enumerate(_listed(content, places))
    )
    for at, said in pairs:
        if isinstance(at, str) and not re.fullmatch(r"0|[1-9][0-9]{0,18}", at):
            raise UnfitMessage("a value at no place of the data set: export it again")
        if not int(at) < places:
            raise UnfitMessage("a value beyond the size of the data set: export it again")
        if isinstance(said, bool | dict | list):
            raise UnfitMessage("a value that is neither a number nor a text: correct it")
        if said is not None and (text := str(said).strip()):
            yield int(at), text


def _listed(content: Any, places: int) -> list[object]:
    if not isinstance(content, list) or len(content) != places:
        raise UnfitMessage("the values are not as many as the data set has places: is it complete?")
    return content


def _only(given: Mapping[str, Any], known: Set[str], what: str, gathered: Gathered) -> None:
    if not given.keys() <= known:
        raise UnfitMessage(f"a name that is not read here (JSON-stat, {what}): take it away")
    if any(given.get(name) for name in _NOTES):
        gathered.note()
