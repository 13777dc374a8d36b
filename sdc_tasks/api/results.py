"""What the functions of the interface return: frozen objects, the same to look at, to ask and to draw.

`.table` may hold true values: it is confidential where the class says so. What a notebook shows of a
result by itself (`_repr_html_`), its `repr` and its pictures never show the value of a hidden cell, nor
what gives it away: a notebook is sent around with its outputs. So they do not tell the loss either,
where it is a sum over hidden values: such a sum is one more equation for an attacker. `.public` is the
table as the public may see it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.keys import codes_in, printed_key
from sdc_tasks.model.time.moment import Moment

if TYPE_CHECKING:
    import pandas as pd

    from sdc_tasks.methods.rounding.small_count import Dummy
    from sdc_tasks.report.cta_figures import ImageFormat

HTML_ROWS = 12  # of a table in a notebook
Key = tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A picture that a notebook shows by itself. `draw` gives its bytes as svg or png;
    equal results give equal bytes.
    """

    draw: Callable[[ImageFormat], bytes] = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.draw("svg").decode()

    def save(self, path: str | Path) -> Path:
        """Writes the picture. Raises InvalidInput for a name that ends neither in .svg nor in .png."""
        kinds: dict[str, ImageFormat] = {".svg": "svg", ".png": "png"}
        place = Path(path)
        if place.suffix.lower() not in kinds:
            raise InvalidInput(f"{place}: not a picture that can be drawn. Remedy: name it .svg or .png")
        place.write_bytes(self.draw(kinds[place.suffix.lower()]))
        return place


@dataclass(frozen=True)
class Explanation:
    """Why a cell is what it is: keys and rules, no value. `lines` are sentences."""

    cell: str
    status: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.cell}: {self.status}", *(f"  {line}" for line in self.lines)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        told = "".join(f"<li>{escape(line)}</li>" for line in self.lines)
        return f"<p><b>{escape(self.cell)}</b>: {escape(self.status)}</p><ul>{told}</ul>"


class Result(ABC):
    """The part that all results share."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What this is, in a line."""

    @property
    @abstractmethod
    def table(self) -> pd.DataFrame:
        """The whole table, a row for each cell; see the class for whether it is confidential."""

    @property
    @abstractmethod
    def public(self) -> pd.DataFrame:
        """The table as the public may see it: without the value of any hidden cell; where that
        is not safe, without any value.
        """

    @property
    @abstractmethod
    def loss(self) -> float | None:
        """What the protection costs, in the measure of the method; None where there is no result."""

    @property
    @abstractmethod
    def bound(self) -> float | None:
        """A proven lower bound of the loss; None where the method proves none."""

    @abstractmethod
    def intervals(self) -> pd.DataFrame:
        """The interval of each cell that is not told exactly: see the class for whose it is."""

    @abstractmethod
    def explain(self, cell: str | Sequence[str]) -> Explanation:
        """Why a cell is what it is. `cell`: its codes, as ("AT", "C10"), or its printed key, "AT.C10". Raises
        InvalidInput for one that is none.
        """

    @abstractmethod
    def plot(self) -> Picture:
        """A picture of the result, without the value of any cell."""

    @property
    def figures(self) -> Mapping[str, str]:
        """The result in numbers, as a notebook shows it: what the public may know."""
        return {}

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {text}" for name, text in self.figures.items())
        return f"<{self.title}; {figures}>" if figures else f"<{self.title}>"

    def _repr_html_(self) -> str:
        told = " · ".join(f"{escape(name)} {escape(text)}" for name, text in self.figures.items())
        shown = self.public
        more = (
            f"<p>… and {len(shown) - HTML_ROWS} more rows: <code>.table</code></p>"
            if len(shown) > HTML_ROWS
            else ""
        )
        html = shown.head(HTML_ROWS).to_html(index=False, na_rep="", border=0, escape=True)
        return f"<p><b>{escape(self.title)}</b></p><p>{told}</p>{html}{more}"


def made_consistent(totals: int) -> dict[str, str]:
    """A figure: so many totals were off within the tolerance, and replaced by sums of inner cells."""
    return {"totals made consistent": f"{totals:,}"} if totals else {}


def relative(history: Sequence[Moment], loss: float) -> list[Moment]:
    """The history of a search with the loss at its end as the unit."""
    unit = loss if loss > 0 else 1.0
    return [
        replace(
            each, objective=None if each.objective is None else each.objective / unit, bound=each.bound / unit
        )
        for each in history
    ]


@dataclass(frozen=True)
class Cells:
    """The keys of the n cells of a table, and which of them a caller means."""

    dimensions: tuple[str, ...]
    keys: tuple[Key, ...] = field(repr=False)

    @classmethod
    def published(cls, dummy: Dummy) -> Cells:
        """The published cells of counts or sums that somebody is in."""
        labels = dummy.labels(np.arange(dummy.published))
        return cls(dummy.cells.dimensions, tuple(zip(*(each.tolist() for each in labels), strict=True)))

    @cached_property
    def _place(self) -> Mapping[Key, int]:
        return {key: i for i, key in enumerate(self.keys)}

    def name(self, cell: int) -> str:
        return printed_key(self.keys[cell])

    def find(self, cell: str | Sequence[str]) -> int:
        """The position of a cell. Raises InvalidInput, with the order of the codes, where there is none."""
        try:
            key = codes_in(cell) if isinstance(cell, str) else tuple(map(str, cell))
        except ValueError as error:
            raise InvalidInput(f"{cell}: {error}. Remedy: give its codes one by one, in a tuple") from error
        if isinstance(cell, str) and len(self.dimensions) == 1:
            key = key if key in self._place else (cell,)
        if key not in self._place:
            order = printed_key(self.dimensions)
            raise InvalidInput(
                f"{printed_key(key)}: no cell of the table. Remedy: give its codes in the order {order}, in "
                f"a tuple"
            )
        return self._place[key]

    def frame(self, **columns: Any) -> pd.DataFrame:
        """The keys, and columns beside them."""
        import pandas as pd

        return pd.DataFrame(list(self.keys), columns=list(self.dimensions)).assign(**columns)
