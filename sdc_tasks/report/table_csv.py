"""The disseminated table as a file: SDMX-CSV 2.0, one row per aggregate cell, in cell order.

An exact cell has OBS_STATUS A and no ROUNDING_BASE. A rounded cell is an estimate (E) with its base: the
total is in [OBS_VALUE − base/2, OBS_VALUE + base/2]. A withheld cell has no OBS_VALUE, OBS_STATUS Q
(suppressed) and CONF_STATUS S (secondary, set by the receiver). UNIT_MEASURE and UNIT_MULT are the unit of
OBS_VALUE and ROUNDING_BASE, DECIMALS is their number of decimals. The same publication gives the same bytes.

Where the domain sets sums of visible countries (`bases.visible_share`), there is one more column. A cell with
a VISIBLE_SHARE s is the sum of the members whose value is public, not the total (OBS_STATUS D, definition
differs). It is at least the share s of the total: the total is in [OBS_VALUE, OBS_VALUE / s].

`read_published` reads such a table, also one made elsewhere, for an audit; `read_table` is for a table of
exactly the cells of the domain. They take the rows from this file, or from another reader
(`api/published.py`). A table made elsewhere may give LOWER and UPPER of a cell, the interval of its total. A
value that is not a multiple of its ROUNDING_BASE counts as exact, unless these columns, or a domain whose
values are additive or rounded as whole tables, explain it. Messages name file, line, key and remedy. They
repeat no OBS_VALUE, because such a table may hold confidential values by mistake.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.results import STATUS, Publication, State
from sdc_tasks.model.table import CellSpace, Floats, Ints
from sdc_tasks.model.tolerances import INTEGRALITY, ROUNDING, SAME

ENVELOPE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
OBSERVATION = ("TIME_PERIOD", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "ROUNDING_BASE")
STATUSES = ("OBS_STATUS", "CONF_STATUS")
DECIMALS = "DECIMALS"
VISIBLE_SHARE = "VISIBLE_SHARE"
BOUNDS = ("LOWER", "UPPER")
BESIDE = (*ENVELOPE, "DATAFLOW", "FREQ", "DECIMALS", "OBS_FLAG", "LAST UPDATE")  # say nothing of a cell
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
PUBLISHING_ACTIONS = {"", "I", "A", "R", "M"}  # information, append, replace, merge: each of them publishes


def table_text(domain: Domain, space: CellSpace, period: str, publication: Publication) -> str:
    """The table as SDMX-CSV. Raises ValueError for a publication with cells that are not aggregates."""
    return csv_text(table_rows(domain, space, period, publication))


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows of texts as `table.csv` has them."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def table_rows(
    domain: Domain, space: CellSpace, period: str, publication: Publication
) -> Iterator[list[str]]:
    """The table as texts, in every format the same: the header, and a row for each cell.
    Raises ValueError as `table_text`.
    """
    if (publication.cells < space.first_aggregate).any():
        raise ValueError("a disseminated table holds aggregate cells only")
    asked = domain.bases.visible_share is not None or bool(publication.visible.any())
    indicators = {indicator.code: indicator for indicator in domain.indicators}
    columns = [*OBSERVATION, *_unit(domain, 0, ""), *([VISIBLE_SHARE] if asked else [])]
    yield [*ENVELOPE, "FREQ", *dimensions_of(domain), *columns]
    told = (
        array.tolist()
        for array in (publication.cells, publication.value, publication.base, publication.covers)
    )
    for cell, value, base, covers in zip(*told, strict=True):
        key = _key(space, cell)
        observation = _observation(value, base, covers, indicators[key[1]].decimals)
        told_of = [
            *observation,
            *_unit(domain, cell % space.national_size, observation[0]).values(),
            *([printed(covers, 0) if covers else ""] if asked else []),
        ]
        yield ["dataflow", domain.structure_id, "I", domain.frequency, *key, period, *told_of]


def printed(value: float, decimals: int, noise: float = 0.0) -> str:
    """The number with exactly `decimals` decimals and no exponent; with more decimals where it
    would otherwise be another number.

    `noise` is the largest error that adding binary fractions may have left in the value.
    """
    near = round(value, decimals) + 0.0  # −0 is printed as 0
    if abs(near - value) <= noise + ROUNDING * abs(value):
        return f"{near:.{decimals}f}"
    return format(Decimal(repr(value)).normalize(), "f")


@dataclass(frozen=True)
class Told:
    """A table as texts, however it was read: its columns, and each row with the line on which it stands."""

    header: Sequence[str]
    rows: Iterable[tuple[int, Sequence[str]]] = field(repr=False)


@dataclass(frozen=True)
class ReadTable:
    """The publication of a table, and the parts of the table that cannot be judged.

    `absent`: cells of the domain without a row, which count as withheld. `unknown`: messages, by line, for
    rows whose cell is not in the domain. `off_base`: cells that count as exact, because their value is not a
    multiple of their base. `contradicted`: messages, by line, for rows whose OBS_STATUS or CONF_STATUS
    contradicts their value and base.
    """

    publication: Publication = field(repr=False)
    absent: Ints = field(repr=False)
    unknown: tuple[str, ...]
    off_base: Ints = field(repr=False)
    contradicted: tuple[str, ...]


def read_table(
    path: Path, domain: Domain, space: CellSpace, period: str, told: Told | None = None
) -> Publication:
    """As `read_published`. Raises InvalidInput also for a row whose cell is not in the domain, and for a
    status that contradicts value and base.
    """
    return _clear(path, read_published(path, domain, space, period, told)).publication


def read_own(
    path: Path, domain: Domain, space: CellSpace, period: str, told: Told | None = None
) -> Publication:
    """A table as `table_text` tells it: every cell has a row, and every value is a multiple of its base.
    Raises InvalidInput as `read_table` does, and for a missing cell or another base.
    """
    found = _clear(path, read_published(path, domain, space, period, told))
    for cells, wrong in (
        (
            found.absent,
            "has no row; a withheld cell has a row without an OBS_VALUE. Remedy: use the published table",
        ),
        (found.off_base, "is not a multiple of its ROUNDING_BASE. Remedy: use the published table"),
    ):
        if len(cells):
            raise InvalidInput(f"{path}: {space.key(int(cells[0]))} {wrong} ({len(cells)} cells in all)")
    return found.publication


def _clear(path: Path, found: ReadTable) -> ReadTable:
    """The table. Raises InvalidInput if it has unknown cells or contradicts itself."""
    for wrong in (*found.unknown, *found.contradicted):
        raise InvalidInput(f"{path}, {wrong}")
    return found


def read_published(
    path: Path, domain: Domain, space: CellSpace, period: str, told: Told | None = None
) -> ReadTable:
    """Reads a published table: SDMX-CSV 1.0 or 2.0, or `told`, what another reader found; then `path` is what
    messages call it. ROUNDING_BASE, VISIBLE_SHARE, LOWER and UPPER are optional.

    Raises InvalidInput, with file, line, key and remedy, for anything that does not say clearly what is
    published.
    """
    first = space.first_aggregate
    cells = np.arange(first, space.own_size)
    values, bases, covers = np.full(len(cells), np.nan), np.full(len(cells), np.inf), np.zeros(len(cells))
    position = {_key(space, cell): i for i, cell in enumerate(cells.tolist())}
    explained = _explained(domain)
    seen: dict[int, int] = {}
    stated: dict[int, tuple[_Row, float]] = {}
    unknown: list[str] = []
    off_base: list[int] = []
    contradicted: list[str] = []
    for row in _rows(path, domain, told_by_csv(path) if told is None else told):
        try:
            i = _position(row, domain, space, period, position)
        except _UnknownCell as beside:
            unknown.append(f"line {row.line}: {beside}")
            continue
        key = space.key(first + i)
        if i in seen:
            raise row.error(f"{key} is already in line {seen[i]}; keep one row per cell")
        seen[i] = row.line
        cell = _cell(row, key, row.get(domain.indicator_dimension) in explained)
        values[i], bases[i], covers[i] = cell.value, cell.base, cell.covers
        contradicted += cell.contradicted
        if cell.stated:
            stated[i] = row, cell.stated
        if cell.off_base:
            off_base.append(first + i)
    if domain.bases.maximum_relative_base < 1:
        _refuse_beyond(values, space, stated, first)
    absent = np.setdiff1d(cells, [first + i for i in seen])
    decided = Publication(cells, values, bases, covers)
    return ReadTable(decided, absent, tuple(unknown), np.array(off_base, dtype=np.int64), tuple(contradicted))


def _explained(domain: Domain) -> set[str]:
    """The indicators whose values need be no multiples of their bases."""
    return {each.code for each in domain.indicators if domain.bases.additive or each.rounding is not None}


@dataclass(frozen=True)
class _Cell:
    """What a row says of its cell, as `Publication` holds it. `stated`: the base of which its value must be a
    multiple, 0 where there is none; `off_base`: it is not, and no interval explains it.
    """

    value: float
    base: float
    covers: float
    stated: float
    off_base: bool
    contradicted: tuple[str, ...]


def _cell(row: _Row, key: str, explained: bool) -> _Cell:
    value, base, covers = _decision(row, key)
    contradicted = tuple(
        f"line {row.line}: {name} of {key} is not {status}, but its value and base require it; correct it"
        for name, status in zip(STATUSES, _status(base, covers), strict=True)
        if row.get(name) not in {"", status}
    )
    bounds = _bounds(row, key)
    stated = base if 0 < base < np.inf and not explained else 0.0
    beside_base = stated > 0 and not _on_base(value, base)
    if beside_base:
        base = 0.0
    if bounds is not None:
        value, base = _within(row, key, value, base, bounds)
    return _Cell(value, base, covers, stated, beside_base and bounds is None, contradicted)


def _on_base(value: float, base: float) -> bool:
    return abs(value / base - round(value / base)) <= SAME * max(1.0, abs(value / base))


def _bounds(row: _Row, key: str) -> tuple[float, float] | None:
    """LOWER and UPPER of a row, None where it has neither."""
    told = [name for name in BOUNDS if row.get(name)]
    if not told:
        return None
    if len(told) == 1:
        raise row.error(f"{key} has only {told[0]}; give LOWER and UPPER, or neither")
    if row.get(VISIBLE_SHARE):
        raise row.error(f"{key} has a {VISIBLE_SHARE} and an interval; leave one empty")
    lower, upper = (_number(row, name, key) for name in BOUNDS)
    if lower > upper:
        raise row.error(f"LOWER of {key} is above UPPER; correct them")
    return lower, upper


def _within(
    row: _Row, key: str, value: float, base: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """(value, base) of the interval of a total: LOWER and UPPER, cut by the interval of the base where there
    is one.
    """
    lower, upper = bounds
    if not np.isnan(value) and not lower <= value <= upper:
        raise row.error(f"OBS_VALUE of {key} is not between LOWER and UPPER; correct one of them")
    if 0 < base < np.inf:
        lower, upper = max(lower, value - base / 2), min(upper, value + base / 2)
    return (lower + upper) / 2, upper - lower


def _refuse_beyond(
    values: Floats, space: CellSpace, stated: dict[int, tuple[_Row, float]], first: int
) -> None:
    """Refuses a base larger than its value, because it says nothing; for a value rounded to 0, a base
    larger than all of its indicator.
    """
    indicator = (np.arange(len(values)) % space.national_size) // (
        space.national_size // len(space.indicators)
    )
    size = np.abs(np.nan_to_num(values))
    for k, (row, base) in stated.items():
        if base > (size[k] if size[k] > 0 else size[indicator == indicator[k]].max()):
            key = space.key(first + k)
            raise row.error(
                f"ROUNDING_BASE of {key} is larger than its value; give the base of the rounding, or "
                f"withhold the cell"
            )


def dimensions_of(domain: Domain) -> list[str]:
    """The columns of codes that identify a cell."""
    return [
        domain.areas.dimension,
        domain.indicator_dimension,
        *(source.dimension for source in domain.hierarchies),
    ]


def _unit(domain: Domain, cell: int, value: str) -> dict[str, str]:
    """Unit column → its content for a cell of a national table and its printed value;
    only columns that the domain has.
    """
    unit, power = domain.units[cell]
    decimals = domain.indicators[cell // (domain.space.national_size // len(domain.indicators))].decimals
    named = {domain.attributes.unit: unit, domain.attributes.unit_multiplier: str(power)}
    return {column: text for column, text in named.items() if column is not None} | {
        DECIMALS: str(max(decimals, len(value.partition(".")[2])))
    }


def _key(space: CellSpace, cell: int) -> tuple[str, ...]:
    area, rest = divmod(cell, space.national_size)
    return (space.areas[area], *space.national_keys[rest])


def _observation(value: float, base: float, covers: float, decimals: int) -> tuple[str, str, str, str]:
    """OBS_VALUE, OBS_STATUS, CONF_STATUS, ROUNDING_BASE."""
    if base == 0 or covers:
        return printed(value, decimals, noise=INTEGRALITY * 10.0**-decimals), *_status(base, covers), ""
    if np.isinf(base):
        return "", *_status(base, covers), ""
    return printed(value, decimals), *_status(base, covers), printed(base, decimals)


def _status(base: float, covers: float) -> tuple[str, str]:
    """OBS_STATUS and CONF_STATUS of a cell."""
    if covers:
        return STATUS[State.VISIBLE]
    return STATUS[State.WITHHELD if np.isinf(base) else State.ROUNDED if base else State.EXACT]


@dataclass(frozen=True)
class _Row:
    path: Path
    line: int
    fields: dict[str, str]

    def get(self, column: str) -> str:
        return self.fields.get(column, "")

    def error(self, text: str) -> InvalidInput:
        return InvalidInput(f"{self.path}, line {self.line}: {text}")


class _UnknownCell(Exception):
    """The cell of a row is not in the domain."""


def _text(path: Path) -> str:
    try:
        return text_of(path, path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror})") from error


def text_of(path: Path, data: bytes) -> str:
    """The text in the bytes of a file that messages call `path`. Raises InvalidInput."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: byte {error.start} is not UTF-8; save the table as UTF-8") from error


