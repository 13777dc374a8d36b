"""Small count rounding by plain Python, for the tests: shares no code with `sdc_tasks.methods.rounding`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

Key = tuple[str, ...]
Rows = list[tuple[Key, int, int]]  # codes, original, rounded


def marginals(
    rows: Rows,
    crossing: Sequence[int],
    total: str = "TOTAL",
    group: Callable[[int, str], str] = lambda _, code: code,
) -> dict[Key, tuple[int, int]]:
    """{codes of a published cell: (original, rounded)} of one crossing of dimensions."""
    found: dict[Key, tuple[int, int]] = {}
    for codes, original, rounded in rows:
        key = tuple(group(d, code) if d in crossing else total for d, code in enumerate(codes))
        before = found.get(key, (0, 0))
        found[key] = before[0] + original, before[1] + rounded
    return found


def every_crossing(dimensions: int, order: int) -> Iterable[tuple[int, ...]]:
    return (crossing for k in range(order + 1) for crossing in combinations(range(dimensions), k))


def publication(rows: Rows, crossings: Iterable[Sequence[int]]) -> dict[Key, tuple[int, int]]:
    """All published cells of all crossings."""
    found: dict[Key, tuple[int, int]] = {}
    for crossing in crossings:
        found |= marginals(rows, crossing)
    return found
