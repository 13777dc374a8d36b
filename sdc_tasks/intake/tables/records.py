"""Records with keys, for the cell key method: microdata, or inner cells with the sum of their records' keys.

A missing code is a category of its own, so its cells have keys too. A key is a whole number below a modulus,
or a decimal number in [0, 1), as R cellKey writes it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.counts import counts_of
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.methods.perturb.keys import MOST_MODULUS, CellKeying, Keys
from sdc_tasks.methods.rounding.small_count import InnerCells
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Floats, Ints

UNKNOWN = "_U"  # the code of SDMX for what is not known
KEY_DECIMALS = 15  # as many as τ-ARGUS has; a float tells no more apart
VALUE_DECIMALS = 9
FRACTION = re.compile(r"0?\.(\d+)|0")
SMALL = re.compile(r"(\d)(?:\.(\d+))?[eE]-(\d\d?)")  # what R writes of a key below 0.0001


@dataclass(frozen=True)
class RecordColumns:
    """Where is what in the records. `record`: their names, from which a secret makes keys; `record_key`: keys
    that were given; one of the two. `keys_below`: the modulus of keys that are whole numbers. `count`:
    records are inner cells with so many people. `weight`: survey weights.
    """

    record: str | None = None
    record_key: str | None = None
    keys_below: int | None = None
    count: str | None = None
    weight: str | None = None
    unknown: str = UNKNOWN


@dataclass(frozen=True)
class KeyedCells:
    """n inner cells with the sums of their records' `keys` (n,), modulo that of `keying`, and of their
    `weights` (n,). `which`, `record_keys` (records,): the cell and the key of each record.
    """

    cells: InnerCells
    keying: CellKeying
    keys: Keys = field(repr=False)
    which: Ints = field(repr=False)
    record_keys: Keys = field(repr=False)
    weights: Floats | None = field(default=None, repr=False)


def keyed_cells(
    rows: TextRows, dimensions: Sequence[str], columns: RecordColumns, secret: Secret | None
) -> KeyedCells:
    """Raises InvalidInput, with line, column and remedy, never with a key or a weight."""
    _refuse_unkeyed(rows, columns, secret)
    others = [
        name
        for name in (columns.record, columns.record_key, columns.count, columns.weight)
        if name is not None
    ]
    if twice := sorted({name for name in others if others.count(name) > 1 or name in dimensions}):
        raise InvalidInput(
            f"{rows.name}: the column {twice[0]} is named for two things. Remedy: name a column for each"
        )
    told = counts_of(rows, dimensions, columns.count, columns.unknown)
    if columns.record is not None:
        assert secret is not None
        keying = CellKeying.of_secret(secret)
        keys = keying.record_keys(_names(rows, columns.record))
    else:
        assert columns.record_key is not None
        keys, modulus = _given(rows, columns.record_key, columns.keys_below)
        if columns.count is not None:
            _refuse_empty(rows, columns.count, columns.record_key, keys)
        keying = CellKeying(modulus, secret)
    weights: Floats | None = None
    if columns.weight is not None:
        weights = np.zeros(len(told.cells))
        np.add.at(weights, told.which, _numbers(rows, columns.weight, "a weight"))
    sums = keying.summed(told.which, keys, len(told.cells))
    return KeyedCells(told.cells, keying, sums, told.which, keys, weights)


def _refuse_unkeyed(rows: TextRows, columns: RecordColumns, secret: Secret | None) -> None:
    if (columns.record is None) == (columns.record_key is None):
        raise InvalidInput(
            f"{rows.name}: where do the keys of the records come from? Remedy: name either the column of the "
            f"records' names, {rows.option('record', 'ID')} with a secret, or the column of their keys, "
            f"{rows.option('record-key' if rows.word != 'row' else 'record_key', 'KEY')}"
        )
    if columns.record is not None and secret is None:
        raise InvalidInput(
            f"{rows.name}: names of records become keys by a secret only. Remedy: give the secret of this "
            f"statistic, 64 hexadecimal digits, the same for all its tables"
        )
    if columns.record is not None and columns.count is not None:
        raise InvalidInput(
            f"{rows.name}: a record with a count is a cell, and has no name. Remedy: give microdata, or the "
            f"sum of the keys of each cell"
        )


def _refuse_empty(rows: TextRows, count: str, column: str, keys: Keys) -> None:
    """Raises InvalidInput for a cell without people that has a key: its totals would lose the noise of their
    people.
    """
    counts = rows.column(count)
    wrong = next((i for i in np.flatnonzero(keys).tolist() if float(counts[i]) == 0), None)
    if wrong is not None:
        raise InvalidInput(
            f"{rows.at(wrong)}: column {column}: nobody is in this cell, but it has a key. Remedy: give "
            f"the key 0"
        )


def _names(rows: TextRows, column: str) -> list[str]:
    names = rows.column(column)
    if "" in names:
        raise InvalidInput(
            f"{rows.at(names.index(''))}: column {column}: the record has no name. Remedy: give each its own"
        )
    if len(set(names)) < len(names):
        first: dict[str, int] = {}
        second = next(i for i, name in enumerate(names) if first.setdefault(name, i) != i)
        raise InvalidInput(
            f"{rows.at(second)}: column {column}: an earlier record has this name. Remedy: a row for each "
            f"record, and for each a name that it keeps"
        )
    return names


def _given(rows: TextRows, column: str, below: int | None) -> tuple[Keys, int]:
    """The keys as whole numbers, and their modulus."""
    texts = rows.column(column)
    if below is not None:
        return _whole(rows, column, texts, below), below
    parts = [_digits(text) for text in texts]
    if None in parts:
        wrong = parts.index(None)
        if texts[wrong].isascii() and texts[wrong].isdigit():
            raise InvalidInput(
                f"{rows.at(wrong)}: column {column}: whole numbers need their modulus. Remedy: say below "
                f"what number all keys are, as 256 of the English census; a perturbation table with ckey "
                f"says it too"
            )
        raise InvalidInput(f"{rows.at(wrong)}: column {column}: {_NO_FRACTION}")
    places = max(len(part or "") for part in parts)
    keys = [int((part or "").ljust(places, "0") or 0) for part in parts]
    return np.array(keys, dtype=np.uint64), 10 ** max(places, 1)


_NO_FRACTION = (
    f"a key is missing, or no decimal number from 0 to below 1 with at most {KEY_DECIMALS} decimals. Remedy: "
    f"round longer ones, and give each record a key, drawn evenly"
)


def _digits(text: str) -> str | None:
    """The decimals of a number from 0 to below 1; None for any other text."""
    if small := SMALL.fullmatch(text):
        lead, rest, zeros = small.groups()
        text = "0." + "0" * (int(zeros) - 1) + lead + (rest or "")
    found = FRACTION.fullmatch(text)
    if found is None:
        return None
    digits = (found.group(1) or "").rstrip("0")
    return digits if len(digits) <= KEY_DECIMALS else None


def _whole(rows: TextRows, column: str, texts: Sequence[str], below: int) -> Keys:
    if not 2 <= below <= MOST_MODULUS:
        raise InvalidInput(
            f"{rows.name}: keys are below a whole number from 2 to {MOST_MODULUS}. Remedy: give their modulus"
        )
    known = {
        text: int(text)
        for text in set(texts)
        if text.isascii() and text.isdigit() and len(text) <= len(str(below))
    }
    wrong = next((i for i, text in enumerate(texts) if known.get(text, below) >= below), None)
    if wrong is not None:
        raise InvalidInput(
            f"{rows.at(wrong)}: column {column}: the key is missing, or no whole number from 0 to below "
            f"{below}. Remedy: give such a key to each record, or the modulus of these"
        )
    return np.array([known[text] for text in texts], dtype=np.uint64)


def values_of(rows: TextRows, column: str) -> tuple[Floats, int]:
    """The values of the records, and how many decimals they have at most. Raises InvalidInput for one that is
    no number, or below 0.
    """
    texts = rows.column(column)
    values = _numbers(rows, column, "a value")
    return values, min(max(map(_decimals, texts)), VALUE_DECIMALS)


def _decimals(text: str) -> int:
    """How many decimals a number has: 2e-05 has five, 1.5e3 none."""
    exponent = Decimal(text).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _numbers(rows: TextRows, column: str, what: str) -> Floats:
    """Raises InvalidInput for one that is no finite number, or below 0."""
    found = []
    for i, text in enumerate(rows.column(column)):
        try:
            number = float("none" if "_" in text else text)  # Python reads 1_000
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise InvalidInput(
                f"{rows.at(i)}: column {column}: {what} is a number, 0 or more. Remedy: correct it"
            )
        found.append(number)
    return np.array(found)
