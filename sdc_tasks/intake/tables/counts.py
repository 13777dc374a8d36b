"""Tables of counts: microdata or inner cells, as CSV (`,` `;` or tab, also .gz) or
Parquet, a column for each dimension.

Codes are read as they are written; an empty one is refused. Counts are whole numbers, 0 or more.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal, TextIO, cast

import numpy as np
import numpy.typing as npt

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.parquet import MOST_RECORDS, parquet_library
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.intake.tables.totals import known_total, lone, unnamed
from sdc_tasks.methods.rounding.small_count import InnerCells, inner_cells
from sdc_tasks.model.keys import refuse_twins, twins
from sdc_tasks.model.table import EXACT_BELOW, Bools, Ints
from sdc_tasks.untrusted import FORMULA, RATIO, ROOM, formula, lines, separator_of

Codes = npt.NDArray[np.int32]
CHUNK = 50_000  # lines that are held as text at once
FLAGS = {"0": False, "1": True, "false": False, "true": True}
REMEDIES = {
    "count": "counts are whole numbers, 0 or more. Remedy: correct it",
    "force": "1 or 0 is expected. Remedy: mark inner cells that must be rounded with 1",
    "given": (
        "a whole number, 0 or more, or nothing is expected. Remedy: leave it empty where "
        "the rounded value is free"
    ),
}

USUAL = "COUNT"  # the usual name of a column of counts


@dataclass(frozen=True)
class Counts:
    """Inner cells as read; `which` (records,): the cell of each record; `force` (n): to be rounded in any
    case; `given` (n): rounded values fixed beforehand, −1 where free.
    """

    cells: InnerCells
    which: Ints = field(repr=False)
    force: Bools | None = field(default=None, repr=False)
    given: Ints | None = field(default=None, repr=False)


@dataclass(frozen=True)
class _Column:
    """`codes` of the records are indices of `labels`, the texts that occur, in the order in which they do."""

    codes: Codes
    labels: list[str]


def read_counts(
    path: Path,
    dimensions: Sequence[str],
    frequency: str | None,
    force: str | None = None,
    given: str | None = None,
) -> Counts:
    """Reads a table. Without `frequency` every record counts one. `force` and `given` name
    columns that hold what `Counts` says.

    Raises InvalidInput with file, line and column; never with a count.
    """
    wanted = _wanted(dimensions, frequency, force, given)
    read = _parquet if path.suffix.lower() in (".parquet", ".pq") else _csv
    columns, line_of = read(path, wanted, frequency is not None)
    return _counts_in(str(path), columns, line_of, dimensions, frequency, force, given)


def counts_of(
    rows: TextRows, dimensions: Sequence[str], frequency: str | None, unknown: str | None = None
) -> Counts:
    """The same of rows that were read already. `unknown`: the code of records without one, else they are
    refused; then records that count one each are people, and no sum of others. Raises InvalidInput.
    """
    wanted = _wanted(dimensions, frequency, None, None)
    if frequency is None:
        _refuse_unnamed(rows.name, rows.header, wanted, rows.option("count", USUAL))
    columns: dict[str, _Column] = {}
    for name in wanted:
        texts = rows.column(name)
        if unknown is not None and name != frequency:
            texts = _told(rows, name, texts, unknown)
        labels = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        columns[name] = _Column(np.array([labels[text] for text in texts], dtype=np.int32), list(labels))
    numbered = _Lines(rows.word, rows.first + np.arange(len(rows.rows)))
    people = unknown is not None and frequency is None
    return _counts_in(rows.name, columns, numbered, dimensions, frequency, None, None, people)


def _told(rows: TextRows, name: str, texts: list[str], unknown: str) -> list[str]:
    """The codes of a column, with one for what is missing. Raises InvalidInput where that is a code
    already.
    """
    if all(texts):
        return texts
    if unknown in texts:
        raise InvalidInput(
            f"{rows.at(texts.index(unknown))}: column {name}: {unknown} is a code, and other records have "
            f"none. Remedy: name another code for what is missing, as {rows.option('unknown', '_MISSING')}"
        )
    return [text or unknown for text in texts]


def _refuse_unnamed(place: str, names: Sequence[str], wanted: Sequence[str], remedy: str) -> None:
    """Raises InvalidInput where every record would count one beside a column of counts."""
    if USUAL in names and USUAL not in wanted:
        raise InvalidInput(
            f"{place}: a column {USUAL}, and each record would count one. Remedy: {remedy}, or drop it"
        )


def _wanted(
    dimensions: Sequence[str], frequency: str | None, force: str | None, given: str | None
) -> list[str]:
    if not dimensions or len(set(dimensions)) < len(dimensions):
        raise InvalidInput("dimensions: each is named once. Remedy: name the columns of the codes, as A,B,…")
    wanted = [*dimensions, *(name for name in (frequency, force, given) if name is not None)]
    if len(set(wanted)) < len(wanted):
        raise InvalidInput(
            "one column cannot be a dimension and a count, or two of the others. Remedy: name different "
            "columns"
        )
    return wanted


def _counts_in(
    path: str,
    columns: Mapping[str, _Column],
    line_of: _Lines,
    dimensions: Sequence[str],
    frequency: str | None,
    force: str | None,
    given: str | None,
    people: bool = False,
) -> Counts:
    if not len(columns[dimensions[0]].codes):
        raise InvalidInput(f"{path}: no record. Remedy: give a table with at least one")
    for name in dimensions:
        _refuse_codes(path, line_of, name, columns[name])
    counts = None if frequency is None else _frequencies(path, line_of, frequency, columns[frequency])
    cells, which = inner_cells(
        dimensions, [(columns[name].codes, columns[name].labels) for name in dimensions], counts
    )
    _refuse_totals(path, cells)
    if not people:
        _refuse_sums(path, cells)
    if (force or given) and len(cells) < len(which):
        twice = int(np.flatnonzero(np.bincount(which) > 1)[0])
        raise InvalidInput(
            f"{path}: {cells.key(twice)} occurs twice. Remedy: one record per inner cell where --force or "
            f"--given is used"
        )

    def at_cells(name: str | None, what: Literal["force", "given"]) -> Ints | None:
        return None if name is None else _scattered(which, _whole(path, line_of, name, columns[name], what))

    forced = at_cells(force, "force")
    return Counts(cells, which, None if forced is None else forced > 0, at_cells(given, "given"))


def _frequencies(path: str, line_of: _Lines, name: str, column: _Column) -> Ints:
    """(records): the counts of a column, whose sum is exact."""
    counts = _whole(path, line_of, name, column, "count")
    if float(counts.astype(np.float64).sum()) >= EXACT_BELOW:
        raise InvalidInput(
            f"{path}: column {name}: the total is too large to be exact. Remedy: these are no counts"
        )
    return counts


def _refuse_codes(path: str, line_of: _Lines, name: str, column: _Column) -> None:
    """Raises InvalidInput for a record without a code, for a code that a spreadsheet would compute, and for
    one that a reader takes for another one.
    """
    if (empty := _first(column, lambda label: not label.strip())) is not None:
        raise InvalidInput(
            f"{path}, {line_of(empty)}: column {name}: the code is missing. Remedy: give it, or a code "
            f"that says unknown"
        )
    if (odd := _first(column, formula)) is not None:
        raise InvalidInput(f"{path}, {line_of(odd)}: column {name}: the code {FORMULA}")
    if pair := twins(column.labels):
        second = _first(column, pair[1].__eq__)
        assert second is not None
        refuse_twins(f"{path}, {line_of(second)}: column {name}", pair)


ONLY_INNER = "Remedy: give inner cells only, without the records of totals"


def _refuse_totals(path: str, cells: InnerCells) -> None:
    """A total among the inner cells would be counted once more."""
    for name, labels in zip(cells.dimensions, cells.labels, strict=True):
        if (total := known_total(path, name, labels)) is not None:
            raise InvalidInput(f"{path}: column {name}: {total} is the code of a total. {ONLY_INNER}")


def _refuse_sums(path: str, cells: InnerCells) -> None:
    """The same of a total that its count gives away."""
    for i, (name, labels) in enumerate(zip(cells.dimensions, cells.labels, strict=True)):
        others = [codes for j, codes in enumerate(cells.codes) if j != i]
        if (code := unnamed(cells.codes[i], others, cells.y.astype(float), least=3)) is not None:
            raise InvalidInput(
                f"{path}: column {name}: {labels[code]} is the sum of all others, so a total. {ONLY_INNER}"
            )
    if (
        found := lone(
            [each.astype(np.int64) for each in cells.codes],
            cells.y.astype(float),
            range(len(cells.dimensions)),
        )
    ) is not None:
        name, label = cells.dimensions[found[0]], cells.labels[found[0]][found[1]]
        raise InvalidInput(
            f"{path}: column {name}: the cell with {label} is the sum of all others, so a total. {ONLY_INNER}"
        )


def _scattered(which: Ints, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    placed = np.empty_like(values)
    placed[which] = values
    return placed


class _Lines:
    """How a message names a record."""

    def __init__(self, word: str, numbers: Ints) -> None:
        self._word, self._numbers = word, numbers

    def __call__(self, record: int) -> str:
        return f"{self._word} {self._numbers[record]}"


def _csv(path: Path, wanted: Sequence[str], counted: bool) -> tuple[dict[str, _Column], _Lines]:
    known: list[defaultdict[str, int]] = [defaultdict(count().__next__) for _ in wanted]
    codes: list[list[Codes]] = [[] for _ in wanted]
    numbered: list[Ints] = []
    with _refusing_unreadable(path), _opened(path) as stream:
        told = lines(path, stream)
        head = next(told, "")
        names = next(csv.reader([head], delimiter=separator_of(head)), [])
        names = [name.strip() for name in names]
        places = _places(path, names, wanted, counted)
        reader = csv.reader(told, delimiter=separator_of(head), strict=True)
        while chunk := list(islice(_numbered(reader), CHUNK)):
            _refuse_lengths(path, chunk, len(names))
            numbers, rows = zip(*chunk, strict=True)
            for own, labels, place in zip(codes, known, places, strict=True):
                own.append(_codes_at(place, rows, labels))
            numbered.append(np.array(numbers))
    none = np.empty(0, dtype=np.int32)
    columns = [
        _Column(np.concatenate([none, *own]), list(labels)) for own, labels in zip(codes, known, strict=True)
    ]
    return dict(zip(wanted, columns, strict=True)), _Lines(
        "line", np.concatenate([np.empty(0, dtype=np.int64), *numbered])
    )


@contextmanager
def _refusing_unreadable(path: Path) -> Iterator[None]:
    """Raises InvalidInput for what a file that cannot be read raises."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{path}: not a whole gzip file, as its name says. Remedy: send it again, or name it without .gz"
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read ({error.strerror or error}). Remedy: name a CSV or Parquet file"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{path}: not a CSV file in UTF-8. Remedy: save it as CSV, UTF-8") from error


