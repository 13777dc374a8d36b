"""How many faults, inputs and statements the tests tried: the figures of SECURITY.md, printed at the end of a
run.
"""

from __future__ import annotations

from collections import Counter

TRIED: Counter[str] = Counter()


def tried(what: str, number: int = 1) -> None:
    TRIED[what] += number
