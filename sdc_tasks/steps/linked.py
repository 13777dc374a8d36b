"""The related releases that are out: other tables of the statistic, and other periods that hold the period or
are within it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sdc_tasks.model.results import Related
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.schema import RunState
from sdc_tasks.warehouse.dissemination import overlap
from sdc_tasks.warehouse.forms.related import family as family_of
from sdc_tasks.warehouse.forms.related import reached
from sdc_tasks.warehouse.reader import ReleaseInfo


def related(desk: Desk) -> list[ReleaseInfo]:
    """The releases of the statistic that are out and that this one must be attacked with, in the order of
    domain, period and version, also those under embargo or retracted.
    """
    mine = desk.domain.id, desk.period
    if not desk.domain.linked:
        return []
    with reading(desk.engine) as connection:
        out = [(each.domain, settings) for each, settings in overlap.out_of(connection)]
    family = family_of(json.dumps(desk.domain.settings), desk.domain.id, out)
    others = [each for each in _out(desk) if each.domain in family and (each.domain, each.period) != mine]
    near = reached(desk.period, {each.period for each in others})
    return _in_order(each for each in others if each.period in near)


def of_release(desk: Desk, release_id: str) -> list[ReleaseInfo]:
    """The related releases with which a release was opened."""
    if not (known := set(reader.made_beside(desk.engine, release_id))):
        return []
    every = [*reader.releases(desk.engine), *_again(desk)]
    return _in_order(each for each in every if each.release_id in known)


def _out(desk: Desk) -> list[ReleaseInfo]:
    """Every published version. The last run that ended with the publication of one stands for it: its
    deliveries may have promised more than those with which the version went out.
    """
    again = {(each.domain, each.period, each.version): each for each in _again(desk)}
    return [
        again.get((each.domain, each.period, each.version), each) for each in reader.releases(desk.engine)
    ]


def _again(desk: Desk) -> list[ReleaseInfo]:
    """Runs that ended with a publication that was out already, as the version that it was, oldest first."""
    releases = sorted(reader.releases(desk.engine), key=lambda each: each.version)
    out = {(each.domain, each.period, each.publication_digest): each for each in releases}
    own = {each.release_id for each in releases}
    found = []
    ended = (run for run in reader.runs(desk.engine) if run["state"] == RunState.PUBLISHED)
    for run in sorted(ended, key=lambda run: run["finished_at"]):
        audits = reader.audits(desk.engine, run["release_id"]) if run["release_id"] not in own else []
        for audit in audits[-1:]:
            version = out.get((run["domain"], run["period"], audit["publication_digest"]))
            if version is not None:
                found.append(replace(version, release_id=run["release_id"]))
    return found


def _in_order(releases: Iterable[ReleaseInfo]) -> list[ReleaseInfo]:
    return sorted(releases, key=lambda each: (each.domain, each.period, each.version))


def named(releases: Sequence[ReleaseInfo]) -> tuple[Related, ...]:
    """These releases as a certificate names them."""
    return tuple(
        sorted(
            {Related(each.domain, each.period, each.version, each.publication_digest) for each in releases}
        )
    )
