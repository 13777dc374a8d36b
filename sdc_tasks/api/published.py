"""A published table in any format that a delivery may have, as rows for the reader of `table.csv`.

The readers are those of deliveries. What they only warn of in a delivery, such as a column without a concept,
is refused here: an audit that does not see a column cannot judge what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.content import Content
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.header import OF_FORMAT
from sdc_tasks.intake.formats.packed import unpack
from sdc_tasks.intake.formats.records import Concepts, Records
from sdc_tasks.intake.formats.registry import DELIMITED, discover
from sdc_tasks.intake.sheet import SPARE_BYTES, SPARE_LINES
from sdc_tasks.model.table import CellSpace
from sdc_tasks.report.table_csv import (
    BESIDE,
    BOUNDS,
    OBSERVATION,
    VISIBLE_SHARE,
    Told,
    dimensions_of,
    text_of,
    told_by_csv,
)

_JUDGES = "An audit judges every column, or refuses the table"
_NUMBERS = ("OBS_VALUE", "ROUNDING_BASE", VISIBLE_SHARE, *BOUNDS)
_RECORDS_EACH, _BYTES_EACH = 4, 4096  # of a cell: more than any writer needs
_ITSELF = frozenset({"", ".csv", ".txt"})  # these are read as text


def told_by(path: Path, domain: Domain, space: CellSpace) -> Told:
    """The rows of the table in this file, whose name says its format. Raises InvalidInput
    naming file, place, rule and remedy.
    """
    if path.suffix.lower() in _ITSELF:
        return told_by_csv(path)
    most = SPARE_BYTES + _BYTES_EACH * space.size
    found = Findings()
    content = unpack(Content.of(_bytes_of(path, most, space)), path.name, lambda _: most, found)
    records = None
    if content is not None:
        kind = discover(content[1])
        if kind is None:
            raise InvalidInput(
                f"{path}: no format has this suffix. Remedy: a table as .csv (SDMX-CSV), .xml (SDMX-ML), "
                f".json (SDMX-JSON) or .parquet"
            )
        if kind is DELIMITED and not found.refused:
            # as the file itself: a delivery may have labels and parts of keys
            return told_by_csv(path, text_of(path, content[0].whole()))
        records = kind.read(content[0], _concepts(domain), found, SPARE_LINES + _RECORDS_EACH * space.size)
    _refuse_found(path, found)
    if records is None:
        raise InvalidInput(f"{path}: cannot be read. Remedy: give the table as SDMX-CSV")
    # the header begins with one of them
    names = sorted(records.columns, key=lambda name: name not in ("STRUCTURE", "DATAFLOW"))
    return Told(names, _rows(records, names))


def _bytes_of(path: Path, most: int, space: CellSpace) -> bytes:
    """The file. Raises InvalidInput for one that cannot be read, or has more than `most` bytes."""
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror})") from error
    if len(data) > most:
        raise InvalidInput(
            f"{path}: more than {most} bytes, which no table of {space.size} cells needs. Remedy: name the "
            f"published table"
        )
    return data


def _refuse_found(path: Path, found: Findings) -> None:
    """Raises InvalidInput for the first finding, and for what no audit would judge."""
    for each in found.all():
        place = "" if each.line is None else f", line {each.line}"
        raise InvalidInput(f"{path}{place}: {each.message}. {_JUDGES}")
    if found.has_unread:
        raise InvalidInput(
            f"{path}: labels in columns of their own, or keys of series. Remedy: leave them out. {_JUDGES}"
        )


def _rows(records: Records, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    columns = [
        (records.texts(name), records.which(name).tolist(), records.numbers.get(name)) for name in names
    ]
    for at, line in enumerate(records.line.tolist()):
        yield (
            line,
            [
                repr(float(numbers[at]))
                if numbers is not None and numbers[at] == numbers[at]
                else texts[which[at]]
                for texts, which, numbers in columns
            ],
        )


def _concepts(domain: Domain) -> Concepts:
    """The columns of a published table: its key and value, and all that the reader of `table.csv` knows."""
    attributes = domain.attributes
    stated = (attributes.unit, attributes.unit_multiplier, attributes.obs_status, attributes.conf_status)
    required = (*dimensions_of(domain), "TIME_PERIOD", "OBS_VALUE")
    known = dict.fromkeys((*BESIDE, *OBSERVATION, VISIBLE_SHARE, *BOUNDS, *(name for name in stated if name)))
    return Concepts(
        required=required,
        optional=tuple(name for name in known if name not in {*required, *OF_FORMAT}),
        dimensions=required[:-1],
        numbers=_NUMBERS,
        obs_status=attributes.obs_status,
        conf_status=attributes.conf_status,
    )
