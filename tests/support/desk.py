"""A desk with a domain file and an inbox, the command line on it, and what its warehouse tells."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.keyring import key_file
from support.deliveries import PERIOD, cells, sdmx_1, small_domain
from support.payload_key import WAREHOUSE_SECRET

# A table of three activities and three size classes that protects its primary cell; what is
# hidden is one number and its rest.
PROTECTED = """
            _T         S         L
    TOTAL   1500000 F  750000 F  750000 F
    C       750000 F   251409 D  498591 D
    D       750000 F   498591 D  251409 A
"""
FREE = """
            _T         S         L
    TOTAL   1500000 F  750000 F  750000 F
    C       750000 F   300000 F  450000 F
    D       750000 F   450000 F  300000 F
"""
SECRETS = ("251409", "498591")
SECRET_KEYS = {("C", "S"), ("C", "L"), ("D", "S"), ("D", "L")}
# The same with few values that the hidden number may have, and a country that hides nothing.
HIDES = """
            _T      S       L
    TOTAL   600 F   300 F   300 F
    C       300 F   240 D    60 A
    D       300 F    60 D   240 D
"""
SHOWS = """
            _T      S       L
    TOTAL  1400 F   700 F   700 F
    C       700 F   370 F   330 F
    D       700 F   330 F   370 F
"""
Rows = Iterable[tuple[str, str, str, float | str, str]]


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, what it printed, and what it complained about."""

    code: int
    said: str
    complained: str

    @property
    def text(self) -> str:
        return self.said + self.complained

    def refused(self, *named: str) -> bool:
        """Ended as bad input, naming all this, without a traceback. Shows what was said where it
        is not so.
        """
        assert (self.code, [name for name in named if name not in self.complained]) == (2, []), self.text
        assert "Traceback" not in self.text
        return True


def sdc(*arguments: object) -> Ended:
    """`sdc` with these arguments, in this process: a subprocess would load everything again."""
    from sdc_tasks import cli

    code = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(io.StringIO()) as said,
        redirect_stderr(io.StringIO()) as complained,
    ):
        patch.setattr(sys, "argv", ["sdc", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, said.getvalue(), complained.getvalue())


def in_one_line(*arguments: object) -> tuple[int, str]:
    """The exit code of `sdc` with these arguments, and everything that was said, without line breaks."""
    ended = sdc(*arguments)
    return ended.code, " ".join(ended.text.split())


@contextmanager
def signals_kept() -> Iterator[None]:
    """A command that searches keeps SIGINT and SIGTERM until its process ends; in a test the
    process goes on.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def sdc_process(*arguments: object) -> Ended:
    """`sdc` as a user starts it."""
    command = [str(Path(sys.executable).with_name("sdc")), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Desk:
    """A domain file, an inbox, and the commands of a release on them."""

    folder: Path

    @property
    def inbox(self) -> Path:
        return self.folder / "inbox"

    @property
    def domain(self) -> Path:
        return self.folder / "small.yaml"

    def settle(self, old: str, new: str) -> None:
        """Replaces a piece of the domain file."""
        text = self.domain.read_text()
        assert old in text
        self.domain.write_text(text.replace(old, new, 1))

    def deliver(self, country: str, content: str | bytes, file: str | None = None) -> None:
        """Puts a file into the inbox; a drawing becomes one."""
        if isinstance(content, str) and content.startswith("\n "):
            content = sdmx_1(content, country)
        (self.inbox / (file or f"{country}_{PERIOD}.csv")).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )

    @property
    def where(self) -> tuple[object, ...]:
        return ("--domain", self.domain, "--period", PERIOD, "--inbox", self.inbox)

    def release(self, out: str = "out", *more: object) -> Ended:
        """Into a folder that may be new; then the warehouse in it has its tables already."""
        if "--warehouse" not in more and not (self.folder / out / "warehouse.db").exists():
            (self.folder / out).mkdir(parents=True, exist_ok=True)
            new_warehouse(self.folder / out / "warehouse.db")
        return sdc("release", *self.where, "--out", self.folder / out, *more)

    def audit(self, table: Path, *more: object) -> Ended:
        return sdc("audit", *self.where, "--published", table, *more)

    def publish(self, rows: Rows) -> Path:
        """A table made elsewhere: (area, activity, size, value, base)."""
        path = self.folder / "elsewhere.csv"
        lines = ["DATAFLOW,FREQ,REF_AREA,INDICATOR,ACTIVITY,SIZECLASS,TIME_PERIOD,OBS_VALUE,ROUNDING_BASE"]
        lines += [
            f"NSI:SMALL(1.0),A,{area},TURNOVER,{a},{s},{PERIOD},{value},{base}"
            for area, a, s, value, base in rows
        ]
        path.write_text("\n".join([*lines, ""]))
        return path


@cache
def migrated() -> tuple[bytes, bytes]:
    """A warehouse with its tables, the secret of tests and nothing else in them, and its key file. To make
    them takes as long as a tenth of a small release.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "warehouse.db"
        engine = open_warehouse(f"sqlite:///{file}", secret=Secret.of_hex(WAREHOUSE_SECRET))
        migrate(engine)
        engine.dispose()
        return file.read_bytes(), key_file(file).read_bytes()


def new_warehouse(file: Path) -> None:
    """Writes a warehouse that nobody has used, with its key file beside it."""
    content, key = migrated()
    file.write_bytes(content)
    place = key_file(file)
    place.touch(mode=0o600)
    place.write_bytes(key)


def new_desk(folder: Path, **drawings: str) -> Desk:
    """The small domain with the deliveries of AT, BE and more countries."""
    small_domain(folder)
    (folder / "areas.csv").write_text("code,parent\n" + "".join(f"{country},EU\n" for country in drawings))
    desk = Desk(folder)
    desk.inbox.mkdir()
    for country, drawing in drawings.items():
        desk.deliver(country, drawing)
    return desk


def exact(area: str, drawings: Iterable[str]) -> list[tuple[str, str, str, float | str, str]]:
    """The aggregate of the drawings with every cell exact."""
    total: dict[tuple[str, str], int] = {}
    for drawing in drawings:
        for activity, size, value, _ in cells(drawing):
            total[activity, size] = total.get((activity, size), 0) + int(value)
    return [(area, activity, size, value, "") for (activity, size), value in total.items()]


@dataclass(frozen=True)
class Warehouse:
    """What a warehouse of the small domain tells its readers."""

    versions: list[int]
    deliveries: list[tuple[str | None, str]]
    runs: list[str]
    unsound: list[str]


def warehouse(folder: Path, domain: str = "small") -> Warehouse:
    """Reads the warehouse that a release left in its out folder."""
    engine = open_warehouse(f"sqlite:///{folder / 'warehouse.db'}")
    try:
        return Warehouse(
            versions=sorted(each.version for each in reader.releases(engine)),
            deliveries=[
                (each["country"], each["state"]) for each in reader.deliveries(engine, domain, PERIOD)
            ],
            runs=sorted(str(each["state"]) for each in reader.runs(engine)),
            unsound=[name for name, rows in run_checks(engine).items() if rows],
        )
    finally:
        engine.dispose()
