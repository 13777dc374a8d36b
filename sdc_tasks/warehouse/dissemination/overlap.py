"""Whether another domain has published the same figures of a period.

An audit attacks earlier publications together with the next one, but only within a domain: a domain does not know the cells of another.
So the figures of a structure (dataflow, in any version) and period belong to the domain that published them first.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Engine

from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.sqlfiles import clause
from sdc_tasks.warehouse.operations.journal import Terms


def refusal(connection: Connection, terms: Terms, period: str) -> str:
    """The reason why this domain may not publish the period, with the remedy; empty where no other domain has published its indicators."""
    structure, mine = figures(terms.settings)
    query = clause("queries/others_out", connection.dialect.name)
    for domain, settings in connection.execute(query, {"period": period, "domain": terms.domain}):
        other, theirs = figures(settings)
        if other == structure and (both := sorted(mine & theirs)):
            return (
                f"{', '.join(both)} of {structure} {period} {'is' if len(both) == 1 else 'are'} published by domain {domain}, and an audit "
                f"does not attack two domains together. Remedy: release a further version of domain {domain}, or choose other indicators"
            )
    return ""


def refused(engine: Engine, terms: Terms, period: str) -> str:
    """`refusal`, in a connection of its own."""
    with reading(engine) as connection:
        return refusal(connection, terms, period)


def figures(settings: str) -> tuple[str, set[str]]:
    """The structure without its version, and the indicators, in the settings of a domain."""
    told: dict[str, Any] = json.loads(settings)
    return str(told.get("structure_id", "")).partition("(")[0], {each["code"] for each in told.get("indicators", ())}
