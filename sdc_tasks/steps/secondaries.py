"""The secondaries that the receiver sets in national tables: `collect` opens a release, `suppress` examines
the table of each country and reports to its NSI.

A release has both steps only where the domain file sets it (`suppression.receiver`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sdc_tasks import pipeline
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import (
    NAMED_CELLS,
    CountryMissing,
    InvalidInput,
    Retriable,
    SdcError,
    Unprotectable,
    some_of,
)
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.methods.linked import Differing, shown_elsewhere
from sdc_tasks.model.findings import Finding, Severity
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import ReceiverSuppression
from sdc_tasks.model.table import Bools, CellSpace, Ints
from sdc_tasks.steps.answering import second
from sdc_tasks.steps.comparison import compare, read_files, take_over
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import embargo_of, inputs_of, release_id_of, require_kept, terms_of
from sdc_tasks.steps.joint import differing_from
from sdc_tasks.steps.linked import require_known_tables
from sdc_tasks.steps.memory import load, once
from sdc_tasks.steps.second_files import ASK
from sdc_tasks.steps.versions import require_no_looser, told_before
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.confidential.secret import salt_of
from sdc_tasks.warehouse.database.schema import DeliveryState, RunState
from sdc_tasks.warehouse.dissemination import lineage, overlap
from sdc_tasks.warehouse.operations import journal

LOWER_LEVELS = "levels lower than those of"


def accepted(desk: Desk) -> list[store.StoredDelivery]:
    """The accepted deliveries of the period. Raises Retriable while a delivery is received but not judged,
    and InvalidInput where the inbox holds something unread that may be a delivery, or where a second file
    of a country waits for an answer.
    """
    if unread := store.not_read(desk.engine, desk.domain.id, desk.period):
        raise InvalidInput(
            f"no release while the inbox holds something unread that may be a delivery: "
            f"{'; '.join(unread.values())}"
        )
    sent = store.deliveries(desk.engine, desk.domain.id, desk.period)
    if waiting := [each.file for each in second(desk)]:
        raise InvalidInput(
            f"no release while second files of countries wait for an answer: {', '.join(waiting)}. {ASK}"
        )
    if unjudged := [each.file for each in sent if each.state is DeliveryState.RECEIVED]:
        raise Retriable(
            f"{', '.join(unjudged)}: received but not judged. Remedy: run ingest and check of these files "
            f"again"
        )
    return [each for each in sent if each.state is DeliveryState.ACCEPTED]


def open_release(desk: Desk) -> str:
    """Opens the release of the deliveries that are accepted now, unless it is open. Returns its id.

    Raises as `accepted` does, and InvalidInput where what is out speaks against it, or the secret by
    which it is drawn is kept nowhere.
    """
    require_kept(desk)
    require_known_tables(desk)
    deliveries, terms = accepted(desk), terms_of(desk.domain)
    if others := overlap.refused(desk.engine, terms, desk.period):
        raise InvalidInput(f"{desk.domain.id} {desk.period}: {others}")
    inputs = inputs_of(desk, deliveries)
    release_id = release_id_of(desk, inputs)
    require_no_looser(desk, release_id)
    journal.start_run(desk.engine, release_id, desk.domain.id, desk.period)
    journal.set_inputs(desk.engine, release_id, inputs.digest)
    journal.submit(
        desk.engine, release_id, terms, embargo=embargo_of(desk), environment=lineage.environment()
    )
    named = {each.key.digest: f"{each.country}: {each.file}" for each in deliveries}
    journal.note_inputs(desk.engine, release_id, named, inputs.versions, inputs.related, inputs.partners)
    return release_id


def made_of(desk: Desk, release_id: str) -> list[store.StoredDelivery]:
    """The deliveries with which the release was opened, under the names that they had then. Some
    may have been superseded since.
    """
    named = reader.made_of(desk.engine, release_id)
    found = [
        each
        for each in store.deliveries(desk.engine, desk.domain.id, desk.period)
        if each.key.digest in named
    ]
    return [replace(each, file=named[each.key.digest].removeprefix(f"{each.country}: ")) for each in found]


def delivered(desk: Desk, release_id: str, notes: list[str]) -> ProtectionProblem:
    """The protection problem of the release's deliveries, with the promises of earlier versions.
    `notes` gets what people must know who agree to the release: where flags or the domain file ask for
    lower levels than a version that is out. Raises InvalidInput where a country is out of proportion
    to the others (`comparison.py`).
    """
    sent = by_country(made_of(desk, release_id))
    read = {country: take_over(desk, files) for country, files in sent.items()}
    compare(desk, sent, read)
    salt = salt_of(desk.engine, desk.domain.id, desk.period)
    problem = pipeline.build_problem(
        [each.table for each in read.values() if each.table is not None], desk.domain, salt
    )
    kept, lowered = pipeline.still_promised(problem, [then for then, _ in told_before(desk, release_id)])
    notes += [
        f"{LOWER_LEVELS} version {n}: {k} cells, which keep those"
        for n, k in enumerate(lowered, start=1)
        if k
    ]
    for note in notes:
        desk.say(note)
    return kept


def by_country(deliveries: Sequence[store.StoredDelivery]) -> dict[str, list[store.StoredDelivery]]:
    """The files of each country, in the order of their names."""
    found: dict[str, list[store.StoredDelivery]] = {}
    for each in sorted(deliveries, key=lambda each: (str(each.country), each.file)):
        found.setdefault(str(each.country), []).append(each)
    return found


@keeps_to_itself
def collect(desk: Desk) -> tuple[str, tuple[str, ...]]:
    """Opens the release of the accepted deliveries. Returns its id, and the countries whose tables must be
    examined.

    Raises as `assemble` does.
    """
    release_id = open_release(desk)
    try:
        notes: list[str] = []
        once(desk, release_id, "collect", "", lambda: delivered(desk, release_id, notes), notes)
    except SdcError as error:
        raise failed(desk, release_id, error) from None
    return release_id, load(desk, release_id, "collect", ProtectionProblem).space.countries


@keeps_to_itself
def suppress(desk: Desk, release_id: str, country: str) -> str:
    """Sets secondaries where the table of a country needs them, and tells its NSI. Returns the
    digest of what was set. The table is that of the delivery with which the release was opened,
    also where a newer one is accepted.

    Raises Unprotectable where nothing that the receiver may hide protects a primary.
    """
    files = by_country(made_of(desk, release_id))[country]
    problem = load(desk, release_id, "collect", ProtectionProblem)

    def compute() -> ReceiverSuppression:
        table = read_files(desk, files).table
        if table is None:
            raise InvalidInput(
                f"{country}: its delivery can no longer be read as a table. Remedy: run the release again"
            )
        before = [then for then, _ in told_before(desk, release_id)]
        return pipeline.receiver_sets(
            problem, country, pipeline.sets_secondaries(table, desk.domain), desk.domain, before
        )

    try:
        digest = once(desk, release_id, "suppress", country, compute)
    except SdcError as error:
        if isinstance(error, Unprotectable):
            _tell(desk, files, [Finding("SDC/unprotectable", Severity.ERROR, str(error))])
        raise failed(desk, release_id, error) from None
    found = load(desk, release_id, "suppress", ReceiverSuppression, country)
    _tell(desk, files, findings_of(found, problem.space))
    if len(found.cells):
        desk.say(f"{country}: {_secondaries(found.cells)} set by the receiver; the NSI is told")
    return digest


def set_by_receiver(desk: Desk, release_id: str) -> list[ReceiverSuppression]:
    """What the receiver set in each country that was examined, by country."""
    keys = journal.step_outputs(desk.engine, release_id, "suppress")
    return [load(desk, release_id, "suppress", ReceiverSuppression, country) for country in sorted(keys)]


def failed(desk: Desk, release_id: str, error: SdcError) -> SdcError:
    """The error, after the run is marked as waiting, or as failed."""
    journal.finish_run(
        desk.engine,
        release_id,
        RunState.WAITING if isinstance(error, (Retriable, CountryMissing)) else RunState.FAILED,
    )
    return error


def findings_of(found: ReceiverSuppression, space: CellSpace) -> list[Finding]:
    """What the NSI of a country is told: keys and numbers, never a value."""
    unsafe, cells, shown, known = (
        _keys(found.country, each, space) for each in (found.unsafe, found.cells, found.shown, found.known)
    )
    told = []
    if len(found.cells):
        why = (
            "the secondaries of this table do"
            if found.own
            else "this table came with primaries and no secondaries, so that it does"
        )
        message = (
            f"{why} not protect {_primaries(found.unsafe)}: {unsafe}. So the receiver has set "
            f"{_secondaries(found.cells)} in the release "
            f"(CONF_STATUS S): {cells}. secondaries/{found.country}.csv lists all of them. Whoever reads "
            f"such a value elsewhere can "
            "compute primaries. Remedy: do not publish these cells, withdraw them where they are public, and "
            "send the table again with "
            "these cells flagged as secondary"
        )
        told.append(Finding("SDC/secondary", Severity.WARNING, message))
    if len(found.shown):
        message = (
            f"{_primaries(found.shown)} cannot be protected by hiding cells now: {shown}. An earlier version "
            f"of the period showed cells "
            "beside them as public. Remedy: flag primaries and secondaries in the first delivery of a period"
        )
        told.append(Finding("SDC/shown", Severity.WARNING, message))
    if len(found.known):
        message = (
            f"{_primaries(found.known)} cannot be protected against respondents, whatever the receiver "
            f"hides: {known}. The release "
            "protects them as far as the national table can. Remedy: send UNITS of each cell, or have the "
            "methodologist lower the level of "
            "their flag"
        )
        told.append(Finding("SDC/unprotectable", Severity.WARNING, message))
    return told


def report_weak(desk: Desk, release_id: str, problem: ProtectionProblem, requirements: Requirements) -> None:
    """Tells each NSI which primaries of its table the release protects only as far as its table allows,
    beside what it is told of secondaries. `requirements`: of the release.
    """
    own, before = requirements.unprotected(problem.earlier.profiles)
    examined = {each.country: each for each in set_by_receiver(desk, release_id)}
    space, shown = problem.space, shown_elsewhere(problem)
    apart = differing_from(desk, release_id, problem) if space.beside else None
    all_told: dict[store.DeliveryKey, Sequence[Finding]] = {}
    for country, files in by_country(made_of(desk, release_id)).items():
        first = space.countries.index(country) * space.national_size
        mine = space.stands[0] == space.countries.index(country)  # here and in the tables beside the release
        told = list[Finding]()
        weak, lost = (cells[mine[cells]] for cells in (own, before))
        if country in examined:
            found = examined[country]
            told += findings_of(found, space)
            weak = np.setdiff1d(
                weak, first + np.array([*found.shown, *found.known], dtype=np.int64)
            )  # each is named once, with what can be done about it
        told += _elsewhere([(here, there) for here, there in shown.tolist() if mine[here]], space)
        told += _differing(apart, mine, space) if apart is not None else []
        all_told |= _told(files, [*told, *_weak(weak, lost, space)])
    store.tell(desk.engine, all_told)


def _elsewhere(pairs: Sequence[tuple[int, int]], space: CellSpace) -> list[Finding]:
    """`pairs`: a hidden cell, and the same cell of another table, which is public."""
    if not pairs:
        return []
    named = [f"{space.key(here)} ({space.key(there)})" for here, there in pairs]
    message = (
        f"{some_of(named)}: hidden, and public in another table of the statistic, so that everybody knows "
        "it. Remedy: flag the cell alike in both tables, and send the one again that is wrong"
    )
    return [Finding("SDC/elsewhere", Severity.WARNING, message)]


def _differing(apart: Differing, mine: Bools, space: CellSpace) -> list[Finding]:
    """What an office is told of its cells (`mine`) that have other values than linked tables say."""

    def named(cells: Ints) -> str:
        return some_of([space.key(cell) for cell in cells[mine[cells]].tolist()])

    pairs = apart.former[mine[apart.former[:, 0]]]
    former = some_of([f"{space.key(one)} ({space.key(other)})" for one, other in pairs.tolist()])
    told = [
        (
            "SDC/former",
            former,
            "revised in one of two tables of the statistic; the other one still has the former value. "
            "Remedy: send that table again, too",
        ),
        (
            "SDC/stock",
            named(apart.stocks),
            "said to be the sum of the periods within the period, and nearer to their mean. Remedy: of a "
            "stock, say linked: {periods: mean} in the domain files; of a flow, send the period again that "
            "is wrong",
        ),
        (
            "SDC/periods",
            named(apart.off),
            "not what linked: periods says of the periods within the period, so that nobody is assumed to "
            "compute one from the other. Remedy: nothing after a revision; else send the period again that "
            "is wrong",
        ),
    ]
    return [Finding(code, Severity.WARNING, f"{cells}: {text}") for code, cells, text in told if cells]


def _weak(own: Ints, before: Ints, space: CellSpace) -> list[Finding]:
    """`own`: primaries that the table does not protect; `before`: that it does, but not beside what is out
    already.
    """
    told = []
    if len(own):
        message = (
            f"this table does not protect {_primaries(own)}: {_named(own, space)}. Whatever is "
            f"published of the totals, the "
            "release protects no further than the table does. Remedy: hide more or larger cells in its "
            "totals, and send the table again"
        )
        told.append(Finding("SDC/unprotected", Severity.WARNING, message))
    if len(before):
        message = (
            f"beside what is out already, this table does not protect {_primaries(before)}: "
            f"{_named(before, space)}. The release protects no further than that allows. Remedy: "
            + (
                "hide the same cells in every table of the statistic, and in the periods within a "
                "period, before the first of them is released"
                if space.beside
                else "flag primaries and secondaries in the first delivery of a period"
            )
        )
        told.append(Finding("SDC/unprotected", Severity.WARNING, message))
    return told


def _secondaries(cells: Ints) -> str:
    return "1 secondary" if len(cells) == 1 else f"{len(cells)} secondaries"


def _primaries(cells: Ints) -> str:
    return "1 primary to its level" if len(cells) == 1 else f"{len(cells)} primaries to their levels"


def _named(cells: Ints, space: CellSpace) -> str:
    """The keys of cells of a release and of the tables beside it."""
    keys = ", ".join(space.key(cell) for cell in cells[:NAMED_CELLS].tolist())
    return f"{keys} and {len(cells) - NAMED_CELLS} more" if len(cells) > NAMED_CELLS else keys


def _keys(country: str, cells: Ints, space: CellSpace) -> str:
    keys = ", ".join(
        printed_key((country, *space.national_keys[cell])) for cell in cells[:NAMED_CELLS].tolist()
    )
    return f"{keys} and {len(cells) - NAMED_CELLS} more" if len(cells) > NAMED_CELLS else keys


def _tell(desk: Desk, files: Sequence[store.StoredDelivery], found: Sequence[Finding]) -> None:
    """With the first file of the country; the others say nothing."""
    store.tell(desk.engine, _told(files, found))


def _told(
    files: Sequence[store.StoredDelivery], found: Sequence[Finding]
) -> dict[store.DeliveryKey, Sequence[Finding]]:
    return {each.key: found if each is files[0] else () for each in files}
