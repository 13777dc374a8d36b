"""What a search knew at some moment, whatever it searches for: what progress lines, histories and pictures are made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """What was known after so many seconds: of the objective (None: nothing safe found yet) and of the bound, and which method said so."""

    seconds: float
    objective: float | None
    bound: float
    method: str
