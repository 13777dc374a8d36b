"""The approvals of a release: how many it needs, and who has approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.shared.standing import ReleaseLine


@dataclass(frozen=True)
class Agreed:
    """One approval. It `counts` if it is for the newest audit."""

    approver: str
    approved_at: datetime
    note: str
    counts: bool


@dataclass(frozen=True)
class Approval:
    """The approvals of a release. `publication` is the digest that needs approval, None
    while there is no passed audit.
    """

    asked: int
    starters: tuple[str, ...]
    publication: str | None
    given: tuple[Agreed, ...]
    released: bool

    @property
    def missing(self) -> int:
        return max(self.asked - sum(each.counts for each in self.given), 0)

    @property
    def done_at(self) -> datetime | None:
        """The instant of the last necessary approval; None before it."""
        if not self.asked or self.missing:
            return None
        return sorted(each.approved_at for each in self.given if each.counts)[self.asked - 1]


def approval_of(engine: Engine, line: ReleaseLine, audits: Sequence[Mapping[str, Any]]) -> Approval:
    """The approvals of a release. `audits` are its audits, oldest first."""
    newest = audits[-1] if audits and audits[-1]["passed"] else None
    given = tuple(
        Agreed(
            each["approver"],
            each["approved_at"],
            each["note"],
            newest is not None and each["audit_digest"] == newest["digest"],
        )
        for each in reader.approvals(engine, line.release_id)
    )
    publication = newest["publication_digest"] if newest else None
    return Approval(line.approvals_asked, line.starters, publication, given, line.version is not None)
