"""Metadata of τ-ARGUS (.rda): which columns a file has, what each means, and what the
codes of a dimension add up to.

<SEPARATOR> ","                  what separates fields; without it the fields stand at fixed places
<SAFE> "S"  <UNSAFE> "U"  <PROTECT> "P"        the statuses in a table
NAME 1 3 99                      a column: its place and width (fixed), its width
                                 (microdata), codes of missing values
   <RECODEABLE> <TOTCODE> "Total" <HIERARCHICAL> <HIERCODELIST> "x.hrc" <HIERLEADSTRING> "@"
   <HIERLEVELS> 2 1 1 <CODELIST> "x.cdl"
   What leads a code may be a blank or a tab, between quotation marks.
   <NUMERIC> <DECIMALS> 2        or <FREQUENCY> <SHADOW> <COSTVAR> <MAXSCORE> <STATUS> <LOWERPL>
                                 <UPPERPL> <WEIGHT> <HOLDING> <REQUEST>
   <RECORDKEY> <PFILE> "p.txt"   the keys of records, and the perturbation table of CKM
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sdc_tasks.argus.places import BatchLine, find, lines_of
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.codes import led_codes
from sdc_tasks.model.keys import refuse_twins
from sdc_tasks.model.table import Hierarchy

KEYWORD = re.compile(r'\s*<\s*([A-Za-z0-9_]+)\s*>\s*((?:"(?:[^"]|"")*"|[^<"])*)')
OF_VALUE_NOISE = ("PFILE_CONT", "PFILE_SEP", "CKM", "INCLUDEZEROS", "PARITY", "SCALING", "SEPARATION")
OF_FILE = {"SEPARATOR", "SAFE", "UNSAFE", "PROTECT"}
OF_COLUMN = {
    "RECODEABLE",
    "RECODABLE",
    "TOTCODE",
    "HIERARCHICAL",
    "HIERCODELIST",
    "HIERLEADSTRING",
    "HIERLEVELS",
    "CODELIST",
    "NUMERIC",
    "DECIMALS",
    "FREQUENCY",
    "SHADOW",
    "COSTVAR",
    "COST",
    "MAXSCORE",
    "STATUS",
    "LOWERPL",
    "UPPERPL",
    "WEIGHT",
    "HOLDING",
    "REQUEST",
    "DISTANCE",
    "TRUNCABLE",
    "RESPONSE",
    "RECORDKEY",
    "PFILE",
    "PFILE_FREQ",
    *OF_VALUE_NOISE,
}
OF_ONE_COLUMN = ("FREQUENCY", "WEIGHT", "HOLDING", "REQUEST")
TOTAL = "Total"


@dataclass(frozen=True)
class Column:
    """A column. `numbers`: its place and width, as far as the file has them. `missing`: its codes of missing
    values. `said`: the keywords about it, with their texts.
    """

    name: str
    line: BatchLine
    numbers: tuple[str, ...]
    missing: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)

    def has(self, *keywords: str) -> bool:
        return any(keyword in self.said for keyword in keywords)

    @property
    def total(self) -> str:
        """The code of its total."""
        return self.said.get("TOTCODE", "") or TOTAL

    @property
    def decimals(self) -> int:
        text = self.said.get("DECIMALS", "0")
        if not text.isdecimal() or int(text) > 12:
            raise self.line.refused(f"the decimals of {self.name} are no number. Remedy: correct <DECIMALS>")
        return int(text)


@dataclass(frozen=True)
class Metadata:
    """The columns in the order of the file. `separator` is None where fields stand at fixed places."""

    path: Path
    separator: str | None
    statuses: Mapping[str, str]  # letter of the file → u, s or z
    columns: tuple[Column, ...]

    def column(self, name: str, by: BatchLine) -> Column:
        """The column of this name, in any case. Raises InvalidInput."""
        found = [each for each in self.columns if each.name.lower() == name.lower()]
        if not found:
            raise by.refused(
                f"no column {name} in {self.path}. Remedy: name one of "
                f"{', '.join(each.name for each in self.columns)}"
            )
        return found[0]

    def having(self, *keywords: str) -> list[Column]:
        """The columns about which one of the keywords is said."""
        return [each for each in self.columns if each.has(*keywords)]

    def lists(self, dimensions: Iterable[str]) -> list[Path]:
        """The files of the hierarchies of these. Raises InvalidInput where one is not there."""
        asked = {name.lower() for name in dimensions}
        listed = [each for each in self.having("HIERCODELIST") if each.name.lower() in asked]
        return [self._list(column) for column in listed]

    def _list(self, column: Column) -> Path:
        return find(self.path.parent, column.said["HIERCODELIST"], column.line)

    def hierarchy(self, column: Column, codes: Iterable[str]) -> Hierarchy:
        """What the codes of a dimension add up to: as its hierarchy says, else the codes
        that occur add up to the total.
        """
        total, said = column.total, column.said
        seen = sorted(set(codes) - {total})
        _refuse_unclear(column)
        if "HIERCODELIST" in said:
            pairs = _of_file(
                self._list(column),
                said.get("HIERLEADSTRING", "@"),
                column,
                total,
            )
        elif column.has("HIERLEVELS"):
            pairs = _of_digits(column, seen, total)
        else:
            pairs = dict.fromkeys(seen, total)
        pairs |= {
            code: total for code in seen if code in column.missing and code not in pairs
        }  # a code of its own, below the total
        try:
            return Hierarchy(column.name, (total, *pairs), (None, *pairs.values()))
        except ValueError as error:
            raise column.line.refused(f"{error}. Remedy: correct the hierarchy") from error


def _refuse_unclear(column: Column) -> None:
    """Raises InvalidInput where a column says twice, or not at all, what its codes add up to."""
    said = column.said
    if ("HIERCODELIST" in said) == ("HIERLEVELS" in said) and column.has("HIERARCHICAL", "HIERCODELIST"):
        raise column.line.refused(
            f"{column.name}: what do its codes add up to? Remedy: <HIERCODELIST> or <HIERLEVELS>, one of them"
        )
    if "HIERLEADSTRING" in said and "HIERCODELIST" not in said:
        raise column.line.refused(
            f"{column.name}: <HIERLEADSTRING> without a list. Remedy: name it in <HIERCODELIST>, or "
            f"leave it out"
        )


def read_metadata(path: Path, tabular: bool) -> Metadata:
    """Reads a .rda. Raises InvalidInput with file, line and remedy; an unknown keyword is refused, for
    it may say what is confidential.
    """
    of_file: dict[str, str] = {}
    lines = lines_of(path)
    separated = any("<SEPARATOR>" in line.text.upper() for line in lines)
    placed = 0 if tabular else 1 if separated else 2
    columns: list[Column] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith("<"):
            _hear(line, of_file, columns)
        elif not text.startswith("//"):
            columns.append(_column(line, placed, columns))
    if not columns:
        raise InvalidInput(f"{path}: no column. Remedy: describe the columns of the data")
    letters = {
        of_file.get("UNSAFE", "U"): "u",
        of_file.get("PROTECT", "P"): "z",
        of_file.get("SAFE", "S"): "s",
    }
    if len(letters) < 3:
        raise InvalidInput(
            f"{path}: one letter for two of <UNSAFE>, <PROTECT> and <SAFE>. Remedy: give each its own"
        )
    separator = of_file.get("SEPARATOR") or ("," if tabular else None)
    return Metadata(path, separator, letters, tuple(columns))


def _column(line: BatchLine, placed: int, before: Sequence[Column]) -> Column:
    """A column by its name and numbers, of which the first `placed` say where it stands."""
    name, *numbers = _words(line)
    if name.lower() in {each.name.lower() for each in before}:
        raise line.refused(f"{name} is described twice. Remedy: keep one of them")
    return Column(name, line, tuple(numbers[:placed]), tuple(numbers[placed:]))


def _hear(line: BatchLine, of_file: dict[str, str], columns: list[Column]) -> None:
    """Adds what a line says of the file, or of the last column."""
    for word, value in _said(line):
        if word in OF_FILE:
            already = of_file
        elif word in OF_COLUMN and columns:
            already = dict(columns[-1].said)
        else:
            raise line.refused(
                f"<{word}> is not understood. Remedy: leave it out, if the table does not need it"
            )
        if word in already:
            raise line.refused(f"<{word}> stands there already. Remedy: keep one of them")
        if word in OF_ONE_COLUMN and (other := next((each for each in columns if each.has(word)), None)):
            raise line.refused(
                f"<{word}> of {columns[-1].name}, and of {other.name}. Remedy: one column has it"
            )
        already[word] = value
        if word in OF_COLUMN:
            columns[-1] = replace(columns[-1], said=already)


def _said(line: BatchLine) -> list[tuple[str, str]]:
    """(keyword, what it says) of a line. Between quotation marks a < is no keyword, a quotation mark is
    doubled, and of a separator and of what leads a code the blanks count.
    """
    found, at, text = [], 0, line.text.strip()
    while at < len(text):
        part = KEYWORD.match(text, at)
        if part is None:
            raise line.refused(
                "<KEYWORD> and what it says are expected. Remedy: correct it, and double quotation marks in "
                "a text"
            )
        at, word, said = part.end(), part[1].upper(), part[2].strip()
        quoted = len(said) > 1 and said[0] == said[-1] == '"'
        value = said[1:-1].replace('""', '"') if quoted else said.strip('"')
        found.append((word, value if word in ("SEPARATOR", "HIERLEADSTRING") else value.strip()))
    return found


def _words(line: BatchLine) -> list[str]:
    try:
        return shlex.split(line.text, posix=True)
    except ValueError as error:
        raise line.refused("a quotation mark that does not end. Remedy: correct it") from error


def _of_file(path: Path, lead: str, column: Column, total: str) -> dict[str, str]:
    """code → parent of a .hrc: its depth is how often the lead string stands before it; the total is not
    listed.
    """
    if not lead:
        raise column.line.refused(
            f"{column.name}: <HIERLEADSTRING> says nothing. Remedy: a sign, a blank or a tab between "
            f"quotation marks"
        )
    pairs: dict[str, str] = {}
    lines = lines_of(path)
    for line, (text, parent) in zip(
        lines, led_codes([(line.place, line.text) for line in lines], lead), strict=True
    ):
        if text in pairs or text == total:
            raise line.refused(
                f"{text} stands there already, or is the total. Remedy: list each code once, without the "
                f"total"
            )
        pairs[text] = parent or total
    if not pairs:
        raise InvalidInput(f"{path}: no code. Remedy: one code per line")
    refuse_twins(str(path), (total, *pairs))
    return pairs


def _of_digits(column: Column, codes: Iterable[str], total: str) -> dict[str, str]:
    """code → parent where the first digits of a code are its parent: <HIERLEVELS> 2 1 1
    has codes of 2, 3 and 4 digits.
    """
    widths = column.said["HIERLEVELS"].split()
    if not widths or not all(width.isdecimal() for width in widths):
        raise column.line.refused(
            f"<HIERLEVELS> of {column.name} are no numbers. Remedy: write the digits of each level"
        )
    ends = [sum(map(int, widths[: i + 1])) for i in range(len(widths)) if int(widths[i])]
    pairs: dict[str, str] = {}
    for code in codes:
        above = total
        for end in ends:
            part = code[:end]
            if part not in pairs:
                pairs[part] = above
            above = part
            if end >= len(code):
                break
    return pairs
