"""One national file: it is read and checked record by record, and its records become columns."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.domains.schema import Domain, Role
from sdc_tasks.intake.content import Content, UnreadableContentError
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.packed import inner_name, is_packed, peek, unpack
from sdc_tasks.intake.formats.records import Records
from sdc_tasks.intake.formats.registry import FORMATS, discover
from sdc_tasks.intake.numbers import read_share, read_units, read_values
from sdc_tasks.intake.structure import Keys, concepts, read_keys
from sdc_tasks.model.findings import Finding, Severity
from sdc_tasks.model.series import countries_in
from sdc_tasks.model.table import Bools, Floats, Ints, read_only

SPARE_BYTES = 1 << 18
SPARE_LINES = 1000


@dataclass(frozen=True)
class Entries:
    """The records of a file, each cell once; arrays (records,): `cell` within a national table, `line` in the
    file, `flag` the CONF_STATUS code.

    `value` is in the unit of the indicator, NaN where the sender says that it is not `available`. `units` is
    −1 and `share_1 share_2` are NaN where not sent.
    """

    cell: Ints = field(repr=False)
    line: Ints = field(repr=False)
    value: Floats = field(repr=False)
    available: Bools = field(repr=False)
    flag: np.ndarray = field(repr=False)
    units: Ints = field(repr=False)
    share_1: Floats = field(repr=False)
    share_2: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in vars(self):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class Sheet:
    """A file of an NSI: its `digest`, its name `file`, and its `entries` (None where a finding
    refuses it).
    """

    digest: str
    file: str
    country: str | None
    findings: tuple[Finding, ...]
    entries: Entries | None = field(repr=False)

    @property
    def refused(self) -> bool:
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def sender(data: bytes, file: str, domain: Domain) -> str | None:
    """The likely country of a file before it is read: that of its first record, unless its name
    says another.
    """
    kind, named = discover(inner_name(file)), countries_of(file, domain)
    code = kind.first(peek(data, file, SPARE_BYTES), domain.areas.dimension) if kind else ""
    return _unless_named(code if code in domain.countries else None, named)


def _unless_named(country: str | None, named: Sequence[str]) -> str | None:
    """The country that records say, unless the name of the file says another."""
    return country if country in named or not named else named[0]


def countries_of(file: str, domain: Domain) -> list[str]:
    """The countries of the domain whose codes are words in the name, in any case: AT in
    AT_2024.csv and in sbs_a_at_2024.csv.
    """
    return countries_in(file, domain.countries)


def read_sheet(
    data: bytes | Content, file: str, domain: Domain, period: str, digest: str | None = None
) -> Sheet:
    """The records in the content of a file of this name, for this reference period.

    `digest` names the file; by default it is random. Any bytes give a Sheet, whose findings name lines,
    columns, cells and remedies, never a value.
    """
    domain = domain.of(period)
    found = Findings()
    country, entries, holds = None, None, file
    try:
        sent = data if isinstance(data, Content) else Content.of(data)
        content, holds = _unpacked(sent, file, domain, found)
        records = _records(content, holds, domain, found) if content else None
        del data, sent, content  # unless the caller keeps its bytes, they are free for what follows
        if records is not None:
            country, columns = _checked(records, domain, period, found)
            del records  # so are its texts, before the columns are copied
            entries = Entries(**columns) if columns else None
    except UnreadableContentError as error:
        found.add("140", str(error))
    except Exception as error:  # the sender's bytes must not stop the release, nor show in a traceback
        found.add(
            "SDC/reader",
            f"the reader failed ({type(error).__name__}): tell the maintainers, and try plain SDMX-CSV",
        )
    if country is not None and not _fits_names(country, file, holds, domain, found):
        country, entries = _unless_named(country, countries_of(file, domain)), None
    return Sheet(digest or secrets.token_hex(), file, country, found.all(), entries)


def _fits_names(country: str, file: str, holds: str, domain: Domain, found: Findings) -> bool:
    """Whether the country of the records is one of those in the name of the file, and in the name of what it
    `holds`; a name without any fits. Adds a finding for each that does not.
    """
    named = countries_of(file, domain)
    inside = countries_of(holds, domain) if holds != file else []
    fits = True
    if inside and country not in inside:
        found.add(
            "SDC/file-name",
            f"the file inside has {' and '.join(inside)} in its name, but holds records of {country}: pack "
            f"the right file",
        )
        fits = False
    if named and country not in named:
        found.add(
            "SDC/file-name",
            f"the name of the file says {' and '.join(named)}, but its records say {country}: the file is "
            f"not compared with the delivery "
            f"of {country}. Send it under the name of its country",
        )
        fits = False
    return fits


def most_bytes(domain: Domain, file: str) -> int:
    """The largest size of a file of this name: what its format needs for each cell of a national
    table, and some room for a header and small errors. A packed file whose name does not tell what
    it holds may be as large as any.
    """
    kind = discover(inner_name(file))
    each = kind.record_bytes if kind else max(each.record_bytes for each in FORMATS) if is_packed(file) else 0
    return SPARE_BYTES + each * domain.space.national_size


def _unpacked(content: Content, file: str, domain: Domain, found: Findings) -> tuple[Content | None, str]:
    """The content and the name of what the file holds; no content where a finding refuses it."""
    size = domain.space.national_size
    if content.size > (most := most_bytes(domain, file)):
        found.add(
            "140",
            f"the file has more than {most} bytes; no table of {size} cells needs so many: send the table "
            f"and nothing else",
        )
        return None, file
    return unpack(content, file, lambda name: most_bytes(domain, name), found) or (None, file)


def _records(content: Content, file: str, domain: Domain, found: Findings) -> Records | None:
    if (kind := discover(file)) is None:
        found.add(
            "140",
            "no format has the suffix of this file: send SDMX-CSV, such as AT_2024.csv, or SDMX-ML, such as "
            "AT_2024.xml",
        )
        return None
    return kind.read(content, concepts(domain), found, SPARE_LINES + 4 * domain.space.national_size)


def _checked(
    records: Records, domain: Domain, period: str, found: Findings
) -> tuple[str | None, dict[str, np.ndarray] | None]:
    """The country of the records, and the columns of their entries; None where a finding refuses them."""
    keys = read_keys(records, domain, period, found)
    attributes = domain.attributes
    value, units = read_values(keys, found), read_units(keys, found)
    shares = [read_share(keys, column, found) for column in (attributes.share_1, attributes.share_2)]
    _possible(keys, value, found)
    if found.refused or keys.sender is None:
        return keys.sender, None
    flags = np.array(
        [*keys.domain.flags, ""]
    )  # −1, the empty one: a cell that is not available needs no flag
    return keys.sender, {
        "cell": keys.cell,
        "line": records.line,
        "value": value,
        "available": ~keys.unavailable,
        "flag": flags[keys.flag],
        "units": units,
        "share_1": shares[0],
        "share_2": shares[1],
    }


def _possible(keys: Keys, value: Floats, found: Findings) -> None:
    """Adds a finding for each value that its indicator cannot have. No release could use
    it, so the sender must correct it.
    """

    def each(code: str, wrong: Callable[[int], Bools], message: Callable[[int], str]) -> None:
        for i in range(len(keys.domain.indicators)):
            rows = np.flatnonzero((keys.indicator == i) & ~np.isnan(value) & wrong(i))
            found.each(code, rows, keys.records.line, message(i), keys.name)

    indicators = keys.domain.indicators
    primary = np.array([*(spec.role is Role.PRIMARY for spec in keys.domain.flags.values()), False])[
        keys.flag
    ]
    none, aware = np.zeros(len(value), dtype=bool), [indicator.counts_aware for indicator in indicators]
    each(
        "SDC/whole",
        lambda i: value != np.rint(value) if indicators[i].whole else none,
        lambda i: (
            f"{indicators[i].code} is counted, so OBS_VALUE must be a whole number: correct it, or check "
            f"unit and decimals"
        ),
    )
    each(
        "SDC/negative",
        lambda i: none if indicators[i].signed else value < 0,
        lambda i: (
            f"OBS_VALUE is negative: correct the sign, or have {indicators[i].code} declared as signed in "
            f"the domain file"
        ),
    )
    each(
        "SDC/flag",
        lambda i: (
            primary & ((value <= 0) | (value >= indicators[i].least))
            if indicators[i].least and not aware[i]
            else none
        ),
        lambda i: (
            f"flagged as primary, but small count rounding protects only counts of 1 to "
            f"{indicators[i].least - 1}: "
            "flag it as secondary, or have the indicator protected by bases"
        ),
    )
    each(
        "SDC/flag",
        lambda i: primary if aware[i] else none,
        lambda i: (
            f"flagged as primary, which tells everybody that the count is 1 to {indicators[i].least - 1}, so "
            f"that rounding.rule_aware "
            f"cannot leave {indicators[i].least} candidates: flag it as secondary, which protects it as well"
        ),
    )
