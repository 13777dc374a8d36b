"""The steps of a release, in the order of their modules. Airflow tasks and `sdc` use the same steps.

desk           the warehouse, the domain and the period of a release
arrivals       discover, news, ready: the files of an inbox, and whether a release can be made of what counts
candidates     the files of a country that are judged together
comparison     a delivery beside the last period of its country, and beside the other countries
accepting      ingest: the files of a country are accepted or refused as one delivery
second_files   what a judgement does about files beside the accepted ones
answering      settle, second: somebody answers what a second file is
secondaries    collect, suppress: secondaries that the receiver sets in national tables, before `assemble`
protection     assemble, baseline, then audit_chunk, verdict: deliveries become an audited publication
together       what was decided for several tables at once, in `baseline`
reserve        bases that leave a longer period room for exact totals, in `baseline`
bases          adjust, choose_bases, in between: what is exact, rounded or withheld
publication    answer, publish, withdraw, retract: who agrees, the publication itself, and the taking back
identity       the inputs that determine the bytes of a release, and its id
memory         the stored result of a step, so that it is not done twice
versions       the published versions of the period
"""

from sdc_tasks.steps.accepting import ingest
from sdc_tasks.steps.answering import second, settle
from sdc_tasks.steps.arrivals import ToJudge, discover, news, open_cycle, ready
from sdc_tasks.steps.bases import adjust, adjustment_of, choose_bases, climbed, compared
from sdc_tasks.steps.desk import Desk, open_desk, open_office
from sdc_tasks.steps.identity import drawn_by, require_own
from sdc_tasks.steps.protection import assemble, audit_chunk, baseline, decided, verdict
from sdc_tasks.steps.publication import (
    answer,
    awaiting,
    close,
    followed,
    newer,
    outdated,
    publish,
    rejections,
    retract,
    wait,
    withdraw,
)
from sdc_tasks.steps.secondaries import LOWER_LEVELS, collect, set_by_receiver, suppress

__all__ = [
    "LOWER_LEVELS",
    "Desk",
    "ToJudge",
    "adjust",
    "adjustment_of",
    "answer",
    "assemble",
    "audit_chunk",
    "awaiting",
    "baseline",
    "choose_bases",
    "climbed",
    "close",
    "collect",
    "compared",
    "decided",
    "discover",
    "drawn_by",
    "followed",
    "ingest",
    "newer",
    "news",
    "open_cycle",
    "open_desk",
    "open_office",
    "outdated",
    "publish",
    "ready",
    "rejections",
    "require_own",
    "retract",
    "second",
    "set_by_receiver",
    "settle",
    "suppress",
    "verdict",
    "wait",
    "withdraw",
]
