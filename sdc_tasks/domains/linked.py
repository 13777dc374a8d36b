"""What else a statistic publishes, in a domain file."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sdc_tasks.model.strict import Strict
from sdc_tasks.model.time.periods import PeriodRule


class LinkedOptions(Strict):
    """What else the statistic publishes, so that its tables are attacked together."""

    tables: tuple[Annotated[str, Field(pattern=r"^[a-z0-9_]+$")], ...] = Field(
        default=(),
        description="other domains of the statistic, known to the warehouse or with their files beside this "
        "one: a cell that both name is one cell, where a dimension that one of them does not have stands at "
        "its only root in the other",
    )
    periods: PeriodRule | dict[str, PeriodRule] | None = Field(
        default=None,
        description="what the figure of a period is to those of the periods within it, for all indicators, "
        "or for each (`{TURNOVER: sum, EMPLOYED: mean}`): their sum (flows), their mean (stocks), or none. "
        "Without it, two frequencies are not released beside each other",
    )
    together: bool = Field(
        default=False,
        description="decide this table together with those of `tables` whose deliveries of the period are "
        "there and that are not out yet: their domain files stand beside this one, under their names, and "
        "have the same countries and compositions",
    )

    reserve: Literal["A", "S", "T", "Q"] | None = Field(
        default=None,
        description="a longer period by its SDMX frequency, such as `A` for the year: the last release "
        "within it chooses bases that leave its totals room to come out exact, where that is possible. "
        "Needs `sum` or `mean` of every indicator under `periods`",
    )

    @model_validator(mode="after")
    def _reserves_sums(self) -> Self:
        said = self.periods.values() if isinstance(self.periods, dict) else [self.periods]
        if self.reserve and not {*said} <= {PeriodRule.SUM, PeriodRule.MEAN}:
            raise ValueError(
                "reserve: for which sums? Remedy: say sum or mean of every indicator under periods, or leave "
                "out reserve"
            )
        if self.reserve and self.together:
            raise ValueError(
                "reserve: a table that is decided together with others leaves no room. Remedy: leave out "
                "reserve or together"
            )
        return self

    @model_validator(mode="after")
    def _has_tables(self) -> Self:
        if self.together and not self.tables:
            raise ValueError("together: with which tables? Remedy: name them under tables")
        return self

    def __bool__(self) -> bool:
        return bool(self.tables) or self.periods is not None

    def rule_of(self, indicator: str) -> PeriodRule | None:
        """What a period is to those within it, for an indicator; None where nobody said."""
        return self.periods.get(indicator) if isinstance(self.periods, dict) else self.periods
