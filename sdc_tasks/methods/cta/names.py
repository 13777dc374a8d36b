"""The names of the methods of controlled tabular adjustment; importing this loads no method.
`engine.py` says what each method does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Method = Literal["auto", "milp", "bcd", "fix-and-relax", "benders"]


@dataclass(frozen=True)
class Traits:
    """Properties of a method. `ended_by`: the option that limits its work; None: it ends by itself. `takes`:
    options that only some methods have.
    """

    ended_by: str | None
    takes: tuple[str, ...]


METHODS: Mapping[Method, Traits] = {
    "auto": Traits("rounds", ("solver",)),
    "milp": Traits("nodes", ("solver", "polygon")),
    "bcd": Traits("rounds", ("blocks", "polygon")),
    "fix-and-relax": Traits(None, ("blocks", "polygon")),
    "benders": Traits("rounds", ()),
}
NOT_OF_ALL = ("solver", "blocks", "polygon")
