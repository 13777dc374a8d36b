"""A published release is taken back through Airflow, by somebody else's leave where the domain asks for
approvals.
"""

from __future__ import annotations

from typing import Any

from sdc_tasks.model.public_files import PUBLIC_FILES
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import acting
from sdc_tasks.warehouse.log import entries
from sdc_tasks.warehouse.operations.decisions import withdraw
from support.dags.airflow_home import AGREED, HOME, PLAIN
from support.dags.in_process import Flight

REASON = "AT sent thousands for millions"


def test_a_release_is_taken_back_in_the_name_of_who_triggered_it(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    for country in ("AT", "BE"):
        deliver(PLAIN, country)
    assert Flight.start(bag, f"eu_release_{PLAIN}", period="2024").state == "success"
    [out] = reader.releases(warehouse_of_run)
    table = HOME / "out" / PLAIN / "2024" / "table.csv"
    written = table.read_bytes()
    assert Flight.start(bag, f"after_embargo_{PLAIN}", period="2024").tasks == {"table": "skipped"}, (
        "it is there already"
    )
    table.unlink()
    assert Flight.start(bag, f"after_embargo_{PLAIN}", period="2024").state == "success"
    assert table.read_bytes() == written, "as at the end of an embargo"
    assert Flight.start(bag, f"after_embargo_{PLAIN}", period="2023").tasks == {"table": "skipped"}, (
        "nothing is out"
    )
    wrong = Flight.start(bag, "retract_release", release="nothing-2024", reason=REASON)
    assert (wrong.state, wrong.in_state("failed")) == ("failed", {"agree"})
    beside = sorted(each.name for each in table.parent.iterdir())
    assert (
        Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON).state
        == "success"
    )
    left = sorted(each.name for each in table.parent.iterdir())
    gone = set(beside) & {"report.html", *PUBLIC_FILES}
    assert set(beside) - set(left) == gone, (
        "the files that the world had, and the report, are taken away with it"
    )
    assert [each.retracted for each in reader.releases(warehouse_of_run)] == [REASON]
    assert [(each.actor, each.subject) for each in entries(warehouse_of_run) if each.action == "retract"] == [
        ("dora", out.release_id)
    ]
    again = Flight.start(bag, "retract_release", release=out.release_id, reason="another")
    assert again.in_state("failed") == {"retract"}


def test_somebody_else_agrees_where_the_domain_asks_for_approvals(
    bag: Any, deliver: Any, warehouse_of_run: Any
) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, f"eu_release_{AGREED}", user="anna", period="2024")
    run.answer("approve_1", "bert").answer("approve_2", "cleo")
    [out] = reader.releases(warehouse_of_run)

    kept = Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON)
    told = kept.asked("agree")
    assert all(said in told for said in (AGREED, "2024", "version 1", out.release_id, REASON))
    assert f"```\n{REASON}\n```" in told, (
        "the reason is shown as it is written: it makes no line, link or picture of its own"
    )

    def shown() -> list[str]:
        return [each["said"] for each in reader.alerts(warehouse_of_run, AGREED, "2024")]

    assert shown() == [f"dora asks to take version 1 back: {REASON}. Somebody else answers"]
    kept.answer("agree", "Dora", "Retract")
    assert kept.in_state("awaiting_input") == {"agree"}, "her own answer does not count"
    assert shown() == [
        (
            f"dora asks to take version 1 back: {REASON}. Somebody else answers: the answer of dora does not "
            f"count, who asked for it"
        )
    ], "she is told so on the pages, in one sentence for one question"
    kept.answer("agree", "bert", "Keep")
    assert kept.in_state("failed") == {"agree"}
    assert [each.retracted for each in reader.releases(warehouse_of_run)] == [None]

    asked_twice = Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON)
    assert asked_twice.look().in_state("awaiting_input") == {"agree"}
    back = Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON)
    assert shown() == [f"dora asks to take version 1 back: {REASON}. Somebody else answers"], (
        "two runs ask the same"
    )
    back.answer("agree", "bert", "Retract")
    assert back.state == "success"
    told = [
        (each.actor, each.action) for each in entries(warehouse_of_run) if each.action in ("agree", "retract")
    ]
    assert told == [("bert", "agree"), ("dora", "retract")]
    assert [each.retracted for each in reader.releases(warehouse_of_run)] == [REASON]
    assert asked_twice.look().tasks == {"agree": "skipped", "retract": "skipped"}, (
        "there is nothing left to decide"
    )


def published(bag: Any, deliver: Any, warehouse: Any) -> str:
    """A release to which two people agreed."""
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, f"eu_release_{AGREED}", user="anna", period="2024")
    run.answer("approve_1", "bert").answer("approve_2", "cleo")
    [out] = reader.releases(warehouse)
    return str(out.release_id)


def test_who_asked_takes_nothing_back_alone(bag: Any, deliver: Any, warehouse_of_run: Any) -> None:
    """Marked by hand, `agree` is green; the database asks who agreed. Nor does another
    run of hers agree to the first.
    """
    release = published(bag, deliver, warehouse_of_run)

    def taken_back() -> list[str | None]:
        return [each.retracted for each in reader.releases(warehouse_of_run)]

    run = Flight.start(bag, "retract_release", user="dora", release=release, reason=REASON)
    run.mark("agree")
    assert (run.tasks["agree"], run.tasks["retract"], taken_back()) == ("success", "failed", [None])
    also = Flight.start(bag, "retract_release", user="bert", release=release, reason=REASON)
    also.answer("agree", "dora", "Retract")
    assert also.in_state("awaiting_input") == {"agree"}, "she asked for the same"
    reasoned = Flight.start(bag, "retract_release", user="dora", release=release, reason="another reason")
    reasoned.answer("agree", "cleo", "Retract")
    assert (reasoned.state, taken_back()) == ("success", ["another reason"])
    run.clear("agree")
    assert run.tasks == {"agree": "skipped", "retract": "skipped"}


def test_an_agreement_is_to_one_release_and_one_reason(bag: Any, deliver: Any, warehouse_of_run: Any) -> None:
    """What somebody else agreed to in another run, or at a shell, counts for exactly that."""
    release = published(bag, deliver, warehouse_of_run)
    run = Flight.start(bag, "retract_release", user="dora", release=release, reason=REASON)
    withdraw(acting(warehouse_of_run, "cleo"), release, "another reason")
    run.mark("agree")
    assert run.tasks["retract"] == "failed"
    run.clear("agree")
    assert run.in_state("awaiting_input") == {"agree"}, "asked again"
    withdraw(acting(warehouse_of_run, "cleo"), release, f" {REASON}\n")
    run.look()
    assert (run.state, [each.retracted for each in reader.releases(warehouse_of_run)]) == (
        "success",
        [REASON],
    )
