"""Programs of others on the tables of `make compare`: `python run.py CASES.json ANSWERS.json`, in an
environment of theirs. An answer is a list of cells: codes, the least and the largest value that a reader
takes the true one for, and the number that is printed, None for a blank.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import acro
import pandas as pd
import pytauargus
from cell_key_perturbation.create_perturbed_table import create_perturbed_table
from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule
from compare_apart import apart
from CtrlRound import ctrl_round

TOTAL, VALUE = "Total", "VALUE"
SECONDS = 60
Cells = list[tuple[list[str], float, float | None, float | None]]  # above: None where nobody knows
Case = Mapping[str, Any]
Method = Callable[[Case], Cells]


def _each_table(method: Method) -> Method:
    """Of several tables each by itself. A reader takes the narrowest of what they say of one cell."""

    def of_all(case: Case) -> Cells:
        found: dict[tuple[str, ...], tuple[float, float | None, float | None]] = {}
        for dims in case["tables"]:
            for codes, low, high, shown in method({**case, "dims": dims}):
                given = dict(zip(dims, codes, strict=True))
                key = tuple(given.get(name, TOTAL) for name in case["dims"])
                old = found.get(key, (0.0, None, None))
                ends = [each for each in (old[1], high) if each is not None]
                number = shown if old[2] is None else old[2]
                found[key] = max(low, old[0]), min(ends, default=None), number
        return [(list(key), *told) for key, told in found.items()]

    return of_all


def _frame(case: Case) -> pd.DataFrame:
    return pd.DataFrame(case["records"])


def _argus(case: Case, suppress: str) -> tuple[Any, list[Any]]:
    with tempfile.TemporaryDirectory() as folder:
        hierarchies = {}
        for name, parents in case["parents"].items():
            path = Path(folder) / f"{name}.hrc"
            below: dict[str, list[str]] = {}
            for code, above in parents.items():
                below.setdefault(above, []).append(code)
            path.write_text("".join(_lines(below, TOTAL, 0)))
            hierarchies[name] = str(path)
        rules = "FREQ(3,10)" if case["counted"] else "P(10,1)|FREQ(3,10)"
        found = pytauargus.protect(
            _frame(case), list(case["dims"]), VALUE, rules, suppress, hrc=hierarchies or None,
            hierleadstring="@" if hierarchies else None, workdir=f"{folder}/run",
        )  # fmt: skip
        return found.tables[0].dataframe(), found.tables[0].safe(None)


def _lines(below: Mapping[str, list[str]], code: str, depth: int) -> list[str]:
    return [
        line
        for each in below.get(code, ())
        for line in ("@" * depth + each + "\n", *_lines(below, each, depth + 1))
    ]


def _argus_hides(case: Case, suppress: str) -> Cells:
    frame, safe = _argus(case, suppress)
    return [
        (list(codes), 0.0, None, None) if value is None else (list(codes), value, value, value)
        for codes, value in zip(frame[list(case["dims"])].itertuples(index=False), safe, strict=True)
    ]


def _argus_rounds(case: Case) -> Cells:
    """With the least base that it takes. Where it finds no table it answers with zeros and no error."""
    base = case["base"]
    try:
        frame = _argus(case, f"RND(1,{base:g})")[0]
    except Exception as error:
        words = str(error).split("minimum ")
        if len(words) < 2:
            raise
        base = float(words[1].split()[0])
        frame = _argus(case, f"RND(1,{base:g})")[0]
    if not frame[VALUE].any():
        raise ValueError(f"no table to base {base:g}: it answers with zeros")
    return [
        (list(codes), max(0.0, value - base), value + base, value)
        for codes, value in zip(frame[list(case["dims"])].itertuples(index=False), frame[VALUE], strict=True)
    ]


def _refuse_hierarchy(case: Case) -> None:
    if case["parents"]:
        raise ValueError("it knows no hierarchies")


def _ctrlround(case: Case) -> Cells:
    _refuse_hierarchy(case)
    dims = list(case["dims"])
    margins = [list(some) for number in range(1, len(dims)) for some in combinations(dims, number)]
    found = ctrl_round(_frame(case), by=dims, margins=margins, var=VALUE, rounding_base=case["base"])
    table, base = found["rounded_table"], case["base"]
    cells: Cells = []
    for some in [*margins, dims]:
        for codes, value in table.groupby(some)[VALUE].sum().items():
            given = dict(zip(some, codes if isinstance(codes, tuple) else (codes,), strict=True))
            inner = len(some) == len(dims)
            key = [given.get(name, TOTAL) for name in dims]
            cells.append(
                (key, max(0.0, value - base) if inner else 0.0, value + base if inner else None, value)
            )
    return [*cells, ([TOTAL] * len(dims), 0.0, None, float(table[VALUE].sum()))]


def _cell_keys(case: Case) -> Cells:
    """Each table of the publication is asked for by itself, as users do."""
    if not case["counted"]:
        raise ValueError("it perturbs counts alone")
    rules, threshold, reach = generate_ptable_10_5_rule(), 10, 2
    frame = _frame(case)
    frame["record_key"] = [(7 * number * number + 31 * number) % 256 for number in range(len(frame))]
    dims, cells = list(case["dims"]), []
    for some in (list(each) for number in range(1, len(dims) + 1) for each in combinations(dims, number)):
        found = create_perturbed_table(frame, rules, [], some, "record_key", threshold=threshold)
        for row in found.to_dict("records"):
            key = [row.get(name, TOTAL) if name in some else TOTAL for name in dims]
            count = row["count"]
            blank = bool(pd.isna(count))
            low, high = (0.0, threshold - 1.0) if blank else (count - reach, count + reach)
            cells.append((key, float(low), float(high), None if blank else float(count)))
    return cells


def _acro(case: Case) -> Cells:
    """Its totals are sums of what is shown: where something is blank, a reader knows that the true one is no
    less.
    """
    _refuse_hierarchy(case)
    session = acro.ACRO(suppress=True)
    for settings in (session.config, session.sdc_checks.risk_appetite):
        settings["safe_threshold"] = 3
    frame, dims = _frame(case), list(case["dims"])
    shown = session.crosstab(
        [frame[name] for name in dims[:-1]],
        [frame[dims[-1]]],
        values=frame[VALUE],
        aggfunc="sum",
        margins=False,
    )
    cells: Cells = []
    sums: dict[tuple[str, ...], float] = {}
    partial: set[tuple[str, ...]] = set()
    for row, values in shown.iterrows():
        for column, value in values.items():
            key = (*_codes(row), *_codes(column))
            blank = math.isnan(value)
            cells.append(_blank(key, 0.0) if blank else (list(key), value, value, value))
            for number in range(len(dims)):
                for some in combinations(range(len(dims)), number):
                    above = tuple(code if at in some else TOTAL for at, code in enumerate(key))
                    sums[above] = sums.get(above, 0.0) + (0.0 if blank else value)
                    partial |= {above} if blank else set()
    totals = [
        _blank(key, value) if key in partial else (list(key), value, value, value)
        for key, value in sums.items()
    ]
    return cells + totals


def _codes(name: Any) -> tuple[str, ...]:
    return name if isinstance(name, tuple) else (name,)


def _blank(key: tuple[str, ...], least: float) -> tuple[list[str], float, None, None]:
    return list(key), least, None, None


METHODS: Mapping[str, Method] = {
    "pytauargus OPT": _each_table(lambda case: _argus_hides(case, "OPT(1)")),
    "pytauargus MOD": _each_table(lambda case: _argus_hides(case, "MOD(1)")),
    "pytauargus RND": _each_table(_argus_rounds),
    "ctrlround": _ctrlround,
    "cell-key-perturbation": _cell_keys,
    "acro": _each_table(_acro),
}


def main() -> None:
    cases = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = {}
    for case in cases:
        found[case["name"]] = {
            method: apart(lambda work=work, case=case: work(case), SECONDS)
            for method, work in METHODS.items()
        }
        Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
