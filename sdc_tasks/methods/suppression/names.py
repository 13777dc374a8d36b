"""The methods of cell suppression and the costs of cells by name, for whoever offers a choice without loading
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sdc_tasks.errors import InvalidInput

PatternMethod = Literal["auto", "exact", "paths", "network", "cover", "cubes", "hypercube", "hitas"]
CellCosts = Literal["value", "one", "file", "frequency", "log", "distance"]

METHODS: Mapping[PatternMethod, str] = {
    "auto": (
        "exact; for tables of more than 12 000 cells with three dimensions, or with two hierarchies, cubes, "
        "which has no bound"
    ),
    "exact": "cutting planes, with a proven bound",
    "paths": "shortest paths, for two-dimensional tables with one hierarchy at most; no bound",
    "network": "minimum-cost flows, for the same tables; no bound",
    "cover": (
        "linear programs, one primary after the other; then cells that are not needed "
        "are opened again; no bound"
    ),
    "cubes": (
        "for very large tables with dimensions: hypercubes through all levels, each its own proof; no bound"
    ),
    "hypercube": (
        "a hypercube for each suppressed cell, as offices use it; then completed until "
        "the table is safe; no bound"
    ),
    "hitas": (
        "sub-tables one by one from the top, each to the gap, as offices use it; then completed until the "
        "table is safe; no bound"
    ),
}
COSTS: Mapping[CellCosts, str] = {
    "value": "|a|",
    "one": "1: the fewest cells",
    "file": "the costs of the file",
    "frequency": "the contributors of a cell, counted in a file",
    "log": "log (1 + |a|)",
    "distance": "how many relations away the nearest primary is: near cells first",
}
PROVING: tuple[PatternMethod, ...] = ("auto", "exact")
ENDING_AT_A_GAP: tuple[PatternMethod, ...] = ("auto", "exact", "hitas")


def refuse_gap(method: PatternMethod) -> None:
    """Raises InvalidInput for a gap that somebody asked for, where nothing ends at one."""
    if method not in ENDING_AT_A_GAP:
        raise InvalidInput(
            f"gap: method {method} proves no bound, so it does not end at a gap. Remedy: leave the gap out, "
            f"or choose one of {', '.join(ENDING_AT_A_GAP)}"
        )


def refuse_prove(method: PatternMethod) -> None:
    """Raises InvalidInput where somebody asked to go on until the gap is proven, and nothing proves one."""
    if method not in PROVING:
        raise InvalidInput(
            f"prove: method {method} proves no bound, so it has nothing to go on for. Remedy: leave it out, "
            f"or choose one of {', '.join(PROVING)}"
        )
