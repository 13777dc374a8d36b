"""The assets of a domain in Airflow's graph: accepted deliveries (partition: country), releases that can be run, published releases, and
those that are out of date (partition: period).
"""

from __future__ import annotations

from typing import NamedTuple

from airflow.sdk import Asset


class Assets(NamedTuple):
    """accepted → ready → published, and accepted → stale."""

    accepted: Asset
    ready: Asset
    published: Asset
    stale: Asset


def assets_of(domain: str) -> Assets:
    """The assets of a domain, by its id."""
    return Assets(*(Asset(f"{name}_{domain}") for name in Assets._fields))
