"""The same deliveries give the same publication, whatever else the machine does: cores, load,
hash seed, warehouse, and clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sdc_tasks.errors import Retriable
from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, new_desk
from support.payload_key import WAREHOUSE_SECRET

REGIONS = Path(__file__).parents[3] / "shared/data/regions12/deliveries"
LADDER = """
cta:
  ladder:
    - {method: auto, rounds: 1, accept_gap: 0, gap: 0}
    - {method: bcd, rounds: 1, accept_gap: 0, gap: 0}
    - {method: milp, solver: cbc, nodes: 2, accept_gap: 0, gap: 0}
flags:"""
PROGRAM = """
import os, sys, time
cores, pace = int(sys.argv.pop(1)), float(sys.argv.pop(1))
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
real = time.monotonic
time.monotonic = lambda: pace * real()
from sdc_tasks.cli import main
main()
"""


@dataclass(frozen=True)
class Machine:
    """What may differ. `pace`: seconds that the clock tells for each that passes."""

    cores: int = 2
    busy: int = 0
    seed: int = 0
    pace: float = 1.0


MACHINES = (Machine(cores=1, busy=1, seed=1), Machine(cores=2, busy=2, seed=2, pace=0.01))


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes that work without an end."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


def release(
    domain: Path | str, period: str, inbox: Path, out: Path, machine: Machine
) -> subprocess.CompletedProcess[str]:
    """A release in a process and a warehouse of its own; the warehouses share their
    secret, from which ids are made.
    """
    where = ["--domain", domain, "--period", period, "--inbox", inbox, "--out", out]
    command = [sys.executable, "-c", PROGRAM, machine.cores, machine.pace, "release", *where]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(machine.seed),
        "SDC_WAREHOUSE_SECRET": WAREHOUSE_SECRET,
    }
    with load(machine.busy):
        return subprocess.run(
            [*map(str, command)], env=environment, capture_output=True, text=True, check=False
        )


def left(out: Path) -> dict[str, bytes]:
    files = {name: (out / name).read_bytes() for name in ("table.csv", "audit.json")}
    return {**files, "publication": json.loads(files["audit.json"])["digests"]["publication"].encode()}


def same_everywhere(
    domain: Path | str, period: str, inbox: Path, folder: Path, machines: tuple[Machine, ...]
) -> None:
    found = []
    for number, machine in enumerate(machines):
        ended = release(domain, period, inbox, folder / str(number), machine)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        found.append(left(folder / str(number)))
    for machine, other in zip(machines[1:], found[1:], strict=True):
        assert other == found[0], machine


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    desk = new_desk(tmp_path_factory.mktemp("office"), AT=PROTECTED, BE=FREE, CY=PROTECTED)
    desk.settle("flags:", LADDER.strip("\n"))
    return desk


@pytest.mark.slow
def test_a_small_release_is_the_same_on_every_machine(small, tmp_path):
    same_everywhere(small.domain, PERIOD, small.inbox, tmp_path, MACHINES)


@pytest.mark.slow
def test_a_clock_that_is_too_fast_is_a_refusal_and_nothing_else(small, tmp_path):
    """Each rung has half an hour; every microsecond of this machine is two hours."""
    ended = release(small.domain, PERIOD, small.inbox, tmp_path, Machine(pace=1e10))
    assert ended.returncode == Retriable.exit_code, ended.stdout + ended.stderr
    assert "not done after 1800 seconds" in ended.stderr
    assert not (tmp_path / "table.csv").exists()


EVERYWHERE = tuple(
    Machine(cores, busy, seed) for cores, busy, seed in ((2, 1, 0), (2, 4, 1), (1, 1, 2), (1, 4, 0))
)


@pytest.mark.exhaustive
@pytest.mark.skipif(not REGIONS.is_dir(), reason=f"the deliveries are not on this machine ({REGIONS})")
def test_regions12_is_the_same_on_every_machine(tmp_path):
    same_everywhere(Path(__file__).with_name("regions12.yaml"), "2024", REGIONS, tmp_path, EVERYWHERE)


@pytest.mark.exhaustive
def test_the_demo_is_the_same_on_every_machine(tmp_path):
    from sdc_tasks.demo.writer import write_demo

    write_demo(tmp_path / "demo")
    same_everywhere("sbs", "2024", tmp_path / "demo/inbox", tmp_path, EVERYWHERE)
