"""What a solver says and where it lies differs between its versions: the program reads both."""

from __future__ import annotations

import subprocess
import sys

import pulp
import pytest

from sdc_tasks.errors import InvalidInput
from sdc_tasks.solver import cbc
from sdc_tasks.solver.lp import Status

PRINTING = """
import ctypes, os, sys
from sdc_tasks.quiet import made_quietly
libc = ctypes.CDLL(None)
def make():
    libc.puts(b"a banner")
    return 7
print("before", flush=True)
libc.puts(b"waits in the buffer of C")
assert [made_quietly(make), made_quietly(make)] == [7, 7]
libc.fflush(None)
print("after", flush=True)
os.close(1)
assert made_quietly(lambda: 8) == 8
"""


def test_what_a_library_prints_first_goes_nowhere_and_all_else_arrives():
    done = subprocess.run([sys.executable, "-c", PRINTING], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["before", "waits in the buffer of C", "a banner", "after"]


def test_no_solver_prints_where_findings_go():
    """HiGHS 1.16 has a banner, HiGHS 1.15 has none."""
    script = (
        "from sdc_tasks.solver.lp import quiet_highs\nfrom sdc_tasks.judge.pattern.programs import _solver\n"
        "quiet_highs().run(), _solver().run()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("Optimal - objective value 12.00000000", Status.OPTIMAL),
        ("Optimal (within gap tolerance) - objective value 12.00000000", Status.OPTIMAL),
        ("Infeasible - objective value 0.00000000", Status.INFEASIBLE),
        ("Integer infeasible - objective value 0.00000000", Status.INFEASIBLE),
        ("Unbounded - objective value 0.00000000", Status.UNBOUNDED),
        ("Stopped on time - objective value 12.00000000", Status.FEASIBLE),
        ("Stopped on iterations - objective value 12.00000000", Status.FEASIBLE),
        (
            "Stopped on time (no integer solution - continuous used) - objective value 1.0",
            Status.STOPPED,
        ),
        ("Status unknown - objective value 1.0", Status.STOPPED),
        ("", Status.STOPPED),
    ],
)
def test_the_status_is_what_cbc_writes_above_its_solution(line, status, tmp_path):
    (tmp_path / "sol").write_text(f"{line}\n      0 x0   1   0\n" if line else "")
    assert cbc.status_of(tmp_path / "sol") is status


def test_a_missing_cbc_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setattr(pulp.COIN_CMD, "available", lambda self: False)
    with pytest.raises(
        InvalidInput, match=r"brings no CBC\. Remedy: pip install 'pulp>=3\.3,<4', or 'cbcbox"
    ):
        cbc.cbc_program()
