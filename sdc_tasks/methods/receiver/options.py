"""What a domain asks of the receiver where the suppression of a national table does not protect it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.names import PatternMethod, refuse_gap
from sdc_tasks.model.strict import Strict

ReceiverCosts = Literal["value", "one", "log", "distance"]


class SuppressionOptions(Strict):
    """Secondary suppression of national tables by the receiver.

    `receiver`: never: what a national table does not protect is only reported. when_missing: a table with
    primaries and no secondaries gets them. when_unprotected: so does a table whose secondaries do not protect
    its primaries. The NSI is told which cells these are.

    `delivered`: may_be_public: an NSI may have published its table as it came, or may do so, whatever it is
    told. A release then also withstands somebody who reads these tables (profile vintage). not_public: the
    NSIs have confirmed that they hide the same cells.

    The search ends by counted work; after `seconds` it is aborted, and the release stops.
    """

    receiver: Literal["never", "when_missing", "when_unprotected"] = Field(
        default="never",
        description="which national tables get secondaries from the receiver, where they do not "
        "protect their primaries",
    )
    method: PatternMethod = Field(default="auto", description="of cell suppression")
    costs: ReceiverCosts = Field(
        default="value", description="of a cell that is hidden: its value, 1, its logarithm, or its distance"
    )
    delivered: Literal["may_be_public", "not_public"] = Field(
        default="may_be_public",
        description="whether tables that get secondaries may be read elsewhere as they came",
    )
    gap: float = Field(
        default=0.01,
        ge=0,
        description="the search ends when the cost is proven to be this close to the least, relative",
    )
    seconds: float = Field(
        default=900.0, gt=0, description="for one country; after them the release stops, and is run again"
    )

    @model_validator(mode="after")
    def _something_to_set(self) -> SuppressionOptions:
        if self.receiver == "never" and (unused := sorted(self.model_fields_set - {"receiver"})):
            raise ValueError(
                f"{', '.join(unused)}: the receiver sets nothing. Remedy: receiver: when_missing or "
                f"when_unprotected"
            )
        if "gap" in self.model_fields_set:
            try:
                refuse_gap(self.method)
            except InvalidInput as error:
                raise ValueError(str(error)) from None
        return self

    @property
    def active(self) -> bool:
        """May the receiver set secondaries?"""
        return self.receiver != "never"
