"""The values that the cells of national tables have now and had before. Each is an unknown of the attacker,
unless it is public now.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem

Key = tuple[str, ...]
Value = tuple[int, int, float]  # country and key by their first place, value
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, repr=False)
class Values:
    """`of_release`: the national cells of each release in order, the present one first. `keys`: of all
    releases, by first place. `low`, `high`, `integral`: the tightest bounds of each value, as deviations, and
    whether it is whole. `public`: what some release shows as a national cell. `now`: where a present value
    stands. `former`: earlier values that are not present, and hidden in some release. `column`: of each
    unknown.
    """

    of_release: Sequence[Sequence[Value]]
    keys: Sequence[Key]
    low: Mapping[Value, float]
    high: Mapping[Value, float]
    integral: Mapping[Value, bool]
    public: set[Value]
    now: Mapping[Value, int]
    former: Sequence[Value]
    column: Mapping[Value, int]


def values_of(problems: Sequence[ProtectionProblem]) -> Values:
    """The values of these releases, the present one first."""
    countries = _first_places([each.space.countries for each in problems])
    keys = _first_places([each.space.national_keys for each in problems])
    of_release = [_cells(each, countries, keys) for each in problems]
    low, high, integral = _bounds(problems, of_release)
    public, hidden = _shown(problems, of_release)
    present, now = problems[0], {each: i for i, each in enumerate(of_release[0])}
    former = sorted(hidden - now.keys())
    column = {each: i for each, i in now.items() if not present.public[i]}
    column |= {each: present.space.size + i for i, each in enumerate(former)}
    return Values(of_release, list(keys), low, high, integral, public, now, former, column)


def _cells(problem: ProtectionProblem, countries: Mapping[str, int], keys: Mapping[Key, int]) -> list[Value]:
    space = problem.space
    places = [(countries[country], keys[key]) for country in space.countries for key in space.national_keys]
    return [(*place, float(problem.a[i]) + 0.0) for i, place in enumerate(places)]  # + 0.0: no −0


def _shown(
    problems: Sequence[ProtectionProblem], of_release: Sequence[Sequence[Value]]
) -> tuple[set[Value], set[Value]]:
    """The values that some release shows, and those that some release hides: a value can be both."""
    public, hidden = set[Value](), set[Value]()
    for problem, cells in zip(problems, of_release, strict=True):
        for each, is_public in zip(cells, problem.public.tolist(), strict=False):  # aggregates come last
            (public if is_public else hidden).add(each)
    return public, hidden


def _bounds(
    problems: Sequence[ProtectionProblem], of_release: Sequence[Sequence[Value]]
) -> tuple[dict[Value, float], dict[Value, float], dict[Value, bool]]:
    """The largest lower and the smallest upper bound of each value, as deviations; and whether it is whole,
    as the first of the releases that has it says.
    """
    low, high, integral = dict[Value, float](), dict[Value, float](), dict[Value, bool]()
    for problem, cells in zip(problems, of_release, strict=True):
        for i, each in enumerate(cells):
            low[each] = max(low.get(each, -np.inf), float(problem.lb[i] - problem.a[i]))
            high[each] = min(high.get(each, np.inf), float(problem.ub[i] - problem.a[i]))
            integral.setdefault(each, bool(problem.integral[i]))
    return low, high, integral


def _first_places(names: Iterable[Iterable[Name]]) -> dict[Name, int]:
    """The names of all releases, numbered as they appear."""
    return {name: i for i, name in enumerate(dict.fromkeys(chain.from_iterable(names)))}
