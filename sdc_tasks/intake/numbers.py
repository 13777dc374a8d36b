"""The number columns: one decimal sign in the whole file, plain numbers, the unit of the
indicator, and the grid of its decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.records import Records
from sdc_tasks.intake.structure import Keys
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import SAME

_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?")
_ZERO = re.compile(r"[+-]?[0.,]*(?:[eE]|$)")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")  # 1.234: a decimal sign, or thousands?
_FOREIGN = {
    sign: f"OBS_VALUE is {sign}, with which {program} says that there is no value: leave it empty, with a "
    f"status such as M"
    for program, signs in (
        ("SAS", (".", "._", *(f".{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))),
        ("R", ("NA", "<NA>")),
        ("a program", ("nan", "NAN", "null", "NULL", "None", "N/A", "n/a", "#N/A", "-", "..", "...")),
    )
    for sign in signs
}  # no sign is a number, so that a message may repeat it
_POWER = re.compile(r"[+-]?(?P<before>[0-9]*)[.,]?(?P<behind>[0-9]*)[eE](?P<power>[+-]?[0-9]{1,3})")
# A data frame writes 3 as 3.0 where another number of its column is not there; 3.000 may be 3000.
_WHOLE = re.compile(r"([0-9]{1,15})(?:[.,]0)?")
_MULTIPLIER = re.compile(r"(-?[0-9]|1[0-2])(?:\.0)?")  # 3 or, from the same data frames, 3.0
_AT_A_TIME = 1 << 16  # records, so that the steps between need little memory
_FEWEST_CUT = 6  # digits; of a number of fewer, the others are zeros
_LARGEST = 9e15  # doubles below 2^53 hold every whole number


def read_values(keys: Keys, found: Findings) -> Floats:
    """(records,): OBS_VALUE in the unit of its indicator, NaN where it is not available or has a finding.

    A value with more decimals than its indicator is kept as sent, with a warning: rounding it here could
    break the additivity of a table whose other cells have more decimals too.
    """
    records = keys.records
    scale = _multipliers(keys, found)
    _one_decimal_sign(keys, scale, found)
    _whole_digits(records, found)
    value = _numbers(records, "OBS_VALUE")
    wrong = np.isnan(value) & ~keys.unavailable & ~keys.unsent
    empty = records.among("OBS_VALUE", {""})
    missing = (
        "OBS_VALUE is empty: send the true value, of confidential cells too; a status "
        "such as M says that it is not available"
    )
    found.each("SDC/missing", np.flatnonzero(wrong & empty), records.line, missing, keys.name)
    text = "OBS_VALUE is not a plain number: no text, no NaN, no thousands separators"
    found.each(
        "SDC/value",
        np.flatnonzero(wrong & ~empty),
        records.line,
        lambda row: _FOREIGN.get(records.text("OBS_VALUE", row), text),
        keys.name,
    )
    return _on_grid(keys, _scaled(value, scale), scale, found)


def read_units(keys: Keys, found: Findings) -> Ints:
    """(records,): number of units, −1 where not sent."""
    column, records = keys.domain.attributes.units, keys.records
    if column is None or not records.has(column):
        return np.full(len(records), -1, dtype=np.int64)
    units = _of_texts(
        records, column, lambda text: float(match[1]) if (match := _WHOLE.fullmatch(text)) else -1
    )
    wrong = records.where(column, lambda text: text != "" and _WHOLE.fullmatch(text) is None)
    if column in records.numbers:
        sent = records.numbers[column]
        told = ~np.isnan(sent)
        whole = (sent >= 0) & (sent < 1e15) & (sent == np.rint(sent))
        units, wrong = np.where(told, np.where(whole, sent, -1.0), units), wrong | (told & ~whole)
    found.each(
        "SDC/units",
        np.flatnonzero(wrong),
        records.line,
        f"{column} must be a whole number, at least 0",
        keys.name,
    )
    return np.asarray(units, dtype=np.int64)


def read_share(keys: Keys, column: str | None, found: Findings) -> Floats:
    """(records,): a share in percent, NaN where not sent. The content checks judge its range."""
    records = keys.records
    if column is None or not records.has(column):
        return np.full(len(records), np.nan)
    share = _numbers(records, column)
    wrong = ~np.isfinite(share) & records.where(column, bool)
    found.each(
        "SDC/share",
        np.flatnonzero(wrong),
        records.line,
        f"{column} is not a plain number: a share in percent",
        keys.name,
    )
    return share


def _of_texts(records: Records, column: str, number: Callable[[str], float]) -> Floats:
    """(records,): `number` of each record's text, computed once for each text."""
    texts = records.texts(column)
    return np.fromiter(map(number, texts), dtype=float, count=len(texts))[records.which(column)]


