"""The question to somebody other than who triggered the run: may exactly this publication go out?

It is asked in the UI and answered there, or by `PATCH …/taskInstances/approve_1/-1/hitlDetails`. The answer is kept in the warehouse in the
name of who gave it; the database counts the answers, and takes none of the submitter.
"""

from __future__ import annotations

from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Param, TaskGroup, chain
from airflow.sdk.exceptions import AirflowFailException

from sdc_dags.run import desk, place

AGREE, AGREE_ALTHOUGH, REFUSE = "Approve", "Approve without newer deliveries", "Reject"
ALTHOUGH = "although_newer"  # what the task leaves for `publish`


class Approval(HITLOperator):
    """Asks until as many people as `number` have agreed; does not ask where they have.

    **Waiting:** *Required Actions* shows digest, verdict, losses and what is other than in the last version; read the report before you
    answer. An answer of the submitter, or a second one of the same person, does not count: it is asked again. So it is where newer
    deliveries are accepted meanwhile, unless the answer says that this publication goes out all the same.

    **Red:** somebody rejected the publication, the log says who; nothing is published. A methodologist changes the domain file, or a
    country its delivery, and the DAG is triggered again. To ask once more: clear this task with *Downstream*. Also red: the publication
    has changed since this run asked first, by a delivery that was corrected meanwhile; trigger the DAG again.
    """

    def __init__(self, *, source: str, number: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.source, self.number = source, number

    def execute(self, context: Any) -> Any:
        """Asks, unless enough people have agreed to this publication already."""
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
        self.body = outputs.brief(at, release_id)
        outputs.write_out(at, release_id, place("out", at))  # what is to be read before the answer
        context["ti"].xcom_push(key="publication", value=publication)
        steps.wait(at, release_id)
        at.say(f"asked: {len(agreed)} of {self.number} agree to publication {publication[:12]}")
        return super().execute(context)

    def _require_fresh(self, context: Any, at: Any, publication: str) -> None:
        """Airflow keeps the text of the first question of a task, also when the task is cleared: another publication needs another run."""
        from sdc_tasks.warehouse import reader
        from sdc_tasks.warehouse.operations import cycles

        subject, said = f"{context['ti'].run_id} {self.task_id}", f"somebody else is asked to agree to publication {publication}"
        if not cycles.raise_alert(at.engine, at.domain.id, at.period, "asked", subject, said):
            known = reader.alerts(at.engine, at.domain.id, at.period)
            if not any((each["kind"], each["subject"], each["said"]) == ("asked", subject, said) for each in known):
                raise _another(publication)

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        """Records the answer. Raises AirflowFailException where the publication is another than the one asked about."""
        from sdc_tasks import steps
        from sdc_tasks.warehouse.forms.people import normal
        from sdc_tasks.warehouse.operations.decisions import OwnSubmission

        super().execute_complete(context, event)
        at, release_id = desk(self.source), _release(context)
        publication, agreed = steps.awaiting(at, release_id)
        if publication != context["ti"].xcom_pull(task_ids=self.task_id, key="publication"):
            raise _another(publication)
        person = (event["responded_by_user"] or {}).get("name") or ""
        note = str((event["params_input"] or {}).get("note") or "")
        [chosen] = event["chosen_options"]
        yes = chosen in (AGREE, AGREE_ALTHOUGH)
        waiting = steps.newer(at, release_id) if yes else []
        if waiting and chosen == AGREE:
            remedy = f"Remedy: trigger the DAG again, which takes them in; or answer '{AGREE_ALTHOUGH}'"
            at.say(f"this answer does not count: newer deliveries are accepted: {', '.join(waiting)}. {remedy}")
            return self.execute(context)
        if waiting:
            note = f"{note} (without newer deliveries: {', '.join(waiting)})".lstrip()
            context["ti"].xcom_push(key=ALTHOUGH, value=True)
        try:
            steps.answer(at, release_id, publication, yes, person, note)
        except OwnSubmission as refusal:
            at.say(f"this answer does not count: {refusal}")
            return self.execute(context)
        if not yes:
            raise AirflowFailException(f"{person} rejected publication {publication[:12]}: nothing is published. {note}".rstrip())
        if normal(person) in agreed:
            at.say(f"{person} agreed before; it is asked again for somebody else")
            return self.execute(context)
        return None


def _another(publication: str) -> AirflowFailException:
    return AirflowFailException(
        f"publication {publication[:12]} is another than the one that this run asked about. "
        "Remedy: trigger the DAG again; it computes nothing anew, and asks about this one"
    )


def approvals(source: str, number: int) -> TaskGroup:
    """`approve_1` to `approve_<number>`, one after the other."""
    with TaskGroup("approval", prefix_group_id=False, tooltip="people other than the submitter agree") as group:
        chain(*(_question(source, each) for each in range(1, number + 1)))
    return group


def _question(source: str, number: int) -> Approval:
    return Approval(
        task_id=f"approve_{number}",
        source=source,
        number=number,
        subject="May this publication go out?",
        options=[AGREE, AGREE_ALTHOUGH, REFUSE],
        params={
            "note": Param("", type=["null", "string"], title="Note", description="kept with the answer"),
        },
        execution_timeout=None,  # people are not timed out
        doc_md=Approval.__doc__,
    )


def _release(context: Any) -> str:
    return str(context["ti"].xcom_pull(task_ids="assemble"))
