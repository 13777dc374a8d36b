"""The code of a total, the same wherever we read or write a table.

A dimension with a list of codes (a domain, `--hierarchy`) has its total on top of the list, whatever it is
called. Without a list the total is what the user names, else `TOTAL`, `_T` (SDMX) or `Total`, whichever the
table has; where it has none, we write `TOTAL`. A table whose totals go by another name would have them
counted once more: `unnamed` finds them by what they are, the sum of all others, and `lone` finds those that
stand in the totals of several dimensions alone, as `Alle,Alle,30`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count.cells import TOTAL
from sdc_tasks.model.table import Bools, Floats, Ints, places
from sdc_tasks.model.tolerances import SAME

KNOWN = (TOTAL, "_T", "Total")
LEAST_BESIDE = 2  # cells beside a lone total: of so few, one may be the sum by chance
NONE = "none"  # what a user says who has no totals, where codes look as if he had


def last_place(values: Floats) -> float:
    """One unit of the last decimal place that the values have, such as 0.1."""
    return float(10.0 ** -places(values))


def without_noise(sums: Floats, parts: Floats) -> Floats:
    """Sums rounded to the decimal places of their parts. The error of adding binary fractions depends
    on the parts, and tells of them.
    """
    return np.asarray(np.round(sums, places(parts)))


def known_total(where: str, dimension: str, codes: Iterable[str]) -> str | None:
    """The code of these that is a total by its name, None where there is none. Raises
    InvalidInput where there are several.
    """
    found = [code for code in KNOWN if code in set(codes)]
    if len(found) > 1:
        raise InvalidInput(
            f"{where}: {dimension} has the totals {' and '.join(found)}. Remedy: keep one of them"
        )
    return found[0] if found else None


def unnamed(code: Ints, others: Sequence[Ints], values: Floats, least: int = 1) -> int | None:
    """The first code of a dimension that is the sum of all others of it, wherever there is anything: beside
    two other codes or more, and in at least `least` combinations of the other dimensions. Where it stands
    alone, it is the total of what it is elsewhere. `code` and `others` by cell, each cell once.
    """
    which = (
        np.unique(np.stack(others), axis=1, return_inverse=True)[1].ravel()
        if others
        else np.zeros(len(code), dtype=np.int64)
    )
    whole = np.bincount(which, weights=values)
    there = int((whole != 0).sum())
    if len(np.unique(code)) < 3 or there < max(least, 1):
        return None
    half = _same(2 * values, whole[which]) & (values != 0)
    alone = (values != 0) & (np.bincount(which, weights=values != 0)[which] == 1)
    n = int(code.max(initial=0)) + 1
    here, left = (np.bincount(code[mask], minlength=n) for mask in (half, alone))
    sums, rest = (np.bincount(code[mask], weights=values[mask], minlength=n) for mask in (half, alone))
    explained = (left == 0) | _same(
        sums, rest
    )  # its combinations with nothing beside it are totals themselves
    found = np.flatnonzero((here > 0) & (here + left >= least) & (here + left == there) & explained)
    return int(found[0]) if len(found) else None


def lone(codes: Sequence[Ints], values: Floats, asked: Sequence[int]) -> tuple[int, int] | None:
    """(dimension, code) of a total that stands beside totals of other dimensions alone: all cells of the code
    have one code in some other dimension too, and they are the sum of all other cells, of three or more, for
    each combination of the codes that vary. `codes` by dimension and cell, each cell once; `asked`: the
    dimensions whose totals nobody named.
    """
    for i in asked:
        sums = np.bincount(codes[i], weights=values)
        for code in np.flatnonzero(_same(2 * sums, np.full(len(sums), values.sum())) & (sums != 0)).tolist():
            if _is_lone(codes, values, codes[i] == code):
                return i, code
    return None


def _is_lone(codes: Sequence[Ints], values: Floats, mine: Bools) -> bool:
    """Whether the cells of a code, `mine`, are such a total."""
    fixed = [j for j, each in enumerate(codes) if len(np.unique(each[mine])) == 1]
    varied = [len(np.unique(codes[j][~mine])) > 1 for j in fixed]
    if len(fixed) < 2 or not all(varied) or (values[~mine] != 0).sum() <= LEAST_BESIDE:
        return False
    free = [each for j, each in enumerate(codes) if j not in fixed]
    which = (
        np.unique(np.stack(free), axis=1, return_inverse=True)[1].ravel()
        if free
        else np.zeros(len(values), dtype=np.int64)
    )
    total, rest = np.bincount(which, weights=values * mine), np.bincount(which, weights=values * ~mine)
    return bool(total.any() and _same(total, rest).all())


def _same(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> Bools:
    return np.asarray(np.abs(one - two) <= SAME * np.maximum(np.abs(one), np.abs(two)))