def _codes_at(place: int, rows: Sequence[list[str]], known: defaultdict[str, int]) -> Codes:
    """(records): the number of the label in this place of each row; a new label gets the next number."""
    return np.fromiter((known[row[place]] for row in rows), dtype=np.int32, count=len(rows))


def _opened(path: Path) -> TextIO:
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=""))


def _refuse_lengths(path: Path, chunk: Sequence[tuple[int, list[str]]], width: int) -> None:
    """Raises InvalidInput for the first record that has not `width` fields."""
    wrong = next((number for number, row in chunk if len(row) != width), None)
    if wrong is not None:
        raise InvalidInput(
            f"{path}, line {wrong}: {width} fields are expected. Remedy: as many as the header has"
        )


def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """(line of the file, fields) of every record that is not blank; the header is line 1."""
    for row in reader:
        if row:
            yield reader.line_num + 1, row


def _places(path: Path, names: Sequence[str], wanted: Sequence[str], counted: bool) -> list[int]:
    """Where the wanted columns stand in a header. `counted`: one of them says how many each record counts."""
    if not any(names):
        raise InvalidInput(
            f"{path}: the file is empty. Remedy: a header with the names of the columns, and a line for each "
            f"record"
        )
    if missing := [name for name in wanted if name not in names]:
        raise InvalidInput(
            f"{path}, line 1: there is no column {missing[0]}. Remedy: name one of {', '.join(names)}"
        )
    if twice := [name for name in wanted if names.count(name) > 1]:
        raise InvalidInput(f"{path}, line 1: two columns are called {twice[0]}. Remedy: rename one")
    if not counted:
        _refuse_unnamed(f"{path}, line 1", names, wanted, f"--count {USUAL}")
    return [names.index(name) for name in wanted]


