"""The tools of the site and of the notebooks: of requirements-docs.lock, which the other tests do without."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


@pytest.fixture(scope="session")
def tools() -> None:
    if missing := [name for name in ("sphinx", "myst_parser", "furo", "nbclient") if find_spec(name) is None]:
        pytest.fail(f"these tests need {', '.join(missing)}. Remedy: make setup-all", pytrace=False)
