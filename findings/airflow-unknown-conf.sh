#!/usr/bin/env bash
# apache-airflow 3.3.2: a run whose configuration names no parameter of the DAG (perod for period) is not
# refused; the parameter keeps its default.
# Why it matters: a release of 2024 that is started with a mistyped key computes 2023 and ends as a success.
# Compare the keys with the parameters in the first task.
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

from airflow.sdk import Param, dag, task


@dag(schedule=None, dag_id="release", params={"period": Param("2023", type="string", pattern="^20[0-9]{2}$")})
def release():
    @task
    def compute(params=None):
        with open(os.environ["AIRFLOW_HOME"] + "/told", "a") as told:
            print("asked for 2024, computed", params["period"], file=told)

    compute()


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
        run = dag.test(run_conf={"perod": "2024"})
with open(os.environ["AIRFLOW_HOME"] + "/told") as told:
    print(told.read(), end="")
print("run:", run.state.value)
PY
diff "$folder/seen" - <<'SEEN'
asked for 2024, computed 2023
run: success
SEEN
