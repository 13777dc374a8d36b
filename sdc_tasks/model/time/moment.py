"""One entry in the history of a search. Progress lines and pictures are made of such entries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """The state of a search after `seconds`: best objective (None: nothing safe yet), lower bound,
    and the method that reported them.
    """

    seconds: float
    objective: float | None
    bound: float
    method: str


def told_gap(objective: float, bound: float, digits: int = 2) -> str:
    """How far an objective is from its bound, in words: a share of the objective, or that there is no
    bound.
    """
    if objective <= 0:
        return f"gap {0:.{digits}%}"
    return f"gap {max(0.0, 1 - bound / objective):.{digits}%}" if bound > 0 else "no bound"
