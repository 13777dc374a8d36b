"""A protected table as the world may have it: every cell with its codes, the values of open ones, and nothing
that tells a primary cell from a secondary one. The file may leave the house.

CSV and Parquet have the columns of the table; SDMX-ML and SDMX-JSON those of SDMX, under the data flow that
their receiver knows. Equal tables give equal bytes: a message of SDMX must say when it was prepared, and says
what SOURCE_DATE_EPOCH says (https://reproducible-builds.org), else the year 1970.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.counts import table_bytes
from sdc_tasks.intake.tables.jj import printed
from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.tested import require_tested

STATUS, HIDDEN = "STATUS", "c"
MESSAGES = (".xml", ".json")  # written under a data flow
COLUMNS = (".csv", ".gz", ".parquet", ".pq")
_FLOW = re.compile(r"[A-Za-z][\w.-]*:[A-Za-z0-9_@$-]+\(\d+(\.\d+){0,2}\)")
_NAME = re.compile(r"[A-Za-z_][\w-]*")  # of a dimension in SDMX
EPOCH = "SOURCE_DATE_EPOCH"  # seconds since 1970


def refuse_published(place: Path | None, flow: str | None) -> None:
    """Raises InvalidInput, before the work starts, for a file of no known format, and for a message without
    the data flow that it is written under.
    """
    kind = "" if place is None else place.suffix.lower()
    if place is not None and kind not in (*COLUMNS, *MESSAGES):
        raise InvalidInput(
            f"{place}: no format has this suffix. Remedy: .csv, .csv.gz or .parquet; or .xml (SDMX-ML) or "
            f".json (SDMX-JSON) under a data flow"
        )
    if kind in MESSAGES and (flow is None or _FLOW.fullmatch(flow) is None):
        raise InvalidInput(
            f"{place}: a message of SDMX needs the data flow of the table. Remedy: name it as flow, "
            f"AGENCY:ID(VERSION), such as ESTAT:SBS(1.0)"
        )
    if flow is not None and kind not in MESSAGES:
        raise InvalidInput(
            "a data flow is for SDMX-ML and SDMX-JSON. Remedy: leave it out, or name a file .xml or .json"
        )


@dataclass(frozen=True)
class MaskedTable:
    """`keys` (n): the codes of each cell; `a` (n): the values; those of `hidden` (n) are not written."""

    dimensions: tuple[str, ...]
    value: str
    keys: Sequence[tuple[str, ...]] = field(repr=False)
    a: Floats = field(repr=False)
    hidden: Bools = field(repr=False)

    def content(self, place: Path, flow: str | None = None) -> bytes:
        """The file, in the format that its name says. Raises InvalidInput as `refuse_published`, and where a
        message cannot have a dimension of this name.
        """
        refuse_published(place, flow)
        if place.suffix.lower() in MESSAGES:
            assert flow is not None
            return self._message(place, flow)
        codes = {
            name: np.array(column, dtype=object)
            for name, column in zip(self.dimensions, zip(*self.keys, strict=True), strict=True)
        }
        states = np.where(self.hidden, HIDDEN, "").astype(object)
        return table_bytes(place, codes | {self.value: self._values(place), STATUS: states})

    def _values(self, place: Path) -> np.ndarray:
        """(n): texts for CSV, numbers for Parquet; empty where hidden."""
        if place.suffix.lower() in (".csv", ".gz"):
            return np.array(["" if text is None else text for text in self._texts()], dtype=object)
        found = self.a.astype(object)
        found[self.hidden] = None
        return found

    def _texts(self) -> list[str | None]:
        return [
            None if hidden else printed(number + 0.0)
            for number, hidden in zip(self.a.tolist(), self.hidden.tolist(), strict=True)
        ]

    def _message(self, place: Path, flow: str) -> bytes:
        require_tested("release")
        from sdc_tasks.report.published.alone import TableAlone
        from sdc_tasks.report.published.sdmx_json import sdmx_json
        from sdc_tasks.report.published.sdmx_ml import sdmx_ml

        if odd := [name for name in self.dimensions if _NAME.fullmatch(name) is None]:
            raise InvalidInput(
                f"{place}: {odd[0]!a} is no name of a dimension in SDMX. Remedy: letters, digits, _ and -, "
                f"or write CSV"
            )
        table = TableAlone(flow, self.dimensions, self.keys, self._texts(), _prepared())
        return sdmx_ml(table) if place.suffix.lower() == ".xml" else sdmx_json(table)


def _prepared() -> datetime:
    told = os.environ.get(EPOCH, "0")
    if re.fullmatch(r"[0-9]{1,11}", told) is None:
        raise InvalidInput(
            f"{EPOCH} is {told!a}. Remedy: seconds since 1970, such as 1767225600, or unset it"
        )
    return datetime.fromtimestamp(int(told), UTC)
