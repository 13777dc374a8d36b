"""The names of the options of the rounding methods; importing this loads no method."""

from typing import Literal

Quality = Literal[
    "paper", "fast", "best"
]  # of small count rounding: the published algorithm alone, or refined, more and longer

DRAWN = 0.1  # rule_aware of small count rounding: the chance that the key decides about a small count
