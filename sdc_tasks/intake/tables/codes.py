"""A file of codes and what each adds up to, for `sdc round-counts` and `sdc round-table` alike.

Either a table whose header begins with code,parent (`,` `;` or tab; a code may have several parents, as a country has compositions; the
parent of a top code is empty), or a τ-ARGUS `.hrc`: one code per line, its depth the number of leading `@`, the total never listed.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count import WILD, CodeTree
from sdc_tasks.methods.rounding.small_count.cells import TOTAL
from sdc_tasks.model import table

HEADER = ["code", "parent"]


@dataclass(frozen=True)
class CodeFile:
    """Pairs (code, parent) in the order of the file, the parent "" at the top; `lines`: where each of them stands; `listed`: does the file
    name its total?
    """

    path: Path
    pairs: tuple[tuple[str, str], ...]
    lines: tuple[int, ...]
    listed: bool

    def at(self, i: int) -> str:
        """What messages call a pair."""
        return f"{self.path}, line {self.lines[i]}"


def read_hierarchy(path: Path) -> CodeTree:
    """The hierarchy of a table of counts, with wildcards and several parents. Raises InvalidInput with file and line."""
    found = read_codes(path)
    above = [(code, parent or ("" if found.listed else TOTAL)) for code, parent in found.pairs]
    pairs = tuple(dict.fromkeys((code, parent) for code, parent in above if parent))
    if not pairs:
        raise InvalidInput(f"{path}: no code has a parent. Remedy: write what adds up to what, or leave the hierarchy out")
    return CodeTree(str(path), pairs, tuple(code for code, parent in above if not parent))


def read_tree(path: Path, dimension: str, total: str) -> table.Hierarchy:
    """The hierarchy of a dimension in which every code has one parent. `total`: what a `.hrc` leaves out. Raises InvalidInput."""
    found = read_codes(path)
    if wild := [code for code, _ in found.pairs if WILD & set(code)]:
        raise InvalidInput(f"{path}: {wild[0]} is a wildcard. Remedy: list the codes of {dimension} one by one")
    top = [] if found.listed else [(total, "")]
    pairs = [*top, *((code, parent or ("" if found.listed else total)) for code, parent in found.pairs)]
    _refuse_repeated(found, total)
    try:
        return table.Hierarchy(dimension, tuple(code for code, _ in pairs), tuple(parent or None for _, parent in pairs))
    except ValueError as error:  # a cycle: it has no first line
        raise InvalidInput(f"{path}: {error}. Remedy: correct the parents, so that each code leads to one without a parent") from error


def _refuse_repeated(found: CodeFile, total: str) -> None:
    """Refuses, with its line, a code given twice, and a parent that is no code."""
    first = {} if found.listed else {total: 0}
    for i, (code, _) in enumerate(found.pairs):
        if code in first:
            where = f"stands in line {first[code]} already" if first[code] else "is the total, which a .hrc does not list"
            raise InvalidInput(f"{found.at(i)}: {code} {where}. Remedy: list each code once")
        first[code] = found.lines[i]
    for i, (code, parent) in enumerate(found.pairs):
        if parent and parent not in first:
            raise InvalidInput(f"{found.at(i)}: {parent}, the parent of {code}, is no code of the file. Remedy: list it, or correct it")


def read_codes(path: Path) -> CodeFile:
    """The pairs of either kind of file. Raises InvalidInput with file and line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}). Remedy: name a file of codes and parents") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not a text in UTF-8. Remedy: save it as UTF-8") from error
    return _hrc(path, text) if path.suffix.lower() == ".hrc" else _pairs(path, text)


def _pairs(path: Path, text: str) -> CodeFile:
    head = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    header = [name.strip().lower() for name in next(rows, [])]
    if header[:2] != HEADER:
        raise InvalidInput(f"{path}, line 1: the header is code,parent. Remedy: write one line for each code and what it adds up to")
    pairs, lines = [], []
    for row in rows:
        if not any(field.strip() for field in row):
            continue
        if len(row) != len(header) or not row[0].strip():
            raise InvalidInput(
                f"{path}, line {rows.line_num}: a code and its parent are expected. Remedy: as many fields as the header, the parent empty "
                "at the top"
            )
        code, parent = row[0].strip(), row[1].strip()
        if WILD & set(parent):
            raise InvalidInput(f"{path}, line {rows.line_num}: {parent} is a wildcard. Remedy: wildcards stand for codes, not for parents")
        pairs.append((code, parent))
        lines.append(rows.line_num)
    return CodeFile(path, tuple(pairs), tuple(lines), listed=True)


def _hrc(path: Path, text: str) -> CodeFile:
    above: list[str] = []
    pairs, lines = [], []
    for line, row in enumerate(text.splitlines(), start=1):
        if not row.strip():
            continue
        code = row.strip().lstrip("@").strip()
        depth = len(row.strip()) - len(row.strip().lstrip("@"))
        if not code or depth > len(above):
            raise InvalidInput(f"{path}, line {line}: one code, at most one level below the line before. Remedy: correct its @")
        del above[depth:]
        pairs.append((code, above[-1] if above else ""))
        lines.append(line)
        above.append(code)
    if not pairs:
        raise InvalidInput(f"{path}: no code. Remedy: one code per line, @ for each level")
    return CodeFile(path, tuple(pairs), tuple(lines), listed=False)
