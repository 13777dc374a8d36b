"""A batch of τ-ARGUS, command by command, on our methods. What is done otherwise than τ-ARGUS does it is
said.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path, PureWindowsPath

import numpy as np

from sdc_tasks.argus.apart import Output, judged_together
from sdc_tasks.argus.apriori import apriori_of, apriori_text, with_apriori
from sdc_tasks.argus.batch import Command, Specified, read_batch, specified
from sdc_tasks.argus.cell_keys import (
    STRICTER,
    AskedCkm,
    asked_noise,
    perturbed,
    ptable_name,
    told,
    with_noise,
)
from sdc_tasks.argus.files import BatchFiles, Refused
from sdc_tasks.argus.linking import as_one
from sdc_tasks.argus.metadata import Column, Metadata, read_metadata
from sdc_tasks.argus.methods import SMALLEST, AskedMethod, asked_method
from sdc_tasks.argus.outputs import Protected, texts, unlike, written
from sdc_tasks.argus.places import find
from sdc_tasks.argus.recoding import BatchRecoding, asked_recoding, recoding_of, without_use
from sdc_tasks.argus.rules import EVERYBODY_SAFE, Safety, safety_of
from sdc_tasks.argus.tables import COSTS, Held, TableSource, read_table, unused
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.intake.tables.jj import write_private
from sdc_tasks.methods.cta import engine
from sdc_tasks.methods.cta.model import table_problem
from sdc_tasks.methods.cta.run import Run
from sdc_tasks.methods.rounding.controlled import TableOptions
from sdc_tasks.methods.rounding.controlled import round_table as round_controlled
from sdc_tasks.methods.rounding.separable import SearchOptions
from sdc_tasks.methods.suppression.engine import PatternOptions, suppress
from sdc_tasks.methods.suppression.pattern.sums import limits_of
from sdc_tasks.model.additive import absent
from sdc_tasks.model.sensitive import SensitiveTable
from sdc_tasks.model.table import Bools
from sdc_tasks.model.weights import Weights, weights_of
from sdc_tasks.solver.clock import Limit

MINUTE = 60.0
SILENT_MINUTES = 10  # of a method for which the batch names no limit
CTA_SECONDS, CTA_GAP = 60.0, 1e-3
NOTED = {
    "SOLVER": "HiGHS solves, whatever solver is named",
    "GOINTERACTIVE": "nothing is interactive here: the batch ends",
    "SILENT": "SILENT: these lines are printed all the same",
    "ANCO": "ANCO keeps temporary files of τ-ARGUS, and none are made here",
}
ALONE = ("GOINTERACTIVE", "SILENT", "ANCO", "CLEAR", "READMICRODATA")  # commands that take no argument
Say = Callable[[str], None]


@dataclass
class _Table:
    """A table of the batch, as far as its commands went."""

    asked: Specified
    source: TableSource
    safety: Safety = field(default_factory=Safety)
    read_as: Safety = field(default_factory=Safety)
    ruled: bool = False
    held: Held | None = None
    marked: bool = False  # by an a-priori file
    written: bool = False
    search: int = 0  # the number of the search that found its pattern, alone or with other tables
    protected: Protected | None = None


@dataclass
class _Batch:
    folder: Path
    out: Path
    say: Say
    seed: int
    tables: list[_Table] = field(default_factory=list)
    data: tuple[Path, bool] | None = None
    metadata: Metadata | None = None
    log: Path | None = None
    rounds: bool = False
    files: BatchFiles = field(default_factory=BatchFiles)
    outputs: dict[str, Output] = field(default_factory=dict)  # tables written, by the names of their files
    searches: int = 0
    done: list[str] = field(default_factory=list)
    ahead: Sequence[Command] = ()
    told: list[str] = field(default_factory=list)


def run_batch(path: Path, out: Path | None, seed: int, say: Say, apriori: Path | None = None) -> bool:
    """Runs a batch. Its files are sought where it says, or beside it in any case; what it writes goes to
    `out`, by default its own folder. Returns whether it rounded a table.

    `seed`: of a rounding, secret. `apriori`: the last pattern is written there as .hst. Raises InvalidInput
    with file, line and remedy; Unprotectable where no pattern or table protects every primary.
    """
    commands = read_batch(path)
    batch = _Batch(path.parent, out or path.parent, say, seed)
    batch.files.reads(path, _refused_at(path))
    if apriori is not None:
        batch.files.promise(apriori, _refused_at(apriori))
    try:
        _do_all(batch, commands, apriori)
        batch.files.write()
        for line in batch.done:
            _tell(batch, line)
        _tell_unfinished(batch)
    except BaseException:
        with contextlib.suppress(OSError):  # why the batch ended matters more
            _write_log(batch)
        raise
    _write_log(batch)
    return batch.rounds


def _write_log(batch: _Batch) -> None:
    if batch.log is not None and not batch.files.is_read(batch.log):
        write_private(batch.log, "".join(f"{line}\n" for line in batch.told))


def _do_all(batch: _Batch, commands: Sequence[Command], apriori: Path | None) -> None:
    """All commands, before anything is written."""
    try:
        _refuse_unknown(commands)
        for at, command in enumerate(commands):
            batch.ahead = commands[at + 1 :]
            _do(batch, command)
        _judge_together(batch)
        if apriori is not None:
            _keep_apriori(batch, apriori)
    except BaseException:
        batch.told.append("the batch ended with an error, and nothing was written but this log")
        raise


def _judge_together(batch: _Batch) -> None:
    """The tables that were written, those before a <CLEAR> too. Raises Unprotectable where two of the same
    records give each other away.
    """
    for source in dict.fromkeys(each.source for each in batch.outputs.values()):
        mine = {name: each for name, each in batch.outputs.items() if each.source == source}
        for line in judged_together(mine):
            _tell(batch, line)


def _refuse_unknown(commands: Sequence[Command]) -> None:
    for command in commands:
        if command.word not in DO and command.word not in NOTED:
            raise command.refused(
                "not one of our commands. Remedy: leave it out, if the table is protected without it; "
                "see docs/argus.md"
            )


def _refused_at(path: Path) -> Refused:
    return lambda why: InvalidInput(f"{path}: {why}")


def _tell_in_vain(batch: _Batch) -> None:
    if batch.data is not None and all(each.source.path != batch.data[0] for each in batch.tables):
        _tell(batch, f"{batch.data[0].name} was opened in vain: no table is made of it")


def _tell_unfinished(batch: _Batch) -> None:
    _tell_in_vain(batch)
    for number, each in enumerate(batch.tables, start=1):
        if each.held is None:
            _tell(batch, f"table {number} was specified, and not read")
        elif each.protected is not None:
            if not each.written:
                _tell(batch, f"table {number} is protected, and not written")
        elif each.held.crossed.problem.primary.any():
            primaries = len(each.held.crossed.problem.primaries)
            _tell(batch, f"table {number} is not protected: {primaries} primaries, and no method for them")


def _do(batch: _Batch, command: Command) -> None:
    if command.word in ALONE and command.rest:
        raise command.refused("it takes no argument. Remedy: leave out what stands behind it")
    if command.word == "GOINTERACTIVE" and batch.ahead:
        raise command.refused(
            "a batch ends here, and commands stand behind it. Remedy: leave it out, or what stands behind it"
        )
    if command.word in DO:
        DO[command.word](batch, command)
    elif NOTED[command.word]:
        _differs(batch, NOTED[command.word])


def _tell(batch: _Batch, text: str) -> None:
    batch.told.append(text)
    batch.say(text)


def _differs(batch: _Batch, text: str) -> None:
    _tell(batch, f"differs: {text}")


def _tell_all(batch: _Batch, differences: Sequence[str]) -> None:
    for text in differences:
        _differs(batch, text)


def _place(batch: _Batch, command: Command, name: str) -> Path:
    """Where the batch writes: a name alone, in the folder of outputs."""
    last = PureWindowsPath(name).name
    if not last or last in {".", ".."}:
        raise command.refused("the name of a file is expected. Remedy: name it")
    if last != name:
        _differs(batch, f"{last} is written to {batch.out}")
    return batch.out / last


def _logbook(batch: _Batch, command: Command) -> None:
    if batch.log is not None:
        raise command.refused("the batch has a log already. Remedy: keep one of them")
    place = _place(batch, command, command.name)
    batch.files.promise(place, command.refused)
    batch.log = place


def _version(batch: _Batch, command: Command) -> None:
    text = f"sdc-release version: {version('sdc-release')}\n"
    batch.files.keep(_place(batch, command, command.name), text, command.refused)


def _found(batch: _Batch, command: Command, name: str) -> Path:
    """A file that the batch reads."""
    place = find(batch.folder, name, command.line)
    batch.files.reads(place, command.refused)
    return place


def _open(batch: _Batch, command: Command) -> None:
    _tell_in_vain(batch)
    batch.data = _found(batch, command, command.name), command.word == "OPENTABLEDATA"


def _describe(batch: _Batch, command: Command) -> None:
    if batch.data is None:
        raise command.refused("no data are open. Remedy: <OPENMICRODATA> or <OPENTABLEDATA> before it")
    batch.metadata = read_metadata(_found(batch, command, command.name), batch.data[1])


def _specify(batch: _Batch, command: Command) -> None:
    if batch.data is None or batch.metadata is None:
        raise command.refused("no data, or no metadata. Remedy: open both before it")
    path, tabular = batch.data
    asked = specified(command)
    for place in batch.metadata.lists(asked.dimensions):
        batch.files.reads(place, command.refused)
    batch.tables.append(_Table(asked, TableSource(path, batch.metadata, tabular)))
    if COSTS.get(asked.cost) == "distance":
        _differs(batch, "costs −3: our distance, how many relations away the nearest primary is")


def _safety(batch: _Batch, command: Command) -> None:
    if not batch.tables:
        raise command.refused("no table. Remedy: <SPECIFYTABLE> before it")
    table = batch.tables[-1]
    if table.ruled or table.held is not None:
        raise command.refused(
            "the table has rules already, or was read without them. Remedy: one <SAFETYRULE>, before the "
            "table is read"
        )
    table.safety, table.ruled = safety_of(command), True
    if table.source.tabular and (what := table.safety.of_records):
        raise command.refused(
            f"{what}, and a table does not tell of single records. Remedy: give microdata, or leave them out"
        )
    _tell_all(batch, table.safety.differences)


def _read(batch: _Batch, command: Command) -> None:
    waiting = [each for each in batch.tables if each.held is None]
    tabular = command.word == "READTABLE"
    if not waiting or any(each.source.tabular != tabular for each in waiting):
        raise command.refused(
            "no table of this kind waits. Remedy: <SPECIFYTABLE> before it, and the command of its data"
        )
    additivity = _additivity(batch, command, waiting)
    for each in waiting:
        noisy = not tabular and batch.tables.index(each) + 1 in _perturbed_ahead(batch)
        rules = each.safety.rules or (EVERYBODY_SAFE if noisy else None)
        each.read_as = replace(each.safety, rules=rules)
        each.held = read_table(each.source, each.asked, each.read_as, additivity)
        _tell_read(batch, each, noisy)


def _perturbed_ahead(batch: _Batch) -> set[int]:
    """The tables that CKM protects, until the batch is cleared."""
    commands = takewhile(lambda command: command.word != "CLEAR", batch.ahead)
    return {asked.table for command in commands if (asked := asked_noise(command))}


def _additivity(batch: _Batch, command: Command, waiting: Sequence[_Table]) -> int:
    """What a batch says of totals: 0 they are checked, 1 computed; and that the statuses of the file count
    (T), or the rules (F), which must be so.
    """
    text = command.rest.upper()
    additivity = int(text[0]) if text[:1] in {"0", "1"} else 0
    if text not in {"", "0", "1", "0T", "0F", "1T", "1F"}:
        raise command.refused(
            "0 (check the totals) or 1 (compute them), then T or F, is expected; a table must add up. "
            "Remedy: correct it"
        )
    if text.endswith("T") and any(each.safety.rules is not None for each in waiting):
        raise command.refused(
            "statuses of the file beside rules. Remedy: give the statuses in an apriori file, or leave the "
            "rules out"
        )
    if text.endswith("F") and any(each.safety.rules is None for each in waiting):
        _differs(batch, "F: no rule says which cells are unsafe, so the statuses of the file count")
    return additivity


def _tell_read(batch: _Batch, table: _Table, noisy: bool) -> None:
    """Says of a table that was read how large it is, and what of its description makes no difference."""
    assert table.held is not None
    problem, number = table.held.crossed.problem, batch.tables.index(table) + 1
    _tell(batch, f"table {number}: {len(problem.a)} cells, {len(problem.primaries)} primaries")
    if chosen := int(table.held.chosen.sum()):
        _tell(batch, f"table {number}: {chosen} secondaries of the file, hidden in any case")
    if left := unused(table.source, table.asked, table.safety, noisy):
        _tell(batch, f"table {number} does not use: {'; '.join(left)}")
    ruled = not table.source.tabular and table.safety.rules is not None
    if ruled and (problem.fixed & (problem.a != 0)).any():
        _differs(batch, "a cell with one contributor that no rule makes unsafe stays open: he knows it")
    if table.safety.of_sizes and (problem.lb < 0).any():
        _differs(batch, "p% and (n,k) go by the sizes of contributions below 0, not by their signed sums")


def _table(batch: _Batch, command: Command, number: int) -> _Table:
    if not 1 <= number <= len(batch.tables) or batch.tables[number - 1].held is None:
        raise command.refused(f"no table {number} was read. Remedy: name one that was")
    return batch.tables[number - 1]


def _apriori(batch: _Batch, command: Command) -> None:
    asked = apriori_of(command)
    table = _table(batch, command, asked.table)
    assert table.held is not None
    if table.written:
        raise command.refused(f"table {asked.table} is written already. Remedy: <APRIORI> before <SUPPRESS>")
    path = _found(batch, command, asked.name)
    table.held, over = with_apriori(table.held, path, asked.separator, table.safety.manual, asked.ignore)
    table.protected, table.marked = None, True
    for line in over:
        _tell(batch, line)
    if asked.expand:
        _differs(
            batch,
            "apriori: nothing is expanded to trivial levels; a code and its only part are hidden together "
            "all the same",
        )
    _tell(
        batch,
        f"apriori: {len(table.held.crossed.problem.primaries)} primaries now; an M is a secondary, hidden in "
        f"any case",
    )


def _recode(batch: _Batch, command: Command) -> None:
    """Reads each table with the variable again, as τ-ARGUS recodes it in all of them."""
    asked = asked_recoding(command)
    table = _table(batch, command, asked.table)
    if table.source.tabular:
        raise command.refused("the codes of a table. Remedy: `sdc recode`, or give microdata")
    column = table.source.metadata.column(asked.variable, command.line)
    if not _has_dimension(table, column):
        raise command.refused(f"{column.name} is no dimension of table {asked.table}. Remedy: name one")
    recoding = recoding_of(asked, None if asked.is_level else _found(batch, command, asked.what))
    for number, each in enumerate(batch.tables, start=1):
        of_these_data = each.source.metadata is table.source.metadata and each.held is not None
        if of_these_data and _has_dimension(each, column):
            if each.marked or each.protected is not None:
                raise command.refused(
                    f"table {number} has {column.name} too, and is protected already, or has a-priori "
                    f"statuses. Remedy: <RECODE> before <APRIORI> and <SUPPRESS>"
                )
            _tell(batch, f"table {number}, {_recoded(each, column.name, recoding)}")
    for text in without_use(recoding):
        _tell(batch, f"RECODE does not use: {text}")


def _has_dimension(table: _Table, column: Column) -> bool:
    return column.name.lower() in {name.lower() for name in table.asked.dimensions}


def _recoded(table: _Table, name: str, recoding: BatchRecoding) -> str:
    """Reads a table again with a dimension recoded, and tells what is in it now."""
    table.source = replace(table.source, recodings={**table.source.recodings, name: recoding})
    table.held = read_table(table.source, table.asked, table.read_as)
    problem = table.held.crossed.problem
    return f"{name} recoded: {len(problem.a)} cells, {len(problem.primaries)} primaries"


def _suppress(batch: _Batch, command: Command) -> None:
    batch.searches += 1
    if noise := asked_noise(command):
        _perturb(batch, noise)
        return
    asked = asked_method(command)
    if asked.method.ours is not None and asked.table == 0:
        _linked(batch, command, asked)
        return
    table = _table(batch, command, asked.table)
    assert table.held is not None
    _refuse_unruled(command, table)
    _tell_all(batch, asked.differences)
    table.search = batch.searches
    if asked.method.ours is not None:
        table.protected = _pattern(batch, command, table, asked)
    elif asked.name == "RND":
        batch.rounds = True
        table.protected = _rounded(batch, command, table.held, asked)
    else:
        table.protected = _adjusted(batch, table.held)


def _refuse_unruled(command: Command, table: _Table) -> None:
    """Raises InvalidInput for a table of records that only CKM may protect."""
    if not table.source.tabular and table.safety.rules is None:
        raise command.refused(
            "microdata without a rule: no cell would be primary. Remedy: give one in <SAFETYRULE>"
        )


def _perturb(batch: _Batch, asked: AskedCkm) -> None:
    table = _table(batch, asked.command, asked.table)
    assert table.held is not None
    ptable = _found(batch, asked.command, ptable_name(asked, table.source))
    found = perturbed(asked, table.source, table.asked, table.safety, ptable)
    table.search = batch.searches
    table.protected = with_noise(table.held, found)
    _tell_all(batch, STRICTER)
    for line in told(found):
        _tell(batch, line)


def _pattern(batch: _Batch, command: Command, table: _Table, asked: AskedMethod) -> Protected:
    assert table.held is not None
    assert asked.method.ours is not None
    problem = _problem(batch, command, table, asked)
    hidden = _searched(
        batch, command, problem, asked, PatternOptions(asked.method.ours, _seconds(asked)), table.held.chosen
    )
    return Protected(table.held, "suppressed", hidden, problem.a)


def _problem(batch: _Batch, command: Command, table: _Table, asked: AskedMethod) -> SensitiveTable:
    """The problem of a table with what the arguments ask for beside its levels."""
    held, rules = table.held, table.safety.rules
    assert held is not None
    if held.count is None and (named := asked.of_singletons):
        raise command.refused(
            f"{asked.name}: {named[0]} 1, and nothing tells which cells have a single contributor. Remedy: "
            f"describe a column <FREQUENCY>, "
            "or give 0"
        )
    if not asked.number(SMALLEST, 0):
        return held.crossed.problem
    if rules is None or rules.minimum is None:
        _differs(batch, f"{asked.name}: {SMALLEST} 1: no rule FREQ says which, so there is none")
        return held.crossed.problem
    return replace(held.crossed.problem, count=held.count, minimum=rules.minimum)


def _linked(batch: _Batch, command: Command, asked: AskedMethod) -> None:
    """All tables that were read, as one."""
    read = _all_read(batch, command)
    tables = {number: held for number, each in read.items() if (held := each.held)}
    both = as_one(tables, {number: _problem(batch, command, each, asked) for number, each in read.items()})
    if not both.shared:
        raise command.refused(
            "the tables share no cell: none has the response of another. Remedy: name each table by its "
            "number"
        )
    ours = f"{len(tables)} linked tables as one, with {both.shared} shared cells, by our own choice of method"
    _differs(batch, f"{asked.name}: {ours}, and verified")
    _tell_all(batch, asked.differences[1:])
    chosen = both.any_of({number: held.chosen for number, held in tables.items()})
    hidden = _searched(batch, command, both.problem, asked, PatternOptions(seconds=_seconds(asked)), chosen)
    for number, pattern in both.patterns(hidden).items():
        read[number].search = batch.searches
        read[number].protected = Protected(
            tables[number], "suppressed", pattern, tables[number].crossed.problem.a
        )


def _all_read(batch: _Batch, command: Command) -> dict[str, _Table]:
    """The tables that were read, by number. Raises InvalidInput where they are fewer than two, or one may not
    be protected.
    """
    read = {str(number): each for number, each in enumerate(batch.tables, start=1) if each.held is not None}
    if len(read) < 2:
        raise command.refused(
            "table 0 means all tables together, and fewer than two were read. Remedy: name the table"
        )
    for each in read.values():
        _refuse_unruled(command, each)
    return read


def _seconds(asked: AskedMethod) -> float:
    return MINUTE * asked.number("minutes", SILENT_MINUTES) if asked.name == "OPT" else math.inf


def _searched(
    batch: _Batch,
    command: Command,
    problem: SensitiveTable,
    asked: AskedMethod,
    options: PatternOptions,
    chosen: Bools,
) -> Bools:
    """The pattern, with the secondaries that somebody has `chosen` (n): to hide more
    than a safe pattern hides is safe.
    """
    found = suppress(replace(problem, cost=np.where(chosen, 0.0, problem.cost)), options)
    if found.pattern is None or found.cost is None:
        raise Unprotectable(
            f"{command.line.place}: no safe pattern in the time given. Remedy: give more minutes"
        )
    hidden = found.pattern | chosen
    secondaries, gap = (
        int((hidden & ~problem.primary).sum()),
        f", gap {found.gap:.2%}" if asked.name == "OPT" else "",
    )
    _tell(
        batch,
        f"{asked.name}: {secondaries} secondaries, all {len(problem.primaries)} primaries protected{gap}",
    )
    if (limits := limits_of(problem)) is not None:
        _tell(batch, limits)
    return np.asarray(hidden)


def _rounded(batch: _Batch, command: Command, held: Held, asked: AskedMethod) -> Protected:
    problem, base = held.crossed.problem, asked.number("base", 0)
    if base < 1:
        raise command.refused("RND takes a base of 1 or more. Remedy: give it")
    reach, minutes = 1 + asked.number("steps", 0), asked.number("minutes", SILENT_MINUTES)
    table = replace(
        problem,
        fixed=(problem.a == 0) & ~problem.primary,
        singleton=absent(),  # τ-ARGUS rounds against outsiders alone
        respondent=None,
        guarded=None,
        beside=absent(),
        beside_guarded=absent(),
    )
    weights = None if asked.number("unit costs", 0) else weights_of(problem.a, Weights.INVERSE)
    found = round_controlled(
        table,
        TableOptions(
            float(base),
            SearchOptions(batch.seed, clock=Limit(MINUTE * minutes)),
            reach=reach,
            weights=weights,
        ),
    )
    _tell(
        batch,
        f"RND: base {base}, {int((found.x != problem.a).sum())} cells moved, by {found.reach} steps at most",
    )
    return Protected(held, "rounded", np.zeros(len(problem.a), dtype=bool), found.x)


def _adjusted(batch: _Batch, held: Held) -> Protected:
    problem = held.crossed.problem
    model = table_problem(problem, weights_of(problem.a, Weights.INVERSE))
    run = Run(model, CTA_SECONDS, CTA_GAP)
    engine.execute(run, engine.EngineOptions(seconds=CTA_SECONDS, gap=CTA_GAP))
    final = run.final()
    if final is None or final.verdict.unprotected or not final.verdict.is_feasible:
        raise Unprotectable(
            "CTA: no protected table in time. Remedy: lower the levels, or use `sdc cta` with more time"
        )
    x = np.where(final.z == 0, problem.a, np.clip(problem.a + final.z * model.unit, problem.lb, problem.ub))
    moved, sensitive = int((final.z != 0).sum()), len(problem.primaries)
    _tell(batch, f"CTA: {moved} cells moved, {sensitive} sensitive cells at their levels")
    return Protected(held, "adjusted", np.zeros(len(problem.a), dtype=bool), x)


def _write(batch: _Batch, command: Command) -> None:
    asked = written(command)
    table = _table(batch, command, asked.number)
    if table.protected is None:
        raise command.refused("the table is not protected yet. Remedy: <SUPPRESS> before it")
    kind = table.protected.kind
    if asked.format > 3 and (kind, asked.format == 7) not in (("suppressed", False), ("perturbed", True)):
        holds = "perturbed counts" if asked.format == 7 else "patterns"
        raise command.refused(
            f"format {asked.format} holds {holds}, and this table was {kind}. Remedy: format 1, 2 or 3"
        )
    place = _place(batch, command, asked.name)
    batch.files.refuse(place, command.refused)
    for text in unlike(table.protected, asked):
        _differs(batch, text)
    try:
        made = texts(table.protected, asked, place)
    except InvalidInput as error:
        raise command.refused(str(error)) from error
    for each, text in made.items():
        batch.files.keep(each, text, command.refused)
    table.written = True
    batch.outputs[place.name] = Output(table.source.path, table.search, table.protected)
    secret = ", confidential" if asked.confidential else ""
    batch.done.append(f"table {asked.number} written in format {asked.format}: {place}{secret}")


def _keep_apriori(batch: _Batch, place: Path) -> None:
    done = [
        each.protected
        for each in batch.tables
        if each.protected is not None and each.protected.kind == "suppressed"
    ]
    if not done:
        raise InvalidInput(f"{place}: no table has a pattern. Remedy: <SUPPRESS> with GH, MOD, OPT or NET")
    batch.files.fulfil(place, apriori_text(done[-1].held.crossed, done[-1].hidden))
    batch.done.append(f"a-priori file, confidential: {place}")


def _clear(batch: _Batch, command: Command) -> None:
    batch.tables, batch.data, batch.metadata = [], None, None


DO: dict[str, Callable[[_Batch, Command], None]] = {
    "LOGBOOK": _logbook,
    "VERSIONINFO": _version,
    "OPENMICRODATA": _open,
    "OPENTABLEDATA": _open,
    "OPENMETADATA": _describe,
    "SPECIFYTABLE": _specify,
    "SAFETYRULE": _safety,
    "READMICRODATA": _read,
    "READTABLE": _read,
    "APRIORI": _apriori,
    "APRIORY": _apriori,
    "RECODE": _recode,
    "SUPPRESS": _suppress,
    "WRITETABLE": _write,
    "CLEAR": _clear,
}
