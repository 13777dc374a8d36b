"""The steps of a release: load, call one pure function of `pipeline.py`, save. For Airflow tasks and for `sdc` alike.

A release is known by its id, made of domain, period and a keyed digest of all that decides its bytes, the accepted deliveries and the
program among it: it gets it where they are put together. What another program has begun no step goes on with. The steps pass ids and
digests, the values stay in the confidential store. A step that has left its result for that id does nothing when it is run again, so a
re-run after a failure picks up where it stopped and ends with the same bytes.
"""

from __future__ import annotations

import getpass
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TypeVar

import numpy as np
from sqlalchemy import Engine, make_url

from sdc_tasks import checks, intake, pipeline
from sdc_tasks.confidential import keeps_to_itself, leave_no_core
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain, MissingCountry
from sdc_tasks.errors import InvalidInput, ReleaseBlocked, Retriable, SdcError
from sdc_tasks.methods.attack import Requirements, earlier
from sdc_tasks.model.findings import CheckResult, Finding, Severity
from sdc_tasks.model.problem import Earlier, NationalTable, ProtectionProblem
from sdc_tasks.model.results import Adjustment, AuditReport, Publication
from sdc_tasks.model.series import series_of
from sdc_tasks.model.table import Ints
from sdc_tasks.one_thread import one_thread
from sdc_tasks.warehouse import artefacts, cycles, decisions, journal, lineage, overlap, publisher, reader, store
from sdc_tasks.warehouse.engine import acting, open_warehouse
from sdc_tasks.warehouse.keyring import Keyring
from sdc_tasks.warehouse.migrations import migrate
from sdc_tasks.warehouse.schema import DeliveryState, RunState
from sdc_tasks.warehouse.secret import VARIABLE, given_secret, salt_of, secret_of

Say = Callable[[str], None]
Item = TypeVar("Item", ProtectionProblem, Requirements, Adjustment, Publication, AuditReport)
ROLE_OF = {"SDC_PUBLISHER_URL": "sdc_publisher", "SDC_APPROVER_URL": "sdc_desk"}
MATTERS = (DeliveryState.ACCEPTED, DeliveryState.RECEIVED)


@dataclass(frozen=True)
class Desk:
    """Where a release is worked on: the warehouse, the domain, the reference period. `publishing` is the warehouse in the name of the
    account that may publish, where that is another one.
    """

    engine: Engine
    domain: Domain
    period: str
    say: Say = pipeline.quiet
    publishing: Engine | None = None


@dataclass(frozen=True)
class Waiting:
    """The files of a country that wait to be judged: the name of the first, what the operator reads in the UI, and all names."""

    file: str
    label: str
    files: tuple[str, ...]


def open_desk(warehouse: str, domain: str | Path, period: str, say: Say = pipeline.quiet, actor: str | None = None) -> Desk:
    """Opens the warehouse: its tables up to date, a secret made. Raises InvalidInput for an unknown domain or address."""
    engine = open_office(warehouse, actor)
    secret_of(engine)
    return Desk(engine, load_domain(domain).of(period), period, say, _by_account(engine, "SDC_PUBLISHER_URL", actor))


def open_office(warehouse: str, actor: str | None = None) -> Engine:
    """The warehouse with its tables up to date, the payload keys of SDC_PAYLOAD_KEYS (separated by commas, newest first), the secret of
    SDC_WAREHOUSE_SECRET, if it is to have a certain one, and the name under which the log keeps what is done: `actor`, else SDC_ACTOR,
    else the account of the operating system.
    """
    leave_no_core()
    one_thread()
    written = os.environ.get("SDC_PAYLOAD_KEYS")
    keys, secret = Keyring.of(written.split(",")) if written else None, given_secret(os.environ.get(VARIABLE))
    engine = open_warehouse(warehouse, keys, _name(actor), secret)
    migrate(engine)
    return engine


def _name(actor: str | None) -> str:
    if actor := actor or os.environ.get("SDC_ACTOR"):
        return actor
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return f"uid {os.getuid()}"


