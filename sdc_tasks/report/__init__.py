"""The release report (`gather` collects the facts, `render` makes the page), and the disseminated table as a
file.
"""

from typing import TYPE_CHECKING

from sdc_tasks.lazily import names_of

if TYPE_CHECKING:
    from sdc_tasks.report.facts import DeliveryFact, FindingFact, ReportFacts, StepFact
    from sdc_tasks.report.files import write_whole
    from sdc_tasks.report.page import metadata_page, render
    from sdc_tasks.report.published import Edition, public_files
    from sdc_tasks.report.table_csv import (
        ReadTable,
        read_own,
        read_published,
        read_table,
        table_text,
        told_by_csv,
    )
else:
    # The pictures of a table that belongs to no domain need none of these.
    __getattr__ = names_of(
        __name__,
        {
            "facts": ("DeliveryFact", "FindingFact", "ReportFacts", "StepFact"),
            "files": ("write_whole",),
            "page": ("metadata_page", "render"),
            "published": ("Edition", "public_files"),
            "table_csv": (
                "ReadTable",
                "read_own",
                "read_published",
                "read_table",
                "table_text",
                "told_by_csv",
            ),
        },
    )

__all__ = [
    "DeliveryFact",
    "Edition",
    "FindingFact",
    "ReadTable",
    "ReportFacts",
    "StepFact",
    "metadata_page",
    "public_files",
    "read_own",
    "read_published",
    "read_table",
    "render",
    "table_text",
    "told_by_csv",
    "write_whole",
]
