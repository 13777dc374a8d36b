"""From files in an inbox to accepted deliveries: which files belong together, which
replace others, and which are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import ParamSpec, TypeVar

from sdc_tasks import intake
from sdc_tasks.checks import suite
from sdc_tasks.checks.registry import describe
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.domains.schema import MissingCountry
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import CheckResult, Finding, Severity
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.series import Answer, series_of
from sdc_tasks.steps.comparison import last_period, read_files
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import inputs_of, release_id_of, terms_of
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState
from sdc_tasks.warehouse.operations import answers, cycles

ASK = "Remedy: say what it is, by the DAG `second_file` or `sdc files keep|replace|both`"
P = ParamSpec("P")
R = TypeVar("R")
JUDGED_AGAIN = 8  # so often are files judged whose country changes meanwhile
MATTERS = (DeliveryState.ACCEPTED, DeliveryState.RECEIVED)


@dataclass(frozen=True)
class Waiting:
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
def discover(desk: Desk, inbox: Path) -> list[Waiting]:
    """Receives every file of the inbox, in the order of their names, and opens the cycle. Returns the
    files that must be judged, grouped by country: the files of the inbox, also unreadable ones, and
    earlier files that count or were never judged, also if they are no longer in the inbox. The inbox may
    be any object with the methods of a path.

    Raises InvalidInput where there is no such folder, or no file of the period in the inbox or earlier.
    """
    open_cycle(desk)  # first: countries are late also where nobody has made their folder
    if not inbox.is_dir():
        raise InvalidInput(f"inbox {inbox}: no such folder")
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
        raise InvalidInput(
            f"inbox {inbox}: no delivery ({', '.join(sorted(intake.SUFFIXES))}) for {desk.domain.id} "
            f"{desk.period}"
        )
    groups: dict[str, list[str]] = {f"file {name}": [name] for name in unread}
    for name, country in files.items():
        groups.setdefault(f"country {country}" if country else f"file {name}", []).append(name)
    return sorted((_as_one(group) for group in groups.values()), key=lambda each: each.file)


def _waiting(desk: Desk) -> dict[str, str | None]:
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


def _as_one(names: Sequence[str]) -> Waiting:
    stems = [PurePath(name).stem for name in sorted(names)]
    return Waiting(sorted(names)[0], " + ".join(stems), tuple(sorted(names)))


def news(desk: Desk, inbox: Path) -> list[Waiting]:
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
    accepted = [each for each in known if each.state is DeliveryState.ACCEPTED]
    missing = set(desk.domain.countries) - {each.country for each in accepted}
    if (
        any(each.state is DeliveryState.RECEIVED for each in known) or not accepted
    ):  # also a second file that waits for an answer
        return None
    if store.not_read(desk.engine, desk.domain.id, desk.period):
        return None
    if missing and desk.domain.missing_country is not MissingCountry.PARTIAL:
        return None
    release_id = release_id_of(desk, inputs_of(desk, accepted))
    if any(each["release_id"] == release_id for each in reader.runs(desk.engine, desk.domain.id)):
        return None
    countries = {each.country for each in accepted}
    said = (
        f"{release_id} can be run: the deliveries of {len(countries)} countries are "
        f"accepted, and no release was made of exactly these"
    )
    desk.say(said)
    return release_id, said


@keeps_to_itself
def ingest(desk: Desk, inbox: Path | None, name: str) -> tuple[str, str]:
    """Judges the delivery that contains the file of this name: all files of its country that are in the inbox
    now, and earlier files that count. Reads them, checks them together, and accepts or refuses them together.

    Records the findings and the results of the checks. Returns the country and the digest of the file. Raises
    InvalidInput where the delivery is refused; the earlier delivery of the country then stays. Raises it also
    where a second file of the country waits for an answer (`answers.py`).
    """
    country, digest, said = _until_unchanged(_judge, desk, inbox, name)
    if said:
        raise InvalidInput("; ".join(said))
    return country, digest


def _until_unchanged(step: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """What the step returns, done again where files changed while it ran. Raises Changed
    where they never stay as they are.
    """
    for _ in range(JUDGED_AGAIN - 1):
        with suppress(store.Changed):
            return step(*arguments, **named)
    return step(*arguments, **named)


def _judge(desk: Desk, inbox: Path | None, name: str) -> tuple[str, str, list[str]]:
    """As `ingest`. Returns also what is to do about the second files of the country that wait or are refused.
    Raises Changed where files of the country came meanwhile, or somebody answered about them.
    """
    mine, whose = _taken(desk, inbox, name)
    come = store.received(desk.engine, desk.domain.id, desk.period)
    known = come.deliveries
    given = answers.answers(desk.engine, desk.domain.id, desk.period)
    files, replaced, others = _counting(desk, inbox, come, mine, whose, given)
    instead = [each for each in files if given.get(each.key.digest) is Answer.REPLACE]
    delivery = read_files(desk, files)
    keys = [each.key for each in files]
    fresh = [
        each for each in files if each.state is not DeliveryState.ACCEPTED
    ] or files  # a refusal is theirs: what counted, counts
    chief = fresh[0] if delivery.table is None else files[0]
    for each, sheet in zip(files, delivery.sheets, strict=True):
        told = delivery.told if each is chief else ()
        before = [other for other in known if other.superseded_by == each.key.digest]
        news = [
            _replacing(each, other)
            for other in [*before, *replaced]
            if other.series.name == each.series.name or each in instead[:1]
        ]
        for finding in news:
            desk.say(finding.message)
        store.save_findings(desk.engine, each.key, [*sheet.findings, *told, *news])
    if delivery.table is None:
        errors = [finding for finding in delivery.findings if finding.severity is Severity.ERROR]
        where = "" if errors[0].line is None else f"line {errors[0].line}: "
        number = f"{len(errors)} error{'s' * (len(errors) > 1)}"
        raise _refused(
            desk,
            [*files, *replaced],
            delivery,
            f", {number}; first: {errors[0].code} {where}{errors[0].message}",
        )
    country = delivery.table.country
    if whose is None and any(
        each.country == country and each.state is DeliveryState.ACCEPTED
        for each in known
        if each.key not in keys
    ):
        message = (
            f"{name} does not say its country by its name, and {country} has files that "
            f"count: rename it, such as AT_2024.csv"
        )
        store.save_findings(
            desk.engine, keys[0], [*delivery.findings, Finding("SDC/file-name", Severity.ERROR, message)]
        )
        raise _refused(desk, files, delivery, f": {message}")
    results = suite.check(
        delivery.table, desk.domain, _previous(desk, country, files), last_period(desk, country)
    )
    refused = suite.refusals(results)
    judged = [each.key for each in fresh] if refused else keys
    for key in judged:
        store.save_checks(desk.engine, key, results if key is judged[0] else ())
    if refused:
        raise _refused(
            desk, [*files, *replaced], delivery, f": {'; '.join(_told(result) for result in refused)}"
        )
    by = {each.series.name: each.key.digest for each in files}
    decided = {
        other.key: instead[0].key.digest
        for other in replaced
        if other.state is DeliveryState.ACCEPTED and other.series.name not in by
    }
    store.accept_together(desk.engine, keys, country, decided, seen=known if whose == country else None)
    for other in replaced:
        if other.state is DeliveryState.RECEIVED:
            store.supersede(desk.engine, other.key, country, by[other.series.name])
    return country, mine, _to_answer(desk, _overwritten(desk, come, others), given, files)


def _overwritten(
    desk: Desk, come: store.Received, others: Sequence[store.StoredDelivery]
) -> list[store.StoredDelivery]:
    """The second files without those whose bytes others replaced under the same name before
    anybody answered; they are superseded.
    """
    there = {digest for _, digest in come.lying}
    newest = {each.series.name: each for each in sorted(others, key=lambda each: each.rank)}
    old = [each for each in others if each.key.digest not in there and each != newest[each.series.name]]
    for each in old:
        if each.state is DeliveryState.RECEIVED:
            store.supersede(desk.engine, each.key, str(each.country), newest[each.series.name].key.digest)
    return [each for each in others if each not in old]


def _to_answer(
    desk: Desk,
    others: Sequence[store.StoredDelivery],
    given: Mapping[str, Answer],
    files: Sequence[store.StoredDelivery],
) -> list[str]:
    """What is to do about each second file that waits for an answer, or is refused and still in the inbox. A
    file that cannot be read is refused at once: nobody is asked about it.
    """
    said = []
    for each in others:
        if given.get(each.key.digest) is Answer.KEEP:
            _keep(desk, each)
            continue
        if each.state is DeliveryState.REFUSED:
            otherwise = ", answer otherwise" if each.key.digest in given else ""
            said.append(
                f"{each.file} is refused, its findings say why; take it away{otherwise}, or send it corrected"
            )
            continue
        alone = read_files(desk, [each])
        if any(sheet.refused for sheet in alone.sheets):
            store.save_findings(desk.engine, each.key, alone.sheets[0].findings)
            store.refuse(desk.engine, each.key, each.country)
            said.append(f"{each.file} refused; first: {next(iter(alone.sheets[0].findings)).message}")
            continue
        message = (
            f"{each.file} waits: {each.country} has "
            f"{' and '.join(sorted(one.file for one in files))} already. {ASK}"
        )
        store.save_findings(
            desk.engine,
            each.key,
            [*alone.sheets[0].findings, Finding("SDC/second", Severity.WARNING, message)],
        )
        said.append(message)
    return said


def _keep(desk: Desk, each: store.StoredDelivery) -> None:
    message = f"somebody decided that the files before {each.file} count, and not this one; the log says who"
    store.save_findings(desk.engine, each.key, [Finding("SDC/second", Severity.WARNING, message)])
    store.save_checks(desk.engine, each.key, ())
    store.refuse(desk.engine, each.key, each.country)


def second(desk: Desk) -> list[store.StoredDelivery]:
    """The second files of countries that wait for an answer."""
    known = store.deliveries(desk.engine, desk.domain.id, desk.period)
    return answers.waiting(known, answers.answers(desk.engine, desk.domain.id, desk.period))


@keeps_to_itself
def settle(
    desk: Desk,
    names: Sequence[str],
    given: Answer,
    note: str = "",
    run: str = "",
    shown: Mapping[str, str] | None = None,
) -> None:
    """Records the answer about second files of countries, and judges what counts then. Files that wait need
    not be in the inbox any more. About a file that is still there, somebody may answer otherwise later: the
    newest answer counts. `run`: the run of Airflow that does it. `shown`: the files that somebody saw before
    he answered, digest → answer, empty where there was none; None where nobody knows.

    Raises InvalidInput where nobody is asked about a file, the answer was given already and holds,
    another one was given since those that were shown, what counted before the answer cannot count any
    more, or a delivery is refused.
    """
    mine = _until_unchanged(_answered, desk, names, given, note, run, shown)
    for country in sorted({str(each.country) for each in mine}):
        own = [each for each in mine if each.country == country]
        if given is Answer.KEEP:
            for each in own:
                _keep(desk, each)
        else:
            for message in _until_unchanged(_judge, desk, None, own[0].file)[2]:
                desk.say(message)
        desk.say(f"{', '.join(each.file for each in own)}: {given}")


def _answered(
    desk: Desk, names: Sequence[str], given: Answer, note: str, run: str, shown: Mapping[str, str] | None
) -> list[store.StoredDelivery]:
    """Records the answer, as `settle`. Returns the files."""
    come = store.received(desk.engine, desk.domain.id, desk.period)
    known, there = come.deliveries, {digest for _, digest in come.lying}
    before = answers.answers(desk.engine, desk.domain.id, desk.period)
    answered = [each for each in answers.answered(known, before) if each.key.digest in there]
    waiting = {each.file: each for each in answers.waiting(known, before)}
    asked = {each.file: each for each in answered} | waiting
    if shown is not None and (
        other := [name for name in names if name in asked and asked[name].key.digest not in shown]
    ):
        raise InvalidInput(
            f"{', '.join(other)}: another file came under this name meanwhile. {answers.REMEDY}"
        )
    if unknown := [name for name in names if name not in asked]:
        waits = f"these wait: {', '.join(sorted(waiting))}" if waiting else "none waits"
        raise InvalidInput(
            f"{', '.join(unknown)}: waits for no answer in {desk.domain.id} {desk.period}; {waits}"
        )
    mine = [asked[name] for name in dict.fromkeys(names)]
    for each in mine:
        if before.get(each.key.digest) is given and (
            given is Answer.KEEP or each.state is DeliveryState.ACCEPTED
        ):
            raise InvalidInput(f"{each.file}: the answer was {given} already, and it holds")
    seen = before if shown is None else {digest: answer for digest, answer in shown.items() if answer}
    back = _back(desk, known, before, mine)
    keys = [each.key for each in mine]
    answers.answer(
        desk.engine, keys, given, note, known=known, seen=seen, back=[each.key for each in back], run=run
    )
    return mine


def _back(
    desk: Desk,
    known: Sequence[store.StoredDelivery],
    given: Mapping[str, Answer],
    mine: Sequence[store.StoredDelivery],
) -> list[store.StoredDelivery]:
    """The files that count again when answers about accepted files are taken back: those that these files
    replaced.

    Raises InvalidInput where other files replaced them too, or where what counted before is no
    delivery of the country by itself.
    """
    back: list[store.StoredDelivery] = []
    undone = [each for each in mine if each.state is DeliveryState.ACCEPTED]
    for country in sorted({str(each.country) for each in undone}):
        accepted = [
            each for each in known if each.country == country and each.state is DeliveryState.ACCEPTED
        ]
        stay = [each for each in accepted if each not in undone]
        replacing = [each for each in accepted if given.get(each.key.digest) is Answer.REPLACE]
        if (forgotten := [each.file for each in replacing if each in stay]) and len(forgotten) < len(
            replacing
        ):
            raise InvalidInput(
                f"{', '.join(forgotten)} came with them instead of other files. Remedy: answer about all of "
                f"them together"
            )
        by = {each.key.digest: each.series.name for each in undone}
        again: dict[str, store.StoredDelivery] = {}
        for each in known:
            if (
                each.state is DeliveryState.SUPERSEDED
                and by.get(each.superseded_by or "", each.series.name) != each.series.name
            ):
                again[each.series.name] = each
        again = {name: each for name, each in again.items() if name not in {one.series.name for one in stay}}
        before = sorted([*stay, *again.values()], key=lambda each: each.file)
        _require_whole(desk, before, country, undone)
        back.extend(again.values())
    return back


def _require_whole(
    desk: Desk, files: Sequence[store.StoredDelivery], country: str, without: Sequence[store.StoredDelivery]
) -> None:
    """Raises InvalidInput where these files are not an acceptable delivery of the country by themselves."""
    left_out = ", ".join(each.file for each in without if each.country == country)
    remedy = (
        "Remedy: put the file that shall count into the inbox under another name, and answer replace about it"
    )
    if not files:
        raise InvalidInput(f"without {left_out} no file of {country} counts. {remedy}")
    delivery = read_files(desk, files)
    if delivery.table is None or suite.refusals(suite.check(delivery.table, desk.domain, None)):
        raise InvalidInput(
            f"without {left_out} what counts of {country} would be refused: "
            f"{', '.join(e.file for e in files)}. {remedy}"
        )


def _taken(desk: Desk, inbox: Path | None, name: str) -> tuple[str, str | None]:
    """(digest, country) of the file that is in the inbox under this name, or else of the last file
    that arrived under it and counts.

    Also receives new files of the same country.
    """
    lying_there = _look(desk, inbox)
    if why := lying_there.unread.get(name):
        raise InvalidInput(why)
    if inbox is not None and name in lying_there.files:
        mine = _take(desk, inbox, name)
    else:
        known = store.deliveries(desk.engine, desk.domain.id, desk.period)
        matter = [each for each in known if each.file == name and each.state in MATTERS]
        if not matter and inbox is None:
            raise InvalidInput(
                f"{name}: it was refused with other files of its country meanwhile; its findings say why"
            )
        if not matter:
            raise InvalidInput(
                f"inbox {inbox}: the file {name} is gone. Remedy: put it there again, or trigger the release "
                f"again"
            )
        mine = matter[-1]
    come = store.received(desk.engine, desk.domain.id, desk.period)
    whose = {each.key.digest: each.country for each in come.deliveries}
    others = {file for file, digest in come.lying if whose[digest] not in (None, mine.country)}
    if inbox is not None:
        for file in sorted(set(lying_there.files) - others - {name}):
            with suppress(InvalidInput):  # the task of that file reports it
                _take(desk, inbox, file)
    return mine.key.digest, mine.country


def _look(desk: Desk, inbox: Path | None) -> intake.Inbox:
    return (
        intake.look(inbox, desk.domain.inbox.ignore)
        if inbox is not None and inbox.is_dir()
        else intake.Inbox((), {})
    )


def _take(desk: Desk, inbox: Path, name: str) -> store.StoredDelivery:
    """Receives the file. Raises InvalidInput where it cannot be read, or its bytes are
    already a delivery of another country.
    """
    data = _bytes(desk, inbox / name)
    country = intake.sender(data, name, desk.domain)
    taken = store.take(desk.engine, desk.domain.id, desk.period, name, data, country)
    if taken.state in MATTERS and None not in (country, taken.country) and country != taken.country:
        raise InvalidInput(
            f"{name}: the same bytes as {taken.file}, which is the delivery of {taken.country}. Remedy: send "
            f"the figures of {country} "
            "under this name, or remove it"
        )
    return taken


def _counting(
    desk: Desk,
    inbox: Path | None,
    come: store.Received,
    mine: str,
    country: str | None,
    given: Mapping[str, Answer],
) -> tuple[list[store.StoredDelivery], list[store.StoredDelivery], list[store.StoredDelivery]]:
    """The files of the country that count if they are accepted (the highest version of each series); the
    files that they replace; and the second files of the country (`answers.py`) that are not among them.

    A file without a country is a delivery by itself.
    """
    if country is None:
        return [each for each in come.deliveries if each.key.digest == mine], [], []
    there = set(_look(desk, inbox).files)
    names: dict[str, list[str]] = {}
    for file, digest in sorted(come.lying):
        if file in there:
            names.setdefault(digest, []).append(file)
    own = [
        _under(each, names.get(each.key.digest, []))
        for each in come.deliveries
        if each.country == country
        and each.state is not DeliveryState.SUPERSEDED
        and (each.state in MATTERS or each.key.digest in names or each.key.digest == mine)
    ]
    said = {each.key: given.get(each.key.digest) for each in own if each.state is DeliveryState.RECEIVED}
    others = [each for each in answers.beside(own) if said.get(each.key) not in (Answer.REPLACE, Answer.BOTH)]
    left = [each for each in own if each not in others]
    gone = (
        [each for each in left if each.state is DeliveryState.ACCEPTED]
        if Answer.REPLACE in said.values()
        else []
    )
    highest: dict[str, store.StoredDelivery] = {}
    for each in sorted(left, key=lambda each: each.rank):
        if each not in gone:
            highest[each.series.name] = each
    files = sorted(highest.values(), key=lambda each: each.file)
    return (
        files,
        [each for each in left if each not in files and each.state is not DeliveryState.REFUSED],
        others,
    )


def _under(delivery: store.StoredDelivery, names: Sequence[str]) -> store.StoredDelivery:
    """The delivery under its name in the inbox."""
    if not names or delivery.file in names:
        return delivery
    return replace(delivery, file=names[-1], series=series_of(names[-1]))


def _replacing(each: store.StoredDelivery, other: store.StoredDelivery) -> Finding:
    message = f"{each.file} replaces {other.file} of {other.received_at:%Y-%m-%d %H:%M} UTC"
    return Finding("SDC/superseded", Severity.WARNING, message)


def _refused(
    desk: Desk, files: Sequence[store.StoredDelivery], delivery: intake.Delivery, why: str
) -> InvalidInput:
    """The exception for a refused delivery. Marks as refused the files that did not count before,
    or all files where none is new.
    """
    fresh = [each for each in files if each.state is not DeliveryState.ACCEPTED]
    for each in fresh or files:
        store.refuse(desk.engine, each.key, delivery.country)
    return InvalidInput(f"{delivery.file} refused{why}")


def _bytes(desk: Desk, path: Path) -> bytes:
    return intake.file_bytes(path, intake.most_bytes(desk.domain, path.name))


def _told(result: CheckResult) -> str:
    return (
        f"{result.check} fails for {result.failed} of {result.checked} "
        f"({', '.join(result.cells[:3])}): {describe(result)}"
    )


def _previous(desk: Desk, country: str, files: Sequence[store.StoredDelivery]) -> NationalTable | None:
    """The earlier delivery of the same country and period, if it can still be read."""
    known = [
        each for each in store.deliveries(desk.engine, desk.domain.id, desk.period) if each.country == country
    ]
    before = [each for each in known if each.state is DeliveryState.ACCEPTED]
    if {each.key for each in before} <= {each.key for each in files}:
        last = {each.superseded_by: each for each in known if each.state is DeliveryState.SUPERSEDED}
        before = [last.get(each.key.digest, each) for each in files]
    if not before or {each.key for each in before} == {each.key for each in files}:
        return None
    return read_files(desk, before).table
