"""Remedies for findings of intake and failed content checks: who must do what. Codes of findings are those of
`sdc_tasks.intake`; a check has its own remedy.
"""

from __future__ import annotations

FINDINGS = {
    "140": "The file is not well-formed. The NSI exports it again as SDMX-CSV, complete and in UTF-8.",
    "150/003": "A column is missing. The NSI adds it; the message names it.",
    "150/007": "A column that the structure does not know. The NSI removes or renames it.",
    "150/904-1": (
        "A record has too many or too few fields. Look at separators in that line; the "
        "NSI exports the file again."
    ),
    "150/904-2": "A code that is not in its list. The NSI corrects it in the line named.",
    "SDC/absent": (
        "Figures are missing, and nothing shows that they are zero. The NSI sends them, "
        "or says not available."
    ),
    "SDC/action": "Only whole tables are taken: no records that delete. The NSI sends the complete table.",
    "SDC/additivity": (
        "The totals around a value that is not available contradict each other. The NSI "
        "corrects them or their parts."
    ),
    "SDC/area": (
        "A file must hold the table of one country of the domain. The NSI sends a file "
        "of its own, with its own code."
    ),
    "SDC/attribute": (
        "Something is said of a key that no record has: perhaps a lost flag. The NSI "
        "corrects the key, or takes it away."
    ),
    "SDC/constraint": (
        "The registry does not allow this key. The NSI leaves the record out, or the constraint is corrected."
    ),
    "SDC/decimal": (
        "Two ways of writing numbers are mixed, or one is unusual. The NSI uses one "
        "decimal sign and no thousands separators."
    ),
    "SDC/duplicate": "A cell is in the file twice. The NSI decides which record is right and sends that one.",
    "SDC/elsewhere": (
        "A cell is hidden in one table of the statistic and public in another. The NSI flags it "
        "alike in both."
    ),
    "SDC/embargo": (
        "The end of a confidential flag is no instant, or is later than the release. The NSI corrects it, or "
        "the methodologist moves the embargo."
    ),
    "SDC/expected": (
        "The cells with a record are not the same as last time. Ask the NSI whether this is intended."
    ),
    "SDC/file-name": (
        "Name and records say different countries, or the name says none. Ask who sent "
        "the file; then rename it."
    ),
    "SDC/flag": (
        "A flag asks for protection that small count rounding does not give. The NSI "
        "flags the cell as secondary."
    ),
    "SDC/former": (
        "A cell was revised in one table of the statistic, and another one still has the former value. The "
        "NSI sends that table again, too."
    ),
    "SDC/magnitude": "A number is too large to be exact. The NSI checks unit, multiplier and decimals.",
    "SDC/missing": (
        "A value is missing without a status that says so, or is confidential and was "
        "not sent. The NSI sends it."
    ),
    "SDC/negative": (
        "A value has the wrong sign. The NSI corrects it, or the methodologist declares "
        "the indicator as signed."
    ),
    "SDC/overlap": (
        "Two files of the country hold the same cells. Where they differ, the NSI says "
        "which counts: by its name, or with _v2."
    ),
    "SDC/period": "The reference period is not that of the cycle. The NSI sends the file of this period.",
    "SDC/periods": (
        "A figure is not the sum or mean of the periods within its own. After a revision there is nothing to "
        "do; else the NSI sends the period again that is wrong."
    ),
    "SDC/precision": (
        "A value has more decimals than the indicator, and is kept as sent. The NSI checks unit and decimals."
    ),
    "SDC/reader": (
        "The program could not read the file. Tell the maintainers, and ask the NSI for "
        "plain SDMX-CSV meanwhile."
    ),
    "SDC/secondary": (
        "Send the list of these cells to the NSI. The NSI keeps them unpublished, and "
        "flags them as secondary."
    ),
    "SDC/second": (
        "A file of this country came beside those that count. Say what it is: keep, "
        "replace or both, by the DAG second_file."
    ),
    "SDC/share": "A share is not a plain number in percent. The NSI corrects the line named.",
    "SDC/shown": (
        "An earlier version shows too much. Hiding more does not help now; tell the NSI "
        "and the methodologist."
    ),
    "SDC/status": "Value and status contradict each other. The NSI corrects one of them in the line named.",
    "SDC/stock": (
        "A figure is said to be the sum of the periods within its own, and is nearer to their mean. Of a "
        "stock, the methodologist says mean in the domain files."
    ),
    "SDC/structure": "The file names another data structure. The NSI sends it under that of the domain.",
    "SDC/superseded": (
        "A file replaces an earlier one by its name or version. If this was intended, there is nothing to do."
    ),
    "SDC/unit": (
        "Unit or multiplier is not that of the domain. The NSI corrects it; a warning "
        "means that values were converted."
    ),
    "SDC/units": "The number of units is not a whole number. The NSI corrects the line named.",
    "SDC/unread": (
        "Something in the inbox is not read, but may be a delivery. The NSI sends it as "
        "CSV, or you remove it."
    ),
    "SDC/unprotectable": (
        "A primary cannot be protected in its table. The NSI corrects the table or its "
        "flags; the message says how."
    ),
    "SDC/unprotected": (
        "The release protects a primary no further than its own table does. The NSI "
        "hides more and sends it again."
    ),
    "SDC/value": "The value is not a number. The NSI corrects the line named.",
    "SDC/workbook": (
        "A workbook can change codes and hide cells; the place is named. The NSI "
        "corrects it there, or sends SDMX-CSV."
    ),
    "SDC/whole": (
        "A count is not a whole number. The NSI corrects the line named, or checks unit and decimals."
    ),
}
OTHERWISE = "Ask the NSI for a corrected file; the message says what is wrong."


def remedy(code: str) -> str:
    """The remedy for a finding, in a sentence or two."""
    from sdc_tasks.checks.registry import CHECKS

    return CHECKS[code].remedy if code in CHECKS else FINDINGS.get(code, OTHERWISE)