def _by_account(engine: Engine, variable: str, actor: str | None) -> Engine | None:
    """The same PostgreSQL database by the account of that variable, None where there is none. Raises InvalidInput where it is another
    database.
    """
    address = os.environ.get(variable)
    if not address or engine.dialect.name != "postgresql":
        return None
    here, there = engine.url, make_url(address)
    if (here.host, here.port or 5432, here.database) != (there.host, there.port or 5432, there.database):
        raise InvalidInput(
            f"{variable} names another database than the warehouse. Remedy: the same one, by the account of {ROLE_OF[variable]}"
        )
    return open_warehouse(address, None, _name(actor))


# --- deliveries ---------------------------------------------------------------------------------------------------------------


def open_cycle(desk: Desk) -> None:
    """Opens the cycle of the period, or brings it up to date with the domain file."""
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
    cycles.open_cycle(desk.engine, _terms(desk.domain), desk.period, desk.domain.countries, instants)


@keeps_to_itself
def discover(desk: Desk, inbox: Path) -> list[Waiting]:
    """Receives every file of the inbox, in the order of their names, and opens the cycle. Returns what is to be judged, the files of one
    country together: these, what lies there and is not read, and earlier files that count, or were never judged, though they do not lie
    there any more. The inbox may be anything with the methods of a path.

    Raises InvalidInput where there is no such folder, or nothing of the period lies there or counts.
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
    """The names of the files that lie in the inbox, count, or were never judged, and whose they seem to be."""
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
    """As `discover`, but only what was never judged since it came."""
    found = discover(desk, inbox)
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    unjudged = {each.key.digest for each in known if each.state is DeliveryState.RECEIVED}
    lying = {file for file, digest in store.lying(desk.engine, desk.domain.id, desk.period) if digest in unjudged}
    gone = {each.file for each in known if each.key.digest in unjudged}
    return [each for each in found if set(each.files) & (lying | gone)]


def ready(desk: Desk) -> str | None:
    """The id that a release of what is accepted now would get, where nothing hinders it and it was never run; marks it on the board."""
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    accepted = [each for each in known if each.state is DeliveryState.ACCEPTED]
    missing = set(desk.domain.countries) - {each.country for each in accepted}
    if any(each.state is DeliveryState.RECEIVED for each in known) or not accepted:
        return None
    if store.not_read(desk.engine, desk.domain.id, desk.period):
        return None
    if missing and desk.domain.missing_country is not MissingCountry.PARTIAL:
        return None
    release_id = _id(desk, _inputs(desk, accepted))
    if any(each["release_id"] == release_id for each in reader.runs(desk.engine, desk.domain.id)):
        return None
    said = f"{release_id} can be run: {len(accepted)} deliveries are accepted, and no release was made of exactly these"
    cycles.raise_alert(desk.engine, desk.domain.id, desk.period, "ready", release_id, said)
    desk.say(said)
    return release_id


@keeps_to_itself
def ingest(desk: Desk, inbox: Path, name: str) -> tuple[str, str]:
    """Judges the delivery that the file of this name is part of: all files of its country that lie in the inbox now, and those that came
    before and count. Reads them, checks them together, and accepts them together.

    Records the findings and the results of the checks. Returns the country and the digest of the file. Raises InvalidInput where the
    delivery is refused; what the country delivered before stays as it is.
    """
    mine, whose = _taken(desk, inbox, name)
    files, replaced = _counting(desk, inbox, mine, whose)
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    delivery = _read(desk, files)
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
    results = checks.check(delivery.table, desk.domain, _previous(desk, country, files))
    for key in keys:
        store.save_checks(desk.engine, key, results if key is keys[0] else ())
    if refused := checks.refusals(results):
        raise _refused(desk, [*files, *replaced], delivery, f": {'; '.join(_told(result) for result in refused)}")
    store.accept_together(desk.engine, keys, country)
    for other in replaced:
        if other.state is DeliveryState.RECEIVED:
            by = next(each.key.digest for each in files if each.series.name == other.series.name)
            store.supersede(desk.engine, other.key, country, by)
    return country, mine


def _taken(desk: Desk, inbox: Path, name: str) -> tuple[str, str | None]:
    """The digest of what lies in the inbox under this name now, or of what came under it last and matters; and whose it seems to be.

    Takes in what is new there of the same country, too.
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
            raise InvalidInput(f"inbox {inbox}: no file {name} any more. Remedy: put it there again, or trigger the release again")
        mine = matter[-1]
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    whose = {each.key.digest: each.country for each in known}
    others = {file for file, digest in store.lying(desk.engine, desk.domain.id, desk.period) if whose[digest] not in (None, mine.country)}
    for file in sorted(set(lying_there.files) - others - {name}):
        with suppress(InvalidInput):  # its own task tells
            _take(desk, inbox, file)
    return mine.key.digest, mine.country


