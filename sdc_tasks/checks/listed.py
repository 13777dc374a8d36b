"""Findings on deliveries as CSV: a row for each finding of intake and each failed content check. Names
lines and cells, never a value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from sdc_tasks.checks.registry import describe
from sdc_tasks.model.findings import CheckResult, Severity

COLUMNS = ("COUNTRY", "FILE", "SEVERITY", "CODE", "LINE", "CELL", "MESSAGE")
NO_LONGER = "superseded"  # the state of a file that another one replaced


def findings_csv(
    found: Iterable[Mapping[str, Any]],
    checked: Iterable[Mapping[str, Any]],
    not_read: Mapping[str, str] | None = None,
) -> str:
    """The rows by country and file. `found` and `checked` are records of
    `reader.findings` and `reader.check_results`; `not_read` gives for each file that is
    not read the reason. Superseded files are left out.
    """
    rows: list[tuple[object, ...]] = [
        ("", file, Severity.ERROR, "SDC/unread", None, None, why) for file, why in (not_read or {}).items()
    ]
    rows += [
        tuple(each[column.lower()] for column in COLUMNS) for each in found if each["state"] != NO_LONGER
    ]
    for each in checked:
        if not each["passed"] and each["state"] != NO_LONGER:
            result = result_of(each)
            rows.append(
                (
                    each["country"],
                    each["file"],
                    result.severity,
                    result.check,
                    None,
                    " ".join(result.cells),
                    describe(result),
                )
            )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    order = sorted(rows, key=lambda row: (str(row[0] or ""), str(row[1])))
    writer.writerows([_no_formula("" if field is None else str(field)) for field in row] for row in order)
    return text.getvalue()


def result_of(record: Mapping[str, Any]) -> CheckResult:
    """The result in a record of `reader.check_results`."""
    severity, cells = Severity(record["severity"]), tuple(record["cells"])
    return CheckResult(
        record["check"], severity, record["passed"], record["checked"], record["failed"], cells
    )


def _no_formula(field: str) -> str:
    """A file is named by its sender: no spreadsheet takes it for a formula."""
    return f"'{field}" if field[:1] in ("=", "+", "-", "@", "\t", "\r") else field