def told_by_csv(path: Path, text: str | None = None) -> Told:
    """The rows of a CSV file, or of `text` that messages call `path`, each as wide as
    its header. Raises InvalidInput.
    """
    reader = csv.reader(io.StringIO(_text(path) if text is None else text, newline=""), strict=True)

    def rows() -> Iterator[tuple[int, Sequence[str]]]:
        try:
            for record in reader:
                if len(record) not in (0, len(header)):
                    raise InvalidInput(
                        f"{path}, line {reader.line_num}: {len(record)} fields, the header has "
                        f"{len(header)}; was the file cut?"
                    )
                if record:
                    yield reader.line_num, record
        except csv.Error as error:
            raise _not_csv(path, reader.line_num, error) from error

    try:
        header = next(reader, [])
    except csv.Error as error:
        raise _not_csv(path, reader.line_num, error) from error
    return Told(header, rows())


def _not_csv(path: Path, line: int, error: csv.Error) -> InvalidInput:
    return InvalidInput(f"{path}, line {line}: not CSV ({error}); was the file cut inside a quoted field?")


def _rows(path: Path, domain: Domain, told: Told) -> Iterator[_Row]:
    header = [name.strip() for name in told.header]
    _check_header(path, header, domain)
    for line, record in told.rows:
        yield _Row(path, line, dict(zip(header, (field.strip() for field in record), strict=True)))


