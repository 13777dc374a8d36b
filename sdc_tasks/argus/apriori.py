"""A-priori files of τ-ARGUS (.hst): a line `code;code;ACTION[;number[;number]]` for each cell, read and written.

U unsafe, S safe, P protected (stays open), C or W its cost, PL its levels, M a secondary chosen by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sdc_tasks.argus.places import BatchLine, lines_of, number_in
from sdc_tasks.intake.tables.crossed import CrossedSuppression
from sdc_tasks.intake.tables.jj import printed
from sdc_tasks.methods.suppression.given.instructions import Instruction, What, instructed
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Bools

ACTIONS: Mapping[str, What] = {"U": "u", "S": "s", "P": "z", "C": "c", "W": "c", "PL": "pl", "M": "c"}
NUMBERS = {"U": 0, "S": 0, "P": 0, "M": 0, "C": 1, "W": 1, "PL": 2}


def with_apriori(
    table: CrossedSuppression, path: Path, separator: str, manual: float, ignore: bool
) -> tuple[CrossedSuppression, list[str]]:
    """The table after the instructions of a file, and the lines that were passed over. `ignore`: cells that the table does not have are
    passed over, as τ-ARGUS does if asked; else they are refused. A cell made unsafe without levels gets `manual` percent of its value.
    """
    place = {key: cell for cell, key in enumerate(table.keys)}
    problem, given, over = table.problem, [], []
    levels = set(problem.primaries.tolist())
    unsafe: dict[int, BatchLine] = {}
    for line in lines_of(path):
        fields = [text.strip().strip('"').strip() for text in line.text.split(separator)]
        key, rest = tuple(fields[: len(table.dimensions)]), fields[len(table.dimensions) :]
        action = rest[0].upper() if rest else ""
        if action not in ACTIONS:
            raise line.refused(f"{printed_key(key)}: {action or 'nothing'} is no action of ours. Remedy: one of {' '.join(ACTIONS)}")
        if key not in place:
            if not ignore:
                raise line.refused(f"{printed_key(key)} is no cell of the table. Remedy: correct it")
            over.append(f"{line.place}: {printed_key(key)} is no cell of the table, passed over")
            continue
        cell = place[key]
        if len(rest) - 1 < NUMBERS[action]:
            raise line.refused(f"{printed_key(key)}: {action} takes {NUMBERS[action]} numbers. Remedy: give them")
        numbers = tuple(number_in(line, text, f"{printed_key(key)}: a number") for text in rest[1 : 1 + NUMBERS[action]])
        given.append(Instruction(cell, ACTIONS[action], (0.0,) if action == "M" else numbers, line.place))
        if action == "U":
            unsafe[cell] = line
        if action == "PL":
            levels.add(cell)
    for cell, line in unsafe.items():
        if cell not in levels:
            level = manual / 100 * abs(float(problem.a[cell]))
            given.append(Instruction(cell, "pl", (level, level), line.place))
    after = instructed(problem, given)
    stays = table.stays.copy()
    stays[[each.cell for each in given if each.what == "z"]] = True
    return CrossedSuppression(after, table.dimensions, table.value, table.keys, stays), over


def apriori_text(table: CrossedSuppression, hidden: Bools, separator: str = ";") -> str:
    """The pattern as a-priori file: U with PL for primaries, M for secondaries, P for cells that must stay open. It tells levels."""
    problem = table.problem
    lines = []
    for cell in np.flatnonzero(hidden | table.stays).tolist():
        key = table.keys[cell]
        if problem.primary[cell]:
            level = (printed(float(problem.lpl[cell])), printed(float(problem.upl[cell])))
            lines += [(*key, "U"), (*key, "PL", *level)]
        else:
            lines.append((*key, "M" if hidden[cell] else "P"))
    return "".join(separator.join(line) + "\n" for line in lines)


def split_arguments(rest: str) -> Sequence[str]:
    """The arguments behind <APRIORI>: "file", table, "separator", ignore, expand. A comma in quotation marks is one."""
    found, inside, text = [], False, ""
    for sign in rest:
        if sign == '"':
            inside = not inside
        elif sign == "," and not inside:
            found.append(text.strip())
            text = ""
        else:
            text += sign
    return [*found, text.strip()]
