"""The steps of a release, in the order of their modules. For Airflow tasks and for `sdc` alike.

desk           where a release is worked on
deliveries     discover, ingest, ready: files of an inbox become accepted deliveries
secondaries    collect, suppress: cells of national tables that the receiver hides, before `assemble`
protection     assemble, baseline, adjust, choose_bases, audit_chunk, verdict: these become an audited publication
publication    answer, publish: who agrees, and what goes out
identity       what decides the bytes of a release, and its id
memory         what a step leaves, and that it is not done twice
versions       what is out of the period already
"""

from sdc_tasks.steps.deliveries import Waiting, discover, ingest, news, open_cycle, ready
from sdc_tasks.steps.desk import Desk, open_desk, open_office
from sdc_tasks.steps.identity import require_own
from sdc_tasks.steps.protection import (
    adjust,
    adjustment_of,
    assemble,
    audit_chunk,
    baseline,
    choose_bases,
    climbed,
    compared,
    decided,
    verdict,
)
from sdc_tasks.steps.publication import answer, awaiting, newer, publish, retract, wait
from sdc_tasks.steps.secondaries import collect, set_by_receiver, suppress

__all__ = [
    "Desk", "Waiting", "adjust", "adjustment_of", "answer", "assemble", "audit_chunk", "awaiting", "baseline", "choose_bases",
    "climbed", "collect", "compared", "decided", "discover", "ingest", "newer", "news", "open_cycle", "open_desk", "open_office", "publish",
    "ready", "require_own", "retract", "set_by_receiver", "suppress", "verdict", "wait",
]  # fmt: skip
