"""The table as Parquet, with the columns of `table.csv`: codes as dictionaries, values, bases and shares as
float64, UNIT_MULT and DECIMALS as whole numbers; what a cell does not have is null. Printed with its
DECIMALS, a value is that of `table.csv`.
"""

from __future__ import annotations

import io
from importlib import import_module

from sdc_tasks.report.published.edition import NUMBERS, Edition


def parquet(edition: Edition) -> bytes:
    """The file. It is the same for the same edition and version of pyarrow."""
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    found = {}
    for name, texts in zip(edition.columns, zip(*edition.lines[1:], strict=True), strict=True):
        if name in NUMBERS:
            found[name] = pa.array([float(text) if text else None for text in texts], pa.float64())
        elif name in edition.whole:
            found[name] = pa.array([int(text) if text else None for text in texts], pa.int32())
        else:
            found[name] = pa.array([text or None for text in texts], pa.string()).dictionary_encode()
    about = {
        "title": edition.domain.title,
        "edition": edition.name,
        "publication": edition.publication.digest,
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(found).replace_schema_metadata(about), sink, compression="zstd")
    content: bytes = sink.getvalue()
    return content
