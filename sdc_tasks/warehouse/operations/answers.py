"""A second file of a country: somebody answers what it is. model/lifecycle.py has what follows.

Where files of a country are accepted, a file under the name of one of them is a correction
(`model/series.py`). A file under another name waits: it could be a correction, a further part, or a mistake.
The answer is an entry of the log, and holds for this arrival of the file. Somebody may answer otherwise
later: the log has every answer, and the newest one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Engine, select, update

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.lifecycle import Event, FileState, after
from sdc_tasks.model.series import Answer
from sdc_tasks.warehouse.confidential.store import DeliveryKey, StoredDelivery, hold
from sdc_tasks.warehouse.database.engine import actor_of, reading, serialise, writing
from sdc_tasks.warehouse.database.schema import DeliveryState, delivery
from sdc_tasks.warehouse.database.sqlfiles import clause
from sdc_tasks.warehouse.forms.people import person
from sdc_tasks.warehouse.log import record

REMEDY = (
    "Nothing was changed. Remedy: look at the page of the country again, and answer "
    "otherwise where that is wrong"
)


def beside(known: Sequence[StoredDelivery]) -> list[StoredDelivery]:
    """The files that are received or refused although their country has accepted files,
    none of them under the same name.
    """
    series: dict[str | None, set[str]] = {}
    for each in known:
        if each.state is DeliveryState.ACCEPTED:
            series.setdefault(each.country, set()).add(each.series.name)
    open_ = (DeliveryState.RECEIVED, DeliveryState.REFUSED)
    return [
        each
        for each in known
        if each.state in open_ and each.series.name not in series.get(each.country, {each.series.name})
    ]


def waiting(known: Sequence[StoredDelivery], given: Mapping[str, Answer]) -> list[StoredDelivery]:
    """The files that wait for an answer."""
    return [each for each in beside(known) if state_of(each, given, second=True) is FileState.WAITING]


def state_of(file: StoredDelivery, given: Mapping[str, Answer], second: bool) -> FileState:
    """The state of a stored file. `second`: it is one of those `beside` the accepted files of its country."""
    if second and file.state is DeliveryState.RECEIVED and file.key.digest not in given:
        return FileState.WAITING
    return FileState(file.state)


def answers(engine: Engine, domain: str, period: str) -> dict[str, Answer]:
    """digest → the answer about the file, since it was last received."""
    with reading(engine) as connection:
        return _answers(connection, domain, period)


def answered(known: Sequence[StoredDelivery], given: dict[str, Answer]) -> list[StoredDelivery]:
    """The files about which somebody answered, and may answer otherwise: those that count, and
    those that do not and are refused.
    """
    refused = [each for each in beside(known) if each.state is DeliveryState.REFUSED]
    accepted = [each for each in known if each.state is DeliveryState.ACCEPTED]
    return [each for each in [*refused, *accepted] if each.key.digest in given]


def answer(
    engine: Engine,
    keys: Sequence[DeliveryKey],
    given: Answer,
    note: str = "",
    *,
    known: Sequence[StoredDelivery],
    seen: Mapping[str, str],
    back: Sequence[DeliveryKey] = (),
    run: str = "",
) -> None:
    """Records the answer about files of one domain and period under the name with which the
    warehouse was opened. Each is judged anew then, as if it had just come: an earlier answer
    counts no more. All or nothing.

    `known`: the deliveries of the period from which the answer follows. `seen`: the earlier answers, digest →
    answer, that whoever answers has seen. `back`: superseded files that count again because of the new one.
    `run`: the run of Airflow that does it.

    Raises InvalidInput where somebody else has answered since, ConcurrentModification where other files of
    the countries changed.
    """
    with writing(engine) as connection:
        serialise(connection, "answer", *keys[0][:2])
        person(actor_of(connection))
        stands = _answers(connection, *keys[0][:2])
        _require_seen(connection, keys, stands, seen)
        for country in sorted({str(each.country) for each in known if each.key in keys}):
            hold(connection, *keys[0][:2], country, known)
        files = {each.key: each for each in known}
        asked = {each.key for each in waiting(known, stands)}
        for key in keys:
            then = after(FileState.WAITING if key in asked else FileState(files[key].state), Event.ANSWERED)
            connection.execute(update(delivery).filter_by(**key._asdict()).values(state=then.to))
        for key in back:
            then = after(FileState(files[key].state), Event.RESTORED)
            anew = {"state": then.to, "superseded_by": None}
            connection.execute(update(delivery).filter_by(**key._asdict()).values(**anew))
        for key in back:
            about = {"domain": key.domain, "period": key.period, "country": files[key].country}
            record(connection, "accept", key.digest, **about, instead_of=None)
        for key in keys:
            _record_answer(connection, key, given, note, run)


def _record_answer(connection: Connection, key: DeliveryKey, given: Answer, note: str, run: str) -> None:
    row = connection.execute(select(delivery).filter_by(**key._asdict())).one()
    about = {
        "domain": key.domain,
        "period": key.period,
        "country": row.country,
        "file": row.file,
        "times": row.times,
        "note": note,
    }
    record(connection, given, key.digest, **about, **({"run": run} if run else {}))


def _require_seen(
    connection: Connection, keys: Sequence[DeliveryKey], stands: Mapping[str, Answer], seen: Mapping[str, str]
) -> None:
    """Raises InvalidInput where the answer that stands about a file is not the one that was seen."""
    for key in keys:
        if stands.get(key.digest) != seen.get(key.digest):
            file = connection.execute(select(delivery.c.file).filter_by(**key._asdict())).scalar_one()
            answered = key.digest in stands
            what = f"somebody answered {stands[key.digest]}" if answered else "it was received again"
            raise InvalidInput(f"{file}: {what} meanwhile. {REMEDY}")


def _answers(connection: Connection, domain: str, period: str) -> dict[str, Answer]:
    query = clause("queries/answers", connection.dialect.name)
    return {
        row.digest: Answer(row.answer)
        for row in connection.execute(query, {"domain": domain, "period": period})
    }
