"""Choices of the rounding methods, for whoever offers them without loading these."""

from typing import Literal

Quality = Literal["paper", "fast", "best"]  # of small count rounding: the published algorithm alone, or refined, more and longer
