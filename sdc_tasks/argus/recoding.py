"""<RECODE> table,"variable",what: a dimension of microdata with fewer codes.

Without a hierarchy `what` is a file .grc, a line for each new code; codes that no line names stay:

    1: 01, 02            these
    2: 03 - 05, 09       from 03 to 05, and 09
    3: 10 -              10 and all behind it; `- 10`: all up to it

A range goes by the texts of codes, filled to one width with blanks before them; it holds no code of a
missing value. With a hierarchy `what` is a file of <TREERECODE> and codes, one a line, below which nothing is
left; or a level, and nothing is left below it: 1 for the codes right below the total.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdc_tasks.argus.batch import Command
from sdc_tasks.argus.metadata import Column
from sdc_tasks.argus.places import BatchLine, lines_of
from sdc_tasks.model.table import Hierarchy

TREE = "<TREERECODE>"
LABELS = ("<MISSING>", "<CODELIST>")  # of the new codes: which are missing values, and what they mean
LEVELS = "123456789"


@dataclass(frozen=True)
class AskedRecoding:
    """The arguments of <RECODE>; `what`: the name of a file, or a level."""

    command: Command
    table: int
    variable: str
    what: str

    @property
    def is_level(self) -> bool:
        return self.what in LEVELS


@dataclass(frozen=True)
class BatchRecoding:
    """How the codes of a dimension are replaced: by the `lines` of a file, or below a `level`."""

    command: Command
    level: int = 0
    lines: tuple[BatchLine, ...] = ()

    def applied(
        self, column: Column, tree: Hierarchy, seen: Sequence[str]
    ) -> tuple[Hierarchy, Mapping[str, str]]:
        """The new tree of a dimension, and the new code of each code. `seen`: those of the records. Raises
        InvalidInput for lines that say no recoding of it.
        """
        if column.has("HIERARCHICAL"):
            return self._closed(tree)
        if self.level:
            raise self.command.refused(
                f"a level of {column.name}, which has no hierarchy. Remedy: name a file with its new codes"
            )
        return self._grouped(column, tree, seen)

    def _closed(self, tree: Hierarchy) -> tuple[Hierarchy, Mapping[str, str]]:
        inner = set(tree.parent)
        if self.level:
            depth = zip(tree.codes, tree.depth, strict=True)
            closed = {code for code, level in depth if level == self.level and code in inner}
        else:
            closed = self._named(tree, inner)
        new: dict[str, str] = {}
        for code, parent in zip(tree.codes, tree.parent, strict=True):  # a parent stands before its parts
            above = new.get(parent or "", "")
            new[code] = above if above in closed else code
        kept = [
            (code, parent) for code, parent in zip(tree.codes, tree.parent, strict=True) if new[code] == code
        ]
        codes, parents = zip(*kept, strict=True)
        return Hierarchy(tree.dimension, codes, parents), new

    def _named(self, tree: Hierarchy, inner: set[str | None]) -> set[str]:
        """The codes of a file for a hierarchy."""
        first, *lines = self.lines
        if first.text.strip().upper() != TREE:
            raise first.refused(
                f"{TREE} is expected: {tree.dimension} has a hierarchy. Remedy: write it, and behind it the "
                f"codes below which nothing is to be left, one a line"
            )
        for line in lines:
            if line.text.strip() not in inner:
                raise line.refused(
                    f"{line.text.strip()} is no code of {tree.dimension} with codes below it. Remedy: "
                    "correct it"
                )
        return {line.text.strip() for line in lines}

    def _grouped(
        self, column: Column, tree: Hierarchy, seen: Sequence[str]
    ) -> tuple[Hierarchy, Mapping[str, str]]:
        total, codes = tree.codes[0], sorted(set(tree.codes[1:]) | set(seen))
        new: dict[str, str] = {}
        groups: dict[str, BatchLine] = {}
        for line in self.lines:
            if line.text.strip().upper().startswith(LABELS):
                continue
            code, sets = _new_code(line, {total, *groups})
            groups[code] = line
            for old in _meant(line, sets, codes, column.missing):
                if new.setdefault(old, code) != code:
                    raise line.refused(f"{old} has a new code already. Remedy: name it once")
        for code, line in groups.items():
            if code in codes and code not in new:
                raise line.refused(f"{code} is a code that stays. Remedy: another new code, or name it there")
        if not groups:
            raise self.command.refused(f"{self.lines[0].path} has no new code. Remedy: give some")
        new = {total: total, **{code: new.get(code, code) for code in codes}}
        made = sorted(set(new.values()) - {total})
        return Hierarchy(tree.dimension, (total, *made), (None, *[total] * len(made))), new


def asked_recoding(command: Command) -> AskedRecoding:
    """The arguments of a command. Raises InvalidInput."""
    number, variable, what, *more = [*command.arguments, "", "", ""]
    if any(more) or not number.isdecimal() or not variable or not what:
        raise command.refused(
            'table, "variable", "file" or a level from 1 to 9 is expected. Remedy: correct it'
        )
    return AskedRecoding(command, int(number), variable, what)


def recoding_of(asked: AskedRecoding, path: Path | None) -> BatchRecoding:
    """What a file asks for, or a level. Raises InvalidInput for a file that says nothing."""
    if path is None:
        return BatchRecoding(asked.command, level=int(asked.what))
    lines = tuple(lines_of(path))
    if not lines:
        raise asked.command.refused(f"{path} is empty. Remedy: write the new codes")
    return BatchRecoding(asked.command, lines=lines)


def without_use(recoding: BatchRecoding) -> list[str]:
    """What a file says that makes no difference here."""
    words = [line.text.split()[0] for line in recoding.lines]
    return [f"{word} of {recoding.lines[0].path.name}" for word in words if word.upper() in LABELS]


def _new_code(line: BatchLine, taken: Collection[str]) -> tuple[str, str]:
    """The new code of a line, and the list of codes and ranges that it stands for."""
    code, colon, sets = (part.strip() for part in line.text.partition(":"))
    if not (colon and code and sets) or code in taken:
        raise line.refused(
            "a new code, a colon and old codes are expected, each new code once, and not the total. "
            "Remedy: write it so, as 1: 01, 03 - 05"
        )
    return code, sets


def _meant(line: BatchLine, sets: str, codes: Sequence[str], missing: Sequence[str]) -> list[str]:
    """The codes that a list of codes and ranges means."""
    found: list[str] = []
    for part in sets.split(","):
        if "-" in part and part.strip() in codes:
            raise line.refused(
                f"{part.strip()} is a code, and reads as a range. Remedy: rename it in the data, or take a "
                f"range that holds it alone"
            )
        first, hyphen, last = (each.strip() for each in part.partition("-"))
        if not (first or last) or "-" in last:
            raise line.refused("a code or a range of codes is missing. Remedy: write it, as 01 or 03 - 05")
        if hyphen:
            found += _within(line, first, last, codes, missing)
        elif first in missing:
            raise line.refused(f"{first} is a missing value, which no new code may be. Remedy: leave it out")
        elif first in codes:
            found.append(first)
    return found


def _within(
    line: BatchLine, first: str, last: str, codes: Sequence[str], missing: Sequence[str]
) -> list[str]:
    """The codes of a range, one end of which may be open, without those of missing values."""
    width = max(len(each) for each in (*codes, *missing))
    low, high = first.rjust(width), last.rjust(width)
    if first and last and low > high:
        raise line.refused(f"the range {first} - {last} ends before it begins. Remedy: correct it")
    return [
        code
        for code in codes
        if code not in missing
        and (not first or code.rjust(width) >= low)
        and (not last or code.rjust(width) <= high)
    ]
