"""Where a release is worked on: the warehouse opened by an account, the domain, the reference period."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, make_url

from sdc_tasks import pipeline
from sdc_tasks.confidential import leave_no_core
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.one_thread import one_thread
from sdc_tasks.warehouse.confidential.secret import VARIABLE, given_secret, secret_of
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.keyring import Keyring

Say = Callable[[str], None]
ROLE_OF = {"SDC_PUBLISHER_URL": "sdc_publisher", "SDC_APPROVER_URL": "sdc_desk"}


@dataclass(frozen=True)
class Desk:
    """Where a release is worked on: the warehouse, the domain, the reference period. `publishing` is the warehouse opened by the
    account that may publish, where that is another account.
    """

    engine: Engine
    domain: Domain
    period: str
    say: Say = pipeline.quiet
    publishing: Engine | None = None


def open_desk(warehouse: str, domain: str | Path, period: str, say: Say = pipeline.quiet, actor: str | None = None) -> Desk:
    """Opens the warehouse: its tables up to date, a secret made. Raises InvalidInput for an unknown domain or address."""
    engine = open_office(warehouse, actor)
    secret_of(engine)
    return Desk(engine, load_domain(domain).of(period), period, say, by_account(engine, "SDC_PUBLISHER_URL", actor))


def open_office(warehouse: str, actor: str | None = None) -> Engine:
    """The warehouse with its tables up to date, the payload keys of SDC_PAYLOAD_KEYS (separated by commas, newest first), the secret of
    SDC_WAREHOUSE_SECRET, if it is to have a certain one, and the name under which the log keeps what is done: `actor`, else SDC_ACTOR,
    else the account of the operating system.
    """
    leave_no_core()
    one_thread()
    written = os.environ.get("SDC_PAYLOAD_KEYS")
    keys, secret = Keyring.of(written.split(",")) if written else None, given_secret(os.environ.get(VARIABLE))
    engine = open_warehouse(warehouse, keys, _name(actor), secret)
    migrate(engine)
    return engine


def _name(actor: str | None) -> str:
    if actor := actor or os.environ.get("SDC_ACTOR"):
        return actor
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return f"uid {os.getuid()}"


def by_account(engine: Engine, variable: str, actor: str | None) -> Engine | None:
    """The same PostgreSQL database by the account of that variable, None where there is none. Raises InvalidInput where it is another
    database.
    """
    address = os.environ.get(variable)
    if not address or engine.dialect.name != "postgresql":
        return None
    here, there = engine.url, make_url(address)
    if (here.host, here.port or 5432, here.database) != (there.host, there.port or 5432, there.database):
        raise InvalidInput(
            f"{variable} names another database than the warehouse. Remedy: the same one, by the account of {ROLE_OF[variable]}"
        )
    return open_warehouse(address, None, _name(actor))
