"""The clock decides no bytes: whatever it says, a search of a release ends with the same table, or is
refused.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, islice
from mmap import ACCESS_READ, mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.api.asked import checks_options
from sdc_tasks.methods.attack import baseline
from sdc_tasks.methods.cta.options import RungOptions
from sdc_tasks.methods.rounding.aggregates import controlled_aggregates, quadratic_aggregates
from sdc_tasks.methods.rounding.options import ControlledRounding, QuadraticRounding
from sdc_tasks.model.profiles import EXTERNAL
from sdc_tasks.solver.clock import Abort, TimeUp
from support.laws import law
from support.oracles.attack import releases
from support.oracles.drawn import counts, model, step

FEW = law(6)
RUNGS = {
    "auto": {"rounds": 3},
    "bcd": {"rounds": 2, "blocks": 3},
    "milp cbc": {"nodes": 5},
    "milp highs": {"nodes": 5},
    "fix-and-relax": {"blocks": 3},
    "benders": {"rounds": 20},
}


@contextmanager
def a_clock_that_runs(pace: float) -> Iterator[None]:
    """So many seconds pass between any two looks at it."""
    ticks = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: pace * next(ticks))
        yield


def rung(name: str, seconds: float) -> RungOptions:
    method, *solver = name.split()
    return RungOptions(
        method=method,
        **({"solver": solver[0]} if solver else {}),
        gap=0,
        accept_gap=0,
        seconds=seconds,
        **RUNGS[name],
    )


@pytest.mark.parametrize("name", RUNGS)
@FEW
@given(draw=releases(most=5, sliding=False), looks=st.integers(0, 60))
def test_a_rung_is_cut_short_by_no_clock(name, draw, looks):
    """However many looks at the clock there are before its time is up."""
    cta, _, _ = model(draw)
    free = step(draw.problem, cta, rung(name, 1e9))
    try:
        with a_clock_that_runs(1.0):
            hurried = step(draw.problem, cta, rung(name, looks + 0.5))
    except TimeUp:
        return
    assert (hurried.x is None) == (free.x is None)
    assert free.x is None or np.array_equal(hurried.x, free.x)
    assert [(each.bound, each.reason) for each in hurried.rungs] == [
        (each.bound, each.reason) for each in free.rungs
    ]


@pytest.mark.parametrize("method", ["controlled", "quadratic"])
@FEW
@given(drawn=counts(), looks=st.integers(0, 30))
def test_rounding_is_cut_short_by_no_clock(method, drawn, looks):
    problem, _ = drawn
    requirements, _ = baseline(problem, (EXTERNAL,))

    def first(seconds: float) -> bytes:
        if method == "controlled":
            found = controlled_aggregates(
                problem, ControlledRounding(method="controlled", base=5, seconds=seconds), 1, lambda _: None
            )
        else:
            wanted = QuadraticRounding(method="quadratic", base=5, seconds=seconds)
            found = quadratic_aggregates(problem, requirements, wanted, 1, 1, lambda _: None)
        return b"".join(
            publication.value.tobytes() + publication.base.tobytes() for _, publication in islice(found, 2)
        )

    free = first(1e9)
    try:
        with a_clock_that_runs(1.0):
            hurried = first(looks + 0.5)
    except TimeUp:
        return
    assert hurried == free


def test_an_abort_knows_two_things_only(monkeypatch):
    """There is no number in between that a search could go by."""
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    clock = Abort("this", 5)
    for now in (0.0, 4.9, 5.0):
        monkeypatch.setattr(time, "monotonic", lambda now=now: now)
        assert clock.left == np.inf
    monkeypatch.setattr(time, "monotonic", lambda: 5.1)
    with pytest.raises(TimeUp, match="this: not done after 5 seconds"):
        _ = clock.left


def test_a_file_with_the_name_of_a_library_is_none(tmp_path):
    """Whoever maps such a file, in whatever folder, can still use every function of the API. A name need not
    be text.
    """
    files = [tmp_path / "openblas" / "data.bin", tmp_path / os.fsdecode(b"caf\xe9.openblas")]
    with ExitStack() as mapped:
        for file in files:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(bytes(4096))
            opened = mapped.enter_context(file.open("rb"))
            mapped.enter_context(mmap(opened.fileno(), 0, access=ACCESS_READ))
        assert checks_options(lambda: "done")() == "done"


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(
            "from sdc_tasks.api.asked import checks_options; checks_options(lambda: None)()",
            id="a function of the API",
        ),
        pytest.param(
            "from typer.testing import CliRunner; CliRunner().invoke(app, ['audit', '--help'])",
            id="a command",
        ),
        pytest.param(
            "from sdc_tasks.steps.desk import open_office; open_office('sqlite:///' + sys.argv[2])",
            id="a step of a release",
        ),
    ],
)
def test_sums_do_not_depend_on_the_number_of_cores(begun, tmp_path):
    """OpenBLAS adds up 10 001 numbers in as many parts as there are cores, unless it has one thread."""
    program = (
        "import os, sys; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])]); import "
        "numpy as np, scipy.linalg\n"
        f"from sdc_tasks.cli.app import app; {begun}\n"
        "a = np.random.default_rng(0).random((300, 5000)); print([float(x @ x) for x in (a.ravel(), a[0], (a "
        "@ a.T).ravel())])"
    )
    warehouse = str(tmp_path / "warehouse.db")
    told = {
        subprocess.run(
            [sys.executable, "-c", program, cores, warehouse], capture_output=True, text=True, check=True
        ).stdout
        for cores in "12"
    }
    assert len(told) == 1
