"""The files of an inbox arrive: which must be judged, and whether a release can be made of what counts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from sdc_tasks import intake
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import InvalidInput
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import inputs_of, release_id_of, terms_of
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState
from sdc_tasks.warehouse.operations import cycles

MATTERS = (DeliveryState.ACCEPTED, DeliveryState.RECEIVED)


@dataclass(frozen=True)
class ToJudge:
    """The files of a country that must be judged: the name of the first file, the label in the UI, and all
    names.
    """

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
def discover(desk: Desk, inbox: Path) -> list[ToJudge]:
    """Receives every file of the inbox, in the order of their names, and opens the cycle. Returns the
    files that must be judged, grouped by country: the files of the inbox, also unreadable ones, and
    earlier files that count or were never judged, also if they are no longer in the inbox. The inbox may
    be any object with the methods of a path.

    Raises InvalidInput where there is no such folder, or no file of the period in the inbox or earlier.
    """
    open_cycle(desk)  # first: countries are late also where nobody has made their folder
    if not inbox.is_dir():
        raise InvalidInput(f"inbox {inbox}: no such folder")
    unread = _receive_all(desk, inbox)
    files = _unjudged_or_counting(desk)
    if not files and not unread:
        raise InvalidInput(
            f"inbox {inbox}: no delivery ({', '.join(sorted(intake.SUFFIXES))}) for {desk.domain.id} "
            f"{desk.period}"
        )
    groups: dict[str, list[str]] = {f"file {name}": [name] for name in unread}
    for name, country in files.items():
        groups.setdefault(f"country {country}" if country else f"file {name}", []).append(name)
    return sorted((_as_one(group) for group in groups.values()), key=lambda each: each.file)


def _receive_all(desk: Desk, inbox: Path) -> dict[str, str]:
    """Receives the files of the inbox. Returns those that cannot be read, name → reason."""
    found = intake.look(inbox, desk.domain.inbox.ignore)
    names, unread = list(found.files), dict(found.unread)
    for name in found.files:
        try:
            receive(desk, inbox, name)
        except InvalidInput as error:
            names.remove(name)
            unread[name] = str(error)
    for why in unread.values():
        desk.say(why)
    store.note_unread(desk.engine, desk.domain.id, desk.period, unread)
    store.left(desk.engine, desk.domain.id, desk.period, names)
    return unread


def _unjudged_or_counting(desk: Desk) -> dict[str, str | None]:
    """The names of the files that are in the inbox, count, or were never judged, each with its likely
    country.
    """
    come = store.received(desk.engine, desk.domain.id, desk.period)
    country = {each.key.digest: each.country for each in come.deliveries}
    there = {digest for _, digest in come.lying}
    gone = {
        each.file: each.country
        for each in come.deliveries
        if each.state in MATTERS and each.key.digest not in there
    }
    return dict(sorted({**gone, **{name: country[digest] for name, digest in come.lying}}.items()))


def _as_one(names: Sequence[str]) -> ToJudge:
    stems = [PurePath(name).stem for name in sorted(names)]
    return ToJudge(sorted(names)[0], " + ".join(stems), tuple(sorted(names)))


def news(desk: Desk, inbox: Path) -> list[ToJudge]:
    """As `discover`, but only files that were never judged since they arrived."""
    found = discover(desk, inbox)
    come = store.received(desk.engine, desk.domain.id, desk.period)
    unjudged = {each.key.digest for each in come.deliveries if each.state is DeliveryState.RECEIVED}
    lying = {file for file, digest in come.lying if digest in unjudged}
    gone = {each.file for each in come.deliveries if each.key.digest in unjudged}
    return [each for each in found if set(each.files) & (lying | gone)]


def ready(desk: Desk) -> tuple[str, str] | None:
    """The id of the release of the deliveries accepted now, and a sentence about it, if it can be
    run and was never run; else None.
    """
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    # A received file may be a second one that waits for an answer.
    unjudged = any(each.state is DeliveryState.RECEIVED for each in known)
    if unjudged or store.not_read(desk.engine, desk.domain.id, desk.period):
        return None
    accepted = [each for each in known if each.state is DeliveryState.ACCEPTED]
    countries = {each.country for each in accepted}
    if not countries or not desk.domain.can_release(countries):
        return None
    release_id = release_id_of(desk, inputs_of(desk, accepted))
    if release_id in {each["release_id"] for each in reader.runs(desk.engine, desk.domain.id)}:
        return None
    said = (
        f"{release_id} can be run: the deliveries of {len(countries)} countries are "
        f"accepted, and no release was made of exactly these"
    )
    desk.say(said)
    return release_id, said


def receive(desk: Desk, inbox: Path, name: str) -> store.StoredDelivery:
    """Receives the file. Raises InvalidInput where it cannot be read, or its bytes are
    already a delivery of another country.
    """
    path = inbox / name
    data = intake.file_bytes(path, intake.most_bytes(desk.domain, path.name))
    country = intake.sender(data, name, desk.domain)
    taken = store.take(desk.engine, desk.domain.id, desk.period, name, data, country)
    if taken.state in MATTERS and None not in (country, taken.country) and country != taken.country:
        raise InvalidInput(
            f"{name}: the same bytes as {taken.file}, which is the delivery of {taken.country}. Remedy: send "
            f"the figures of {country} "
            "under this name, or remove it"
        )
    return taken


def receive_with_country(desk: Desk, inbox: Path | None, name: str) -> store.StoredDelivery:
    """The file that is in the inbox under this name, or else the last file that arrived under it and counts
    or was never judged. Also receives the other files of the inbox that may be of its country.

    Raises InvalidInput where there is no such file, or it cannot be read.
    """
    found = look(desk, inbox)
    if why := found.unread.get(name):
        raise InvalidInput(why)
    if inbox is None:
        return _arrived_earlier(desk, inbox, name)
    mine = receive(desk, inbox, name) if name in found.files else _arrived_earlier(desk, inbox, name)
    come = store.received(desk.engine, desk.domain.id, desk.period)
    country = {each.key.digest: each.country for each in come.deliveries}
    others = {file for file, digest in come.lying if country[digest] not in (None, mine.country)}
    for file in sorted(set(found.files) - others - {name}):
        with suppress(InvalidInput):  # the task of that file reports it
            receive(desk, inbox, file)
    return mine


def _arrived_earlier(desk: Desk, inbox: Path | None, name: str) -> store.StoredDelivery:
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    matter = [each for each in known if each.file == name and each.state in MATTERS]
    if matter:
        return matter[-1]
    if inbox is None:
        raise InvalidInput(
            f"{name}: it was refused with other files of its country meanwhile; its findings say why"
        )
    raise InvalidInput(
        f"inbox {inbox}: the file {name} is gone. Remedy: put it there again, or trigger the release again"
    )


def look(desk: Desk, inbox: Path | None) -> intake.Inbox:
    """What is in the inbox now; nothing where there is none."""
    if inbox is None or not inbox.is_dir():
        return intake.Inbox((), {})
    return intake.look(inbox, desk.domain.inbox.ignore)
