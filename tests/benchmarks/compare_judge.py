"""Who learns what from a publication: one judge for all methods, by linear programs on the whole table.

A publication tells of each cell an interval that holds its value: a point, a rounding interval, or of a blank
only that it is not below 0. An attacker also knows that the table adds up, and, as a respondent who is alone
in a cell, that cell. A requirement of a primary cell is broken where he can exclude a value within its level
below it, or above it. This module shares no code with the searches of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

import highspy
import numpy as np
import scipy.sparse as sp

from benchmarks.compare_tables import VALUE, Case
from sdc_tasks.api import primary
from sdc_tasks.model.table import Bools, Floats

TOTAL = "Total"
SLACK = 1e-6  # relative to the grand total; what a linear program may be wrong by
Key = tuple[str, ...]


@dataclass(frozen=True)
class Published:
    """What a publication tells: (cells,) each. `low`, `high`: between which a reader knows a true value;
    `shown`: the number that is printed, NaN for a blank. `moved`: the numbers are moved, and nobody says how
    far: a reader takes them for the values.
    """

    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    shown: Floats = field(repr=False)
    moved: bool = False


@dataclass(frozen=True)
class Judged:
    """Requirements and how many are broken by an outsider, by some lone respondent or two of them, and by all
    of them together; and what was lost, of the cells that are not empty.
    """

    requirements: int
    outsider: int
    one: int
    two: int
    all_lone: int
    false_told: int  # cells whose interval does not hold the value
    hidden: float
    value_hidden: float
    lost: float
    totals_lost: float
    misfit: float


class Judge:
    """A table of `case`, added up here, and the requirements of its primary cells."""

    def __init__(self, case: Case) -> None:
        self.case = case
        parents = [self._parents(name) for name in case.dims]
        codes = [list(each) for each in parents]
        self.keys: list[Key] = list(product(*codes))
        at = {key: place for place, key in enumerate(self.keys)}
        # Of several tables all crossings are unknowns of the attackers, which nobody tells.
        self.told = np.array([self._is_told(key, parents) for key in self.keys])
        self.a, self.respondents = np.zeros(len(self.keys)), [[] for _ in self.keys]
        for person, row in enumerate(case.records.to_dict("records")):
            lines = [self._line(parents[axis], row[name]) for axis, name in enumerate(case.dims)]
            for key in product(*lines):
                self.a[at[key]] += row[VALUE]
                self.respondents[at[key]].append(person)
        rows = []
        for axis, tree in enumerate(parents):
            others = product(*(each for place, each in enumerate(codes) if place != axis))
            below: dict[str, list[str]] = {}
            for code, above in tree.items():
                if above is not None:
                    below.setdefault(above, []).append(code)
            for rest in others:
                for total, parts in below.items():
                    line = np.zeros(len(self.keys))
                    for code, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
                        line[at[(*rest[:axis], code, *rest[axis:])]] = sign
                    rows.append(line)
        self.M = sp.csr_array(np.array(rows))
        self.is_total = ~np.array([self._is_told(key, parents, inner=True) for key in self.keys])
        self.below, self.above, self.primary = self._levels(at)

    def _parents(self, name: str) -> Mapping[str, str | None]:
        if name in self.case.parents:
            return self.case.parents[name]
        return {TOTAL: None} | dict.fromkeys(sorted(set(self.case.records[name])), TOTAL)

    def _is_told(self, key: Key, parents: list[Mapping[str, str | None]], inner: bool = False) -> bool:
        """Whether a table has this cell: its codes of all other dimensions are the roots. `inner`: and none
        of its codes there is a total.
        """
        sums = self._above(parents)
        return any(
            all(
                (code not in sums or not inner) if name in table else tree[code] is None
                for name, code, tree in zip(self.case.dims, key, parents, strict=True)
            )
            for table in self.case.tables
        )

    @staticmethod
    def _line(tree: Mapping[str, str | None], code: str | None) -> list[str]:
        found = []
        while code is not None:
            found.append(code)
            code = tree[code]
        return found

    @staticmethod
    def _above(parents: Iterable[Mapping[str, str | None]]) -> set[str]:
        return {above for tree in parents for above in tree.values() if above is not None}

    def _levels(self, at: Mapping[Key, int]) -> tuple[Floats, Floats, Bools]:
        n = len(self.keys)
        below, above, primaries = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
        case = self.case
        for dims in case.tables:
            table = primary(
                case.records, list(dims), VALUE, rules=case.rules, total=TOTAL, hierarchy=case.hierarchy
            ).table
            for row in table[table["STATUS"] == "u"].to_dict("records"):
                place = at[tuple(row.get(name, TOTAL) for name in case.dims)]
                primaries[place], below[place], above[place] = True, row["LPL"], row["UPL"]
        if case.counted:  # another whole number must be possible
            below, above = primaries.astype(float), primaries.astype(float)
        return np.minimum(below, self.a), above, primaries

    @cached_property
    def lone(self) -> dict[int, list[int]]:
        """Respondent → the cells in which he is alone."""
        found: dict[int, list[int]] = {}
        for cell, people in enumerate(self.respondents):
            if len(people) == 1 and self.told[cell]:
                found.setdefault(people[0], []).append(cell)
        return found

    def published(
        self, cells: Mapping[Key, tuple[float, float | None, float | None]], moved: bool = False
    ) -> Published:
        """From cells that a method tells of; of one that it leaves out nothing is known but that it is empty,
        where it is, and that a table has it.
        """
        empty = (self.a == 0) & self.told
        low, high = np.zeros(len(self.a)), np.where(empty, 0.0, np.inf)
        shown = np.where(empty, 0.0, np.nan)
        for place, key in enumerate(self.keys):
            if key in cells and self.told[place]:
                low[place], top, number = cells[key]
                high[place] = np.inf if top is None else top
                shown[place] = np.nan if number is None else number
        return Published(low, high, shown, moved)

    def judge(self, told: Published) -> Judged:
        sides = [
            (cell, side, level[cell])
            for cell in np.flatnonzero(self.primary).tolist()
            for side, level in ((-1, self.below), (1, self.above))
            if level[cell] > 0
        ]
        program = _Program(self, told)
        broken = {"outsider": 0, "one": 0, "two": 0, "all": 0}
        for cell, side, level in sides:
            for who in self._who_breaks(told, program, cell, side, level):
                broken[who] += 1
        scale = max(self.a.max(), 1.0)
        false = (
            0
            if told.moved
            else int(((self.a < told.low - SLACK * scale) | (self.a > told.high + SLACK * scale)).sum())
        )
        not_empty = (self.a != 0) & self.told
        filled = not_empty & ~self.primary
        blank = np.isnan(told.shown) & np.isinf(told.high) & filled
        off = np.where(
            np.isnan(told.shown), np.where(np.isfinite(told.high), (told.high - told.low) / 2, np.inf),
            np.abs(told.shown - self.a),
        )  # fmt: skip
        lost = np.minimum(1.0, off / np.maximum(self.a, 1.0))
        totals = self.is_total & not_empty
        whole = np.nan_to_num(told.shown)
        lines = np.flatnonzero(~(abs(self.M) @ np.isnan(told.shown).astype(float) > 0))
        misfit = np.abs(self.M[lines] @ whole).max(initial=0.0) if len(lines) else 0.0
        return Judged(
            len(sides), broken["outsider"], broken["one"], broken["two"], broken["all"], false,
            float(blank.sum() / max(filled.sum(), 1)),
            float(self.a[blank].sum() / max(self.a[filled].sum(), 1.0)),
            float(lost[not_empty].mean()), float(lost[totals].mean()), float(misfit),
        )  # fmt: skip

    def _who_breaks(
        self, told: Published, program: _Program, cell: int, side: int, level: float
    ) -> tuple[str, ...]:
        """The weakest attacker and all stronger ones."""
        if told.moved:
            near = abs(told.shown[cell] - self.a[cell]) < level * (1 - SLACK)
            return ("outsider", "one", "two", "all") if near else ()
        if self._excludes(program, cell, side, level, []):
            return ("outsider", "one", "two", "all")
        others = {
            who: cells
            for who, cells in self.lone.items()
            if cell not in cells and who not in self.respondents[cell]
        }
        known = [each for cells in others.values() for each in cells]
        if not known or not self._excludes(program, cell, side, level, known):
            return ()
        if any(self._excludes(program, cell, side, level, cells) for cells in others.values()):
            return ("one", "two", "all")
        if any(
            self._excludes(program, cell, side, level, [*x, *y]) for x, y in combinations(others.values(), 2)
        ):
            return ("two", "all")
        return ("all",)

    def _excludes(self, program: _Program, cell: int, side: int, level: float, known: list[int]) -> bool:
        """Whether this attacker can exclude the value a level away on this side."""
        reached = program.farthest(cell, side, known)
        return bool((self.a[cell] + side * level - reached) * side > SLACK * max(self.a.max(), 1.0))


class _Program:
    """All tables that fit a publication: M x = 0, low ≤ x ≤ high. What nobody knows is at most a thousand
    times the grand total.
    """

    def __init__(self, judge: Judge, told: Published) -> None:
        self._a, n = judge.a, len(judge.a)
        self._low = np.minimum(told.low, judge.a)
        self._high = np.maximum(np.minimum(told.high, 1000 * judge.a.max(initial=1.0)), judge.a)
        self._name = judge.case.name
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = n, judge.M.shape[0]
        model.col_cost_, model.col_lower_, model.col_upper_ = np.zeros(n), self._low, self._high
        model.row_lower_ = model.row_upper_ = np.zeros(judge.M.shape[0])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_ = judge.M.indptr, judge.M.indices
        model.a_matrix_.value_ = judge.M.data
        if self._highs.passModel(model) != highspy.HighsStatus.kOk:
            raise ArithmeticError(f"{self._name}: no model")

    def farthest(self, cell: int, side: int, known: list[int]) -> float:
        """The least (side −1) or the largest value of a cell, for somebody who knows these cells."""
        for each in known:
            self._highs.changeColBounds(each, self._a[each], self._a[each])
        self._highs.changeColCost(cell, -float(side))
        self._highs.run()
        status = self._highs.getModelStatus()
        found = -side * self._highs.getInfo().objective_function_value
        self._highs.changeColCost(cell, 0.0)
        for each in known:
            self._highs.changeColBounds(each, self._low[each], self._high[each])
        if status != highspy.HighsModelStatus.kOptimal:
            raise ArithmeticError(f"{self._name}: {status}")
        return found
