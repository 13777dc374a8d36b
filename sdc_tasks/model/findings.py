"""What is wrong with a delivery, in words with which its sender can correct it.

A finding is structural: reading the file found it. A check result is about content: a check of
the complete table found it. Both name columns, lines, cell keys, rules and remedies; never a
value, a number of units or a share.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error refuses the delivery. A warning is recorded, and the delivery is accepted."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    """One structural finding.

    `code` is Eurostat's STRUVAL code where there is one (140 not well-formed, 150/003 missing concept,
    150/007 concept not in the structure, 150/904-1 key size, 150/904-2 wrong code), otherwise our own
    (`SDC/…`). `line` counts from 1, the header included.
    """

    code: str
    severity: Severity
    message: str
    line: int | None = None
    cell: str | None = None


@dataclass(frozen=True)
class CheckResult:
    """The result of one content check of one delivery: `failed` of `checked` items failed.

    `cells` are the keys of the failing cells in sorted order, the first MAX_CELLS of them.
    """

    check: str
    severity: Severity
    passed: bool
    checked: int
    failed: int
    cells: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(sorted(self.cells)[:MAX_CELLS]))


MAX_CELLS = 20


def unlisted(number: int) -> str:
    """The message in place of the findings of a kind that are not listed one by one."""
    return f"{number} further findings of this kind are not listed"


def number_unlisted(message: str) -> int:
    """The number of findings for which a message stands: 0 for the message of a single finding."""
    found = re.fullmatch(re.escape(unlisted(0)).replace("0", r"(\d+)", 1), message)
    return int(found[1]) if found else 0
