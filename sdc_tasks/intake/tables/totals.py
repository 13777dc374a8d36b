"""The code of a total, the same wherever we read or write a table.

A dimension with a list of codes (a domain, `--hierarchy`) has its total on top of the list, whatever it is called. Without a list the
total is what the user names, else `TOTAL`, `_T` (SDMX) or `Total`, whichever the table has; where it has none, we write `TOTAL`. A table
whose totals go by another name would have them counted once more: `unnamed` finds them by what they are, the sum of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count.cells import TOTAL
from sdc_tasks.model.table import SUM_SHARE, Floats, Ints, places

KNOWN = (TOTAL, "_T", "Total")
NONE = "none"  # what a user says who has no totals, where codes look as if he had


def without_noise(sums: Floats, parts: Floats) -> Floats:
    """Sums rounded to the decimal places of their parts. The error of adding binary fractions depends on the parts, and tells of them."""
    return np.asarray(np.round(sums, places(parts)))


def known_total(where: str, dimension: str, codes: Iterable[str]) -> str | None:
    """The code of these that is a total by its name, None where there is none. Raises InvalidInput where there are several."""
    found = [code for code in KNOWN if code in set(codes)]
    if len(found) > 1:
        raise InvalidInput(f"{where}: {dimension} has the totals {' and '.join(found)}. Remedy: keep one of them")
    return found[0] if found else None


def unnamed(code: Ints, others: Sequence[Ints], values: Floats, least: int = 1) -> int | None:
    """The first code of a dimension that is the sum of all others of it, wherever there is anything: beside two other codes or more, and in
    at least `least` combinations of the other dimensions. `code` and `others` by cell, each cell once.
    """
    which = np.unique(np.stack(others), axis=1, return_inverse=True)[1].ravel() if others else np.zeros(len(code), dtype=np.int64)
    whole = np.bincount(which, weights=values)
    there = int((whole != 0).sum())
    if len(np.unique(code)) < 3 or there < max(least, 1):
        return None
    half = (np.abs(2 * values - whole[which]) <= SUM_SHARE * np.abs(values)) & (values != 0)
    found = np.flatnonzero(np.bincount(code[half]) == there)
    return int(found[0]) if len(found) else None
