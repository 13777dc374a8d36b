"""What one attacker profile has to say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import Earlier, ProtectionProblem


class Profile(ABC):
    """One kind of attacker: who that is, and what it knows beyond what everybody can read.

    `name` is what domain files, certificates and the warehouse call it; `who` tells a reader of a report who it is. `alone`: each of its
    insiders attacks by himself; otherwise all of them attack together. `respondents`: what they know follows from the number of units of
    every hidden cell, so that none may be missing.
    """

    name: ClassVar[str]
    who: ClassVar[str]
    alone: ClassVar[bool] = False
    respondents: ClassVar[bool] = False

    def __init__(self) -> None:
        if missing := [word for word in ("name", "who") if not getattr(self, word, "")]:
            raise TypeError(f"attacker profile {type(self).__name__} does not say its {' and its '.join(missing)}")

    @abstractmethod
    def insider(self, problem: ProtectionProblem) -> Bools:
        """(cells,): the hidden cells of which an insider knows what `problem.known` says."""


class Outsider(Profile):
    """A profile whose attackers have no data of their own."""

    def insider(self, problem: ProtectionProblem) -> Bools:
        return np.zeros(problem.space.size, dtype=bool)


class Keeper(Outsider):
    """A profile that kept something of what was published before of the same period."""

    @abstractmethod
    def kept(self, earlier: Earlier) -> Bools:
        """(rows of `earlier`,): what it has of that."""

    @abstractmethod
    def must_be_withstood(self, earlier: Earlier) -> bool:
        """Must a release beside this, which is not empty, withstand the profile, whether or not its domain asks for it?"""
