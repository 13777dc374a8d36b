"""The servers of compose.yaml as plain processes of this machine, on its loopback
address: for trials and for tests.

    python docker/stack.py up [--demo INBOX]     starts services that do not run, and waits until all are
                                                 healthy
    python docker/stack.py down                  ends the processes that `up` started
    python docker/stack.py status
    python docker/stack.py secrets DIR           writes the secrets that compose.yaml reads

It needs PostgreSQL and Redis of the system (Debian: postgresql, redis-server). All its files are in
one folder: data, secrets, logs, and the number of every process. A process that dies is not restarted
until somebody runs `up` again.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent))

from seeds import seed
from topology import CODE, ONCE, SERVERS, Service, as_process, services

from sdc_tasks.cli.terminal import Terminal

HOST = "127.0.0.1"
COMPONENTS = {
    "api-server": "metadatabase",
    "scheduler": "scheduler",
    "dag-processor": "dag_processor",
    "triggerer": "triggerer",
}
GRACE = 15.0  # seconds for a service to end by itself
UID = 50000  # of the image
REMEDY = "Remedy: apt-get install --no-install-recommends postgresql redis-server"


class StackError(Exception):
    """The stack cannot run; the message names the reason and the remedy."""


@dataclass(frozen=True)
class Stack:
    """A stack: its folder, its ports, and its settings that differ from compose.yaml (variable →
    value, for all of our services).
    """

    home: Path
    port: int = 8080
    postgres: int = 15432
    redis: int = 16379
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def secrets(self) -> Path:
        return self.home / "secrets"

    def password(self, user: str) -> str:
        """The password of a user of Airflow."""
        return str(json.loads((self.home / "users" / "passwords.json").read_text(encoding="utf-8"))[user])

    def address(self, account: str, database: str = "warehouse") -> str:
        """The address of a database for an account of PostgreSQL, with its password."""
        lines = (
            line.split(":", 4)
            for line in (self.secrets / "pgpass.prepare").read_text(encoding="utf-8").splitlines()
        )
        password = next(line[4] for line in lines if line[3] == account)
        return f"postgresql+psycopg://{account}:{password}@{HOST}:{self.postgres}/{database}"

    def client(self, user: str) -> httpx.Client:
        """Airflow's REST API, logged in as a user."""
        login = httpx.post(
            f"{self.url}/auth/token",
            json={"username": user, "password": self.password(user)},
            timeout=30,
            trust_env=False,
        )
        login.raise_for_status()
        bearer = {"Authorization": f"Bearer {login.json()['access_token']}"}
        return httpx.Client(base_url=f"{self.url}/api/v2", headers=bearer, timeout=30, trust_env=False)

    def services(self) -> dict[str, Service]:
        data = str(self.home)
        here = {
            "SDC_CODE": str(CODE),
            "SDC_DATA": data,
            "SDC_HOME": f"{data}/airflow",
            "SDC_SECRETS": str(self.secrets),
            "SDC_POSTGRES": f"{HOST}:{self.postgres}",
            "SDC_REDIS": f"{HOST}:{self.redis}",
            "SDC_API": f"{HOST}:{self.port}",
            "SDC_API_HOST": HOST,
            "SDC_API_PORT": str(self.port),
        }
        return services(
            {
                **{
                    name: value
                    for name, value in os.environ.items()
                    if name.startswith(("SDC_SOLVER", "SDC_TASK", "SDC_ALERT"))
                },
                **here,
            }
        )


# --- up -----------------------------------------------------------------------------------------------------


def up(stack: Stack, terminal: Terminal) -> None:
    """Starts every service that does not run, in the order of compose.yaml, and waits for
    their health. Raises StackError.
    """
    began = time.monotonic()
    _folders(stack)
    seed(stack.secrets, f"{HOST}:{stack.redis}")
    wanted = stack.services()
    missing = [name for name in wanted if name != ONCE and process(stack, name) is None]
    if not missing:
        return
    ports = {"postgres": stack.postgres, "redis": stack.redis, "api-server": stack.port}
    for name in missing:
        if name in ports and _taken(ports[name]):
            raise StackError(
                f"port {ports[name]} of {name} is taken. Remedy: choose another one, see `python "
                f"docker/stack.py --help`"
            )
    with terminal.status("starting") as status:

        def say(text: str) -> None:
            terminal.tell((f"{time.monotonic() - began:6.1f} s", "dim"), f"  {text}")

        for name in (each for each in SERVERS if each in missing):
            _start_server(stack, wanted[name])
        status.update(f"{ONCE}: databases, accounts, tables")
        _prepare(stack, wanted[ONCE])
        say(f"{', '.join(SERVERS)}, {ONCE}")
        for name in (each for each in missing if each not in SERVERS):
            start(stack, name)
        for name in _as_they_get_healthy(stack, [each for each in wanted if each not in (*SERVERS, ONCE)]):
            say(name)