def _parquet(path: Path, wanted: Sequence[str], counted: bool) -> tuple[dict[str, _Column], _Lines]:
    if not path.is_file():
        raise InvalidInput(f"{path}: cannot be read. Remedy: name a CSV or Parquet file")
    arrow, parquet, compute = parquet_library()
    try:
        about = parquet.ParquetFile(path).metadata
        _places(path, about.schema.to_arrow_schema().names, wanted, counted)
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if about.num_rows > MOST_RECORDS or size > ROOM + RATIO * path.stat().st_size:
            raise InvalidInput(
                f"{path}: {about.num_rows} records, which unpack to {size} bytes. Remedy: check that this is "
                f"the right file"
            )
        table = parquet.read_table(path, columns=list(wanted))
        found = {name: _labelled(table.column(name), arrow, compute) for name in wanted}
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise InvalidInput(
            f"{path}: not a Parquet file that can be read. Remedy: write it again, or give it as CSV"
        ) from error
    return found, _Lines("record", np.arange(1, table.num_rows + 1))


def _labelled(chunked: Any, arrow: Any, compute: Any) -> _Column:
    """A column of Parquet as codes and labels."""
    column = chunked.combine_chunks()
    if arrow.types.is_floating(column.type):  # what pandas makes of counts with gaps
        whole = compute.equal(column, compute.floor(column))
        if compute.all(whole).as_py() in (True, None):
            column = column.cast(arrow.int64())
    encoded = (
        column
        if arrow.types.is_dictionary(column.type)
        else column.cast(arrow.string()).dictionary_encode("encode")
    )
    labels = encoded.dictionary.cast(arrow.string()).to_pylist()
    codes = encoded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False).astype(np.int32)
    return _used(_Column(codes, ["" if label is None else label for label in [*labels, None]]))


