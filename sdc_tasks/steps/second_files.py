"""What a judgement does about the second files of a country, by the table of states (model/lifecycle.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sdc_tasks import intake
from sdc_tasks.model.findings import Finding, Severity
from sdc_tasks.model.lifecycle import Action, Event, after
from sdc_tasks.model.series import Answer
from sdc_tasks.steps.candidates import Candidates
from sdc_tasks.steps.comparison import read_files
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState
from sdc_tasks.warehouse.operations import answers

ASK = "Remedy: say what it is, by the DAG `second_file` or `sdc files keep|replace|both`"


@dataclass(frozen=True)
class SecondFile:
    """A second file in a judgement. `answered`: somebody has said what it is. `counting`: the names of the
    files of its country that count. `sheet`: the file as it was read; None where it was not read.
    """

    file: store.StoredDelivery
    answered: bool
    counting: str
    sheet: intake.Sheet | None


def follow_up(desk: Desk, group: Candidates) -> list[str]:
    """Asks about second files, keeps them out, or refuses them. Returns what is to be done about each that
    waits, or is refused and still in the inbox. A file that cannot be read is refused at once: nobody is
    asked about it.
    """
    counting = " and ".join(sorted(each.file for each in group.files))
    said = []
    for each in _without_overwritten(desk, group):
        answer = group.given.get(each.key.digest)
        unread = answer is Answer.KEEP or each.state is DeliveryState.REFUSED
        second = SecondFile(
            each, answer is not None, counting, None if unread else read_files(desk, [each]).sheets[0]
        )
        then = after(answers.state_of(each, group.given, second=True), _event(second, answer))
        if message := EXECUTORS[then.action](desk, second):
            said.append(message)
    return said


def _event(second: SecondFile, answer: Answer | None) -> Event:
    if answer is Answer.KEEP:
        return Event.KEPT_OUT
    return Event.FAILED if second.sheet is not None and second.sheet.refused else Event.FOUND_SECOND


def _without_overwritten(desk: Desk, group: Candidates) -> list[store.StoredDelivery]:
    """Drops pending duplicates that were overwritten before an answer, and marks them superseded: other bytes
    came under the same name.
    """
    there = {digest for _, digest in group.come.lying}
    newest = {each.series.name: each for each in sorted(group.second, key=lambda each: each.rank)}
    old = [each for each in group.second if each.key.digest not in there and each != newest[each.series.name]]
    for each in old:
        if each.state is DeliveryState.RECEIVED:
            store.supersede(desk.engine, each.key, str(each.country), newest[each.series.name].key.digest)
    return [each for each in group.second if each not in old]


def _ask(desk: Desk, second: SecondFile) -> str:
    file = second.file
    message = f"{file.file} waits: {file.country} has {second.counting} already. {ASK}"
    warning = Finding("SDC/second", Severity.WARNING, message)
    findings = () if second.sheet is None else second.sheet.findings
    store.save_findings(desk.engine, file.key, [*findings, warning])
    return message


def _remind(_: Desk, second: SecondFile) -> str:
    otherwise = ", answer otherwise" if second.answered else ""
    return (
        f"{second.file.file} is refused, its findings say why; take it away{otherwise}, or send it corrected"
    )


def _refuse(desk: Desk, second: SecondFile) -> str:
    file = second.file
    findings = () if second.sheet is None else second.sheet.findings
    store.save_findings(desk.engine, file.key, findings)
    store.refuse(desk.engine, file.key, file.country)
    return f"{file.file} refused; first: {next(iter(findings)).message}"


def _keep_out(desk: Desk, second: SecondFile) -> None:
    keep_out(desk, second.file)


def keep_out(desk: Desk, file: store.StoredDelivery) -> None:
    """Refuses a file about which somebody answered that the files before it stay."""
    message = f"somebody decided that the files before {file.file} count, and not this one; the log says who"
    store.save_findings(desk.engine, file.key, [Finding("SDC/second", Severity.WARNING, message)])
    store.save_checks(desk.engine, file.key, ())
    store.refuse(desk.engine, file.key, file.country, Event.KEPT_OUT)


# The actions that the table of states asks for after an event of a second file.
EXECUTORS: Mapping[Action, Callable[[Desk, SecondFile], str | None]] = {
    Action.ASK: _ask,
    Action.REMIND: _remind,
    Action.REFUSE: _refuse,
    Action.KEEP_OUT: _keep_out,
}
