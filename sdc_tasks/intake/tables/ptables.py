"""Perturbation tables in the files of others, read and written.

probabilities   `i;j;p;v;p_int_ub`, also with `p_int_lb` and `type`, or p_ij and p_ij_ub in place of p and
                p_int_ub: a line for each interval of a count i, published as j = i + v. R ptable 1.0.0 writes
                it (`pt_export`), τ-ARGUS 4.2.3 and SAS read it.
keys            `pcv,ckey,pvalue`: a line for each count 1 … 750 and each cell key. The English office's
                package `cell-key-perturbation` 3.1.0 reads it; a larger count uses the lines of 501 … 750 in
                turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.rows import TextRows, read_rows
from sdc_tasks.methods.perturb.ptable import NoiseRow, PerturbationTable
from sdc_tasks.model.tolerances import FEASIBILITY

PROBABILITIES = ("i", "j", "p", "v", "p_int_ub")
OTHER_NAMES = {"p_ij": "p", "p_ij_ub": "p_int_ub"}  # in the examples of τ-ARGUS
KEYS = ("pcv", "ckey", "pvalue")
OFFICE_TOP, OFFICE_REPEAT = 750, 250
OFFICE_KEYS = (256, 4096)  # of the census of 2021, and of administrative data
PLACES = 12  # decimals that we write: theirs are 8, and 21 of these do not sum to 1


def read_ptable(path: Path) -> PerturbationTable:
    """Raises InvalidInput, with file, line and remedy, for a table that is none."""
    rows = read_rows(path)
    rows = replace(rows, header=[OTHER_NAMES.get(name, name) for name in rows.header])
    if all(name in rows.header for name in KEYS):
        return _by_keys(rows)
    if all(name in rows.header for name in PROBABILITIES):
        return _by_probabilities(rows)
    raise InvalidInput(
        f"{path}, line 1: neither a table of probabilities nor one of keys. Remedy: columns "
        f"{', '.join(PROBABILITIES)}, or {', '.join(KEYS)}"
    )


def _by_probabilities(rows: TextRows) -> PerturbationTable:
    if "type" in rows.header and (other := next((t for t in rows.column("type") if t != "all"), None)):
        raise InvalidInput(
            f"{rows.at(rows.column('type').index(other))}: a table for values, not for counts. Remedy: give "
            f"one of type all"
        )
    intervals = _Intervals(
        rows,
        *(_whole(rows, name) for name in ("i", "j", "v")),
        *(_numbers(rows, name) for name in ("p", "p_int_ub")),
    )
    made: list[NoiseRow] = []
    for of, lines in groupby(range(len(intervals.count)), key=intervals.count.__getitem__):
        own = list(lines)
        if of != len(made):
            raise InvalidInput(
                f"{rows.at(own[0])}: count {of} where {len(made)} is expected. Remedy: the lines of each "
                f"count together, from 0 on, none left out"
            )
        made.append(intervals.row(of, own))
    return _table(rows.name, made, 1, None)


@dataclass(frozen=True)
class _Intervals:
    """The lines of a table of probabilities: i, j, v, p and p_int_ub of each."""

    rows: TextRows
    count: Sequence[int]
    published: Sequence[int]
    step: Sequence[int]
    p: Sequence[float]
    upper: Sequence[float]

    def row(self, count: int, own: Sequence[int]) -> NoiseRow:
        """The noise of a count, of its `own` lines. Raises InvalidInput where these contradict themselves."""
        at = self.rows.at(own[0])
        for k in own:
            if self.published[k] != count + self.step[k]:
                raise InvalidInput(f"{self.rows.at(k)}: j is not i + v. Remedy: correct it")
        if abs(sum(self.p[k] for k in own) - 1) > FEASIBILITY:
            raise InvalidInput(
                f"{at}: the probabilities of count {count} do not sum to 1. Remedy: correct p, and p_int_ub "
                f"with it"
            )
        begin = 0.0
        for k in own:
            if abs(self.upper[k] - begin - self.p[k]) > FEASIBILITY:
                raise InvalidInput(
                    f"{self.rows.at(k)}: p_int_ub does not go on by p. Remedy: the upper end of each "
                    f"interval is the sum of p so far"
                )
            begin = self.upper[k]
        return _row(at, [self.step[k] for k in own], [self.upper[k] for k in own])


def _by_keys(rows: TextRows) -> PerturbationTable:
    count, key, step = (_whole(rows, name) for name in KEYS)
    keys = max(key) + 1
    step_of = _steps_of_keys(rows, list(zip(count, key, strict=True)), step, keys)
    made = [NoiseRow.likely([0], [1.0])]
    for c in range(1, OFFICE_TOP + 1):
        runs = [(of, len(list(own))) for of, own in groupby(step_of[c, k] for k in range(keys))]
        ends = np.cumsum([length for _, length in runs]) / keys
        made.append(_row(f"{rows.name}, count {c}", [of for of, _ in runs], ends.tolist()))
    return _table(rows.name, made, OFFICE_REPEAT, keys)


def _steps_of_keys(
    rows: TextRows, places: Sequence[tuple[int, int]], step: Sequence[int], keys: int
) -> Mapping[tuple[int, int], int]:
    """The step of each count and each of so many keys; `places`: those of each line. Raises InvalidInput
    where one has no line, or two.
    """
    found: dict[tuple[int, int], int] = {}
    for k, place in enumerate(places):
        if not 1 <= place[0] <= OFFICE_TOP or place[1] < 0 or place in found:
            raise InvalidInput(
                f"{rows.at(k)}: a count outside 1 … {OFFICE_TOP}, or a key below 0 or twice. Remedy: a line "
                f"for each count and each key"
            )
        found[place] = step[k]
    if len(found) < OFFICE_TOP * keys:
        missing = next((c, k) for c in range(1, OFFICE_TOP + 1) for k in range(keys) if (c, k) not in found)
        raise InvalidInput(
            f"{rows.name}: no line for count {missing[0]} and key {missing[1]}. Remedy: a line for each "
            f"count 1 … {OFFICE_TOP} and each key 0 … {keys - 1}"
        )
    return found


def _row(at: str, steps: Sequence[int], upper: Sequence[float]) -> NoiseRow:
    try:
        return NoiseRow(np.array(steps), np.array(upper))
    except ValueError as error:
        raise InvalidInput(f"{at}: {error}. Remedy: correct the row") from error


def _table(name: str, rows: Sequence[NoiseRow], repeat: int, keys: int | None) -> PerturbationTable:
    try:
        return PerturbationTable(tuple(rows), repeat, keys)
    except ValueError as error:
        raise InvalidInput(f"{name}: {error}. Remedy: correct the table") from error


def _whole(rows: TextRows, name: str) -> list[int]:
    found = []
    for i, text in enumerate(rows.column(name)):
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
            raise InvalidInput(f"{rows.at(i)}: column {name}: no whole number. Remedy: correct it")
        found.append(int(text))
    return found


def _numbers(rows: TextRows, name: str) -> list[float]:
    found = []
    for i, text in enumerate(rows.column(name)):
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not 0 <= number <= 1 + FEASIBILITY:
            raise InvalidInput(f"{rows.at(i)}: column {name}: no number from 0 to 1. Remedy: correct it")
        found.append(number)
    return found


def by_probabilities(table: PerturbationTable) -> bytes:
    """The table as τ-ARGUS reads it. Raises InvalidInput for one whose last rows take turns: this form has no
    words for it.
    """
    if table.repeat != 1:
        raise InvalidInput(
            "a table whose last rows take turns cannot be told by probabilities. Remedy: write it by keys"
        )
    return "\n".join([";".join(PROBABILITIES), *_intervals(table), ""]).encode()


def _intervals(table: PerturbationTable) -> Iterator[str]:
    for count, row in enumerate(table.rows):
        for step, p, upper in zip(row.steps.tolist(), row.p.tolist(), row.upper.tolist(), strict=True):
            yield f"{count};{count + step};{p:.{PLACES}f};{step};{upper:.{PLACES}f}"


def by_keys(table: PerturbationTable, keys: int) -> bytes:
    """The table as the English office's package reads it, with so many keys: the nearest whole numbers of
    keys without bias (`in_keys`).
    """
    steps = _steps_by_key(table, keys)
    lines = [",".join(KEYS)]
    for count in range(1, OFFICE_TOP + 1):
        own = steps[int(table.row_of(np.array([count]))[0])]
        lines += [f"{count},{key},{step}" for key, step in enumerate(own)]
    return "\n".join([*lines, ""]).encode()


def _steps_by_key(table: PerturbationTable, keys: int) -> Mapping[int, list[int]]:
    from sdc_tasks.methods.perturb.whole_keys import in_keys

    return {
        k: [step for step, many in in_keys(row, keys) for _ in range(many)]
        for k, row in enumerate(table.rows)
    }
