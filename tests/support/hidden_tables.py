"""Small tables with hidden cells, whose every hidden table can be tried: one composition, one
hierarchy of a total and its parts.

`pair(x)` is the table of METHOD §9: country C0 hides A0 = x and A1 = 300 − x, and A0 is primary.
`drawn(seed)` is a random table: two or three parts; C0 hides two or three of them, and C1 a pair
as well in one of three tables.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdc_tasks.methods import attack
from sdc_tasks.methods.bases.aware.floors import Floors, floors_of
from sdc_tasks.methods.bases.aware.rule import Tests, aware, left_by
from sdc_tasks.methods.bases.ladder import ladder_of
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.bases.policy import case_of, safe_bases
from sdc_tasks.methods.bases.rules import Case
from sdc_tasks.model.problem import Levels, ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Floats, Hierarchy

COUNTRIES = ("C0", "C1", "C2")
PERCENT = 10.0  # of the value: the level of a primary


def of_inner(inner: Floats, hidden: Floats, primary: Floats) -> ProtectionProblem:
    """The problem of inner cells (countries, parts); `hidden` and `primary` are masks of
    the same shape. Totals are public.
    """
    parts = inner.shape[1]
    hierarchy = Hierarchy("ACTIVITY", ("T", *(f"A{i}" for i in range(parts))), (None, *["T"] * parts))
    space = CellSpace(COUNTRIES, (Aggregate("EU", COUNTRIES),), ("X",), (hierarchy,))

    def whole(mask: Floats) -> np.ndarray:
        return np.concatenate(
            [
                np.column_stack([np.zeros(len(mask), dtype=bool), mask]).ravel(),
                np.zeros(parts + 1, dtype=bool),
            ]
        )

    national = np.column_stack([inner.sum(axis=1), inner])
    a = np.concatenate([national.ravel(), national.sum(axis=0)])
    n, secret = len(a), whole(hidden)
    public = ~secret
    public[space.first_aggregate :] = False
    level = np.where(whole(primary), PERCENT / 100 * a, 0.0)
    levels = Levels(np.where(whole(primary), PERCENT / 100, 0.0), np.zeros(n))
    return ProtectionProblem(
        space,
        a,
        np.zeros(n),
        np.full(n, np.inf),
        level,
        level,
        np.zeros(n),
        public,
        whole(primary),
        (),
        levels=levels,
    )


def moved(problem: ProtectionProblem, z: Floats) -> ProtectionProblem:
    """The problem in which the hidden cells have other values: what somebody would protect who had this
    table.
    """
    a = problem.a.copy()
    a[problem.suppressed] += z
    first, size = problem.space.first_aggregate, problem.space.national_size
    a[first:] = a[:first].reshape(-1, size).sum(axis=0)
    level = np.where(problem.primary, PERCENT / 100 * a, 0.0)
    return replace(problem, a=a, lpl=level, upl=level)


def pair(x: float) -> ProtectionProblem:
    inner = np.array([[x, 300.0 - x], [200, 220], [130, 150]])
    hidden = np.array([[True, True], [False, False], [False, False]])
    return of_inner(inner, hidden, hidden & np.array([True, False]))


def drawn(seed: int) -> ProtectionProblem:
    rng = np.random.default_rng(seed)
    parts = int(rng.integers(2, 4))
    inner = rng.integers(50, 500, (3, parts)).astype(float)
    hidden, primary = np.zeros((3, parts), dtype=bool), np.zeros((3, parts), dtype=bool)
    for country in range(1 + (rng.random() < 1 / 3)):
        cells = (
            rng.permutation(parts)[: int(rng.integers(2, parts + 1))]
            if country == 0
            else rng.permutation(parts)[:2]
        )
        inner[country, cells] = rng.integers(20, 121, len(cells))
        hidden[country, cells] = True
        primary[country, cells[: int(rng.integers(1, len(cells)))]] = True
    return of_inner(inner, hidden, primary)


def larger(seed: int) -> ProtectionProblem:
    """Two countries hide two to six parts each, with values from 10 to 2 000: large primaries beside small
    ones.
    """
    rng = np.random.default_rng(seed)
    parts = int(rng.integers(4, 7))
    inner = np.round(10 ** rng.uniform(1, 3.3, (3, parts)))
    hidden, primary = np.zeros((3, parts), dtype=bool), np.zeros((3, parts), dtype=bool)
    for country in range(2):
        cells = rng.permutation(parts)[: int(rng.integers(2, parts + 1))]
        hidden[country, cells] = True
        primary[country, cells[: int(rng.integers(1, len(cells)))]] = True
    return of_inner(inner, hidden, primary)


AWARE = BasesOptions(rule_aware=True)


def publish(problem: ProtectionProblem, options: BasesOptions | None = None) -> Publication:
    """What the program publishes."""
    needs, _ = attack.baseline(problem, ("external",))
    case = case_of(problem, needs, options or BasesOptions(), 1, lambda _: None, lambda _: None)
    return safe_bases(case, Adjustment(), 0.0, [0], lambda *_: None)


def keyed(problem: ProtectionProblem, floors: Floors | None = None, options: BasesOptions = AWARE) -> Case:
    """The case of the rule that withstands somebody who has the program, with what its
    key leaves, or with given floors.
    """
    needs, _ = attack.baseline(problem, ("external",))
    case = case_of(problem, needs, options, 1, lambda _: None, lambda _: None)
    if floors is None:
        return case
    return replace(case, ladder=left_by(ladder_of(problem, case.weights, options, floors.down), floors))


def publish_aware(
    problem: ProtectionProblem, floors: Floors | None = None, options: BasesOptions = AWARE
) -> Publication:
    """What the rule publishes, before printed values are made possible: that follows from the publication."""
    return aware(keyed(problem, floors, options), lambda *_: None, [0])


def key_of(problem: ProtectionProblem, publication: Publication, options: BasesOptions = AWARE) -> Floors:
    """What a key leaves that takes away everything finer than this publication, and no more; it rounds
    the totals of the problem to it.
    """
    first = floors_of(problem, options, np.zeros(len(publication.cells), dtype=bool)).first
    total = problem.a[publication.cells]
    return Floors(first, publication.base, publication.rounded & np.isclose(total, publication.upper))


def gives(problem: ProtectionProblem, publication: Publication, options: BasesOptions = AWARE) -> bool:
    """Is there a key with which the program gives this publication for the problem? By
    Theorem 3 that of `key_of`, or none.
    """
    case = keyed(problem, key_of(problem, publication, options), options)
    finest = case.ladder.at_least(np.zeros(len(publication.cells)))
    return case.ladder.publication(finest).digest == publication.digest and Tests(case, [0]).pass_(finest)
