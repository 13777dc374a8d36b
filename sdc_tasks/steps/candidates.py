"""The files of one country that a judgement takes together: which count if they are accepted, which these
replace, and which lie beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdc_tasks.model.series import Answer, series_of
from sdc_tasks.steps.arrivals import MATTERS, look
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState
from sdc_tasks.warehouse.operations import answers


@dataclass(frozen=True)
class Candidates:
    """The files of a country at one instant, under their names in the inbox.

    files: the highest version of each series, by name: they count if they are accepted.
    replaced: the received and accepted files that `files` replace.
    second: files beside the accepted ones that nobody wants to count (`operations/answers.py`).
    come: everything that has come for the period.
    given: digest → the answer about it.
    """

    files: Sequence[store.StoredDelivery]
    replaced: Sequence[store.StoredDelivery]
    second: Sequence[store.StoredDelivery]
    come: store.Received
    given: Mapping[str, Answer]

    @property
    def instead(self) -> list[store.StoredDelivery]:
        """The files that count instead of those of all other names, by an answer."""
        return [each for each in self.files if self.given.get(each.key.digest) is Answer.REPLACE]

    @property
    def fresh(self) -> Sequence[store.StoredDelivery]:
        """The files to which a refusal belongs: those that did not count before, or all where none is new."""
        return fresh(self.files)

    @property
    def by_series(self) -> dict[str, str]:
        """The name of each series → the digest of the file that counts."""
        return {each.series.name: each.key.digest for each in self.files}


def fresh(files: Sequence[store.StoredDelivery]) -> Sequence[store.StoredDelivery]:
    """Those of the files that did not count before, or all where none is new."""
    return [each for each in files if each.state is not DeliveryState.ACCEPTED] or files


def candidates(desk: Desk, inbox: Path | None, mine: store.StoredDelivery) -> Candidates:
    """The files of the country of `mine`. A file without a country is a delivery by itself."""
    come = store.received(desk.engine, desk.domain.id, desk.period)
    given = answers.answers(desk.engine, desk.domain.id, desk.period)
    if mine.country is None:
        return Candidates([mine], [], [], come, given)
    own = _of_country(come, set(look(desk, inbox).files), mine)
    answered = {each.key: given.get(each.key.digest) for each in own if each.state is DeliveryState.RECEIVED}
    wanted = (Answer.REPLACE, Answer.BOTH)
    second = [each for each in answers.beside(own) if answered.get(each.key) not in wanted]
    first = [each for each in own if each not in second]
    files = _highest_versions(first, new_alone=Answer.REPLACE in answered.values())
    replaced = [each for each in first if each not in files and each.state is not DeliveryState.REFUSED]
    return Candidates(files, replaced, second, come, given)


def _of_country(
    come: store.Received, there: set[str], mine: store.StoredDelivery
) -> list[store.StoredDelivery]:
    """The files of the country of `mine` that are in the inbox (`there`: the names in it), count, or were
    never judged.
    """
    names: dict[str, list[str]] = {}
    for file, digest in sorted(come.lying):
        if file in there:
            names.setdefault(digest, []).append(file)
    present = {*names, mine.key.digest}
    return [
        _under(each, names.get(each.key.digest, []))
        for each in come.deliveries
        if each.country == mine.country
        and each.state is not DeliveryState.SUPERSEDED
        and (each.state in MATTERS or each.key.digest in present)
    ]


def _under(delivery: store.StoredDelivery, names: Sequence[str]) -> store.StoredDelivery:
    """The delivery under its name in the inbox."""
    if not names or delivery.file in names:
        return delivery
    return replace(delivery, file=names[-1], series=series_of(names[-1]))


def _highest_versions(files: Sequence[store.StoredDelivery], new_alone: bool) -> list[store.StoredDelivery]:
    """Of each series the file with the highest rank, by name. `new_alone`: of those that did not count."""
    chosen = [each for each in files if not (new_alone and each.state is DeliveryState.ACCEPTED)]
    highest = {each.series.name: each for each in sorted(chosen, key=lambda each: each.rank)}
    return sorted(highest.values(), key=lambda each: each.file)
