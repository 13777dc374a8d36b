"""The table of [2], Figure 11: three rows and columns with their totals; the cell in the second
row and third column is primary.
"""

from __future__ import annotations

import numpy as np

GRID = np.array([[20, 24, 28, 72], [38, 38, 40, 116], [40, 39, 42, 121], [98, 101, 110, 309]])
PRIMARY = 6
PLAIN = "ssssssusssssssss"
RELATIONS = 8


def drawn(
    values: np.ndarray = GRID,
    statuses: str = PLAIN,
    costs: str = "1",
    level: float = 10,
    relations: int = RELATIONS,
) -> str:
    """A JJ file. Primaries have the same level on both sides; `relations`: so many of the rows
    and columns are told to add up.
    """
    index = np.arange(16).reshape(4, 4)
    cells = [
        f"{i} {value} {costs} {status} 0 1000 {level * (status == 'u')} {level * (status == 'u')} 0"
        for i, (value, status) in enumerate(zip(values.ravel(), statuses, strict=True))
    ]
    lines = [
        f"0 4 : {a} (1) {b} (1) {c} (1) {total} (-1)" for a, b, c, total in [*index, *index.T][:relations]
    ]
    return "\n".join(["0", "16", *cells, str(relations), *lines, ""])
