"""The values that the cells of national tables have now and had before. Each is an unknown of the attacker,
unless it is public now.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    countries = _first_places(country for each in problems for country in each.space.countries)
    keys = _first_places(key for each in problems for key in each.space.national_keys)
    of_release = [_cells(each, countries, keys) for each in problems]
    low, high, integral = _bounds(problems, of_release)
    shown = list(zip(problems, of_release, strict=True))
    public = {each for problem, cells in shown for i, each in enumerate(cells) if problem.public[i]}
    hidden = {each for problem, cells in shown for i, each in enumerate(cells) if not problem.public[i]}
    present, now = problems[0], {each: i for i, each in enumerate(of_release[0])}
    former = sorted(each for each in low if each not in now and each in hidden)
    column = {each: i for each, i in now.items() if not present.public[i]}
    column |= {each: present.space.size + i for i, each in enumerate(former)}
    return Values(of_release, list(keys), low, high, integral, public, now, former, column)


def _cells(problem: ProtectionProblem, countries: Mapping[str, int], keys: Mapping[Key, int]) -> list[Value]:
    space = problem.space
    places = [(countries[country], keys[key]) for country in space.countries for key in space.national_keys]
    return [(*place, float(problem.a[i]) + 0.0) for i, place in enumerate(places)]  # + 0.0: no −0


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


def _first_places(names: Iterable[Name]) -> dict[Name, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}
