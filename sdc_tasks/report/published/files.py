"""The public files of a release by name, and what writes each.

A new format needs a writer beside `sdmx_ml.py`, a line in `_WRITERS`, its name in model/public_files.py,
and its word in domains/dissemination.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sdc_tasks.domains.dissemination import TableFormat
from sdc_tasks.model.public_files import DESCRIPTOR, METADATA, METADATA_PAGE, PUBLIC_FILES, TABLE
from sdc_tasks.report.published.edition import Edition
from sdc_tasks.report.published.metadata import ReferenceMetadata, metadata_of
from sdc_tasks.report.published.package import descriptor
from sdc_tasks.report.published.parquet import parquet
from sdc_tasks.report.published.sdmx_json import sdmx_json
from sdc_tasks.report.published.sdmx_ml import sdmx_ml
from sdc_tasks.report.table_csv import csv_text

_WRITERS: Mapping[TableFormat, tuple[str, Callable[[Edition], bytes]]] = {
    "sdmx-ml": ("table.xml", sdmx_ml),
    "sdmx-json": ("table.json", sdmx_json),
    "parquet": ("table.parquet", parquet),
}


def public_files(edition: Edition, page: Callable[[ReferenceMetadata], str]) -> dict[str, bytes]:
    """name → content of every public file; `table.csv` is the last one, so that a folder that has it
    has the others. `page` makes the page of the reference metadata. Raises ValueError for a publication
    with cells that are not aggregates.
    """
    told = metadata_of(edition)
    files = {TABLE: csv_text(edition.lines).encode()}
    files |= {
        name: write(edition)
        for name, write in (_WRITERS[each] for each in edition.domain.dissemination.formats)
    }
    files |= {METADATA_PAGE: page(told).encode(), METADATA: told.message().encode()}
    files[DESCRIPTOR] = descriptor(edition, files, PUBLIC_FILES)
    return {**{name: content for name, content in files.items() if name != TABLE}, TABLE: files[TABLE]}
