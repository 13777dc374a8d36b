"""The part of the reader of Parquet and Arrow that runs as a script in a process of its own: some
damaged files end pyarrow's process.

    python columnar_apart.py '{"most": …, "known": […], "numbers": […]}' < file > columns.npz

It imports nothing of this project. It ends with 0 and the columns, or with TOO_LARGE; anything else is a
damaged file. `known` and `numbers` are names of columns in capitals. What the file says of its own size is
compared with the bound before anything is unpacked, every batch is validated before anything else is asked of
it, and the process may not have more memory than `most` records need.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

RECORD_BYTES = 512  # of a record, unpacked
TOO_LARGE = 3
PROGRAM = 3 << 30  # bytes of address space for the libraries
MOST_COLUMNS_READ = 1000
A_NUMBER = "0"
_NOT_EXACT = 2.0**53  # from here on, float64 does not hold every whole number
_ARROW = b"ARROW1"


def main() -> None:
    """Reads the file from standard input, and writes its columns to standard output."""
    asked = json.loads(sys.argv[1])
    most = asked["most"]
    bound = PROGRAM + 4 * most * RECORD_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    data = sys.stdin.buffer.read()
    table = _parquet(data, most) if data.startswith(b"PAR1") else _arrow(data, most)
    if table is None:
        sys.exit(TOO_LARGE)
    names, read = list(table.schema.names), []
    arrays: dict[str, Any] = {}
    for at, name in enumerate(names):
        plain = name.partition(":")[0].partition("[")[0].strip().upper()
        if plain not in asked["known"]:
            continue
        column = _column(table.column(at), plain in asked["numbers"])
        if column is not None:
            read.append(at)
            texts, which, numbers = column
            joined = "\0".join(text.replace("\0", "\ufffd") for text in texts)
            arrays[f"texts{at}"] = np.frombuffer(joined.encode(), dtype=np.uint8)
            arrays[f"which{at}"] = which.astype(
                np.min_scalar_type(len(texts))
            )  # most columns are codes: a byte or two of each record
            if numbers is not None:
                arrays[f"numbers{at}"] = numbers
    said = json.dumps({"names": names, "rows": table.num_rows, "read": read}).encode()
    stream = io.BytesIO()
    np.savez(stream, said=np.frombuffer(said, dtype=np.uint8), **arrays)
    sys.stdout.buffer.write(stream.getbuffer())


def _parquet(data: bytes, most: int) -> Any:
    """The table; None where it says that it is too large, or is."""
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")

    file = pq.ParquetFile(
        pa.BufferReader(data),
        thrift_string_size_limit=1 << 20,
        thrift_container_size_limit=1 << 20,
        page_checksum_verification=True,
    )
    about = file.metadata
    if about.num_rows > most or about.num_columns > MOST_COLUMNS_READ:
        return None
    size = 0
    for group in range(about.num_row_groups):
        size += sum(
            about.row_group(group).column(column).total_uncompressed_size
            for column in range(about.num_columns)
        )
    if not 0 <= size <= most * RECORD_BYTES:
        return None
    return _gathered(file.iter_batches(batch_size=1 << 16, use_threads=False), file.schema_arrow, most)


def _arrow(data: bytes, most: int) -> Any:
    """As `_parquet`. Raises ValueError for a stream without its end, and for what holds more than one table:
    the rest would be lost, and flags with it.
    """
    pa = import_module("pyarrow")

    source = pa.BufferReader(data)
    if data.startswith(_ARROW):
        if data.count(_ARROW) > 2:  # it begins and ends with these letters
            raise ValueError("more than one file")
        reader = pa.ipc.open_file(source)
        return _gathered(
            (reader.get_batch(at) for at in range(reader.num_record_batches)), reader.schema, most
        )
    stream = pa.ipc.open_stream(source)
    table = _gathered(_up_to_the_end(stream, source), stream.schema, most)
    if table is not None and source.tell() != len(data):
        raise ValueError("something stands behind the stream")
    return table


def _up_to_the_end(stream: Any, source: Any) -> Iterator[Any]:
    while True:
        before = source.tell()
        try:
            batch = stream.read_next_batch()
        except StopIteration:
            if source.tell() == before:  # the mark of the end takes some bytes
                raise ValueError("the stream has no end") from None
            return
        yield batch


def _gathered(batches: Iterable[Any], schema: Any, most: int) -> Any:
    pa = import_module("pyarrow")

    kept, rows, size = [], 0, 0
    for batch in batches:
        batch.validate(full=True)
        rows, size = rows + batch.num_rows, size + batch.nbytes + sum(map(_viewed, batch.columns))
        if rows > most or size > most * RECORD_BYTES:
            return None
        kept.append(batch)
    return pa.Table.from_batches(kept, schema).unify_dictionaries()


def _viewed(column: Any) -> int:
    """The bytes of the texts of a column, or of a list of codes, of views, such as polars writes; of any
    other column 0. Many views may show the same bytes, so that its buffers say nothing of its size.
    """
    types = import_module("pyarrow").types
    if types.is_dictionary(column.type):
        column = column.dictionary
    if not types.is_string_view(column.type):
        return 0
    lengths = np.frombuffer(column.buffers()[1], dtype="<i4")[::4]  # of sixteen bytes, the first four
    return int(np.abs(lengths[column.offset : column.offset + len(column)].astype(np.int64)).sum())


def _column(column: Any, number: bool) -> tuple[list[str], Any, Any] | None:
    """The distinct texts, the text of each record and its binary number; None for a kind of column that is
    not read.
    """
    types = import_module("pyarrow").types

    if types.is_dictionary(column.type):
        if _is_text(column.type.value_type):
            return _coded(column.combine_chunks(), str.strip)
        column = column.cast(column.type.value_type)
    if number and (sent := _exact(column)) is not None:
        return ["", A_NUMBER], ~np.isnan(sent), sent
    if types.is_floating(column.type):
        return None if number else _texts(column, lambda value: repr(value).removesuffix(".0"))
    written = _written(column)
    return None if written is None else _texts(written, str.strip)


def _is_text(kind: Any) -> bool:
    types = import_module("pyarrow").types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _exact(column: Any) -> Any:
    """(records,): the numbers of a column as float64, NaN for none; None where that does not hold them."""
    types = import_module("pyarrow").types

    if not (types.is_float64(column.type) or types.is_integer(column.type)):
        return None
    sent = column.combine_chunks().to_numpy(zero_copy_only=False).astype(float)
    exact = types.is_float64(column.type) or not (np.abs(sent) >= _NOT_EXACT).any()
    return sent if exact else None


def _written(column: Any) -> Any:
    """A column of texts, or of numbers that are written without loss, as texts; None for any other one."""
    pa = import_module("pyarrow")

    types, kind = pa.types, column.type
    if types.is_integer(kind) or types.is_decimal(kind) or types.is_null(kind):
        return column.cast(pa.string())
    if types.is_string_view(kind):
        return column.cast(pa.large_string())
    return column if _is_text(kind) else None


def _texts(column: Any, text: Any) -> tuple[list[str], Any, None]:
    return _coded(column.combine_chunks().dictionary_encode(), text)


def _coded(coded: Any, text: Any) -> tuple[list[str], Any, None]:
    at = coded.indices.to_numpy(
        zero_copy_only=False
    )  # with NaN for none; fill_null would import half a second of pyarrow
    if coded.indices.null_count:
        at = np.where(np.isnan(at), -1, at).astype(np.int64)
    texts = ["" if value is None or value != value else text(value) for value in coded.dictionary.to_pylist()]
    return [*texts, ""], np.where(at < 0, len(texts), at), None


if __name__ == "__main__":
    main()
