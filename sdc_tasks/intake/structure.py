"""The country and the cell of each record. Every coded column is compared with the code lists of
the domain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.domains.schema import Domain, Role
from sdc_tasks.intake.embargo import ended
from sdc_tasks.intake.findings import Findings, shown
from sdc_tasks.intake.formats.eurostat import CONFIDENTIAL, status_of
from sdc_tasks.intake.formats.header import LAST_UPDATE
from sdc_tasks.intake.formats.records import NOTHING, Concepts, Numbers, Records
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Bools, Ints

# CL_OBS_STATUS of the SDMX cross-domain code lists, as in the package statcodelists.
OBS_STATUS = frozenset("ABDEFGHIJKLMNOPQSUVW")
NOT_AVAILABLE = frozenset("HLMO")  # codes of values that nobody has, or has yet
_ACTIONS = frozenset(
    "IARM"
)  # information, append, replace, merge (which SDMX 3.1 says for the first two): the record holds the data
_WORDS = re.compile(
    r"[A-Za-z]+(?:\.[A-Za-z]+)?"
)  # such as ActionType.information: no value, nor a part of one
_DIGIT = re.compile(r"\d")
_INSTANT = re.compile(r"[0-9]{2}/[0-9]{2}/(?:[0-9]{2}){1,2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_STRUCTURES, _KINDS = ("DATAFLOW", "STRUCTURE_ID"), frozenset(("dataflow", "datastructure", "dataprovision"))


@dataclass(frozen=True)
class Keys:
    """Arrays (records,): the positions of country, indicator, cell in a national table, and flag; −1 if
    unknown.

    `unavailable`: the sender says that there is no value (yet). `unsent`: the sender says that it is
    confidential and does not send it.
    """

    records: Records
    domain: Domain
    country: Numbers = field(repr=False)
    indicator: Numbers = field(repr=False)
    cell: Ints = field(repr=False)
    flag: Numbers = field(repr=False)
    unavailable: Bools = field(repr=False)
    unsent: Bools = field(repr=False)

    def name(self, row: int) -> str | None:
        """The readable key of the record's cell, None where one of its codes is unknown."""
        if self.country[row] < 0 or self.cell[row] < 0:
            return None
        return printed_key(
            (self.domain.countries[self.country[row]], *self.domain.space.national_keys[self.cell[row]])
        )

    @property
    def sender(self) -> str | None:
        """The country of the delivery, None where there is none or more than one."""
        senders = np.unique(self.country[self.country >= 0])
        return self.domain.countries[senders[0]] if senders.size == 1 else None


def concepts(domain: Domain) -> Concepts:
    """The columns of a delivery. Units and shares are optional. UNIT_MULT is not: nobody
    should guess a factor of a thousand.
    """
    attributes = domain.attributes
    dimensions = (
        "FREQ",
        domain.areas.dimension,
        domain.indicator_dimension,
        *(source.dimension for source in domain.hierarchies),
    )
    stated = (attributes.unit, attributes.unit_multiplier, attributes.obs_status, attributes.conf_status)
    numbers = (attributes.units, attributes.share_1, attributes.share_2)
    optional = (*numbers, *dict.fromkeys(flag.ends for flag in domain.flags.values()))
    return Concepts(
        required=(*dimensions, "TIME_PERIOD", "OBS_VALUE", *(column for column in stated if column)),
        optional=tuple(column for column in optional if column),
        dimensions=(*dimensions, "TIME_PERIOD"),
        numbers=("OBS_VALUE", *(column for column in numbers if column)),
        obs_status=attributes.obs_status,
        conf_status=attributes.conf_status,
    )


