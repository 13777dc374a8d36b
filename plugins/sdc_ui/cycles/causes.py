"""Findings by cause: a thousand of one kind are one line with their number, the first lines and cells,
what is expected, and the remedy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sdc_tasks.model.findings import number_unlisted
from sdc_ui.cycles.expected import expected
from sdc_ui.cycles.remedies import remedy

FIRST = 5  # lines, cells and different messages that are named


@dataclass(frozen=True)
class Said:
    """One message, how often it was said, and the first lines and cells that it is about."""

    message: str
    number: int
    lines: tuple[int, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Cause:
    """All findings of one code in a file. `unlisted` of the `number` were counted only; `others` is
    the number of further messages.
    """

    code: str
    severity: str
    number: int
    unlisted: int
    said: tuple[Said, ...]
    others: int
    expected: str
    remedy: str


def causes(found: Iterable[Mapping[str, Any]], settings: Mapping[str, Any], period: str) -> tuple[Cause, ...]:
    """The causes behind findings of one file, records of `reader.findings`: errors first, then by number."""
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for each in found:
        kinds.setdefault((each["code"], each["severity"]), []).append(each)
    grouped = [_cause(code, severity, each, settings, period) for (code, severity), each in kinds.items()]
    return tuple(sorted(grouped, key=lambda each: (each.severity != "error", -each.number, each.code)))


def _cause(
    code: str, severity: str, found: list[Mapping[str, Any]], settings: Mapping[str, Any], period: str
) -> Cause:
    messages: dict[str, list[Mapping[str, Any]]] = {}
    unlisted = 0
    for each in found:
        if number := number_unlisted(each["message"]):
            unlisted += number
        else:
            messages.setdefault(each["message"], []).append(each)
    said = sorted((_said(message, each) for message, each in messages.items()), key=lambda each: -each.number)
    return Cause(
        code=code,
        severity=severity,
        number=sum(each.number for each in said) + unlisted,
        unlisted=unlisted,
        said=tuple(said[:FIRST]),
        others=max(len(said) - FIRST, 0),
        expected=expected(code, settings, period),
        remedy=remedy(code),
    )


def _said(message: str, found: list[Mapping[str, Any]]) -> Said:
    lines = [each["line"] for each in found if each["line"] is not None]
    cells = [each["cell"] for each in found if each["cell"]]
    return Said(message, len(found), tuple(lines[:FIRST]), tuple(cells[:FIRST]))
