"""The base class of all options that a domain file sets."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A frozen model that refuses unknown keys. Its validator is made at its first use: one that is a part of
    another model needs none of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
