"""What the files of a published table are made of: public facts alone. Whoever has an edition
cannot tell more than the table does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Protocol

from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import CellSpace
from sdc_tasks.report.table_csv import DECIMALS, ENVELOPE, OBSERVATION, table_rows

NUMBERS = ("OBS_VALUE", "ROUNDING_BASE", "VISIBLE_SHARE")  # columns of decimal numbers


class Flat(Protocol):
    """What a flat message of a table is written from: an `Edition`, or a table that belongs to no domain."""

    @property
    def name(self) -> str: ...
    @property
    def instant(self) -> str: ...
    @property
    def agency(self) -> str: ...
    @property
    def urn(self) -> str: ...
    @property
    def dimensions(self) -> tuple[str, ...]: ...
    @property
    def attributes(self) -> tuple[str, ...]: ...
    @property
    def whole(self) -> tuple[str, ...]: ...
    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]: ...
    @property
    def observations(self) -> Sequence[Mapping[str, str]]: ...
    def codes(self, column: str) -> tuple[str, ...]: ...
    def header(self, schema: str) -> dict[str, object]: ...


def header_of(table: Flat, schema: str) -> dict[str, object]:
    """The header of a message of SDMX-JSON that this schema describes."""
    return {
        "schema": schema,
        "id": table.name,
        "prepared": table.instant,
        "test": False,
        "sender": {"id": table.agency},
    }


def urn_of(flow: str) -> str:
    """The data flow AGENCY:ID(VERSION) as a URN."""
    return f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={flow}"


@dataclass(frozen=True)
class Edition:
    """A version of a published table. `claim`: what its certificate lets the world read of the attack, in
    sentences. `released_at` is aware: every file that must say when it was made says this instant, so
    that a release that is written again has the same bytes. `secret` is the fingerprint of the secret by
    which it was drawn, where it was.
    """

    domain: Domain
    space: CellSpace
    period: str
    publication: Publication = field(repr=False)
    version: int
    released_at: datetime
    claim: tuple[str, ...]
    secret: str = ""

    @property
    def name(self) -> str:
        """Such as sbs-2024-v1."""
        return f"{self.domain.id}-{self.period}-v{self.version}"

    @property
    def instant(self) -> str:
        """When the version was released, in whole seconds, UTC."""
        return f"{self.released_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

    @property
    def agency(self) -> str:
        """Who maintains the structure of the table."""
        return self.domain.structure_id.partition(":")[0]

    @property
    def urn(self) -> str:
        """The data flow of the table."""
        return urn_of(self.domain.structure_id)

    @cached_property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The header and the rows of `table.csv`. Raises ValueError for a publication
        with cells that are not aggregates.
        """
        return tuple(map(tuple, table_rows(self.domain, self.space, self.period, self.publication)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `table.csv`."""
        return self.lines[0]

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The columns that identify a cell."""
        return self.columns[len(ENVELOPE) : self.columns.index(OBSERVATION[1])]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns after the value."""
        return self.columns[self.columns.index(OBSERVATION[1]) + 1 :]

    @property
    def whole(self) -> tuple[str, ...]:
        """The columns of whole numbers."""
        return tuple(name for name in (DECIMALS, self.domain.attributes.unit_multiplier) if name is not None)

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """Column → code → label."""
        return self.domain.labels

    def header(self, schema: str) -> dict[str, object]:
        """The header of a message of SDMX-JSON that this schema describes."""
        return header_of(self, schema)

    @cached_property
    def observations(self) -> Sequence[dict[str, str]]:
        """Of each cell: column → text, without the envelope, and without what is empty."""
        at = range(len(ENVELOPE), len(self.columns))
        return [{self.columns[i]: row[i] for i in at if row[i]} for row in self.lines[1:]]

    def codes(self, column: str) -> tuple[str, ...]:
        """The codes of a column, in the order in which they come."""
        at = self.columns.index(column)
        return tuple(dict.fromkeys(row[at] for row in self.lines[1:] if row[at]))
