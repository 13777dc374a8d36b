"""The approval of a publication by somebody who did not trigger the run.

The question appears in the UI and is answered there, or by `PATCH …/taskInstances/approve_1/-1/hitlDetails`.
The warehouse stores the answer under the name of the person; the database counts the answers, and accepts
none from those who started a run of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Param, TaskGroup, chain
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from sdc_dags.question import Question
from sdc_dags.run import desk, place
from sdc_dags.tasks import refused

if TYPE_CHECKING:
    from sdc_tasks.steps.publication import Newer

AGREE, AGREE_ALTHOUGH, REFUSE = "Approve", "Approve without newer deliveries", "Reject"
MAY = "May this publication go out?"


class Approval(Question):
    """Asks until `number` people have agreed. It does not ask if they have agreed already.

    **Waiting:** *Required Actions* shows digest, verdict, losses and the changes since the last version; read
    the report before you answer. An answer of somebody who started a run of the release, or a second answer
    of the same person, does not count: the task asks again. It also asks again if newer deliveries are
    accepted meanwhile, or second files of countries come, unless the answer says that this publication is
    published nevertheless; and if a file of it does not count any more, whatever the answer says.

    **Pink:** a later release of the period took the place of this one, and nobody is asked about this
    one any more. The log names it.

    **Red:** somebody rejected the publication, the log says who; nothing is published. A methodologist
    changes the domain file, or a country its delivery, and somebody triggers the DAG again. To ask once more:
    clear this task with *Downstream*. Also red: the publication has changed since this run asked first,
    because a delivery was corrected meanwhile; trigger the DAG again.
    """

    def __init__(self, *, source: str, number: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.source, self.number = source, number

    def execute(self, context: Any) -> Any:
        """Asks, unless enough people have agreed to this publication already."""
        from sdc_alerts import asked_late

        from sdc_tasks import outputs, steps

        at, release_id = desk(self.source), _release(context)
        if not context["ti"].xcom_pull(task_ids="verdict")["passed"]:
            at.say("the audit did not pass: nobody is asked")
            return None
        publication, agreed = steps.awaiting(at, release_id)
        if len(agreed) >= self.number:
            at.say(f"agreed: {', '.join(agreed)}")
            return None
        self._require_fresh(context, at, publication)
        self.subject = f"{MAY} {at.domain.id} {at.period}, {release_id}"  # what Required Actions lists
        self.body = outputs.brief(at, release_id)
        outputs.write_out(at, release_id, place("out", at))  # people read it before they answer
        context["ti"].xcom_push(key="rejections", value=steps.rejections(at, release_id))
        steps.wait(at, release_id)
        asked_late(at.engine, at.domain, at.period, release_id)
        at.say(f"asked: {len(agreed)} of {self.number} agree to publication {publication[:12]}")
        return super().execute(context)

    def _require_fresh(self, context: Any, at: Any, publication: str) -> None:
        """Refuses another publication in the same run: Airflow keeps the text of a task's first
        question, also when the task is cleared.
        """
        from sdc_alerts import announce

        if not announce(*self._asked(context, at), _told(context, at, publication)):
            self._require_asked(context, at, publication)

    def _require_asked(self, context: Any, at: Any, publication: str) -> None:
        """Refuses what the question of this run did not name. The warehouse keeps what it named: operators
        may rewrite what tasks leave for each other in Airflow.
        """
        from sdc_tasks.warehouse.operations import cycles

        if cycles.raised(*self._asked(context, at)) != _told(context, at, publication):
            raise _another(publication)

    def _asked(self, context: Any, at: Any) -> tuple[Any, str, str, str, str]:
        return at.engine, at.domain.id, at.period, "asked", f"{context['ti'].run_id} {self.task_id}"

    def settled(self, context: Any) -> bool:
        """Whether enough people have agreed elsewhere: in another run, or by `sdc approve`.

        Raises AirflowSkipException where a later release took the place of this one, AirflowFailException
        where the publication was rejected elsewhere since it was asked about.
        """
        from sdc_tasks import steps

        at, release_id = desk(self.source), _release(context)
        publication, agreed = steps.awaiting(at, release_id)
        if len(agreed) >= self.number:
            at.say(f"agreed elsewhere: {', '.join(agreed)}")
            return True
        if steps.rejections(at, release_id) > context["ti"].xcom_pull(
            task_ids=self.task_id, key="rejections"
        ):
            raise refused(
                f"publication {publication[:12]} was rejected elsewhere: nothing is published; the log of "
                f"the release says who"
            )
        if later := steps.close(at, release_id):
            at.say(
                f"superseded: {later} took the place of this release; nobody is asked about this one any more"
            )
            raise AirflowSkipException("superseded")
        return False

    def answered(self, context: Any, event: dict[str, Any]) -> Any:
        """Records the answer. Raises AirflowFailException for a rejection, or where the publication has
        changed since the question, AirflowSkipException where a later release took the place of this one.
        """
        from sdc_alerts import announce

        from sdc_tasks import steps
        from sdc_tasks.warehouse.forms.people import normal
        from sdc_tasks.warehouse.operations.decisions import OwnSubmission

        at, release_id = desk(self.source), _release(context)
        publication, agreed = steps.awaiting(at, release_id)
        self._require_asked(context, at, publication)
        person, note = _answer_of(event)
        if later := steps.close(at, release_id):
            at.say(
                f"the answer of {person} does not count: {later} took the place of this release; nobody is "
                f"asked about this one any more"
            )
            raise AirflowSkipException("superseded")
        [chosen] = event["chosen_options"]
        yes = chosen in (AGREE, AGREE_ALTHOUGH)
        came = steps.newer(at, release_id)
        if overtaken := _overtaken(came, chosen):
            refusal = f"the answer of {person} does not count: {overtaken}"
            at.say(refusal)
            announce(at.engine, at.domain.id, at.period, "answer", release_id, refusal)
            return self.execute(context)
        if came and yes:
            note = f"{note} (without newer deliveries: {', '.join(sorted(came.files.values()))})".lstrip()
        try:
            steps.answer(at, release_id, publication, yes, person, note, came.files if yes else ())
        except OwnSubmission as refusal:
            at.say(f"this answer does not count: {refusal}")
            announce(
                at.engine, at.domain.id, at.period, "own", release_id, f"an answer does not count: {refusal}"
            )
            return self.execute(context)
        if not yes:
            raise refused(
                f"{person} rejected publication {publication[:12]}: nothing is published. {note}".rstrip()
            )
        if normal(person) in agreed:
            said = f"{person} agreed before; somebody else must agree"
            at.say(said)
            announce(
                at.engine,
                at.domain.id,
                at.period,
                "own",
                context["ti"].run_id,
                f"the answer of {person} does not count: {said}",
            )
            return self.execute(context)
        return None


def _answer_of(event: dict[str, Any]) -> tuple[str, str]:
    """Who answered, and the note beside it."""
    person = (event["responded_by_user"] or {}).get("name") or ""
    return person, str((event["params_input"] or {}).get("note") or "")


def _overtaken(came: Newer, chosen: str) -> str:
    """Why somebody cannot agree by this answer: of what came since, or is gone. Empty where he can."""
    if came.dropped and chosen in (AGREE, AGREE_ALTHOUGH):
        return f"{came.told}. {came.remedy}"
    if came and chosen == AGREE:
        return f"{came.told}. {came.remedy}; or answer '{AGREE_ALTHOUGH}'"
    return ""


def _told(context: Any, at: Any, publication: str) -> str:
    """What the desk and the mail say, with all that the certificate does not show: who agrees, agrees to
    that.
    """
    from sdc_tasks.warehouse import reader

    claim = reader.claim(at.engine, _release(context))
    assert claim is not None, "nobody is asked before the audit"
    return (
        f"somebody else is asked to agree to {_release(context)}, publication "
        f"{publication[:12]}: audit {claim.verdict}, {claim.sentence}"
    )


def _another(publication: str) -> AirflowFailException:
    return refused(
        f"publication {publication[:12]} is not the one that this run asked about. "
        "Remedy: trigger the DAG again; it repeats no computation, and asks about this publication"
    )


def approvals(source: str, number: int) -> TaskGroup:
    """`approve_1` to `approve_<number>`, one after the other."""
    with TaskGroup(
        "approval", prefix_group_id=False, tooltip="people other than the submitter agree"
    ) as group:
        chain(*(_question(source, each) for each in range(1, number + 1)))
    return group


def _question(source: str, number: int) -> Approval:
    return Approval(
        task_id=f"approve_{number}",
        source=source,
        number=number,
        subject=MAY,
        options=[AGREE, AGREE_ALTHOUGH, REFUSE],
        params={
            "note": Param("", type=["null", "string"], title="Note", description="kept with the answer"),
        },
        doc_md=Approval.__doc__,
    )


def _release(context: Any) -> str:
    return str(context["ti"].xcom_pull(task_ids="assemble"))
