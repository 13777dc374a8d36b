"""Judges the files of a country together: they are accepted or refused as one delivery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from sdc_tasks import intake
from sdc_tasks.checks import suite
from sdc_tasks.checks.registry import describe
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import CheckResult, Finding, Severity
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.steps import arrivals
from sdc_tasks.steps.candidates import Candidates, candidates, fresh
from sdc_tasks.steps.comparison import last_period, named, read_files
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.second_files import follow_up
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState

P = ParamSpec("P")
R = TypeVar("R")
ATTEMPTS = 8  # so often are files judged whose country changes meanwhile


class Judgement(NamedTuple):
    """The country of accepted files, the digest of the file that was asked about, and what is to be done
    about the second files of the country that wait or are refused.
    """

    country: str
    digest: str
    to_do: list[str]


def retried(step: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function: it is run again where files changed while it ran. Raises ConcurrentModification
    where they never stay as they are.
    """

    @wraps(step)
    def until_unchanged(*arguments: P.args, **named: P.kwargs) -> R:
        for _ in range(ATTEMPTS - 1):
            with suppress(store.ConcurrentModification):
                return step(*arguments, **named)
        return step(*arguments, **named)

    return until_unchanged


@keeps_to_itself
def ingest(desk: Desk, inbox: Path | None, name: str) -> tuple[str, str]:
    """Judges the delivery that contains the file of this name: all files of its country that are in the inbox
    now, and earlier files that count. Reads them, checks them together, and accepts or refuses them together.

    Records the findings and the results of the checks. Returns the country and the digest of the file. Raises
    InvalidInput where the delivery is refused; the earlier delivery of the country then stays. Raises it also
    where a second file of the country waits for an answer (`answers.py`).
    """
    found = judge(desk, inbox, name)
    if found.to_do:
        raise InvalidInput("; ".join(found.to_do))
    return found.country, found.digest


@retried
def judge(desk: Desk, inbox: Path | None, name: str) -> Judgement:
    """As `ingest`, and returns what is to be done about second files."""
    mine = arrivals.receive_with_country(desk, inbox, name)
    group = candidates(desk, inbox, mine)
    delivery = read_files(desk, group.files)
    _save_findings(desk, group, delivery)
    if delivery.table is None:
        raise _refused(desk, group, delivery, _first_error(delivery))
    country = delivery.table.country
    if mine.country is None:
        _require_country_in_name(desk, name, group, delivery, country)
    _require_checks(desk, group, delivery, delivery.table)
    _accept(desk, group, country, unchanged=mine.country == country)
    desk.in_hand.deliveries[named(group.files)] = delivery
    return Judgement(country, mine.key.digest, follow_up(desk, group))


def _save_findings(desk: Desk, group: Candidates, delivery: intake.Delivery) -> None:
    """Saves the findings on each file, with those on all files together at one of them, and says which file
    replaces which.
    """
    chief = group.fresh[0] if delivery.table is None else group.files[0]
    for each, sheet in zip(group.files, delivery.sheets, strict=True):
        together = delivery.told if each is chief else ()
        replacing = [_replacing(each, other) for other in _replaced_by(group, each)]
        for finding in replacing:
            desk.say(finding.message)
        store.save_findings(desk.engine, each.key, [*sheet.findings, *together, *replacing])


def _replaced_by(group: Candidates, each: store.StoredDelivery) -> list[store.StoredDelivery]:
    """The files that this one replaced before or replaces now."""
    before = [other for other in group.come.deliveries if other.superseded_by == each.key.digest]
    every_series = each in group.instead[:1]
    return [
        other for other in [*before, *group.replaced] if every_series or other.series.name == each.series.name
    ]


def _replacing(each: store.StoredDelivery, other: store.StoredDelivery) -> Finding:
    message = f"{each.file} replaces {other.file} of {other.received_at:%Y-%m-%d %H:%M} UTC"
    return Finding("SDC/superseded", Severity.WARNING, message)


