"""The files that the world may get of a release. They stand apart from the domain file: pages name
them, and load no solver for that.
"""

from __future__ import annotations

from collections.abc import Mapping

TABLE, METADATA, METADATA_PAGE, DESCRIPTOR = "table.csv", "metadata.json", "metadata.html", "datapackage.json"
# Title and media type of every file that the world may get of a release, in the order in which pages offer
# them.
PUBLIC_FILES: Mapping[str, tuple[str, str]] = {
    TABLE: ("Table, SDMX-CSV 2.0", "text/csv"),
    "table.xml": ("Table, SDMX-ML 3.0", "application/vnd.sdmx.data+xml"),
    "table.json": ("Table, SDMX-JSON 2.0", "application/vnd.sdmx.data+json"),
    "table.parquet": ("Table, Parquet", "application/vnd.apache.parquet"),
    METADATA_PAGE: ("How the table is protected", "text/html"),
    METADATA: ("How the table is protected, SDMX-JSON 2.0", "application/vnd.sdmx.metadata+json"),
    DESCRIPTOR: ("Data Package", "application/json"),
}
