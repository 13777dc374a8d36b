"""Code lists: CSV files `code,parent,label`, one for the areas and one for each hierarchy."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from sdc_tasks.domains.registry.folder import SUFFIXES, Registry
from sdc_tasks.domains.validity import Span
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.keys import refuse_twins
from sdc_tasks.model.strict import Strict
from sdc_tasks.untrusted import FORMULA, formula, settings_text

CODELIST_BYTES = 1 << 24  # of a hundred thousand codes and more


class CodelistSource(Strict):
    """A dimension: its id on the wire, its code list, and what reports call it, such as size class."""

    dimension: str = Field(description="its id on the wire, a column of the deliveries")
    codelist: str | None = Field(
        default=None,
        description="CSV file with the columns code, parent and perhaps label, from, until, unit; or "
        "a structure message (SDMX-ML, "
        "SDMX-JSON) with code lists, or a folder of them; relative to the domain file. Without it, the list "
        "that `structures` gives",
    )
    codelist_id: str | None = Field(
        default=None,
        description="of several code lists, the identifier of this one: CL_ACTIVITY, or NSI:CL_ACTIVITY(1.0)",
    )
    label: str | None = Field(default=None, description="what reports call it; without it, the id")

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.label or self.dimension


class Code(NamedTuple):
    """A row of a code list. `since until` bound the periods of an area, as those of a composition; `unit
    unit_multiplier` are what indicators count here whose unit is that of the code.
    """

    code: str
    parent: str
    label: str
    since: str = ""
    until: str = ""
    unit: str = ""
    unit_multiplier: int = 0

    @property
    def span(self) -> Span:
        return Span.of(self.since, self.until)


def read_codelist(path: Path, dimension: str, identifier: str | None = None) -> list[Code]:
    """The rows in file order; of a structure message, those of the code list of this identifier.
    Raises InvalidInput naming the file.
    """
    if of_registry(path):
        return printable_codes(path, (Code(*row) for row in Registry(path).codelist(identifier)))
    text = settings_text(path, CODELIST_BYTES, f"code list of {dimension}")
    if identifier is not None:
        raise InvalidInput(
            f"{path}: a CSV file holds one code list. Remedy: leave out codelist_id {identifier}"
        )
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restval="")
        if not {"code", "parent"} <= set(reader.fieldnames or ()):
            raise InvalidInput(f"{path}: a code list needs the columns code,parent[,label|name]")
        rows = [_code(row) for row in reader]
        _ = [row.span for row in rows]
    except (ValueError, csv.Error) as error:
        raise InvalidInput(f"{path}: {error}") from error
    return printable_codes(path, rows)


def of_registry(path: Path) -> bool:
    """Whether a code list there is one of structure messages."""
    return path.suffix.lower() in SUFFIXES or path.is_dir()


def printable_codes(path: Path | str, codes: Iterable[Code]) -> list[Code]:
    """The rows. Raises InvalidInput, naming the path, for none, for what cannot stand in a table or on a
    page, and for two codes that look alike.
    """
    rows = list(codes)
    for row in rows:
        refuse_unprintable(str(path), row.code, row.label, row.unit)
    if not rows:
        raise InvalidInput(f"{path}: the code list is empty")
    refuse_twins(str(path), (row.code for row in rows))
    return rows


def _code(row: dict[str, str]) -> Code:
    since, until, unit, power = (row.get(name) or "" for name in ("from", "until", "unit", "unit_multiplier"))
    return Code(
        row["code"],
        row["parent"],
        row.get("label") or row.get("name") or row["code"],
        since,
        until,
        unit,
        int(power or 0),
    )


def refuse_unprintable(where: str, *texts: str) -> None:
    """Codes and labels stand in tables that people open with a spreadsheet, in messages and on pages."""
    for text in texts:
        if formula(text):
            raise InvalidInput(f"{where}: {text!r} {FORMULA}")
        if not text.isprintable():
            raise InvalidInput(
                f"{where}: {text!r} holds what cannot be printed. Remedy: letters, digits and signs only"
            )


def refuse_repeated(what: str, codes: Iterable[str]) -> None:
    """Refuses a code that stands twice, and two that a reader takes for one another."""
    codes = list(codes)
    repeated = sorted(code for code, count in Counter(codes).items() if count > 1)
    if repeated:
        raise InvalidInput(f"{what}: {', '.join(repeated)} stands more than once")
    refuse_twins(what, codes)
