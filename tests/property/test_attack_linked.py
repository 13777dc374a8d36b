"""What only shows when relations are taken together: recoverable cells without a lone
suppressed one, and linked indicators.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdc_tasks.methods.attack import audit, baseline, promised
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from support.oracles.attack import everything, published, table_of

COLUMNS = Hierarchy("SIZECLASS", ("_T", "S", "M", "L"), (None, "_T", "_T", "_T"))
ONE = (Hierarchy("ACTIVITY", ("T",), (None,)),)


def problem_of(
    space: CellSpace, a: np.ndarray, secret: dict[str, float], hidden: set[str]
) -> ProtectionProblem:
    """National cells are public but for the secret (with their levels) and the hidden ones, by key."""
    keys = [space.key(cell) for cell in range(space.size)]
    level = np.array([secret.get(key, 0.0) for key in keys])
    closed = np.isin(keys, [*secret, *hidden])
    national = np.arange(space.size) < len(space.countries) * space.national_size
    n = space.size
    return ProtectionProblem(
        space=space,
        a=a,
        lb=np.zeros(n),
        ub=np.full(n, np.inf),
        lpl=level,
        upl=level.copy(),
        spl=np.zeros(n),
        public=national & ~closed,
        primary=level > 0,
        deliveries=("drawn",),
    )


def test_a_cell_is_recovered_though_every_relation_has_two_unknowns_or_more():
    """Every row and column hides two cells or three. Rows A and B less column M leave A.S + B.S = 50;
    column S, 95, then gives C.S = 45.

          _T    S    M    L
    A     60  [20] [10]  30
    B     80  [30] [20]  30
    C    [95] [45]  20   30
    D    [75]   0   20  [55]
    T   [310]  95   70 [145]
    """
    rows = Hierarchy("ACTIVITY", ("T", "A", "B", "C", "D"), (None, "T", "T", "T", "T"))
    space = CellSpace(("AT",), (Aggregate("EU", ("AT",)),), ("TURNOVER",), (rows, COLUMNS))
    a = table_of(space, [20, 10, 30, 30, 20, 30, 45, 20, 30, 0, 20, 55])
    hidden = {
        f"AT.TURNOVER.{key}" for key in ("A.S", "A.M", "B.S", "B.M", "C._T", "D._T", "D.L", "T.L", "T._T")
    }
    problem = problem_of(space, a, {"AT.TURNOVER.C.S": 5.0}, hidden)
    inside = space.national_relations[:, np.flatnonzero(problem.suppressed[: space.national_size])]
    unknowns = np.diff(inside.indptr)
    assert (unknowns >= 2).all()
    requirements, _ = baseline(problem, ("external",))
    assert requirements.cut.tolist() == [True]
    assert [requirements.down.tolist(), requirements.up.tolist()] == [[0], [0]]
    assert not audit(problem, everything(problem, "withheld"), promised(problem, ("external",))).passed


def test_a_linked_pair_safe_alone_leaks_together():
    """Costs are purchases and wages. Purchases of AT and BE hide each other below their exact total; of wages
    BE's are public and the total is withheld. Each is safe by itself. Together BE's purchases are its costs
    less its wages, and AT's the total less BE's.
    """
    names, areas = ("COSTS", "PURCHASES", "WAGES"), (Aggregate("EU", ("AT", "BE")),)
    separate = CellSpace(("AT", "BE"), areas, names, ONE)
    linked = replace(separate, indicator_relations=(("COSTS", ("PURCHASES", "WAGES")),))
    a = np.array([300, 100, 200, 500, 180, 320, 800, 280, 520], dtype=float)
    assert (linked.relations @ a == 0).all()
    secret = {"AT.PURCHASES.T": 10.0, "BE.PURCHASES.T": 18.0, "AT.WAGES.T": 20.0}
    found = {}
    for name, space in (("separate", separate), ("linked", linked)):
        problem = problem_of(space, a, secret, set())
        report = audit(
            problem, published(problem, "exact", "exact", "withheld"), baseline(problem, ("external",))[0]
        )
        found[name] = dict(
            zip([space.key(int(cell)) for cell in report.primaries], report.protected.tolist(), strict=True)
        )
    assert set(found["separate"].values()) == {True}
    assert not found["linked"]["AT.PURCHASES.T"]
    assert not found["linked"]["AT.WAGES.T"]