def start(stack: Stack, name: str) -> None:
    """Starts one service of ours and does not wait for it."""
    command, environment = as_process(stack.services()[name], stack.secrets)
    popen(stack, name, command, {**surroundings(), **environment, **stack.settings})


def start_server(stack: Stack, name: str) -> None:
    """Starts PostgreSQL or Redis, and waits until it answers. Raises StackError."""
    _start_server(stack, stack.services()[name])


def _folders(stack: Stack) -> None:
    for name in ("pids", "logs", "airflow", "users", "inbox", "out", "domains"):
        (stack.home / name).mkdir(parents=True, exist_ok=True)
    (stack.home / "users").chmod(0o700)
    (
        stack.home / "airflow" / "airflow.cfg"
    ).touch()  # otherwise services write it, and damage it when two write at a time
    (stack.home / "stack.json").write_text(
        json.dumps({"port": stack.port, "postgres": stack.postgres, "redis": stack.redis})
    )


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def surroundings() -> dict[str, str]:
    """The variables of this process, without settings of Airflow and PostgreSQL, a proxy for this
    machine, or a development mode.
    """
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SDC", "PG"))
    }
    for name in ("DEV", "FORCE_COLOR", "VIRTUAL_ENV"):
        kept.pop(name, None)
    return {**kept, "NO_PROXY": f"{HOST},localhost", "no_proxy": f"{HOST},localhost", "PYTHONUNBUFFERED": "1"}


def popen(
    stack: Stack, name: str, command: list[str], environment: Mapping[str, str], user: str | None = None
) -> None:
    """Starts a process in a session of its own. Its number is stored with its start time,
    because numbers are used again.
    """
    extra: dict[str, Any] = (
        {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
    )
    with (stack.home / "logs" / f"{name}.log").open("ab") as log:
        born = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environment),
            cwd=CODE,
            start_new_session=True,
            **extra,
        )
    (stack.home / "pids" / name).write_text(
        f"{born.pid} {psutil.Process(born.pid).create_time()}\n", encoding="utf-8"
    )


def _prepare(stack: Stack, service: Service) -> None:
    command, environment = as_process(service, stack.secrets)
    with (stack.home / "logs" / f"{ONCE}.log").open("ab") as log:
        done = subprocess.run(
            command,
            env={**surroundings(), **environment, **stack.settings},
            cwd=CODE,
            stdout=log,
            stderr=log,
            check=False,
        )
    if done.returncode:
        raise StackError(f"{ONCE} failed: {_said(stack, ONCE)}")


def _as_they_get_healthy(stack: Stack, names: list[str], seconds: float = 420) -> Iterator[str]:
    """Yields each service when it answers. Raises StackError for a service that ends, or does not answer in
    time.
    """
    waiting, deadline = list(names), time.monotonic() + seconds
    while waiting:
        for name in names:
            if process(stack, name) is None:
                raise StackError(f"{name} ended: {_said(stack, name)}")
        answering = healthy(stack)
        yield from (name for name in waiting if name in answering)
        waiting = [name for name in waiting if name not in answering]
        if waiting and time.monotonic() > deadline:
            raise StackError(
                f"{', '.join(waiting)}: no answer after {seconds:.0f} s. {_said(stack, waiting[0])}"
            )
        if waiting:
            time.sleep(0.5)


