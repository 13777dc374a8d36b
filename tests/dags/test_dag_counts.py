"""The DAG of a domain with a magnitude and a count, in a process of its own as `make release` runs it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.dags.airflow_home import DAGS
from support.payload_key import WAREHOUSE_SECRET
from support.two_indicators import write_two_indicators


@pytest.mark.slow
def test_a_count_goes_through_the_dag_beside_a_magnitude(tmp_path: Path) -> None:
    path = write_two_indicators(tmp_path, 3, 8, 3)
    out = tmp_path / "out"
    wanted = ["--domain", path, "--period", "2024", "--inbox", tmp_path / "inbox", "--out", out]
    home = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{tmp_path / 'airflow.db'}",
    }
    home["SDC_WAREHOUSE_SECRET"] = WAREHOUSE_SECRET  # it draws the counts, so it is kept
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SDC_"))}
    command = [sys.executable, DAGS / "run_here.py", *wanted]
    run = subprocess.run(
        [str(each) for each in command], env=kept | home, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    told = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert (told["verdict"], told["small_counts"]) == ("passed", [])
    with (out / "table.csv").open(newline="", encoding="utf-8") as lines:
        counts = [int(row["OBS_VALUE"]) for row in csv.DictReader(lines) if row["INDICATOR"] == "ENTERPRISES"]
    assert counts
    assert not [count for count in counts if 0 < count < 3]
    assert "Indicators rounded as whole tables" in (out / "report.html").read_text(encoding="utf-8")
