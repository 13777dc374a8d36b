"""<WRITETABLE>: a protected table in the formats 1 to 7 of τ-ARGUS.

    1 CSV, a matrix      2 CSV for a pivot table      3 code, value      4 SBS      5
    intermediate (.tab, with .rda)      6 JJ      7 perturbed counts (with .rda)

1 to 3 hold no value of a hidden cell: it is an x. 4 to 6 hold true values and are confidential, and so is 7
with AO, AD or AC. What 5 and 6 hold is read back as it was: a cell is empty where it is 0, has no
contributors as far as the table counts them, and is not hidden. Of perturbed counts all that are 0 are empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np

from sdc_tasks.argus.batch import Command
from sdc_tasks.argus.places import field_text
from sdc_tasks.argus.tables import COUNTED, Held, below_zero
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.jj import JJTable, jj_text, printed
from sdc_tasks.model.table import Bools, Floats, Hierarchy
from sdc_tasks.model.tolerances import SAME

Kind = Literal["suppressed", "rounded", "adjusted", "perturbed"]
OPTION = re.compile(r"([A-Z]{2})([+-])")
OF_TRUTH = {"AO", "AD", "AC"}  # the count, the noise, the cell key: columns of format 7
OPTIONS = {"HL", "SO", "AR", "HI", "AS", "SE", "FL", "QU", "TR", *OF_TRUTH}
WITH_EFFECT = {
    1: {"QU"},
    2: {"AS", "SE", "FL", "QU"},
    3: {"AS", "SE", "FL", "QU"},
    4: {"QU"},
    5: {"SO", "SE", "QU"},
    6: set[str](),
    7: {"SE", "QU", *OF_TRUTH},
}
WITH_METADATA = (5, 7)
WRITE = re.compile(r'\(\s*(\d+)\s*,\s*(\d+)\s*,\s*([^,]*?)\s*,\s*"?([^"]+?)"?\s*\)')
SEPARATORS = ";|~\t"  # of formats 5 and 7: τ-ARGUS takes a separator for one between quotation marks too
HIDDEN_MARK, EMPTY_MARK = "x", "-"
LETTERS = {"u": "U", "m": "M", "s": "S", "z": "P"}  # as <UNSAFE>, <SAFE> and <PROTECT> name them
FLAGS = {"u": "B", "m": "D", "s": "V", "z": "V"}  # SBS: dominance, secondary, valid; A: too few
OF_PATHS = r'[/\\:*?"<>|]'  # signs that no name of a file has
FEW = 3  # contributors below which the flag of a primary says that they are too few


@dataclass(frozen=True)
class Protected:
    """A table after its method: a pattern that hides cells, or another value for each cell. `cell_keys` (n):
    of perturbed counts.
    """

    held: Held
    kind: Kind
    hidden: Bools = field(repr=False)
    x: Floats = field(repr=False)
    cell_keys: tuple[str, ...] = field(default=(), repr=False)

    @property
    def empty(self) -> Bools:
        """(n): cells that nobody contributes to, not even 0; where nobody counted, all that are 0
        and open. Of perturbed counts those that are 0: nobody is told who is in a cell that noise emptied.
        """
        if self.kind == "perturbed":
            return np.asarray(self.x == 0)
        none = (self.held.crossed.problem.a == 0) & (self.x == 0) & ~self.hidden
        return none if self.held.count is None else np.asarray(none & (self.held.count == 0))

    @property
    def statuses(self) -> list[str]:
        """u, m, z or s of each cell; a status of a perturbed count would tell of the true one."""
        if self.kind == "perturbed":
            return ["s"] * len(self.x)
        return list(map(str, self.held.crossed.statuses(self.hidden)))


@dataclass(frozen=True)
class Written:
    """(table, format, options, file) of a command."""

    number: int
    format: int
    options: Mapping[str, bool]
    name: str

    def has(self, option: str) -> bool:
        """Whether an option is asked for; quotation marks and, in format 2, the names of columns are
        written unless it is said not to.
        """
        return self.options.get(option, option == "QU" or (option == "FL" and self.format == 2))

    @property
    def confidential(self) -> bool:
        """Whether the file holds true values, levels or keys."""
        return 4 <= self.format <= 6 or any(self.has(option) for option in OF_TRUTH)


def written(command: Command) -> Written:
    """The arguments of <WRITETABLE>. Raises InvalidInput."""
    found = WRITE.fullmatch(command.rest)
    if found is None:
        raise command.refused('(table, format, options, "file") is expected. Remedy: correct it')
    text = found[3].upper().replace(" ", "")
    options = {name: sign == "+" for name, sign in OPTION.findall(text)}
    if OPTION.sub("", text) or not set(options) <= OPTIONS or len(OPTION.findall(text)) > len(options):
        raise command.refused(
            f"the options are none of {' '.join(sorted(OPTIONS))} with + or −, each once. Remedy: correct "
            f"them"
        )
    if int(found[2]) not in WITH_EFFECT:
        raise command.refused(f"format {found[2]} is not ours. Remedy: one of 1 to {max(WITH_EFFECT)}")
    return Written(int(found[1]), int(found[2]), options, found[4])


def texts(table: Protected, asked: Written, place: Path) -> dict[Path, str]:
    """The file, and those that belong to it. Raises InvalidInput where the format cannot hold the table."""
    makers: dict[int, Callable[[Protected, Written], str]] = {
        1: _matrix,
        2: _pivot,
        3: _pivot,
        4: _sbs,
        5: _intermediate,
        6: lambda held, _: jj_text(_jj(held)),
        7: _perturbed,
    }
    found = {place: makers[asked.format](table, asked)}
    if asked.format in WITH_METADATA:
        if place.suffix == ".rda":
            raise InvalidInput(
                "its metadata have this name. Remedy: give the table another ending, such as .tab"
            )
        found |= {_list_of(place, axis): _hrc(axis) for axis in _deep(table)}
        found[place.with_suffix(".rda")] = _metadata_of(table, asked, place)
    return found


def unlike(table: Protected, asked: Written) -> list[str]:
    """What is done otherwise than τ-ARGUS does it, or is not what the options say."""
    problem, found = table.held.crossed.problem, []
    if asked.format <= 3 and asked.has("AS") and table.kind == "suppressed":
        found.append("AS+ writes statuses, and no value of a hidden cell")
    if without := sorted(set(asked.options) - WITH_EFFECT[asked.format]):
        found.append(
            f"the options {' '.join(without)} of <WRITETABLE> change nothing in format {asked.format}"
        )
    if (
        asked.format == 5
        and (problem.lb < 0).any()
        and not below_zero(problem.a, problem.primary, problem.lpl)
    ):
        found.append(
            "format 5 tells no bounds: who reads it takes values for 0 or more, and here contributions are "
            "below 0; format 6 does"
        )
    return found


def _deep(table: Protected) -> list[Hierarchy]:
    return [axis for axis in table.held.axes if max(axis.depth) > 1]


def _number(table: Protected, value: float) -> str:
    """A value with the decimals of the response, or more where it would be another number."""
    short = f"{value + 0.0:.{table.held.decimals}f}"
    if (
        table.kind != "suppressed"
    ):  # of a value that a method made, what is far below 1 is noise; those of the table have none
        return short if abs(float(short) - value) <= SAME * max(1.0, abs(value)) else printed(value)
    return short if float(short) == value else printed(value)


def _shown(table: Protected) -> list[str]:
    """What the public sees of each cell."""
    return [
        HIDDEN_MARK if hidden else EMPTY_MARK if empty else _number(table, value)
        for hidden, empty, value in zip(
            table.hidden.tolist(), table.empty.tolist(), table.x.tolist(), strict=True
        )
    ]


def _quote(asked: Written, separator: str) -> Callable[[str], str]:
    """Codes as they are read back; without QU those alone stand between quotation marks that need it."""
    return lambda text: field_text(text, separator, asked.has("QU"))


def _matrix(table: Protected, asked: Written) -> str:
    """A matrix of the first two dimensions, for each combination of the others."""
    crossed, quote = table.held.crossed, _quote(asked, ",")
    codes = [list(dict.fromkeys(key[d] for key in crossed.keys)) for d in range(len(crossed.dimensions))]
    shown = dict(zip(crossed.keys, _shown(table), strict=True))
    if len(codes) == 1:
        return "".join(f"{quote(code)},{shown[code,]}\n" for code in codes[0])
    lines = [quote(f"{' x '.join(crossed.dimensions)} | {crossed.value}")]
    for rest in product(*codes[2:]):
        if rest:
            lines.append(",".join(map(quote, rest)))
        lines.append(",".join(["", *map(quote, codes[1])]))
        lines += [
            ",".join([quote(row), *(shown[row, column, *rest] for column in codes[1])]) for row in codes[0]
        ]
    return "\n".join(lines) + "\n"


def _pivot(table: Protected, asked: Written) -> str:
    """A line for each cell: its codes, its value, and with AS+ its status."""
    crossed, quote = table.held.crossed, _quote(asked, ",")
    suffix = {"rounded": "_Round", "adjusted": "_CTA"}.get(table.kind, "")
    status = asked.has("AS")
    lines = []
    if asked.has("FL"):
        lines.append(
            ",".join(
                map(quote, [*crossed.dimensions, crossed.value + suffix, *(["Status"] if status else [])])
            )
        )
    for key, text, letter in _cells(table, asked):
        lines.append(",".join([*map(quote, key), text, *([quote(letter)] if status else [])]))
    return "\n".join(lines) + "\n"


def _cells(table: Protected, asked: Written) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """(codes, what is shown, status) of each cell; with SE+ not of empty ones."""
    for key, text, status in zip(table.held.crossed.keys, _shown(table), table.statuses, strict=True):
        letter = "E" if text == EMPTY_MARK else LETTERS[status]
        if not (letter == "E" and asked.has("SE")):
            yield key, text, letter


def _sbs(table: Protected, asked: Written) -> str:
    """A line for each cell that is not empty: codes; value; contributors; flag."""
    crossed, quote, count, empty = table.held.crossed, _quote(asked, ";"), table.held.count, table.empty
    lines = []
    for i, (key, letter) in enumerate(zip(crossed.keys, table.statuses, strict=True)):
        if empty[i]:
            continue
        flag = "A" if letter == "u" and count is not None and count[i] < FEW else FLAGS[letter]
        many = "" if count is None else printed(float(count[i]))
        lines.append(";".join([*map(quote, key), _number(table, float(crossed.problem.a[i])), many, flag]))
    return "\n".join(lines) + "\n"


def _intermediate(table: Protected, asked: Written) -> str:
    """A table that is read again: codes; value; contributors; status; lpl; upl. With SO+ the status alone."""
    crossed, count, separator = table.held.crossed, table.held.count, _separator(table)
    problem, quote, lines = crossed.problem, _quote(asked, separator), []
    for i, (key, letter, empty) in enumerate(
        zip(crossed.keys, table.statuses, table.empty.tolist(), strict=True)
    ):
        nothing = empty and letter == "s"
        if nothing and asked.has("SE"):
            continue
        status = "E" if nothing else LETTERS[letter]
        told = [_number(table, float(problem.a[i])), *([] if count is None else [printed(float(count[i]))])]
        levels = (
            [printed(float(problem.lpl[i])), printed(float(problem.upl[i]))]
            if problem.primary[i]
            else ["0", "0"]
        )
        before, after = ([], []) if asked.has("SO") else (told, levels)
        lines.append(separator.join([*map(quote, key), *before, status, *after]))
    return "\n".join(lines) + "\n"


def _perturbed(table: Protected, asked: Written) -> str:
    """A line for each cell: codes; perturbed count; and as it is asked for count; noise; cell key."""
    crossed, separator = table.held.crossed, _separator(table)
    quote, lines = _quote(asked, separator), []
    rows = zip(crossed.keys, table.x.tolist(), crossed.problem.a.tolist(), table.cell_keys, strict=True)
    for key, x, count, cell_key in rows:
        if x == 0 and asked.has("SE"):
            continue
        columns = {"AO": _number(table, count), "AD": _number(table, x - count), "AC": cell_key}
        truth = [text for option, text in columns.items() if asked.has(option)]
        lines.append(separator.join([*map(quote, key), _number(table, x), *truth]))
    return "\n".join(lines) + "\n"


def _separator(table: Protected) -> str:
    """The first of SEPARATORS that stands in no code; where each does, the first, between quotation marks."""
    signs = {sign for key in table.held.crossed.keys for code in key for sign in code}
    return next((each for each in SEPARATORS if each not in signs), SEPARATORS[0])


def _list_of(place: Path, axis: Hierarchy) -> Path:
    return place.with_name(f"{place.stem}_{re.sub(OF_PATHS, '_', axis.dimension)}.hrc")


def _hrc(axis: Hierarchy) -> str:
    """The codes with an @ for each level; a part stands below its total."""
    children: dict[str | None, list[str]] = {}
    for code, parent in zip(axis.codes, axis.parent, strict=True):
        children.setdefault(parent, []).append(code)

    def below(code: str, depth: int) -> Iterator[str]:
        for part in children.get(code, ()):
            yield "@" * depth + part
            yield from below(part, depth + 1)

    return "\n".join(below(axis.codes[0], 0)) + "\n"


def _metadata_of(table: Protected, asked: Written, place: Path) -> str:
    crossed, own = table.held.crossed, iter(_own_names(table))
    separator = _separator(table)
    lines = [f'<SEPARATOR> "{separator}"', '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "P"']
    for axis in table.held.axes:
        lines += [
            _name(axis.dimension),
            "   <RECODEABLE>",
            f"   <TOTCODE> {field_text(axis.codes[0], separator, True)}",
        ]
        if max(axis.depth) > 1:
            lines += [
                "   <HIERARCHICAL>",
                f'   <HIERCODELIST> "{_list_of(place, axis).name}"',
                '   <HIERLEADSTRING> "@"',
            ]
    if asked.format == 7 or not asked.has("SO"):
        value = next(own) if crossed.value == COUNTED else _name(crossed.value)
        lines += [value, "   <NUMERIC>", f"   <DECIMALS> {table.held.decimals}"]
    if asked.format == 7:
        for option, name in (("AO", "OrigVar"), ("AD", "Difference"), ("AC", "CellKey")):
            lines += [_free(table, name), "   <NUMERIC>"] if asked.has(option) else []
    else:
        lines += _of_statuses(table, asked, own)
    return "\n".join(lines) + "\n"


def _of_statuses(table: Protected, asked: Written, own: Iterator[str]) -> list[str]:
    """The columns of format 5 behind the value."""
    lines = []
    if not asked.has("SO"):
        lines += [next(own), "   <FREQUENCY>"] if table.held.count is not None else []
    lines += [next(own), "   <STATUS>"]
    if not asked.has("SO"):
        lines += [next(own), "   <NUMERIC> <LOWERPL>", next(own), "   <NUMERIC> <UPPERPL>"]
    return lines


def _own_names(table: Protected) -> list[str]:
    """Names of the columns that the table does not have by itself, unlike those that it has."""
    crossed, names = table.held.crossed, ["Status", "Lpl", "Upl"]
    names = [*(["Freq"] if table.held.count is not None else []), *names]
    names = [*(["Count"] if crossed.value == COUNTED else []), *names]
    return [_free(table, name) for name in names]


def _free(table: Protected, name: str) -> str:
    """A name of a column, unlike those that the table has."""
    crossed = table.held.crossed
    taken = {each.lower() for each in (*crossed.dimensions, crossed.value)}
    return next(free for k in range(len(taken) + 1) if (free := name + "_" * k).lower() not in taken)


def _name(name: str) -> str:
    """A name of a column as metadata tell it."""
    return name if re.fullmatch(r"[\w.%-]+", name) else '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'


def _jj(table: Protected) -> JJTable:
    """The table, its statuses and its levels as JJ: a 0 that is open is fixed, as what is empty."""
    problem = table.held.crossed.problem
    assert problem.rhs is not None
    status = np.where((problem.a == 0) & ~table.hidden, "z", np.array(table.statuses))
    lpl, upl, spl = (
        np.where(problem.primary, level, 0.0) for level in (problem.lpl, problem.upl, problem.spl)
    )
    return JJTable(
        problem.a, problem.cost, status, problem.lb, problem.ub, lpl, upl, spl, problem.M, problem.rhs
    )