def healthy(stack: Stack) -> set[str]:
    """The services of ours that answer."""
    from celery import Celery  # type: ignore[import-untyped]
    from redis import RedisError

    try:
        httpx.get(
            f"{stack.url}/execution/health", timeout=5, trust_env=False
        ).raise_for_status()  # see health.py
        told = httpx.get(f"{stack.url}/api/v2/monitor/health", timeout=5, trust_env=False).json()
    except httpx.HTTPError:
        told = {}
    found = {
        name for name, component in COMPONENTS.items() if told.get(component, {}).get("status") == "healthy"
    }
    with Celery(broker=(stack.secrets / "AIRFLOW__CELERY__BROKER_URL").read_text(encoding="utf-8")) as app:
        try:
            answers = app.control.ping(timeout=1)
        except (OSError, RedisError):  # the queue does not answer, or has just been started again
            answers = []
    return found | {f"worker-{worker.partition('@')[0]}" for answer in answers for worker in answer}


def _said(stack: Stack, name: str) -> str:
    file = stack.home / "logs" / f"{name}.log"
    lines = [line for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return f"{lines[-1][:300] if lines else 'nothing'} (log: {file})"


# --- PostgreSQL and Redis -----------------------------------------------------------------------------------


def _start_server(stack: Stack, service: Service) -> None:
    (_postgres if service.name == "postgres" else _redis)(stack, service)


def _postgres(stack: Stack, service: Service) -> None:
    data, account = stack.home / "postgres", _unprivileged()
    if not (data / "PG_VERSION").exists():
        _initdb(stack, data, account, service.environment["POSTGRES_INITDB_ARGS"].split())
    place = [
        "-D",
        str(data),
        "-c",
        f"listen_addresses={HOST}",
        "-c",
        f"port={stack.postgres}",
        "-c",
        "unix_socket_directories=",
    ]
    popen(stack, service.name, [program("postgres"), *place, *service.command[1:]], surroundings(), account)
    _await(
        stack,
        service.name,
        lambda: psycopg.connect(stack.address("postgres", "postgres").replace("+psycopg", "")).close(),
    )


def _initdb(stack: Stack, data: Path, account: str | None, arguments: list[str]) -> None:
    data.mkdir(exist_ok=True)
    data.chmod(0o700)
    word = data.with_name("postgres.pw")
    shutil.copyfile(stack.secrets / "postgres_password", word)
    word.chmod(0o600)
    extra: dict[str, Any] = {}
    if account is not None:
        group = pwd.getpwnam(account).pw_gid
        for path in (data, word):
            shutil.chown(path, account, group)
        extra = {"user": account, "group": group, "extra_groups": []}
    done = subprocess.run(
        [program("initdb"), "-D", str(data), "-U", "postgres", f"--pwfile={word}", *arguments],
        capture_output=True,
        text=True,
        env=surroundings(),
        cwd="/",
        check=False,
        **extra,
    )
    word.unlink()
    if done.returncode:
        shutil.rmtree(data)
        open_to = (
            f". Remedy: let the account {account} reach {stack.home}, or choose another --home"
            if account
            else ""
        )
        raise StackError(f"initdb: {(done.stderr.strip().splitlines() or ['failed'])[-1]}{open_to}")


def _redis(stack: Stack, service: Service) -> None:
    data = stack.home / "redis"
    data.mkdir(exist_ok=True)
    place = [
        "--bind",
        HOST,
        "--port",
        str(stack.redis),
        "--dir",
        str(data),
        "--enable-protected-configs",
        "no",
    ]
    popen(
        stack,
        service.name,
        [program("redis-server"), str(stack.secrets / "redis.conf"), *place],
        surroundings(),
    )

    def ask() -> None:
        import redis

        redis.Redis.from_url(
            (stack.secrets / "AIRFLOW__CELERY__BROKER_URL").read_text(encoding="utf-8")
        ).ping()

    _await(stack, service.name, ask)


def _await(stack: Stack, name: str, ask: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        if process(stack, name) is None:
            raise StackError(f"{name} ended: {_said(stack, name)}")
        try:
            ask()
            return
        except Exception as error:  # each library has its own for "not yet"
            if time.monotonic() > deadline:
                raise StackError(
                    f"{name} does not answer ({type(error).__name__}). {_said(stack, name)}"
                ) from None
            time.sleep(0.1)


def program(name: str) -> str:
    """The path of a program of PostgreSQL or Redis. Debian has a folder for each version of
    PostgreSQL: the newest one is used.
    """
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    found = str(versions[-1]) if versions else shutil.which(name)
    if found is None:
        raise StackError(f"{name} is not installed. {REMEDY}")
    return found


def _unprivileged() -> str | None:
    """The account for PostgreSQL when this process is root: that of Debian's package, because
    PostgreSQL does not run as root.
    """
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise StackError(
            f"PostgreSQL does not run as root, and there is no account postgres. {REMEDY}"
        ) from None


# --- down ---------------------------------------------------------------------------------------------------


def process(stack: Stack, name: str) -> psutil.Process | None:
    """The process of a service that `up` started, if it still runs."""
    file = stack.home / "pids" / name
    if not file.exists():
        return None
    pid, born = file.read_text(encoding="utf-8").split()
    try:
        found = psutil.Process(int(pid))
        return (
            found
            if abs(found.create_time() - float(born)) < 1 and found.status() != psutil.STATUS_ZOMBIE
            else None
        )
    except psutil.NoSuchProcess:
        return None


def family(stack: Stack, name: str) -> list[psutil.Process]:
    """All processes of a service: those of its session, also if they outlived the process that `up` started,
    and the children of that process in sessions of their own, as PostgreSQL makes them.
    """
    file = stack.home / "pids" / name
    if not file.exists():
        return []
    pid, born = file.read_text(encoding="utf-8").split()
    leader = process(stack, name)
    children = {each.pid for each in leader.children(recursive=True)} if leader else set()
    found = []
    for each in psutil.process_iter():
        try:
            if each.pid in children or (
                os.getsid(each.pid) == int(pid) and each.create_time() > float(born) - 1
            ):
                found.append(each)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def memory(stack: Stack, name: str) -> float:
    """The memory of a service in MB. What its processes share with others counts in equal shares (PSS)."""
    total = 0
    for each in family(stack, name):
        with suppress(psutil.NoSuchProcess):
            total += each.memory_full_info().pss
    return total / 2**20


def down(stack: Stack, keep: str | None = None) -> list[str]:
    """Ends the services that `up` started, except `keep`: ours first, then the servers that they need.
    Returns the names of those that still ran.
    """
    known = sorted(path.name for path in (stack.home / "pids").glob("*") if path.name != keep)
    ended = [name for name in known if family(stack, name)]
    _end(stack, [name for name in ended if name not in SERVERS], signal.SIGTERM)
    for name in reversed(SERVERS):
        if name in ended:
            _end(
                stack, [name], signal.SIGINT if name == "postgres" else signal.SIGTERM
            )  # SIGINT: without waiting for its clients
    for name in known:
        (stack.home / "pids" / name).unlink()
    return ended


def kill(stack: Stack, name: str) -> None:
    """Kills a service at once, with all its processes."""
    everybody = family(
        stack, name
    )  # once: without the leader nobody finds his children in sessions of their own
    for each in everybody:
        _signal(each, signal.SIGKILL)
    psutil.wait_procs(everybody, timeout=GRACE)


def stop_server(stack: Stack, name: str) -> None:
    """Ends PostgreSQL or Redis with an orderly shutdown."""
    _end(stack, [name], signal.SIGINT if name == "postgres" else signal.SIGTERM)


def _end(stack: Stack, names: list[str], polite: signal.Signals) -> None:
    everybody = [each for name in names for each in family(stack, name)]
    for leader in filter(None, (process(stack, name) for name in names)):
        _signal(leader, polite)
    _, left = psutil.wait_procs(everybody, timeout=GRACE if names else 0)
    for each in left + [each for name in names for each in family(stack, name)]:
        _signal(each, signal.SIGKILL)
    psutil.wait_procs(left, timeout=GRACE)


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


# --- the command line ---------------------------------------------------------------------------------------


def demo(stack: Stack, deliveries: Path) -> str | None:
    """Puts the deliveries of the demonstration into the inbox, and triggers their release once. Returns the
    id of the run, or None if there was a run before.
    """
    inbox = stack.home / "inbox" / "sbs" / "2024"
    if not inbox.exists():
        shutil.copytree(deliveries, inbox)
    with stack.client("operator") as api:
        deadline = time.monotonic() + 120
        while (found := api.get("/dags/eu_release_sbs")).status_code == 404 and time.monotonic() < deadline:
            time.sleep(1)
        if found.status_code != 200:
            raise StackError(f"no DAG eu_release_sbs. {_said(stack, 'dag-processor')}")
        api.patch("/dags/eu_release_sbs", json={"is_paused": False}).raise_for_status()
        if api.get("/dags/eu_release_sbs/dagRuns").json()["total_entries"]:
            return None
        conf = {"period": "2024", "inbox": str(inbox), "out": str(stack.home / "out" / "sbs" / "2024")}
        run = api.post("/dags/eu_release_sbs/dagRuns", json={"logical_date": None, "conf": conf})
        run.raise_for_status()
        return str(run.json()["dag_run_id"])


def main() -> int:
    wanted = arguments()
    terminal = Terminal()
    home = wanted.home.resolve()
    kept = json.loads((home / "stack.json").read_text()) if (home / "stack.json").exists() else {}
    ports = {
        name: getattr(wanted, name) or kept.get(name) or getattr(Stack, name)
        for name in ("port", "postgres", "redis")
    }
    stack = Stack(home, **ports)
    try:
        if wanted.what == "secrets":
            seed(wanted.folder, "redis:6379", 0o644, UID)
            terminal.print(f"secrets: {wanted.folder}")
        elif wanted.what == "up":
            up(stack, terminal)
            _tell(stack, terminal, None if wanted.demo is None else demo(stack, wanted.demo))
        elif wanted.what == "down":
            terminal.print(
                "ended: "
                f"{', '.join(down(stack, 'postgres' if wanted.but_postgres else None)) or 'nothing ran'}"
            )
        else:
            return _status(stack, terminal)
    except StackError as error:
        terminal.tell((str(error), "bold red"))
        return 1
    except KeyboardInterrupt:
        terminal.print("stopped; the services that have started keep running. `make down` ends them")
        return 1
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    home = Path(os.environ.get("SDC_STACK_HOME") or CODE / "var" / "stack")
    parser.add_argument(
        "--home", type=Path, default=home, help="its folder (SDC_STACK_HOME; default: var/stack)"
    )
    for name, what in (("port", "the web server"), ("postgres", "PostgreSQL"), ("redis", "Redis")):
        variable = f"SDC_STACK_{name.upper()}"
        given = int(os.environ.get(variable) or 0)
        parser.add_argument(
            f"--{name}",
            type=int,
            default=given,
            help=f"port of {what} ({variable}; default: {getattr(Stack, name)})",
        )
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("up").add_argument(
        "--demo", type=Path, help="folder with the deliveries of a first release: sbs 2024"
    )
    ending = commands.add_parser("down")
    ending.add_argument(
        "--but-postgres", action="store_true", help="PostgreSQL goes on: so a backup is restored"
    )
    commands.add_parser("status")
    commands.add_parser("secrets").add_argument("folder", type=Path)
    return parser.parse_args()


def _tell(stack: Stack, terminal: Terminal, run: str | None) -> None:
    terminal.tell("\n", (stack.url, "bold"))
    for user, role in (
        ("admin", "everything"),
        ("operator", "triggers and re-runs"),
        ("approver", "agrees"),
        ("viewer", "looks"),
    ):
        terminal.tell(f"  {user:<9} {stack.password(user)}   ", (role, "dim"))
    terminal.tell((f"logs: {stack.home / 'logs'}; inbox: {stack.home / 'inbox'}; `make down` ends it", "dim"))
    secrets = (
        f"PGPASSFILE={stack.secrets / 'pgpass.worker'} SDC_PAYLOAD_KEYS=$(cat "
        f"{stack.secrets / 'SDC_PAYLOAD_KEYS'})"
    )
    warehouse = f"SDC_WAREHOUSE_URL=postgresql+psycopg://release_worker@{HOST}:{stack.postgres}/warehouse"
    terminal.tell(("for `sdc` commands: ", "dim"), f"{secrets} {warehouse}")
    if run is not None:
        terminal.print(f"first release: {stack.url}/dags/eu_release_sbs/runs/{run}")


def _status(stack: Stack, terminal: Terminal) -> int:
    answering = healthy(stack)
    names = [name for name in stack.services() if name != ONCE]
    used = {}
    for name in names:
        here = process(stack, name)
        state = "down" if here is None else "up" if name in (*answering, *SERVERS) else "no answer"
        used[name] = memory(stack, name)
        terminal.print(f"{name:<15} {state:<10} {here.pid if here else '':>8} {used[name]:7.0f} MB")
    terminal.print(f"{'all':<35} {sum(used.values()):7.0f} MB")
    return int(any(process(stack, name) is None for name in names))


if __name__ == "__main__":
    sys.exit(main())
