"""The records of a table as text, out of a CSV file (`,` `;` or tab, also .gz), a Parquet file or a
data frame; messages can name each.

A number of Parquet or of a frame is written so that it reads back as the same number;
what is missing is an empty field.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdc_tasks.errors import InvalidInput, did_you_mean
from sdc_tasks.intake.tables.parquet import MOST_RECORDS, parquet_library
from sdc_tasks.untrusted import RATIO, ROOM, separator_of, unpacked

if TYPE_CHECKING:
    import pandas as pd

PARQUET = (".parquet", ".pq")
ROW = "row"  # of a frame


@dataclass(frozen=True)
class TextRows:
    """`rows`: as many fields each as the header has. Messages call record i `name, word
    (first + i)`: a file and its line.
    """

    name: str
    header: list[str]
    rows: list[list[str]] = field(repr=False)
    word: str = "line"
    first: int = 2

    def at(self, i: int) -> str:
        """What messages call a record."""
        return f"{self.name}, {self.word} {self.first + i}"

    def option(self, name: str, told: str | float | Mapping[str, str]) -> str:
        """How their user gives an option: of a frame in Python, else at a shell."""
        if self.word == ROW:
            return f"{name}={told!r}"
        given = [told] if isinstance(told, str | float) else [f"{of}={text}" for of, text in told.items()]
        return " ".join(f"--{name} {each}" for each in given)

    def column(self, name: str) -> list[str]:
        """The fields of a column without blanks around. Raises InvalidInput if there is none of this name, or
        two.
        """
        if self.header.count(name) != 1:
            found = "two columns" if name in self.header else "no column"
            raise InvalidInput(
                f"{self.name}: {found} {name}.{did_you_mean(name, set(self.header) - {name})} Remedy: name "
                f"columns of the table: {', '.join(self.header)}"
            )
        place = self.header.index(name)
        return [row[place].strip() for row in self.rows]


def read_rows(path: Path) -> TextRows:
    """The records of a file. Raises InvalidInput, with line and remedy, where it is none."""
    return _parquet(path) if path.suffix.lower() in PARQUET else _csv(path)


def rows_of(frame: pd.DataFrame, name: str = "the frame") -> TextRows:
    """The rows of a data frame, counted from 0."""
    columns = [_texts(frame[column].tolist(), frame[column].isna().tolist()) for column in frame.columns]
    return TextRows(
        name,
        [str(column) for column in frame.columns],
        [list(row) for row in zip(*columns, strict=True)],
        ROW,
        0,
    )


def _csv(path: Path) -> TextRows:
    text = _content(path)
    first = text.partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text.rstrip("\r\n") + "\n", newline=""), delimiter=separator_of(first), strict=True
    )
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append(row)
            if reader.line_num != len(rows) or len(row) != len(rows[0]):
                what = (
                    f"{len(row)} fields, but {len(rows[0])} columns"
                    if reader.line_num == len(rows)
                    else "a field goes on over the end of its line"
                )
                raise InvalidInput(
                    f"{path}, line {len(rows)}: {what}. Remedy: a line for each record, with as many fields "
                    f"as the header has"
                )
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {reader.line_num}: not CSV. Remedy: save it as CSV") from error
    if len(rows) < 2:
        raise InvalidInput(f"{path}: no cells. Remedy: a header, then a line for each cell")
    if not text.endswith(("\n", "\r", '"')):
        raise InvalidInput(
            f"{path}, line {len(rows)}: the last line may be cut short. Remedy: end it with a line break"
        )
    return TextRows(str(path), [name.strip() for name in rows[0]], rows[1:])


def _content(path: Path) -> str:
    """The text of a file in UTF-8, compressed or not."""
    try:
        content = unpacked(path)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read ({error.strerror or error}). Remedy: name a file that can be read"
        ) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"{path}, line {line}: not in UTF-8. Remedy: save it as UTF-8; if it is compressed, name it .gz"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InvalidInput(
            f"{path}, line {line}: a NUL byte, which no text holds. Remedy: save it as CSV in UTF-8"
        )
    return text


def _parquet(path: Path) -> TextRows:
    if not path.is_file():
        raise InvalidInput(f"{path}: cannot be read. Remedy: name a CSV or Parquet file")
    arrow, parquet, _ = parquet_library()
    try:
        about = parquet.ParquetFile(path).metadata
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if about.num_rows > MOST_RECORDS or size > ROOM + RATIO * path.stat().st_size:
            raise InvalidInput(
                f"{path}: {about.num_rows} records, which unpack to {size} bytes. Remedy: check that this is "
                f"the right file"
            )
        table = parquet.read_table(path)
        columns = [
            _texts(values := table.column(name).to_pylist(), [value is None for value in values])
            for name in table.column_names
        ]
    except (arrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"{path}: not a Parquet file that can be read. Remedy: write it again, or give it as CSV"
        ) from error
    if not table.num_rows:
        raise InvalidInput(f"{path}: no record. Remedy: give a table with at least one")
    return TextRows(
        str(path), list(table.column_names), [list(row) for row in zip(*columns, strict=True)], "record", 1
    )


def _texts(values: Sequence[Any], missing: Sequence[bool]) -> list[str]:
    return ["" if gone else _text(value) for value, gone in zip(values, missing, strict=True)]


def _text(value: Any) -> str:
    """As it would stand in a CSV file; a whole number that arrives as a float is written as one, for it may
    be a code.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
