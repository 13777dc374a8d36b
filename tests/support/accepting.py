"""What tests do with files that a warehouse received: accept one by itself, and ask which count."""

from __future__ import annotations

from sqlalchemy import Engine

from sdc_tasks.warehouse.confidential.store import DeliveryKey, accept_together, deliveries
from sdc_tasks.warehouse.database.schema import DeliveryState


def accept(engine: Engine, key: DeliveryKey, country: str) -> DeliveryState:
    """Makes this a file of the country's delivery. Returns what it is now."""
    return accept_together(engine, [key], country)[0]


def accepted(engine: Engine, domain: str, period: str) -> dict[str, tuple[str, ...]]:
    """country → digests of the files that count."""
    found: dict[str, tuple[str, ...]] = {}
    for each in deliveries(engine, domain, period):
        if each.state is DeliveryState.ACCEPTED:
            found[str(each.country)] = (*found.get(str(each.country), ()), each.key.digest)
    return found
