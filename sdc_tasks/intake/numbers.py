"""The number columns: one decimal sign in the whole file, plain numbers, the unit of the
indicator, and the grid of its decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.records import Records
from sdc_tasks.intake.structure import Keys
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import SAME

_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?")
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
_LARGEST = 9e15  # doubles below 2^53 hold every multiple of the last decimal


def read_values(keys: Keys, found: Findings) -> Floats:
    """(records,): OBS_VALUE in the unit of its indicator, NaN where it is not available or has a finding.

    A value with more decimals than its indicator is kept as sent, with a warning: rounding it here could
    break the additivity of a table whose other cells have more decimals too.
    """
    records = keys.records
    scale = _multipliers(keys, found)
    _one_decimal_sign(keys, scale, found)
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
    return _on_grid(keys, _scaled(value, scale), found)


def read_units(keys: Keys, found: Findings) -> Ints:
    """(records,): number of units, −1 where not sent."""
    column, records = keys.domain.attributes.units, keys.records
    if column is None or not records.has(column):
        return np.full(len(records), -1, dtype=np.int64)
    units = _of_texts(records, column, lambda text: float(text) if re.fullmatch(r"[0-9]{1,15}", text) else -1)
    wrong = records.where(column, lambda text: not re.fullmatch(r"[0-9]{0,15}", text))
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
    """(records,): `number` of each record's text, computed once for each distinct text."""
    return np.array([number(text) for text in records.texts(column)], dtype=float)[records.which(column)]


def _numbers(records: Records, column: str) -> Floats:
    """(records,): the numbers of a column, NaN where a text is none."""
    texts = records.texts(column)
    if column in records.numbers:
        sent = records.numbers[column]
        return np.where(np.isnan(sent), _of_texts(records, column, _number), sent)
    if records.plain(column):
        return np.array(texts, dtype=float)[records.which(column)]
    return _of_texts(records, column, _number)


def _number(text: str) -> float:
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else np.nan


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
    wrong = records.where(column, lambda text: not _is_multiplier(text))
    found.each(
        "SDC/unit",
        np.flatnonzero(wrong),
        records.line,
        f"{column} must be a power of ten such as 0, 3 or 6",
        keys.name,
    )
    sent = _of_texts(records, column, lambda text: int(text) if _is_multiplier(text) else 0).astype(np.int32)
    expected = np.array([*(power for _, power in units), 0], dtype=np.int32)[at]
    scale = np.where((keys.cell >= 0) & ~wrong, sent - expected, 0)
    if (other := np.flatnonzero(scale)).size:
        message = (
            f"{column} is not the one of the domain in {other.size} records, from this line "
            f"on: their values were converted"
        )
        found.add("SDC/unit", message, int(records.line[other[0]]), severity=Severity.WARNING)
    return scale


def _is_multiplier(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]|1[0-2]", text) is not None


def _one_decimal_sign(keys: Keys, scale: Ints, found: Findings) -> None:
    """Findings unless the file has one decimal sign in all number columns, and it is shown
    not to be a thousands separator.
    """
    records, attributes = keys.records, keys.domain.attributes
    columns = [
        column
        for column in ("OBS_VALUE", attributes.share_1, attributes.share_2)
        if column is not None and records.has(column)
    ]
    first = {sign: _first(records, columns, sign) for sign in (".", ",")}
    used = {sign: row for sign, row in first.items() if row is not None}
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


_SIGNS = {".": "point", ",": "comma"}


def _first(records: Records, columns: list[str], sign: str) -> int | None:
    """The first record with a number that uses the sign."""
    used = np.zeros(len(records), dtype=bool)
    for column in columns:
        texts = records.texts(column)
        by_text = [sign in text and _NUMBER.fullmatch(text) is not None for text in texts]
        used |= np.array(by_text, dtype=bool)[records.which(column)]
    return int(np.argmax(used)) if used.any() else None


def _may_be_thousands(keys: Keys, sign: str, scale: Ints) -> bool:
    """Whether every value with the sign looks like 1.234, and no indicator with three decimals
    explains it.
    """
    records = keys.records
    if sign not in "\n".join(records.texts("OBS_VALUE")):
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
    with np.errstate(over="ignore"):
        return np.where(
            scale < 0, value / 10.0 ** np.maximum(-scale, 0), value * 10.0 ** np.maximum(scale, 0)
        )


def _on_grid(keys: Keys, value: Floats, found: Findings) -> Floats:
    """The values, with NaN beyond the exact range of a double; values within double precision of the
    grid of decimals are put on it.
    """
    unit = 10.0 ** np.array([indicator.decimals for indicator in keys.domain.indicators])[keys.indicator]
    with np.errstate(over="ignore"):
        steps = value * unit
    known: Bools = (keys.indicator >= 0) & ~np.isnan(value)
    exact = np.abs(steps) < _LARGEST
    large = known & ~exact
    message = "OBS_VALUE is too large to be exact: check unit and decimals"
    found.each("SDC/magnitude", np.flatnonzero(large), keys.records.line, message, keys.name)
    steps = np.where(exact, steps, np.nan)  # also of an unknown indicator
    near = np.abs(steps - np.round(steps)) <= SAME + 8 * np.finfo(float).eps * np.abs(steps)
    between = known & ~large & ~near
    message = "OBS_VALUE has more decimals than its indicator: kept as sent, check unit and decimals"
    found.each(
        "SDC/precision", np.flatnonzero(between), keys.records.line, message, keys.name, Severity.WARNING
    )
    return np.where(near, np.round(steps) / unit, np.where(large, np.nan, value))