def _numbers(records: Records, column: str) -> Floats:
    """(records,): the numbers of a column, NaN where a text is none."""
    if column in records.numbers:
        sent = records.numbers[column]
        return np.where(np.isnan(sent), _of_texts(records, column, _number), sent)
    return _of_texts(records, column, float if records.plain(column) else _number)


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text) is None:
        return np.nan
    number = float(text.replace(",", "."))
    return number if number or _ZERO.match(text) else np.nan  # 3e-400 is no zero, but too small to be held


def _multipliers(keys: Keys, found: Findings) -> Ints:
    """(records,): exponents of the power of ten between the sent unit and the unit of the indicator."""
    records, attributes, indicators = keys.records, keys.domain.attributes, keys.domain.indicators
    units, at_cell = keys.domain.unit_at
    at = np.append(at_cell, len(units)).astype(np.int32)[
        keys.cell
    ]  # −1, the last: a key that is not known whole
    if attributes.unit is not None:
        by_indicator = [each.unit for each in indicators]
        named = list(dict.fromkeys((*(unit for unit, _ in units), *by_indicator)))
        due = np.array([*(named.index(unit) for unit, _ in units), -1], dtype=np.int32)[at]
        of_indicator = np.array([*map(named.index, by_indicator), -1], dtype=np.int32)[keys.indicator]
        due = np.where(keys.cell >= 0, due, of_indicator)
        for number, unit in sorted(enumerate(named), key=lambda each: each[1]):
            wrong = (due == number) & ~records.where(attributes.unit, unit.__eq__)
            found.each(
                "SDC/unit",
                np.flatnonzero(wrong),
                records.line,
                f"{attributes.unit} must be {unit}",
                keys.name,
            )
    if attributes.unit_multiplier is None:
        return np.zeros(len(records), dtype=np.int64)
    column = attributes.unit_multiplier
    wrong = records.where(column, lambda text: _MULTIPLIER.fullmatch(text) is None)
    found.each(
        "SDC/unit",
        np.flatnonzero(wrong),
        records.line,
        f"{column} must be a power of ten such as 0, 3 or 6",
        keys.name,
    )
    sent = _of_texts(records, column, lambda text: float(text) if _MULTIPLIER.fullmatch(text) else 0).astype(
        np.int32
    )
    expected = np.array([*(power for _, power in units), 0], dtype=np.int32)[at]
    scale = np.where((keys.cell >= 0) & ~wrong, sent - expected, 0)
    if (other := np.flatnonzero(scale)).size:
        message = (
            f"{column} is not the one of the domain in {other.size} records, from this line "
            f"on: their values were converted"
        )
        found.add("SDC/unit", message, int(records.line[other[0]]), severity=Severity.WARNING)
    return scale


def _one_decimal_sign(keys: Keys, scale: Ints, found: Findings) -> None:
    """Findings unless the file has one decimal sign in all number columns, and it is shown
    not to be a thousands separator.
    """
    records, used = keys.records, _used_signs(keys)
    if len(used) == 2:
        lines = " and ".join(
            f"{_SIGNS[sign]} in line {records.line[row]}"
            for sign, row in sorted(used.items(), key=lambda item: item[1])
        )
        message = (
            f"decimal comma and decimal point in one file ({lines}): use one sign throughout, "
            f"and no thousands separators"
        )
        found.add("SDC/decimal", message, int(records.line[max(used.values())]))
        return
    for sign, row in used.items():
        line = int(records.line[row])
        if _may_be_thousands(keys, sign, scale):
            message = (
                f"every {_SIGNS[sign]} stands before exactly three digits: decimal sign or "
                f"thousands separator? Use no separators"
            )
            found.add("SDC/decimal", message, line)
        elif sign != records.format.decimal:
            message = (
                f"a decimal {_SIGNS[sign]}, but {records.format.name} has a "
                f"{_SIGNS[records.format.decimal]}: read as decimal sign"
            )
            found.add("SDC/decimal", message, line, severity=Severity.WARNING)


def _used_signs(keys: Keys) -> dict[str, int]:
    """The decimal signs that the columns of numbers have, each with its first record."""
    attributes = keys.domain.attributes
    columns = [
        column
        for column in ("OBS_VALUE", attributes.share_1, attributes.share_2)
        if column is not None and keys.records.has(column)
    ]
    first = {sign: _first(keys.records, columns, sign) for sign in (".", ",")}
    return {sign: row for sign, row in first.items() if row is not None}


_SIGNS = {".": "point", ",": "comma"}


def _whole_digits(records: Records, found: Findings) -> None:
    """A warning where numbers with a power of ten have six digits or more and end before the decimal sign:
    some programs write so many of every number, and then no sum fits.
    """
    if records.plain("OBS_VALUE"):
        return
    cut = np.flatnonzero(records.where("OBS_VALUE", _ends_early))
    if cut.size:
        message = (
            f"OBS_VALUE is written with a power of ten and without its last whole digits in {cut.size} "
            f"records, from this line on: were they cut off? Write all digits, such as 123456789012"
        )
        found.add("SDC/precision", message, int(records.line[cut[0]]), severity=Severity.WARNING)


