"""The table of a batch: microdata or a table, with its metadata, as a suppression problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sdc_tasks.argus.batch import Specified
from sdc_tasks.argus.metadata import Column, Metadata
from sdc_tasks.argus.places import BatchLine, fields_of, lines_of, number_in
from sdc_tasks.argus.recoding import BatchRecoding
from sdc_tasks.argus.rules import Safety
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.crossed import CrossedSuppression, suppression_in
from sdc_tasks.intake.tables.keyed import dimensions_in, numbers_in
from sdc_tasks.intake.tables.microdata import ContributorColumns, problem_by_rules, problem_of_cells
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.intake.tables.totals import without_noise
from sdc_tasks.methods.contributions import ranged, usual_of
from sdc_tasks.methods.suppression.names import CellCosts
from sdc_tasks.model.layout import TableLayout
from sdc_tasks.model.table import Bools, Floats, Hierarchy, added_up, inside

NUMBERS = (
    *("NUMERIC", "FREQUENCY", "SHADOW", "COSTVAR", "COST", "MAXSCORE", "LOWERPL", "UPPERPL", "WEIGHT"),
    "RECORDKEY",
)
COSTS: dict[str, CellCosts] = {"-1": "frequency", "-2": "one", "-3": "distance"}
COUNTED, STATUS, LPL, UPL, LB, SINGLETON = (
    "<FREQ>",
    "(status)",
    "(lpl)",
    "(upl)",
    "(lb)",
    "(singleton)",
)  # columns that are made here


# Keywords of columns that count in every table.
ALWAYS_USED = (
    "RECODEABLE",
    "RECODABLE",
    "TOTCODE",
    "HIERARCHICAL",
    "HIERCODELIST",
    "HIERLEADSTRING",
    "HIERLEVELS",
    "NUMERIC",
    "DECIMALS",
)


@dataclass(frozen=True)
class TableSource:
    """The data of a batch: microdata, or where `tabular` a row for each cell. `recodings`: by dimension."""

    path: Path
    metadata: Metadata
    tabular: bool
    recodings: Mapping[str, BatchRecoding] = field(default_factory=dict)


@dataclass(frozen=True)
class Held:
    """A table that was read. `count` (n): contributors of each cell, where the file tells. `decimals` of the
    printed values. `chosen` (n): the secondaries that somebody chose.
    """

    crossed: CrossedSuppression = field(repr=False)
    count: Floats | None = field(repr=False)
    decimals: int
    axes: tuple[Hierarchy, ...] = field(repr=False)
    chosen: Bools = field(repr=False)


def read_table(source: TableSource, asked: Specified, safety: Safety, additivity: int = 0) -> Held:
    """The table that a batch asks for. `additivity`: 0 totals are checked, 1 they are
    computed anew. Raises InvalidInput.
    """
    by = asked.command.line
    rows, trees = coded(source, asked)
    response, decimals = _response(source, asked)
    _refuse_shadow(asked, safety)
    if asked.response.upper() == COUNTED and not source.tabular:
        rows = _with(rows, COUNTED, ["1"] * len(rows.rows))
    each = {name: (tree,) for name, tree in trees.items()}
    layout = TableLayout(tuple(trees), response, hierarchy=each, missing="zero")
    costs, cost = _costs(source, asked)
    read = _of_cells if source.tabular else _of_contributions
    held = read(rows, source, layout, safety, costs, cost, additivity)
    held = _powered(held, number_in(by, asked.power, "lambda"))
    axes = tuple(trees.values())
    count = _counts(rows, source, held, axes) if source.tabular else held.problem.count
    if safety.zero:
        if count is None:
            raise by.refused("ZERO needs a column <FREQUENCY>: who contributes 0? Remedy: describe it")
        held = _zeros_unsafe(held, count, safety.zero, source.tabular)
    chosen = _chosen(rows, source.metadata, held) if source.tabular and safety.rules is None else set[int]()
    hidden = np.isin(np.arange(len(held.problem.a)), list(chosen)) & ~held.problem.primary
    return Held(held, count, decimals, axes, hidden)


def _chosen(rows: TextRows, metadata: Metadata, held: CrossedSuppression) -> set[int]:
    """The cells whose status in the file is M: secondaries that somebody chose."""
    told = metadata.having("STATUS")
    if not told or "M" in metadata.statuses:
        return set()
    place = {key: cell for cell, key in enumerate(held.keys)}
    keys = zip(*(rows.column(name) for name in held.dimensions), strict=True)
    return {
        place[key] for key, text in zip(keys, rows.column(told[0].name), strict=True) if text.upper() == "M"
    }


def coded(source: TableSource, asked: Specified) -> tuple[TextRows, dict[str, Hierarchy]]:
    """The records with the codes of the table, recoded as it is asked, and what they add up to. Raises
    InvalidInput.
    """
    rows, trees = records_of(source), {}
    for column in _dimensions(source.metadata, asked):
        codes = [text or column.total for text in rows.column(column.name)]
        tree = source.metadata.hierarchy(column, codes)
        if recoding := source.recodings.get(column.name):
            tree, new = recoding.applied(column, tree, codes)
            codes = [new.get(code, code) for code in codes]
        rows, trees[column.name] = _with(rows, column.name, codes), tree
    return rows, trees


def _zeros_unsafe(
    held: CrossedSuppression, count: Floats, reach: float, asked_open: bool
) -> CrossedSuppression:
    """The table with cells (n) primary that have contributors and are 0: nobody may exclude that they are as
    large as `reach`, nor that they are as far below 0 where values may be. `asked_open`: what stays open,
    stays so because the file says it, and not because its only contributor knows it.

    Contributions that cancel are taken for zeros too, which protects more.
    """
    problem = held.problem
    zeros = (problem.a == 0) & (count > 0) & ~problem.primary & ~(held.stays & asked_open)
    below = np.where(problem.lb < 0, reach, 0.0)
    after = replace(
        problem,
        primary=problem.primary | zeros,
        lpl=np.where(zeros, below, problem.lpl),
        upl=np.where(zeros, reach, problem.upl),
        fixed=problem.fixed & ~zeros,
        singleton=problem.lone | (zeros & (count == 1)),
    )
    return replace(held, problem=after, stays=held.stays & ~zeros)


def _dimensions(metadata: Metadata, asked: Specified) -> list[Column]:
    """The columns that a batch calls dimensions."""
    columns = [metadata.column(name, asked.command.line) for name in asked.dimensions]
    if numbers := [each.name for each in columns if not each.has("RECODEABLE", "RECODABLE")]:
        raise asked.command.refused(
            f"{numbers[0]} is no dimension. Remedy: say <RECODEABLE> in {metadata.path}"
        )
    return columns


def _refuse_shadow(asked: Specified, safety: Safety) -> None:
    """Raises InvalidInput for rules on another variable than the one that is published."""
    if asked.shadow and asked.shadow.lower() != asked.response.lower() and safety.rules is not None:
        raise asked.command.refused(
            "rules on a shadow variable. Remedy: name the response as shadow, or mark the cells in an "
            "apriori file"
        )


def _powered(held: CrossedSuppression, power: float) -> CrossedSuppression:
    """The table with its costs to a power, the λ of τ-ARGUS; 0: their logarithm."""
    if power == 1:
        return held
    cost = held.problem.cost
    scaled = np.log1p(cost) if power == 0 else cost**power
    return replace(held, problem=replace(held.problem, cost=scaled))


def below_zero(a: Floats, primary: Bools, lpl: Floats) -> bool:
    """Whether a table (n) tells by itself that its cells may be below 0: one of them is, or a level
    of one that is 0 asks for less.
    """
    return bool((a < 0).any() or (primary & (a == 0) & (lpl > 0)).any())


def unused(source: TableSource, asked: Specified, safety: Safety, noisy: bool) -> list[str]:
    """What metadata and batch say of the columns of a table and makes no difference to it: `<WORD> of
    COLUMN`. `noisy`: whether CKM protects it.
    """
    used = _used(source, safety) | ({"RECORDKEY", "PFILE", "PFILE_FREQ"} if noisy else set())
    own = {name.lower() for name in asked.dimensions}
    found = []
    for column in source.metadata.columns:
        if column.name.lower() in own or not column.has("RECODEABLE", "RECODABLE"):
            mine = used | _used_of(column, asked)
            found += [f"<{word}> of {column.name}" for word in column.said if word not in mine]
    if asked.shadow and asked.shadow.lower() != asked.response.lower():
        found.append(f"the shadow variable {asked.shadow}")
    return found


def _used_of(column: Column, asked: Specified) -> set[str]:
    """The keywords of a column that make a difference where a table has it as cost or response."""
    used = set()
    if column.name.lower() == asked.cost.lower():
        used |= {"COSTVAR", "COST"}
    if column.name.lower() == asked.response.lower():
        used.add("RESPONSE")
    return used


def _used(source: TableSource, safety: Safety) -> set[str]:
    """The keywords of columns that make a difference to a table."""
    rules = safety.rules
    used = set(ALWAYS_USED)
    if source.tabular:
        used.add("FREQUENCY")
        if rules is None:
            used |= {"STATUS", "LOWERPL", "UPPERPL"}
        elif rules.p is not None or rules.nk:
            used.add("MAXSCORE")
    if safety.holdings:
        used.add("HOLDING")
    if safety.weighted:
        used.add("WEIGHT")
    if rules is not None and rules.requests:
        used.add("REQUEST")
    return used


def _counts(
    rows: TextRows, source: TableSource, held: CrossedSuppression, axes: tuple[Hierarchy, ...]
) -> Floats | None:
    """(n): the contributors of each cell of a table, None where the file does not tell. Totals without
    a row have those of their parts.
    """
    frequency = source.metadata.having("FREQUENCY")
    if not frequency:
        return None
    told = dict(
        zip(
            zip(*(rows.column(name) for name in held.dimensions), strict=True),
            numbers_in(rows, frequency[0].name, 0.0),
            strict=True,
        )
    )
    shape = tuple(len(axis.codes) for axis in axes)
    inner = np.array([told.get(key, 0.0) for key in held.keys]) * inside(axes).ravel()
    summed = added_up(inner.reshape(shape), axes).ravel().tolist()
    return np.array([told.get(key, whole) for key, whole in zip(held.keys, summed, strict=True)])


def records_of(source: TableSource) -> TextRows:
    """The rows of the data, a field for each column of the metadata, numbers with a decimal
    point. Raises InvalidInput with line.
    """
    metadata, path = source.metadata, source.path
    lines = lines_of(path)
    if not lines:
        raise InvalidInput(f"{path}: no record. Remedy: give a table with at least one")
    split, numeric = _splitter(metadata), [each.has(*NUMBERS) for each in metadata.columns]
    rows = [_record(line, split(line), metadata, numeric) for line in lines]
    blank = lines[-1].number - lines[0].number >= len(lines)  # then no line can be counted
    header = [each.name for each in metadata.columns]
    word, first = ("record", 1) if blank else ("line", lines[0].number)
    return TextRows(str(path), header, rows, word, first)


def _splitter(metadata: Metadata) -> Callable[[BatchLine], list[str]]:
    """What makes fields of a line: a separator, or the places of the columns."""
    if metadata.separator is None:
        return _at_places(metadata)
    separator = {"\\t": "\t", "TAB": "\t"}.get(metadata.separator.upper(), metadata.separator)
    if len(separator) != 1:
        raise InvalidInput(f"{metadata.path}: the separator is not one sign. Remedy: correct <SEPARATOR>")
    return lambda line: fields_of(line, separator)


def _record(line: BatchLine, told: Sequence[str], metadata: Metadata, numeric: Sequence[bool]) -> list[str]:
    """The fields of a record, numbers with a decimal point. `numeric`: which columns are numbers."""
    fields = [text.strip() for text in told]
    if len(fields) != len(metadata.columns):
        raise line.refused(
            f"{len(fields)} fields, but {len(metadata.columns)} columns in {metadata.path}. Remedy: "
            f"correct one of them"
        )
    comma = metadata.separator != ","  # then a comma in a number is its decimal sign
    for i, column in enumerate(metadata.columns):
        if numeric[i]:
            if fields[i] in column.missing:
                raise line.refused(
                    f"{column.name}: the code of a missing value, which is no number. Remedy: give the "
                    f"value, or leave the record out"
                )
            fields[i] = fields[i].replace(",", ".") if comma else fields[i]
    return fields


def _at_places(metadata: Metadata) -> Callable[[BatchLine], list[str]]:
    places = []
    for column in metadata.columns:
        if len(column.numbers) < 2 or not all(
            each.isdecimal() and int(each) > 0 for each in column.numbers[:2]
        ):
            raise column.line.refused(
                f"the place and the width of {column.name} are expected. Remedy: give both, or a <SEPARATOR>"
            )
        start, width = int(column.numbers[0]) - 1, int(column.numbers[1])
        places.append(slice(start, start + width))
    return lambda line: [line.text[place] for place in places]


def _response(source: TableSource, asked: Specified) -> tuple[str, int]:
    """The column of values, and its decimals."""
    by, metadata = asked.command.line, source.metadata
    if asked.response.upper() == COUNTED:
        if not source.tabular:
            return COUNTED, 0
        return _one(source, "FREQUENCY", asked).name, 0
    column = metadata.column(asked.response, by)
    if not column.has(*NUMBERS):
        raise asked.command.refused(f"{column.name} is not numeric. Remedy: say <NUMERIC> in {metadata.path}")
    return column.name, column.decimals


def _one(source: TableSource, keyword: str, asked: Specified) -> Column:
    found = source.metadata.having(keyword)
    if len(found) != 1:
        raise asked.command.refused(
            f"one column <{keyword}> is needed in {source.metadata.path}. Remedy: describe it"
        )
    return found[0]


def _costs(source: TableSource, asked: Specified) -> tuple[CellCosts, str | None]:
    """The measure of costs, and the column where it is one."""
    if not asked.cost or asked.cost.lower() == asked.response.lower():
        return "value", None
    if asked.cost in COSTS:
        return COSTS[asked.cost], None
    if not source.tabular:
        raise asked.command.refused(
            "costs by another variable of microdata. Remedy: leave it out, or give a table with a column "
            "<COSTVAR>"
        )
    return "file", source.metadata.column(asked.cost, asked.command.line).name


def _of_contributions(
    rows: TextRows,
    source: TableSource,
    layout: TableLayout,
    safety: Safety,
    costs: CellCosts,
    cost: str | None,
    additivity: int,
) -> CrossedSuppression:
    if safety.rules is None:
        raise InvalidInput(
            f"{rows.name}: microdata without a rule: no cell would be primary. Remedy: give one in "
            f"<SAFETYRULE>"
        )
    holding, weight = source.metadata.having("HOLDING"), source.metadata.having("WEIGHT")
    if safety.holdings and not holding:
        raise InvalidInput(
            f"{source.metadata.path}: rules for holdings, but no column <HOLDING>. Remedy: describe it"
        )
    if safety.weighted and not weight:
        raise InvalidInput(
            f"{source.metadata.path}: weights are asked for, but no column <WEIGHT>. Remedy: describe it"
        )
    request = None
    if safety.rules.requests:
        rows, request = _with_requests(rows, source.metadata, len(safety.rules.requests))
    columns = ContributorColumns(
        request=request,
        holding=holding[0].name if safety.holdings else None,
        weight=weight[0].name if safety.weighted else None,
    )
    return problem_by_rules(rows, layout, safety.rules, columns, costs).table


def _with_requests(rows: TextRows, metadata: Metadata, kinds: int) -> tuple[TextRows, str]:
    """The records with 1 or 2 for who asked to be protected, in the order of the codes of <REQUEST>, and 0
    for all others; and the column that says it. Raises InvalidInput where codes and shares are not as many.
    """
    columns = metadata.having("REQUEST")
    codes = columns[0].said["REQUEST"].replace('"', " ").split() if columns else []
    if len(columns) != 1 or len(set(codes)) != kinds or len(codes) != kinds:
        raise InvalidInput(
            f"{metadata.path}: who asked? REQ has shares above 0: {kinds}. Remedy: one column <REQUEST> with "
            f"as many codes"
        )
    kind = {code: str(number) for number, code in enumerate(codes, start=1)}
    name = columns[0].name
    return _with(rows, name, [kind.get(text, "0") for text in rows.column(name)]), name


def _of_cells(
    rows: TextRows,
    source: TableSource,
    layout: TableLayout,
    safety: Safety,
    costs: CellCosts,
    cost: str | None,
    additivity: int,
) -> CrossedSuppression:
    metadata, rules = source.metadata, safety.rules
    frequency, top = metadata.having("FREQUENCY"), [each.name for each in metadata.having("MAXSCORE")]
    if additivity == 1:
        rows = _recomputed(rows, layout)
    count = frequency[0].name if frequency else None
    if rules is not None and (rules.p is not None or rules.nk):
        if count is None:
            raise InvalidInput(f"{metadata.path}: rules need a column <FREQUENCY>. Remedy: describe it")
        return problem_of_cells(rows, replace(layout, cost=cost, count=count), rules, top, costs).table
    return _by_status(rows, source, replace(layout, cost=cost), safety, costs, count)


def _by_status(
    rows: TextRows,
    source: TableSource,
    layout: TableLayout,
    safety: Safety,
    costs: CellCosts,
    count: str | None,
) -> CrossedSuppression:
    """A table whose cells have statuses, made by a minimum of contributors or given in the file. `count`: the
    column of contributors.
    """
    signed = numbers_in(rows, layout.value)
    many = None if count is None else _frequencies(rows, count, np.abs(signed))
    status, levels = _statuses(rows, source.metadata, safety, np.abs(signed), many)
    layout = replace(
        layout,
        status=STATUS,
        lpl=LPL,
        upl=UPL,
        count=count if costs == "frequency" else None,
    )
    rows = _with(rows, STATUS, status)
    for name, level in levels.items():
        rows = _with(rows, name, _printed(level, status))
    if below_zero(signed, np.array(status) == "u", levels[LPL]) and not (signed < 0).any():
        rows, layout = _with(rows, LB, ["-inf"] * len(status)), replace(layout, lb=LB)
    if many is not None:
        rows, layout = _with(rows, SINGLETON, _alone(many, status)), replace(layout, singleton=SINGLETON)
    return suppression_in(rows, layout, costs)


def _printed(level: Floats, status: Sequence[str]) -> list[str]:
    """The levels of primary cells, nothing for others."""
    return [repr(float(each)) if letter == "u" else "" for each, letter in zip(level, status, strict=True)]


def _alone(many: Floats, status: Sequence[str]) -> list[str]:
    """1 for a primary cell of one contributor, else 0."""
    return ["1" if n == 1 and letter == "u" else "0" for n, letter in zip(many, status, strict=True)]


def _statuses(
    rows: TextRows, metadata: Metadata, safety: Safety, value: Floats, many: Floats | None
) -> tuple[list[str], dict[str, Floats]]:
    """The statuses and levels by a minimum of contributors, else those of the file. `value` and `many`
    (rows,): the sizes of the cells, and how many contribute.
    """
    rules = safety.rules
    if rules is None or rules.minimum is None:
        return _given(rows, metadata, safety, value)
    if many is None:
        raise InvalidInput(
            f"{metadata.path}: a minimum of contributors needs a column <FREQUENCY>. Remedy: describe it"
        )
    few = (many > 0) & (many < rules.minimum)
    level = rules.range / 100 * ranged(value, usual_of(value / np.maximum(many, 1.0)))
    return np.where(few, "u", "s").tolist(), {LPL: level, UPL: level}


def _given(
    rows: TextRows, metadata: Metadata, safety: Safety, value: Floats
) -> tuple[list[str], dict[str, Floats]]:
    """The statuses of the file, u s or z, and the levels: those of the file, else a percentage of
    the value.
    """
    told = metadata.having("STATUS")
    if not told:
        raise InvalidInput(
            f"{metadata.path}: neither a rule nor a column <STATUS> says which cells are primary. Remedy: "
            f"give one"
        )
    meaning = {
        "E": "s",
        "M": "s",
        **metadata.statuses,
    }  # E: an empty cell, a public zero; M: a secondary, which `_chosen` hides
    texts = rows.column(told[0].name)
    if (odd := next((i for i, text in enumerate(texts) if text not in meaning), None)) is not None:
        raise InvalidInput(
            f"{rows.at(odd)}: its status is none of {' '.join(filter(None, meaning))}. Remedy: correct it, "
            f"or <UNSAFE>, <PROTECT>, <SAFE>"
        )
    status = [meaning[text] for text in texts]
    if (full := next((i for i, text in enumerate(texts) if text == "E" and value[i] != 0), None)) is not None:
        raise InvalidInput(f"{rows.at(full)}: an empty cell that has a value. Remedy: correct its status")
    return status, _levels(rows, metadata, safety.manual / 100 * value, np.array(status) == "u")


def _levels(rows: TextRows, metadata: Metadata, manual: Floats, primary: Bools) -> dict[str, Floats]:
    """The levels of the file; `manual` (rows,) where it tells none."""
    levels = {}
    for name, keyword in ((LPL, "LOWERPL"), (UPL, "UPPERPL")):
        column = metadata.having(keyword)
        levels[name] = numbers_in(rows, column[0].name, np.nan) if column else np.full(len(manual), np.nan)
    lower, upper = levels.values()
    half = primary & (np.isnan(lower) != np.isnan(upper))
    if len(sides := np.flatnonzero(half)):
        raise InvalidInput(
            f"{rows.at(int(sides[0]))}: a level for one side alone. Remedy: give both, or none for MAN "
            f"percent of the value"
        )
    none = np.nan_to_num(np.maximum(lower, upper)) == 0
    return {name: np.where(none, manual, level) for name, level in levels.items()}


def _frequencies(rows: TextRows, column: str, value: Floats) -> Floats:
    """(rows): the contributors of each; a cell that has a value has some."""
    many = numbers_in(rows, column, np.nan)
    wrong = ~np.isnan(many) & ((many < 0) | (many != np.floor(many))) | (value != 0) & ~(many > 0)
    if len(odd := np.flatnonzero(wrong)):
        raise InvalidInput(
            f"{rows.at(int(odd[0]))}: {column} is no number of contributors. Remedy: a whole number, 1 or "
            f"more"
        )
    return np.nan_to_num(many)


def _recomputed(rows: TextRows, layout: TableLayout) -> TextRows:
    """The rows with totals that are the sums of the inner cells."""
    codes, axes = dimensions_in(rows, replace(layout, total={}))
    numbers, shape = numbers_in(rows, layout.value), tuple(len(axis.codes) for axis in axes)
    at = np.ravel_multi_index(
        tuple(
            np.array([axis.index[code] for code in column]) for axis, column in zip(axes, codes, strict=True)
        ),
        shape,
    )
    inner = inside(axes).ravel()[at]
    parts = np.zeros(int(np.prod(shape)))
    np.add.at(parts, at[inner], numbers[inner])
    whole = without_noise(added_up(parts.reshape(shape), axes).ravel(), numbers[inner])
    return _with(rows, layout.value, [repr(float(each)) for each in np.where(inner, numbers, whole[at])])


def _with(rows: TextRows, name: str, texts: list[str]) -> TextRows:
    """The rows with another column, or another content of one."""
    if name in rows.header:
        place = rows.header.index(name)
        return replace(
            rows,
            rows=[
                [*row[:place], text, *row[place + 1 :]] for row, text in zip(rows.rows, texts, strict=True)
            ],
        )
    return replace(
        rows,
        header=[*rows.header, name],
        rows=[[*row, text] for row, text in zip(rows.rows, texts, strict=True)],
    )
