"""A period as it was delivered at another time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.table import Aggregate, CellSpace
from support.oracles.attack import all_keys, leaf_count, table_of


def inner(space: CellSpace) -> np.ndarray:
    """The cells that nothing adds up to, in the order of `table_of`."""
    above = [{*hierarchy.parent, *(total for total, _ in hierarchy.sums)} for hierarchy in space.hierarchies]
    return np.array(
        [
            i
            for i, key in enumerate(all_keys(space))
            if key[0] in space.countries
            and not any(code in over for code, over in zip(key[2:], above, strict=True))
        ]
    )


def another(
    problem: ProtectionProblem, rng: np.random.Generator, values: bool, flags: bool, members: int
) -> ProtectionProblem:
    """The period as it was delivered at another time: some values other, some cells hidden that are not now
    and the reverse, and the first `members` countries only.
    """
    space = problem.space
    countries = space.countries[:members]
    kept = [
        Aggregate(each.code, tuple(c for c in each.members if c in countries)) for each in space.aggregates
    ]
    then = replace(space, countries=countries, aggregates=tuple(each for each in kept if each.members))
    first = len(countries) * space.national_size
    leaves = problem.a[inner(space)][: leaf_count(then)]
    if values:
        changed = rng.random(len(leaves)) < rng.choice([0.1, 0.5])
        leaves = np.where(changed, np.maximum(leaves + rng.integers(-60, 60, len(leaves)), 0), leaves)
    a, national = table_of(then, leaves), np.arange(then.size) < first
    public = np.zeros(then.size, dtype=bool)
    public[:first] = problem.public[:first] ^ (
        rng.random(first) < rng.choice([0.05, 0.3]) if flags else np.zeros(first, dtype=bool)
    )
    lb, ub = np.zeros(then.size), np.full(then.size, np.inf)
    lb[:first], ub[:first] = problem.lb[:first], problem.ub[:first]
    zeros = np.zeros(then.size)
    return ProtectionProblem(
        space=then,
        a=a,
        lb=np.where(national, np.minimum(lb, a), 0.0),
        ub=np.maximum(ub, a),
        lpl=zeros,
        upl=zeros,
        spl=zeros,
        public=public,
        primary=np.zeros(then.size, dtype=bool),
        deliveries=("then",),
    )
