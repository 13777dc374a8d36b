"""`sdc suppress`: a table with primaries in, a safe pattern out, whatever happens on the way. The
table is that of [2], Figure 11.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.methods.suppression.names import METHODS
from support import figure_11
from support.desk import Ended, sdc
from support.figure_11 import GRID


def drawn(grid: np.ndarray = GRID, statuses: str = "ssssssussssmzsss", costs: str = "1") -> str:
    """Cell 12 stays open, and cell 11 arrives with a status m that means nothing here."""
    return figure_11.drawn(grid, statuses, costs)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "drawn.jj"
    path.write_text(drawn())
    return path


def statuses(jj: Path) -> str:
    lines = jj.read_text().splitlines()
    return "".join(line.split()[3] for line in lines[2 : 2 + int(lines[1])])


@pytest.mark.parametrize("method", METHODS)
def test_the_pattern_of_figure_11_with_its_facts(table, tmp_path, method):
    out, facts, plot = tmp_path / "out.jj", tmp_path / "facts.json", tmp_path / "plot.svg"
    run = sdc("suppress", table, "--method", method, "--out", out, "--json", facts, "--plot", plot)
    assert run.code == 0, run.complained
    assert statuses(out) == "msmsmsussssszsss"
    assert out.read_text().replace(" m ", " s ") == drawn().replace(" m ", " s "), (
        "nothing but statuses changes"
    )
    told = json.loads(facts.read_text())
    assert {
        name: told[name]
        for name in ("objective", "secondaries", "unprotected", "method", "costs", "seed", "primaries")
    } == {
        "objective": 86.0,
        "secondaries": 3,
        "unprotected": 0,
        "method": method,
        "costs": "value",
        "seed": 1,
        "primaries": 1,
    }
    proves = method in {"auto", "exact"}
    assert (told["status"], told["bound"], told["gap"]) == (
        ("optimal", 86.0, 0.0) if proves else ("feasible", 0.0, 1.0)
    )
    assert told["history"][-1][:2] == [86.0, told["bound"]]
    again = tmp_path / "again.json"
    assert sdc("suppress", table, "--method", method, "--out", out, "--json", again).code == 0
    assert again.read_bytes() == facts.read_bytes()
    assert "16 cells, 8 relations, 1 primaries" in run.complained
    assert plot.read_text().lstrip().startswith("<?xml")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (out, facts)} == {0o600}


def test_costs_change_what_is_cheapest(table, tmp_path):
    """With a cost of 1 for each cell, fewest cells; counted contributors make a row dear that values make
    cheap.
    """
    counts = tmp_path / "counts.csv"
    rich = [50 if i in (0, 2) else 2 for i in range(16)]
    counts.write_text("cell,count\n" + "".join(f"{i},{count}\n" for i, count in enumerate(rich)))
    out = tmp_path / "out.jj"
    for costs, more, expected in (
        ("one", (), 3.0),
        ("file", (), 3.0),
        ("frequency", ("--count-file", counts), 6.0),
        ("distance", (), 4.0),
    ):
        facts = tmp_path / f"{costs}.json"
        assert sdc("suppress", table, "--cost", costs, *more, "--out", out, "--json", facts).code == 0
        assert json.loads(facts.read_text())["objective"] == expected, costs
    assert statuses(out).count("m") == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cost", "frequency"), "need --count-file FILE"),
        (("--count-file", "nowhere.csv"), "need --count-file FILE"),
        (("--cost", "frequency", "--count-file", "nowhere.csv"), "nowhere.csv: cannot be read"),
        (("--plot", "picture.gif"), "name it .svg or .png"),
        (("--out", "no/such/folder.jj"), "cannot be written"),
    ],
)
def test_options_that_cannot_be(table, options, message):
    run = sdc("suppress", table, *options)
    assert (run.code, message in run.complained, "Remedy: " in run.complained) == (2, True, True), (
        run.complained
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cells,count\n", "line 1: the header is cell,count"),
        ("cell,count\n0,1\n0,1\n", "line 3: cell 0"),
        ("cell,count\n99,1\n", "line 2: cell 99"),
        ("cell,count\n0,many\n", "line 2: the number of a cell"),
        ("cell,count\n0,1\n", "cell 1 and 14 more: no count"),
    ],
)
def test_counts_that_are_none(table, tmp_path, content, message):
    (tmp_path / "counts.csv").write_text(content)
    run = sdc("suppress", table, "--cost", "frequency", "--count-file", tmp_path / "counts.csv")
    assert (run.code, message in run.complained, "Remedy: " in run.complained) == (2, True, True), (
        run.complained
    )


def test_a_table_that_does_not_add_up_says_where_and_by_how_much(tmp_path):
    wrong = GRID.copy()
    wrong[0, 0] += 7
    path = tmp_path / "wrong.jj"
    path.write_text(drawn(wrong))
    run = sdc("suppress", path, "--out", tmp_path / "out.jj")
    assert run.code == 2
    assert (
        f"{path}, line 20: this relation, as 1 more, does not hold for the values: it is off by 0.046 of what"
        in run.complained
    )
    assert not (tmp_path / "out.jj").exists()


def test_a_primary_cell_without_a_level_is_refused(table, tmp_path):
    """0 is no protection: its relations give it away."""
    table.write_text(drawn().replace(" u 0 1000 10 10 0", " u 0 1000 0 0 0"))
    run = sdc("suppress", table, "--out", tmp_path / "out.jj")
    assert run.code == 2
    assert "cell 6: primary without a level. Remedy: " in run.complained
    assert not (tmp_path / "out.jj").exists()


def test_what_nothing_can_protect_is_named_and_nothing_is_written(tmp_path):
    """Everything stays open: the primary follows from its row."""
    path, out, facts = tmp_path / "stuck.jj", tmp_path / "out.jj", tmp_path / "facts.json"
    path.write_text(drawn(statuses="zzzzzzuzzzzzzzzz"))
    run = sdc("suppress", path, "--out", out, "--json", facts)
    assert run.code == 3
    assert "cell 6: its relations (1, 6) give it away" in run.complained
    assert "Remedy: " in run.complained
    assert not out.exists()
    told = json.loads(facts.read_text())
    assert (told["status"], told["objective"], told["unprotected"]) == ("unprotectable", None, 1)


def test_a_time_limit_of_nothing_still_gives_a_verified_pattern_or_says_so(table, tmp_path):
    facts = tmp_path / "facts.json"
    run = sdc("suppress", table, "--seconds", "0", "--json", facts)
    told = json.loads(facts.read_text())
    assert (run.code, told["unprotected"]) in {(0, 0), (3, 1)}


# --- Ctrl-C and memory: the method in the place of the engine's ---------------------------------------------

BEGIN = """
import os, signal, sys, time
import numpy as np
from sdc_tasks.methods.suppression import engine
def find(run, options):
    hidden = run.problem.primary.copy()
    hidden[[0, 2, 4]] = True
    assert run.offer(hidden, "pencil")
