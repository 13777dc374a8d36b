"""Whether two publications could hold the same figures, or sums and parts of them: what
program and database must mean alike.

PostgreSQL has both functions as SQL (`sql/migrations/0001_gate.postgresql.sql`); on SQLite the triggers call
these. What is missing or cannot be read could be anything, so the answer is yes then.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from sdc_tasks.model.time.periods import overlap


def same_time(one: str, other: str) -> bool:
    """Do two reference periods have a day in common? A year and its quarters do. True
    where one of them is no period.
    """
    try:
        return overlap(one, other)
    except ValueError:
        return True


def akin(one: str | None, other: str | None) -> bool:
    """Are these settings of two domains of one agency, with an area in common? A unit of an
    agency is the agency (ESTAT.TRADE is ESTAT). An area whose code begins as that of another
    one is a part of it (AT11 of AT).
    """
    first, second = _parsed(one), _parsed(other)
    agency, its = _agency(first), _agency(second)
    if agency and its and agency != its:
        return False
    areas, theirs = _areas(first), _areas(second)
    return not (areas and theirs) or any(
        mine.startswith(yours) or yours.startswith(mine) for mine in areas for yours in theirs
    )


def links(settings: str | None, own: str, other: str) -> bool:
    """Do the settings of a domain say that its releases are attacked together with those of this other one;
    or, of the domain itself, with those of its other periods?
    """
    said = _parsed(settings).get("linked")
    said = said if isinstance(said, dict) else {}
    if own == other:
        return said.get("periods") is not None
    tables = said.get("tables")
    return isinstance(tables, list) and other in tables


def family(settings: str | None, own: str, out: Collection[tuple[str, str | None]]) -> set[str]:
    """The domains that a domain links, and those that these link, and so on: a relation of a table in the
    middle joins the others. `out`: (domain, settings) of everything that is published.
    """
    found = {domain for domain, _ in out if links(settings, own, domain)}
    while more := {
        other
        for domain, theirs in out
        if domain in found
        for other, _ in out
        if other not in found and links(theirs, domain, other)
    }:
        found |= more
    return found


def belongs(settings: str | None, own: str, other: str, out: str) -> bool:
    """Is this other domain of the family? `out`: [domain, settings] of everything, as a JSON list."""
    return other in family(settings, own, [(domain, theirs) for domain, theirs in json.loads(out)])


def knew(certificate: str | None, domain: str, period: str, version: int, publication: str) -> bool:
    """Does a certificate say that its audit knew this version of a related release?"""
    named = _parsed(certificate).get("linked")
    wanted = {"domain": domain, "period": period, "version": version, "publication": publication}
    return isinstance(named, list) and any(
        isinstance(each, dict) and wanted.items() <= each.items() for each in named
    )


def reached(period: str, others: Collection[str]) -> set[str]:
    """Those of the other periods that overlap this one, or one that does, and so on: a quarter reaches the
    year, and by it the other quarters.
    """
    found, last = set[str](), {period}
    while last:
        last = {each for each in others if each not in found and any(same_time(each, one) for one in last)}
        found |= last
    return found


def reaches(period: str, other: str, others: str) -> bool:
    """Is this other period among those reached? `others`: all of them, as a JSON list."""
    return other in reached(period, json.loads(others))


def _parsed(settings: str | None) -> dict[str, Any]:
    try:
        told = json.loads(settings or "")
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _agency(told: dict[str, Any]) -> str:
    """The agency of a domain; nothing where its structure does not tell it."""
    agency, colon, _ = str(told.get("structure_id", "")).partition(":")
    return agency.partition(".")[0].upper() if colon else ""


def _areas(told: dict[str, Any]) -> set[str]:
    """The codes of the countries and compositions of a domain; nothing where its settings do not
    tell both.
    """
    try:
        listed = [row[0] for row in told["codelists"][told["areas"]["dimension"]]]
        listed += [each.get(name) for each in told["aggregates"] for name in ("code", "partial_code")]
    except (TypeError, LookupError, AttributeError):
        return set()
    return {code for code in listed if isinstance(code, str) and code}
