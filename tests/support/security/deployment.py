"""A warehouse as it is deployed: an owner who is no superuser, and an account for every role, with
the grants of `docker/prepare.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import psycopg
from sqlalchemy import URL, Engine, create_engine, make_url

from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.keyring import Keyring
from support.payload_key import PAYLOAD_KEY

ROLES = ("sdc_pipeline", "sdc_publisher", "sdc_approver", "sdc_desk", "sdc_ui", "sdc_public")


@dataclass(frozen=True)
class Deployment:
    """A PostgreSQL warehouse with its accounts; `name` begins the names of all of them."""

    server: URL
    name: str

    def url(self, account: str) -> URL:
        """As one of the roles, or as `owner`."""
        return self.server.set(username=f"{self.name}_{account}", password=self.name, database=self.name)

    def engine(self, account: str, actor: str = "tester") -> Engine:
        return open_warehouse(
            self.url(account).render_as_string(hide_password=False), Keyring.of([PAYLOAD_KEY]), actor
        )

    def connect(self, account: str) -> psycopg.Connection:
        """A prompt, at which every statement is its own transaction."""
        return psycopg.connect(
            self.url(account).set(drivername="postgresql").render_as_string(hide_password=False),
            autocommit=True,
        )

    def superuser(self) -> psycopg.Connection:
        address = self.server.set(drivername="postgresql", database=self.name)
        return psycopg.connect(address.render_as_string(hide_password=False), autocommit=True)


@contextmanager
def deployed(postgres_url: str) -> Iterator[Deployment]:
    """A warehouse of its own, gone afterwards."""
    made = Deployment(make_url(postgres_url).set(drivername="postgresql+psycopg"), f"d{uuid4().hex[:12]}")
    server = create_engine(made.server, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        for account in ("owner", *ROLES):
            connection.exec_driver_sql(f"CREATE ROLE {made.name}_{account} LOGIN PASSWORD '{made.name}'")
        connection.exec_driver_sql(f"ALTER ROLE {made.name}_owner CREATEROLE")
        connection.exec_driver_sql(f"CREATE DATABASE {made.name} OWNER {made.name}_owner")
        owner = made.engine("owner")
        migrate(owner)
        owner.dispose()
        for role in ROLES:
            connection.exec_driver_sql(f"GRANT {role} TO {made.name}_{role}")
        yield made
        connection.exec_driver_sql(f"DROP DATABASE {made.name} WITH (FORCE)")
        for account in (*ROLES, "owner"):
            connection.exec_driver_sql(f"DROP OWNED BY {made.name}_{account} CASCADE")
            connection.exec_driver_sql(f"DROP ROLE {made.name}_{account}")
    server.dispose()
