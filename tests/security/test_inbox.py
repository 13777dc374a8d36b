"""Whatever lies in an inbox under the name of a delivery is red by itself, and the
deliveries beside it are judged.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from sdc_tasks import intake, steps
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake import inbox
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.delimited import parse
from sdc_tasks.intake.structure import concepts
from support.deliveries import HEADER, HEALTHY, PERIOD, sdmx_1, small_domain

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plugins"))


def folder_of_that_name(path: Path) -> None:
    path.mkdir()


def dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link_to_another_file(path: Path) -> None:
    other = path.parent.parent / "elsewhere.csv"
    other.write_text(sdmx_1())
    path.symlink_to(other)


def loop(path: Path) -> None:
    path.symlink_to(path)


def fifo(path: Path) -> None:
    os.mkfifo(path)


ODD: list[Callable[[Path], None]] = [
    folder_of_that_name,
    dangling_link,
    link_to_a_device,
    link_to_another_file,
    loop,
    fifo,
]


@pytest.fixture
def desk(tmp_path: Path) -> steps.Desk:
    small_domain(tmp_path)
    lying = tmp_path / "inbox"
    lying.mkdir()
    (lying / "AT_2024.csv").write_text(sdmx_1(HEALTHY, "AT"))
    (lying / "BE_2024.csv").write_text(sdmx_1(HEALTHY, "BE"))
    return steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", tmp_path / "small.yaml", PERIOD)


def in_time(work: Callable[[], None]) -> None:
    """Runs the work; a read that would wait for ever fails instead of holding up the tests."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it hangs"
    if failed:
        raise failed[0]


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_what_is_no_file_stops_nobody_else(
    desk: steps.Desk, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "inbox" / "XX.csv")

    def work() -> None:
        said: list[str] = []
        told = steps.Desk(desk.engine, desk.domain, desk.period, said.append)
        waiting = steps.discover(told, tmp_path / "inbox")
        assert [each.file for each in waiting] == ["AT_2024.csv", "BE_2024.csv", "XX.csv"]
        assert any("XX.csv" in line for line in said)
        assert steps.ingest(desk, tmp_path / "inbox", "AT_2024.csv")[0] == "AT"
        assert steps.ingest(desk, tmp_path / "inbox", "BE_2024.csv")[0] == "BE"
        with pytest.raises(InvalidInput, match=r"XX\.csv: .*Remedy"):
            steps.ingest(desk, tmp_path / "inbox", "XX.csv")
        with pytest.raises(InvalidInput, match=r"XX\.csv: .*Remedy"):
            steps.assemble(desk)

    in_time(work)


def test_a_name_that_is_no_text_stops_nobody_else(desk: steps.Desk, tmp_path: Path) -> None:
    at = os.fsencode(tmp_path / "inbox")
    for name in (b"\xff\xfe.csv", b"A\nB.csv", b"\xc2\x85.csv", b"\xe2\x80\xae.csv"):
        with open(at + b"/" + name, "wb") as file:
            file.write(sdmx_1().encode())
    waiting = steps.discover(desk, tmp_path / "inbox")
    assert len(waiting) == 6
    for each in waiting:
        each.file.encode("utf-8")
        assert each.file.isprintable()
        assert each.label.isprintable()
        if each.file[:2] not in ("AT", "BE"):
            with pytest.raises(InvalidInput, match="Remedy: rename"):
                steps.ingest(desk, tmp_path / "inbox", each.file)


def test_a_file_replaced_by_a_link_after_it_was_listed_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "XX.csv").symlink_to(tmp_path / "secret")
    with pytest.raises(InvalidInput, match=r"XX\.csv: a link"):
        intake.file_bytes(tmp_path / "XX.csv", 100)


def test_no_more_is_read_than_a_refusal_needs(tmp_path: Path) -> None:
    (tmp_path / "XX.csv").write_bytes(b"x" * 1000)
    assert len(intake.file_bytes(tmp_path / "XX.csv", 10)) == 11


@pytest.mark.parametrize(
    "flood", [b"\n" * 4_000_000, b"," * 4_000_000, b"x\n" * 2_000_000, b"\r\n" * 2_000_000]
)
def test_a_flood_takes_a_few_times_its_size(tmp_path: Path, flood: bytes) -> None:
    domain = small_domain(tmp_path)
    assert intake.most_bytes(domain, "AT_2024.csv") < 1 << 20, "nine cells"
    found = Findings()
    tracemalloc.start()
    assert parse(("DATAFLOW," + HEADER).encode() + b"\n" + flood, concepts(domain), found, 1000) is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [each.code for each in found.all()] == ["140"]
    assert peak < 6 * len(flood)


class Stored:
    """A path of an object store: the methods of a path, and nothing else."""

    def __init__(self, files: dict[str, bytes], name: str = "") -> None:
        self.files, self.name = files, name
        self.suffix = Path(name).suffix

    def iterdir(self):
        return (Stored(self.files, name) for name in self.files)

    def is_dir(self) -> bool:
        return not self.name

    def is_file(self) -> bool:
        return self.name in self.files and not self.name.startswith("folder")

    def open(self, mode: str):
        import io

        return io.BytesIO(self.files[self.name])

    def __truediv__(self, name: str) -> Stored:
        return Stored(self.files, name)


def test_an_object_store_is_an_inbox_too(desk: steps.Desk) -> None:
    stored = Stored({"AT_2024.csv": sdmx_1(HEALTHY, "AT").encode(), "folder.csv": b"", "note.md": b""})
    assert inbox.look(stored).files == ("AT_2024.csv",)
    assert set(inbox.look(stored).unread) == {"folder.csv", "note.md"}
    assert [each.file for each in steps.discover(desk, stored)] == ["AT_2024.csv", "folder.csv", "note.md"]
    assert steps.ingest(desk, stored, "AT_2024.csv")[0] == "AT"


def test_the_watcher_of_the_inbox_goes_on(tmp_path: Path) -> None:
    import sdc_inbox

    here = tmp_path / "in" / PERIOD
    here.mkdir(parents=True)
    (here / "AT.csv").write_text("x")
    for make in ODD:
        make(here / f"{make.__name__}.csv")
    with open(os.fsencode(here) + b"/\xff.csv", "wb"):
        pass
    found = asyncio.run(asyncio.to_thread(sdc_inbox.marks, str(tmp_path / "in" / "{period}")))
    assert list(found[PERIOD]) == ["AT.csv"]
