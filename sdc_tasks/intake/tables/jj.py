"""τ-ARGUS JJ files: one table as cells and relations, read, written, and made a CTA problem of.

    0
    n
    i value cost status lb ub lpl upl spl            n lines, i from 0
    m
    rhs k : i (coefficient) i (coefficient) …        m lines of k terms each: Σ coefficient · a_i = rhs

Status: `s` safe, `u` primary, `m` secondary, `z` fixed or empty. `lb ub` are what the world knows of a cell;
`lpl upl spl` are distances. `lpl` may have been cut at the bound by whoever wrote the file and is not cut
again here: where lpl > a − lb, the cell must go up. A name that ends in .gz is compressed. These files hold
true values: they are written for their owner only, and no message repeats a value.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, and_more
from sdc_tasks.methods.cta.model import CtaProblem, table_problem
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools, Floats, Ints, read_only
from sdc_tasks.model.tolerances import ROUNDING
from sdc_tasks.model.weights import Distance, Weights, weights_of
from sdc_tasks.untrusted import unpacked

CellWeights = Literal["file", "one", "inverse", "sqrt"]
FORMULAS = {"one": Weights.ONE, "inverse": Weights.INVERSE, "sqrt": Weights.INVERSE_SQRT}
Letters = npt.NDArray[np.str_]
Namer = Callable[[int], str]
GZIP = b"\x1f\x8b"
STATUSES = ("s", "u", "m", "z")
FIELDS = ("i", "value", "cost", "status", "lb", "ub", "lpl", "upl", "spl")
LEVELS = ("lpl", "upl", "spl")
LARGEST = 1e18  # of a value: beside a larger one a binary fraction loses what is far from small
LARGER_UNIT = "give the values in a larger unit, such as millions"
TERM = rb"\s*\d{1,9}\s*\(\s*[^()\s]+\s*\)"
RELATION = re.compile(rb"\s*(\S+)\s+(\d{1,9})\s*:((?:" + TERM + rb")*)\s*")


@dataclass(frozen=True)
class JJTable:
    """A table `A a = rhs` of n cells, in the order of its file. Raises ValueError on what no table can be.

    `status` is a letter for each cell; the bounds may be infinite; each row of A is
    sorted by cell and holds no zero.
    """

    a: Floats = field(repr=False)
    cost: Floats = field(repr=False)
    status: Letters = field(repr=False)
    lb: Floats = field(repr=False)
    ub: Floats = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    spl: Floats = field(repr=False)
    A: sp.csr_array = field(repr=False)
    rhs: Floats = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("a", "cost", "status", "lb", "ub", *LEVELS, "rhs"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        A = sp.csr_array(self.A, copy=True)
        A.sum_duplicates()
        A.eliminate_zeros()
        object.__setattr__(self, "A", A)
        columns = self.columns
        if {len(self.status), *map(len, columns.values())} != {A.shape[1]} or len(self.rhs) != A.shape[0]:
            raise ValueError("the arrays of a JJ table do not fit together")
        if fault := _first_fault(columns, self.status):
            raise ValueError(f"cell {fault[0]}: {fault[1]}")

    @property
    def fixed(self) -> Bools:
        """Cells that keep their value: status z, or no room between the bounds."""
        return np.asarray((self.status == "z") | (self.lb == self.ub))

    @property
    def primary(self) -> Ints:
        return np.flatnonzero(self.status == "u")

    @property
    def columns(self) -> dict[str, Floats]:
        """The numbers of the cell lines, in their order."""
        return {
            "value": self.a,
            "cost": self.cost,
            "lb": self.lb,
            "ub": self.ub,
            "lpl": self.lpl,
            "upl": self.upl,
            "spl": self.spl,
        }


def primaries_of(table: JJTable) -> Bools:
    """(n): the primary cells. Raises InvalidInput for one without any level: no method would do anything for
    it.
    """
    primary = np.asarray(table.status == "u")
    without = np.flatnonzero(primary & (table.lpl == 0) & (table.upl == 0) & (table.spl == 0))
    if without.size:
        raise InvalidInput(
            f"cell {without[0]}{and_more(without.size - 1)}: primary without a level. Remedy: give one of "
            f"lpl, upl and spl"
        )
    return primary


def sensitive_of(table: JJTable) -> SensitiveTable:
    """The table with its primaries and levels."""
    primary = table.status == "u"
    return SensitiveTable(
        table.A,
        table.a,
        table.lb,
        table.ub,
        np.where(primary, table.lpl, 0.0),
        np.where(primary, table.upl, 0.0),
        np.where(primary, table.spl, 0.0),
        primary,
        fixed=table.fixed,
        rhs=table.rhs,
        within=np.inf,  # the reader has judged the sums, by the digits that the file prints
    )


def problem_of(table: JJTable, weights: CellWeights = "file", distance: Distance = Distance.L1) -> CtaProblem:
    """The CTA problem of a table in the paper setting: all cells move but the fixed ones; an
    empty cell with status s may rise.

    `file`: the costs of the file are the weights. Raises InvalidInput for a primary without a level.
    """
    primaries_of(table)
    w = table.cost if weights == "file" else weights_of(table.a, FORMULAS[weights])
    return table_problem(sensitive_of(table), w, distance)


def read_jj(path: Path, keys: Sequence[str] | None = None) -> JJTable:
    """The table in a file. `keys` name its cells in messages, which else give their number alone.

    Raises InvalidInput, with line and remedy, where the file is no such table or its
    relations do not hold for its values.
    """
    content = _bytes_of(path)
    if content.startswith(GZIP):
        raise InvalidInput(f"{path}: a compressed file. Remedy: name it .jj.gz")
    lines = _Lines(path, content)
    if lines.at(0, "the first line, 0,").strip() != b"0":
        raise lines.error(0, "a JJ file begins with a line that holds 0. Remedy: export the table as JJ")
    n = _count(lines, 1, "cells")
    if n == 0:
        raise lines.error(1, "a table without cells. Remedy: export the whole table")
    if keys is not None and len(keys) != n:
        raise lines.error(
            1,
            f"{n} cells, but {len(keys)} of them are named. Remedy: use the file of names that was written "
            f"with this table",
        )
    name: Namer = (lambda i: f"cell {i}") if keys is None else (lambda i: f"cell {i} ({keys[i]})")
    columns, status, rounding = _cells(lines, 2, n, name)
    m = _count(lines, 2 + n, "relations")
    A, rhs = _relations(lines, 3 + n, m, n, name)
    if len(lines.text) > 3 + n + m:
        raise lines.error(
            3 + n + m,
            f"more lines than the {m} relations announced in line {lines.number[2 + n]}. Remedy: correct "
            f"that number",
        )
    _check_sums(lines, 3 + n, A, rhs, columns["value"], rounding)
    return JJTable(a=columns.pop("value"), status=status, A=A, rhs=rhs, **columns)


def write_jj(path: Path, table: JJTable) -> None:
    """Writes the whole file or nothing, for its owner only; `read_jj` gives equal arrays back."""
    write_private(path, jj_text(table))


def jj_text(table: JJTable) -> str:
    """The lines of a JJ file."""
    value, cost, *others = (map(printed, column.tolist()) for column in table.columns.values())
    cells = (
        f"{i} {' '.join(fields)}"
        for i, fields in enumerate(zip(value, cost, table.status.tolist(), *others, strict=True))
    )
    terms = [
        f"{i} ({printed(c)})" for i, c in zip(table.A.indices.tolist(), table.A.data.tolist(), strict=True)
    ]
    ends = table.A.indptr.tolist()
    relations = (
        f"{printed(rhs)} {end - start} : {' '.join(terms[start:end])}"
        for rhs, start, end in zip(table.rhs.tolist(), ends[:-1], ends[1:], strict=True)
    )
    return "\n".join(chain(["0", str(len(table.a))], cells, [str(len(table.rhs))], relations, [""]))


def solution_text(table: JJTable, x: Floats) -> str:
    """A CTA solution, a line `i a_i x_i p_i` for each cell: p = 1 where a primary cell went
    up, −1 where it went down, else 0.
    """
    side = np.zeros(len(x), dtype=np.int64)
    side[table.primary] = np.sign(x - table.a)[table.primary]
    rows = zip(map(printed, table.a.tolist()), map(printed, x.tolist()), side.tolist(), strict=True)
    return "".join(f"{i} {a} {moved} {p}\n" for i, (a, moved, p) in enumerate(rows))


def printed(number: float) -> str:
    """The shortest text that reads back as this number."""
    return repr(number).removesuffix(".0")


def write_private(path: Path, content: str | bytes) -> None:
    """Replaces the file in one step, creating its folder; only its owner may read it.
    Compressed where the name ends in .gz.
    """
    write_all_private({path: content})


def write_all_private(contents: Mapping[Path, str | bytes]) -> None:
    """As `write_private`, several files: none is replaced before all are written beside their places.

    Raises OSError where one cannot be written; then no file was replaced.
    """
    waiting: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            waiting[path] = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                _write_new(waiting[path], content, compressed=path.suffix == ".gz")
            except OSError as error:  # by the name that the user gave
                raise OSError(error.errno, error.strerror, str(path)) from error
        for path, written in waiting.items():
            written.replace(path)
    finally:
        for written in waiting.values():
            with suppress(OSError):
                written.unlink(missing_ok=True)


def _write_new(path: Path, content: str | bytes, compressed: bool) -> None:
    content = content.encode("utf-8") if isinstance(content, str) else content
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(gzip.compress(content, mtime=0) if compressed else content)


class _Lines:
    """The lines of a file that are not blank, each with its number in the file."""

    def __init__(self, path: Path, content: bytes) -> None:
        self.path = path
        every = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        self.number = [number for number, line in enumerate(every, start=1) if line.strip()]
        self.text = [every[number - 1] for number in self.number]
        if b"_" in content:  # Python would read 1_000 as a number
            i = next((i for i, line in enumerate(self.text) if b"_" in line), 0)
            raise self.error(
                i, "a JJ file holds numbers and status letters only, no names. Remedy: export the table as JJ"
            )

    def at(self, i: int, expected: str) -> bytes:
        """The i-th line; refuses a file that ends before it."""
        if i >= len(self.text):
            raise self.error(i, f"the file ends where {expected} is expected. Remedy: send the whole file")
        return self.text[i]

    def error(self, i: int, text: str) -> InvalidInput:
        """What is wrong with the i-th line, or with the end of the file."""
        line = self.number[i] if i < len(self.number) else 1 + max(self.number, default=0)
        return InvalidInput(f"{self.path}, line {line}: {text}")


def _bytes_of(path: Path) -> bytes:
    try:
        return unpacked(path)
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read ({error.strerror}). Remedy: give the path of a JJ file"
        ) from error


def _count(lines: _Lines, i: int, what: str) -> int:
    text = lines.at(i, f"the number of {what}").strip()
    if not (text.isdigit() and len(text) < 10):
        raise lines.error(
            i, f"the number of {what} is expected, alone on its line. Remedy: export the table as JJ"
        )
    return int(text)


def _cells(lines: _Lines, first: int, n: int, name: Namer) -> tuple[dict[str, Floats], Letters, Floats]:
    """The columns of the cell lines, the status letters, and how far each value may be from its text."""
    rows = [line.split() for line in lines.text[first : first + n]]
    for i, row in enumerate(rows):
        if len(row) != len(FIELDS):
            raise lines.error(
                first + i,
                f"{name(i)} is expected, as nine fields {' '.join(FIELDS)}. Remedy: correct the line",
            )
    lines.at(first + n - 1, f"{name(min(len(rows), n - 1))}, of {n} in all,")
    texts = dict(zip(FIELDS, zip(*rows, strict=True), strict=True))
    where = range(first, first + n)
    number = _numbers(lines, where, texts["i"], "the number of the cell")
    if len(wrong := np.flatnonzero(number != np.arange(n))):
        i = int(wrong[0])
        raise lines.error(
            first + i,
            f"{name(i)} is expected: cells are numbered from 0 without gaps. Remedy: sort and number them",
        )
    columns = {
        field: _numbers(lines, where, texts[field], f"the {field}")
        for field in FIELDS
        if field not in {"i", "status"}
    }
    status = np.array([letter.decode("latin-1") for letter in texts["status"]])
    if fault := _first_fault(columns, status):
        raise lines.error(first + fault[0], f"{name(fault[0])}: {fault[1]}")
    half = np.fromiter(map(_half_of_last_place, texts["value"]), dtype=np.float64, count=n)
    return columns, status, np.where(columns["value"] == 0, 0.0, half)


def _numbers(lines: _Lines, where: Sequence[int], texts: Sequence[bytes], what: str) -> Floats:
    """Texts of the lines `where` as numbers, in one go: only a fault is looked for text by text."""
    try:
        return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        i = next(i for i, text in enumerate(texts) if not _is_number(text))
        raise lines.error(
            where[i], f"{what} is not a number. Remedy: digits and a decimal point, no separators"
        ) from None


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first_fault(columns: Mapping[str, Floats], status: Letters) -> tuple[int, str] | None:
    """The first cell that cannot be, and why."""
    value, cost = columns["value"], columns["cost"]
    slack = ROUNDING * np.maximum(np.abs(value), 1.0)
    inside = (columns["lb"] <= value + slack) & (value - slack <= columns["ub"])
    faults = [
        (
            ~np.isin(status, STATUSES),
            "its status is none of s u m z. Remedy: s safe, u primary, m secondary, z fixed",
        ),
        (~np.isfinite(value), "its value is not finite. Remedy: give the true value"),
        (
            np.abs(value) > LARGEST,
            f"its value is above {LARGEST:g}, so that sums are not exact. Remedy: {LARGER_UNIT}",
        ),
        (
            ~(np.isfinite(cost) & (cost >= 0)),
            "its cost is negative or not finite. Remedy: a weight is at least 0",
        ),
        (~inside, "its value is not between lb and ub. Remedy: bounds hold the true value"),
    ]
    for level in LEVELS:
        wrong = ~(np.isfinite(columns[level]) & (columns[level] >= 0))
        faults.append(
            (wrong, f"its {level} is negative or not finite. Remedy: levels are distances, at least 0")
        )
    found = [(int(np.flatnonzero(wrong)[0]), text) for wrong, text in faults if wrong.any()]
    return min(found, key=lambda fault: fault[0], default=None)


def _half_of_last_place(text: bytes) -> float:
    """How far a value may be from its text: half of the last decimal that is not 0. An empty cell
    is empty.
    """
    mantissa, _, exponent = text.lower().partition(b"e")
    decimals = len(mantissa.partition(b".")[2].rstrip(b"0"))
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals if decimals else 0)


def _relations(lines: _Lines, first: int, m: int, n: int, name: Namer) -> tuple[sp.csr_array, Floats]:
    """The relation lines as (A, rhs)."""
    counts, sums, terms = [], [], []
    for k in range(m):
        found = RELATION.fullmatch(lines.at(first + k, f"relation {k + 1} of {m}"))
        if found is None:
            raise lines.error(
                first + k,
                "a relation is expected, as `rhs k : i (coefficient) i (coefficient) …`. Remedy: correct the "
                "line",
            )
        counts.append(found[3].count(b"("))
        if counts[-1] != int(found[2]):
            raise lines.error(
                first + k,
                f"{counts[-1]} terms, but another number before the colon. Remedy: send the whole line",
            )
        sums.append(found[1])
        terms.append(found[3])
    rhs = _numbers(lines, range(first, first + m), sums, "the right-hand side")
    tokens = b"".join(terms).replace(b"(", b" ").replace(b")", b" ").split()
    row = np.repeat(np.arange(m), counts)
    where = (first + row).tolist()
    cell = np.fromiter(map(int, tokens[0::2]), dtype=np.int64, count=len(row))
    coefficient = _numbers(lines, where, tokens[1::2], "a coefficient")
    if len(outside := np.flatnonzero(cell >= n)):
        raise lines.error(
            where[outside[0]],
            f"cell {cell[outside[0]]} is none of the {n} cells. Remedy: numbers run from 0 to {n - 1}",
        )
    if len(endless := np.flatnonzero(~np.isfinite(coefficient) | ~np.isfinite(rhs)[row])):
        raise lines.error(
            where[endless[0]], "this relation holds a number that is not finite. Remedy: correct the line"
        )
    A = sp.csr_array((coefficient, (row, cell)), shape=(m, n))
    A.sum_duplicates()
    if len(double := np.flatnonzero(np.diff(A.indptr) < counts)):
        found_in = np.sort(cell[row == double[0]])
        i = int(found_in[1:][np.diff(found_in) == 0][0])
        raise lines.error(
            first + int(double[0]),
            f"{name(i)} stands twice in this relation. Remedy: add its coefficients up",
        )
    return A, rhs


def _check_sums(lines: _Lines, first: int, A: sp.csr_array, rhs: Floats, a: Floats, rounding: Floats) -> None:
    """Refuses the first relation that the values miss by more than rounding each of them explains;
    τ-ARGUS rounds to whole numbers.
    """
    size = abs(A)
    whole = size @ np.abs(a) + np.abs(rhs)
    miss = np.abs(A @ a - rhs)
    if len(missed := np.flatnonzero(~(miss <= size @ rounding + ROUNDING * whole))):
        row, more = int(missed[0]), f", as {len(missed) - 1} more," if len(missed) > 1 else ""
        raise lines.error(
            first + row,
            f"this relation{more} does not hold for the values: it is off by {miss[row] / whole[row]:.2g} of "
            f"what its cells add up to. "
            "Remedy: correct the values or the relation",
        )
