"""What `make up` and `make down` do with processes: only their own, children too, as often as one likes."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import psutil
import pytest
from stack import Stack, StackError, down, family, kill, memory, popen, process, program, surroundings, up

from sdc_tasks.cli.terminal import Terminal
from support import stack_fixture  # puts docker/ on the path
from support.waiting import until

QUIET = Terminal(file=open(os.devnull, "w"))  # noqa: SIM115


@pytest.fixture
def empty(tmp_path: Path) -> Stack:
    for name in ("pids", "logs"):
        (tmp_path / name).mkdir()
    return Stack(tmp_path, *stack_fixture.free_ports(3))


def started(stack: Stack, name: str, script: str) -> psutil.Process:
    popen(stack, name, ["/bin/sh", "-c", script], {})
    found = process(stack, name)
    assert found is not None
    return found


def settled(stack: Stack, name: str, number: int) -> None:
    assert until(lambda: len(family(stack, name)) == number, 20), family(stack, name)


def test_down_ends_a_process_and_its_children_and_is_safe_to_repeat(empty: Stack) -> None:
    leader = started(empty, "one", "sleep 300 & sleep 300 & wait")
    settled(empty, "one", 3)
    everybody = family(empty, "one")
    assert down(empty) == ["one"]
    assert not any(
        each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in [leader, *everybody]
    )
    assert down(empty) == []


def test_a_child_in_a_session_of_its_own_is_killed_and_counted_too(empty: Stack) -> None:
    started(empty, "one", "setsid sleep 300 & wait")
    settled(empty, "one", 2)
    assert memory(empty, "one") > 0
    everybody = family(empty, "one")
    kill(empty, "one")
    assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in everybody)


def test_down_keeps_postgresql_for_a_restore(empty: Stack) -> None:
    kept = started(empty, "postgres", "exec sleep 300")
    started(empty, "one", "exec sleep 300")
    assert down(empty, "postgres") == ["one"]
    assert kept.is_running()
    assert down(empty) == ["postgres"]


def test_down_ends_children_that_outlived_their_parent(empty: Stack) -> None:
    leader = started(empty, "one", "sleep 300 & wait")
    settled(empty, "one", 2)
    leader.kill()
    psutil.wait_procs([leader], timeout=10)
    orphan = next(each for each in family(empty, "one") if each.pid != leader.pid)
    assert process(empty, "one") is None
    assert down(empty) == ["one"]
    assert not orphan.is_running()


def test_down_leaves_alone_who_got_the_number_of_one_that_is_gone(empty: Stack) -> None:
    with subprocess.Popen(["/bin/sleep", "300"], start_new_session=True) as somebody:
        try:
            born = psutil.Process(somebody.pid).create_time()
            (empty.home / "pids" / "one").write_text(f"{somebody.pid} {born + 100}\n", encoding="utf-8")
            assert process(empty, "one") is None
            assert down(empty) == []
            kill(empty, "one")
            assert somebody.poll() is None
        finally:
            somebody.kill()


def test_a_port_that_is_taken_is_named_before_anything_starts(empty: Stack) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", empty.redis))
        other.listen()
        with pytest.raises(StackError, match=rf"port {empty.redis} of redis is taken\. Remedy"):
            up(empty, QUIET)
    assert list((empty.home / "pids").iterdir()) == []


def test_a_program_that_is_missing_is_named_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StackError, match=r"redis-server is not installed\. Remedy: apt-get install"):
        program("redis-server")


def test_nothing_of_the_users_own_airflow_reaches_the_services(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AIRFLOW_HOME", "AIRFLOW__CORE__EXECUTOR", "SDC_PAYLOAD_KEYS", "PGPASSWORD", "DEV"):
        monkeypatch.setenv(name, "mine")
    assert "mine" not in surroundings().values()
