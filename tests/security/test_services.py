"""Who holds what in a deployment: read off compose.yaml, and each service has no more than it needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import yaml

from sdc_tasks.errors import InvalidInput
from sdc_tasks.solver import cbc
from sdc_tasks.solver.milp import Milp, solve_milp

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docker"), str(ROOT / "plugins")]

# service → (variables with an account of the warehouse, accounts in its password file, may it
# write a delivery or a release?)
NEEDS = {
    "prepare": (
        set(),
        {
            "postgres",
            "airflow",
            "airflow_results",
            "release_owner",
            "release_worker",
            "release_publisher",
            "release_approver",
            "release_pages",
            "release_public",
        },
        set(),
    ),
    "api-server": ({"SDC_UI_URL"}, {"airflow", "release_pages"}, set()),
    "scheduler": ({"SDC_WAREHOUSE_URL"}, {"airflow", "airflow_results", "release_worker"}, set()),
    "dag-processor": ({"SDC_WAREHOUSE_URL"}, {"airflow", "airflow_results", "release_worker"}, set()),
    "triggerer": ({"SDC_WAREHOUSE_URL"}, {"airflow", "airflow_results", "release_worker"}, set()),
    "worker-default": (
        {"SDC_WAREHOUSE_URL", "SDC_PUBLISHER_URL", "SDC_APPROVER_URL"},
        {"airflow_results", "release_worker", "release_publisher", "release_approver"},
        {"out"},
    ),
    "worker-solver": ({"SDC_WAREHOUSE_URL"}, {"airflow_results", "release_worker"}, set()),
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8"))
    return found


def test_no_image_comes_by_a_name_alone(compose: dict[str, Any]) -> None:
    """Compose starts nothing without the digests of the office; the build asks its base image for one."""
    text = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8")
    named = set(re.findall(r"\$\{(SDC_\w+_IMAGE)(:[-?])", text))
    assert named == {("SDC_PYTHON_IMAGE", ":?"), ("SDC_POSTGRES_IMAGE", ":?"), ("SDC_REDIS_IMAGE", ":?")}
    images = {service["image"] for service in compose["services"].values()}
    assert all(image.startswith("${SDC_") for image in images)
    lines = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert {line for line in lines if line.startswith("FROM")} == {
        "FROM ${PYTHON} AS build",
        "FROM ${PYTHON}",
    }
    assert not [line for line in lines if line.startswith("ARG PYTHON=")]
    [check] = [line.removeprefix("RUN ") for line in lines if line.startswith("RUN case")]
    for image, code in (("python:3.11", 1), ("", 1), (f"python:3.11@sha256:{'0' * 64}", 0)):
        assert (
            subprocess.run(
                ["sh", "-c", check], env={"PYTHON": image}, capture_output=True, check=False
            ).returncode
            == code
        )


def test_every_service_of_ours_is_judged_here(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) - {"postgres", "redis"} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_a_service_has_the_accounts_that_it_works_with(compose: dict[str, Any], name: str) -> None:
    from seeds import ACCOUNTS_OF

    service = compose["services"][name]
    addresses, accounts, writes = NEEDS[name]
    assert {key for key in service["environment"] if key.startswith("SDC_") and key.endswith("_URL")} - {
        "SDC_SERVER_URL"
    } == addresses
    [file] = [secret for secret in service["secrets"] if secret.startswith("pgpass.")]
    assert service["environment"]["PGPASSFILE"].endswith(f"/{file}")
    assert set(ACCOUNTS_OF[file.removeprefix("pgpass.")]) == accounts
    mounts = {mount.partition(":")[0] for mount in service.get("volumes", []) if not mount.endswith(":ro")}
    assert mounts & {"inbox", "out", "domains"} == writes
    assert ("SDC_PAYLOAD_KEYS" in service["secrets"]) == (name.startswith("worker-") or name == "prepare")
    assert ("SDC_WAREHOUSE_SECRET" in service["secrets"]) == (name == "prepare")
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"]


def test_cbc_inherits_no_key_and_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDC_PAYLOAD_KEYS", "a key")
    monkeypatch.setenv("SDC_PUBLISHER_URL", "an address")
    real = cbc.cbc_program()
    seen = tmp_path / "environment"
    spy = tmp_path / "cbc"
    spy.write_text(f'#!/bin/sh\n/usr/bin/env > {seen}\nexec {real} "$@"\n')
    spy.chmod(0o755)
    start = cbc.Cbc.__init__

    def spied(self: Any, *given: Any, **named: Any) -> None:
        start(self, *given, **named)
        self.path = str(spy)

    monkeypatch.setattr(cbc.Cbc, "__init__", spied)
    one = np.array([1.0])
    model = Milp(
        np.array([2.0]), sp.csr_array(np.array([[1.0]])), one, one, np.array([0.0]), one, np.array([0])
    )
    found = solve_milp(model, "cbc", 30, 0.0)
    assert found.x is not None
    assert found.x.tolist() == [1.0]
    told = dict(line.split("=", 1) for line in seen.read_text().splitlines())
    assert set(told) <= {"LC_ALL", "PWD", "SHLVL", "_", "OLDPWD"}


@pytest.mark.parametrize(
    ("address", "within", "inside"),
    [
        ("{tmp}/in/sbs/2024", "{tmp}/in/sbs", True),
        ("{tmp}/in/sbs", "{tmp}/in/sbs", True),
        ("{tmp}/in/sbs/../other/2024", "{tmp}/in/sbs", False),
        ("{tmp}/in/sbs2/2024", "{tmp}/in/sbs", False),
        ("{tmp}/in/sbs/link", "{tmp}/in/sbs", False),
        ("/etc", "{tmp}/in/sbs", False),
        ("../../etc", "{tmp}/in/sbs", False),
        ("file:///etc", "{tmp}/in/sbs", False),
        ("s3://c@bucket/in/sbs/2024", "s3://c@bucket/in/sbs", True),
        ("s3://c@bucket/in/sbs2", "s3://c@bucket/in/sbs", False),
        ("s3://c@bucket/in/sbs/../x", "s3://c@bucket/in/sbs", False),
        ("s3://other@bucket/in/sbs", "s3://c@bucket/in/sbs", False),
        ("{tmp}/in/sbs", "s3://c@bucket/in/sbs", False),
    ],
)
def test_a_parameter_of_a_dag_leads_nowhere_else(
    tmp_path: Path, address: str, within: str, inside: bool
) -> None:
    import sdc_places

    (tmp_path / "in" / "sbs").mkdir(parents=True)
    (tmp_path / "in" / "sbs" / "link").symlink_to("/etc")
    address, within = address.replace("{tmp}", str(tmp_path)), within.replace("{tmp}", str(tmp_path))
    if inside:
        sdc_places.confine("inbox", address, within)
    else:
        with pytest.raises(InvalidInput, match="SDC_INBOX"):
            sdc_places.confine("inbox", address, within)


def test_the_root_is_that_of_the_domain() -> None:
    import sdc_places

    assert sdc_places.root("/data/inbox/{domain}/{period}", "sbs") == "/data/inbox/sbs"
    assert sdc_places.root("/data/{period}/{domain}", "sbs") == "/data"
    assert sdc_places.root("/data/in_{period}", "sbs") == "/data"
    assert sdc_places.root("/data/all", "sbs") == "/data/all"
