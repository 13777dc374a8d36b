"""How rounding changed a table: measures, and the tables of [4] §6 and §7.

    frequencies   tables 4 and 7: cells by count, before and after rounding, and after the simple method
    differences   tables 5, 6 and 8: cells by how far they moved, and by their original count
    largest       table 9: the published cells that moved most

The simple method is the one with which [4] compares. It rounds every small inner cell: counts
over half the base go to the base, and so do as many of the others, at random, as the total
needs. It ignores the publication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.rounding.small_count.algorithm import RoundedCells
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Ints

TENS = (10, 100, 1000, 10_000)
STEPS = (3, 6, 10, 20, 56, 100)  # the classes of differences above 2


@dataclass(frozen=True)
class Measures:
    """Differences between counts o and rounded counts r of m cells; `utility` is 1 − √(½ Σ
    (√o − √r)²) / √(Σ o) (Hellinger).
    """

    cells: int
    changed: int
    maximum: int
    mean: float
    rms: float
    utility: float


@dataclass(frozen=True)
class Table:
    """Numbers of cells by row and column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...] = field(repr=False)


@dataclass(frozen=True)
class Moved:
    """A published cell and how far it moved."""

    key: str
    original: int
    difference: int


def measures(original: Ints, rounded: Ints) -> Measures:
    """The measures of cells with counts `original` (m,) and `rounded` (m,). Without cells
    they are 0, and the utility is 1.
    """
    distance = np.abs(rounded - original).astype(np.float64)
    count = max(len(distance), 1)
    lost = np.sqrt(np.sum((np.sqrt(original) - np.sqrt(rounded)) ** 2) / 2)
    whole = np.sqrt(float(original.sum()))
    return Measures(
        cells=len(distance),
        changed=int((distance > 0).sum()),
        maximum=int(distance.max(initial=0.0)),
        mean=float(distance.sum() / count),
        rms=float(np.sqrt(np.sum(distance**2) / count)),
        utility=float(1 - lost / whole) if whole else 1.0,
    )


def simply_rounded(dummy: Dummy, base: int, seed: int) -> Ints:
    """(n,): the inner cells rounded by the simple method."""
    y = dummy.cells.y
    small = (y > 0) & (y < base)
    up = small & (2 * y > base)
    others = np.flatnonzero(small & ~up)
    wanted = int(np.floor((int(y[small].sum()) - base * int(up.sum())) / base + 0.5))
    drawn = np.random.default_rng(seed).permutation(others)[: max(wanted, 0)]
    rounded = np.where(small, np.where(up, base, 0), y)
    rounded[drawn] = base
    return rounded


def frequencies(result: RoundedCells) -> Table:
    """Numbers of inner and published cells by count."""
    dummy, base = result.dummy, result.options.base
    simple = simply_rounded(dummy, base, result.options.seed)
    ends = _ends(base)
    rows = [
        ("inner, original", dummy.cells.y),
        ("inner, rounded", result.inner),
        ("inner, simply rounded", simple),
        ("published, original", dummy.z),
        ("published, rounded", result.published),
        ("published, simply rounded", dummy.totals(simple)),
    ]
    columns = (*_names(0, ends), "all")
    return Table(
        "cells by count",
        columns,
        tuple((name, (*_counted(values, ends), len(values))) for name, values in rows),
    )


def differences(result: RoundedCells, simple: bool = False) -> Table:
    """Numbers of cells by |difference| (rows) and original value (columns): small inner cells, then published
    cells.
    """
    dummy, base = result.dummy, result.options.base
    inner = simply_rounded(dummy, base, result.options.seed) if simple else result.inner
    published = dummy.totals(inner) if simple else result.published
    by_inner, by_published = (0, *range(1, base)), _ends(base)
    moved = [np.abs(inner - dummy.cells.y), np.abs(published - dummy.z)]
    kinds = [np.searchsorted(by_inner, dummy.cells.y), np.searchsorted(by_published, dummy.z)]
    edges = (0, 1, 2, *STEPS)
    widths = [len(by_inner) + 1, len(by_published) + 1]
    counted = []
    for distance, kind, width in zip(moved, kinds, widths, strict=True):
        step = np.searchsorted(edges, distance)
        counted.append(
            np.bincount(step * width + kind, minlength=(len(edges) + 1) * width).reshape(-1, width)[:, 1:]
        )
    whole = np.hstack([counted[0][:, :-1], counted[1]])  # without inner cells of the base and more
    columns = (
        *(f"inner {v}" for v in range(1, base)),
        *(f"published {name}" for name in _names(0, by_published)[1:]),
    )
    names = _names(0, edges)
    title = "cells by |difference| and original value" + (", simply rounded" if simple else "")
    last = int(np.flatnonzero(whole.any(axis=1)).max(initial=0)) + 1
    return Table(title, columns, tuple((names[i], tuple(int(n) for n in whole[i])) for i in range(last)))


def largest(result: RoundedCells, count: int = 10) -> list[Moved]:
    """The published cells that moved most, the smaller first among equals."""
    dummy = result.dummy
    difference = result.published - dummy.z
    order = np.lexsort((np.arange(len(difference)), dummy.z, -np.abs(difference)))[:count]
    order = order[difference[order] != 0]
    keys = [printed_key(map(str, row)) for row in zip(*dummy.labels(order), strict=True)]
    return [Moved(key, int(dummy.z[i]), int(difference[i])) for key, i in zip(keys, order, strict=True)]


def _ends(base: int) -> tuple[int, ...]:
    """The largest count of every class but the last: 0, 1, …, the base, and powers of ten."""
    return (*range(base + 1), *(ten for ten in TENS if ten > base))


def _names(first: int, ends: Sequence[int]) -> tuple[str, ...]:
    begins = [first, *(end + 1 for end in ends)]
    named = [str(end) if begin == end else f"{begin}-{end}" for begin, end in zip(begins, ends, strict=False)]
    return (*named, f"{begins[-1]}+")


def _counted(values: Ints, ends: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(n) for n in np.bincount(np.searchsorted(ends, values), minlength=len(ends) + 1))