def _check_header(path: Path, header: list[str], domain: Domain) -> None:
    _check_first_column(path, header)
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InvalidInput(f"{path}, line 1: repeated columns {', '.join(repeated)}; keep one of each")
    named = ["STRUCTURE_ID"] if header[0] == "STRUCTURE" else []
    missing = [
        name for name in [*named, *dimensions_of(domain), "TIME_PERIOD", "OBS_VALUE"] if name not in header
    ]
    if missing:
        raise InvalidInput(
            f"{path}, line 1: missing columns {', '.join(missing)}; add them under these names"
        )
    known = _known_columns(domain)
    if unknown := [name for name in header if name not in known]:
        raise InvalidInput(
            f"{path}, line 1: unknown columns {', '.join(map(_quoted, unknown))} cannot be judged; remove "
            f"them, or "
            f"name them {', '.join(('ROUNDING_BASE', VISIBLE_SHARE, *BOUNDS))} where that is their meaning"
        )


def _check_first_column(path: Path, header: list[str]) -> None:
    if not header:
        raise InvalidInput(f"{path}, line 1: the file is empty; an SDMX-CSV header is expected")
    if header[0] not in {"STRUCTURE", "DATAFLOW"}:
        hint = (
            "columns must be separated by commas"
            if len(header) == 1
            else "the first column must be STRUCTURE (2.0) or DATAFLOW (1.0)"
        )
        raise InvalidInput(f"{path}, line 1: not an SDMX-CSV header; {hint}")


