"""Ctrl-C is Ctrl-C, whatever a library that it interrupts makes of it."""

from __future__ import annotations

import signal
import sqlite3
import sys
from collections.abc import Iterator
from threading import Event

import pytest

from sdc_tasks import cli
from sdc_tasks.cli import commands
from sdc_tasks.errors import InvalidInput


def at_once() -> None:
    signal.raise_signal(signal.SIGINT)


def left_open() -> None:
    try:
        at_once()
    finally:  # what a zip file says that closes while an entry is written
        raise ValueError("Can't close the ZIP file while there is an open writing handle on it.")


def refused() -> None:
    try:
        at_once()
    finally:
        raise InvalidInput("half a file")


def unwritable() -> None:
    try:
        at_once()
    finally:
        raise NotADirectoryError(20, "Not a directory", "out")


def in_a_function_of_the_database() -> None:
    """SQLite says that the function failed, and nothing of why."""
    with sqlite3.connect(":memory:") as connection:
        connection.create_function("stop", 0, at_once)
        connection.execute("SELECT stop()")


def where_nobody_hears_it() -> None:
    class Freed:
        def __del__(self) -> None:
            at_once()

    freed = Freed()
    del freed
    Event().wait(60)
    raise AssertionError("it did not come again")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`sdc release`, in this process."""
    monkeypatch.setattr(sys, "argv", ["sdc", "release"])
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "stop",
    [at_once, left_open, refused, unwritable, in_a_function_of_the_database, where_nobody_hears_it],
)
def test_an_interrupted_command_ends_as_one_whatever_hides_it(stop, shell, monkeypatch, capsys):
    monkeypatch.setattr(commands, "build", lambda names: lambda obj: stop())
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert (end.value.code, capsys.readouterr()) == (130, ("", ""))


def test_an_error_that_nobody_interrupted_is_told(shell, monkeypatch):
    def fail(obj: object) -> None:
        raise ValueError("ours")

    monkeypatch.setattr(commands, "build", lambda names: fail)
    with pytest.raises(ValueError, match="ours"):
        cli.main()
