"""Where a release works: an out folder, a folder for temporary files and a warehouse, none of
which any other release works on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from sqlalchemy import NullPool, create_engine, make_url

from sdc_tasks.warehouse.keyring import Keyring
from support.desk import SECRETS
from support.faults.nursery import Died, Nursery
from support.faults.office import Left, Office, look
from support.payload_key import PAYLOAD_KEY

KEYS = Keyring.of([PAYLOAD_KEY])


@dataclass(frozen=True)
class Place:
    """One of these, on disk."""

    nursery: Nursery
    office: Office
    folder: Path
    warehouse: str

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def command(self) -> list[object]:
        return self.office.release(self.out, self.warehouse)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SDC_PAYLOAD_KEYS": PAYLOAD_KEY,
            "SDC_ACTOR": "tester",
            "TMPDIR": str(self.temporary),
            "TMP": str(self.temporary),
        }

    def release(self, **order: object) -> Died:
        """A release in a process of its own, by an order of the nursery."""
        return self.nursery.wait(self.start(**order))

    def start(self, **order: object) -> int:
        """A release that goes on by itself: its process id."""
        return self.nursery.start(
            self.command, **{"environment": self.environment, "folders": [f"{self.folder}/"], **order}
        )

    def in_the_out_folder(self) -> Place:
        """The same with the warehouse, on SQLite, in the out folder, where it is by default."""
        return replace(self, warehouse=f"sqlite:///{self.out / 'warehouse.db'}")

    def look(self) -> Left:
        return look(self.out, self.warehouse, KEYS)

    def lying_about(self) -> list[str]:
        """Temporary files, and files in which a confidential value can be read."""
        found = [str(path) for path in self.temporary.rglob("*")]
        for path in self.folder.rglob("*"):
            if path.is_file() and any(secret.encode() in path.read_bytes() for secret in SECRETS):
                found.append(str(path))
        return found


NewPlace = Callable[[], Place]


class Databases:
    """Databases of a server, made and dropped."""

    def __init__(self, server: str) -> None:
        self._url = make_url(server).set(drivername="postgresql+psycopg")
        self.engine = create_engine(
            self._url, isolation_level="AUTOCOMMIT", poolclass=NullPool
        )  # servers come and go

    def create(self) -> str:
        name = f"sdc_{uuid4().hex}"
        with self.engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        return self._url.set(database=name).render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        with self.engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {make_url(url).database} WITH (FORCE)")
