"""The law of scale: a table in another unit of money has the same pattern, adjusted or rounded table,
bound and verdict, by every method and solver.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import sdc_tasks as sdc
from sdc_tasks.cli.release import release
from sdc_tasks.demo import write_demo
from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods.cta.names import Method
from sdc_tasks.methods.rounding import separable
from sdc_tasks.methods.rounding.names import Quality
from sdc_tasks.methods.rounding.pieces import nearest
from sdc_tasks.methods.rounding.separable import SearchOptions, filled, least_cost, relations
from sdc_tasks.methods.suppression.names import PatternMethod
from sdc_tasks.solver.lp import LPResult, Status
from sdc_tasks.solver.milp import Milp, SolverName
from support.demo import quick

UNITS = (1e-6, 1e-3, 1e3, 1e6, 1e9)
GAP = 1e-4  # the default gap, at which a search of an adjusted table ends
DIMENSIONS = ["R", "C"]
PRIMARY = {"primary": "SECRET", "level": "LEVEL", "progress": False}
# The degree of the loss Σ w |x − a| in the unit. A value below one weighs as one, so small units have weights
# of one here.
DEGREE = {"one": 1.0, "sqrt": 0.5, "inverse": 0.0}
WEIGHTED = [(weights, unit) for weights in DEGREE for unit in UNITS if weights == "one" or unit > 1]


def table(unit: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """A table of 4 × 5 values of at least one with three sensitive cells, in a unit."""
    draw = np.random.default_rng(seed)
    cells = pd.DataFrame([(f"R{i}", f"C{j}") for i in range(4) for j in range(5)], columns=DIMENSIONS)
    values, secret = np.round(draw.lognormal(5, 1.2, 20), 2) + 1, np.zeros(20, dtype=int)
    secret[draw.choice(20, 3, replace=False)] = 1
    return cells.assign(VALUE=values * unit, SECRET=secret, LEVEL=np.round(values * 0.15, 3) * unit)


@pytest.mark.parametrize("method", get_args(PatternMethod))
def test_the_pattern_its_loss_and_its_verdict(method: str) -> None:
    first = sdc.suppress(table(), DIMENSIONS, method=method, **PRIMARY)
    for unit in UNITS:
        found = sdc.suppress(table(unit), DIMENSIONS, method=method, **PRIMARY)
        assert found.table["STATUS"].tolist() == first.table["STATUS"].tolist()
        assert found.loss == pytest.approx(first.loss * unit, rel=1e-9)
        assert found.bound / unit == pytest.approx(first.bound, rel=GAP)
        assert sdc.audit(found).safe is sdc.audit(first).safe is True


@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize(
    ("method", "solver"), [*((method, "highs") for method in get_args(Method)), ("milp", "cbc")]
)
def test_the_adjusted_table_costs_the_same(method: str, solver: str, distance: str) -> None:
    for weights, units in {"one": (1e-6, 1e9), "inverse": (1e9,)}.items():
        asked = {"method": method, "distance": distance, "solver": solver, "weights": weights} | PRIMARY
        first = sdc.adjust(table(), DIMENSIONS, **asked)
        for unit in units:
            found = sdc.adjust(table(unit), DIMENSIONS, **asked)
            size = unit ** (DEGREE[weights] + (distance == "l2"))
            assert found.loss / size == pytest.approx(first.loss, rel=3 * GAP)
            assert found.bound <= found.loss
            assert found.bound / size == pytest.approx(first.bound, rel=1e-2)


@pytest.mark.parametrize(("weights", "unit"), WEIGHTED)
@pytest.mark.parametrize("solver", get_args(SolverName))
def test_the_rounded_table(solver: str, weights: str, unit: float) -> None:
    asked = {"solver": solver, "weights": weights, "seed": 3} | PRIMARY
    first, found = (sdc.round_table(table(each), DIMENSIONS, base=40 * each, **asked) for each in (1.0, unit))
    np.testing.assert_allclose(found.public["VALUE"] / unit, first.public["VALUE"], rtol=1e-9)
    assert found.bound <= found.loss
    assert found.bound / unit ** DEGREE[weights] == pytest.approx(first.bound, rel=1e-6)


def whole(unit: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """The table in whole numbers, in a unit."""
    cells = table(seed=seed)
    return cells.assign(VALUE=np.rint(cells["VALUE"]) * unit, LEVEL=np.rint(cells["LEVEL"]) * unit)


def test_quadratic_rounding_of_whole_values() -> None:
    """Its input is in whole numbers: in a smaller unit of money there are more tables, so none is dearer.
    Above a base of 5e5 a solver that calls 1e-6 nothing cannot tell a step of one from none.
    """
    costs, bounds = [], []
    for unit in (1.0, 10.0, *UNITS[2:]):
        found = sdc.round_table(
            whole(unit), DIMENSIONS, base=110 * unit, method="quadratic", seed=3, **PRIMARY
        )
        costs.append(found.facts["cost"] / unit)
        bounds.append(found.facts["bound"] / unit)
        assert found.facts["optimal"]
        assert not found.facts["stopped_by_time"]
        assert (found.public["VALUE"] == np.rint(found.public["VALUE"])).all()
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(costs))
    assert costs[-1] == pytest.approx(costs[0], rel=1e-2)
    assert bounds == pytest.approx(costs, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_quadratic_rounding_gives_a_large_table_where_it_gives_a_small_one(seed: int) -> None:
    """Also where protection equations or sets without a whole table send it back, and where it refuses."""

    def verdict(unit: float) -> object:
        try:
            asked = {"base": 113 * unit, "method": "quadratic", "seed": 3} | PRIMARY
            found = sdc.round_table(whole(unit, seed), DIMENSIONS, **asked)
        except Unprotectable as error:
            return f"{error}".partition(":")[0]  # which cells no multiple of the base can keep
        return found.facts["set_distance"] / unit

    assert verdict(1e7) == (first if isinstance(first := verdict(1.0), str) else pytest.approx(first))


@pytest.mark.parametrize("quality", get_args(Quality))
def test_rounded_counts(quality: str) -> None:
    """Counts of households by thousands, millions, billions, and the base with them."""
    cells, draw = table()[DIMENSIONS], np.random.default_rng(1)
    counts = draw.poisson(2.5, len(cells))

    def rounded(unit: int) -> pd.DataFrame:
        inner = cells.assign(N=counts * unit)
        found = sdc.round_counts(
            inner, DIMENSIONS, "N", base=3 * unit, quality=quality, seed=3, progress=False
        )
        return found.public

    first = rounded(1)
    assert (first["ROUNDED"] > 0).any()
    for unit in (10**3, 10**6, 10**9):
        pd.testing.assert_frame_equal(rounded(unit), first.assign(ROUNDED=first["ROUNDED"] * unit))


def in_unit(inbox: Path, unit: int) -> None:
    """Rewrites the values of all deliveries."""
    for file in inbox.glob("*.csv"):
        told = pd.read_csv(file, sep=None, engine="python", dtype=str, keep_default_na=False)
        whole_part = told["OBS_VALUE"].str.replace(r"[.,]0$", "", regex=True)
        told["OBS_VALUE"] = [str(int(each) * unit) if each else "" for each in whole_part]
        told.to_csv(file, index=False)


def test_a_release(tmp_path: Path) -> None:
    """The same cells are exact, rounded and withheld, and values and bases are as many times as large."""
    tables = []
    for unit in (1, 10**6):
        folder = tmp_path / f"{unit}"
        path = quick(write_demo(folder, 3, 8, 3))
        in_unit(folder / "inbox", unit)
        release(str(path), "2024", folder / "inbox", folder / "out")
        out = pd.read_csv(folder / "out/table.csv")
        tables.append(out.assign(**{name: out[name] / unit for name in ("OBS_VALUE", "ROUNDING_BASE")}))
    assert tables[0]["ROUNDING_BASE"].notna().any()
    pd.testing.assert_frame_equal(*tables, rtol=1e-12)


PARTS = np.array([12.3, 40.6, 7.1, 25.2, 3.7])  # and their total: the nearest whole numbers do not add up
TOTAL = sp.csr_array(np.array([[1.0, 1.0, 1.0, 1.0, 1.0, -1.0]]))


def test_an_optimum_that_its_multipliers_do_not_prove_is_a_start_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A solver calls a vertex optimal that costs more than another one."""
    values = np.append(PARTS, PARTS.sum())
    pieces = nearest(values, np.arange(1.0, 7.0), np.floor(values) - 1, np.ceil(values) + 1)
    rows, search = relations(TOTAL, np.zeros(1)), SearchOptions(seed=1)
    best = least_cost(pieces, rows, search)
    dear = np.array([11.0, 40.0, 6.0, 25.0, 5.0, 87.0])

    def mistaken(model: Milp, seconds: float = np.inf) -> LPResult:
        nothing = np.zeros(model.A.shape[0])
        return LPResult(Status.OPTIMAL, 0.0, filled(pieces, dear), nothing, model.cost)

    monkeypatch.setattr(separable, "vertex", mistaken)
    found = least_cost(pieces, rows, search)
    assert found.cost == pytest.approx(best.cost)
    assert found.bound == pytest.approx(best.bound)
