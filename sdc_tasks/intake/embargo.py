"""Flags with an end, such as E of CL_CONF_STATUS: confidential until an instant, and public from then on.

Nobody sees a release before its own embargo. So a cell whose flag ends by then is public in it, and
everything is protected beside a cell that everybody can read. A flag without an end stays what it is. A flag
that ends later is neither: the cell is hidden when the release comes out, and once it is public it may tell
of others what no audit looked at. So it refuses the delivery.
"""

from __future__ import annotations

import re
from datetime import datetime

import numpy as np

from sdc_tasks.domains.schema import Domain, Role
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.records import NOTHING, Numbers, Records
from sdc_tasks.model.findings import Severity

_CODE = "SDC/embargo"
_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)


def ended(records: Records, domain: Domain, period: str, flag: Numbers, found: Findings) -> Numbers:
    """(records,): the position of each flag in `domain.flags`, that of a public one where it ends before
    anybody sees the release. Adds a finding for each other end.
    """
    codes = list(domain.flags)
    public = next((code for code, each in domain.flags.items() if each.role is Role.PUBLIC), None)
    cycle = domain.calendar.of(period)
    seen = cycle.embargo if cycle else None
    after = flag.copy()
    for code, each in domain.flags.items():
        if each.ends is None or public is None or not records.has(each.ends):
            continue
        column = each.ends
        flagged = (flag == codes.index(code)) & ~records.where(column, NOTHING.__contains__)
        known = records.where(column, lambda text: _instant(text) is not None)
        past = records.where(column, lambda text: seen is not None and _by(text, seen))
        found.each(
            _CODE,
            np.flatnonzero(flagged & ~known),
            records.line,
            f"{column} is no instant with its offset, such as 2026-03-01T11:00:00Z: correct it",
        )
        release = (
            "the release has no embargo in the calendar of the domain"
            if seen is None
            else f"the release is out at {seen.isoformat()}"
        )
        message = (
            f"{code} ends when everybody has the release: {release}. Have its embargo set to that end or "
            f"later, or say why the cell is confidential"
        )
        found.each(_CODE, np.flatnonzero(flagged & known & ~past), records.line, message)
        if (rows := np.flatnonzero(flagged & past)).size:
            message = f"{code} ends by the embargo of the release in {rows.size} records: read as {public}"
            found.add(_CODE, message, int(records.line[rows[0]]), severity=Severity.WARNING)
            after[rows] = codes.index(public)
    return after


def _instant(text: str) -> datetime | None:
    if _INSTANT.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _by(text: str, seen: datetime) -> bool:
    return (end := _instant(text)) is not None and end <= seen