def read_keys(records: Records, domain: Domain, period: str, found: Findings) -> Keys:
    """The cell and flag of every record. Adds a finding for each code that is unexpected or not
    in its list.
    """
    _structure(records, domain, found)
    _fixed(records, "FREQ", domain.frequency, "150/904-2", f"must be {domain.frequency}", found)
    _fixed(
        records,
        "TIME_PERIOD",
        period,
        "SDC/period",
        f"must be {period}, the reference period of this release",
        found,
    )
    space = domain.space
    country = _areas(records, domain, found)
    indicator = _codes(records, domain.indicator_dimension, space.indicators, found)
    cell, known = indicator.astype(np.int64), indicator >= 0
    for hierarchy in (
        space.hierarchies
    ):  # in C order, an axis at a time: all of them at once take half as much memory again
        axis = _codes(records, hierarchy.dimension, hierarchy.codes, found)
        known &= axis >= 0
        cell *= len(hierarchy.codes)
        cell += axis
    cell[~known] = -1
    unavailable = _unavailable(records, domain)
    flag = ended(records, domain, period, _flags(records, unavailable, domain, found), found)
    unsent = _unsent(records, domain, flag, unavailable)
    keys = Keys(records, domain, country, indicator, cell, flag, unavailable & ~unsent, unsent)
    _obs_status(keys, found)
    message = "confidential and not sent: send the true value, without it the cell cannot be protected"
    found.each("SDC/missing", np.flatnonzero(unsent), records.line, message, keys.name)
    _one_country(keys, found)
    _duplicates(keys, found)
    _constrained(keys, found)
    return keys


def _structure(records: Records, domain: Domain, found: Findings) -> None:
    if not any(map(records.has, _STRUCTURES)):
        message = (
            f"the file does not say of which structure it is, and is read as "
            f"{domain.structure_id}: name it, as DATAFLOW"
        )
        found.add("SDC/structure", message, severity=Severity.WARNING)
    for column in _STRUCTURES:
        if not records.has(column):
            continue
        first = records.which(column)[0]
        if (other := np.flatnonzero(records.which(column) != first)).size:
            message = (
                f"{column} is not {domain.structure_id} in all records: send each dataflow in a "
                f"file of its own"
            )
            found.add("SDC/structure", message, int(records.line[other[0]]))
        else:
            _fixed(
                records, column, domain.structure_id, "SDC/structure", f"must be {domain.structure_id}", found
            )
    if records.has("STRUCTURE"):
        kinds = ("SDC/structure", "dataflow, datastructure or dataprovision", "")
        _of_the_file(records, "STRUCTURE", lambda text: text.lower() in _KINDS, kinds, found)
    if records.has("ACTION"):
        actions = ("SDC/action", "I, A, R or M", ": a delivery is the complete table, and deletes nothing")
        _of_the_file(records, "ACTION", _ACTIONS.__contains__, actions, found)
    if (
        records.has(LAST_UPDATE)
        and records.where(LAST_UPDATE, lambda text: not _INSTANT.fullmatch(text)).any()
    ):
        found.unread(f"column {LAST_UPDATE}, which does not hold instants such as 12/03/26 23:00:00,", 1)


def _of_the_file(
    records: Records, column: str, may_be: Callable[[str], bool], rule: tuple[str, str, str], found: Findings
) -> None:
    """Adds one finding for each text that may not be, as it mostly stands for the whole file. `rule`: the
    code, what must be, and why.
    """
    code, due, why = rule
    for number, text in enumerate(records.texts(column)):
        here = np.flatnonzero(records.which(column) == number)
        if may_be(text) or not here.size:
            continue
        told = text if _WORDS.fullmatch(text) else "another one"
        message = f"{column} must be {due}, not {told} ({here.size} records, from this line on){why}"
        found.add(code, message, int(records.line[here[0]]))


def _fixed(records: Records, column: str, expected: str, code: str, rule: str, found: Findings) -> None:
    wrong = records.where(column, lambda text: text != expected)
    if len(records) > 1 and wrong.all():  # one mistake, of the whole file
        found.add(code, f"{column} {rule} (in all {len(records)} records)", int(records.line[0]))
    else:
        found.each(code, np.flatnonzero(wrong), records.line, f"{column} {rule}")


