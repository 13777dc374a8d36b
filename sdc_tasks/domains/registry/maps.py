"""Maps from the codes of one list to those of another: representation maps of SDMX 3.0 and later (ML, JSON),
and code maps of SDMX-ML 2.1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sdc_tasks.domains.registry.sdmx_ml import Element, tree
from sdc_tasks.errors import InvalidInput
from sdc_tasks.untrusted import settings_text

T = TypeVar("T")
ONE = "Remedy: give a file with one map of single codes, or a CSV file from,to"
_CONDITIONS = ("isRegEx", "startIndex", "endIndex", "validFrom", "validTo")


class Mapped(NamedTuple):
    """A code of one list and its code in the other, and where this is said."""

    place: str
    source: str
    target: str


def read_map(path: Path, most_bytes: int) -> list[Mapped]:
    """The pairs of the only map of a structure message. Raises InvalidInput, with the line where there is
    one, for several maps or none, for maps of several components, and for pairs that hold under a condition.
    """
    text = settings_text(path, most_bytes, "map of codes")
    found = list(MAPS[path.suffix.lower()](text, path))
    if not found:
        raise InvalidInput(f"{path}: the map has no pairs of codes. {ONE}")
    if empty := [each.place for each in found if not each.source or not each.target]:
        raise InvalidInput(f"{empty[0]}: an empty code. Remedy: correct the map")
    return found


def _of_ml(text: str, path: Path) -> Iterator[Mapped]:
    maps = [
        each
        for each in tree(text, path).within("RepresentationMap", "CodelistMap")
        if each.one("RepresentationMapping") or each.one("CodeMap")
    ]
    _require_one([each.attributes.get("id", "") for each in maps], path)
    for each in maps[0].all("RepresentationMapping", "CodeMap"):
        place = f"{path}, line {each.line}"
        source = _only(list(each.all("SourceValue", "Source")), place)
        target = _only(list(each.all("TargetValue", "Target")), place)
        for node in (each, source, target):
            _refuse_conditions(node.attributes, place)
        yield Mapped(place, _code(source), _code(target))


def _code(node: Element) -> str:
    """The code of a side: the text of an element, or the id of a reference."""
    reference = node.one("Ref")
    return node.text.strip() if reference is None else reference.attributes.get("id", "")


def _of_json(text: str, path: Path) -> Iterator[Mapped]:
    try:
        maps = list(json.loads(text)["data"].get("representationMaps", []))
        _require_one([str(each.get("id", "")) for each in maps], path)
        for number, each in enumerate(maps[0]["representationMappings"], start=1):
            place = f"{path}, mapping {number}"
            ends = [_only(each[side], place) for side in ("sourceValues", "targetValues")]
            told = [end if isinstance(end, dict) else {"value": end} for end in ends]
            for given in (each, *told):
                _refuse_conditions(given, place)
            yield Mapped(place, *(str(given["value"]) for given in told))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{path}: no structure message of SDMX-JSON with a map. {ONE}") from error


def _require_one(names: list[str], path: Path) -> None:
    if len(names) != 1:
        said = f"{len(names)} maps ({', '.join(names)})" if names else "no map of codes"
        raise InvalidInput(f"{path}: {said}. {ONE}")


def _only(side: Sequence[T], place: str) -> T:
    """The one code of a side of a pair."""
    if len(side) != 1:
        raise InvalidInput(f"{place}: not one code on each side. {ONE}")
    return side[0]


def _refuse_conditions(given: Mapping[str, Any], place: str) -> None:
    if said := [name for name in _CONDITIONS if given.get(name) not in (None, False, "false", "0")]:
        raise InvalidInput(f"{place}: {', '.join(said)}: a condition, which is not read here. {ONE}")


MAPS: dict[str, Callable[[str, Path], Iterator[Mapped]]] = {".xml": _of_ml, ".json": _of_json}
