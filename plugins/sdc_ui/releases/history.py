"""The releases of a domain, also unpublished ones, and which of them can be compared."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine

from sdc_tasks.warehouse import reader
from sdc_ui.shared.labels import labels_of
from sdc_ui.shared.standing import ReleaseLine, release_line


@dataclass(frozen=True)
class HistoryFacts:
    """The releases, newest first. `before`: release → the previous version of the same period, where there is
    one.
    """

    domain: str
    title: str
    lines: tuple[ReleaseLine, ...]
    before: dict[str, str]


def history_facts(engine: Engine, domain: str) -> HistoryFacts | None:
    """The releases of a domain; None for an unknown domain."""
    lines = tuple(release_line(each) for each in reader.history(engine, domain))
    settings = reader.settings_of(engine, domain)
    if not lines and not settings:
        return None
    return HistoryFacts(domain, labels_of(domain, settings).title, lines, before(lines))


def before(lines: tuple[ReleaseLine, ...]) -> dict[str, str]:
    """release → the previous version."""
    versions = {(each.period, each.version): each.release_id for each in lines if each.version is not None}
    return {
        release_id: versions[period, version - 1]
        for (period, version), release_id in versions.items()
        if version is not None and (period, version - 1) in versions
    }
