"""The api-server in this process, with its real users and roles, over the office of
`support/ui/office.py`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.dags.airflow_home import HOME
from support.ui.office import Office, open_office

USERS = {"admin": "admin", "operator": "op", "viewer": "viewer"}


def pytest_sessionfinish() -> None:
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """Releases in every state."""
    return open_office(tmp_path_factory.mktemp("office"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The application of the api-server, with the plugin as Airflow finds it."""
    home = tmp_path_factory.mktemp("server")
    (home / "passwords.json").write_text(json.dumps({name: name for name in USERS}), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS",
            ",".join(f"{name}:{role}" for name, role in USERS.items()),
        )
        patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE", str(home / "passwords.json"))
        patch.setenv(
            "AIRFLOW__API_AUTH__JWT_SECRET",
            "a secret of these tests, and nobody else's, long enough for HS512 as it is asked",
        )
        from airflow.api_fastapi.app import create_app
        from airflow.utils.db import initdb

        initdb()
        yield create_app(apps="core")


@pytest.fixture
def at_office(office: Office, monkeypatch: pytest.MonkeyPatch) -> Office:
    """The office, and the pages reading it."""
    monkeypatch.delenv("SDC_UI_URL", raising=False)
    monkeypatch.setenv("SDC_WAREHOUSE_URL", office.url)
    return office


@pytest.fixture
def client(server: Any) -> Callable[[str | None], Any]:
    """Signs a user in: a client that carries the token. `None`: nobody; `stranger`: somebody without any
    role.
    """
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from fastapi.testclient import TestClient

    def sign_in(user: str | None) -> Any:
        found = TestClient(server)
        if user == "stranger":
            token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="stranger", role=None))
        elif user is not None:
            answer = found.post("/auth/token", json={"username": user, "password": user})
            assert answer.status_code == 201, answer.text
            token = answer.json()["access_token"]
        if user is not None:
            found.headers["Authorization"] = f"Bearer {token}"
        return found

    return sign_in


@pytest.fixture
def page(at_office: Office, client: Callable[[str | None], Any]) -> Callable[[str], str]:
    """The text of a page as a viewer gets it."""
    viewer = client("viewer")

    def get(path: str) -> str:
        answer = viewer.get(f"/sdc{path}")
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    return get
