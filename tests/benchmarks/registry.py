"""Every benchmark instance of CTA by name, in one place: how it is made, what it must be, and what
others have published for its like.

- `sbs-*`: countries + EU × activities × (size classes + total), from the demonstration's generator, in
  the paper setting ([1] §4): the
  sizes of [1] Table 1 and [2] Table 3, and two larger ones;
- `2d-*`: random two-dimensional tables of the sizes of [2] Table 4;
- `var1`: the demonstration table of τ-ARGUS, industry × size; its data are not part of this project.

The paper setting: every cell may move and carries a weight, empty cells stay empty, nothing falls below 0.
`digest` pins the table: figures of different tables must never stand in one line. `python -m
benchmarks.registry NAME` makes the table and keeps it.

What makes tables is imported where it is called: a measurement loads a finished one, and its memory is
reported.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.weights import Weights
from support.spread import adjusted

if TYPE_CHECKING:
    from sdc_tasks.demo.enterprises import Microtable
    from sdc_tasks.domains.schema import Domain
    from sdc_tasks.model.problem import NationalTable

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / "var/bench"
VAR1 = HERE.parents[2] / "shared/data/jj/tw_Var1_one.jj.gz"
ABSENT = 3  # exit code
THREE = (Weights.ONE, Weights.INVERSE, Weights.INVERSE_SQRT)


class Absent(Exception):
    """The instance cannot be made on this machine; the text says why."""


@dataclass(frozen=True)
class Table:
    """A table A a = b with bounds; levels are those of the sensitive cells. `areas`: the areas
    that it is made of, or nothing.
    """

    A: sp.csr_array = field(repr=False)
    a: Floats = field(repr=False)
    lb: Floats = field(repr=False)
    ub: Floats = field(repr=False)
    sensitive: Ints = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    spl: Floats = field(repr=False)
    fixed: Bools = field(repr=False)
    areas: tuple[str, ...] = ()

    def problem(self, weights: Weights) -> CtaProblem:
        return adjusted(
            self.A,
            self.a,
            self.lb,
            self.ub,
            _weights(self.a, weights),
            self.sensitive,
            self.lpl,
            self.upl,
            self.spl,
            self.fixed,
        )

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything but the names of the areas, in the types that are digested and stored."""
        A = sp.csr_array(self.A)
        A.sort_indices()
        plain = {
            item.name: getattr(self, item.name) for item in fields(self) if item.name not in {"A", "areas"}
        }
        return {
            "shape": np.array(A.shape, dtype=np.int64),
            "indptr": A.indptr.astype(np.int64),
            "indices": A.indices.astype(np.int64),
            "data": A.data.astype(np.float64),
            **plain,
        }

    @cached_property
    def digest(self) -> str:
        """The beginning of the sha256 of all arrays."""
        h = hashlib.sha256()
        for name, array in self.arrays.items():
            h.update(f"{name} {array.dtype} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes())
        return h.hexdigest()[:16]

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, areas=np.array(self.areas, dtype=str), **self.arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: Path) -> Table:
        with np.load(path, allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
        A = sp.csr_array(
            (found.pop("data"), found.pop("indices"), found.pop("indptr")), shape=tuple(found.pop("shape"))
        )
        return Table(A=A, areas=tuple(found.pop("areas").tolist()), **found)


@dataclass(frozen=True)
class Instance:
    """One named table. `published`: what others needed for a table of this size, with the source."""

    name: str
    group: str
    about: str
    digest: str
    make: Callable[[], Table] = field(repr=False)
    weights: tuple[Weights, ...] = THREE
    published: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return CACHE / f"{self.name}.npz"

    def prepare(self) -> Table:
        """The table, from the cache where that holds it. Raises Absent where it cannot be made,
        ValueError where it is another one.
        """
        if self.path.exists() and (table := Table.load(self.path)).digest == self.digest:
            return table
        table = self.make()
        if table.digest != self.digest:
            raise ValueError(
                f"{self.name}: made with digest {table.digest}, the registry pins {self.digest}. Remedy: pin "
                f"it anew"
            )
        table.save(self.path)
        return table


def sbs(countries: int, activities: int, sizes: int, seed: int = 1) -> Table:
    """The complete tables of all countries and of their sum, as `sdc demo` writes and intake reads them."""
    from sdc_tasks import pipeline
    from sdc_tasks.demo.enterprises import Economy, microtables
    from sdc_tasks.demo.shape import write_domain
    from sdc_tasks.domains import load_domain

    with tempfile.TemporaryDirectory(prefix="sdc-bench-") as folder:
        domain = load_domain(write_domain(Path(folder), countries, activities, sizes))
        activity, size = domain.space.hierarchies
        economy = Economy(seed)
        made = [
            (country, microtables(economy, i, country, (activity, size))["TURNOVER"])
            for i, country in enumerate(domain.countries)
        ]
        problem = pipeline.build_problem(
            [_delivery(table, domain, country) for country, table in made], domain
        )
    cells = np.flatnonzero(problem.primary)
    return Table(
        A=problem.space.relations,
        a=problem.a,
        lb=problem.lb,
        ub=problem.ub,
        sensitive=cells,
        lpl=problem.lpl[cells],
        upl=problem.upl[cells],
        spl=problem.spl[cells],
        fixed=problem.a == 0,
        areas=problem.space.areas,
    )


def _delivery(table: Microtable, domain: Domain, country: str) -> NationalTable:
    """What arrives of a country, but for its secondary cells: the paper setting has no use for them,
    and finding them takes minutes.
    """
    from sdc_tasks.methods.primary import sensitive
    from sdc_tasks.model.problem import NationalTable

    few, dominance = domain.flags["A"].rule, domain.flags["M"].rule
    if few is None or dominance is None:
        raise ValueError("flags A and M must be primary flags of the domain")
    X, units, x1, x2 = (array.ravel() for array in (table.value, table.units, table.x1, table.x2))
    primary = sensitive(x1, x2, X, units, dominance.p, few.few_units + 1)
    flag = np.where(primary, np.where(units <= few.few_units, "A", "M"), "F")
    share_1, share_2 = ((200 * x + X - tie) // np.maximum(2 * X, 1) for x, tie in ((x1, 0), (x2, 1)))
    return NationalTable(
        country,
        (f"{country} of the benchmark",),
        X.astype(float),
        flag,
        np.where(X > 0, units, -1),
        np.where(primary, share_1, np.nan),
        np.where(primary, share_2, np.nan),
    )


def two_dimensions(rows: int, columns: int, primaries: int, seed: int = 1) -> Table:
    """A random table of the generator of [2] Table 4; its weights are 1."""
    from support.random_tables import random_2d

    made = random_2d(rows, columns, primaries, seed)
    return Table(
        A=made.A,
        a=made.a,
        lb=made.lb,
        ub=made.ub,
        sensitive=made.sensitive,
        lpl=made.lpl,
        upl=made.upl,
        spl=np.zeros(primaries),
        fixed=np.zeros(len(made.a), dtype=bool),
    )


def var1() -> Table:
    """Raises Absent where the file is not on this machine."""
    from sdc_tasks.intake.tables.jj import read_jj

    if not VAR1.is_file():
        raise Absent(f"the table is not on this machine ({VAR1})")
    table = read_jj(VAR1)
    p = table.primary
    return Table(
        A=table.A,
        a=table.a,
        lb=table.lb,
        ub=table.ub,
        sensitive=p,
        lpl=table.lpl[p],
        upl=table.upl[p],
        spl=table.spl[p],
        fixed=table.fixed,
    )


def _weights(a: Floats, weights: Weights) -> Floats:
    size = np.maximum(np.abs(a), 1.0)
    return size ** {Weights.ONE: 0.0, Weights.INVERSE: -1.0, Weights.INVERSE_SQRT: -0.5}[weights]


INSTANCES = (
    Instance(
        "sbs-1430",
        "sbs",
        "25 countries + EU × 11 activities × 5 size classes",
        "4f5c5604519e0fc0",
        partial(sbs, 25, 11, 4),
        published=(
            "[2] Table 3, sbs-E, n 1 430, 382 primaries, Xpress: 4.3 s CPU, stopped at a gap of 2.9 %",
        ),
    ),
    Instance(
        "sbs-4212",
        "sbs",
        "26 countries + EU × 26 activities × 6 size classes",
        "b19c0f1b3a5e3235",
        partial(sbs, 26, 26, 5),
        published=(
            "[2] Table 3, sbs-C, n 4 212, 1 135 primaries, Xpress: 57 s CPU, stopped at a gap of 2.0 %",
        ),
    ),
    Instance(
        "sbs-20160",
        "sbs",
        "27 countries + EU × 120 activities × 6 size classes",
        "b39fc36d3654c197",
        partial(sbs, 27, 120, 5),
        published=(
            (
                "[1] Table 1, n 20 160, CPLEX, i7 3.4 GHz: whole model 7 692 s (w = 1; stopped, not "
                "optimal), 85 "
                "s (1/a), 179 s (1/√a)"
            ),
            "[1] Table 1, BCD-CTA with CPLEX: 19 s, 16 s, 16 s",
            (
                "τ-ARGUS RCTA (CBC 2.7), a 20 160-cell EU table on two cores like these: no table in 150 s, "
                "neither whole model nor BCD"
            ),
        ),
    ),
    Instance(
        "sbs-28288",
        "sbs",
        "25 countries + EU × 136 activities × 8 size classes",
        "8ec93759cad4d79f",
        partial(sbs, 25, 136, 7),
        published=(
            "[2] Table 3, sbs-Da, n 28 288, 7 142 primaries, Xpress: 11 548 s CPU, stopped at a gap of 4.9 %",
            "[2] Table 3, sbs-Db, n 28 288, 7 131 primaries, Xpress: 19 510 s CPU, stopped at a gap of 4.9 %",
        ),
    ),
    Instance(
        "sbs-50064",
        "sbs",
        "27 countries + EU × 298 activities × 6 size classes",
        "49357a997400bdea",
        partial(sbs, 27, 298, 5),
    ),
    Instance(
        "sbs-100128",
        "sbs",
        "27 countries + EU × 596 activities × 6 size classes",
        "8cc55df8cb5bc845",
        partial(sbs, 27, 596, 5),
    ),
    Instance(
        "2d-10000",
        "2d",
        "random table of 151 × 151, 10 000 primaries",
        "2c64739301cf94b2",
        partial(two_dimensions, 151, 151, 10_000),
        weights=(Weights.ONE,),
        published=("[2] Table 4, random16, n 22 801, 10 000 primaries: Benders 4.3 s, CPLEX 8.3 s CPU",),
    ),
    Instance(
        "2d-18500",
        "2d",
        "random table of 151 × 151, 18 500 primaries",
        "6f0438e3e4a19888",
        partial(two_dimensions, 151, 151, 18_500),
        weights=(Weights.ONE,),
        published=(
            "[2] Table 4, random17, n 22 801, 18 500 primaries: Benders 3.2 s, CPLEX 19.1 s CPU",
            "[2] Table 4, random20, n 22 801, 18 500 primaries: Benders 3.2 s, CPLEX 17.3 s CPU",
        ),
    ),
    Instance(
        "var1",
        "jj",
        "the demonstration table of τ-ARGUS, industry × size, Var1",
        "ba0bbaf94c43d479",
        var1,
        published=(
            (
                "τ-ARGUS RCTA (mainCTA, CBC 2.7), 60 s: 2 488 059 with 4 cells unprotected (w = 1), 193.66 "
                "(1/a, "
                "40 s), 14 878 (1/√a)"
            ),
            "τ-ARGUS RCTA, BCD with 4 clusters, 60 s: 1 973 615 (w = 1)",
            "τ-ARGUS RCTA, SYMPHONY: the original table as “feasible”, 657 unprotected",
            (
                "HiGHS on the classical model, 60 s: 1 844 772 with bound 1 772 484 (w = 1), 192.24 at 0.08 "
                "% "
                "(1/a), 13 311 at 0.55 % (1/√a)"
            ),
        ),
    ),
)
REGISTRY = {instance.name: instance for instance in INSTANCES}


if __name__ == "__main__":
    try:
        REGISTRY[sys.argv[1]].prepare()
    except Absent as reason:
        print(reason, file=sys.stderr)
        sys.exit(ABSENT)
