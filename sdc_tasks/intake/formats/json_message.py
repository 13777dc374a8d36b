"""JSON, from bytes to records: a message of SDMX-JSON, or a data set of JSON-stat.

The bytes are bounded before they are parsed. Numbers stay the texts that they are in the file. A name that
stands twice in one object is refused, as a parser would keep the last one only.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats import json_stat, sdmx_json
from sdc_tasks.intake.formats.encoding import as_utf_8, line_at
from sdc_tasks.intake.formats.gathered import Gathered, UnfitMessage
from sdc_tasks.intake.formats.records import Concepts, Records

_NO_MESSAGE = (
    "no data message of SDMX-JSON 2.0 or 2.1, and no data set of JSON-stat 2.0: send one, or SDMX-CSV"
)
_LONG_NUMBER = re.compile(rb"[0-9]{4301}")
_WRONG = (KeyError, IndexError, TypeError, AttributeError, ValueError)


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The records of a data message; None where the whole file cannot be read (the findings say why)."""
    text = as_utf_8(data, found).removeprefix(b"\xef\xbb\xbf")
    if found.refused:
        return None
    gathered = Gathered(concepts, most)
    try:
        if long := _LONG_NUMBER.search(text):
            found.add(
                "140",
                "a whole number of more digits than any table has: correct it",
                line_at(text, long.start()),
            )
            return None
        message = json.loads(text, object_pairs_hook=_once, parse_float=str, parse_constant=_no_constant)
        kind = json_stat if json_stat.is_one(message) else sdmx_json
        kind.gather(message, gathered)
    except UnfitMessage as unfit:
        found.add("140", str(unfit))
        return None
    except json.JSONDecodeError as error:
        found.add("140", "not well-formed JSON: is the file complete? Send it again", error.lineno)
        return None
    except (*_WRONG, RecursionError):
        found.add("140", _NO_MESSAGE)
        return None
    return gathered.records(kind.WIRE, found)


def first(data: bytes, concept: str) -> str:
    """The first value of a concept, empty where there is none: a guess, without parsing."""
    text = data.decode("utf-8", "replace")
    return sdmx_json.first(text, concept) or json_stat.first(text, concept)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnfitMessage(
            "a name stands twice in one object, such as one observation with two values: say it once"
        )
    return found


def _no_constant(_: str) -> str:
    raise UnfitMessage("NaN or Infinity, which JSON does not have: leave a value out that is not there")