"""
END = "\nfrom sdc_tasks.cli import main\nmain()\n"


def process(script: str, *arguments: object, command: str = "suppress") -> Ended:
    """`sdc suppress` in a process of its own, with another engine."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + script + END, command, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("found", [True, False])
def test_ctrl_c_writes_the_best_pattern_or_says_that_there_is_none(table, tmp_path, found):
    """The method never looks whether it should stop."""
    out, facts = tmp_path / "out.jj", tmp_path / "facts.json"
    before = "find(run, options); " if found else ""
    script = (
        f"def deaf(run, options):\n    {before}os.kill(os.getpid(), signal.SIGINT); "
        f"time.sleep(600)\nengine.execute = deaf\n"
    )
    run = process(script, table, "--out", out, "--json", facts)
    told = json.loads(facts.read_text())
    assert (run.code, out.exists(), told["status"], told["objective"]) == (
        (0, True, "interrupted", 86.0) if found else (3, False, "interrupted", None)
    )
    assert (
        "interrupted: the best pattern so far" if found else "interrupted: none yet that protects"
    ) in run.said


HAMMER = """
import os, sys, time, signal
try:
    for _ in range(20_000):
        os.kill(int(sys.argv[1]), signal.SIGINT)
        time.sleep(0.001)
except ProcessLookupError:
    pass
"""


