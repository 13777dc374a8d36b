"""The assets of a domain in Airflow's graph: accepted deliveries (partition: country), releases that can be
run, published releases, and those that are out of date (partition: period).

Events of `accepted_`, `published_` and `stale_` have a partition. A DAG with
`schedule=[Asset("published_sbs")]` does not hear them: Airflow starts it for events without one alone. This
starts it, once for each partition, which the run has as `dag_run.partition_key`:

    from airflow.sdk import DAG, Asset, PartitionedAssetTimetable

    DAG("after_publication", schedule=PartitionedAssetTimetable(assets=Asset("published_sbs")), …)

Events of `ready_` have none: `schedule=[Asset("ready_sbs")]` starts a DAG.
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
