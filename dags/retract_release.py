"""Takes a published release back: its cells are shown to nobody outside any more, the reason is shown in their place."""

from __future__ import annotations

import os
from typing import Any

import sdc_places
from airflow.sdk import DAG, Param, chain, get_current_context
from airflow.sdk.exceptions import AirflowSkipException
from sdc_dags.question import Question
from sdc_dags.tasks import DEFAULTS, log, refused, step

MAY = "May this release be taken back?"
RETRACT, KEEP = "Retract", "Keep"
ABOUT = """
Takes a published release back. Trigger it with the id of the release and the reason. The world is shown the reason in place of the table,
at once. This is final: a corrected release is the next version. Whoever kept the retracted table still knows it. Every further release of
the period is audited against him.

### When something is red
- **`agree`**: somebody said that the release stays. To ask again, trigger the DAG again.
- **`retract`**: there is no such release, it was not published, or it was retracted for another reason; the log says which.
"""


def _office(user: str | None) -> Any:
    from sdc_tasks import steps

    return steps.open_office(sdc_places.warehouse(), user)


def _wanted(context: Any) -> tuple[str, str]:
    return str(context["params"]["release"]).strip(), str(context["params"]["reason"]).strip()


def _known(release: str) -> Any:
    """What the warehouse knows of a published release. Raises AirflowFailException where it was not published."""
    from sdc_tasks.warehouse import reader

    found = reader.of_release(_office(None), release)
    if found is None or found["version"] is None:
        raise refused(f"release {release} was not published: there is nothing to take back")
    return found


def _tell(context: Any, about: Any, what: str, said: str) -> None:
    """Shows the question on the pages of the release and its cycle while this run asks, and sends it."""
    from sdc_alerts import announce

    from sdc_tasks.warehouse.operations import cycles

    run, engine = context["dag_run"], _office(None)
    known = {"domain": about["domain"], "period": about["period"], "release_id": about["release_id"]}
    cycles.note_dag_run(engine, run.dag_id, run.run_id, **known)
    announce(engine, about["domain"], about["period"], "retraction", f"{run.run_id} {what}", said)


class Agreement(Question):
    """Asks somebody other than who triggered the run, where the domain file asks for approvals. An answer of his own does not count.

    **Pink:** the release was taken back meanwhile. **Red:** the answer was to keep the release.
    """

    def execute(self, context: Any) -> Any:
        release, reason = _wanted(context)
        about = _known(release)
        if not about["approvals_asked"]:
            log.info("nobody else has to agree: the domain file asks for no approval")
            return None
        self.subject = f"{MAY} {about['domain']} {about['period']}, version {about['version']}"  # what Required Actions lists
        worded = reason.replace("`", "'")  # as it is written: no heading, link or picture of its own
        self.body = f"**{about['domain']} {about['period']}**, version {about['version']}: `{release}`\n\n**Reason**\n\n```\n{worded}\n```"
        who = context["dag_run"].triggering_user_name or "somebody"
        _tell(context, about, "agree", f"{who} asks to take version {about['version']} back: {reason}. Somebody else answers")
        return super().execute(context)

    def settled(self, context: Any) -> bool:
        """Raises AirflowSkipException where the release was taken back elsewhere."""
        release, _ = _wanted(context)
        if (reason := _known(release)["retracted"]) is not None:
            log.info("release %s was taken back meanwhile: %s", release, reason)
            raise AirflowSkipException("retracted meanwhile")
        return False

    def answered(self, context: Any, event: dict[str, Any]) -> Any:
        """Raises AirflowFailException where the release is kept."""
        from sdc_tasks.warehouse.forms.people import normal

        person = (event["responded_by_user"] or {}).get("name") or ""
        if normal(person) == normal(context["dag_run"].triggering_user_name or ""):
            release, _ = _wanted(context)
            said = f"the answer of {person} does not count: who asked to take {release} back does not answer. Somebody else has to answer"
            log.info("%s", said)
            _tell(context, _known(release), "own", said)
            return self.execute(context)
        if event["chosen_options"] != [RETRACT]:
            raise refused(f"{person} keeps the release")
        log.info("%s agrees", person)
        return None


@step
def retract() -> None:
    """Takes the release back, by the account that publishes. **Red:** see the log; nothing was taken back."""
    from sdc_tasks import steps

    context = get_current_context()
    release, reason = _wanted(context)
    user = None if os.environ.get("SDC_ONE_PROCESS") else context["dag_run"].triggering_user_name
    steps.retract(_office(user), release, reason, user)
    log.info("retracted: %s", release)


with DAG(
    dag_id="retract_release",
    description="takes a published release back",
    doc_md=ABOUT,
    schedule=None,
    is_paused_upon_creation=False,  # it does nothing by itself, and buttons of the pages trigger it
    catchup=False,
    default_args=DEFAULTS,
    tags=["release"],
    params={
        "release": Param(type="string", minLength=1, title="Release", description="its id, as on its page"),
        "reason": Param(type="string", minLength=1, title="Reason", description="shown to the world in place of the table"),
    },
) as dag:
    agree = Agreement(
        task_id="agree",
        subject=MAY,
        options=[RETRACT, KEEP],
        doc_md=Agreement.__doc__,
    )
    chain(agree, retract())
