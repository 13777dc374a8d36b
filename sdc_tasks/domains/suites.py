"""An office's own suite of Great Expectations: a JSON file beside the domain file, as the library writes it.

    {"expectations": [{"type": "expect_column_values_to_be_between",
                       "kwargs": {"column": "OBS_VALUE", "max_value": 1e9}, "severity": "warning"}]}

Only its form is read here; the library is loaded where a delivery is judged. A condition of a row is refused:
the library evaluates its text as a program.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdc_tasks.errors import InvalidInput, did_you_mean
from sdc_tasks.model.findings import Severity
from sdc_tasks.untrusted import settings_text

SUITE_BYTES = 1 << 20
MEASURED = ("OBS_VALUE", "CONF_STATUS", "UNITS", "SHARE_1", "SHARE_2")  # of each cell, beside its codes
# The library's words for how bad a failure is. Without one it is critical, as there.
SEVERITIES = {"critical": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.WARNING}
KEYS = {"type", "kwargs", "severity", "meta", "id", "notes", "description", "rendered_content"}
PROGRAMS = ("row_condition", "condition_parser", "unexpected_rows_query")
COLUMNS = ("column", "column_A", "column_B", "column_list", "column_set")


@dataclass(frozen=True)
class OfficeExpectation:
    """One expectation. `name` is that of its check: its number in the file, from 1, and its type."""

    name: str
    type: str
    severity: Severity
    kwargs: dict[str, Any] = field(hash=False, repr=False)


def read_suite(path: Path, dimensions: Sequence[str]) -> tuple[OfficeExpectation, ...]:
    """The expectations of a suite on the columns of a delivery. Raises InvalidInput that names the file and
    the expectation.
    """
    text = settings_text(path, SUITE_BYTES, "suite of checks")
    try:
        told = json.loads(text)
        listed = told["expectations"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInput(
            f"{path}: no suite of Great Expectations. Remedy: give JSON with a list named expectations"
        ) from error
    if not isinstance(listed, list):
        raise InvalidInput(f"{path}: expectations is no list. Remedy: give one, in brackets")
    return tuple(_one(f"{path}, expectation {i}", i, each, dimensions) for i, each in enumerate(listed, 1))


def _one(where: str, number: int, told: object, dimensions: Sequence[str]) -> OfficeExpectation:
    if not isinstance(told, dict) or not isinstance(told.get("type"), str):
        raise InvalidInput(
            f"{where}: it has no type. Remedy: name it, such as expect_column_values_to_be_in_set"
        )
    kwargs, severity = told.get("kwargs", {}), told.get("severity", "critical")
    if unknown := sorted(set(told) - KEYS):
        raise InvalidInput(f"{where}: unknown key {unknown[0]}. Remedy: type, kwargs, severity")
    if not isinstance(kwargs, dict):
        raise InvalidInput(f"{where}: kwargs is no mapping. Remedy: give its options in braces")
    if not isinstance(severity, str) or severity not in SEVERITIES:
        raise InvalidInput(f"{where}: severity is none of {', '.join(SEVERITIES)}. Remedy: give one of them")
    if any(kwargs.get(each) is not None for each in PROGRAMS):
        raise InvalidInput(
            f"{where}: it has a condition that would be run as a program. Remedy: leave out "
            f"{', '.join(PROGRAMS)}"
        )
    known = (*dimensions, *MEASURED)
    for column in _columns(kwargs):
        if column not in known:
            near = did_you_mean(column, known)
            raise InvalidInput(f"{where}: no column {column}.{near} Remedy: one of {', '.join(known)}")
    return OfficeExpectation(f"suite.{number}.{told['type']}", told["type"], SEVERITIES[severity], kwargs)


def _columns(kwargs: dict[str, Any]) -> list[str]:
    named = [kwargs[each] for each in COLUMNS if each in kwargs]
    return [str(one) for each in named for one in (each if isinstance(each, list) else [each])]