def _areas(records: Records, domain: Domain, found: Findings) -> Numbers:
    column = domain.areas.dimension
    aggregates = {code for spec in domain.aggregates for code in (spec.code, spec.partial_code) if code}
    aggregate = records.where(column, aggregates.__contains__)
    message = f"{column} is an aggregate: aggregates are computed here, send the country only"
    found.each("SDC/area", np.flatnonzero(aggregate), records.line, message)
    return _codes(records, column, domain.countries, found, besides=aggregate)


def _codes(
    records: Records, column: str, codes: tuple[str, ...], found: Findings, besides: Bools | None = None
) -> Numbers:
    """(records,): position of each record's code in its list. An empty code is finding 150/904-1 (key
    size), an unknown one 150/904-2.
    """
    position = records.positions(column, _index(codes))
    unknown = position < 0 if besides is None else (position < 0) & ~besides
    empty = records.where(column, lambda text: not text)
    found.each(
        "150/904-1",
        np.flatnonzero(unknown & empty),
        records.line,
        f"{column} is empty: every record needs its whole key",
    )
    found.each(
        "150/904-2",
        np.flatnonzero(unknown & ~empty),
        records.line,
        lambda row: _wrong_code(records, column, row, codes),
    )
    return position


def _index(codes: Iterable[str]) -> Mapping[str, int]:
    return {code: i for i, code in enumerate(codes)}


def _wrong_code(records: Records, column: str, row: int, codes: Iterable[str]) -> str:
    code = shown(records.text(column, row), codes)
    return (
        f"{column}{f' {code}' if code else ''} is not in the code list: correct it, or "
        f"check that the columns are in the header's order"
    )


def _unavailable(records: Records, domain: Domain) -> Bools:
    """Records without a value and with a status that says so, or with a sign for it: `:`
    (Eurostat), `m` (missing, will come).
    """
    said, silent = (_of_status(records, domain, codes.__contains__) for codes in (NOT_AVAILABLE, NOTHING))
    none, sign = records.among("OBS_VALUE", {"", ":", "m"}), records.among("OBS_VALUE", {":", "m"})
    return (none & said) | (sign & silent)


def _of_status(records: Records, domain: Domain, test: Callable[[str], bool]) -> Bools:
    """(records,): the records whose status passes the test. Eurostat's letters are read as the codes that
    they stand for.
    """
    return records.where(domain.attributes.obs_status, lambda text: test(status_of(text)))


def _flags(records: Records, unavailable: Bools, domain: Domain, found: Findings) -> Numbers:
    """(records,): position in `domain.flags`. An unknown flag is never taken as free; an empty one only
    as the domain file declares it.
    """
    column = domain.attributes.conf_status
    position = records.positions(column, _index(domain.flags))
    empty, none = records.where(column, lambda text: not text), records.where(column, NOTHING.__contains__)
    allowed = ", ".join(domain.flags)
    if domain.flag_when_empty is not None:
        if empty.any() and found.has_unread:
            said = f"{column} is empty, and something is not read that may be the flags under another name"
            found.add(
                "150/904-2",
                f"{said}: correct its name, or take it out",
                int(records.line[np.flatnonzero(empty)[0]]),
            )
        position = np.where(empty, list(domain.flags).index(domain.flag_when_empty), position)
    message = (
        f"{column} is empty: every record needs one of {allowed}; or have flag_when_empty declared in the "
        f"domain file"
        if domain.flag_when_empty is None
        else f"{column} is #N/A, which may be the error of a spreadsheet: send one of {allowed}, or nothing"
    )
    found.each("150/904-2", np.flatnonzero((position < 0) & none & ~unavailable), records.line, message)

    def unknown(row: int) -> str:
        code = shown(records.text(column, row), domain.flags)
        return f"{column}{f' {code}' if code else ''} is not a flag of this domain: use one of {allowed}"

    found.each("150/904-2", np.flatnonzero((position < 0) & ~none), records.line, unknown)
    return position


