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
    rows += [_failed(each) for each in checked if not each["passed"] and each["state"] != NO_LONGER]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    order = sorted(rows, key=lambda row: (str(row[0] or ""), str(row[1])))
    writer.writerows(map(_no_formula, row) for row in order)
    return text.getvalue()


def _failed(record: Mapping[str, Any]) -> tuple[object, ...]:
    """The row of a failed check."""
    result = result_of(record)
    cells = " ".join(result.cells)
    return record["country"], record["file"], result.severity, result.check, None, cells, describe(result)


def result_of(record: Mapping[str, Any]) -> CheckResult:
    """The result in a record of `reader.check_results`."""
    severity, cells = Severity(record["severity"]), tuple(record["cells"])
    return CheckResult(
        record["check"], severity, record["passed"], record["checked"], record["failed"], cells
    )


def _no_formula(field: object) -> str:
    """A file is named by its sender: no spreadsheet takes it for a formula."""
    text = "" if field is None else str(field)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
