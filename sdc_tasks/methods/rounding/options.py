"""The options of a domain file that round the aggregates of an indicator as one table: one model for each
method.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sdc_tasks.methods.rounding.names import DRAWN, Quality
from sdc_tasks.model.strict import Strict


class _Told(Strict):
    """Options that a certificate tells."""

    @property
    def told(self) -> dict[str, object]:
        return self.model_dump(mode="json")


class SmallCountRounding(_Told):
    """Small count rounding: no aggregate, nor what follows from several, is in 1 … base −
    1 (methods/rounding/counts.py).

    For counts of which nobody publishes what is confidential here, nor any total above it. `rule_aware`:
    every hidden count of 1 … base − 1 keeps `base` candidates also for somebody who runs the program for
    every hidden table (METHOD §9). All of them are rounded, a key decides about some of them, and every
    aggregate is told within what rounding all hidden cells below it could do.
    """

    method: Literal["small-count"] = Field(
        description="small count rounding, for an indicator of kind: count"
    )
    base: int = Field(ge=2, description="no published count is in 1 … base − 1")
    quality: Quality = Field(
        default="fast",
        description="paper: the published algorithm alone; fast, best: refined, more and longer",
    )
    rule_aware: bool = Field(
        default=False,
        description="withstands somebody who runs the program for every hidden table; drawn by the "
        "warehouse's secret",
    )
    drawn: float = Field(
        default=DRAWN,
        gt=0,
        le=1,
        description="rule_aware: chance that the key decides that a count goes up, or down",
    )
    epoch: int = Field(default=1, ge=1, description="rule_aware: another number draws anew")

    @model_validator(mode="after")
    def _aware(self) -> SmallCountRounding:
        if not self.rule_aware and (idle := sorted(self.model_fields_set & {"drawn", "epoch"})):
            raise ValueError(
                f"{', '.join(idle)}: only with rule_aware: true. Remedy: leave out {', '.join(idle)}"
            )
        return self

    @property
    def told(self) -> dict[str, object]:
        """The options, as a certificate tells them: those of `rule_aware` only with it."""
        return self.model_dump(
            mode="json", exclude=None if self.rule_aware else {"rule_aware", "drawn", "epoch"}
        )


class ControlledRounding(_Told):
    """Controlled rounding: all aggregates are multiples of one base that add up
    (methods/rounding/aggregates.py).

    `base`: the least, larger ones are tried where the audit breaks it; `reach`: multiples that a cell may
    move, as `zero_restricted` in `sdc round-table`; `gap` ends the search, and `nodes` each MILP in it.
    `seconds`: a base that takes longer stops the release.
    """

    method: Literal["controlled"] = Field(description="controlled rounding")
    base: float = Field(
        gt=0, description="the smallest base; larger ones are tried where the audit breaks it"
    )
    reach: int = Field(default=2, ge=1, description="multiples of the base that a cell may move")
    zero_restricted: bool = Field(
        default=False, description="a multiple of the base stays, and all others move by less than the reach"
    )
    gap: float = Field(
        default=0.01,
        ge=0,
        description="a table proven to be no further from the best, relative, ends the search",
    )
    nodes: int = Field(default=5000, ge=1, description="of the search tree of each MILP")
    seconds: float = Field(default=7200.0, gt=0, description="a base that takes longer stops the release")


class QuadraticRounding(_Told):
    """Random rounding with quadratic programming, of whole numbers: aggregates that attacks lean on become
    multiples of the base, those beside them are adjusted, totals that stay are exact
    (methods/rounding/aggregates.py). `base`, `gap`, `nodes`, `seconds`: as controlled.
    """

    method: Literal["quadratic"] = Field(description="random rounding with quadratic programming")
    base: int = Field(ge=2, description="the smallest base; larger ones are tried where the audit breaks it")
    gap: float = Field(
        default=0.01,
        ge=0,
        description="a table proven to be no further from the best, relative, ends the search",
    )
    nodes: int = Field(default=5000, ge=1, description="of the search tree of each MILP")
    seconds: float = Field(default=7200.0, gt=0, description="a base that takes longer stops the release")


Rounding = Annotated[
    SmallCountRounding | ControlledRounding | QuadraticRounding, Field(discriminator="method")
]
