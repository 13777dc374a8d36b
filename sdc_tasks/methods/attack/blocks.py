"""Where to look first: parts of the table in which cells may move while the rest stays at the truth.

A deviation that moves only some cells is a witness like any other, and an LP over a part is far cheaper than its share of the whole.
Parts are groups of countries × stretches of the first code list, because countries hang together through aggregates only, and
activities through few totals.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.model.table import Ints

COUNTRIES = 30  # countries in one part, to leave the aggregates room
SMALL, LARGE = 1_000, 6_000  # columns of a part; up to SMALL (half as many again) a table is not divided


def parts(area: Ints, code: Ints, size: int) -> list[Ints]:
    """Columns by part, each of about `size` columns. `area code` are those of the columns, code in the order of its list."""
    wanted = int(np.ceil(len(area) / size))
    if wanted <= 1:
        return [np.arange(len(area))]
    countries = int(np.ceil((area.max() + 1) / COUNTRIES))
    stretches = int(np.ceil(wanted / countries))
    label = area * countries // (area.max() + 1) * stretches + code * stretches // (code.max() + 1)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def levels(area: Ints, code: Ints) -> list[tuple[list[Ints], bool]]:
    """(parts, by interior point?) from small parts to the whole."""
    n = len(area)
    if n == 0:
        return []
    whole = [np.arange(n)]
    if n <= 1.5 * SMALL:
        return [(whole, False)]
    small = (parts(area, code, SMALL), False)
    return [small, (parts(area, code, LARGE), True), (whole, True)] if n > 1.5 * LARGE else [small, (whole, True)]
