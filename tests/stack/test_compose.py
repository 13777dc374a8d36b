"""The compose file: what Docker makes of it, who gets which secret, and that stack.py starts the same
services with the same variables.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from seeds import ACCOUNTS_OF, seed
from stack import Stack
from topology import as_process, services, variables

from support import stack_fixture  # puts docker/ on the path

DOCKER = stack_fixture.ROOT / "docker"
AIRFLOW = {"api-server", "scheduler", "dag-processor", "triggerer", "worker-default", "worker-solver"}
SERVERS = {"postgres", "redis"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8")))


def resolved(value: str) -> str:
    """A value with the defaults that it holds; written out here, not taken from topology.py."""
    while match := re.search(r"\$\{\w+:-", value):
        end = value.index("}", match.end())
        value = value[: match.start()] + value[match.end() : end] + value[end + 1 :]
    return value


def test_docker_takes_it_and_sees_the_same_services_and_variables(tmp_path: Path) -> None:
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("no docker compose client here")
    command = ["docker", "compose", "--file", str(DOCKER / "compose.yaml"), "config", "--format", "json"]
    named = {
        f"SDC_{name}_IMAGE": f"{name.lower()}@sha256:{'0' * 64}" for name in ("PYTHON", "POSTGRES", "REDIS")
    }
    given = {**os.environ, **named, "SDC_SECRET_FILES": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)["services"]
    ours = services({})
    assert set(theirs) == set(ours)
    for name, service in ours.items():
        assert theirs[name].get("environment") or dict(service.environment) == {}, name
        assert tuple(theirs[name]["command"]) == service.command, name


def test_it_has_the_servers_that_a_deployment_needs(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == AIRFLOW | SERVERS | {"prepare"}
    for name, service in compose["services"].items():
        assert "memory" in service["deploy"]["resources"]["limits"], name
        if name != "prepare":
            assert service["restart"] == "unless-stopped", name
            assert service["healthcheck"]["test"], name
    for name in AIRFLOW | {"prepare"}:
        service = compose["services"][name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert resolved(service["user"]) == "50000:0"
    assert resolved(compose["services"]["api-server"]["ports"][0]) == "127.0.0.1:8080:8080", (
        "from outside only by who says so"
    )


def test_what_a_service_names_is_declared(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert set(service.get("secrets", ())) <= set(compose["secrets"]), name
        assert {volume.split(":")[0] for volume in service.get("volumes", ())} <= set(compose["volumes"]), (
            name
        )
        assert set(service.get("depends_on", ())) <= set(compose["services"]), name
        for variable, value in service.get("environment", {}).items():
            if variable == "PGPASSFILE":
                assert Path(value).name in service["secrets"], name


def test_processes_get_the_services_and_variables_of_the_file(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    """Command for command and variable for variable; only places differ."""
    seed(tmp_path / "secrets", "127.0.0.1:16379")
    processes = Stack(tmp_path, 18080, 15432, 16379).services()
    assert set(processes) == set(compose["services"])
    places = {
        "postgres:5432": "127.0.0.1:15432",
        "api-server:8080": "127.0.0.1:18080",
        "/data/": f"{tmp_path}/",
        "/opt/sdc": str(DOCKER.parent),
        "/run/secrets/pgpass": f"{tmp_path}/secrets/pgpass",
        "/var/lib/airflow": f"{tmp_path}/airflow",
    }
    for name in AIRFLOW | {"prepare"}:
        written = {
            key: resolved(str(value)) for key, value in compose["services"][name]["environment"].items()
        }
        for here, there in places.items():
            written = {key: value.replace(here, there) for key, value in written.items()}
        written |= (
            {"AIRFLOW__API__HOST": "127.0.0.1", "AIRFLOW__API__PORT": "18080"} if name == "api-server" else {}
        )
        named = {secret for secret in compose["services"][name]["secrets"] if "." not in secret}
        command, environment = as_process(processes[name], tmp_path / "secrets")
        assert command[1:] == [resolved(str(word)) for word in compose["services"][name]["command"][1:]], name
        assert set(environment) == set(variables(DOCKER / "airflow.env")) | set(written) | named, name
        assert {key: value for key, value in environment.items() if key in written} == written, name
        for secret in named:
            assert environment[secret] == (tmp_path / "secrets" / secret).read_text(encoding="utf-8"), secret


def test_nobody_gets_a_secret_that_he_does_not_need(compose: dict[str, Any]) -> None:
    holders: dict[str, set[str]] = {}
    for name, service in compose["services"].items():
        for secret in service.get("secrets", ()):
            holders.setdefault(secret, set()).add(name)
    assert set(holders) == set(compose["secrets"])
    workers = {"worker-default", "worker-solver"}
    assert holders["SDC_PAYLOAD_KEYS"] - {"prepare"} == workers, (
        "what is confidential is read where it is computed with, and nowhere else"
    )
    assert holders["SDC_WAREHOUSE_SECRET"] == {"prepare"}, (
        "it makes the secret with the tables; who has the keys reads it there"
    )
    assert holders["pgpass.prepare"] == {"prepare"}
    assert holders["pgpass.web"] == {"api-server"}
    assert not holders["AIRFLOW__API_AUTH__JWT_SECRET"] & workers, "who has it can write himself a token"
    assert not holders["AIRFLOW__CORE__FERNET_KEY"] & workers
    for name in workers:
        assert "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN" not in services({})[name].environment
    assert set(ACCOUNTS_OF["web"]) == {"airflow", "release_pages"}, (
        "pages read by the account that sees nothing confidential"
    )
    assert not {"airflow", "release_owner", "postgres"} & set(ACCOUNTS_OF["worker"])


def test_no_password_is_in_an_address_or_a_command(compose: dict[str, Any]) -> None:
    text = "\n".join(
        (DOCKER / name).read_text(encoding="utf-8") for name in ("compose.yaml", "airflow.env", "Dockerfile")
    )
    assert re.search(r"://[^@\s/]*:[^@\s/]*@", text) is None
    assert not re.search(r"(?i)password[=:] *[a-z0-9]{6}", text)


def test_secrets_are_random_kept_and_for_their_owner_alone(tmp_path: Path) -> None:
    def read(folder: Path) -> dict[str, str]:
        return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}

    for name in ("a", "b"):
        seed(tmp_path / name, "redis:6379")
    first, other = read(tmp_path / "a"), read(tmp_path / "b")
    assert {name for name in first if first[name] == other[name]} == set()
    seed(tmp_path / "a", "redis:6380")
    again = read(tmp_path / "a")
    assert {name for name in first if first[name] != again[name]} == {"AIRFLOW__CELERY__BROKER_URL"}, (
        "the place moved, the password not"
    )
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a").iterdir()} == {0o600}
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
    assert set(first) == {Path(secret["file"]).name for secret in compose["secrets"].values()}


def test_the_entrypoint_makes_variables_of_secrets_with_such_names(tmp_path: Path) -> None:
    seed(tmp_path, "redis:6379")
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    command = [str(DOCKER / "entrypoint"), sys.executable, "-c", program]
    done = subprocess.run(
        command,
        env={"SDC_SECRETS": str(tmp_path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    got = json.loads(done.stdout)
    wanted = {
        path.name: path.read_text(encoding="utf-8")
        for path in tmp_path.iterdir()
        if re.fullmatch("[A-Z0-9_]+", path.name)
    }
    assert len(wanted) == 6
    assert {name: got.get(name) for name in wanted} == wanted
    assert not any("pgpass" in name or "conf" in name for name in got)


def test_an_environment_file_says_everything_once() -> None:
    lines = [
        line.partition("=")[0]
        for line in (DOCKER / "airflow.env").read_text(encoding="utf-8").splitlines()
        if re.match("[A-Z]", line)
    ]
    assert len(lines) == len(set(lines)) > 10
