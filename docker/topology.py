"""The services of compose.yaml, as plain processes of this machine.

It understands only what the file uses: `${NAME:-default}`, env_file, environment, secrets and command. So
containers and processes have the same list of services, the same environment, and the same secrets.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
CODE = HERE.parent
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
SERVERS = ("postgres", "redis")  # not ours, and not of this image
ONCE = "prepare"


@dataclass(frozen=True)
class Service:
    """One service: its command, its variables, and the names of the secrets that it may read."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    secrets: tuple[str, ...]


def services(values: Mapping[str, str]) -> dict[str, Service]:
    """All services by name, in the order of the file, with `values` for the variables of the file."""
    document = yaml.safe_load((HERE / "compose.yaml").read_text(encoding="utf-8"))
    return {name: _service(name, _filled(spec, values)) for name, spec in document["services"].items()}


def as_process(service: Service, secrets: Path) -> tuple[list[str], dict[str, str]]:
    """Command line and variables of one of our services, as docker/entrypoint sets them."""
    programs = {"airflow": [str(Path(sys.executable).with_name("airflow"))], "python": [sys.executable]}
    known = {
        name: (secrets / name).read_text(encoding="utf-8").rstrip("\n")
        for name in service.secrets
        if re.fullmatch("[A-Z0-9_]+", name)
    }
    return [*programs[service.command[0]], *service.command[1:]], {**service.environment, **known}


def _service(name: str, spec: Mapping[str, Any]) -> Service:
    files = [variables(HERE / file) for file in spec.get("env_file", [])]
    environment = {
        key: str(value) for each in (*files, spec.get("environment", {})) for key, value in each.items()
    }
    return Service(name, tuple(map(str, spec["command"])), environment, tuple(spec.get("secrets", ())))


def variables(file: Path) -> dict[str, str]:
    """The NAME=value lines of an env file."""
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _filled(node: Any, values: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _filled(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(value, values) for value in node]
    return (
        VARIABLE.sub(lambda match: values.get(match[1], match[2] or ""), node)
        if isinstance(node, str)
        else node
    )
