"""The benchmark's tables are what the registry says they are, and its figures are
computed from protected tables only.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from benchmarks import document, measure, registry, run
from benchmarks.measure import Pair, Record, Setting
from benchmarks.registry import INSTANCES, REGISTRY, Absent, Instance, Table, sbs
from sdc_tasks import intake, pipeline
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.judge.adjusted import verify
from sdc_tasks.model.weights import Weights

SMALL = ["sbs-1430", "sbs-4212", "2d-10000", "2d-18500"]


# --- the tables ---------------------------------------------------------------------------------------------


def test_names_are_unique_and_every_table_is_pinned():
    assert len(REGISTRY) == len(INSTANCES)
    assert len({instance.digest for instance in INSTANCES}) == len(INSTANCES)
    for instance in INSTANCES:
        assert len(instance.digest) == 16
        assert int(instance.digest, 16) > 0
        assert instance.weights
        assert all("[" in text or "τ-ARGUS" in text or "HiGHS" in text for text in instance.published), (
            "a figure names its source"
        )


@pytest.mark.parametrize("name", SMALL)
def test_a_table_is_made_the_same_everywhere(name):
    assert REGISTRY[name].make().digest == REGISTRY[name].digest


@pytest.mark.parametrize("name", SMALL)
def test_a_table_is_a_table(name):
    table = REGISTRY[name].make()
    assert not (table.A @ table.a).any()
    assert ((table.lb <= table.a) & (table.a <= table.ub)).all()
    assert (table.upl > 0).all()
    assert not table.fixed[table.sensitive].any()
    if name.startswith("sbs-"):
        assert len(table.a) == int(name.removeprefix("sbs-"))
        assert (table.fixed == (table.a == 0)).all()
        assert len(table.a) % len(table.areas) == 0


def test_the_table_is_the_one_that_intake_reads_from_the_demonstration_deliveries(tmp_path: Path):
    domain = load_domain(write_demo(tmp_path, 4, 15, 3))
    tables = [intake.read(path, domain, "2024").table for path in sorted((tmp_path / "inbox").iterdir())]
    problem = pipeline.build_problem([table for table in tables if table is not None], domain)
    cells = np.flatnonzero(problem.primary)
    delivered = Table(
        problem.space.relations,
        problem.a,
        problem.lb,
        problem.ub,
        cells,
        problem.lpl[cells],
        problem.upl[cells],
        problem.spl[cells],
        problem.a == 0,
        problem.space.areas,
    )
    assert len(cells) > 10
    assert sbs(4, 15, 3).digest == delivered.digest
    assert sbs(4, 15, 3).areas == delivered.areas


def test_the_paper_setting_moves_every_cell_but_the_empty_ones_and_nothing_falls_below_0():
    table = sbs(4, 15, 3)
    problem = table.problem(Weights.ONE)
    assert (problem.lower * problem.unit == np.where(table.fixed, 0, -table.a)).all()
    assert (problem.upper == np.where(table.fixed, 0, np.inf)).all()
    assert problem.w.tolist() == [1.0] * len(table.a)
    big = int(np.argmax(table.a))
    assert table.problem(Weights.INVERSE).w[big] == 1 / table.a[big]
    assert table.problem(Weights.INVERSE_SQRT).w[big] == 1 / np.sqrt(table.a[big])
    assert table.problem(Weights.INVERSE).w[np.argmin(table.a)] == 1, "an empty cell counts as one"


def test_var1_is_the_table_of_the_paper_or_says_why_it_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(registry, "VAR1", tmp_path / "nowhere.jj.gz")
    with pytest.raises(Absent, match="not on this machine"):
        registry.var1()
    monkeypatch.undo()
    if not registry.VAR1.is_file():
        pytest.skip(f"the table is not on this machine ({registry.VAR1})")
    table = registry.var1()
    assert (len(table.a), len(table.sensitive)) == (6399, 657)
    assert table.digest == REGISTRY["var1"].digest


# --- the cache ----------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Instance:
    monkeypatch.setattr(registry, "CACHE", tmp_path)
    return Instance("small", "sbs", "3 countries", sbs(3, 8, 2).digest, lambda: sbs(3, 8, 2))


def test_a_stored_table_is_the_table(small: Instance):
    made = small.prepare()
    stored = Table.load(small.path)
    assert stored.digest == made.digest
    assert stored.areas == made.areas
    z = np.zeros(len(made.a))
    assert verify(stored.problem(Weights.ONE), z) == verify(made.problem(Weights.ONE), z)


def test_the_cache_spares_the_making_unless_it_holds_another_table(small: Instance):
    def never() -> Table:
        raise AssertionError("made again")

    small.prepare()
    assert replace(small, make=never).prepare().digest == small.digest
    sbs(3, 8, 2, seed=2).save(small.path)
    assert small.prepare().digest == small.digest


def test_another_table_than_the_pinned_one_is_refused(small: Instance):
    with pytest.raises(ValueError, match="pin it anew"):
        replace(small, make=lambda: sbs(3, 8, 2, seed=2)).prepare()
    assert not small.path.exists()


# --- the results --------------------------------------------------------------------------------------------


def record(
    method: str, objective: float | None, bound: float, history: list[tuple[float, float | None, float]]
) -> Record:
    setting = Setting(REGISTRY["sbs-1430"].digest, 30.0, 1, "code")
    last = history[-1][0] if history else 30.0
    pair = Pair("sbs-1430", "one", method)
    return Record(
        pair, setting, 1430, objective, bound, 0, 0.0, tuple(history), last, last, 100.0, 0.0, "2024-01-01"
    )


OURS = record(
    "auto", 110.0, 100.0, [(0.5, None, 80.0), (1.0, 150.0, 90.0), (4.0, 120.0, 100.0), (19.0, 110.0, 100.0)]
)
PEER = record("highs", 120.0, 96.0, [(30.0, 120.0, 96.0)])
UNPROTECTED = record("cbc", 50.0, 70.0, [])


def test_a_record_survives_its_file():
    assert Record.from_json(json.loads(json.dumps(OURS.to_json()))) == OURS


def test_a_record_knows_its_best_table_at_any_time():
    assert OURS.first == 1.0
    assert [OURS.best_at(at) for at in (0.7, 1.0, 10.0, 60.0)] == [None, 150.0, 120.0, 110.0]
    assert [OURS.reached(goal) for goal in (200.0, 120.0, 105.0)] == [1.0, 4.0, None]


def test_ratios_are_taken_to_the_best_bound_of_any_method():
    assert document.best_bounds([PEER, OURS, UNPROTECTED]) == {("sbs-1430", "one"): 100.0}


def test_ours_stands_beside_the_best_protected_table_of_a_peer():
    records = [OURS, UNPROTECTED, PEER]
    line = document.summary(records, document.best_bounds(records)).splitlines()[-1]
    assert line == "| sbs-1430 | one | 1.00 | 1.5000 | 1.1000 | 1.1000 | highs | 1.2000 | 30 | 4.00 |"


def test_a_finished_pair_is_kept_until_its_conditions_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(run, "PAIRS", tmp_path)
    assert not run.kept(OURS.pair, OURS.setting)
    (tmp_path / f"{OURS.pair.name}.json").write_text(json.dumps(OURS.to_json()))
    assert run.kept(OURS.pair, OURS.setting)
    assert not run.kept(OURS.pair, replace(OURS.setting, limit=60.0))
    assert not run.kept(OURS.pair, replace(OURS.setting, digest="another table"))
    assert not run.kept(OURS.pair, replace(OURS.setting, code="other code"))


def test_a_new_clone_begins_with_the_records_of_the_last_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """What is measured here already stays."""
    monkeypatch.setattr(run, "PAIRS", tmp_path / "pairs")
    results = tmp_path / "results.json"
    results.write_text(json.dumps([OURS.to_json(), PEER.to_json()]))
    run.take_over(results)
    assert run.kept(OURS.pair, OURS.setting)
    assert run.kept(PEER.pair, PEER.setting)
    newer = replace(PEER, objective=110.0)
    (tmp_path / "pairs" / f"{PEER.pair.name}.json").write_text(json.dumps(newer.to_json()))
    run.take_over(results)
    assert json.loads((tmp_path / "pairs" / f"{PEER.pair.name}.json").read_text())["objective"] == 110.0


def test_figures_of_ours_depend_on_every_source_below_its_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """A search in a folder of its own once changed, and its figures passed as today's."""
    below = tmp_path / "methods" / "cta" / "local"
    below.mkdir(parents=True)
    (below / "search.py").write_text("A = 1")
    monkeypatch.setattr(measure, "SOURCES", tmp_path)
    before = measure.code_of("auto")
    (below / "search.py").write_text("A = 2")
    assert measure.code_of("auto") != before


def test_plots_of_other_benchmarks_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("suppression", "growth", INSTANCES[0].name):
        (tmp_path / f"{name}.svg").write_text("<svg/>")
    monkeypatch.setattr(document, "HERE", tmp_path)
    monkeypatch.setattr(document, "RESULTS", tmp_path / "RESULTS.md")
    document.write([], {}, "make bench-cta", datetime.now(UTC))
    assert [path.name for path in tmp_path.glob("*.svg")] == ["suppression.svg"]