def _known_columns(domain: Domain) -> set[str]:
    attributes = domain.attributes
    stated = (attributes.unit, attributes.unit_multiplier, attributes.obs_status, attributes.conf_status)
    return {*BESIDE, *OBSERVATION, VISIBLE_SHARE, *BOUNDS, *dimensions_of(domain), *filter(None, stated)}


def _position(
    row: _Row, domain: Domain, space: CellSpace, period: str, position: dict[tuple[str, ...], int]
) -> int:
    """The aggregate cell of the row."""
    _check_envelope(row, domain, period)
    key = tuple(row.get(name) for name in dimensions_of(domain))
    found = position.get(key)
    if found is not None:
        _check_unit(
            row,
            domain,
            found % space.national_size,
            printed_key(key[1:]) if domain.unit_by_code(key[1]) else key[1],
        )
        return found
    aggregates = tuple(aggregate.code for aggregate in space.aggregates)
    area = key[0]
    if area in domain.countries:
        raise row.error(
            f"{area} is a country; a published table holds {', '.join(aggregates)} only: remove the rows of "
            f"countries"
        )
    parts = zip(dimensions_of(domain), key, (aggregates, *space.axes), strict=True)
    name, code, known = next((name, code, known) for name, code, known in parts if code not in known)
    allowed = (
        f"allowed: {', '.join(known)}" if len(known) <= 12 else f"see its code list in domain {domain.id}"
    )
    raise _UnknownCell(f"{name} {_quoted(code)} is unknown; {allowed}")


