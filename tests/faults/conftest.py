"""The process that children are forked from, a place for each of their releases, and what a
release leaves that nobody disturbs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from support.faults.nursery import Nursery
from support.faults.office import Left, Office, new_office
from support.faults.places import Databases, NewPlace, Place
from support.payload_key import WAREHOUSE_SECRET


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDC_WAREHOUSE_SECRET", WAREHOUSE_SECRET)  # its children's warehouses are alike
        made = Nursery(tmp_path_factory.mktemp("nursery") / "first")
    yield made
    made.close()


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    return new_office(tmp_path_factory.mktemp("office") / "small")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def new_place(
    request: pytest.FixtureRequest, nursery: Nursery, office: Office, tmp_path: Path
) -> Iterator[NewPlace]:
    """Makes places, each with an empty database; they are removed when the next one is made."""
    made: list[Place] = []
    databases = Databases(request.getfixturevalue("postgres_url")) if request.param == "postgresql" else None

    def leave() -> None:
        for place in made:
            shutil.rmtree(place.folder)
            if databases is not None:
                databases.drop(place.warehouse)
        made.clear()

    def new() -> Place:
        leave()
        folder = tmp_path / uuid4().hex
        (folder / "tmp").mkdir(parents=True)
        warehouse = f"sqlite:///{folder / 'warehouse.db'}" if databases is None else databases.create()
        made.append(Place(nursery, office, folder, warehouse))
        return made[0]

    yield new
    leave()
    if databases is not None:
        databases.engine.dispose()


@pytest.fixture(scope="session")
def undisturbed_on() -> dict[str, tuple[Left, tuple[str, ...]]]:
    """By engine, what is known already: a release that nobody disturbs does the same each time."""
    return {}


@pytest.fixture
def undisturbed(
    new_place: NewPlace, undisturbed_on: dict[str, tuple[Left, tuple[str, ...]]]
) -> tuple[Left, tuple[str, ...]]:
    """What a release leaves, and its writes, with nothing wrong."""
    place = new_place()
    engine = place.warehouse.partition(":")[0]
    if engine not in undisturbed_on:
        done = place.release()
        assert done.code == 0, done.said
        assert set(place.look().files) == {"table.csv", "audit.json"}
        assert place.lying_about() == []
        undisturbed_on[engine] = place.look(), done.writes
    return undisturbed_on[engine]
