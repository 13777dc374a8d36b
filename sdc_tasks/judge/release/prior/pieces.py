"""What somebody may have of earlier releases, or lack: a whole version, or the table of one country where a
version published no aggregate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication

Release = tuple[ProtectionProblem, Publication]


@dataclass(frozen=True, repr=False)
class PriorPieces:
    """`names` of the pieces. `news`: by release (from 0) and country the piece that tells a table; without an
    entry the table is as it is now, and whoever has any piece knows it.
    """

    names: Sequence[str]
    news: Mapping[tuple[int, str], int]

    @property
    def several(self) -> bool:
        """Can anybody have some of them and lack others?"""
        return len(self.names) > 1

    @property
    def all(self) -> set[int]:
        return set(range(len(self.names)))

    def telling(self, release: int, country: str) -> set[int]:
        """The pieces each of which tells the table of a country in a release."""
        piece = self.news.get((release, country))
        return self.all if piece is None else {piece}


def pieces_of(problem: ProtectionProblem, releases: Sequence[Release]) -> PriorPieces:
    """The pieces of these earlier releases, beside the present problem."""
    names, news = list[str](), dict[tuple[int, str], int]()
    for number, (then, publication) in enumerate(releases):
        # What was published with its aggregates is one piece; what only came in, one of each country that
        # has revised it since.
        if not np.isnan(publication.value).all():
            names.append(f"version {number + 1}")
            news |= {(number, country): len(names) - 1 for country in then.space.countries}
            continue
        for country in then.space.countries:
            if not _is_as_now(problem, then, country):
                names.append(f"the table of {country} as it came")
                news[number, country] = len(names) - 1
    return PriorPieces(names, news)


def layout(problem: ProtectionProblem) -> tuple[object, ...]:
    """What decides the relations of a national table."""
    space = problem.space
    return space.indicators, space.hierarchies, space.indicator_relations


def _is_as_now(problem: ProtectionProblem, then: ProtectionProblem, country: str) -> bool:
    """Does the table of a country say what its present one says?"""
    if country not in problem.space.countries or layout(problem) != layout(then):
        return False
    one, other = _span(problem, country), _span(then, country)
    same = (then.a[other] == problem.a[one]).all() and (then.public[other] == problem.public[one]).all()
    return bool(same)


def _span(problem: ProtectionProblem, country: str) -> slice:
    n = problem.space.national_size
    first = problem.space.countries.index(country) * n
    return slice(first, first + n)
