"""What each attacker profile must define."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sdc_tasks.model.attackers import KEEPERS, PUBLIC
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import PriorReleases, ProtectionProblem


@dataclass(frozen=True, order=True)
class Adversary:
    """The attackers of a profile, or weaker ones who lack some pieces of what it knows (METHOD §2, every
    attacker).

    `lacks`, ascending: of a coalition the respondents who stay outside, each by the first of his cells
    (flat index); of a profile that keeps earlier releases the numbers of those pieces of `PriorReleases`
    that these attackers do not have.
    """

    profile: str
    lacks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if list(self.lacks) != sorted(set(self.lacks)):
            raise ValueError("the pieces that an adversary lacks ascend, each once")

    def has_more(self, other: Adversary) -> bool:
        """Does this adversary know everything that the other one knows, and more? Only the public and those
        who keep earlier releases are compared across profiles.
        """
        if self.profile == other.profile:
            return set(self.lacks) < set(other.lacks)
        weakest_first = (PUBLIC, *KEEPERS)
        if not {self.profile, other.profile} <= {*weakest_first}:
            return False
        stronger = weakest_first.index(self.profile) > weakest_first.index(other.profile)
        return stronger and (other.profile == PUBLIC or set(self.lacks) <= set(other.lacks))


class Profile(ABC):
    """One kind of attacker, and what it knows beyond what everybody can read.

    `name` is its name in domain files, certificates and the warehouse; `who` describes it to a reader of a
    report. `alone`: each insider attacks alone; otherwise all of them attack together, and every smaller
    group of them as well. `respondents`: its knowledge depends on the number of units of every suppressed
    cell, so none may be missing. Raises TypeError for a class that does not define one of these.
    """

    name: ClassVar[str]
    who: ClassVar[str]
    alone: ClassVar[bool] = False
    respondents: ClassVar[bool] = False

    def __init__(self) -> None:
        if missing := [word for word in ("name", "who") if not getattr(self, word, "")]:
            raise TypeError(
                f"attacker profile {type(self).__name__} does not define its {' and its '.join(missing)}"
            )

    @abstractmethod
    def insider(self, problem: ProtectionProblem) -> Bools:
        """(cells,): the suppressed cells of which an insider knows `problem.known`."""


class Outsider(Profile):
    """A profile whose attackers have no data of their own."""

    def insider(self, problem: ProtectionProblem) -> Bools:
        return np.zeros(problem.space.size, dtype=bool)


class Keeper(Outsider):
    """A profile that knows something of earlier releases of the same period."""

    @abstractmethod
    def assumes(self, earlier: PriorReleases) -> Bools:
        """(rows of `earlier`,): the assumptions on revisions that the profile makes."""

    def kept(self, earlier: PriorReleases, lacks: Collection[int] = ()) -> Bools:
        """(rows of `earlier`,): the rows that attackers of the profile know who lack these pieces. A row that
        several pieces tell is known to whoever has one of them. Who assumes how far a cell was revised needs
        all pieces that its row names: those of both values.
        """
        told, assumed = ~earlier.assumed, self.assumes(earlier)
        if len(lacks):
            missing = np.isin(np.arange(len(earlier.pieces)), list(lacks))
            told = told & earlier.told_by[:, ~missing].any(axis=1)
            assumed = assumed & ~earlier.told_by[:, missing].any(axis=1)
        return np.asarray(told | assumed | earlier.everybody)

    @abstractmethod
    def must_be_withstood(self, earlier: PriorReleases) -> bool:
        """Whether the next release must withstand the profile even if its domain does not ask
        for it; `earlier` is not empty.
        """
