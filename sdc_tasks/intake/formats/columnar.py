"""Parquet and Arrow (file or stream, also called Feather), from bytes to records: columns of texts, codes or binary numbers.

A column has the name of its concept, in any case, as in SDMX-CSV. Binary numbers are taken as they are, so no sign is guessed. What the
file says of its own size is compared with the bound before anything is unpacked, and every array is validated before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.header import fitting_names
from sdc_tasks.intake.formats.records import A_NUMBER, Concepts, Records
from sdc_tasks.model.table import Floats, Ints

RECORD_BYTES = 512  # of a record, unpacked
_ARROW = b"ARROW1"


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The records of the file; None where it cannot be read (the findings say why)."""
    try:
        arrow, parquet, compute = map(import_module, ("pyarrow", "pyarrow.parquet", "pyarrow.compute"))
    except ImportError:
        found.add("140", "Parquet and Arrow are not read here: have pip install sdc-release[parquet] run, or send SDMX-CSV")
        return None
    try:
        table = _parquet(data, arrow, parquet, most) if data.startswith(b"PAR1") else _arrow(data, arrow, most)
        if table is not None:
            return _records(table, concepts, found, arrow, compute)
        found.add("140", f"the file has more than {most} records, or columns that are too large: send the table and nothing else")
    except (arrow.ArrowException, OSError, ValueError, MemoryError, TypeError, RuntimeError):
        found.add("140", "not a whole file of Parquet or Arrow: send it again")
    return None


def _records(table: Any, concepts: Concepts, found: Findings, arrow: Any, compute: Any) -> Records | None:
    fitting = fitting_names("Parquet or Arrow", table.schema.names, concepts, found)
    if fitting is None:
        return None
    if not table.num_rows:
        found.add("140", "the file has no record: send the complete table")
        return None
    wire, names = fitting
    columns, numbers = {}, {}
    for at, name in enumerate(names):
        if name is None:
            continue
        read = _column(table.column(at), name in concepts.numbers, arrow, compute)
        if read is None:
            message = f"column {at + 1} ({name}) is of a kind that is not read here: send text, whole numbers, decimals or float64"
            found.add("140", message)
            continue
        columns[name] = read[:2]
        if read[2] is not None:
            numbers[name] = read[2]
    return None if found.refused else Records(wire, np.arange(2, table.num_rows + 2), columns, numbers)


def first(data: bytes, concept: str) -> str:
    """Nothing is seen without reading."""
    return ""


def _parquet(data: bytes, arrow: Any, parquet: Any, most: int) -> Any:
    """The table; None where it says that it is too large, or is."""
    file = parquet.ParquetFile(
        arrow.BufferReader(data), thrift_string_size_limit=1 << 20, thrift_container_size_limit=1 << 20, page_checksum_verification=True
    )
    about = file.metadata
    if about.num_rows > most or about.num_columns > _most_columns(most):
        return None
    size = 0
    for group in range(about.num_row_groups):
        size += sum(about.row_group(group).column(column).total_uncompressed_size for column in range(about.num_columns))
    if not 0 <= size <= most * RECORD_BYTES:
        return None
    return _gathered(file.iter_batches(batch_size=1 << 16, use_threads=False), file.schema_arrow, arrow, most)


def _arrow(data: bytes, arrow: Any, most: int) -> Any:
    """As `_parquet`."""
    source = arrow.BufferReader(data)
    if data.startswith(_ARROW):
        reader = arrow.ipc.open_file(source)
        batches = (reader.get_batch(at) for at in range(reader.num_record_batches))
    else:
        reader = arrow.ipc.open_stream(source)
        batches = iter(reader)
    return _gathered(batches, reader.schema, arrow, most)


def _gathered(batches: Any, schema: Any, arrow: Any, most: int) -> Any:
    kept, rows, size = [], 0, 0
    for batch in batches:
        batch.validate(full=True)  # before anything else is asked: offsets of a damaged file point anywhere
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows > most or size > most * RECORD_BYTES:
            return None
        kept.append(batch)
    return arrow.Table.from_batches(kept, schema)


def _most_columns(most: int) -> int:
    return min(most, 1000)


def _column(column: Any, number: bool, arrow: Any, compute: Any) -> tuple[list[str], Ints, Floats | None] | None:
    """The distinct texts, the text of each record and its binary number; None for a kind of column that is not read."""
    types, kind = arrow.types, column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if types.is_float64(kind) and number:
        sent = column.combine_chunks().to_numpy(zero_copy_only=False).astype(float)
        return ["", A_NUMBER], (~np.isnan(sent)).astype(np.int64), sent
    if types.is_floating(kind):
        return None if number else _texts(column, compute, lambda value: repr(value).removesuffix(".0"))
    if types.is_integer(kind) or types.is_decimal(kind) or types.is_null(kind):
        column = column.cast(arrow.string())
    elif not (types.is_string(kind) or types.is_large_string(kind)):
        return None
    return _texts(column, compute, str.strip)


def _texts(column: Any, compute: Any, text: Any) -> tuple[list[str], Ints, None]:
    coded = column.combine_chunks().dictionary_encode()
    at = compute.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    texts = ["" if value is None or value != value else text(value) for value in coded.dictionary.to_pylist()]
    return [*texts, ""], np.where(at < 0, len(texts), at), None
