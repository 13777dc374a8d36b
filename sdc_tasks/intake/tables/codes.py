"""A file of codes and what each adds up to, for `sdc round-counts` and `sdc round-table` alike.

Either a table whose header begins with code,parent (`,` `;` or tab; a code may have several parents, as a
country has compositions; the parent of a top code is empty), or a τ-ARGUS `.hrc`: one code per line, its
depth the number of leading `@`, the total never listed. A file whose codes are led by blanks or tabs is
refused: they would all be one level.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count import WILD, CodeTree
from sdc_tasks.methods.rounding.small_count.cells import TOTAL
from sdc_tasks.model import table
from sdc_tasks.model.keys import refuse_twins
from sdc_tasks.untrusted import separator_of

HEADER = ["code", "parent"]


@dataclass(frozen=True)
class CodeFile:
    """Pairs (code, parent) in the order of the file, the parent "" at the top; `lines`: where each of them
    stands; `listed`: does the file name its total?
    """

    path: Path
    pairs: tuple[tuple[str, str], ...]
    lines: tuple[int, ...]
    listed: bool

    def at(self, i: int) -> str:
        """What messages call a pair."""
        return f"{self.path}, line {self.lines[i]}"


def read_hierarchy(path: Path) -> CodeTree:
    """The hierarchy of a table of counts, with wildcards and several parents. Raises
    InvalidInput with file and line.
    """
    found = read_codes(path)
    above = [(code, parent or ("" if found.listed else TOTAL)) for code, parent in found.pairs]
    pairs = tuple(dict.fromkeys((code, parent) for code, parent in above if parent))
    refuse_twins(str(path), [code for pair in pairs for code in pair])
    if not pairs:
        raise InvalidInput(
            f"{path}: no code has a parent. Remedy: write what adds up to what, or leave the hierarchy out"
        )
    return CodeTree(str(path), pairs, tuple(code for code, parent in above if not parent))


def read_tree(path: Path, dimension: str, total: str) -> table.Hierarchy:
    """The hierarchy of a dimension in which every code has one parent. `total`: what a `.hrc`
    leaves out. Raises InvalidInput.
    """
    found = read_codes(path)
    _refuse_wildcards(found, dimension)
    pairs = list(found.pairs)
    if not found.listed:
        pairs = [(total, ""), *((code, parent or total) for code, parent in pairs)]
    _refuse_repeated(found, total)
    codes = [code for code, _ in pairs]
    refuse_twins(str(path), codes)
    try:
        return table.Hierarchy(dimension, tuple(codes), tuple(parent or None for _, parent in pairs))
    except ValueError as error:  # a cycle: it has no first line
        raise InvalidInput(
            f"{path}: {error}. Remedy: correct the parents, so that each code leads to one without a parent"
        ) from error


def _refuse_wildcards(found: CodeFile, dimension: str) -> None:
    if wild := [code for code, _ in found.pairs if WILD & set(code)]:
        raise InvalidInput(
            f"{found.path}: {wild[0]} is a wildcard. Remedy: list the codes of {dimension} one by one"
        )


def _refuse_repeated(found: CodeFile, total: str) -> None:
    """Refuses, with its line, a code given twice, and a parent that is no code."""
    first = {} if found.listed else {total: 0}
    for i, (code, _) in enumerate(found.pairs):
        if code in first:
            where = (
                f"stands in line {first[code]} already"
                if first[code]
                else "is the total, which a .hrc does not list"
            )
            raise InvalidInput(f"{found.at(i)}: {code} {where}. Remedy: list each code once")
        first[code] = found.lines[i]
    for i, (code, parent) in enumerate(found.pairs):
        if parent and parent not in first:
            raise InvalidInput(
                f"{found.at(i)}: {parent}, the parent of {code}, is no code of the file. Remedy: list it, or "
                f"correct it"
            )


def read_codes(path: Path) -> CodeFile:
    """The pairs of either kind of file. Raises InvalidInput with file and line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read ({error.strerror}). Remedy: name a file of codes and parents"
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not a text in UTF-8. Remedy: save it as UTF-8") from error
    return _hrc(path, text) if path.suffix.lower() == ".hrc" else _pairs(path, text)


def _pairs(path: Path, text: str) -> CodeFile:
    head = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(head))
    header = [name.strip().lower() for name in next(rows, [])]
    if header[:2] != HEADER:
        raise InvalidInput(
            f"{path}, line 1: the header is code,parent. Remedy: write one line for each code and what it "
            f"adds up to"
        )
    pairs, lines = [], []
    for row in rows:
        if not any(field.strip() for field in row):
            continue
        if len(row) != len(header) or not row[0].strip():
            raise InvalidInput(
                f"{path}, line {rows.line_num}: a code and its parent are expected. Remedy: as many fields "
                f"as the header, the parent empty "
                "at the top"
            )
        code, parent = row[0].strip(), row[1].strip()
        if WILD & set(parent):
            raise InvalidInput(
                f"{path}, line {rows.line_num}: {parent} is a wildcard. Remedy: wildcards stand for codes, "
                f"not for parents"
            )
        pairs.append((code, parent))
        lines.append(rows.line_num)
    return CodeFile(path, tuple(pairs), tuple(lines), listed=True)


def _hrc(path: Path, text: str) -> CodeFile:
    rows = [(line, row) for line, row in enumerate(re.split(r"\r\n|\n|\r", text), start=1) if row.strip()]
    pairs = led_codes([(f"{path}, line {line}", row) for line, row in rows], "@")
    if not pairs:
        raise InvalidInput(f"{path}: no code. Remedy: one code per line, @ for each level")
    return CodeFile(path, tuple(pairs), tuple(line for line, _ in rows), listed=False)


def led_codes(lines: Iterable[tuple[str, str]], lead: str) -> list[tuple[str, str]]:
    """(code, parent) of each line of a τ-ARGUS hierarchy, the parent "" at the top: a code stands as many
    levels deep as `lead` stands before it. `lines`: each with the place that messages call it. Blanks that
    fill all codes of a file up to one width mean no level.

    Raises InvalidInput for a line that begins with other blanks, or with a tab: nobody can
    tell whether they mean a level.
    """
    led = [(place, *_led(line.rstrip(), lead)) for place, line in lines]
    filled = not lead.isspace() and len({len(code) for _, code, _ in led}) == 1
    above: list[str] = []
    found = []
    for place, text, depth in led:
        code = text.strip()
        if _may_mean_a_level(text, depth, lead, filled):
            raise InvalidInput(
                f"{place}: a code behind blanks or tabs that may mean a level, where {lead!r} leads. Remedy: "
                f"put {lead!r} before it for "
                "each level, and nothing before a code of the top; in a batch <HIERLEADSTRING> says what "
                "leads"
            )
        if not code or depth > len(above):
            raise InvalidInput(
                f"{place}: one code, at most one level below the line before. Remedy: correct what leads it, "
                f"{lead!r}"
            )
        del above[depth:]
        found.append((code, above[-1] if above else ""))
        above.append(code)
    return found


def _may_mean_a_level(text: str, depth: int, lead: str, filled: bool) -> bool:
    """Whether blanks or tabs before a code may mean a level, beside the lead strings or in their place."""
    if text == text.lstrip() or (filled and "\t" not in text):
        return False
    return lead.isspace() or not depth


def _led(text: str, lead: str) -> tuple[str, int]:
    """What stands behind the lead strings of a line, and their number; between two leads that
    are no blanks there may be some.
    """
    depth, rest = 0, text
    while rest.startswith(lead):
        text, depth = rest[len(lead) :], depth + 1
        rest = text if lead.isspace() else text.lstrip()
    return text, depth
