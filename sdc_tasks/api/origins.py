"""What the tables of results were made from: a frame that a result gave knows its problem as long as it
lives, so that it can be judged without saying again what its columns are.

A copy, or a part of the rows, is another frame, and knows nothing.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdc_tasks.intake.tables.crossed import CrossedSuppression

ORIGINS: dict[int, CrossedSuppression] = {}


def remember(frame: object, origin: CrossedSuppression) -> None:
    """This frame was made of this table."""
    ORIGINS[id(frame)] = origin
    weakref.finalize(frame, ORIGINS.pop, id(frame), None)


def origin_of(frame: object) -> CrossedSuppression | None:
    """The table that this very frame was made of; None of any other."""
    return ORIGINS.get(id(frame))
