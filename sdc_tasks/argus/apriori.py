"""A-priori files of τ-ARGUS (.hst): a line `code;code;ACTION[;number[;number]]` for each cell, read and
written.

U unsafe, S safe, P protected (stays open), C or W its cost, PL its levels, M a secondary chosen by hand: it
is hidden in any case. Codes may stand between quotation marks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sdc_tasks.argus.batch import Command
from sdc_tasks.argus.places import BatchLine, field_text, fields_of, lines_of, number_in
from sdc_tasks.argus.tables import Held, below_zero
from sdc_tasks.intake.tables.crossed import CrossedSuppression
from sdc_tasks.intake.tables.jj import printed
from sdc_tasks.methods.suppression.prior_patterns.instructions import Instruction, What, instructed
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools

ACTIONS: Mapping[str, What] = {"U": "u", "S": "s", "P": "z", "C": "c", "W": "c", "PL": "pl", "M": "c"}
NUMBERS = {"U": 0, "S": 0, "P": 0, "M": 0, "C": 1, "W": 1, "PL": 2}


@dataclass(frozen=True)
class AprioriFile:
    """<APRIORI> "name",table,"separator",ignore,expand."""

    name: str
    table: int
    separator: str
    ignore: bool
    expand: bool


def apriori_of(command: Command) -> AprioriFile:
    """The arguments of a command. Raises InvalidInput for more of them, and for a switch that is neither 0
    nor 1.
    """
    name, number, separator, ignore, expand, *more = [*command.arguments, "", "", "", ""]
    if any(more) or not name or not (number or "1").isdecimal() or {ignore, expand} - {"", "0", "1"}:
        raise command.refused(
            '"file", table, "separator", 0 or 1 for errors, 0 or 1 for trivial levels are expected. Remedy: '
            "correct it"
        )
    return AprioriFile(
        name, int(number or 1), {"\\t": "\t"}.get(separator, separator) or ",", ignore != "0", expand == "1"
    )


def with_apriori(
    held: Held, path: Path, separator: str, manual: float, ignore: bool
) -> tuple[Held, list[str]]:
    """The table after the instructions of a file, and the lines that were passed over. `ignore`: cells that
    the table does not have are passed over, as τ-ARGUS does if asked; else they are refused. A cell made
    unsafe without levels gets `manual` percent of its value.
    """
    table = held.crossed
    problem = table.problem
    said = _Said([], {}, {}, [])
    _read(path, separator, ignore, table, said)
    said.given.extend(_usual_levels(said, problem, manual))
    stays = table.stays.copy()
    stays[[each.cell for each in said.given if each.what == "z"]] = True
    if both := [cell for cell in said.chosen if stays[cell] or cell in said.unsafe]:
        raise said.chosen[both[0]].refused(
            f"{printed_key(table.keys[both[0]])}: a secondary, and primary or open as well. Remedy: keep one"
        )
    # a zero is open until somebody calls it unsafe
    zeros = np.isin(np.arange(len(problem.a)), list(said.unsafe)) & (problem.a == 0) & ~stays
    after = instructed(replace(problem, fixed=problem.fixed & ~zeros), said.given)
    if below_zero(after.a, after.primary, after.lpl):
        after = replace(after, lb=np.full(len(after.a), -np.inf))
    hidden = held.chosen.copy()
    hidden[list(said.chosen)] = True
    crossed = replace(table, problem=after, stays=stays)
    return replace(held, crossed=crossed, chosen=hidden & ~after.primary), said.over


def _usual_levels(said: _Said, problem: SensitiveTable, manual: float) -> list[Instruction]:
    """Levels for the cells that a file calls unsafe, and that have none: `manual` percent of the value."""
    levels = {*problem.primaries.tolist(), *(each.cell for each in said.given if each.what == "pl")}
    found = []
    for cell, line in said.unsafe.items():
        if cell not in levels:
            level = manual / 100 * abs(float(problem.a[cell]))
            found.append(Instruction(cell, "pl", (level, level), line.place))
    return found


@dataclass(frozen=True)
class _Said:
    """What a file says: the instructions; the lines that call a cell unsafe, or choose it as a secondary; and
    the lines that were passed over.
    """

    given: list[Instruction]
    unsafe: dict[int, BatchLine]
    chosen: dict[int, BatchLine]
    over: list[str]


def _read(path: Path, separator: str, ignore: bool, table: CrossedSuppression, said: _Said) -> None:
    place = {key: cell for cell, key in enumerate(table.keys)}
    for line in lines_of(path):
        key, action, rest = _parts(line, separator, len(table.dimensions))
        if key not in place:
            if not ignore:
                raise line.refused(f"{printed_key(key)} is no cell of the table. Remedy: correct it")
            said.over.append(f"{line.place}: {printed_key(key)} is no cell of the table, passed over")
            continue
        cell = place[key]
        numbers = tuple(number_in(line, text, f"{printed_key(key)}: a number") for text in rest)
        if action == "M":
            said.chosen[cell] = line
            numbers = (0.0,)
        said.given.append(Instruction(cell, ACTIONS[action], numbers, line.place))
        if action == "U":
            said.unsafe[cell] = line


def _parts(line: BatchLine, separator: str, width: int) -> tuple[tuple[str, ...], str, list[str]]:
    """Key, action and numbers of a line."""
    fields = fields_of(line, separator)
    while fields and not fields[-1]:
        fields.pop()
    key, rest = tuple(fields[:width]), fields[width:]
    action = rest[0].upper() if rest else ""
    if action not in ACTIONS:
        raise line.refused(
            f"{printed_key(key)}: {action or 'nothing'} is no action of ours. Remedy: one of "
            f"{' '.join(ACTIONS)}"
        )
    if len(rest) - 1 != NUMBERS[action]:
        raise line.refused(
            f"{printed_key(key)}: {action} takes {NUMBERS[action]} numbers, not {len(rest) - 1}. Remedy: "
            f"give so many, and put a code "
            "that holds the separator between quotation marks"
        )
    return key, action, rest[1:]


def apriori_text(table: CrossedSuppression, hidden: Bools, separator: str = ";") -> str:
    """The pattern as a-priori file: U with PL for primaries, M for secondaries, P for cells that
    must stay open. It tells levels.
    """
    problem = table.problem
    lines = []
    for cell in np.flatnonzero(hidden | table.stays).tolist():
        key = [field_text(code, separator) for code in table.keys[cell]]
        if problem.primary[cell]:
            level = (printed(float(problem.lpl[cell])), printed(float(problem.upl[cell])))
            lines += [(*key, "U"), (*key, "PL", *level)]
        else:
            lines.append((*key, "M" if hidden[cell] else "P"))
    return "".join(separator.join(line) + "\n" for line in lines)
