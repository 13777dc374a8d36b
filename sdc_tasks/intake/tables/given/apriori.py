"""A file of instructions for single cells, like a τ-ARGUS a-priori file (.hst): a line `key…,what,number…`
each.

    C,TOTAL,u            primary                       C,TOTAL,c,12        its cost
    C,TOTAL,s            safe, no primary              C,TOTAL,pl,5,10     its levels lpl,upl, or lpl,upl,spl
    C,TOTAL,z            must stay open; also p

The key has a code for each dimension; in a JJ table it is the number of the cell. A line
that begins with # is a comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from sdc_tasks.intake.tables.given.lines import Line, read_lines
from sdc_tasks.methods.suppression.prior_patterns.instructions import Instruction, What
from sdc_tasks.model.keys import printed_key

REMEDY = "write lines key…,what,number… with what one of u s z c pl"
ALIASES: Mapping[str, What] = {**{name: name for name in get_args(What)}, "p": "z"}
COUNTS: Mapping[What, tuple[int, ...]] = {"u": (0,), "s": (0,), "z": (0,), "c": (1,), "pl": (2, 3)}


def read_apriori(path: Path, keys: Sequence[tuple[str, ...]]) -> tuple[Instruction, ...]:
    """The instructions of a file for the cells with these keys (n). Raises InvalidInput,
    with file, line, key and remedy.
    """
    place = {key: cell for cell, key in enumerate(keys)}
    width = len(keys[0])
    return tuple(
        _instruction(line, width, place)
        for line in read_lines(path, REMEDY)
        if not line.fields[0].startswith("#")
    )


def _instruction(line: Line, width: int, place: Mapping[tuple[str, ...], int]) -> Instruction:
    if len(line.fields) <= width:
        raise line.refused(f"a key of {width} codes and what to do are expected. Remedy: {REMEDY}")
    key, word = line.fields[:width], line.fields[width].lower()
    if key not in place:
        raise line.refused(
            f"{printed_key(key)} is no cell of the table. Remedy: correct the key; it has {width} codes"
        )
    if word not in ALIASES:
        raise line.refused(f"{printed_key(key)}: {word or 'nothing'} is no instruction. Remedy: {REMEDY}")
    what = ALIASES[word]
    numbers = tuple(
        line.number_of(i, f"{printed_key(key)}: a number of {what}")
        for i in range(width + 1, len(line.fields))
    )
    if len(numbers) not in COUNTS[what]:
        wanted = " or ".join(map(str, COUNTS[what]))
        raise line.refused(
            f"{printed_key(key)}: {what} takes {wanted} numbers, not {len(numbers)}. Remedy: correct the line"
        )
    if any(number < 0 for number in numbers):
        raise line.refused(f"{printed_key(key)}: a number below 0. Remedy: costs and levels are at least 0")
    return Instruction(place[key], what, numbers, line.place)
