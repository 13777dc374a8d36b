"""The DAGs as the DAG processor sees them: which there are, what follows what, and that reading them is
cheap.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from support.dags.airflow_home import AGREED, BLOCK, CYCLES, DAGS, PARTIAL, PLAIN, RECEIVER, REFUSED

EDGES = """
    discover      -> assemble ingest
    ingest        -> assemble
    assemble      -> baseline
    baseline      -> bases cta_1_auto cta_2_bcd cta_3_milp cta_outcome
    cta_1_auto    -> cta_2_bcd cta_outcome
    cta_2_bcd     -> cta_3_milp cta_outcome
    cta_3_milp    -> cta_outcome
    cta_outcome   -> bases
    bases         -> audit
    audit         -> verdict
    verdict       -> publish report
    publish       -> released report
    report        -> released
    released      ->
"""


def edges(dag: Any) -> dict[str, list[str]]:
    return {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks}


def drawn(text: str) -> dict[str, list[str]]:
    return {
        task.strip(): sorted(after.split())
        for task, after in (line.split("->") for line in text.strip().splitlines())
    }


def test_one_dag_per_domain_file(bag: Any) -> None:
    assert bag.import_errors == {}
    domains = ("sbs", BLOCK, PARTIAL, REFUSED, PLAIN, AGREED, CYCLES, RECEIVER)
    assert set(bag.dags) == {
        "maintenance",
        "retract_release",
        "second_file",
        *(
            f"{kind}_{domain}"
            for kind in ("eu_release", "national_delivery", "after_embargo")
            for domain in domains
        ),
    }


def test_the_graph_of_a_release(bag: Any) -> None:
    assert edges(bag.dags["eu_release_sbs"]) == edges(bag.dags[f"eu_release_{BLOCK}"]) == drawn(EDGES)


def test_the_graph_where_the_receiver_sets_secondaries(bag: Any) -> None:
    found, usual = (edges(bag.dags[f"eu_release_{name}"]) for name in (RECEIVER, PLAIN))
    assert (found.pop("collect"), found.pop("suppress")) == (["suppress"], ["assemble"])
    assert found == usual | {"discover": ["collect", "ingest"], "ingest": ["collect"]}
    task = bag.dags[f"eu_release_{RECEIVER}"].task_dict["suppress"]
    assert (task.queue, task.pool) == ("solver", "solver")


def test_pages_show_the_steps_in_the_order_of_the_graph(bag: Any) -> None:
    from sdc_ui.shared.steps import GRAPH, place

    for name in (AGREED, RECEIVER):
        tasks = bag.dags[f"eu_release_{name}"].tasks
        assert all(place(task.task_id)[0] < len(GRAPH) for task in tasks)
        for task in tasks:
            assert all(place(task.task_id) < place(after) for after in task.downstream_task_ids), task.task_id


def test_people_are_asked_between_verdict_and_publication(bag: Any) -> None:
    found = edges(bag.dags[f"eu_release_{AGREED}"])
    assert found["verdict"] == ["approve_1", "report"]
    assert (found["approve_1"], found["approve_2"]) == (["approve_2"], ["publish"])


def test_the_graph_of_deliveries(bag: Any) -> None:
    assert edges(bag.dags["national_delivery_sbs"]) == {
        "arrived": ["judge", "outdated", "ready"],
        "judge": ["outdated", "ready"],
        "outdated": [],
        "ready": [],
    }


def test_airflow_s_own_graph_leads_from_deliveries_to_the_release(bag: Any) -> None:
    def told(dag: str, task: str) -> tuple[list[str], list[str]]:
        found = bag.dags[f"{dag}_sbs"].task_dict[task]
        return [each.name for each in found.inlets], [each.name for each in found.outlets]

    assert told("national_delivery", "judge") == ([], ["accepted_sbs"])
    assert told("national_delivery", "ready") == (["accepted_sbs"], ["ready_sbs"])
    assert told("eu_release", "publish") == (["accepted_sbs"], ["published_sbs"])
    assert told("national_delivery", "outdated") == (["accepted_sbs", "published_sbs"], ["stale_sbs"])


def test_a_task_that_is_red_says_what_to_do(bag: Any) -> None:
    for dag in bag.dags.values():
        assert dag.doc_md
        assert [task.task_id for task in dag.tasks if not task.doc_md] == []


def test_a_run_that_waits_for_people_holds_up_no_other(bag: Any) -> None:
    """It holds no place in the pool of the solvers, and more runs may wait than a domain has periods."""
    from airflow.sdk.bases.operator import BaseOperator
    from airflow.ti_deps.dependencies_states import EXECUTION_STATES
    from airflow.utils.state import TaskInstanceState

    dag = bag.dags[f"eu_release_{AGREED}"]
    question = dag.task_dict["approve_1"]
    assert dag.max_active_runs >= 1_000
    assert isinstance(question, BaseOperator)
    assert (question.pool, question.queue) == ("default_pool", "default")
    assert TaskInstanceState.AWAITING_INPUT not in EXECUTION_STATES


def test_the_priority_of_a_domain_is_that_of_all_its_tasks(bag: Any) -> None:
    """Where tasks of two domains wait for one solver, those of the larger number go first."""
    for domain, number in ((PLAIN, 1), (CYCLES, 7)):
        tasks = bag.dags[f"eu_release_{domain}"].tasks
        assert {(task.priority_weight, str(task.weight_rule)) for task in tasks} == {(number, "absolute")}


def test_a_limit_on_every_task(bag: Any) -> None:
    dag = bag.dags["eu_release_sbs"]
    assert all(task.execution_timeout is not None for task in dag.tasks)


def test_what_is_heavy_goes_to_the_workers_with_the_solvers(bag: Any) -> None:
    heavy = {"baseline", "cta_1_auto", "cta_2_bcd", "cta_3_milp", "bases", "audit"}
    for task in bag.dags["eu_release_sbs"].tasks:
        assert (task.queue, task.pool) == (
            ("solver", "solver") if task.task_id in heavy else ("default", "default_pool")
        )
    rung = bag.dags["eu_release_sbs"].task_dict["cta_1_auto"]
    assert rung.execution_timeout.total_seconds() > 1800, "the rung's own limit comes first"


def test_what_buttons_trigger_does_not_wait_for_somebody_to_switch_it_on(bag: Any) -> None:
    on = {dag_id for dag_id, dag in bag.dags.items() if dag.is_paused_upon_creation is False}
    buttons = {"second_file", "retract_release"}
    assert not any(bag.dags[dag_id].timetable.can_be_scheduled for dag_id in buttons)
    assert {dag_id for dag_id in on if not dag_id.startswith("after_embargo_")} == buttons
    sound = {dag_id for dag_id, dag in bag.dags.items() if "refused" not in dag.tags}
    assert {dag_id for dag_id in sound if dag_id.startswith("after_embargo_")} < on, (
        "the table is written when the embargo ends"
    )


def test_a_refused_domain_file_has_a_dag_that_says_so(bag: Any) -> None:
    assert "typo" in bag.dags[f"eu_release_{REFUSED}"].doc_md


def test_the_warehouse_is_no_parameter(bag: Any) -> None:
    assert set(bag.dags["eu_release_sbs"].params) == {"period", "inbox", "out"}


def test_parsing_imports_neither_solver_nor_checks() -> None:
    heavy = (
        "{'pulp', 'highspy', 'great_expectations', 'pandas', 'matplotlib', "
        "'sdc_tasks.steps', 'sdc_tasks.pipeline'}"
    )
    folders = [str(DAGS), str(DAGS.parent / "plugins")]
    modules = "after_embargo, eu_release, maintenance, national_delivery, retract_release, second_file"
    program = (
        f"import sys; sys.path[:0] = {folders}; import {modules}; print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
