"""Who may read a page. The routes are taken from the application, so that a new one is
tested before anybody thinks of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from support.ui.office import DAG, DOMAIN, RUN, Office

Client = Callable[[str | None], Any]


def addresses(office: Office) -> list[str]:
    """One address of every route; fails for a route with a parameter that it has no example of."""
    from fastapi.routing import APIRoute
    from sdc_ui.app import app

    examples = {
        "domain": DOMAIN,
        "period": "2024",
        "country": "CY",
        "release_id": office.releases["second"],
        "other": office.releases["first"],
        "dag_id": DAG,
        "run_id": quote(RUN),
        "name": "style.css",
    }
    assert all(isinstance(route, APIRoute) for route in app.routes), (
        "a route of another kind is not protected by the application"
    )
    return [
        "/sdc" + route.path.format(**examples) for route in app.routes if "/file/" not in route.path
    ]  # needs an output folder


def test_every_route_only_reads(server: Any) -> None:
    from sdc_ui.app import app

    assert len(app.routes) >= 8
    assert all(route.methods == {"GET"} for route in app.routes)


def test_nobody_is_asked_to_sign_in(at_office: Office, client: Client) -> None:
    found = client(None)
    for address in addresses(at_office):
        assert found.get(address).status_code == 401, address


def test_a_forged_token_is_refused(at_office: Office, client: Client) -> None:
    found = client(None)
    found.headers["Authorization"] = "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsInJvbGUiOiJBRE1JTiJ9."
    for address in addresses(at_office):
        assert found.get(address).status_code == 403, address


def test_somebody_without_a_role_is_refused(at_office: Office, client: Client) -> None:
    found = client("stranger")
    for address in addresses(at_office):
        assert found.get(address).status_code == 403, address


@pytest.mark.parametrize("user", ["viewer", "operator", "admin"])
def test_every_role_may_read(at_office: Office, client: Client, user: str) -> None:
    found = client(user)
    for address in addresses(at_office):
        assert found.get(address).status_code == 200, address


def test_the_cookie_of_the_ui_is_enough(at_office: Office, client: Client) -> None:
    token = client("viewer").headers["Authorization"].removeprefix("Bearer ")
    found = client(None)
    found.cookies.set("_token", token)
    assert found.get("/sdc/").status_code == 200


def test_a_domain_that_somebody_may_not_see(
    at_office: Office, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rights on single DAGs, as production auth managers have them: everything about the domain is
    refused, the board is silent on it.
    """
    from airflow.api_fastapi.app import get_auth_manager

    allowed = get_auth_manager().is_authorized_dag

    def denied(*, details: Any = None, **kwargs: Any) -> bool:
        return getattr(details, "id", None) != DAG and bool(allowed(details=details, **kwargs))

    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", denied)
    found = client("viewer")
    for address in addresses(at_office):
        if address == "/sdc/":
            answer = found.get(address)
            assert answer.status_code == 200
            assert DOMAIN not in answer.text
        elif address.startswith("/sdc/country/"):
            assert found.get(address).status_code == 404, "no cycle of a country that he may see"
        elif "/assets/" not in address:
            answer = found.get(address)
            assert answer.status_code == 403, address
            assert "Structural" not in answer.text


def test_the_policy_is_sent_with_every_answer(at_office: Office, client: Client) -> None:
    for user in (None, "viewer"):
        for address in [*addresses(at_office), "/sdc/nowhere"]:
            headers = client(user).get(address).headers
            assert "default-src 'none'" in headers["content-security-policy"], address
            assert "unsafe" not in headers["content-security-policy"], address
            assert headers["x-content-type-options"] == "nosniff"
