"""The tables of `make compare`: seeded microdata of eight families, invented here, under the licence of this
project. Every method gets the same records, a row for each respondent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd

from sdc_tasks.api import Rules

SEEDS = 6
VALUE = "VALUE"
P_PERCENT, FEWEST = 10.0, 3


@dataclass(frozen=True)
class Case:
    """Microdata and what is published of it: all crossings of `dims`, with totals. `parents`: of a dimension
    with a hierarchy, the code above each code, None above the root; of others the codes add up to Total.
    `counted`: the values are counts, so that only a minimum of contributors makes cells primary. `linked`:
    the dimensions of each table, of several that are published in place of all crossings.
    """

    name: str
    family: str
    dims: tuple[str, ...]
    records: pd.DataFrame = field(repr=False)
    parents: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict, repr=False)
    counted: bool = False
    linked: tuple[tuple[str, ...], ...] = ()

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The dimensions of each table."""
        return self.linked or (self.dims,)

    @property
    def hierarchy(self) -> dict[str, dict[str, str | None]] | None:
        """As the functions of the program take it."""
        return {name: dict(tree) for name, tree in self.parents.items()} or None

    @property
    def rules(self) -> Rules:
        return Rules(minimum=FEWEST) if self.counted else Rules(p=P_PERCENT, minimum=FEWEST)


def _codes(letter: str, number: int) -> list[str]:
    return [f"{letter}{each:02}" for each in range(1, number + 1)]


def _flat(
    family: str, sizes: Mapping[str, int], respondents: int, spread: float, seed: int, counted: bool = False
) -> Case:
    """Respondents with codes of unequal shares; values are log-normal, at least 1."""
    rng = np.random.default_rng([seed, len(family), respondents])
    columns = {
        name: rng.choice(_codes(name[0], size), respondents, p=rng.dirichlet(np.full(size, 2.0)))
        for name, size in sizes.items()
    }
    value = np.ones(respondents) if counted else np.ceil(rng.lognormal(3.0, spread, respondents))
    return Case(
        f"{family}-{seed}", family, tuple(sizes), pd.DataFrame(columns | {VALUE: value}), counted=counted
    )


def _deep(seed: int) -> Case:
    """Branches of three levels by region."""
    flat = _flat("deep", {"BRANCH": 12, "REGION": 4}, 220, 1.4, seed)
    leaves = _codes("B", 12)
    parents: dict[str, str | None] = {"Total": None}
    parents |= {f"G{number}": "Total" for number in range(1, 4)}
    parents |= {leaf: f"G{1 + at // 4}" for at, leaf in enumerate(leaves)}
    return Case(flat.name, flat.family, flat.dims, flat.records, {"BRANCH": parents})


def _counts(seed: int) -> Case:
    return _flat("counts", {"AREA": 6, "BIRTH": 4, "SEX": 2}, 300, 0.0, seed, counted=True)


def _linked(seed: int) -> Case:
    flat = _flat("linked", {"REGION": 6, "BRANCH": 5, "CLASS": 4}, 200, 1.2, seed)
    return replace(flat, linked=(("REGION", "BRANCH"), ("REGION", "CLASS")))


FAMILIES: Mapping[str, tuple[str, Callable[[int], Case]]] = {
    "even": (
        "regions × branches, values of much the same size",
        partial(_flat, "even", {"REGION": 6, "BRANCH": 5}, 200, 0.6),
    ),
    "dominated": (
        "the same, where some respondents are most of their cells",
        partial(_flat, "dominated", {"REGION": 6, "BRANCH": 5}, 180, 2.2),
    ),
    "sparse": (
        "a third of the cells is empty, many have one respondent",
        partial(_flat, "sparse", {"REGION": 7, "BRANCH": 6}, 80, 1.2),
    ),
    "wide": (
        "many cells, each with some respondents",
        partial(_flat, "wide", {"REGION": 10, "BRANCH": 8}, 500, 1.4),
    ),
    "deep": ("branches of three levels × regions", _deep),
    "three": (
        "three dimensions",
        partial(_flat, "three", {"REGION": 4, "BRANCH": 3, "CLASS": 3}, 220, 1.4),
    ),
    "linked": ("two tables of the same respondents, region × branch and region × class", _linked),
    "counts": ("counts of people: area × country of birth × sex", _counts),
}


def cases(only: str = "") -> list[Case]:
    """All tables, or those of a family."""
    return [
        make(seed)
        for family, (_, make) in FAMILIES.items()
        if only in ("", family)
        for seed in range(1, SEEDS + 1)
    ]
