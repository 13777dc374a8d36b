"""Excel (.xlsx), from bytes to records: one sheet, whose first row names the columns as in SDMX-CSV.

No library for workbooks is used. openpyxl, reading row by row, does not tell merged cells and hidden rows;
calamine does not tell formulas; and each of these must refuse the file. A package is parsed as it is
unpacked (`parts.py`), within bounds.
"""

from __future__ import annotations

from pyexpat import ExpatError

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.packed import DAMAGED
from sdc_tasks.intake.formats.records import Concepts, Records
from sdc_tasks.intake.formats.workbook.cells import CODE, SheetCells, is_filled, tell
from sdc_tasks.intake.formats.workbook.parts import Package, UnfitWorkbook, Worksheet
from sdc_tasks.model.findings import Severity

_UNPACKED = 1024  # bytes of a part for each record that is allowed
_SPARE = 1 << 20
_OLD = b"\xd0\xcf\x11\xe0"
_RISKS = (
    "a workbook was read: what is stored counts, not what is shown, and Excel changes codes that look like "
    "numbers or dates. "
    "Send SDMX-CSV or SDMX-ML next time"
)


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The records of the one sheet that holds anything; None where the file cannot be read (the findings say
    why).
    """
    if data.startswith(_OLD):
        found.add(
            CODE,
            "a workbook with a password, or of the old kind (.xls): save it as .xlsx, without a password",
        )
        return None
    found.add(CODE, _RISKS, severity=Severity.WARNING)
    try:
        package = Package(data, _SPARE + _UNPACKED * most)
        return SheetCells(_only_sheet(package), concepts, found, most).read(package)
    except UnfitWorkbook as unfit:
        found.add(CODE, str(unfit), unfit.line)
    except ExpatError:
        found.add(CODE, "a part of the workbook is no XML: save it again")
    except (*DAMAGED, KeyError):
        found.add(CODE, "the workbook is not whole: send it again")
    return None


def _only_sheet(package: Package) -> Worksheet:
    """The one sheet that holds anything. Raises UnfitWorkbook where it is hidden, or there are several."""
    filled = [sheet for sheet in package.sheets if is_filled(package, sheet)]
    if len(filled) != 1:
        named = f": {', '.join(tell(sheet.name) for sheet in filled[:4])}" if filled else ""
        raise UnfitWorkbook(
            f"{len(filled)} sheets hold something{named}. Send one sheet with the table, and nothing else"
        )
    if filled[0].hidden:
        raise UnfitWorkbook("the only sheet that holds something is hidden: show it, and check what it holds")
    return filled[0]


def first(data: bytes, concept: str) -> str:
    """Nothing is seen without reading."""
    return ""
