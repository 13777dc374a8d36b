"""One national file: read, checked record by record, laid out as the cells of a national table."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sdc_tasks.domains.schema import Domain, Role
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.inbox import file_bytes
from sdc_tasks.intake.numbers import read_share, read_units, read_values
from sdc_tasks.intake.structure import Keys, concepts, read_keys
from sdc_tasks.intake.wire import parse
from sdc_tasks.model.findings import Finding
from sdc_tasks.model.problem import NationalTable

LINE = 512  # bytes; an honest record has 60 to 200
SPARE = 1 << 18
SPARE_LINES = 1000


@dataclass(frozen=True)
class Delivery:
    """What an NSI sent. `digest` is the sha256 of the file's bytes, `file` its name; `table` is None where a finding refused it."""

    digest: str
    file: str
    country: str | None
    findings: tuple[Finding, ...]
    table: NationalTable | None = field(repr=False)

    @property
    def accepted(self) -> bool:
        return self.table is not None


def read(path: Path, domain: Domain, period: str) -> Delivery:
    """The delivery in that file. Raises InvalidInput only where the file cannot be opened; see `read_bytes`."""
    return read_bytes(file_bytes(path, most_bytes(domain)), path.name, domain, period)


def read_bytes(data: bytes, file: str, domain: Domain, period: str) -> Delivery:
    """The delivery in the bytes of a file of that name, for that reference period.

    Whatever the bytes are, the answer is a Delivery whose findings name lines, columns, cells and remedies, never a value. Raises
    InvalidInput only where the domain has no public flag for the cells without a record.
    """
    domain = domain.of(period)
    free = _public_flag(domain)
    digest = hashlib.sha256(data).hexdigest()
    found = Findings()
    country, table = None, None
    try:
        country, table = _read(data, digest, domain, period, free, found)
    except Exception as error:  # the sender's bytes must not stop the release, nor show in a traceback
        found.add("SDC/reader", f"the reader failed ({type(error).__name__}): tell the maintainers, and try plain SDMX-CSV")
    return Delivery(digest, file, country, found.all(), table)


def most_bytes(domain: Domain) -> int:
    """What a delivery may have at most: for each cell of a national table `LINE` bytes, and room for a header and a slip."""
    return SPARE + LINE * domain.space.national_size


def _public_flag(domain: Domain) -> str:
    for code, flag in domain.flags.items():
        if flag.role is Role.PUBLIC:
            return code
    raise InvalidInput(f"domain {domain.id}: no flag with role public, which cells without a record need")


def _read(data: bytes, digest: str, domain: Domain, period: str, free: str, found: Findings) -> tuple[str | None, NationalTable | None]:
    if len(data) > (most := most_bytes(domain)):
        size = domain.space.national_size
        found.add("140", f"the file has more than {most} bytes, which no table of {size} cells needs: send the table and nothing else")
        return None, None
    records = parse(data, concepts(domain), found, SPARE_LINES + 4 * domain.space.national_size)
    if records is None:
        return None, None
    keys = read_keys(records, domain, period, found)
    table = _table(keys, digest, free, found)
    return keys.sender, table


def _table(keys: Keys, digest: str, free: str, found: Findings) -> NationalTable | None:
    """The complete table: a cell without a record is a public zero."""
    attributes, size = keys.domain.attributes, keys.domain.space.national_size
    sent_value, sent_units = read_values(keys, found), read_units(keys, found)
    sent_shares = [read_share(keys, column, found) for column in (attributes.share_1, attributes.share_2)]
    if found.refused or keys.sender is None:
        return None
    flags = np.array(list(keys.domain.flags))
    value, units, flag = np.zeros(size), np.full(size, -1, dtype=np.int64), np.full(size, free, dtype=flags.dtype)
    share_1, share_2 = np.full(size, np.nan), np.full(size, np.nan)
    value[keys.cell], units[keys.cell], flag[keys.cell] = sent_value, sent_units, flags[keys.flag]
    share_1[keys.cell], share_2[keys.cell] = sent_shares
    return NationalTable(keys.sender, digest, value, flag, units, share_1, share_2)
