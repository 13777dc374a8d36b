"""A task, a file or an error of somebody else is shown as text: no markup, no emoji code and
no control character of it acts.
"""

from __future__ import annotations

import io
import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.table import Table

from sdc_tasks.cli.terminal import Terminal
from support import ROOT

EVIL = "see [/annex] [red]soon[/] :heart: \x1b[2Jgone\x07"
SHOWN = r"see [/annex] [red]soon[/] :heart: \x1b[2Jgone\x07"


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "dags")
    import run_here

    return run_here


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "docker")
    import stack

    return stack


@pytest.mark.parametrize("colours", [False, True])
def test_a_terminal_shows_text_as_text(colours: bool) -> None:
    shown = io.StringIO()
    terminal = Terminal(file=shown, force_terminal=colours, width=300)
    terminal.print(EVIL)
    terminal.tell((EVIL, "bold red"), ": ", EVIL)
    with terminal.status(EVIL) as status:
        status.update(EVIL)
        terminal.print(status.renderable)
    told = shown.getvalue()
    assert told.count(SHOWN) >= 4
    assert "\x07" not in told
    assert "\x1b[2Jgone" not in told


def test_the_lines_of_a_run_show_names_and_errors_as_text(run_here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_here, "ended", lambda _: (3, 41))
    shown = io.StringIO()
    terminal = Terminal(file=shown, width=300)
    with terminal.status("starting") as status:
        progress = run_here.Progress(terminal, status)
        task = SimpleNamespace(task_id="judge", rendered_map_index=EVIL, state="failed")
        for end in (progress.on_task_instance_success, progress.on_task_instance_skipped):
            progress.on_task_instance_running(task)
            progress.handler.emit(logging.LogRecord("sdc.release", logging.INFO, "", 0, EVIL, None, None))
            end(task)
        progress.on_task_instance_failed(task, ValueError(EVIL))
    lines = shown.getvalue().splitlines()
    assert [line.count(SHOWN) for line in lines] == [2, 2, 2]
    assert all(line.startswith("[  3/41] judge see ") for line in lines)
    assert "\x1b" not in shown.getvalue()


def test_a_refusal_of_a_run_is_shown_as_text(
    run_here, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd
) -> None:
    def refuse(*_: object) -> None:
        raise SystemExit(EVIL)

    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    monkeypatch.setattr(run_here, "settle", lambda _: None)
    monkeypatch.setattr(run_here, "prepare", refuse)
    monkeypatch.setattr(
        sys,
        "argv",
        ["run_here.py", "--domain", "x", "--period", "2024", "--inbox", "i", "--out", str(tmp_path)],
    )
    assert run_here.main() == 1
    assert capfd.readouterr().out.strip() == SHOWN


def test_the_end_of_a_run_is_words_without_markup(run_here, capsys: pytest.CaptureFixture[str]) -> None:
    run_here.conclude(SimpleNamespace(), "failed", None)
    assert capsys.readouterr().out == "not released: run failed\n"


def test_what_a_server_says_is_shown_as_text(
    stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys
) -> None:
    def fail(*_: object) -> None:
        raise stack.StackError(f"redis ended: {EVIL}")

    monkeypatch.setattr(stack, "up", fail)
    monkeypatch.setattr(sys, "argv", ["stack.py", "--home", str(tmp_path), "up"])
    assert stack.main() == 1
    assert capsys.readouterr().out == f"redis ended: {SHOWN}\n"


def test_no_name_of_a_cell_is_cut_in_a_narrow_window():
    screen = io.StringIO()
    table = Table("cell", "downwards", title="what the attacker leaves")
    table.add_row("EU27_2020.TURNOVER.C10-C12.LARGE_ENTERPRISES", "12.5%")
    Terminal(file=screen, width=30).print(table)
    assert "…" not in screen.getvalue()
    rows = [line.split("│")[1].strip() for line in screen.getvalue().splitlines() if line.startswith("│")]
    assert "".join(rows) == "EU27_2020.TURNOVER.C10-C12.LARGE_ENTERPRISES"
