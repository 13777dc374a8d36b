"""From files in an inbox to accepted deliveries: which files belong together, which replace others, and which are refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from sdc_tasks import intake
from sdc_tasks.checks import suite
from sdc_tasks.checks.registry import describe
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.domains.schema import MissingCountry
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import CheckResult, Finding, Severity
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.series import series_of
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import inputs_of, release_id_of, terms_of
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState
from sdc_tasks.warehouse.operations import cycles

MATTERS = (DeliveryState.ACCEPTED, DeliveryState.RECEIVED)


@dataclass(frozen=True)
class Waiting:
    """The files of a country that must be judged: the name of the first file, the label in the UI, and all names."""

    file: str
    label: str
    files: tuple[str, ...]


def open_cycle(desk: Desk) -> None:
    """Opens the cycle of the period, or updates it from the domain file."""
    cycle = desk.domain.calendar.of(desk.period)
    instants = (
        {
            "opened_at": cycle.opens,
            "delivery_due": cycle.deliveries,
            "protection_due": cycle.protection,
            "approval_due": cycle.approval,
            "embargo": cycle.embargo,
        }
        if cycle
        else {}
    )
    cycles.open_cycle(desk.engine, terms_of(desk.domain), desk.period, desk.domain.countries, instants)


@keeps_to_itself
def discover(desk: Desk, inbox: Path) -> list[Waiting]:
    """Receives every file of the inbox, in the order of their names, and opens the cycle. Returns the files that must be judged, grouped by
    country: the files of the inbox, also unreadable ones, and earlier files that count or were never judged, also if they are no longer in
    the inbox. The inbox may be any object with the methods of a path.

    Raises InvalidInput where there is no such folder, or no file of the period in the inbox or earlier.
    """
    if not inbox.is_dir():
        raise InvalidInput(f"inbox {inbox}: no such folder")
    open_cycle(desk)
    lying_there = intake.look(inbox, desk.domain.inbox.ignore)
    names, unread = list(lying_there.files), dict(lying_there.unread)
    for name in lying_there.files:
        try:
            _take(desk, inbox, name)
        except InvalidInput as error:
            names.remove(name)
            unread[name] = str(error)
    for why in unread.values():
        desk.say(why)
    store.note_unread(desk.engine, desk.domain.id, desk.period, unread)
    store.left(desk.engine, desk.domain.id, desk.period, names)
    files = _waiting(desk)
    if not files and not unread:
        raise InvalidInput(f"inbox {inbox}: no delivery ({', '.join(sorted(intake.SUFFIXES))}) for {desk.domain.id} {desk.period}")
    groups: dict[str, list[str]] = {f"file {name}": [name] for name in unread}
    for name, country in files.items():
        groups.setdefault(f"country {country}" if country else f"file {name}", []).append(name)
    return sorted((_as_one(group) for group in groups.values()), key=lambda each: each.file)


def _waiting(desk: Desk) -> dict[str, str | None]:
    """The names of the files that are in the inbox, count, or were never judged, each with its likely country."""
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    lying = store.lying(desk.engine, desk.domain.id, desk.period)
    country = {each.key.digest: each.country for each in known}
    there = {digest for _, digest in lying}
    gone = {each.file: each.country for each in known if each.state in MATTERS and each.key.digest not in there}
    return dict(sorted({**gone, **{name: country[digest] for name, digest in lying}}.items()))


def _as_one(names: Sequence[str]) -> Waiting:
    stems = [PurePath(name).stem for name in sorted(names)]
    return Waiting(sorted(names)[0], " + ".join(stems), tuple(sorted(names)))


def news(desk: Desk, inbox: Path) -> list[Waiting]:
    """As `discover`, but only files that were never judged since they arrived."""
    found = discover(desk, inbox)
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    unjudged = {each.key.digest for each in known if each.state is DeliveryState.RECEIVED}
    lying = {file for file, digest in store.lying(desk.engine, desk.domain.id, desk.period) if digest in unjudged}
    gone = {each.file for each in known if each.key.digest in unjudged}
    return [each for each in found if set(each.files) & (lying | gone)]


def ready(desk: Desk) -> str | None:
    """The id of the release of the deliveries accepted now, if it can be run and was never run; else None. Records it on the board."""
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    accepted = [each for each in known if each.state is DeliveryState.ACCEPTED]
    missing = set(desk.domain.countries) - {each.country for each in accepted}
    if any(each.state is DeliveryState.RECEIVED for each in known) or not accepted:
        return None
    if store.not_read(desk.engine, desk.domain.id, desk.period):
        return None
    if missing and desk.domain.missing_country is not MissingCountry.PARTIAL:
        return None
    release_id = release_id_of(desk, inputs_of(desk, accepted))
    if any(each["release_id"] == release_id for each in reader.runs(desk.engine, desk.domain.id)):
        return None
    said = f"{release_id} can be run: {len(accepted)} deliveries are accepted, and there is no release of exactly these yet"
    cycles.raise_alert(desk.engine, desk.domain.id, desk.period, "ready", release_id, said)
    desk.say(said)
    return release_id


@keeps_to_itself
def ingest(desk: Desk, inbox: Path, name: str) -> tuple[str, str]:
    """Judges the delivery that contains the file of this name: all files of its country that are in the inbox now, and earlier files that
    count. Reads them, checks them together, and accepts or refuses them together.

    Records the findings and the results of the checks. Returns the country and the digest of the file. Raises InvalidInput where the
    delivery is refused; the earlier delivery of the country then stays.
    """
    mine, whose = _taken(desk, inbox, name)
    files, replaced = _counting(desk, inbox, mine, whose)
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    delivery = read_files(desk, files)
    keys = [each.key for each in files]
    for each, sheet in zip(files, delivery.sheets, strict=True):
        told = delivery.told if each is files[0] else ()
        before = [other for other in known if other.superseded_by == each.key.digest]
        news = [_replacing(each, other) for other in [*before, *replaced] if other.series.name == each.series.name]
        for finding in news:
            desk.say(finding.message)
        store.save_findings(desk.engine, each.key, [*sheet.findings, *told, *news])
    if delivery.table is None:
        errors = [finding for finding in delivery.findings if finding.severity is Severity.ERROR]
        where = "" if errors[0].line is None else f"line {errors[0].line}: "
        number = f"{len(errors)} error{'s' * (len(errors) > 1)}"
        raise _refused(desk, [*files, *replaced], delivery, f", {number}; first: {errors[0].code} {where}{errors[0].message}")
    country = delivery.table.country
    results = suite.check(delivery.table, desk.domain, _previous(desk, country, files))
    for key in keys:
        store.save_checks(desk.engine, key, results if key is keys[0] else ())
    if refused := suite.refusals(results):
        raise _refused(desk, [*files, *replaced], delivery, f": {'; '.join(_told(result) for result in refused)}")
    store.accept_together(desk.engine, keys, country)
    for other in replaced:
        if other.state is DeliveryState.RECEIVED:
            by = next(each.key.digest for each in files if each.series.name == other.series.name)
            store.supersede(desk.engine, other.key, country, by)
    return country, mine


def _taken(desk: Desk, inbox: Path, name: str) -> tuple[str, str | None]:
    """(digest, country) of the file that is in the inbox under this name, or else of the last file that arrived under it and counts.

    Also receives new files of the same country.
    """
    lying_there = intake.look(inbox, desk.domain.inbox.ignore) if inbox.is_dir() else intake.Inbox((), {})
    if why := lying_there.unread.get(name):
        raise InvalidInput(why)
    if name in lying_there.files:
        mine = _take(desk, inbox, name)
    else:
        known = store.deliveries(desk.engine, desk.domain.id, desk.period)
        matter = [each for each in known if each.file == name and each.state in MATTERS]
        if not matter:
            raise InvalidInput(f"inbox {inbox}: the file {name} is gone. Remedy: put it there again, or trigger the release again")
        mine = matter[-1]
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    whose = {each.key.digest: each.country for each in known}
    others = {file for file, digest in store.lying(desk.engine, desk.domain.id, desk.period) if whose[digest] not in (None, mine.country)}
    for file in sorted(set(lying_there.files) - others - {name}):
        with suppress(InvalidInput):  # the task of that file reports it
            _take(desk, inbox, file)
    return mine.key.digest, mine.country


def _take(desk: Desk, inbox: Path, name: str) -> store.StoredDelivery:
    data = _bytes(desk, inbox / name)
    return store.take(desk.engine, desk.domain.id, desk.period, name, data, intake.sender(data, name, desk.domain))


def _counting(desk: Desk, inbox: Path, mine: str, country: str | None) -> tuple[list[store.StoredDelivery], list[store.StoredDelivery]]:
    """The files of the country that count if they are accepted (the highest version of each series), and the files that they replace.

    A file without a country is a delivery by itself.
    """
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    if country is None:
        return [each for each in known if each.key.digest == mine], []
    there = set(intake.look(inbox, desk.domain.inbox.ignore).files) if inbox.is_dir() else set()
    names: dict[str, list[str]] = {}
    for file, digest in sorted(store.lying(desk.engine, desk.domain.id, desk.period)):
        if file in there:
            names.setdefault(digest, []).append(file)
    own = [
        _under(each, names.get(each.key.digest, []))
        for each in known
        if each.country == country
        and each.state is not DeliveryState.SUPERSEDED
        and (each.state in MATTERS or each.key.digest in names or each.key.digest == mine)
    ]
    highest: dict[str, store.StoredDelivery] = {}
    for each in sorted(own, key=lambda each: each.rank):
        highest[each.series.name] = each
    files = sorted(highest.values(), key=lambda each: each.file)
    return files, [each for each in own if each not in files and each.state is not DeliveryState.REFUSED]


def _under(delivery: store.StoredDelivery, names: Sequence[str]) -> store.StoredDelivery:
    """The delivery under its name in the inbox."""
    if not names or delivery.file in names:
        return delivery
    return replace(delivery, file=names[-1], series=series_of(names[-1]))


def _replacing(each: store.StoredDelivery, other: store.StoredDelivery) -> Finding:
    message = f"{each.file} replaces {other.file} of {other.received_at:%Y-%m-%d %H:%M} UTC"
    return Finding("SDC/superseded", Severity.WARNING, message)


def _refused(desk: Desk, files: Sequence[store.StoredDelivery], delivery: intake.Delivery, why: str) -> InvalidInput:
    """The exception for a refused delivery. Marks as refused the files that did not count before, or all files where none is new."""
    fresh = [each for each in files if each.state is not DeliveryState.ACCEPTED]
    for each in fresh or files:
        store.refuse(desk.engine, each.key, delivery.country)
    return InvalidInput(f"{delivery.file} refused{why}")


def _bytes(desk: Desk, path: Path) -> bytes:
    return intake.file_bytes(path, intake.most_bytes(desk.domain))


def _told(result: CheckResult) -> str:
    return f"{result.check} fails for {result.failed} of {result.checked} ({', '.join(result.cells[:3])}): {describe(result)}"


def _previous(desk: Desk, country: str, files: Sequence[store.StoredDelivery]) -> NationalTable | None:
    """The earlier delivery of the same country and period, if it can still be read."""
    known = [each for each in store.deliveries(desk.engine, desk.domain.id, desk.period) if each.country == country]
    before = [each for each in known if each.state is DeliveryState.ACCEPTED]
    if {each.key for each in before} <= {each.key for each in files}:
        last = {each.superseded_by: each for each in known if each.state is DeliveryState.SUPERSEDED}
        before = [last.get(each.key.digest, each) for each in files]
    if not before or {each.key for each in before} == {each.key for each in files}:
        return None
    return read_files(desk, before).table


def read_files(desk: Desk, files: Sequence[store.StoredDelivery]) -> intake.Delivery:
    """The delivery that consists of these files."""
    data = [(each, store.load_artefact(desk.engine, each.key.digest)) for each in files]
    sheets = [intake.read_sheet(content, each.file, desk.domain, desk.period, each.key.digest) for each, content in data]
    return intake.together(sheets, desk.domain)
