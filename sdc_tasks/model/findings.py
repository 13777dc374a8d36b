"""What is wrong with a delivery, said so that its sender can mend it.

A finding is structural (found while reading), a check result is about content (found on the complete table). Both name
columns, lines, cell keys, rules and remedies; never a value, a number of units or a share.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """error refuses the delivery, warning is recorded."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    """One structural finding.

    `code` is the one of Eurostat's STRUVAL where it has one (140 not well-formed, 150/003 missing concept, 150/007 concept not in
    the structure, 150/904-1 key size, 150/904-2 wrong code), otherwise ours (`SDC/…`). `line` counts from 1, the header included.
    """

    code: str
    severity: Severity
    message: str
    line: int | None = None
    cell: str | None = None


@dataclass(frozen=True)
class CheckResult:
    """One content check of one delivery: `failed` of `checked` items, and the keys of the first failing `cells` (at most MAX_CELLS)."""

    check: str
    severity: Severity
    passed: bool
    checked: int
    failed: int
    cells: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(sorted(self.cells)[:MAX_CELLS]))


MAX_CELLS = 20
