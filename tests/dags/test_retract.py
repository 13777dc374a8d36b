"""A published release is taken back through Airflow, by somebody else's leave where the domain asks for approvals."""

from __future__ import annotations

from typing import Any

from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.log import entries
from support.dags.airflow_home import AGREED, HOME, PLAIN
from support.dags.in_process import Flight

REASON = "AT sent thousands for millions"


def test_a_release_is_taken_back_in_the_name_of_who_triggered_it(bag: Any, deliver: Any, warehouse_of_run: Any) -> None:
    for country in ("AT", "BE"):
        deliver(PLAIN, country)
    assert Flight.start(bag, f"eu_release_{PLAIN}", period="2024").state == "success"
    [out] = reader.releases(warehouse_of_run)
    table = HOME / "out" / PLAIN / "2024" / "table.csv"
    written = table.read_bytes()
    assert Flight.start(bag, f"after_embargo_{PLAIN}", period="2024").tasks == {"table": "skipped"}, "it is there already"
    table.unlink()
    assert Flight.start(bag, f"after_embargo_{PLAIN}", period="2024").state == "success"
    assert table.read_bytes() == written, "as at the end of an embargo"
    assert Flight.start(bag, f"after_embargo_{PLAIN}", period="2023").tasks == {"table": "skipped"}, "nothing is out"
    wrong = Flight.start(bag, "retract_release", release="nothing-2024", reason=REASON)
    assert (wrong.state, wrong.in_state("failed")) == ("failed", {"agree"})
    assert Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON).state == "success"
    assert [each.retracted for each in reader.releases(warehouse_of_run)] == [REASON]
    assert [(each.actor, each.subject) for each in entries(warehouse_of_run) if each.action == "retract"] == [("dora", out.release_id)]
    again = Flight.start(bag, "retract_release", release=out.release_id, reason="another")
    assert again.in_state("failed") == {"retract"}


def test_somebody_else_agrees_where_the_domain_asks_for_approvals(bag: Any, deliver: Any, warehouse_of_run: Any) -> None:
    for country in ("AT", "BE"):
        deliver(AGREED, country)
    run = Flight.start(bag, f"eu_release_{AGREED}", user="anna", period="2024")
    run.answer("approve_1", "bert").answer("approve_2", "cleo")
    [out] = reader.releases(warehouse_of_run)

    kept = Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON)
    told = kept.asked("agree")
    assert all(said in told for said in (AGREED, "2024", "version 1", out.release_id, REASON))
    assert f"```\n{REASON}\n```" in told, "the reason is shown as it is written: it makes no line, link or picture of its own"

    def shown() -> list[str]:
        return [each["said"] for each in reader.alerts(warehouse_of_run, AGREED, "2024")]

    assert shown() == [f"dora asks to take version 1 back: {REASON}. Somebody else answers"]
    kept.answer("agree", "Dora", "Retract")
    assert kept.in_state("awaiting_input") == {"agree"}, "her own answer does not count"
    assert len(shown()) == 2, "she is told so on the pages"
    kept.answer("agree", "bert", "Keep")
    assert kept.in_state("failed") == {"agree"}
    assert [each.retracted for each in reader.releases(warehouse_of_run)] == [None]

    asked_twice = Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON)
    assert asked_twice.look().in_state("awaiting_input") == {"agree"}
    back = Flight.start(bag, "retract_release", user="dora", release=out.release_id, reason=REASON)
    back.answer("agree", "bert", "Retract")
    assert back.state == "success"
    assert [each.retracted for each in reader.releases(warehouse_of_run)] == [REASON]
    assert asked_twice.look().tasks == {"agree": "skipped", "retract": "skipped"}, "there is nothing left to decide"
