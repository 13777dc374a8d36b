"""Collects the findings of one file, and decides which text of the file a finding may repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from sdc_tasks.model.findings import Finding, Severity, unlisted
from sdc_tasks.model.table import Ints

KEPT_PER_CODE = 100
NAMED_IN_FINDING = 3  # cells
UNREAD = "150/007"


class Findings:
    """The findings of one file: the first KEPT_PER_CODE of each kind, and the number of further ones."""

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self._seen: Counter[tuple[str, Severity]] = Counter()
        self._passed_over = False

    def add(
        self,
        code: str,
        message: str,
        line: int | None = None,
        cell: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        self._seen[code, severity] += 1
        if self._seen[code, severity] <= KEPT_PER_CODE:
            self._kept.append(Finding(code, severity, message, line, cell))

    def missing(self, concept: str, remedy: str = "add it", line: int | None = None) -> None:
        """A concept that every delivery must have."""
        self.add("150/003", f"{concept} is missing: {remedy}", line)

    def unread(self, concept: str, line: int | None = None) -> None:
        """A concept that the domain does not have."""
        self.add(
            UNREAD, f"{concept} is not in the structure and is not read", line, severity=Severity.WARNING
        )

    def pass_over(self) -> None:
        """Something is not read that the format has for people, such as a label or an annotation."""
        self._passed_over = True

    @property
    def has_unread(self) -> bool:
        """Whether anything of the file was not read."""
        return self._passed_over or self._seen[UNREAD, Severity.WARNING] > 0

    def each(
        self,
        code: str,
        rows: Ints,
        lines: Ints,
        message: str | Callable[[int], str],
        cell: Callable[[int], str | None] = lambda row: None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Adds one finding for each of the rows. Texts are made only for findings that are kept."""
        room = max(KEPT_PER_CODE - self._seen[code, severity], 0)
        for row in rows[:room].tolist():
            self.add(
                code,
                message if isinstance(message, str) else message(row),
                int(lines[row]),
                cell(row),
                severity,
            )
        self._seen[code, severity] += len(rows[room:])

    @property
    def refused(self) -> bool:
        return any(number and severity is Severity.ERROR for (_, severity), number in self._seen.items())

    def all(self) -> tuple[Finding, ...]:
        """All findings by line. Findings on the whole file come first, summaries last."""
        kept = sorted(self._kept, key=lambda finding: finding.line or 0)
        summaries = [
            Finding(code, severity, unlisted(seen - KEPT_PER_CODE))
            for (code, severity), seen in self._seen.items()
            if seen > KEPT_PER_CODE
        ]
        return (*kept, *summaries)


def shown(token: str, like: Iterable[str]) -> str | None:
    """The token if a finding may repeat it: it must have the form of the codes `like`. None otherwise.

    In a record with shifted columns, or with a lost separator, a confidential value may be in the column of a
    code or joined to it. So a token must begin with a letter, be no longer than the longest code, and have no
    longer run of digits than the codes.
    """
    codes = list(like)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_ -]*", token):
        return None
    if len(token) > max(map(len, codes), default=0) or _digits(token) > max(map(_digits, codes), default=0):
        return None
    return token


def _digits(token: str) -> int:
    """The length of the longest run of digits."""
    return max(map(len, re.findall(r"[0-9]+", token)), default=0)
