"""`sdc cta` and `sdc export-jj`: a table in, a protected table out, whatever happens on the way."""

from __future__ import annotations

import csv
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.cli.export import attacker_table, cells_file, paper_table, read_cells
from sdc_tasks.cli.shared import problem_of_inbox
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.intake.tables.jj import problem_of, read_jj, write_jj
from sdc_tasks.judge.adjusted import verify
from sdc_tasks.methods.attack import Requirements, baseline
from sdc_tasks.methods.cta import engine
from sdc_tasks.methods.cta.model import release_problem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Floats
from sdc_tasks.model.weights import Weights, aggregate_weights
from support.desk import Ended, sdc
from support.waiting import until

SECRET = "748591"
# Two activities and two sizes with their totals, cells 0 to 8, row by row. Only cell 8 is primary.
DRAWN = f"""0
9
0 749391 1 s 0 2000000 0 0 0
1 400 1 s 0 2000000 0 0 0
2 748991 1 s 0 2000000 0 0 0
3 700 1 s 0 2000000 0 0 0
4 300 1 m 0 2000000 0 0 0
5 400 1 m 0 2000000 0 0 0
6 748691 1 s 0 2000000 0 0 0
7 100 1 m 0 2000000 0 0 0
8 {SECRET} 1 u 0 2000000 74859.1 74859.1 0
6
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 3 (-1) 4 (1) 5 (1)
0 3 : 6 (-1) 7 (1) 8 (1)
0 3 : 0 (-1) 3 (1) 6 (1)
0 3 : 1 (-1) 4 (1) 7 (1)
0 3 : 2 (-1) 5 (1) 8 (1)
"""
KEYS = [f"AT.{activity}.{size}" for activity in ("TOTAL", "C", "D") for size in ("_T", "S", "L")]
UP = np.array([1.0, 0, 1, 0, 0, 0, 1, 0, 1]) * 74859.1  # cell 8 and its totals rise


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The drawn table and the file of its keys."""
    path = tmp_path / "drawn.jj"
    path.write_text(DRAWN)
    lines = [f"{i},{key}" for i, key in enumerate(KEYS)]
    (tmp_path / "drawn.cells.csv").write_text("\n".join(["index,key", *lines, ""]))
    return path


Method = Callable[[Run, engine.EngineOptions], None]


@pytest.fixture
def method(monkeypatch: pytest.MonkeyPatch) -> Callable[[Method], None]:
    """Puts a method in place of the engine."""
    return lambda replacement: monkeypatch.setattr(engine, "execute", replacement)


def all_up(run: Run, options: engine.EngineOptions) -> None:
    """A method that finds the table with cell 8 raised, and proves half of its cost."""
    run.raise_bound(2 * 74859.1, "pencil")
    run.offer(UP / run.problem.unit, "pencil")


def judged(jj: str, x: Floats) -> tuple[float, bool, list[int]]:
    """(largest miss of a relation, within all bounds, primary cells that are short) by a reader
    of its own.
    """
    lines = jj.splitlines()
    n = int(lines[1])
    cells = [line.split() for line in lines[2 : 2 + n]]
    a, lb, ub, lpl, upl = (np.array([float(cell[k]) for cell in cells]) for k in (1, 4, 5, 6, 7))
    missed = 0.0
    for line in lines[3 + n :]:
        rhs, _, _, *terms = line.replace("(", "").replace(")", "").split()
        missed = max(
            missed,
            abs(sum(float(c) * x[int(i)] for i, c in zip(terms[::2], terms[1::2], strict=True)) - float(rhs)),
        )
    tolerance = 1e-6 * np.maximum(1, lpl)
    short = [
        i
        for i in range(n)
        if cells[i][3] == "u" and x[i] < a[i] + upl[i] - tolerance[i] and x[i] > a[i] - lpl[i] + tolerance[i]
    ]
    return missed, bool(((lb <= x) & (x <= ub)).all()), short


def adjusted(solution: Path) -> Floats:
    return np.array([float(line.split()[2]) for line in solution.read_text().splitlines()])


# --- levels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("levels", "way"), [("0 74859.1 0", 1), ("74859.1 0 0", -1), ("0 74859.1 50000", 1)])
def test_a_level_on_one_side_moves_the_cell_to_that_side(table, levels, way):
    """Cell 8 would keep a level of 0 below by staying where it is."""
    table.write_text(DRAWN.replace("74859.1 74859.1 0", levels))
    ended = sdc("cta", table, "--out", table.with_name("moved.sol"))
    assert ended.code == 0, ended.complained
    assert adjusted(table.with_name("moved.sol"))[8] == pytest.approx(int(SECRET) + way * 74859.1)


def test_a_primary_without_a_level_is_refused(table):
    table.write_text(DRAWN.replace("74859.1 74859.1 0", "0 0 0"))
    assert sdc("cta", table).refused(
        "cell 8: primary without a level. Remedy: give one of lpl, upl and spl", "Remedy: "
    )


# --- what it offers -----------------------------------------------------------------------------------------


def test_the_help_names_every_option():
    ended = sdc("cta", "--help")
    assert ended.code == 0
    options = (
        "--table",
        "--method",
        "--solver",
        "--weights",
        "--distance",
        "--seconds",
        "--gap",
        "--seed",
        "--threads",
    )
    promises = (
        "--out",
        "--json",
        "--plot",
        "fix-and-relax",
        "i a_i x_i p_i",
        "0 a protected table",
        "3 none",
    )
    said = " ".join(ended.said.split())
    assert [word for word in (*options, *promises) if word not in said] == []
    ended = sdc("export-jj", "--help")
    assert [
        word
        for word in ("--domain", "--inbox", "--out", "--setting", "--weights", "attacker", "confidential")
        if word not in ended.said
    ] == []


# --- what it writes -----------------------------------------------------------------------------------------


def test_a_table_is_written_as_a_solution_that_anybody_can_check(table, method, tmp_path):
    method(all_up)
    ended = sdc("cta", table, "--out", tmp_path / "x.sol")
    assert ended.code == 0, ended.text
    missed, inside, short = judged(DRAWN, adjusted(tmp_path / "x.sol"))
    assert (missed < 1e-6, inside, short) == (True, True, [])
    lines = [line.split() for line in (tmp_path / "x.sol").read_text().splitlines()]
    assert [line[0] for line in lines] == [str(i) for i in range(9)]
    assert [float(line[1]) for line in lines] == [749391, 400, 748991, 700, 300, 400, 748691, 100, 748591]
    assert [line[3] for line in lines] == ["0"] * 8 + ["1"], "the side to which the primary cell went"
    assert stat.S_IMODE((tmp_path / "x.sol").stat().st_mode) == 0o600
    assert SECRET not in ended.text


def test_the_facts_are_those_of_the_run_and_hold_no_cell(table, method, tmp_path):
    method(all_up)
    sdc("cta", table, "--json", tmp_path / "facts.json", "--weights", "one", "--seed", "7", "--method", "bcd")
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert facts["objective"] == pytest.approx(4 * 74859.1)
    assert (facts["bound"], facts["gap"]) == (2 * 74859.1, pytest.approx(0.5))
    assert (facts["unprotected"], facts["status"], facts["method"], facts["weights"], facts["seed"]) == (
        0,
        "feasible",
        "bcd",
        "one",
        7,
    )
    assert (facts["cells"], facts["sensitive"]) == (9, 1)
    assert facts["max_violation"] < 1e-9
    assert facts["seconds"] >= facts["history"][-1][0]
    assert [moment[1:] for moment in facts["history"]] == [
        [None, 2 * 74859.1, "pencil"],
        [pytest.approx(4 * 74859.1), 2 * 74859.1, "pencil"],
    ]
    assert SECRET not in (tmp_path / "facts.json").read_text()


def test_a_table_within_the_gap_is_optimal_and_the_options_reach_the_method(table, method):
    seen: list[tuple[engine.EngineOptions, str, float]] = []

    def watch(run: Run, options: engine.EngineOptions) -> None:
        seen.append((options, run.problem.distance.value, run.gap_wanted))
        all_up(run, options)

    method(watch)
    ended = sdc(
        "cta",
        table,
        "--gap",
        "0.6",
        "--solver",
        "cbc",
        "--distance",
        "l2",
        "--threads",
        "1",
        "--seconds",
        "900",
    )
    assert "the best table so far" in ended.said, "L2 costs the squares: the proof is worth little"
    assert "proven within the requested gap" in sdc("cta", table, "--gap", "0.6").said
    options, distance, gap = seen[0]
    assert (options.solver, options.threads, options.gap, distance, gap) == ("cbc", 1, 0.6, "l2", 0.6)
    assert 450 <= options.seconds <= 900


def test_with_keys_a_csv_names_every_cell(table, method, tmp_path):
    method(all_up)
    ended = sdc("cta", "--table", table, "--out", tmp_path / "x.csv")
    assert ended.code == 0, ended.text
    rows = list(csv.reader((tmp_path / "x.csv").open()))
    assert rows[0] == ["cell", "value", "adjusted"]
    assert [row[0] for row in rows[1:]] == KEYS
    assert judged(DRAWN, np.array([float(row[2]) for row in rows[1:]]))[1:] == (True, [])
    assert stat.S_IMODE((tmp_path / "x.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize(("name", "magic"), [("history.svg", b"<?xml"), ("history.png", b"\x89PNG")])
def test_the_history_can_be_drawn(table, method, tmp_path, name, magic):
    method(all_up)
    assert sdc("cta", table, "--plot", tmp_path / name).code == 0
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_where_the_output_is_no_terminal_progress_is_plain_lines(table, method):
    def slow(run: Run, options: engine.EngineOptions) -> None:
        run.raise_bound(2 * 74859.1, "pencil")
        assert until(lambda: "no protected table yet" in sys.stdout.getvalue())
        all_up(run, options)
        assert until(lambda: "table 299436" in sys.stdout.getvalue())

    method(slow)
    said = sdc("cta", table).said
    assert "no protected table yet, bound 149718" in said
    assert "table 299436, bound 149718, gap 50.00%" in said
    assert "\x1b" not in said


# --- when there is no table ---------------------------------------------------------------------------------


def test_without_a_table_nothing_is_written_and_an_older_one_is_not_taken_for_it(table, method, tmp_path):
    method(lambda run, options: run.raise_bound(1.0, "pencil"))
    (tmp_path / "x.sol").write_text("of yesterday")
    ended = sdc(
        "cta",
        table,
        "--out",
        tmp_path / "x.sol",
        "--json",
        tmp_path / "facts.json",
        "--plot",
        tmp_path / "history.svg",
    )
    assert ended.code == 3
    assert "no table yet that protects every primary cell" in ended.said
    assert f"{tmp_path / 'x.sol'} was not written" in ended.said
    assert (tmp_path / "x.sol").read_text() == "of yesterday"
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert (facts["status"], facts["objective"], facts["gap"], facts["bound"], facts["unprotected"]) == (
        "none",
        None,
        None,
        1.0,
        None,
    )


def test_a_table_that_leaves_a_cell_short_is_no_table_and_names_the_cell(table, method, tmp_path):
    """The tool in use returned tables with up to all of their sensitive cells unprotected."""
    method(lambda run, options: run.offer(0.9 * UP / run.problem.unit, "pencil") and None)
    ended = sdc("cta", "--table", table, "--out", tmp_path / "x.csv", "--json", tmp_path / "facts.json")
    assert (ended.code, (tmp_path / "x.csv").exists()) == (3, False)
    assert "the best one leaves AT.D.L short of their level" in ended.said
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert (facts["status"], facts["objective"], facts["unprotected"]) == ("none", None, 1)
    assert "cell 8" in sdc("cta", table).said, "by number where there are no keys"


def test_what_cannot_be_protected_is_told_by_key_with_exit_code_3(table, method, tmp_path):
    def refuse(run: Run, options: engine.EngineOptions) -> None:
        raise Unprotectable(
            f"{run.problem.name(int(run.problem.sensitive[0]))} cannot be protected. Remedy: widen its bounds"
        )

    method(refuse)
    ended = sdc("cta", "--table", table, "--json", tmp_path / "facts.json")
    assert ended.code == 3
    assert "Unprotectable: AT.D.L cannot be protected" in ended.complained
    assert json.loads((tmp_path / "facts.json").read_text())["status"] == "unprotectable"


def test_a_method_that_breaks_leaves_what_it_had_found(table, method, tmp_path):
    def breaks(run: Run, options: engine.EngineOptions) -> None:
        all_up(run, options)
        raise RuntimeError("out of luck")

    method(breaks)
    with pytest.raises(RuntimeError, match="out of luck"):
        sdc("cta", table, "--out", tmp_path / "x.sol", "--json", tmp_path / "facts.json")
    assert judged(DRAWN, adjusted(tmp_path / "x.sol"))[1:] == (True, [])
    assert json.loads((tmp_path / "facts.json").read_text())["status"] == "failed"


# --- mistakes -----------------------------------------------------------------------------------------------


def test_mistakes_are_told_before_the_search_begins(table, method, tmp_path):
    def never(run: Run, options: engine.EngineOptions) -> None:
        raise AssertionError("the search began")

    method(never)
    cases: list[tuple[tuple[object, ...], str]] = [
        ((), "one table is expected"),
        ((table, "--table", table), "one table is expected"),
        ((tmp_path / "nowhere.jj",), "nowhere.jj: cannot be read"),
        ((table, "--out", tmp_path / "nowhere" / "x.sol"), "x.sol: cannot be written"),
        ((table, "--json", tmp_path), "cannot be written"),
        ((table, "--out", table), "this is the table itself"),
        ((table, "--out", tmp_path / "x.csv"), "a .csv names cells by key"),
        ((table, "--plot", tmp_path / "x.pdf"), "not a picture that can be drawn"),
    ]
    for arguments, named in cases:
        ended = sdc("cta", *arguments)
        assert (ended.code, named in ended.complained, "Remedy" in ended.complained) == (2, True, True), (
            ended.text
        )
    assert sdc("cta", table, "--method", "magic").code == 2
    assert sdc("cta", table, "--gap", "-1").code == 2
    assert table.read_text() == DRAWN


def test_a_broken_table_is_told_by_line_and_key(table):
    table.write_text(DRAWN.replace("8 748591 1 u", "8 748591 -1 u"))
    ended = sdc("cta", "--table", table)
    assert (ended.code, SECRET in ended.text) == (2, False)
    assert "drawn.jj, line 11: cell 8 (AT.D.L): its cost is negative" in ended.complained


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, "cannot be read"),
        (b"", "line 1: the header is index,key"),
        (b"index,key\n0,AT\n2,BE\n", "line 3: the key of cell 1 is expected"),
        (b"index,key\n0\n", "line 2: the key of cell 0 is expected"),
        (b"index,key\n0,\xff\n", "not a CSV file in UTF-8"),
        (b"index,key\n0,AT\n", "9 cells, but 1 of them are named"),
    ],
)
def test_a_file_of_keys_that_does_not_fit_is_refused(table, content, named):
    keys = cells_file(table)
    keys.unlink()
    if content is not None:
        keys.write_bytes(content)
    ended = sdc("cta", "--table", table)
    assert (ended.code, named in ended.complained, "Remedy" in ended.complained) == (2, True, True), (
        ended.text
    )


def test_the_file_of_keys_stands_beside_its_table():
    assert cells_file(Path("a/b.jj")) == cells_file(Path("a/b.jj.gz")) == Path("a/b.cells.csv")
    with pytest.raises(InvalidInput):
        read_cells(Path("nowhere.cells.csv"))


# --- Ctrl-C and the clock, in a process of its own ----------------------------------------------------------

BEGIN = """
import os, signal, sys, time
def interrupt(number=signal.SIGINT):
    os.kill(os.getpid(), number)
