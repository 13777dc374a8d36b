"""Metadata of τ-ARGUS (.rda): which columns a file has, what each means, and what the codes of a dimension add up to.

<SEPARATOR> ","                  what separates fields; without it the fields stand at fixed places
<SAFE> "S"  <UNSAFE> "U"  <PROTECT> "P"        the statuses in a table
NAME 1 3 99                      a column: its place and width (fixed), its width (microdata), codes of missing values
   <RECODEABLE> <TOTCODE> "Total" <HIERARCHICAL> <HIERCODELIST> "x.hrc" <HIERLEADSTRING> "@" <HIERLEVELS> 2 1 1 <CODELIST> "x.cdl"
   <NUMERIC> <DECIMALS> 2        or <FREQUENCY> <SHADOW> <COSTVAR> <MAXSCORE> <STATUS> <LOWERPL> <UPPERPL> <WEIGHT> <HOLDING> <REQUEST>
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sdc_tasks.argus.places import BatchLine, find, lines_of
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.table import Hierarchy

KEYWORD = re.compile(r"<\s*([A-Za-z0-9]+)\s*>\s*([^<]*)")
OF_FILE = {"SEPARATOR", "SAFE", "UNSAFE", "PROTECT"}
OF_COLUMN = {
    "RECODEABLE", "RECODABLE", "TOTCODE", "HIERARCHICAL", "HIERCODELIST", "HIERLEADSTRING", "HIERLEVELS", "CODELIST", "NUMERIC", "DECIMALS",
    "FREQUENCY", "SHADOW", "COSTVAR", "COST", "MAXSCORE", "STATUS", "LOWERPL", "UPPERPL", "WEIGHT", "HOLDING", "REQUEST", "DISTANCE",
    "TRUNCABLE", "RESPONSE",
}  # fmt: skip
TOTAL = "Total"


@dataclass(frozen=True)
class Column:
    """A column. `numbers`: its place and width, as far as the file has them. `missing`: its codes of missing values. `said`: the keywords
    about it, with their texts.
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
            raise by.refused(f"no column {name} in {self.path}. Remedy: name one of {', '.join(each.name for each in self.columns)}")
        return found[0]

    def having(self, *keywords: str) -> list[Column]:
        """The columns about which one of the keywords is said."""
        return [each for each in self.columns if each.has(*keywords)]

    def hierarchy(self, column: Column, codes: Iterable[str]) -> Hierarchy:
        """What the codes of a dimension add up to: as its hierarchy says, else the codes that occur add up to the total."""
        total = column.total
        seen = sorted(set(codes) - {total})
        if column.has("HIERCODELIST"):
            pairs = _of_file(
                find(self.path.parent, column.said["HIERCODELIST"], column.line), column.said.get("HIERLEADSTRING") or "@", total
            )
        elif column.has("HIERLEVELS"):
            pairs = _of_digits(column, seen, total)
        else:
            pairs = dict.fromkeys(seen, total)
        pairs |= {code: total for code in seen if code in column.missing and code not in pairs}  # a code of its own, below the total
        try:
            return Hierarchy(column.name, (total, *pairs), (None, *pairs.values()))
        except ValueError as error:
            raise column.line.refused(f"{error}. Remedy: correct the hierarchy") from error


def read_metadata(path: Path, tabular: bool) -> Metadata:
    """Reads a .rda. Raises InvalidInput with file, line and remedy; an unknown keyword is refused, for it may say what is confidential."""
    of_file: dict[str, str] = {}
    lines = lines_of(path)
    separated = any("<SEPARATOR>" in line.text.upper() for line in lines)
    placed = 0 if tabular else 1 if separated else 2
    columns: list[Column] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith("//"):
            continue
        if not text.startswith("<"):
            name, *numbers = _words(line)
            if name.lower() in {each.name.lower() for each in columns}:
                raise line.refused(f"{name} is described twice. Remedy: keep one of them")
            columns.append(Column(name, line, tuple(numbers[:placed]), tuple(numbers[placed:])))
            continue
        for keyword, said in KEYWORD.findall(text):
            word, value = keyword.upper(), said.strip().strip('"').strip()
            if word in OF_FILE:
                of_file[word] = said.strip().strip('"') if word == "SEPARATOR" else value
            elif word in OF_COLUMN and columns:
                last = columns[-1]
                columns[-1] = replace(last, said={**last.said, word: value})
            else:
                raise line.refused(f"<{word}> is not understood. Remedy: leave it out, if the table does not need it")
    if not columns:
        raise InvalidInput(f"{path}: no column. Remedy: describe the columns of the data")
    letters = {of_file.get("UNSAFE", "U"): "u", of_file.get("PROTECT", "P"): "z", of_file.get("SAFE", "S"): "s"}
    if len(letters) < 3:
        raise InvalidInput(f"{path}: one letter for two of <UNSAFE>, <PROTECT> and <SAFE>. Remedy: give each its own")
    separator = of_file.get("SEPARATOR")
    if tabular and not separator:
        separator = ","
    return Metadata(path, separator or None, letters, tuple(columns))


def _words(line: BatchLine) -> list[str]:
    try:
        return shlex.split(line.text, posix=True)
    except ValueError as error:
        raise line.refused("a quotation mark that does not end. Remedy: correct it") from error


def _of_file(path: Path, lead: str, total: str) -> dict[str, str]:
    """code → parent of a .hrc: its depth is how often the lead string stands before it; the total is not listed."""
    pairs: dict[str, str] = {}
    above: list[str] = []
    for line in lines_of(path):
        text, depth = line.text.strip(), 0
        while text.startswith(lead):
            text, depth = text[len(lead) :].strip(), depth + 1
        if not text or depth > len(above):
            raise line.refused("one code, at most one level below the line before. Remedy: correct what leads it")
        if text in pairs or text == total:
            raise line.refused(f"{text} stands there already, or is the total. Remedy: list each code once, without the total")
        del above[depth:]
        pairs[text] = above[-1] if above else total
        above.append(text)
    if not pairs:
        raise InvalidInput(f"{path}: no code. Remedy: one code per line")
    return pairs


def _of_digits(column: Column, codes: Iterable[str], total: str) -> dict[str, str]:
    """code → parent where the first digits of a code are its parent: <HIERLEVELS> 2 1 1 has codes of 2, 3 and 4 digits."""
    widths = column.said["HIERLEVELS"].split()
    if not widths or not all(width.isdecimal() for width in widths):
        raise column.line.refused(f"<HIERLEVELS> of {column.name} are no numbers. Remedy: write the digits of each level")
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
