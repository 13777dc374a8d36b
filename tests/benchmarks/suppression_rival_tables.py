"""Sixty random tables of three dimensions, 495 to about 5 000 cells, as microdata: for
`suppression_rival_run.py`.

Contributions are lognormal; codes are drawn with shares of their own, so that some are rare. A dimension is
flat, or has groups: `(3, 4)` are three groups of four codes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Size = int | tuple[int, int]
SHAPES: tuple[tuple[Size, Size, Size], ...] = (
    (4, 8, 10),  # 495 cells
    (4, (3, 3), 8),  # 585
    (6, 9, (2, 5)),  # 910
    (8, 10, 11),  # 1 188
    ((3, 3), (3, 4), 7),  # 1 664
    (10, 12, 14),  # 2 145
    (6, (4, 4), (4, 4)),  # 3 087
    (14, 15, (3, 4)),  # 3 840
    ((4, 4), (4, 4), 9),  # 4 410
    (16, 16, 16),  # 4 913
)
RECORDS = (1.2, 2.0, 3.5)  # per inner cell: from sparse to rather full
RULE = "P(10,1)"


@dataclass(frozen=True)
class Microdata:
    """Records of a table. `parents` (by dimension): the group of each code, of a dimension with groups."""

    name: str
    codes: dict[str, list[str]] = field(repr=False)
    values: list[int] = field(repr=False)
    parents: dict[str, dict[str, str]] = field(repr=False)

    @property
    def dims(self) -> list[str]:
        return list(self.codes)

    def as_hrc(self) -> dict[str, list[str]]:
        """The lines of a .hrc of each dimension with groups: a code stands behind an @ below its group."""
        found: dict[str, list[str]] = {}
        for name, parents in self.parents.items():
            groups = sorted(set(parents.values()))
            found[name] = [
                line
                for group in groups
                for line in (group, *(f"@{code}" for code, above in parents.items() if above == group))
            ]
        return found


def tables() -> list[Microdata]:
    """All sixty: each shape with each density, twice."""
    return [_drawn(shape, share, seed) for shape in SHAPES for share in RECORDS for seed in (1, 2)]


def _drawn(shape: tuple[Size, Size, Size], share: float, seed: int) -> Microdata:
    sizes = [size if isinstance(size, int) else size[0] * size[1] for size in shape]
    rng = np.random.default_rng([seed, round(10 * share), *sizes])
    number = round(share * float(np.prod(sizes)))
    codes, parents = {}, {}
    for axis, (size, count) in enumerate(zip(shape, sizes, strict=True)):
        name = "ABC"[axis]
        labels = [f"{name}{code:02d}" for code in range(count)]
        shares = 0.2 + rng.gamma(1.0, 1.0, count)
        codes[name] = [labels[i] for i in rng.choice(count, size=number, p=shares / shares.sum())]
        if not isinstance(size, int):
            parents[name] = {label: f"{name}G{i // size[1]}" for i, label in enumerate(labels)}
    values = (1 + np.round(rng.lognormal(2.5, 1.2, number)).astype(int)).tolist()
    shown = "x".join(str(size) if isinstance(size, int) else f"{size[0]}·{size[1]}" for size in shape)
    return Microdata(f"{shown}, {share:g} a cell, {seed}", codes, values, parents)
