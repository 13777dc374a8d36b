"""What can be done about a cycle or a release where its state stands: run the release, read countries again,
retract.

An action is a call of Airflow's own REST API. The script of the page makes it after a question, with the
cookie of the person who is signed in: Airflow checks the right, keeps the audit trail, and knows who
triggered the run. The pages themselves write nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sdc_tasks.warehouse.forms.people import normal
from sdc_ui.shared.runs import DagRun, under_way
from sdc_ui.shared.standing import ReleaseLine, Standing
from sdc_ui.shared.steps import Came, Instance

DONE = (Standing.PUBLISHED, Standing.UNCHANGED, Standing.EMBARGOED, Standing.APPROVAL, Standing.RUNNING)


@dataclass(frozen=True)
class Rights:
    """What the reader of the page may do to the release runs of a domain, as Airflow's auth manager says.
    `gone`: there is no DAG that makes them, because the domain file is refused or was taken away. `paused`:
    it is switched off, so none of its runs goes on. `unwatched`: nobody reads files as they arrive. `agree`:
    to that a release is taken back.
    """

    run: bool
    clear: bool
    retract: bool
    answer: bool
    approve: bool
    gone: bool = False
    paused: bool = False
    unwatched: bool = False
    agree: bool = False


@dataclass(frozen=True)
class Action:
    """A button: its `label`, the sentence of the question (`about`), and the call it makes.

    `asks` is the label of the text that somebody must give; the call takes it as parameter `field`. Without
    the right (`allowed`) the button is shown and cannot be pressed. `urgent`: the cycle waits for it.
    """

    label: str
    about: str
    path: str
    body: str
    allowed: bool
    urgent: bool = False
    asks: str = ""
    field: str = "reason"


def actions(
    rights: Rights,
    newest: ReleaseLine | None,
    run: DagRun | None = None,
    failed: Sequence[Instance] = (),
    *,
    domain: str,
    period: str,
    ready: bool = False,
    unread: Sequence[str] = (),
) -> tuple[Action, ...]:
    """The actions for a cycle: to run the release where that can change something, and to read the
    failed countries of its run again. `ready`: a run takes in something new. `unread`: what lies
    in the inbox and stops every run.
    """
    found: list[Action] = []
    if rights.gone:
        return ()
    if failed and run is not None:
        found.append(_clear(rights, run.dag_id, run.run_id, failed))
    if runnable(newest, run):
        retracted = newest is not None and newest.standing is Standing.RETRACTED and not newest.takes_in
        found.append(_run(rights, domain, period, urgent=ready, unread=unread, retracted=retracted))
    return tuple(found)


def runnable(newest: ReleaseLine | None, run: DagRun | None) -> bool:
    """Whether a further run of the cycle can change something. `run` is its newest one: while it makes
    a later release, no other does.
    """
    if under_way(newest, run):
        return False
    if newest is not None and (newest.second or newest.gave_way):
        return False
    if newest is not None and newest.takes_in and newest.standing is not Standing.RUNNING:
        return True
    return not (run is not None and run.busy) and (newest is None or newest.standing not in DONE)


@dataclass(frozen=True)
class Asked:
    """The question that a run of Airflow asks about a release, and whether the reader of the
    page may answer it; if not, `why`.
    """

    run: DagRun
    allowed: bool
    why: str


def asked(rights: Rights, reader: str, line: ReleaseLine | None, run: DagRun | None) -> Asked | None:
    """The question about a release that waits for an approval. `run` is the run that asks it; None where none
    does.
    """
    if line is None or run is None or line.standing is not Standing.APPROVAL:
        return None
    if not rights.approve:
        return Asked(run, False, "Your role may read, not answer.")
    if normal(reader) in map(normal, line.starters):
        return Asked(run, False, "You started this release: somebody else answers.")
    if normal(reader) in map(normal, line.agreed):
        return Asked(run, False, "You have agreed: somebody else answers now.")
    return Asked(run, True, "")


def asked_back(rights: Rights, reader: str, takings: Sequence[DagRun]) -> dict[str, Asked]:
    """Run → its question whether a release is taken back, of the runs that ask. `takings`: all runs
    of the cycle that asked, or ask.
    """
    return {each.run_id: _asked_back(rights, reader, each, takings) for each in takings if each.busy}


def _asked_back(rights: Rights, reader: str, run: DagRun, takings: Sequence[DagRun]) -> Asked:
    same = (each for each in takings if (each.release_id, each.reason) == (run.release_id, run.reason))
    if not rights.agree:
        return Asked(run, False, "Your role may read, not answer.")
    if normal(reader) == normal(run.triggered_by):
        return Asked(run, False, "You asked for it: somebody else answers.")
    if normal(reader) in {normal(each.triggered_by) for each in same}:
        return Asked(
            run,
            False,
            "You asked for the same: somebody else answers, or one of you asks again with another reason.",
        )
    return Asked(run, True, "")


def clearing(rights: Rights, came: Came | None) -> tuple[Action, ...]:
    """The action to read one file again, in the release that refused it."""
    return () if came is None else (_clear(rights, came.dag_id, came.run_id, (came.task,)),)


ANSWERS = {
    "keep": (
        "Keep the file that counts",
        "Keep the files that count",
        "{} does not count. What counted before it counts.",
    ),
    "replace": (
        "Replace by the second file",
        "Replace by all of them",
        "{} counts instead of all other files of the country.",
    ),
    "both": (
        "Both are parts",
        "All are parts",
        (
            "{} and what counts are parts of one delivery. Where two hold the same cell with different "
            "content, "
            "it is refused."
        ),
    ),
}


def answers(
    rights: Rights,
    domain: str,
    period: str,
    files: Sequence[str],
    given: Sequence[str] = tuple(ANSWERS),
    *,
    shown: Mapping[str, str],
    urgent: bool = True,
) -> tuple[Action, ...]:
    """The answers to the question what these second files of a country are, about all of them at once. Not
    `urgent`: another answer was given before.
    """
    if not files:
        return ()
    conf = {"domain": domain, "period": period, "files": list(files), "shown": dict(shown)}
    return tuple(
        Action(
            ANSWERS[answer][len(files) > 1] if urgent else f"Answer {answer}",
            ANSWERS[answer][2].format(", ".join(files))
            + " The log keeps the answer with your name."
            + (" The answer before it counts no more." if not urgent else ""),
            "dags/second_file/dagRuns",
            json.dumps({"logical_date": None, "conf": conf | {"answer": answer}}),
            rights.answer,
            urgent=urgent,
            asks="Who said so, and why",
            field="note",
        )
        for answer in given
    )


def retraction(rights: Rights, line: ReleaseLine, out: ReleaseLine | None) -> tuple[Action, ...]:
    """The action to take a release back, where it is published and still stands. `out`:
    the version that the world sees.
    """
    if line.version is None or line.retracted is not None:
        return ()
    agreed = "once somebody else has agreed" if line.approvals_asked else "and nobody else is asked"
    world = (
        f"The world then sees the reason in place of the "
        f"table{'' if line.visible else ', when the embargo ends'}."
    )
    if out is not None and (out.version or 0) > line.version:
        world = f"The world goes on seeing version {out.version}."
    about = f"Takes version {line.version} of {line.domain} {line.period} back for good, {agreed}. {world}"
    body = {"logical_date": None, "conf": {"release": line.release_id}}
    reason = "Reason, shown to the world in place of the table"
    return (
        Action(
            "Retract", about, "dags/retract_release/dagRuns", json.dumps(body), rights.retract, asks=reason
        ),
    )


def _run(
    rights: Rights, domain: str, period: str, *, urgent: bool, unread: Sequence[str], retracted: bool
) -> Action:
    about = (
        f"Starts a run of eu_release_{domain} for {period}. It takes in the files that lie in the inbox. "
        "No step is done twice; without anything new it makes no second version."
    )
    if unread:
        about += f" It stops while {', '.join(unread)} lies there, which is not read: take it away first."
    if retracted:
        about += (
            " The files that were retracted do not go out again: put the corrected ones into the inbox first."
        )
    body = {"logical_date": None, "conf": {"period": period}}
    return Action(
        "Run release", about, f"dags/eu_release_{quote(domain)}/dagRuns", json.dumps(body), rights.run, urgent
    )


def _clear(rights: Rights, dag_id: str, run_id: str, failed: Sequence[Instance]) -> Action:
    names = ", ".join(each.label or str(each.map_index) for each in failed)
    about = (
        f"Reads {names} in the inbox again; the release goes on by itself. What was not corrected is refused "
        f"again. "
        f"(Clears {failed[0].task_id}, with Downstream.)"
    )
    body = {
        "dry_run": False,
        "dag_run_id": run_id,
        "task_ids": [[each.task_id, each.map_index] for each in failed],
        "include_downstream": True,
        "only_failed": False,
        "reset_dag_runs": True,
    }
    label = "Clear all corrected countries" if len(failed) > 1 else f"Clear {names}"
    return Action(
        label, about, f"dags/{quote(dag_id)}/clearTaskInstances", json.dumps(body), rights.clear, urgent=True
    )
