"""Runs one release through Airflow in this process, without a server. `make release` calls it.

    python dags/run_here.py --domain sbs --period 2024 --inbox DIR --out DIR [--warehouse URL]

It prints a line for each task, and the release in figures at the end. The logs of Airflow and of
the tasks go to run.log in AIRFLOW_HOME (default: var/airflow). Exit code 0 when the release is
published and reported, else 1.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pluggy import HookimplMarker

if TYPE_CHECKING:
    from rich.status import Status

    from sdc_tasks.cli.terminal import Terminal

hookimpl = HookimplMarker("airflow")
HERE = Path(__file__).resolve().parent
VAR = HERE.parent / "var"
YOUNG = (
    50_000  # objects between two looks for circles; Airflow and its libraries make half a million that stay
)


def main() -> int:
    wanted = arguments()
    settle(wanted)
    gc.set_threshold(YOUNG, 20, 100)
    from sdc_tasks.cli.interrupt import Interruption
    from sdc_tasks.cli.terminal import Terminal

    interruption = Interruption("")
    interruption.heed()
    home = Path(os.environ["AIRFLOW_HOME"])
    with logged_to(home / "run.log") as screen:
        terminal = Terminal(file=screen)
        try:
            with terminal.status("starting Airflow"):
                dag = prepare(wanted, home)
            terminal.tell(
                (f"{dag.dag_id} {wanted.period}", "bold"),
                f", Airflow in this process; its log: {home / 'run.log'}",
            )
            state, release_id = run(dag, wanted, terminal)
        except SystemExit as refusal:
            terminal.tell((str(refusal), "bold red"))
            return 1
        except (Exception, KeyboardInterrupt) as error:
            if interruption.raised:
                terminal.tell("stopped; the same command goes on where it stopped")
                return 1
            terminal.tell((type(error).__name__, "bold red"), f"; see {home / 'run.log'}")
            logging.getLogger("sdc").exception("Airflow failed")
            return 1
    conclude(wanted, state, release_id)
    return int(state != "success")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--domain", required=True, help="a domain's name, such as sbs, or the path of a domain file"
    )
    parser.add_argument("--period", required=True, help="reference period, such as 2024")
    parser.add_argument("--inbox", required=True, type=Path, help="folder with the national deliveries")
    parser.add_argument(
        "--out", required=True, type=Path, help="folder for table.csv, audit.json and report.html"
    )
    parser.add_argument(
        "--warehouse", help="database URL; default: SDC_WAREHOUSE_URL, else warehouse.db in the out folder"
    )
    return parser.parse_args()


def settle(wanted: argparse.Namespace) -> None:
    """Sets the environment before Airflow is imported: its own home, no settings of the user, no examples, no
    network.
    """
    wanted.out.mkdir(parents=True, exist_ok=True)
    url = (
        wanted.warehouse
        or os.environ.get("SDC_WAREHOUSE_URL")
        or f"sqlite:///{(wanted.out / 'warehouse.db').resolve()}"
    )
    os.environ["SDC_WAREHOUSE_URL"] = url
    if Path(wanted.domain).suffix in {".yaml", ".yml"}:
        os.environ["SDC_DOMAINS"] = str(Path(wanted.domain).resolve().parent)
    os.environ.setdefault("AIRFLOW_HOME", str(VAR / "airflow"))
    os.environ.setdefault("AIRFLOW__LOGGING__LOGGING_LEVEL", "WARNING")
    Path(os.environ["AIRFLOW_HOME"]).mkdir(parents=True, exist_ok=True)
    for name in (
        "DEV",
        "FORCE_COLOR",
    ):  # these would put values of local variables, and colours, into the log
        os.environ.pop(name, None)
    os.environ.update(
        AIRFLOW__CORE__DAGS_FOLDER=str(HERE),
        AIRFLOW__CORE__PLUGINS_FOLDER=str(HERE.parent / "plugins"),
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=f"sqlite:///{os.environ['AIRFLOW_HOME']}/airflow.db",
        AIRFLOW__USAGE_DATA_COLLECTION__ENABLED="False",
        GX_ANALYTICS_ENABLED="False",
        SDC_ONE_PROCESS="1",  # runs under the name of the caller, not of Airflow's test user
        PYTHONWARNINGS="ignore",
    )


@contextmanager
def logged_to(path: Path) -> Iterator[Any]:
    """Sends all output of this process, of its libraries and of its solvers to a file.
    Yields the terminal as a stream.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with (
        path.open("w", encoding="utf-8") as log,
        os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace") as terminal,
    ):
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            yield terminal
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for descriptor, target in zip(kept, (1, 2), strict=True):
                os.dup2(descriptor, target)
                os.close(descriptor)


