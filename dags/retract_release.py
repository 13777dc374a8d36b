"""Takes a published release back: its cells are shown to nobody outside any more, the reason is shown in their place."""

from __future__ import annotations

import os
from typing import Any

import sdc_places
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import DAG, Param, chain, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException
from sdc_dags.tasks import DEFAULTS, log

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


class Agreement(HITLOperator):
    """Asks somebody other than who triggered the run, where the domain file asks for approvals. An answer of his own does not count.

    **Red:** the answer was to keep the release.
    """

    def execute(self, context: Any) -> Any:
        from sdc_tasks.warehouse import reader

        release, reason = _wanted(context)
        known = {each["release_id"]: each for each in reader.history(_office(None))}
        if release not in known or known[release]["version"] is None:
            raise AirflowFailException(f"release {release} was not published: there is nothing to take back")
        if not known[release]["approvals_asked"]:
            log.info("nobody else has to agree: the domain file asks for no approval")
            return None
        about = known[release]
        self.body = f"**{about['domain']} {about['period']}**, version {about['version']}: `{release}`\n\n**Reason** {reason}"
        return super().execute(context)

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        """Raises AirflowFailException where the release is kept."""
        from sdc_tasks.warehouse.forms.people import normal

        super().execute_complete(context, event)
        person = (event["responded_by_user"] or {}).get("name") or ""
        if normal(person) == normal(context["dag_run"].triggering_user_name or ""):
            log.info("this answer does not count: %s triggered the run. Somebody else has to answer", person)
            return self.execute(context)
        if event["chosen_options"] != [RETRACT]:
            raise AirflowFailException(f"{person} keeps the release")
        log.info("%s agrees", person)
        return None


@task
def retract() -> None:
    """Takes the release back, by the account that publishes. **Red:** see the log; nothing was taken back."""
    from sdc_tasks import steps
    from sdc_tasks.errors import InvalidInput

    context = get_current_context()
    release, reason = _wanted(context)
    user = None if os.environ.get("SDC_ONE_PROCESS") else context["dag_run"].triggering_user_name
    try:
        steps.retract(_office(user), release, reason, user)
    except InvalidInput as refusal:
        raise AirflowFailException(str(refusal)) from None
    log.info("retracted: %s", release)


with DAG(
    dag_id="retract_release",
    description="takes a published release back",
    doc_md=ABOUT,
    schedule=None,
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
        subject="May this release be taken back?",
        options=[RETRACT, KEEP],
        execution_timeout=None,  # people are not timed out
        doc_md=Agreement.__doc__,
    )
    chain(agree, retract())
