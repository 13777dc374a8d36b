"""Takes a published release back: its cells are shown to nobody outside any more, the
reason is shown in their place.
"""

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
Takes a published release back. Trigger it with the id of the release and the reason. The world is shown
the reason in place of the table,
at once. This is final: a corrected release is the next version. Whoever kept the retracted table still
knows it. Every further release of
the period is audited against him.

### When something is red
- **`agree`**: somebody said that the release stays. To ask again, trigger the DAG again.
- **`retract`**: there is no such release, it was not published, it was retracted for another reason, or
  nobody else agreed; the log says
  which. Where nobody else agreed, clear `agree` with *Downstream*: the run asks again.
"""


def _office(user: str | None) -> Any:
    from sdc_tasks import steps

    return steps.open_office(sdc_places.warehouse(), user)


def _wanted(context: Any) -> tuple[str, str]:
    return str(context["params"]["release"]).strip(), str(context["params"]["reason"]).strip()


def _asker(context: Any) -> str | None:
    """Who triggered the run. In one process it is whoever started the process."""
    return None if os.environ.get("SDC_ONE_PROCESS") else context["dag_run"].triggering_user_name


def _known(release: str) -> Any:
    """What the warehouse knows of a published release. Raises AirflowFailException where it was not
    published.
    """
    from sdc_tasks.warehouse import reader

    found = reader.of_release(_office(None), release)
    if found is None or found["version"] is None:
        raise refused(f"release {release} was not published: there is nothing to take back")
    return found


def _note(context: Any, about: Any) -> str:
    """Records who asks to take the release back, and why: he does not agree to it himself.
    Returns his name.
    """
    from sdc_tasks.warehouse.database.engine import actor
    from sdc_tasks.warehouse.operations import cycles

    run, engine = context["dag_run"], _office(_asker(context))
    _, reason = _wanted(context)
    known = {"domain": about["domain"], "period": about["period"], "release_id": about["release_id"]}
    cycles.note_dag_run(engine, run.dag_id, run.run_id, **known, triggered_by=actor(engine), reason=reason)
    return actor(engine)


def _others(context: Any, asker: str) -> list[str]:
    """Who agreed to take exactly this release back for exactly this reason, here or elsewhere.
    The database counts them again.
    """
    from sdc_tasks.warehouse.operations import decisions

    return [each for each in decisions.withdrawers(_office(None), *_wanted(context)) if each != asker]


def _tell(context: Any, about: Any, what: str, said: str) -> None:
    """Shows the question on the pages of its cycle while this run asks, and sends it: the newest
    sentence of a run stands for it.
    """
    from sdc_alerts import announce

    announce(
        _office(None),
        about["domain"],
        about["period"],
        "retraction",
        f"{context['dag_run'].run_id} {what}",
        said,
    )


class Agreement(Question):
    """Asks somebody other than who triggered the run, where the domain file asks for approvals. His own
    answer does not count, nor that of somebody who asked for the same in another run. The warehouse
    stores the agreement under the name of the person. Without one the database lets nobody take the
    release back, whatever becomes of this task.

    **Pink:** the release was taken back meanwhile. **Red:** the answer was to keep the release.
    """

    def execute(self, context: Any) -> Any:
        release, reason = _wanted(context)
        about = _known(release)
        if not about["approvals_asked"]:
            log.info("nobody else has to agree: the domain file asks for no approval")
            return None
        if self.settled(context):
            return None
        # what Required Actions lists
        self.subject = f"{MAY} {about['domain']} {about['period']}, version {about['version']}"
        worded = reason.replace("`", "'")  # as it is written: no heading, link or picture of its own
        asker = _note(context, about).replace("`", "'")
        what = f"**{about['domain']} {about['period']}**, version {about['version']}: `{release}`"
        self.body = f"`{asker}` asks to take {what} back, for good\n\n**Reason**\n\n```\n{worded}\n```"
        _tell(
            context,
            about,
            "agree",
            f"{_note(context, about)} asks to take version {about['version']} back: {reason}. Somebody else "
            f"answers",
        )
        return super().execute(context)

    def settled(self, context: Any) -> bool:
        """Whether somebody else agreed, here or elsewhere. Raises AirflowSkipException
        where the release was taken back.
        """
        release, _ = _wanted(context)
        about = _known(release)
        if (reason := about["retracted"]) is not None:
            log.info("release %s was taken back meanwhile: %s", release, reason)
            raise AirflowSkipException("retracted meanwhile")
        if others := _others(context, _note(context, about)):
            log.info("agreed: %s", ", ".join(others))
            return True
        return False

    def answered(self, context: Any, event: dict[str, Any]) -> Any:
        """Records the agreement. Raises AirflowFailException where the release is kept,
        AirflowSkipException where it was taken back.
        """
        from sdc_tasks import steps
        from sdc_tasks.warehouse.forms.people import normal
        from sdc_tasks.warehouse.operations.decisions import OwnSubmission

        release, reason = _wanted(context)
        about = _known(release)
        asker = _note(context, about)
        person = (event["responded_by_user"] or {}).get("name") or ""
        if event["chosen_options"] != [RETRACT] and normal(person) != asker and about["retracted"] is None:
            raise refused(f"{person} keeps the release")
        if self.settled(context):
            return None
        try:
            steps.withdraw(_office(None), release, reason, person)
        except OwnSubmission:
            asks = f"{asker} asks to take version {about['version']} back: {reason}"
            said = (
                f"{asks}. Somebody else answers: the answer of {normal(person)} does not count, "
                f"who asked for it"
            )
            log.info("%s", said)
            _tell(context, about, f"own {normal(person)}", said)
            return self.execute(context)
        log.info("%s agrees", person)
        return None


@step
def retract() -> None:
    """Takes the release back, by the account that publishes. Then takes the public files and the
    report out of the output folder.

    **Red:** see the log: nothing was taken back, or the folder cannot be written; correct it and clear the
    task.
    """
    from sdc_tasks import outputs, steps

    context = get_current_context()
    release, reason = _wanted(context)
    about = _known(release)
    _note(context, about)  # `agree` may never have run
    user = _asker(context)
    office = _office(user)
    steps.retract(office, release, reason, user)
    folder = sdc_places.OUT.replace("{domain}", about["domain"]).replace("{period}", about["period"])
    if outputs.withdraw_public(office, about["domain"], about["period"], sdc_places.folder(folder)):
        log.info("%s: the public files and the report are taken away", folder)
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
        "reason": Param(
            type="string",
            minLength=1,
            maxLength=400,
            title="Reason",
            description="shown to the world in place of the table",
        ),
    },
) as dag:
    agree = Agreement(
        task_id="agree",
        subject=MAY,
        options=[RETRACT, KEEP],
        doc_md=Agreement.__doc__,
    )
    chain(agree, retract())
