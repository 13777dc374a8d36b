"""The options that a domain file gives: frozen, and no key that we do not know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Frozen, and no key that we do not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