def _ends_early(text: str) -> bool:
    number = _POWER.fullmatch(text)
    if number is None or int(number["power"]) <= len(number["behind"]):
        return False
    return len((number["before"] + number["behind"]).strip("0")) >= _FEWEST_CUT


def _first(records: Records, columns: list[str], sign: str) -> int | None:
    """The first record with a number that uses the sign."""
    used = np.zeros(len(records), dtype=bool)
    for column in columns:
        if (sign == "," and records.plain(column)) or not records.mention(column, sign):
            continue
        used |= records.where(column, lambda text: sign in text and _NUMBER.fullmatch(text) is not None)
    return int(np.argmax(used)) if used.any() else None


def _may_be_thousands(keys: Keys, sign: str, scale: Ints) -> bool:
    """Whether every value with the sign looks like 1.234, and no indicator with three decimals
    explains it.
    """
    records = keys.records
    if not records.mention("OBS_VALUE", sign):
        return False
    signed = records.where("OBS_VALUE", lambda text: sign in text and _NUMBER.fullmatch(text) is not None)
    grouped = records.where("OBS_VALUE", lambda text: _GROUPED.fullmatch(text) is not None)
    decimals = (
        np.array([indicator.decimals for indicator in keys.domain.indicators], dtype=np.int64)[keys.indicator]
        + scale
    )
    return bool(signed.any() and (grouped & (decimals < 3))[signed].all())


def _scaled(value: Floats, scale: Ints) -> Floats:
    """The values in the unit of the indicator. Division by a power of ten is exact where multiplication by
    its inverse is not; the limit on magnitudes handles overflow.
    """
    if not scale.any():
        return value
    with np.errstate(over="ignore"):
        return np.where(
            scale < 0, value / 10.0 ** np.maximum(-scale, 0), value * 10.0 ** np.maximum(scale, 0)
        )


def _on_grid(keys: Keys, value: Floats, scale: Ints, found: Findings) -> Floats:
    """The values, with NaN beyond the exact range of a double; values within double precision of the
    grid of decimals are put on it.
    """
    large, between = np.zeros(len(value), dtype=bool), np.zeros(len(value), dtype=bool)
    found_values = np.empty_like(value)
    for first in range(0, len(value), _AT_A_TIME):
        rows = slice(first, first + _AT_A_TIME)
        found_values[rows], large[rows], between[rows] = _of_some_on_grid(keys, value, scale, rows)
    message = "OBS_VALUE is too large to be exact: check unit and decimals"
    found.each("SDC/magnitude", np.flatnonzero(large), keys.records.line, message, keys.name)
    message = "OBS_VALUE has more decimals than its indicator: kept as sent, check unit and decimals"
    found.each(
        "SDC/precision", np.flatnonzero(between), keys.records.line, message, keys.name, Severity.WARNING
    )
    return found_values


def _of_some_on_grid(keys: Keys, value: Floats, scale: Ints, some: slice) -> tuple[Floats, Bools, Bools]:
    """The values of some records on their grid; and masks: too large to be exact, and between its points."""
    value, scale, indicator = value[some], scale[some], keys.indicator[some]
    decimals = np.array([indicator.decimals for indicator in keys.domain.indicators])[indicator]
    unit = 10.0**decimals
    with np.errstate(over="ignore", invalid="ignore"):
        steps = value * unit
        apart = np.spacing(np.abs(value)) * unit <= 1
    known: Bools = (indicator >= 0) & ~np.isnan(value)
    exact = (np.abs(steps) < _LARGEST) & apart
    large = known & ~exact
    steps = np.where(exact, steps, np.nan)  # also of an unknown indicator
    whole, slack = np.round(steps), SAME + 8 * np.finfo(float).eps * np.abs(steps)
    near = np.abs(steps - whole) <= slack
    for row in np.flatnonzero(known & (2 * slack >= 1)).tolist():  # every number is so near
        told = _as_sent(keys.records, some.start + row) * Fraction(10) ** int(decimals[row] + scale[row])
        near[row], whole[row] = told.denominator == 1, round(told)
    return np.where(near, whole / unit, np.where(large, np.nan, value)), large, known & ~large & ~near


def _as_sent(records: Records, row: int) -> Fraction:
    """The number of a record with all its digits; of a binary number, those that tell it from its
    neighbours.
    """
    number = float(records.numbers["OBS_VALUE"][row]) if "OBS_VALUE" in records.numbers else np.nan
    return Fraction(records.text("OBS_VALUE", row).replace(",", ".") if np.isnan(number) else repr(number))