"""
FIND = (
    BEGIN
    + """
import numpy as np
from sdc_tasks.methods.cta import engine
UP = np.array([1.0, 0, 1, 0, 0, 0, 1, 0, 1]) * 74859.1
def find(run, options):
    run.offer(UP / run.problem.unit, "pencil")
engine.execute = find
"""
)
END = "\nfrom sdc_tasks.cli import main\nmain()\n"


def process(script: str, *arguments: object, scratch: Path) -> Ended:
    """`sdc` in a process of its own, prepared by a script; temporary files go to `scratch`."""
    scratch.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", script + END, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "TMPDIR": str(scratch)},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert list(scratch.iterdir()) == [], "no temporary file of a solver is left: they hold the table"
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("module", ["typer", "scipy.sparse", "highspy"])
def test_ctrl_c_while_the_program_loads_ends_it_at_once(table, tmp_path, module):
    script = BEGIN + (
        f"class Finder:\n    def find_spec(self, name, path=None, target=None):\n        if name == "
        f"{module!r}: interrupt()\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    ended = process(script, "cta", table, "--out", tmp_path / "x.sol", scratch=tmp_path / "scratch")
    assert (ended.code, (tmp_path / "x.sol").exists()) == (3, False)
    assert "interrupted: no table yet, nothing was written" in ended.complained


def test_ctrl_c_while_the_table_is_read_ends_it_at_once(table, tmp_path):
    script = FIND + (
        "import sdc_tasks.intake.tables.jj as jj\nread = jj.read_jj\njj.read_jj = lambda "
        "*a: (interrupt(), read(*a))[1]\n"
    )
    ended = process(script, "cta", table, "--out", tmp_path / "x.sol", scratch=tmp_path / "scratch")
    assert (ended.code, (tmp_path / "x.sol").exists()) == (3, False)
    assert "interrupted: no table yet" in ended.complained


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_ctrl_c_while_it_searches_writes_the_best_table(table, tmp_path, number):
    """The method never looks whether it should stop."""
    script = FIND + (
        f"def deaf(run, options):\n    find(run, options)\n    "
        f"interrupt(signal.{number})\n    time.sleep(600)\nengine.execute = deaf\n"
    )
    ended = process(
        script,
        "cta",
        table,
        "--out",
        tmp_path / "x.sol",
        "--json",
        tmp_path / "facts.json",
        scratch=tmp_path / "scratch",
    )
    assert ended.code == 0, ended.text
    assert "interrupted: the best table so far" in ended.said
    assert judged(DRAWN, adjusted(tmp_path / "x.sol"))[1:] == (True, [])
    assert json.loads((tmp_path / "facts.json").read_text())["status"] == "interrupted"


def test_ctrl_c_before_the_first_table_says_so(table, tmp_path):
    script = FIND + "def deaf(run, options):\n    interrupt()\n    time.sleep(600)\nengine.execute = deaf\n"
    ended = process(script, "cta", table, "--out", tmp_path / "x.sol", scratch=tmp_path / "scratch")
    assert (ended.code, (tmp_path / "x.sol").exists()) == (3, False)
    assert "interrupted: no table yet" in ended.said


def test_ctrl_c_while_it_writes_does_not_tear_the_file(table, tmp_path):
    script = FIND + (
        "import sdc_tasks.intake.tables.jj as jj\nwrite = jj.write_private\n"
        "jj.write_private = lambda *a: (interrupt(), write(*a), interrupt())\n"
    )
    ended = process(
        script,
        "cta",
        table,
        "--out",
        tmp_path / "x.sol",
        "--json",
        tmp_path / "facts.json",
        scratch=tmp_path / "scratch",
    )
    assert ended.code == 0
    assert judged(DRAWN, adjusted(tmp_path / "x.sol"))[1:] == (True, [])
    assert json.loads((tmp_path / "facts.json").read_text())["status"] == "feasible"


def test_a_method_that_does_not_hear_the_clock_is_left_behind(table, tmp_path):
    script = (
        FIND + "def deaf(run, options):\n    find(run, options)\n    time.sleep(600)\nengine.execute = deaf\n"
    )
    ended = process(
        script, "cta", table, "--seconds", "1", "--out", tmp_path / "x.sol", scratch=tmp_path / "scratch"
    )
    assert ended.code == 0, ended.text
    assert judged(DRAWN, adjusted(tmp_path / "x.sol"))[1:] == (True, [])


def test_a_solver_process_is_stopped_and_its_method_cleans_up(table, tmp_path):
    """What CBC does when it does not look at the clock."""
    (tmp_path / "cbc").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
    (tmp_path / "cbc").chmod(0o700)
    script = FIND + (
        "import subprocess\n"
        f"def calls(run, options):\n    find(run, options)\n    subprocess.run([{str(tmp_path / 'cbc')!r}])\n"
        f"    open({str(tmp_path / 'cleaned')!r}, 'w').close()\nengine.execute = calls\n"
    )
    ended = process(
        script, "cta", table, "--seconds", "1", "--out", tmp_path / "x.sol", scratch=tmp_path / "scratch"
    )
    assert ended.code == 0, ended.text
    assert (tmp_path / "cleaned").exists()


# --- a release as a JJ file ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Demo:
    """A small release: its deliveries, and what they ask to protect."""

    folder: Path
    domain: Domain
    problem: ProtectionProblem
    requirements: Requirements

    def export(self, out: Path, *more: object) -> Ended:
        where = (
            "--domain",
            self.folder / "domain.yaml",
            "--period",
            "2024",
            "--inbox",
            self.folder / "inbox",
        )
        return sdc("export-jj", *where, "--out", out, *more)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    domain = load_domain(write_demo(folder, 4, 8, 3))
    problem = problem_of_inbox(domain, folder / "inbox", "2024")
    return Demo(folder, domain, problem, baseline(problem, ("external",))[0])


def test_an_export_is_marked_as_confidential_and_kept_from_others(demo, tmp_path):
    ended = demo.export(tmp_path / "x.jj.gz")
    assert ended.code == 0, ended.text
    assert "confidential, true values of every country" in ended.said
    assert [stat.S_IMODE(path.stat().st_mode) for path in sorted(tmp_path.iterdir())] == [0o600, 0o600]
    assert read_cells(tmp_path / "x.cells.csv") == [
        demo.problem.space.key(i) for i in range(demo.problem.space.size)
    ]
    ended = demo.export(tmp_path / "x.txt")
    assert (ended.code, "x.txt: a JJ file is expected" in ended.complained) == (2, True)


def test_the_attackers_file_moves_only_what_the_world_does_not_know(demo, tmp_path):
    demo.export(tmp_path / "x.jj", "--weights", "inverse")
    table, problem = read_jj(tmp_path / "x.jj"), demo.problem
    assert np.array_equal(table.a, problem.a)
    assert set(table.status[problem.public]) == {"z"}
    assert np.array_equal(table.primary, np.flatnonzero(problem.primary))
    assert set(table.status[problem.suppressed & ~problem.primary]) == {"m"}
    assert not table.cost[~problem.aggregate].any()
    moving = problem.aggregate & (table.status == "s")
    assert moving.any()
    assert table.cost[moving] == pytest.approx(1 / problem.a[moving])
    assert table.lpl[table.primary] == pytest.approx(demo.requirements.down)
    assert table.upl[table.primary] == pytest.approx(demo.requirements.up)


def test_the_papers_file_moves_every_cell_but_the_empty_ones(demo, tmp_path):
    demo.export(tmp_path / "x.jj", "--setting", "paper", "--weights", "sqrt")
    table, problem = read_jj(tmp_path / "x.jj"), demo.problem
    empty = problem.a == 0
    assert empty.any()
    assert np.array_equal(table.fixed, empty)
    assert table.cost == pytest.approx(1 / np.sqrt(np.maximum(problem.a, 1)))
    assert np.array_equal(table.primary, np.flatnonzero(problem.primary & ~empty))
    assert table.lpl[table.primary] == pytest.approx(np.minimum(problem.lpl, problem.a)[table.primary])
    assert np.isfinite(table.ub).all()
    assert (table.ub >= table.a + table.upl).all()


@pytest.mark.parametrize("weights", list(Weights))
def test_aggregates_weigh_the_same_in_both_settings(demo, weights):
    whole = paper_table(demo.problem, weights, 2.0)
    assert whole.cost[demo.problem.aggregate] == pytest.approx(aggregate_weights(demo.problem, weights, 2.0))
    assert weights is Weights.ONE or len(np.unique(whole.cost[~demo.problem.aggregate])) > 1


def test_what_a_delivery_misses_stays_its_right_hand_side(demo, tmp_path):
    """A table is adjusted by deviations that add up; its own rounding is not mended on the way."""
    a = demo.problem.a.copy()
    off = int(np.flatnonzero(demo.problem.aggregate)[0])
    a[off] += 100.0
    table = attacker_table(
        replace(demo.problem, a=a), demo.requirements, aggregate_weights(demo.problem, Weights.ONE)
    )
    assert set(np.abs(table.rhs)) == {0.0, 100.0}
    write_jj(tmp_path / "x.jj", table)
    assert np.array_equal(read_jj(tmp_path / "x.jj").rhs, table.rhs)


# --- the engine itself --------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["attacker", "paper"])
def test_a_release_exported_and_adjusted_is_a_table_of_that_release(demo, tmp_path, setting):
    """The table that `sdc cta` makes of the file satisfies the verifier for the problem
    that was never written to a file.
    """
    demo.export(tmp_path / "x.jj", "--setting", setting)
    ended = sdc(
        "cta",
        "--table",
        tmp_path / "x.jj",
        "--out",
        tmp_path / "x.csv",
        "--seconds",
        "20",
        "--gap",
        "0.2",
        "--threads",
        "1",
    )
    assert ended.code == 0, ended.text
    x = np.array([float(row[2]) for row in list(csv.reader((tmp_path / "x.csv").open()))[1:]])
    missed, inside, short = judged((tmp_path / "x.jj").read_text(), x)
    assert (missed <= 1e-9 * x.max(), inside, short) == (True, True, [])
    weights = aggregate_weights(demo.problem, demo.domain.cta.weights, demo.domain.cta.gamma)
    direct = (
        release_problem(demo.problem, demo.requirements, weights)
        if setting == "attacker"
        else problem_of(read_jj(tmp_path / "x.jj"))
    )
    z = (x - demo.problem.a) / direct.unit
    verdict = verify(direct, z[direct.cells])
    assert (verdict.is_feasible, verdict.unprotected) == (True, 0)
    assert not np.delete(z, direct.cells).any(), "what the world knows stays"


def test_ctrl_c_at_the_real_search_leaves_a_protected_table(tmp_path):
    """A process as a user starts it, interrupted as a user does it: once it has said that it
    holds a table.
    """
    write_demo(tmp_path / "demo", 6, 24, 4)
    where = (
        "--domain",
        tmp_path / "demo" / "domain.yaml",
        "--period",
        "2024",
        "--inbox",
        tmp_path / "demo" / "inbox",
    )
    assert (
        sdc("export-jj", *where, "--out", tmp_path / "x.jj", "--setting", "paper", "--weights", "sqrt").code
        == 0
    )
    command = [
        str(Path(sys.executable).with_name("sdc")),
        "cta",
        str(tmp_path / "x.jj"),
        "--gap",
        "0",
        "--seconds",
        "600",
    ]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "x.sol"), "--json", str(tmp_path / "facts.json")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        said = next((line for line in running.stdout if " table " in line), "it ended without a table")
        running.send_signal(signal.SIGINT)
        rest, complained = running.communicate(timeout=120)
    assert (running.returncode, complained) == (0, ""), said + rest + complained
    assert "interrupted: the best table so far" in rest
    missed, inside, short = judged((tmp_path / "x.jj").read_text(), adjusted(tmp_path / "x.sol"))
    assert (missed < 1e-3, inside, short) == (True, True, [])
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert (facts["status"], facts["unprotected"]) == ("interrupted", 0)
    assert 0 <= facts["bound"] <= facts["objective"] == pytest.approx(facts["history"][-1][1])
