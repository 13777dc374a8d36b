"""The related releases that are out: other tables of the statistic, and other periods that hold the period or
are within it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sdc_tasks.domains import load_domain
from sdc_tasks.domains.file import place_of
from sdc_tasks.errors import InvalidInput, did_you_mean
from sdc_tasks.model.results import Related
from sdc_tasks.model.time.periods import around
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.schema import DeliveryState, RunState
from sdc_tasks.warehouse.dissemination import overlap
from sdc_tasks.warehouse.forms.related import family as family_of
from sdc_tasks.warehouse.forms.related import reached
from sdc_tasks.warehouse.reader import ReleaseInfo


def related(desk: Desk) -> list[ReleaseInfo]:
    """The releases of the statistic that are out and that this one must be attacked with, in the order of
    domain, period and version, also those under embargo or retracted. A release that leaves room for a longer
    period is attacked with what is out within that.
    """
    mine = desk.domain.id, desk.period
    if not desk.domain.linked:
        return []
    with reading(desk.engine) as connection:
        out = [(each.domain, settings) for each, settings in overlap.out_of(connection)]
    family = family_of(json.dumps(desk.domain.settings), desk.domain.id, out)
    others = [each for each in _out(desk) if each.domain in family and (each.domain, each.period) != mine]
    periods = {each.period for each in others}
    if longer := room_for(desk):  # by the longer period, the others within it are reached
        periods.add(longer)
    near = reached(desk.period, periods)
    return _in_order(each for each in others if each.period in near)


def room_for(desk: Desk) -> str | None:
    """The longer period for which the domain file asks this release to leave room."""
    asked = desk.domain.linked.reserve
    return around(desk.period, asked) if asked else None


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


def partners_of(desk: Desk) -> tuple[tuple[str, str], ...]:
    """(domain, digest) of the domain file and of the accepted deliveries of each linked table of the period
    that is decided together with this one: it is not out yet, and a release can be made of what it has.
    Raises InvalidInput where its domain file is not beside that of this one.
    """
    if not desk.domain.linked.together:
        return ()
    found = list[tuple[str, str]]()
    there = {(each.domain, each.period) for each in reader.releases(desk.engine)}
    for name in sorted(desk.domain.linked.tables):
        accepted = _accepted(desk, name)
        if (name, desk.period) in there or not accepted:
            continue
        domain = partner(desk, name).domain
        if domain.can_release({each.country for each in accepted}):
            found += [(name, domain.digest), *((name, each.key.digest) for each in accepted)]
    return tuple(found)


def _accepted(desk: Desk, domain: str) -> list[store.StoredDelivery]:
    """The accepted deliveries of a table of the period; none while one is not judged yet."""
    sent = store.deliveries(desk.engine, domain, desk.period)
    if any(each.state is DeliveryState.RECEIVED for each in sent):
        return []
    return [each for each in sent if each.state is DeliveryState.ACCEPTED]


def require_known_tables(desk: Desk) -> None:
    """Raises InvalidInput where neither the warehouse nor the folder of the domain file knows a linked table:
    its name may be a slip, and the release would be attacked without it.
    """
    if not desk.domain.linked.tables:
        return
    known = {each["domain"] for each in reader.cycles(desk.engine)}
    known |= {each.stem for each in desk.domain.folder.glob("*.yaml")}
    for name in desk.domain.linked.tables:
        if name not in known:
            raise InvalidInput(
                f"{place_of(desk.domain.file, 'linked', 'tables', name)}: neither the warehouse nor the "
                f"folder of this file knows it.{did_you_mean(name, sorted(known - {desk.domain.id}))} "
                f"Remedy: correct the name, put {name}.yaml beside this file, or leave it out"
            )


def not_there(desk: Desk, release_id: str) -> list[str]:
    """What to say of each table that is not decided together with a release, although the domain file asks
    for it, because it is neither out nor complete.
    """
    decided = {name for name, _ in reader.made_with(desk.engine, release_id)}
    out = {each.domain for each in reader.releases(desk.engine) if each.period == desk.period}
    return [
        f"decided without {name}: it has no accepted deliveries of {desk.period} from all of its countries"
        for name in desk.domain.linked.tables
        if name not in decided | out
    ]


def partner(desk: Desk, name: str) -> Desk:
    """The desk of another table of the statistic, whose domain file stands beside that of this one. Raises
    InvalidInput where it does not.
    """
    file = desk.domain.folder / f"{name}.yaml"
    domain = load_domain(file).of(desk.period) if file.is_file() else None
    if domain is None or domain.id != name:
        said = "is no file" if domain is None else f"is the domain {domain.id}"
        raise InvalidInput(
            f"{desk.domain.id}: linked: together: {file} {said}. Remedy: put the domain file of {name} "
            "there, or leave out together"
        )
    if desk.domain.id not in domain.linked.tables:
        raise InvalidInput(
            f"{desk.domain.id}: linked: together: {name} does not link {desk.domain.id}, and would be "
            f"refused beside it. Remedy: linked: {{tables: [{desk.domain.id}]}} in its domain file"
        )
    return replace(desk, domain=domain, publishing=None)
