"""The delivery of a country: its files as one national table, in which every cell has a value or
a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sdc_tasks.domains.schema import Domain, Role
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.absent import judge_absent
from sdc_tasks.intake.content import Content
from sdc_tasks.intake.expected import compare_expected
from sdc_tasks.intake.findings import NAMED_IN_FINDING, Findings
from sdc_tasks.intake.inbox import file_content, named_content
from sdc_tasks.intake.sheet import Entries, Sheet, countries_of, most_bytes, read_sheet
from sdc_tasks.intake.unavailable import completed
from sdc_tasks.model.findings import Finding, Severity
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Bools


@dataclass(frozen=True)
class Delivery:
    """The files of one country and period. `told` are the findings on all files together, beside the findings
    of each; `table` is None where a finding refuses them.
    """

    sheets: tuple[Sheet, ...]
    told: tuple[Finding, ...]
    table: NationalTable | None = field(repr=False)

    @property
    def accepted(self) -> bool:
        return self.table is not None

    @property
    def country(self) -> str | None:
        return self.sheets[0].country

    @property
    def converted(self) -> bool:
        """Whether values were converted from another unit multiplier than that of the domain."""
        return any(
            (finding.code, finding.severity) == ("SDC/unit", Severity.WARNING) for finding in self.findings
        )

    @property
    def file(self) -> str:
        """The names of the files."""
        return ", ".join(sheet.file for sheet in self.sheets)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, file by file."""
        return (*(finding for sheet in self.sheets for finding in sheet.findings), *self.told)


def read(path: Path, domain: Domain, period: str, salt: Secret | None = None) -> Delivery:
    """The delivery in one file, named by its digest under `salt`. Raises InvalidInput only where the file
    cannot be opened; see `read_bytes`.
    """
    most = most_bytes(domain, path.name)
    content, digest = (file_content(path, most), None) if salt is None else named_content(path, most, salt)
    return read_bytes(content, path.name, domain, period, digest)


def read_bytes(
    data: bytes | Content, file: str, domain: Domain, period: str, digest: str | None = None
) -> Delivery:
    """The delivery in the content of one file. Any bytes give a Delivery, as in `read_sheet`."""
    domain = domain.of(period)
    return together([read_sheet(data, file, domain, period, digest)], domain)


def together(sheets: Sequence[Sheet], domain: Domain) -> Delivery:
    """The files of one country as one delivery, in the domain of their period.

    Files complement each other. A cell in two files is an error where the files differ, and a warning
    where they agree; the finding names both files. Raises InvalidInput only where the domain has no public
    flag for cells without a record.
    """
    free = _public_flag(domain)
    found = Findings()
    table = None
    if len(sheets) > 1:
        _named_by_their_country(sheets, domain, found)
    try:
        if not found.refused and not any(sheet.refused for sheet in sheets):
            table = _table(sheets, domain, free, found)
    except Exception as error:  # as in `read_sheet`
        found.add("SDC/reader", f"the reader failed ({type(error).__name__}): tell the maintainers")
    return Delivery(tuple(sheets), found.all(), table)


def _named_by_their_country(sheets: Sequence[Sheet], domain: Domain, found: Findings) -> None:
    """An error for a file without a country in its name beside other files: findings could show
    its sender what the others hold.
    """
    for sheet in sheets:
        if not countries_of(sheet.file, domain):
            others = " and ".join(each.file for each in sheets if each is not sheet)
            message = (
                f"{sheet.file} has no country in its name, so it is not combined with {others}: "
                f"rename it, such as AT_2024.csv"
            )
            found.add("SDC/file-name", message)


def _public_flag(domain: Domain) -> str:
    for code, flag in domain.flags.items():
        if flag.role is Role.PUBLIC:
            return code
    raise InvalidInput(f"domain {domain.id}: no flag with role public, which cells without a record need")


def _table(sheets: Sequence[Sheet], domain: Domain, free: str, found: Findings) -> NationalTable | None:
    """The complete table: a cell without a record is a public zero, or refuses the delivery (`absent.py`)."""
    size = domain.space.national_size
    country = str(sheets[0].country)
    entries = [sheet.entries for sheet in sheets if sheet.entries is not None]
    _overlaps(sheets, entries, domain, found)
    value, units = np.zeros(size), np.full(size, -1, dtype=np.int64)
    flag = np.full(size, free, dtype=np.array([*domain.flags, ""]).dtype)
    share_1, share_2 = np.full(size, np.nan), np.full(size, np.nan)
    present, available = np.zeros(size, dtype=bool), np.ones(size, dtype=bool)
    for each in entries:
        value[each.cell], units[each.cell], flag[each.cell] = each.value, each.units, each.flag
        share_1[each.cell], share_2[each.cell] = each.share_1, each.share_2
        present[each.cell], available[each.cell] = True, each.available
    judge_absent(country, value, present, available, domain, found)
    compare_expected(country, present, domain, found)
    if found.refused:
        return None
    whole = completed(value, available, domain)
    if whole is None:
        cell = printed_key((country, *domain.space.national_keys[int(np.flatnonzero(~available)[0])]))
        message = (
            "no values of the cells that are not available fit the totals around them: "
            "correct these totals or their parts"
        )
        found.add("SDC/additivity", message, cell=cell)
        return None
    deliveries = tuple(sheet.digest for sheet in sheets)
    return NationalTable(country, deliveries, whole, flag, units, share_1, share_2, available)


def _overlaps(sheets: Sequence[Sheet], entries: Sequence[Entries], domain: Domain, found: Findings) -> None:
    """Adds findings for the cells in two files: an error where the files differ, a warning where
    they agree.
    """
    country = sheets[0].country
    for second in range(1, len(entries)):
        for first in range(second):
            a, b = entries[first], entries[second]
            _, at, other = np.intersect1d(a.cell, b.cell, assume_unique=True, return_indices=True)
            equal = np.array([_same(getattr(a, name)[at], getattr(b, name)[other]) for name in _CONTENT]).all(
                axis=0
            )
            named = f"{sheets[first].file} and {sheets[second].file}"
            for cells, severity, told in (
                (a.cell[at[~equal]], Severity.ERROR, "differ in"),
                (a.cell[at[equal]], Severity.WARNING, "say the same of"),
            ):
                if len(cells):
                    keys = [
                        printed_key((str(country), *domain.space.national_keys[cell]))
                        for cell in cells[:NAMED_IN_FINDING]
                    ]
                    more = (
                        f" and {len(cells) - NAMED_IN_FINDING} more" if len(cells) > NAMED_IN_FINDING else ""
                    )
                    message = (
                        f"{named} {told} {', '.join(keys)}{more}: send each cell in one "
                        f"file{_REMEDY if told == 'differ in' else ''}"
                    )
                    found.add("SDC/overlap", message, cell=keys[0], severity=severity)


_CONTENT = ("value", "available", "flag", "units", "share_1", "share_2")
_REMEDY = (
    ", or give the correction the name of the file that it replaces, or that name "
    "with _v2, _v3 … before its suffix"
)


def _same(a: np.ndarray, b: np.ndarray) -> Bools:
    """Mask: equal, or both missing."""
    return np.asarray((a == b) | ((a != a) & (b != b)))
