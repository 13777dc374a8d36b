"""What an operator says of single cells before a table is protected; τ-ARGUS calls it a-priori information.

    u   primary: the cell must be protected        s   safe: no primary, it may be hidden
    z   the cell must stay open                    c   its cost                             pl   its
    protection levels

An instruction goes before the table and before the chosen costs. A cell that the table itself
keeps open stays open also with `s`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats

What = Literal["u", "s", "z", "c", "pl"]
STATUS = ("u", "s", "z")


@dataclass(frozen=True)
class Instruction:
    """One instruction. `numbers`: the cost; or lpl, upl and perhaps spl. `place`: file and line, for
    messages.
    """

    cell: int
    what: What
    numbers: tuple[float, ...]
    place: str


def instructed(problem: SensitiveTable, instructions: Sequence[Instruction]) -> SensitiveTable:
    """The problem after the instructions.

    Raises InvalidInput, with place, cell and remedy, where they contradict each other or the table.
    """
    _refuse_twice(problem, instructions)
    cost, levels = problem.cost.copy(), np.array([problem.lpl, problem.upl, problem.spl])
    primary, fixed = problem.primary.copy(), problem.fixed.copy()
    guarded = None if problem.guarded is None else problem.guarded.copy()
    for each in instructions:
        _refuse_one(problem, each, fixed)
        match each.what:
            case "c":
                cost[each.cell] = each.numbers[0]
            case "pl":
                levels[:, each.cell] = (*each.numbers, 0.0)[:3]
            case "u":
                if guarded is not None and not primary[each.cell]:
                    guarded[each.cell] = NOBODY  # nobody said whom the level protects: from all
                primary[each.cell] = True
            case "s":
                primary[each.cell] = False
            case "z":
                fixed[each.cell] = True
    _refuse_levels(problem, instructions, primary, levels)
    return replace(
        problem,
        cost=cost,
        lpl=levels[0],
        upl=levels[1],
        spl=levels[2],
        primary=primary,
        fixed=fixed,
        guarded=guarded,
    )


def _refuse_one(problem: SensitiveTable, each: Instruction, fixed: Bools) -> None:
    """Raises InvalidInput where an instruction contradicts the table. `fixed` (n): the cells that stay open,
    those of the instructions before it included.
    """
    if each.what == "u" and fixed[each.cell]:
        why = "it stays open in the table, so that it cannot be primary. Remedy: drop the line"
    elif each.what == "s" and problem.lone[each.cell]:
        why = "it has a single respondent and is primary for that. Remedy: drop the line"
    elif each.what == "z" and problem.primary[each.cell]:
        why = "it is primary and must not stay open. Remedy: drop the line, or protect it otherwise"
    else:
        return
    raise _refused(problem, each, why)


def _refuse_levels(
    problem: SensitiveTable, instructions: Sequence[Instruction], primary: Bools, levels: Floats
) -> None:
    """Raises InvalidInput for levels of a cell that is not primary, and for a primary without a level, as
    they are after all instructions. `levels` (3, n): lower, upper and sliding.
    """
    for each in instructions:
        if each.what == "pl" and not primary[each.cell]:
            raise _refused(
                problem,
                each,
                "levels of a cell that is not primary. Remedy: add a line u for it, or drop this one",
            )
        if each.what == "u" and not levels[:, each.cell].any():
            raise _refused(problem, each, "primary without a level. Remedy: add a line pl with its levels")


def kept_open(instructions: Sequence[Instruction], n: int) -> Bools:
    """(n): the cells that the instructions keep open."""
    found = np.zeros(n, dtype=bool)
    found[[each.cell for each in instructions if each.what == "z"]] = True
    return found


def _refuse_twice(problem: SensitiveTable, instructions: Sequence[Instruction]) -> None:
    first: dict[tuple[int, str], Instruction] = {}
    for each in instructions:
        about = (each.cell, "status" if each.what in STATUS else each.what)
        if about in first:
            raise _refused(
                problem,
                each,
                f"{first[about].place} says the same of it, or another thing. Remedy: keep one of the two "
                f"lines",
            )
        first[about] = each


def _refused(problem: SensitiveTable, instruction: Instruction, why: str) -> InvalidInput:
    return InvalidInput(f"{instruction.place}: {problem.name(instruction.cell)}: {why}")