def _first_error(delivery: intake.Delivery) -> str:
    errors = [finding for finding in delivery.findings if finding.severity is Severity.ERROR]
    where = "" if errors[0].line is None else f"line {errors[0].line}: "
    number = f"{len(errors)} error{'s' * (len(errors) > 1)}"
    return f", {number}; first: {errors[0].code} {where}{errors[0].message}"


def _require_country_in_name(
    desk: Desk, name: str, group: Candidates, delivery: intake.Delivery, country: str
) -> None:
    """Refuses a file whose name and beginning do not say its country, where the country has other files that
    count: nobody can tell whether it belongs to them.
    """
    keys = [each.key for each in group.files]
    counting = _in_state(group.come.deliveries, country, DeliveryState.ACCEPTED)
    if all(each.key in keys for each in counting):
        return
    message = (
        f"{name} does not say its country by its name, and {country} has files that "
        f"count: rename it, such as AT_2024.csv"
    )
    unnamed = Finding("SDC/file-name", Severity.ERROR, message)
    store.save_findings(desk.engine, keys[0], [*delivery.findings, unnamed])
    raise _refused(desk, group, delivery, f": {message}")


def _require_checks(desk: Desk, group: Candidates, delivery: intake.Delivery, table: NationalTable) -> None:
    """Runs the checks of the content and saves their results. Raises InvalidInput where one refuses the
    delivery.
    """
    country = table.country
    results = suite.check(table, desk.domain, _previous(desk, country, group), last_period(desk, country))
    refused = suite.refusals(results)
    judged = group.fresh if refused else group.files
    for each in judged:
        store.save_checks(desk.engine, each.key, results if each is judged[0] else ())
    if refused:
        raise _refused(desk, group, delivery, f": {'; '.join(_told(result) for result in refused)}")


def _accept(desk: Desk, group: Candidates, country: str, unchanged: bool) -> None:
    """Makes the files the delivery of the country, and supersedes those that they replace. `unchanged`:
    nothing of the country may have changed since `group` was made.
    """
    by, keys = group.by_series, [each.key for each in group.files]
    decided = {
        other.key: group.instead[0].key.digest
        for other in group.replaced
        if other.state is DeliveryState.ACCEPTED and other.series.name not in by
    }
    seen = group.come.deliveries if unchanged else None
    store.accept_together(desk.engine, keys, country, decided, seen)
    for other in group.replaced:
        if other.state is DeliveryState.RECEIVED:
            store.supersede(desk.engine, other.key, country, by[other.series.name])


def _refused(desk: Desk, group: Candidates, delivery: intake.Delivery, why: str) -> InvalidInput:
    """The exception for a refused delivery. Marks as refused the files that did not count before,
    or all files where none is new.
    """
    for each in fresh([*group.files, *group.replaced]):
        store.refuse(desk.engine, each.key, delivery.country)
    return InvalidInput(f"{delivery.file} refused{why}")


def _told(result: CheckResult) -> str:
    return (
        f"{result.check} fails for {result.failed} of {result.checked} "
        f"({', '.join(result.cells[:3])}): {describe(result)}"
    )


def _previous(desk: Desk, country: str, group: Candidates) -> NationalTable | None:
    """The earlier delivery of the same country and period, if it can still be read."""
    known, files = group.come.deliveries, group.files
    before = _in_state(known, country, DeliveryState.ACCEPTED)
    mine = {each.key for each in files}
    if {each.key for each in before} <= mine:
        last = {each.superseded_by: each for each in _in_state(known, country, DeliveryState.SUPERSEDED)}
        before = [last.get(each.key.digest, each) for each in files]
    if not before or {each.key for each in before} == mine:
        return None
    return read_files(desk, before).table


def _in_state(
    known: Sequence[store.StoredDelivery], country: str, state: DeliveryState
) -> list[store.StoredDelivery]:
    return [each for each in known if each.country == country and each.state is state]
