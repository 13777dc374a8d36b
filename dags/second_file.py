"""Says what a second file of a country is, and judges what counts then."""

from __future__ import annotations

from typing import Any

from airflow.sdk import DAG, Param, get_current_context
from sdc_dags.domains import source_of
from sdc_dags.run import desk, note_run
from sdc_dags.tasks import DEFAULTS, log, step

from sdc_tasks.domains.calendar import PERIOD

ANSWERS = {
    "keep": "keep the files that count; this one does not count",
    "replace": "this file counts instead of the files before",
    "both": "all are parts of one delivery",
}
ABOUT = """
A country's files are accepted, and another file of it came under another name: it waits, and no release is
made meanwhile. Trigger this DAG
with the answer. The log of the warehouse keeps it with your name. What counts then is judged at once;
trigger the release afterwards.
Several files that count together are answered together.

### When something is red
- **`settle`**: no such file waits, or the delivery is refused; the log says which. While the file lies in
  the inbox, trigger this DAG again
  with another answer: the newest one counts.
"""


@step
def settle() -> None:
    """Records the answer under the name of who triggered the run. **Red:** see the log."""
    from sdc_tasks import steps
    from sdc_tasks.model.series import Answer

    context = get_current_context()
    given: dict[str, Any] = dict(context["params"])
    at = desk(str(source_of(given["domain"])), given["period"])
    note_run(at)
    steps.settle(
        at,
        given["files"],
        Answer(given["answer"]),
        given["note"] or "",
        context["dag_run"].run_id,
        given["shown"],
    )
    log.info("%s: %s", ", ".join(given["files"]), ANSWERS[given["answer"]])


with DAG(
    dag_id="second_file",
    description="says what a second file of a country is",
    doc_md=ABOUT,
    schedule=None,
    is_paused_upon_creation=False,  # it does nothing by itself, and buttons of the pages trigger it
    catchup=False,
    default_args=DEFAULTS,
    tags=["delivery"],
    params={
        "domain": Param(type="string", minLength=1, title="Domain", description="such as sbs"),
        "period": Param(type="string", pattern=PERIOD, title="Reference period"),
        "files": Param(
            type="array",
            items={"type": "string"},
            minItems=1,
            title="Files",
            description="the names of the files that wait",
        ),
        "answer": Param(type="string", enum=list(ANSWERS), values_display=ANSWERS, title="What they are"),
        "note": Param(None, type=["null", "string"], title="Note", description="kept with the answer"),
        "shown": Param(
            None,
            type=["null", "object"],
            title="Seen",
            description="digest of each file that was seen → answer, if any",
        ),
    },
) as dag:
    settle()