@pytest.mark.parametrize("command", ["suppress", "protect"])
def test_ctrl_c_again_and_again_loses_nothing(table, tmp_path, command):
    """One Ctrl-C after the other, through the writing and until the process is gone."""
    out, facts, firms = tmp_path / "out.csv", tmp_path / "facts.json", tmp_path / "firms.csv"
    firms.write_text(
        "A,B,V\n"
        + "".join(f"{a},{b},{v}\n" for a in "xyz" for b in "123" for v in (50, 60, 70))
        + "x,1,900\n"
    )
    given = (table,) if command == "suppress" else (firms, "--dims", "A,B", "--value", "V", "--p", "10")
    script = f"""
import subprocess
def until_stopped(run, options):
    assert run.offer(~run.problem.fixed, "pencil")
    subprocess.Popen([sys.executable, "-c", {HAMMER!r}, str(os.getpid())], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run._asked_to_stop.wait()
engine.execute = until_stopped
"""  # noqa: E501
    run = process(script, *given, "--out", out, "--json", facts, command=command)
    assert (run.code, json.loads(facts.read_text())["status"]) == (0, "interrupted"), run.text
    assert "interrupted; writing the best verified pattern" in run.complained
    judged = sdc(command, *given, "--check", out) if command == "protect" else None
    assert judged is None or judged.code == 0, "the whole table was written"
    assert list(tmp_path.glob("*.tmp")) == list(tmp_path.glob(".*")) == []


def test_ctrl_c_before_there_is_a_run_ends_at_once(table, tmp_path):
    script = (
        "import sdc_tasks.intake.tables.jj as jj\nread = jj.read_jj\n"
        "jj.read_jj = lambda *a: (os.kill(os.getpid(), signal.SIGINT), read(*a))[1]\n"
    )
    run = process(script, table, "--out", tmp_path / "out.jj")
    assert (run.code, (tmp_path / "out.jj").exists()) == (3, False)
    assert "interrupted: no pattern yet, nothing was written" in run.complained


@pytest.mark.parametrize("found", [True, False])
def test_out_of_memory_writes_the_best_pattern_or_says_that_there_is_none(
    monkeypatch, table, tmp_path, found
):
    from sdc_tasks.methods.suppression import engine

    def greedy(run, options):
        if found:
            hidden = run.problem.primary.copy()
            hidden[[0, 2, 4]] = True
            assert run.offer(hidden, "pencil")
        raise MemoryError

    monkeypatch.setattr(engine, "execute", greedy)
    run = sdc("suppress", table, "--out", tmp_path / "out.jj")
    assert (run.code, (tmp_path / "out.jj").exists()) == ((0, True) if found else (3, False))
    assert (
        "out of memory: the best pattern so far" if found else "none yet that protects every primary cell"
    ) in run.said


def test_the_same_seed_gives_the_same_file(table, tmp_path):
    for name in ("one", "two"):
        assert (
            sdc("suppress", table, "--cost", "one", "--seed", "7", "--out", tmp_path / f"{name}.jj").code == 0
        )
    assert (tmp_path / "one.jj").read_bytes() == (tmp_path / "two.jj").read_bytes()


def test_names_of_columns_may_have_commas(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        '"Place, of work",JOB,VALUE,STATUS,LPL,UPL\nA,x,4,u,2,2\nA,y,60,s,0,0\nB,x,30,s,0,0\nB,y,50,s,0,0\n'
    )
    run = sdc("suppress", table, "--dims", '"Place, of work", JOB', "--out", tmp_path / "safe.csv")
    assert run.code == 0, run.complained
    assert (tmp_path / "safe.csv").read_text().startswith('"Place, of work","JOB",')
    assert sdc("suppress", table, "--dims", "", "--out", tmp_path / "safe.csv").refused(
        "--dims REGION,ACTIVITY"
    )