def _take(desk: Desk, inbox: Path, name: str) -> store.Delivery:
    data = _bytes(desk, inbox / name)
    return store.take(desk.engine, desk.domain.id, desk.period, name, data, intake.sender(data, desk.domain))


def _counting(desk: Desk, inbox: Path, mine: str, country: str | None) -> tuple[list[store.Delivery], list[store.Delivery]]:
    """The files of the country that count, if they are accepted, and those that they replace: of each series the highest. A file of
    nobody stands alone.
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
    highest: dict[str, store.Delivery] = {}
    for each in sorted(own, key=lambda each: each.rank):
        highest[each.series.name] = each
    files = sorted(highest.values(), key=lambda each: each.file)
    return files, [each for each in own if each not in files and each.state is not DeliveryState.REFUSED]


def _under(delivery: store.Delivery, names: Sequence[str]) -> store.Delivery:
    """The delivery by the name under which it lies in the inbox."""
    if not names or delivery.file in names:
        return delivery
    return replace(delivery, file=names[-1], series=series_of(names[-1]))


def _replacing(each: store.Delivery, other: store.Delivery) -> Finding:
    message = f"{each.file} replaces {other.file} of {other.received_at:%Y-%m-%d %H:%M} UTC"
    return Finding("SDC/superseded", Severity.WARNING, message)


def _refused(desk: Desk, files: Sequence[store.Delivery], delivery: intake.Delivery, why: str) -> InvalidInput:
    """Marks as refused what did not count before, or everything where nothing is new."""
    fresh = [each for each in files if each.state is not DeliveryState.ACCEPTED]
    for each in fresh or files:
        store.refuse(desk.engine, each.key, delivery.country)
    return InvalidInput(f"{delivery.file} refused{why}")


def _bytes(desk: Desk, path: Path) -> bytes:
    return intake.file_bytes(path, intake.most_bytes(desk.domain))


def _told(result: CheckResult) -> str:
    return f"{result.check} fails for {result.failed} of {result.checked} ({', '.join(result.cells[:3])}): {checks.describe(result)}"


def _previous(desk: Desk, country: str, files: Sequence[store.Delivery]) -> NationalTable | None:
    """The delivery of the same country and period that this one would replace, if it still can be read."""
    known = [each for each in store.deliveries(desk.engine, desk.domain.id, desk.period) if each.country == country]
    before = [each for each in known if each.state is DeliveryState.ACCEPTED]
    if {each.key for each in before} <= {each.key for each in files}:
        last = {each.superseded_by: each for each in known if each.state is DeliveryState.SUPERSEDED}
        before = [last.get(each.key.digest, each) for each in files]
    if not before or {each.key for each in before} == {each.key for each in files}:
        return None
    return _read(desk, before).table


def _read(desk: Desk, files: Sequence[store.Delivery]) -> intake.Delivery:
    """The delivery that these files are."""
    data = [(each, store.load_artefact(desk.engine, each.key.digest)) for each in files]
    sheets = [intake.read_sheet(content, each.file, desk.domain, desk.period, each.key.digest) for each, content in data]
    return intake.together(sheets, desk.domain)


def _key(desk: Desk, digest: str) -> store.DeliveryKey:
    return store.DeliveryKey(desk.domain.id, desk.period, digest)


# --- protection ---------------------------------------------------------------------------------------------------------------


@keeps_to_itself
def assemble(desk: Desk) -> str:
    """All accepted deliveries as one protection problem: that of a release, which is opened here. Returns its id.

    Raises Retriable while a delivery is received and not judged, InvalidInput where the domain does not publish what is there.
    """
    if unread := store.not_read(desk.engine, desk.domain.id, desk.period):
        raise InvalidInput(f"no release while something in the inbox is not read, which may be a delivery: {'; '.join(unread.values())}")
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    if unjudged := [each.file for each in known if each.state is DeliveryState.RECEIVED]:
        raise Retriable(f"{', '.join(unjudged)}: received but not judged. Remedy: run ingest and check of these files again")
    accepted = [each for each in known if each.state is DeliveryState.ACCEPTED]
    release_id = _open_release(desk, accepted)

    def build() -> ProtectionProblem:
        by_country: dict[str, list[store.Delivery]] = {}
        for each in sorted(accepted, key=lambda each: (str(each.country), each.file)):
            by_country.setdefault(str(each.country), []).append(each)
        tables = [_read(desk, files).table for files in by_country.values()]
        salt = salt_of(desk.engine, desk.domain.id, desk.period)
        problem = pipeline.build_problem([table for table in tables if table is not None], desk.domain, salt)
        told = _told_before(desk, release_id)
        problem = pipeline.still_promised(problem, [then for then, _ in told])
        return replace(problem, earlier=_earlier(desk, problem, told))

    try:
        _once(desk, release_id, "assemble", "", build)
    except SdcError as error:
        journal.finish_run(desk.engine, release_id, RunState.WAITING if isinstance(error, Retriable) else RunState.FAILED)
        raise
    return release_id


def _open_release(desk: Desk, accepted: Sequence[store.Delivery]) -> str:
    if others := overlap.refused(desk.engine, _terms(desk.domain), desk.period):
        raise InvalidInput(f"{desk.domain.id} {desk.period}: {others}")
    inputs = _inputs(desk, accepted)
    release_id = _id(desk, inputs)
    journal.start_run(desk.engine, release_id, desk.domain.id, desk.period)
    journal.set_inputs(desk.engine, release_id, inputs)
    journal.submit(desk.engine, release_id, _terms(desk.domain), embargo=_embargo(desk), environment=lineage.environment())
    return release_id


def _terms(domain: Domain) -> journal.Terms:
    asked = domain.governance
    return journal.Terms(
        domain.id, domain.digest, domain.audit.profiles, asked.approvals, asked.retention_days, json.dumps(domain.settings, sort_keys=True)
    )


def _embargo(desk: Desk) -> datetime | None:
    cycle = desk.domain.calendar.of(desk.period)
    return cycle.embargo if cycle else None


def _inputs(desk: Desk, accepted: Sequence[store.Delivery]) -> str:
    """Keyed digest of all that decides the bytes: also what was published before, but for this very release."""
    deliveries = [each.key.digest if each.times == 1 else f"{each.key.digest} {each.times}" for each in accepted]
    told = _versions(desk)
    again = _inputs_digest(desk, deliveries, told[:-1])
    return again if told and told[-1] == _id(desk, again) else _inputs_digest(desk, deliveries, told)


def _inputs_digest(desk: Desk, deliveries: Sequence[str], told: Sequence[str]) -> str:
    embargo = _embargo(desk)
    until = None if embargo is None else embargo.astimezone(UTC).isoformat()
    parts = [desk.domain.digest, desk.period, lineage.environment(), until, sorted(deliveries), list(told)]
    return secret_of(desk.engine).derive("inputs of a release").digest(json.dumps(parts).encode())


def _id(desk: Desk, inputs: str) -> str:
    return f"{desk.domain.id}-{desk.period}-{inputs[:12]}"


def _versions(desk: Desk) -> list[str]:
    """The releases of the period by version."""
    mine = [each for each in reader.releases(desk.engine, desk.domain.id) if each.period == desk.period]
    return [each.release_id for each in sorted(mine, key=lambda each: each.version)]


def _told_before(desk: Desk, release_id: str) -> list[tuple[ProtectionProblem, Publication]]:
    """The other releases of the period. Raises InvalidInput where one cannot be read any more."""
    others = [each for each in _versions(desk) if each != release_id]
    try:
        return [(_load(desk, each, "assemble", ProtectionProblem), _load(desk, each, "bases", Publication)) for each in others]
    except store.CorruptedError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: what version {len(others)} or one before it was made of cannot be read ({error}), so nobody "
            "can say what a further version would tell beside it. Remedy: restore it from a backup; governance.retention_days with "
            "vintage among audit.profiles keeps it from now on"
        ) from error


def _earlier(desk: Desk, problem: ProtectionProblem, told: Sequence[tuple[ProtectionProblem, Publication]]) -> Earlier:
    """What the other releases of the period have told. Raises InvalidInput where that cannot be related to the cells of now."""
    try:
        return earlier(problem, told, desk.domain.audit.revised_by)
    except ValueError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: {error}, and nobody can say what the new table would tell beside it. "
            "Remedy: publish the period with the dimensions that it was published with first"
        ) from error


@keeps_to_itself
def baseline(desk: Desk, release_id: str) -> str:
    """What the national tables alone protect; names the countries whose own tables leave primaries unprotected."""
    problem = _load(desk, release_id, "assemble", ProtectionProblem)

    def attack() -> Requirements:
        requirements, lps = pipeline.baseline(problem, desk.domain)
        own, before = pipeline.unprotected(problem, requirements)
        out = f"; by these and what is out already: {_by_country(problem, before)}" if problem.earlier.profiles else ""
        desk.say(
            f"baseline: {len(requirements.cells)} primaries, {lps} LPs; not protected by their own tables: {_by_country(problem, own)}{out}"
        )
        return requirements

    return _once(desk, release_id, "baseline", "", attack)


def _by_country(problem: ProtectionProblem, cells: Ints) -> str:
    """How many of the cells each country has."""
    found = zip(*np.unique(cells // problem.space.national_size, return_counts=True), strict=True)
    return ", ".join(f"{problem.space.countries[country]} {number}" for country, number in found) or "none"


@keeps_to_itself
def adjust(desk: Desk, release_id: str, rung: int) -> bool:
    """One rung of the CTA ladder. Returns whether a further one is needed."""
    problem = _load(desk, release_id, "assemble", ProtectionProblem)
    requirements = _load(desk, release_id, "baseline", Requirements)
    before = adjustment_of(desk, release_id, upto=rung)
    name = f"{rung}-{desk.domain.cta.ladder[rung].method}"
    if not before.accepted:
        _once(desk, release_id, "adjust", name, lambda: pipeline.climb(problem, requirements, desk.domain, rung, before))
        after = _load(desk, release_id, "adjust", Adjustment, name)
        journal.save_rungs(desk.engine, release_id, after.rungs)
        desk.say(f"{after.rungs[-1].method}: {after.rungs[-1].outcome}, {after.rungs[-1].reason}")
        return not after.accepted
    return False


def climbed(desk: Desk, release_id: str, upto: int | None = None) -> tuple[bool, str]:
    """Whether the rungs before number `upto`, or all of them, left a table good enough to stop, and which table that is."""
    found = adjustment_of(desk, release_id, upto)
    chosen = next((rung for rung in reversed(found.rungs) if rung.chosen), None)
    if chosen is None:
        return found.accepted, "no rung left a table: bases are driven by the audit alone"
    return found.accepted, f"{chosen.method} was {'good enough' if found.accepted else 'the best'}: {chosen.outcome}, {chosen.reason}"


def adjustment_of(desk: Desk, release_id: str, upto: int | None = None) -> Adjustment:
    """What the rungs climbed so far have returned."""
    ladder = desk.domain.cta.ladder[: len(desk.domain.cta.ladder) if upto is None else upto]
    climbed = journal.step_outputs(desk.engine, release_id, "adjust")
    names = [name for i, rung in enumerate(ladder) if (name := f"{i}-{rung.method}") in climbed]
    return _load(desk, release_id, "adjust", Adjustment, names[-1]) if names else Adjustment()


@keeps_to_itself
def choose_bases(desk: Desk, release_id: str) -> str:
    """Exact, rounded or withheld for every aggregate cell."""
    problem = _load(desk, release_id, "assemble", ProtectionProblem)
    requirements = _load(desk, release_id, "baseline", Requirements)
    adjustment = adjustment_of(desk, release_id)

    notes: list[str] = []

    def note(message: str) -> None:
        notes.append(message)
        desk.say(message)

    def keep(name: str, item: Publication | Adjustment) -> None:
        _once(desk, release_id, "bases", name, lambda: item)

    def decide() -> Publication:
        found = pipeline.choose_bases(problem, requirements, adjustment, desk.domain, desk.say, keep, note)
        visible = f"{int(found.visible.sum())} as sum of the visible countries, " if found.visible.any() else ""
        desk.say(f"{int(found.exact.sum())} cells exact, {int(found.rounded.sum())} rounded, {visible}{int(found.withheld.sum())} withheld")
        return found

    beside = journal.step_outputs(desk.engine, release_id, "bases").values()  # what `keep` kept, which only `decide` makes
    return _once(desk, release_id, "bases", "", decide, notes, beside)


def compared(desk: Desk, release_id: str) -> tuple[Mapping[str, Publication], Adjustment]:
    """What the bases are compared with: the publications by other rules, and a rung for each rule."""
    known = journal.step_outputs(desk.engine, release_id, "bases")
    rules = _load(desk, release_id, "bases", Adjustment, "rules") if "rules" in known else Adjustment()
    names = [rung.method for rung in rules.rungs if rung.method in known]
    return {name: _load(desk, release_id, "bases", Publication, name) for name in names}, rules


@keeps_to_itself
def audit_chunk(desk: Desk, release_id: str, chunk: int) -> str:
    """Attacks the publication for one chunk of the primaries."""
    problem = _load(desk, release_id, "assemble", ProtectionProblem)
    requirements = _load(desk, release_id, "baseline", Requirements)
    publication = _load(desk, release_id, "bases", Publication)
    adjustment = adjustment_of(desk, release_id)
    return _once(
        desk, release_id, "audit", str(chunk),
        lambda: pipeline.audit(problem, publication, requirements, desk.domain, chunk, adjustment),
    )  # fmt: skip


@keeps_to_itself
def verdict(desk: Desk, release_id: str) -> tuple[str, bool]:
    """Joins the chunks and stores the certificate. Returns its digest and whether the audit passed."""
    began = time.monotonic()
    require_own(desk, release_id)
    problem, publication, merged = decided(desk, release_id)
    certificate = pipeline.certificate(problem, publication, merged, desk.domain, desk.period)
    digest = journal.save_audit(desk.engine, release_id, merged, certificate, publisher.printed(publication, problem.space))
    journal.record_step(desk.engine, release_id, "verdict", seconds=time.monotonic() - began)
    state = "passed" if merged.passed else "FAILED"
    desk.say(f"audit {state}: {int(merged.protected.sum())} of {len(merged.primaries)} primaries protected, {merged.lps} LPs")
    return digest, merged.passed


def awaiting(desk: Desk, release_id: str) -> tuple[str, list[str]]:
    """The digest of the publication that somebody must agree to, and who has agreed to it on its passed audit."""
    publication = _load(desk, release_id, "bases", Publication).digest
    return publication, decisions.approvers(desk.engine, release_id, publication)


def wait(desk: Desk, release_id: str) -> None:
    """Somebody is asked: the run waits for the answer."""
    journal.finish_run(desk.engine, release_id, RunState.WAITING)


def answer(desk: Desk, release_id: str, publication: str, agreed: bool, person: str, note: str = "") -> None:
    """Records what somebody answered about this publication, in his name, by the account of SDC_APPROVER_URL where there is one.

    A rejection blocks the run. Raises OwnSubmission where the submitter himself answers.
    """
    engine = _by_account(desk.engine, "SDC_APPROVER_URL", person) or acting(desk.engine, person)
    if agreed:
        decisions.approve(engine, release_id, publication, note)
        desk.say(f"{person} agrees to publication {publication[:12]}")
        return
    decisions.reject(engine, release_id, publication, note)
    journal.record_step(desk.engine, release_id, "approval", person, seconds=0.0, note=f"rejected: {note}" if note else "rejected")
    journal.finish_run(desk.engine, release_id, RunState.BLOCKED)
    desk.say(f"{person} rejects publication {publication[:12]}")


@keeps_to_itself
def publish(desk: Desk, release_id: str) -> int:
    """Publishes to the warehouse, in one transaction, once. Returns the version.

    Raises ReleaseBlocked if the audit did not pass, NotApproved while somebody must still agree.
    """
    began = time.monotonic()
    require_own(desk, release_id)
    problem, publication, merged = decided(desk, release_id)
    try:
        requirements = _load(desk, release_id, "baseline", Requirements)
        history = _history(desk, release_id, problem)
        profiles = pipeline.profiles_of(problem, desk.domain)
        approved = pipeline.release(release_id, problem, requirements, publication, merged, profiles)
        done = publisher.publish(
            desk.publishing or desk.engine, approved, space=problem.space, terms=_terms(desk.domain), period=desk.period, after=history
        )
    except publisher.NotApproved:
        journal.finish_run(desk.engine, release_id, RunState.WAITING)
        raise
    except ReleaseBlocked:
        journal.finish_run(desk.engine, release_id, RunState.BLOCKED)
        raise
    journal.record_step(desk.engine, release_id, "publish", seconds=time.monotonic() - began)
    journal.finish_run(desk.engine, release_id, RunState.PUBLISHED)
    desk.say(f"version {done.version} {'published' if done.created else 'stands already'}")
    return done.version


def _history(desk: Desk, release_id: str, problem: ProtectionProblem) -> list[str]:
    """The releases that are out; the publisher asks once more within its transaction.

    Raises ReleaseBlocked where one tells what the audit did not know.
    """
    if release_id in (out := _versions(desk)):
        return out
    now = _earlier(desk, problem, _told_before(desk, release_id)).arrays
    if not all(np.array_equal(known, now[name]) for name, known in problem.earlier.arrays.items()):
        raise ReleaseBlocked(f"{release_id}: another version was published since it was assembled. {publisher.ANEW}")
    return out


def decided(desk: Desk, release_id: str) -> tuple[ProtectionProblem, Publication, AuditReport]:
    """The problem, the decision and its whole audit. Raises InvalidInput while a step is missing."""
    chunks = [_load(desk, release_id, "audit", AuditReport, str(c)) for c in range(desk.domain.audit.chunks)]
    problem = _load(desk, release_id, "assemble", ProtectionProblem)
    return problem, _load(desk, release_id, "bases", Publication), pipeline.merge(chunks)


# --- artefacts ----------------------------------------------------------------------------------------------------------------


def _once(
    desk: Desk,
    release_id: str,
    step: str,
    key: str,
    compute: Callable[[], artefacts.Artefact],
    notes: Sequence[str] = (),
    beside: Iterable[str] = (),
) -> str:
    """The digest of what the step left for this release; computes it unless a sound result is there, and what it left `beside` is sound.
    Keeps the notes.
    """
    require_own(desk, release_id)
    known = journal.step_output(desk.engine, release_id, step, key)
    if known is not None and all(_is_sound(desk, each) for each in (known, *beside)):
        return known
    began = time.monotonic()
    digest = store.save_artefact(desk.engine, step, artefacts.to_bytes(compute()))
    note = "; ".join(notes)
    journal.record_step(desk.engine, release_id, step, key, seconds=time.monotonic() - began, note=note, artefact_digest=digest)
    return digest


def require_own(desk: Desk, release_id: str) -> None:
    """Raises InvalidInput where another program than this one began the release: what that one left, and found safe, is not this one's."""
    begun = journal.environment_of(desk.engine, release_id)
    if begun != lineage.environment():
        raise InvalidInput(
            f"{release_id}: another program began this release, or with other versions of its packages, so that what it left does not "
            "count. Remedy: trigger the release again; it gets an id of its own"
        )


def _is_sound(desk: Desk, digest: str) -> bool:
    try:
        store.load_artefact(desk.engine, digest)
    except store.CorruptedError:
        return False
    return True


def _load(desk: Desk, release_id: str, step: str, kind: type[Item], key: str = "") -> Item:
    """What a step left. Raises InvalidInput where it has not run yet."""
    digest = journal.step_output(desk.engine, release_id, step, key)
    if digest is None:
        raise InvalidInput(f"{release_id}: step {step} {key} has left nothing yet. Remedy: run it first")
    item = artefacts.from_bytes(store.load_artefact(desk.engine, digest))
    if not isinstance(item, kind):
        raise TypeError(f"{release_id}: step {step} left a {type(item).__name__}")
    return item
