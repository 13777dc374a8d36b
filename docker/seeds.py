"""The secrets of a deployment as files: random, made once; existing ones are kept. No password is
in an address or a command line.

redis.conf, postgres_password      for the servers
pgpass.<who>                       libpq's password file (PGPASSFILE): only the accounts that these services
                                   work with
NAME_OF_A_VARIABLE                 becomes that variable of the services that list it
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from prepare import ACCOUNTS, passwords

from sdc_tasks.warehouse.keyring import new_key

ACCOUNTS_OF = {
    "prepare": ("postgres", *ACCOUNTS),
    "airflow": ("airflow", "airflow_results", "release_worker"),  # scheduler, DAG processor, triggerer
    "web": ("airflow", "release_pages"),
    "worker": ("airflow_results", "release_worker", "release_publisher", "release_approver"),
    "solver": ("airflow_results", "release_worker"),
}


def seed(folder: Path, redis: str, mode: int = 0o600, owner: int | None = None) -> None:
    """Writes the missing secrets. `redis` is host:port as the services see it. `mode` is the mode of the
    files, except for password files: libpq accepts them with mode 0600 only, and they are given to `owner`,
    where this process may do that.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    known = passwords(folder / "pgpass.prepare") if (folder / "pgpass.prepare").exists() else {}
    known = {account: known.get(account) or secrets.token_urlsafe(24) for account in ACCOUNTS_OF["prepare"]}
    for who, accounts in ACCOUNTS_OF.items():
        _write(
            folder / f"pgpass.{who}",
            "".join(f"*:*:*:{account}:{known[account]}\n" for account in accounts),
            0o600,
        )
        if owner is not None and os.geteuid() == 0:
            os.chown(folder / f"pgpass.{who}", owner, -1)
    _write(folder / "postgres_password", known["postgres"], mode)
    word = _kept(
        folder / "redis.conf", lambda: f"requirepass {secrets.token_urlsafe(24)}\nappendonly yes\n", mode
    ).split()[1]
    _write(folder / "AIRFLOW__CELERY__BROKER_URL", f"redis://:{word}@{redis}/0", mode)
    _kept(folder / "AIRFLOW__API__SECRET_KEY", lambda: secrets.token_urlsafe(32), mode)
    _kept(folder / "AIRFLOW__API_AUTH__JWT_SECRET", lambda: secrets.token_urlsafe(64), mode)
    _kept(folder / "AIRFLOW__CORE__FERNET_KEY", _fernet_key, mode)
    # A warehouse that is there already has a secret of its own, which another one must not take the
    # place of: then the file is empty.
    own = (folder / "SDC_PAYLOAD_KEYS").exists()
    _kept(folder / "SDC_WAREHOUSE_SECRET", lambda: "" if own else secrets.token_hex(32), mode)
    _kept(folder / "SDC_PAYLOAD_KEYS", new_key, mode)


def _fernet_key() -> str:
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()


def _kept(file: Path, make: Callable[[], str], mode: int) -> str:
    if not file.exists():
        _write(file, make(), mode)
    return file.read_text(encoding="utf-8")


def _write(file: Path, content: str, mode: int) -> None:
    file.touch(mode=0o600)
    file.chmod(mode)
    file.write_text(content, encoding="utf-8")
