#!/usr/bin/env bash
# apache-airflow 3.3.2: a task mapped over an empty list is skipped, and so is all that comes after it; the
# run is a success.
# Why it matters: on a day without a delivery, or with a mistyped folder, the checks, the audit and the
# publication do not run, and monitoring by the state of the run says that all is well.
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
    def deliveries():
        with open(os.environ["AIRFLOW_HOME"] + "/told", "a") as told:
            print("deliveries found: 0", file=told)
        return []

    @task
    def check(file):
        return file

    @task
    def audit(checked):
        with open(os.environ["AIRFLOW_HOME"] + "/told", "a") as told:
            print("audited", file=told)

    audit(check.expand(file=deliveries()))


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
deliveries found: 0
run: success
SEEN
