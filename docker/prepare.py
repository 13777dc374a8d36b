"""Brings a deployment up to date before its services start: accounts, databases, tables, the pool
of the solvers, the first users.

It is safe to repeat, and runs at every start and upgrade. It needs SDC_SERVER_URL, the address of a
PostgreSQL account that may create roles and databases, and PGPASSFILE, which holds the passwords of all
accounts. An account gets its password from this file: to change it, change the line and restart.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

# account → what it is in the warehouse. Who may do what there is in sql/roles.sql.
ROLES = {
    "release_worker": "sdc_pipeline",
    "release_publisher": "sdc_publisher",
    "release_approver": "sdc_desk",
    "release_pages": "sdc_ui",
    "release_public": "sdc_public",
}
DATABASES = {
    "airflow": "airflow",
    "airflow_results": "airflow_results",
    "warehouse": "release_owner",
}  # database → owner
ACCOUNTS = [*DATABASES.values(), *ROLES]


def main() -> None:
    server = make_url(os.environ["SDC_SERVER_URL"])
    with patiently(server) as connection:
        accounts_and_databases(connection, passwords(Path(os.environ["PGPASSFILE"])))
    warehouse(server)
    with connected(server) as connection:
        for account, role in ROLES.items():
            connection.execute(
                sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(account))
            )
    print("databases and accounts: ready", flush=True)
    users()
    airflow()
    print("Airflow: ready", flush=True)


def connected(url: URL) -> psycopg.Connection:
    return psycopg.connect(
        host=url.host,
        port=url.port,
        user=url.username,
        dbname=url.database,
        password=url.password,
        autocommit=True,
        connect_timeout=5,
    )


def patiently(url: URL, seconds: float = 60) -> psycopg.Connection:
    """A connection. Waits for a server that is starting."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return connected(url)
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def passwords(file: Path) -> dict[str, str]:
    """account → password, from lines host:port:database:account:password."""
    return {
        line.split(":")[3]: line.split(":", 4)[4]
        for line in file.read_text(encoding="utf-8").splitlines()
        if line
    }


def accounts_and_databases(connection: psycopg.Connection, known: dict[str, str]) -> None:
    for account in ACCOUNTS:
        name = sql.Identifier(account)
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [account]).fetchone() is None:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(name))
        connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, sql.Literal(known[account])))
    connection.execute("ALTER ROLE release_owner CREATEROLE")  # the migration makes the roles
    for database, owner in DATABASES.items():
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone() is None:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(database), sql.Identifier(owner))
            )
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database)))
    for account in ROLES:
        connection.execute(
            sql.SQL("GRANT CONNECT ON DATABASE warehouse TO {}").format(sql.Identifier(account))
        )


def warehouse(server: URL) -> None:
    """Makes or updates the tables of the warehouse, with the account of their owner, and its secret with
    them: SDC_WAREHOUSE_SECRET, or a random one where that is empty.
    """
    from sdc_tasks.warehouse.confidential.secret import VARIABLE, given_secret
    from sdc_tasks.warehouse.database.engine import open_warehouse
    from sdc_tasks.warehouse.database.migrations import migrate
    from sdc_tasks.warehouse.keyring import Keyring

    url = server.set(
        drivername="postgresql+psycopg", username="release_owner", password=None, database="warehouse"
    )
    keys, secret = (
        Keyring.of(os.environ["SDC_PAYLOAD_KEYS"].split(",")),
        given_secret(os.environ.get(VARIABLE)),
    )
    engine = open_warehouse(url.render_as_string(hide_password=False), keys, "prepare", secret)
    migrate(engine)
    engine.dispose()


def users() -> None:
    """Sets passwords for users of Airflow's simple auth manager who have none yet, in a
    file that only its owner can read.
    """
    wanted = os.environ.get("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", "")
    file = Path(os.environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"])
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    known |= {
        name: secrets.token_urlsafe(12)
        for user in wanted.split(",")
        if (name := user.partition(":")[0]) and name not in known
    }
    file.touch(mode=0o600)
    file.write_text(json.dumps(known) + "\n", encoding="utf-8")


def airflow() -> None:
    """Makes or updates Airflow's own tables, and the pool with as many slots for solvers as fit
    into the memory of the deployment.
    """
    from airflow.models.pool import Pool
    from airflow.utils.db import upgradedb

    upgradedb()
    slots = int(os.environ.get("SDC_SOLVER_SLOTS", "2"))
    Pool.create_or_update_pool(
        "solver", slots, "adjustments, bases, audits: one slot holds one solver", include_deferred=False
    )


if __name__ == "__main__":
    main()
