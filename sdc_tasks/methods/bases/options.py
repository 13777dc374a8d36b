"""How bases are chosen, as a domain file asks for it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sdc_tasks.model.strict import Strict
from sdc_tasks.model.weights import Weights

ROUNDED_ONLY = {
    "passes",
    "mantissas",
    "maximum_relative_base",
    "rounding_charge",
    "strata",
    "sharpen",
    "additive",
}

SEARCHED = {"passes", "grown_from", "lowering"}


class CellRule(Strict):
    """A wish for some aggregate cells: `cells` is a pattern of keys, such as
    EU27_2020.TURNOVER.C*._T (* and ? stand for anything).

    `must`: the cells must be exact, or published (exact or rounded). `cost`: how many times a
    unit of loss counts in these cells.
    """

    cells: str = Field(
        min_length=1, description="pattern of keys of aggregate cells; * and ? stand for anything"
    )
    must: Literal["exact", "published"] | None = Field(
        default=None, description="what the cells must be; published: exact or rounded"
    )
    cost: float = Field(default=1.0, gt=0, description="how many times a unit of loss counts there")


class BasesOptions(Strict):
    """How bases are chosen from the ladder mantissas × 10^k × `smallest`, in the unit of the indicator.

    Rule cta: repair starts from the adjusted table and from all exact, and the result that loses less is
    taken. Rule minimum-uncertainty: from that result, `passes` searches look for less loss; the bases of a
    table with `grown_from` national cells or more are grown from tables instead (`search/witness_guided.py`),
    without CTA. Rule suppression: every cell is exact or withheld, and as little as possible is withheld. The
    audit decides in the end. `gap` is used by `sdc what-if` only.

    `strata`: cells of one composition and indicator share a base, separately by `level` or `code` of the
    named hierarchies; {}: of none. `sharpen`: no cell is coarser than the interval that the other
    published cells leave. `additive`: values of a composition add up. `rule_aware`: the choice of bases
    withstands somebody who has the program (METHOD §9). A secret key takes the exact figure and finer
    bases of a cell away with the chance `removed`, and every primary keeps an interval as wide as both its
    levels together. `visible_share`: the sum of the visible countries replaces a withheld total if it
    covers at least this share and is safe.
    """

    rule: Literal["cta", "minimum-uncertainty", "suppression"] = Field(
        default="minimum-uncertainty", description="who proposes bases"
    )
    gap: float = Field(
        default=0.05,
        ge=0,
        description="of `sdc what-if`: how far the least loss may be above its bound, relative",
    )
    passes: int = Field(
        default=1,
        ge=1,
        description="minimum-uncertainty: searches for less, each on the cuts of those before it",
    )
    grown_from: int = Field(
        default=50_000,
        ge=0,
        description="minimum-uncertainty: linked indicators with so many national cells grow their "
        "bases from tables, without CTA",
    )
    lowering: int = Field(
        default=3_000, ge=0, description="of grown bases: linear programs that may be solved to lower them"
    )
    mantissas: tuple[Annotated[float, Field(ge=1, lt=10)], ...] = Field(
        default=(1.0, 2.0, 5.0), description="bases are mantissas × 10^k × smallest"
    )
    smallest: float = Field(default=1.0, gt=0, description="the smallest base, in the unit of the indicator")
    maximum_relative_base: float = Field(
        default=0.5, gt=0, description="a base above this share of the value withholds the cell"
    )
    weights: Weights = Field(default=Weights.INVERSE, description="loss per unit of half-width")
    rounding_charge: float = Field(
        default=0.005, ge=0, description="what an exact figure is worth, as a share of its value"
    )
    rounds: int = Field(
        default=60, ge=1, description="rounds of audit and repair before what still fails is withheld"
    )
    cells: tuple[CellRule, ...] = Field(default=(), description="wishes for single aggregate cells")
    strata: dict[str, Literal["level", "code"]] | None = Field(
        default=None,
        description="cells of one composition and indicator share a base, apart by level or code of "
        "these hierarchies",
    )
    sharpen: bool = Field(
        default=False, description="afterwards, no cell is coarser than what the others tell of it"
    )
    additive: bool = Field(default=False, description="rounded values within each composition add up")
    visible_share: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="for a withheld total, print the sum of the visible countries if it covers this share",
    )

    rule_aware: bool = Field(
        default=False,
        description="bases withstand somebody who runs the program for every hidden table; drawn by "
        "the warehouse's secret",
    )
    removed: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="rule_aware: the chance that the key takes the exact figure of a cell",
    )
    epoch: int = Field(default=1, ge=1, description="rule_aware: another number draws anew")

    @model_validator(mode="after")
    def _aware(self) -> BasesOptions:
        if not self.rule_aware:
            if idle := sorted(self.model_fields_set & {"removed", "epoch"}):
                raise ValueError(
                    f"{', '.join(idle)}: only with rule_aware: true. Remedy: leave out {', '.join(idle)}"
                )
            return self
        taken = {
            "strata": self.strata is not None,
            "additive": self.additive,
            "visible_share": self.visible_share is not None,
        }
        if wrong := [name for name, is_set in taken.items() if is_set] + (
            ["rule: suppression"] if self.rule == "suppression" else []
        ):
            raise ValueError(
                f"rule_aware: not offered with {', '.join(wrong)}, because what these choices tell somebody "
                f"who has the program is "
                f"not known. Remedy: leave out {', '.join(wrong)}, or rule_aware"
            )
        return self

    @model_validator(mode="after")
    def _one_base_each(self) -> BasesOptions:
        if self.strata is not None and (self.sharpen or self.additive):
            raise ValueError(
                "strata: not together with sharpen or additive, which give each cell a base of its own"
            )
        if self.rule == "suppression" and (idle := sorted(self.model_fields_set & ROUNDED_ONLY)):
            raise ValueError(
                f"{', '.join(idle)}: the rule suppression rounds nothing. Remedy: leave out "
                f"{', '.join(idle)}, or change rule"
            )
        if self.rule != "minimum-uncertainty" and (idle := sorted(self.model_fields_set & SEARCHED)):
            raise ValueError(
                f"{', '.join(idle)}: only for the rule minimum-uncertainty. Remedy: leave out "
                f"{', '.join(idle)}, or change rule"
            )
        return self
