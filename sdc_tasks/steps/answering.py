"""Somebody answers what a second file of a country is; what counts then is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdc_tasks.checks import suite
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.series import Answer
from sdc_tasks.steps.accepting import judge, retried
from sdc_tasks.steps.comparison import read_files
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.second_files import keep_out
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState
from sdc_tasks.warehouse.operations import answers


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
    mine = _record(desk, names, given, note, run, shown)
    for country in sorted({str(each.country) for each in mine}):
        own = [each for each in mine if each.country == country]
        if given is Answer.KEEP:
            for each in own:
                keep_out(desk, each)
        else:
            for message in judge(desk, None, own[0].file).to_do:
                desk.say(message)
        desk.say(f"{', '.join(each.file for each in own)}: {given}")


@retried
def _record(
    desk: Desk,
    names: Sequence[str],
    given: Answer,
    note: str,
    run: str,
    shown: Mapping[str, str] | None,
) -> list[store.StoredDelivery]:
    """Records the answer, as `settle`. Returns the files."""
    come = store.received(desk.engine, desk.domain.id, desk.period)
    before = answers.answers(desk.engine, desk.domain.id, desk.period)
    mine = _asked_about(desk, come, before, names, shown)
    seen = before if shown is None else {digest: answer for digest, answer in shown.items() if answer}
    for each in mine:
        holds = given is Answer.KEEP or each.state is DeliveryState.ACCEPTED
        if before.get(each.key.digest) is given and holds:
            raise InvalidInput(f"{each.file}: the answer was {given} already, and it holds")
    answers.answer(
        desk.engine,
        [each.key for each in mine],
        given,
        note,
        known=come.deliveries,
        seen=seen,
        back=[each.key for each in _back(desk, come.deliveries, before, mine)],
        run=run,
    )
    return mine


def _asked_about(
    desk: Desk,
    come: store.Received,
    before: dict[str, Answer],
    names: Sequence[str],
    shown: Mapping[str, str] | None,
) -> list[store.StoredDelivery]:
    """The files of these names that wait for an answer, or have one and are still in the inbox. Raises
    InvalidInput where there is no such file, or it is not the one that was shown.
    """
    waiting = {each.file: each for each in answers.waiting(come.deliveries, before)}
    asked = _answered_and_there(come, before) | waiting
    if shown is not None:
        _require_shown([asked[name] for name in names if name in asked], shown)
    if unknown := [name for name in names if name not in asked]:
        waits = f"these wait: {', '.join(sorted(waiting))}" if waiting else "none waits"
        raise InvalidInput(
            f"{', '.join(unknown)}: waits for no answer in {desk.domain.id} {desk.period}; {waits}"
        )
    return [asked[name] for name in dict.fromkeys(names)]


def _answered_and_there(come: store.Received, before: dict[str, Answer]) -> dict[str, store.StoredDelivery]:
    """name → file: those about which somebody answered and that are still in the inbox."""
    there = {digest for _, digest in come.lying}
    answered = answers.answered(come.deliveries, before)
    return {each.file: each for each in answered if each.key.digest in there}


def _require_shown(files: Sequence[store.StoredDelivery], shown: Mapping[str, str]) -> None:
    """Raises InvalidInput where one of the files is not among those that were shown."""
    if other := [each.file for each in files if each.key.digest not in shown]:
        raise InvalidInput(
            f"{', '.join(other)}: another file came under this name meanwhile. {answers.REMEDY}"
        )


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
    undone = [each for each in mine if each.state is DeliveryState.ACCEPTED]
    back: list[store.StoredDelivery] = []
    for country in sorted({str(each.country) for each in undone}):
        back.extend(_back_of_country(desk, country, known, given, undone))
    return back


def _back_of_country(
    desk: Desk,
    country: str,
    known: Sequence[store.StoredDelivery],
    given: Mapping[str, Answer],
    undone: Sequence[store.StoredDelivery],
) -> list[store.StoredDelivery]:
    """As `_back`, for one country. `undone`: the accepted files of all countries that count no more."""
    accepted = [each for each in known if each.country == country and each.state is DeliveryState.ACCEPTED]
    stay = [each for each in accepted if each not in undone]
    _require_all_replacing(accepted, stay, given)
    series = {each.series.name for each in stay}
    again = [each for each in _replaced_in_other_series(known, undone) if each.series.name not in series]
    before = sorted([*stay, *again], key=lambda each: each.file)
    _require_whole(desk, before, country, undone)
    return again


def _require_all_replacing(
    accepted: Sequence[store.StoredDelivery],
    stay: Sequence[store.StoredDelivery],
    given: Mapping[str, Answer],
) -> None:
    """Raises InvalidInput where some of the files that replaced others together would stay without the
    rest."""
    replacing = [each for each in accepted if given.get(each.key.digest) is Answer.REPLACE]
    forgotten = [each.file for each in replacing if each in stay]
    if forgotten and len(forgotten) < len(replacing):
        raise InvalidInput(
            f"{', '.join(forgotten)} came with them instead of other files. Remedy: answer about all of "
            f"them together"
        )


def _replaced_in_other_series(
    known: Sequence[store.StoredDelivery], undone: Sequence[store.StoredDelivery]
) -> list[store.StoredDelivery]:
    """The files of other names that `undone` replaced by an answer, of each series the last."""
    by = {each.key.digest: each.series.name for each in undone}
    last: dict[str, store.StoredDelivery] = {}
    for each in known:
        replacing = by.get(each.superseded_by or "", each.series.name)
        if each.state is DeliveryState.SUPERSEDED and replacing != each.series.name:
            last[each.series.name] = each
    return list(last.values())


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
