"""What each attacker profile must define."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import Earlier, ProtectionProblem


class Profile(ABC):
    """One kind of attacker, and what it knows beyond what everybody can read.

    `name` is its name in domain files, certificates and the warehouse; `who` describes it to a reader of a report. `alone`: each insider
    attacks alone; otherwise all of them attack together. `respondents`: its knowledge depends on the number of units of every suppressed
    cell, so none may be missing. Raises TypeError for a class that does not define one of these.
    """

    name: ClassVar[str]
    who: ClassVar[str]
    alone: ClassVar[bool] = False
    respondents: ClassVar[bool] = False

    def __init__(self) -> None:
        if missing := [word for word in ("name", "who") if not getattr(self, word, "")]:
            raise TypeError(f"attacker profile {type(self).__name__} does not define its {' and its '.join(missing)}")

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
    def kept(self, earlier: Earlier) -> Bools:
        """(rows of `earlier`,): the rows that the profile knows."""

    @abstractmethod
    def must_be_withstood(self, earlier: Earlier) -> bool:
        """Whether the next release must withstand the profile even if its domain does not ask for it; `earlier` is not empty."""
