"""A table that belongs to no domain, as a flat message: codes, values, and which of them are hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from sdc_tasks.report.published.edition import header_of, urn_of
from sdc_tasks.report.table_csv import OBSERVATION

_VALUE, _STATUSES = OBSERVATION[1], ("OBS_STATUS", "CONF_STATUS")
_OPEN, _HIDDEN = ("A", "F"), ("Q", "C")  # C does not tell a primary cell from a secondary one


@dataclass(frozen=True)
class TableAlone:
    """`flow`: its data flow, AGENCY:ID(VERSION). `keys` (n): the codes of each cell; `values` (n): its value
    as text, None where it is hidden. `prepared` is aware.
    """

    flow: str
    dimensions: tuple[str, ...]
    keys: Sequence[tuple[str, ...]] = field(repr=False)
    values: Sequence[str | None] = field(repr=False)
    prepared: datetime

    @property
    def name(self) -> str:
        return self.flow.partition(":")[2].partition("(")[0]

    @property
    def instant(self) -> str:
        """When it was written, in whole seconds, UTC."""
        return f"{self.prepared.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

    @property
    def agency(self) -> str:
        return self.flow.partition(":")[0]

    @property
    def urn(self) -> str:
        return urn_of(self.flow)

    @property
    def attributes(self) -> tuple[str, ...]:
        return _STATUSES

    @property
    def whole(self) -> tuple[str, ...]:
        return ()

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    @cached_property
    def observations(self) -> Sequence[Mapping[str, str]]:
        """Of each cell: column → text, without what is empty."""
        return [
            {
                **dict(zip(self.dimensions, key, strict=True)),
                **({} if value is None else {_VALUE: value}),
                **dict(zip(_STATUSES, _HIDDEN if value is None else _OPEN, strict=True)),
            }
            for key, value in zip(self.keys, self.values, strict=True)
        ]

    def codes(self, column: str) -> tuple[str, ...]:
        """The codes of a column, in the order in which they come."""
        return tuple(dict.fromkeys(each[column] for each in self.observations if column in each))

    def header(self, schema: str) -> dict[str, object]:
        """The header of a message of SDMX-JSON that this schema describes."""
        return header_of(self, schema)
