"""The DAGs as the DAG processor sees them: which there are, what follows what, and that reading them is cheap."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from airflow_home import BLOCK, DAGS, PARTIAL, REFUSED

EDGES = """
    discover      -> assemble check ingest
    ingest        -> check
    check         -> assemble
    assemble      -> baseline
    baseline      -> bases cta_1_auto cta_2_milp
    cta_1_auto    -> cta_2_milp cta_outcome
    cta_2_milp    -> cta_outcome
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
    return {task.strip(): sorted(after.split()) for task, after in (line.split("->") for line in text.strip().splitlines())}


def test_one_dag_per_domain_file(bag: Any) -> None:
    assert bag.import_errors == {}
    assert set(bag.dags) == {f"eu_release_{domain}" for domain in ("sbs", BLOCK, PARTIAL, REFUSED)}


def test_the_graph_of_a_release(bag: Any) -> None:
    assert edges(bag.dags["eu_release_sbs"]) == edges(bag.dags[f"eu_release_{BLOCK}"]) == drawn(EDGES)


def test_a_task_that_is_red_says_what_to_do(bag: Any) -> None:
    for dag in bag.dags.values():
        assert dag.doc_md
        assert [task.task_id for task in dag.tasks if not task.doc_md] == []


def test_no_run_beside_another_and_a_limit_on_every_task(bag: Any) -> None:
    dag = bag.dags["eu_release_sbs"]
    assert dag.max_active_runs == 1
    assert all(task.execution_timeout is not None for task in dag.tasks)


def test_a_refused_domain_file_has_a_dag_that_says_so(bag: Any) -> None:
    assert "typo" in bag.dags[f"eu_release_{REFUSED}"].doc_md


def test_the_warehouse_is_no_parameter(bag: Any) -> None:
    assert set(bag.dags["eu_release_sbs"].params) == {"period", "inbox", "out"}


def test_parsing_imports_neither_solver_nor_checks() -> None:
    heavy = "{'pulp', 'highspy', 'great_expectations', 'pandas', 'matplotlib', 'sdc_tasks.steps', 'sdc_tasks.pipeline'}"
    program = f"import sys; sys.path.insert(0, {str(DAGS)!r}); import eu_release; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
