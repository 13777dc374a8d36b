"""The tables of `suppression_rival_run.py`: sixty random ones of three dimensions, 495 to about 5 000 cells,
as microdata; and twelve public ones of two, as tables with primaries and levels.

Contributions are lognormal; codes are drawn with shares of their own, so that some are rare. A dimension is
flat, or has groups: `(3, 4)` are three groups of four codes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

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


Tree = Mapping[str, str | None]  # code → the code above it; None above the root
TOTAL = "Total"  # the rival's code of totals
P_PERCENT, FEW = 0.1, 2  # of the public tables: one or two units are primary


class Input(Protocol):
    """A table as the rival gets it."""

    name: str

    @property
    def dims(self) -> list[str]: ...

    @property
    def trees(self) -> Mapping[str, Tree]:
        """Of each dimension that has groups."""

    def asked(self) -> dict[str, Any]:
        """What `suppression_rival.py` reads, but for the method."""

    def alone(self, row: Mapping[str, Any]) -> bool:
        """Whether one respondent stands behind a row of the rival's answer."""


def as_hrc(tree: Tree) -> list[str]:
    """The lines of a .hrc file: each code behind one @ for each step below the codes under the root."""
    below: dict[str | None, list[str]] = {}
    for code, above in tree.items():
        below.setdefault(above, []).append(code)
    (root,) = below[None]

    def lines(code: str, depth: int) -> Iterator[str]:
        for each in below.get(code, ()):
            yield "@" * depth + each
            yield from lines(each, depth + 1)

    return list(lines(root, 0))


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

    @property
    def trees(self) -> dict[str, Tree]:
        return {
            name: {TOTAL: None, **dict.fromkeys(sorted(set(parents.values())), TOTAL), **parents}
            for name, parents in self.parents.items()
        }

    def asked(self) -> dict[str, Any]:
        return {"records": {**self.codes, "V": self.values}, "dims": self.dims, "rule": RULE} | {
            "trees": {name: as_hrc(tree) for name, tree in self.trees.items()}
        }

    def alone(self, row: Mapping[str, Any]) -> bool:
        return bool(row["freq"] == 1)


@dataclass(frozen=True)
class WithLevels:
    """Cells with primaries and levels; those without a row are empty. `roots`: the code of totals of each
    dimension; `units`: by key, how many respondents stand behind a cell.
    """

    name: str
    cells: pd.DataFrame = field(repr=False)  # dims, V, SECRET, LEVEL
    roots: Mapping[str, str]
    trees: Mapping[str, Tree] = field(repr=False)
    units: Mapping[tuple[str, ...], int] = field(repr=False)

    @property
    def dims(self) -> list[str]:
        return list(self.roots)

    def asked(self) -> dict[str, Any]:
        return {"cells": self.cells.to_dict("list"), "dims": self.dims, "roots": dict(self.roots)} | {
            "trees": {name: as_hrc(tree) for name, tree in self.trees.items()}
        }

    def alone(self, row: Mapping[str, Any]) -> bool:
        return self.units.get(tuple(row[name] for name in self.dims)) == 1


def public(folder: Path) -> list[WithLevels]:
    """The deliveries of twelve regions: activity × size class of turnover, from τ-ARGUS's demonstration file.
    Flags A and M are primary. The level of both sides: a tenth of the value with one or two units, else what
    p% asks with p = 10, from shares in whole per cent, on the safe side of their rounding.
    """
    lists = {
        name: pd.read_csv(folder / "codelists" / file, dtype=str, keep_default_na=False)
        for name, file in (("ACTIVITY", "activity.csv"), ("SIZECLASS", "sizeclass.csv"))
    }
    trees = {
        name: {code: above or None for code, above in zip(each["code"], each["parent"], strict=True)}
        for name, each in lists.items()
    }
    roots = {
        name: next(code for code, above in tree.items() if above is None) for name, tree in trees.items()
    }
    found = []
    for path in sorted((folder / "deliveries").glob("*.csv")):
        text = path.read_text(encoding="utf-8-sig")
        decimal = {"sep": ";", "decimal": ","} if ";" in text.partition("\n")[0] else {}
        rows = pd.read_csv(io.StringIO(text), dtype=dict.fromkeys(roots, str), **decimal)
        value, units = rows["OBS_VALUE"].to_numpy(float), rows["UNITS"].to_numpy()
        first, second = (rows["SHARE_1"] + 0.5) / 100 * value, (rows["SHARE_2"] - 0.5) / 100 * value
        level = np.where(
            units <= FEW,
            np.maximum(P_PERCENT * value, 1.0),
            np.maximum(P_PERCENT * first - (value - first - second), 0.001),
        )
        secret = rows["CONF_STATUS"].isin(["A", "M"]).to_numpy()
        cells = rows[list(roots)].assign(
            V=value, SECRET=secret.astype(int), LEVEL=np.where(secret, level, 0.0)
        )
        keys = rows[list(roots)].itertuples(index=False, name=None)
        found.append(WithLevels(path.stem, cells, roots, trees, dict(zip(keys, units.tolist(), strict=True))))
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