def _check_envelope(row: _Row, domain: Domain, period: str) -> None:
    column = "STRUCTURE_ID" if "STRUCTURE_ID" in row.fields else "DATAFLOW"
    if column in row.fields and row.get(column) != domain.structure_id:
        raise row.error(
            f"{column} {_quoted(row.get(column))} is not the {domain.structure_id} of the domain; keep its "
            f"rows only"
        )
    if row.get("TIME_PERIOD") != period:
        raise row.error(
            f"TIME_PERIOD {_quoted(row.get('TIME_PERIOD'))} is not the period {period} of this release; keep "
            f"its rows only"
        )
    if row.get("FREQ") not in {"", domain.frequency}:
        raise row.error(
            f"FREQ {_quoted(row.get('FREQ'))} is not the frequency {domain.frequency} of the domain; keep "
            f"its rows only"
        )
    if row.get("ACTION") not in PUBLISHING_ACTIONS:
        raise row.error(
            f"ACTION {_quoted(row.get('ACTION'))} publishes nothing; use I, A, R or M, or remove the row"
        )


def _check_unit(row: _Row, domain: Domain, cell: int, name: str) -> None:
    """Refuses rows in another unit, and does not convert them: a table in another unit might be
    judged a thousand times too safe.
    """
    for column, expected in _unit(domain, cell, "").items():
        if column != DECIMALS and row.get(column) not in {"", expected}:
            raise row.error(f"{column} of {name} is not {expected}; convert its values")
    if not (told := row.get(DECIMALS)):
        return
    if not re.fullmatch(r"[0-9]{1,2}", told):
        raise row.error(f"{DECIMALS} of {name} is not a whole number of decimals; give it, or leave it empty")
    fraction = row.get("OBS_VALUE").partition(".")[2].rstrip("0")
    if "e" not in fraction.lower() and len(fraction) > int(told):
        raise row.error(f"OBS_VALUE of {name} has more decimals than {DECIMALS}; correct one of them")


def _decision(row: _Row, key: str) -> tuple[float, float, float]:
    """(value, base, covers) of one cell, as `Publication` holds them."""
    if row.get("OBS_VALUE") in {"", "NaN"}:
        for name in (VISIBLE_SHARE, "ROUNDING_BASE"):
            if row.get(name):
                raise row.error(f"{name} of {key} without an OBS_VALUE; leave both empty for a withheld cell")
        return np.nan, np.inf, 0.0
    value = _number(row, "OBS_VALUE", key)
    base = _number(row, "ROUNDING_BASE", key) if row.get("ROUNDING_BASE") else 0.0
    if base < 0:
        raise row.error(
            f"ROUNDING_BASE of {key} is negative; give the base, or leave it empty for an exact value"
        )
    if not row.get(VISIBLE_SHARE):
        return value, base, 0.0
    covers = _number(row, VISIBLE_SHARE, key)
    if not 0 < covers <= 1:
        raise row.error(
            f"{VISIBLE_SHARE} of {key} is not above 0 and at most 1; 0.95 says that the value is at least 95 "
            f"% of the total"
        )
    if base:
        raise row.error(
            f"{key} has a {VISIBLE_SHARE} and a ROUNDING_BASE; a sum of visible countries is not rounded: "
            f"leave one empty"
        )
    if value < 0:
        raise row.error(
            f"OBS_VALUE of {key} is negative, which a sum of visible countries never is; leave "
            f"{VISIBLE_SHARE} empty"
        )
    return value, np.inf, covers


def _number(row: _Row, column: str, key: str) -> float:
    text = row.get(column)
    number = float(text) if NUMBER.fullmatch(text) else np.nan
    if not np.isfinite(number):
        raise row.error(
            f"{column} of {key} is not a number; use digits and a decimal point, and an empty OBS_VALUE for "
            f"a withheld cell"
        )
    return number


def _quoted(code: str) -> str:
    """The code as found, unless it may be a value in the wrong column."""
    if len(code) > 40 or (len(code) > 4 and NUMBER.fullmatch(code)):
        return "(not shown: it looks like a value)"
    return repr(code)
