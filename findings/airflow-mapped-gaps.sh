#!/usr/bin/env bash
# apache-airflow 3.3.2: the results of a mapped task have no gap where an instance returned None or was
# skipped. Joined with the list that it was mapped over, each later result stands beside another key.
# Why it matters: one task a country, and one country without a delivery: the total of the next country is
# published under its name. Return the key with the value.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "apache-airflow==3.3.2"
export AIRFLOW_HOME="$folder" AIRFLOW__CORE__LOAD_EXAMPLES=False AIRFLOW__LOGGING__LOGGING_LEVEL=CRITICAL
export AIRFLOW__USAGE_DATA_COLLECTION__ENABLED=False
"$folder/env/bin/airflow" db migrate > "$folder/log" 2>&1
mkdir "$folder/dags"
cat > "$folder/dags/release.py" <<'DAG'
import os

from airflow.sdk import dag, task


@dag(schedule=None, dag_id="release")
def release():
    @task
    def countries():
        return ["AT", "BE", "CY"]

    @task
    def total(country):
        return {"AT": 1.0, "CY": 3.0}.get(country)

    @task
    def publish(names, totals):
        with open(os.environ["AIRFLOW_HOME"] + "/told", "a") as told:
            print("AT has 1.0, BE nothing, CY 3.0:", list(zip(names, totals)), file=told)

    names = countries()
    publish(names, total.expand(country=names))


release()
DAG
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import contextlib
import os
import warnings

warnings.simplefilter("ignore")
with open(os.environ["AIRFLOW_HOME"] + "/log", "a") as log:
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        from airflow.dag_processing.dagbag import DagBag

        bag = DagBag(os.environ["AIRFLOW_HOME"] + "/dags")
        dag = bag.dags["release"]
        run = dag.test(run_conf={})
with open(os.environ["AIRFLOW_HOME"] + "/told") as told:
    print(told.read(), end="")
print("run:", run.state.value)
PY
diff "$folder/seen" - <<'SEEN'
AT has 1.0, BE nothing, CY 3.0: [('AT', 1), ('BE', 3)]
run: success
SEEN
