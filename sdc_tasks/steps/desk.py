"""The desk of a release: the warehouse opened by an account, the domain, and the reference period."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, make_url

from sdc_tasks.confidential import leave_no_core
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.progress import Say, silent
from sdc_tasks.one_thread import one_thread
from sdc_tasks.tested import require_tested
from sdc_tasks.warehouse.confidential.secret import VARIABLE, given_secret, secret_of
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.keyring import Keyring

if TYPE_CHECKING:
    from sdc_tasks.intake import Delivery
    from sdc_tasks.model.problem import ProtectionProblem

ROLE_OF = {"SDC_PUBLISHER_URL": "sdc_publisher", "SDC_APPROVER_URL": "sdc_desk"}


@dataclass(eq=False)
class InHand:
    """What this process has read and needs again. It stands under the digests of what was read, which name
    the bytes, and under the names of the files, so that it is never other than what is stored.

    `deliveries`: (digest, file) of each file of a delivery → the delivery, from when it is accepted until the
    release takes it. `problem`: the digest of the protection problem that was loaded last, and the problem.
    """

    deliveries: dict[tuple[tuple[str, str], ...], Delivery] = field(default_factory=dict)
    problem: tuple[str, ProtectionProblem] | None = None


@dataclass(frozen=True)
class Desk:
    """The warehouse, the domain and the reference period of a release. `publishing` is the warehouse opened
    by the account that may publish, where that is another account.
    """

    engine: Engine
    domain: Domain
    period: str
    say: Say = silent
    publishing: Engine | None = None
    in_hand: InHand = field(default_factory=InHand, init=False, repr=False, compare=False)


def open_desk(
    warehouse: str, domain: str | Path, period: str, say: Say = silent, actor: str | None = None
) -> Desk:
    """Opens the warehouse, updates its tables, and makes a secret if it has none. Raises InvalidInput for an
    unknown domain or address, and for a domain whose files cannot be written here.
    """
    spec = load_domain(domain).of(period)
    spec.dissemination.refuse_unwritable(spec.id)
    engine = open_office(warehouse, actor)
    secret_of(engine)
    return Desk(engine, spec, period, say, by_account(engine, "SDC_PUBLISHER_URL", actor))


def open_office(warehouse: str, actor: str | None = None) -> Engine:
    """Opens the warehouse and updates its tables. SDC_PAYLOAD_KEYS holds the payload keys (separated by
    commas, newest first), and SDC_WAREHOUSE_SECRET the secret, if it is set. The log records actions under
    the name `actor`, else SDC_ACTOR, else the account of the operating system.
    """
    leave_no_core()
    require_tested()
    require_tested("release")
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
    """The same PostgreSQL database opened by the account in that variable, None where it is not set. Raises
    InvalidInput where the variable names another database.
    """
    address = os.environ.get(variable)
    if not address or engine.dialect.name != "postgresql":
        return None
    here, there = engine.url, make_url(address)
    if (here.host, here.port or 5432, here.database) != (there.host, there.port or 5432, there.database):
        raise InvalidInput(
            f"{variable} names another database than the warehouse. Remedy: name the same database, with the "
            f"account of {ROLE_OF[variable]}"
        )
    return open_warehouse(address, None, _name(actor))
