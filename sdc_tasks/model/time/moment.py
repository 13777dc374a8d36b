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
