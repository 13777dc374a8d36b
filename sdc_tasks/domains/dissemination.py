"""What a domain file says of the files that the world gets of a release, beside `table.csv`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Literal

from pydantic import Field, field_validator

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.strict import Strict
from sdc_tasks.tested import require_tested

TableFormat = Literal["sdmx-ml", "sdmx-json", "parquet"]
LAW = (
    "Regulation (EC) No 223/2009 on European statistics, chapter V: confidential data are used for "
    "statistics only, "
    "and nobody may be identified by a published figure, directly or indirectly."
)
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_STRUCTURE = re.compile(r"[A-Za-z][\w.-]*:[A-Za-z0-9_@$-]+\(\d+(\.\d+){1,2}\)")


class DisseminationOptions(Strict):
    """The files of a release that the world may see. `table.csv`, a page on how the table is protected and
    the descriptor of a Data Package are always among them. These options change no table: a release that is
    out may be written again in more formats.
    """

    formats: tuple[TableFormat, ...] = Field(
        default=("sdmx-ml", "sdmx-json"),
        description="of the table, beside SDMX-CSV; parquet needs sdc-release[parquet]",
    )
    policy: str = Field(
        default=LAW,
        min_length=1,
        description="why there is confidentiality: the law, in the reference metadata (SIMS 7.1)",
    )
    metadataflow: str = Field(
        default="ESTAT:ESMS(2.0)",
        pattern=r"^[A-Za-z][\w.-]*:[A-Za-z0-9_@$-]+\(\d+(\.\d+){0,2}\)$",
        description="SDMX metadata flow of the reference metadata, AGENCY:ID(VERSION)",
    )

    @field_validator("formats")
    @classmethod
    def _each_once(cls, formats: tuple[TableFormat, ...]) -> tuple[TableFormat, ...]:
        if len(set(formats)) < len(formats):
            raise ValueError("formats: each at most once")
        return formats

    def refuse_names(self, domain: str, structure: str, names: Iterable[str]) -> None:
        """Raises InvalidInput where SDMX-ML is asked for and a name cannot stand in it."""
        if "sdmx-ml" not in self.formats:
            return
        remedy = "Remedy: correct it, or leave sdmx-ml out of dissemination.formats"
        if not _STRUCTURE.fullmatch(structure):
            raise InvalidInput(
                f"{domain}: structure_id {structure!r} is not AGENCY:ID(VERSION), such as ESTAT:SBS(1.0). "
                f"{remedy}"
            )
        if wrong := next((name for name in names if not _ID.fullmatch(name)), None):
            raise InvalidInput(
                f"{domain}: {wrong!r} is no id of SDMX: letters, digits, _ and -, a letter first. {remedy}"
            )

    def refuse_unwritable(self, domain: str) -> None:
        """Raises InvalidInput, before any work, where a format is asked for that cannot be written here."""
        if "parquet" in self.formats and find_spec("pyarrow") is None:
            raise InvalidInput(
                f"{domain}: dissemination.formats asks for parquet, which is not written here. "
                "Remedy: have pip install sdc-release[parquet] run, or leave parquet out"
            )
        if "parquet" in self.formats:
            require_tested("parquet")
