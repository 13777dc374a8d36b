"""What else a statistic publishes, in a domain file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sdc_tasks.model.strict import Strict
from sdc_tasks.model.time.periods import PeriodRule


class LinkedOptions(Strict):
    """What else the statistic publishes, so that its tables are attacked together."""

    tables: tuple[Annotated[str, Field(pattern=r"^[a-z0-9_]+$")], ...] = Field(
        default=(),
        description="other domains of the statistic: a cell that both name is one cell, where a dimension "
        "that one of them does not have stands at its only root in the other",
    )
    periods: PeriodRule | dict[str, PeriodRule] | None = Field(
        default=None,
        description="what the figure of a period is to those of the periods within it, for all indicators, "
        "or for each (`{TURNOVER: sum, EMPLOYED: mean}`): their sum (flows), their mean (stocks), or none. "
        "Without it, two frequencies are not released beside each other",
    )

    def __bool__(self) -> bool:
        return bool(self.tables) or self.periods is not None

    def rule_of(self, indicator: str) -> PeriodRule | None:
        """What a period is to those within it, for an indicator; None where nobody said."""
        return self.periods.get(indicator) if isinstance(self.periods, dict) else self.periods