def _obs_status(keys: Keys, found: Findings) -> None:
    """Adds findings on OBS_STATUS. An empty status means a normal value, as in the code list."""
    records, column = keys.records, keys.domain.attributes.obs_status
    unknown = _of_status(records, keys.domain, lambda text: text not in OBS_STATUS | NOTHING)
    found.each(
        "150/904-2",
        np.flatnonzero(unknown),
        records.line,
        lambda row: _wrong_status(keys, row),
        keys.name,
    )
    there = _may_be_numbers(records) & ~keys.unavailable & ~keys.unsent
    message = (
        f"{column} says that the value is missing, but there is one: correct it; is it a "
        f"{keys.domain.attributes.conf_status}?"
    )
    for codes, severity in (
        (NOT_AVAILABLE, Severity.ERROR),
        ({"Q"}, Severity.WARNING),
    ):  # suppressed: the sender may still send it to us
        odd = np.flatnonzero(there & _of_status(records, keys.domain, codes.__contains__))
        found.each("SDC/status", odd, records.line, message, keys.name, severity)


def _may_be_numbers(records: Records) -> Bools:
    if records.plain("OBS_VALUE"):
        return np.ones(len(records), dtype=bool)
    return records.where("OBS_VALUE", lambda text: _DIGIT.search(text) is not None)


def _wrong_status(keys: Keys, row: int) -> str:
    attributes = keys.domain.attributes
    if CONFIDENTIAL in (text := keys.records.text(attributes.obs_status, row)) and text.islower():
        return (
            f"{attributes.obs_status} has the letter {CONFIDENTIAL} of confidential values: say that in "
            f"{attributes.conf_status}, and send the value"
        )
    return _wrong_code(keys.records, attributes.obs_status, row, OBS_STATUS)


def _unsent(records: Records, domain: Domain, flag: Numbers, unavailable: Bools) -> Bools:
    """Records with a confidential value that was not sent: its protection cannot be computed, nor
    whether an aggregate reveals it.
    """
    primary = np.array([*(spec.role is Role.PRIMARY for spec in domain.flags.values()), False])[flag]
    suppressed = records.among("OBS_VALUE", {"", ":"}) & _of_status(records, domain, "Q".__eq__)
    return np.asarray(suppressed | records.among("OBS_VALUE", {"x"}) | (unavailable & primary))


def _one_country(keys: Keys, found: Findings) -> None:
    known = np.flatnonzero(keys.country >= 0)
    countries, first = np.unique(keys.country[known], return_index=True)
    order = np.argsort(first)
    names = [keys.domain.countries[i] for i in countries[order]]
    for name, row in zip(names[1:], known[first[order]][1:], strict=True):
        message = f"{keys.domain.areas.dimension} {name} beside {names[0]}: one delivery holds one country"
        found.add("SDC/area", message, int(keys.records.line[row]))


def _constrained(keys: Keys, found: Findings) -> None:
    """Adds a finding for each record of a key that the content constraints of the structure do not allow."""
    allowed = keys.domain.reportable
    if allowed is None:
        return
    whole = np.flatnonzero((keys.country >= 0) & (keys.cell >= 0))
    barred = whole[~allowed[keys.country[whole], keys.cell[whole]]]
    message = (
        "a content constraint of the structure does not allow this key: leave the record "
        "out, or have the constraint corrected"
    )
    found.each("SDC/constraint", barred, keys.records.line, message, keys.name)


def _duplicates(keys: Keys, found: Findings) -> None:
    whole = np.flatnonzero((keys.country >= 0) & (keys.cell >= 0))
    key = keys.country[whole].astype(np.int64) * keys.domain.space.national_size + keys.cell[whole]
    ordered = np.sort(key)
    if not (ordered[1:] == ordered[:-1]).any():  # mostly; the rest takes several times the memory
        return
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    original = np.full(len(keys.records), -1, dtype=np.int64)
    original[whole] = whole[first[which]]
    line = keys.records.line
    repeats = whole[original[whole] != whole]
    found.each(
        "SDC/duplicate",
        repeats,
        line,
        lambda row: f"the key of line {line[original[row]]} again: send each cell once",
        keys.name,
    )