def prepare(wanted: argparse.Namespace, home: Path) -> Any:
    """Makes or updates Airflow's own database where needed. Returns the DAG of the domain."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import check_migrations, initdb

    try:
        if not (home / "airflow.db").exists():
            raise TimeoutError
        check_migrations(1)
    except TimeoutError:
        initdb()
    from sdc_tasks.domains import load_domain
    from sdc_tasks.errors import InvalidInput

    try:
        dag_id = f"eu_release_{load_domain(wanted.domain).id}"
    except InvalidInput as error:
        raise SystemExit(str(error)) from None
    bag = DagBag(str(HERE))
    if bag.import_errors or dag_id not in bag.dags:
        raise SystemExit("\n".join(bag.import_errors.values()) or f"no DAG {dag_id}")
    dag = bag.dags[dag_id]
    dag.deadline = None  # `dag.test` of this version cannot end a run with a deadline
    speak_newest_only()
    return dag


def speak_newest_only() -> None:
    """Leaves the newest version of the interface that tasks talk to. Airflow would build all its routes anew
    for each of ten older ones, which takes seconds; no task of this process speaks one.
    """
    from airflow.api_fastapi.execution_api import versions
    from airflow.api_fastapi.execution_api.routes import execution_api_router
    from cadwyn import HeadVersion, Version, VersionBundle
    from cadwyn.route_generation import _DELETED_ROUTE_TAG

    execution_api_router.routes = [
        each for each in execution_api_router.routes if _DELETED_ROUTE_TAG not in getattr(each, "tags", ())
    ]
    versions.bundle = VersionBundle(HeadVersion(), Version(versions.bundle.versions[0].value))


def run(dag: Any, wanted: argparse.Namespace, terminal: Terminal) -> tuple[str, str | None]:
    """Runs the DAG. Returns the state of the run and the id of the release."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.xcom import XComModel
    from airflow.sdk.exceptions import ParamValidationError
    from airflow.sdk.listener import get_listener_manager
    from airflow.utils.session import create_session

    with terminal.status("starting") as status:
        progress = Progress(terminal, status)
        get_listener_manager().add_listener(progress)
        say = logging.getLogger("sdc.release")
        say.setLevel(logging.INFO)
        say.addHandler(progress.handler)
        try:
            done = dag.test(
                run_conf={
                    "period": wanted.period,
                    "inbox": str(wanted.inbox.resolve()),
                    "out": str(wanted.out.resolve()),
                }
            )
        except ParamValidationError as error:
            raise SystemExit(str(error).splitlines()[0]) from None
    with create_session() as session:
        where = {"dag_id": dag.dag_id, "run_id": done.run_id}
        stuck = Counter(
            each
            for (each,) in session.query(TaskInstance.task_id).filter_by(**where, state="upstream_failed")
        )
        if stuck:
            order = [task.task_id for task in dag.topological_sort() if task.task_id in stuck]
            told = ", ".join(name if stuck[name] == 1 else f"{stuck[name]} × {name}" for name in order)
            terminal.tell((f"not run: {told}", "dim"))
        found = (
            session.query(XComModel).filter_by(**where, task_id="assemble", key="return_value").one_or_none()
        )
        return str(done.state), None if found is None else XComModel.deserialize_value(found)


class Progress:
    """A listener of Airflow. It prints a line for each task that ends, with the last message of its step."""

    def __init__(self, terminal: Terminal, status: Status) -> None:
        self.terminal, self.status = terminal, status
        self.began, self.task, self.said = time.monotonic(), "", ""
        self.handler = logging.Handler()
        self.handler.emit = self._say  # type: ignore[method-assign]

    @hookimpl
    def on_task_instance_running(self, task_instance: Any) -> None:
        self.began, self.said = time.monotonic(), ""
        self.task = _name(task_instance)
        self.status.update(self.task)

    @hookimpl
    def on_task_instance_success(self, task_instance: Any) -> None:
        self._line(task_instance, (self.said, "dim"))

    @hookimpl
    def on_task_instance_skipped(self, task_instance: Any) -> None:
        self._line(task_instance, ("skipped ", "yellow"), (self.said, "dim"))

    @hookimpl
    def on_task_instance_failed(self, task_instance: Any, error: Any) -> None:
        again = str(task_instance.state) == "up_for_retry"
        mark = ("again soon ", "yellow") if again else ("FAILED ", "bold red")
        self._line(task_instance, mark, (str(error) or type(error).__name__, ""))

    def _line(self, task_instance: Any, *told: tuple[str, str]) -> None:
        done, known = ended(task_instance)
        seconds = time.monotonic() - self.began
        self.terminal.tell(
            (f"[{done:3}/{known}]", "dim"),
            f" {_name(task_instance):<20} ",
            (f"{seconds:6.1f} s  ", "dim"),
            *told,
        )

    def _say(self, record: logging.LogRecord) -> None:
        self.said = record.getMessage()
        self.status.update(f"{self.task}: {self.said}")


def _name(task_instance: Any) -> str:
    return f"{task_instance.task_id} {task_instance.rendered_map_index or ''}".rstrip()


def ended(task_instance: Any) -> tuple[int, int]:
    """(ended, all): the numbers of task instances of the run, with this one as ended. Mapped
    ones count after they are expanded.
    """
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from airflow.utils.state import State

    with create_session() as session:
        query = session.query(TaskInstance.id).filter_by(
            dag_id=task_instance.dag_id, run_id=task_instance.run_id
        )
        others = query.filter(
            TaskInstance.id != UUID(str(task_instance.id)), TaskInstance.state.in_(State.finished)
        )
        return others.count() + 1, query.count()


def conclude(wanted: argparse.Namespace, state: str, release_id: str | None) -> None:
    """Prints the release in figures, as `sdc release` does, and whether it was published."""
    from sdc_tasks import outputs, steps
    from sdc_tasks.cli.release import show
    from sdc_tasks.cli.terminal import out
    from sdc_tasks.errors import SdcError

    if release_id is not None:
        desk = steps.open_desk(os.environ["SDC_WAREHOUSE_URL"], wanted.domain, wanted.period)
        try:
            warehouse = desk.engine.url.render_as_string(hide_password=True)
            show(outputs.summary(desk, release_id), warehouse, wanted.out / "report.html")
        except SdcError:
            pass  # the release has no verdict
    if state == "success":
        out.tell("published")
    else:
        out.tell(("not released", "bold red"), f": run {state}")


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    sys.stdout.flush()
    os._exit(code)  # the ordinary end of the process would take seconds to free Airflow's objects