def _used(column: _Column) -> _Column:
    """Without labels that no record has, and each label once."""
    names = sorted({column.labels[i] for i in np.unique(column.codes)})
    index = {name: i for i, name in enumerate(names)}
    rank = np.array([index.get(label, -1) for label in column.labels], dtype=np.int32)
    return _Column(rank[column.codes], names)


def _first(column: _Column, is_wrong: Any) -> int | None:
    """The first record whose text is wrong."""
    wrong = [i for i, label in enumerate(column.labels) if is_wrong(label)]
    where = np.flatnonzero(np.isin(column.codes, wrong)) if wrong else np.empty(0)
    return int(where[0]) if len(where) else None


def _whole(
    path: str, line_of: _Lines, name: str, column: _Column, kind: Literal["count", "force", "given"]
) -> Ints:
    """Each text once: there are far fewer than records."""
    values: list[int | None] = [_number(label.strip(), kind) for label in column.labels]
    if any(value is None for value in values):
        where = _first(column, lambda label: _number(label.strip(), kind) is None)
        assert where is not None
        raise InvalidInput(f"{path}, {line_of(where)}: column {name}: {REMEDIES[kind]}")
    return np.array(values, dtype=np.int64)[column.codes]


def _number(text: str, kind: str) -> int | None:
    if kind == "force":
        flag = FLAGS.get(text.lower())
        return None if flag is None else int(flag)
    if kind == "given" and not text:
        return -1
    whole, _, rest = text.partition(".")
    good = whole.isascii() and whole.isdigit() and not rest.strip("0") and len(whole) <= 15
    return int(whole) if good else None


def table_bytes(path: Path, columns: dict[str, npt.NDArray[Any]]) -> bytes:
    """The columns as a file of the kind that its name says, Parquet or CSV (compressed where it
    ends in .gz).
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        arrow, parquet, _ = parquet_library()
        stream = io.BytesIO()
        parquet.write_table(
            arrow.table({name: arrow.array(values) for name, values in columns.items()}), stream
        )
        return stream.getvalue()
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    content = text.getvalue().encode("utf-8")
    return gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content
