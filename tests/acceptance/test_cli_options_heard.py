"""No option of a command is without effect and without a word: each changes what is asked for or
written, or is refused by its name.

The options are those of the commands' own signatures: one that is added there needs a line here. What a
search is asked for is caught before it searches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import sdc_tasks.api.rounding  # noqa: F401 - before anything is patched, or it would keep the patch
from sdc_tasks.cli.options import as_command
from sdc_tasks.cli.rounding.perturb import perturb
from sdc_tasks.cli.rounding.round_counts import round_counts
from sdc_tasks.cli.searches import argus, protect, suppress
from sdc_tasks.methods.rounding import small_count
from sdc_tasks.methods.suppression.names import METHODS
from support.desk import sdc

TABLE = """A,B,VALUE,STATUS,LPL,UPL,KIND,MARK,LEVEL,LOW,HIGH,ONE,WHO,PRICE,FIRMS,ROOF
x,1,10,u,3,3,s,0,2,1,2,0,,5,3,99
x,2,20,s,,,s,0,2,1,2,0,,4,3,99
x,3,30,s,,,s,0,2,1,2,0,,3,3,99
y,1,40,s,,,s,0,2,1,2,0,,2,3,99
y,2,50,s,,,u,1,2,1,2,1,me,1,3,99
y,3,60,s,,,s,0,2,1,2,0,,9,3,99
"""
GAP = TABLE.replace("y,3,60,s,,,s,0,2,1,2,0,,9,3,99\n", "")
OFF = TABLE + "TOTAL,TOTAL,211,s,,,s,0,2,1,2,0,,9,3,99\n"  # and not 210
FIRMS = "A,B,VALUE,FIRM,GROUP,WAIVES,ASKS,WEIGHT,OTHER\n" + "".join(
    f"{a},{b},{v},f{i},g{i // 2},{int(i == 0)},{int(i == 3)},{1 + i % 2},{v + i}\n"
    for a in "xy"
    for b in "123"
    for i, v in enumerate((90, 9, 4, 2))
)
TOPS = "A,B,VALUE,COUNT,N,T1,T2\n" + "".join(
    f"{a},{b},{100 + i},{5 + i},{4 + i},{60 + i},{30 - i}\n" for a in "xy" for i, b in enumerate("123")
)
TREE = "code,parent\nT,\nG,T\n1,G\n2,G\n3,T\n"
JJ = "\n".join(
    [
        "0",
        "3",
        *(
            f"{i} {v} 1 {s} 0 100 {n} {n} 0"
            for i, (v, s, n) in enumerate([(30, "s", 0), (10, "u", 2), (20, "s", 0)])
        ),
        "1",
        "0 3 : 0 (-1) 1 (1) 2 (1)",
        "",
    ]
)
COUNTS = "A,B,N,MUST,FIXED\n" + "".join(
    f"{a},{b},{i % 5},{int(i == 3)},{3 if i == 2 else ''}\n"
    for i, (a, b) in enumerate((a, b) for a in "vwxyz" for b in "123")
)
PEOPLE = "ID,A,B,KEY,WHOLE,N,W\n" + "".join(
    f"p{i},{'vwxyz'[i % 5]},{i % 3 or ''},0.{(i * 7919) % 9973:04},{i * 37 % 256},{1 + i % 3},{1 + i % 2}.5\n"
    for i in range(200)
)
CELLS = "A,B,KEY,N\n" + "".join(
    f"{a},{b},0.{(i * 7919) % 9973 if i % 7 else 0:04},{i % 7}\n"
    for i, (a, b) in enumerate((a, b) for a in "vwxyz" for b in "123")
)
THEN = "A,B,VALUE,STATUS\n" + "".join(
    f"{a},{b},0,{'m' if b == '2' else 's'}\n" for a in ("x", "y", "TOTAL") for b in ("1", "2", "3", "TOTAL")
)
FILES = {
    "t.csv": TABLE,
    "gap.csv": GAP,
    "off.csv": OFF,
    "firms.csv": FIRMS,
    "tops.csv": TOPS,
    "tree.csv": TREE,
    "t.jj": JJ,
    "counts.csv": COUNTS,
    "n.csv": "cell,count\n0,4\n1,2\n2,2\n",
    "b.hst": "x,2,c,1\n",
    "link.csv": "link,table,cell\n1,t,x.1\n1,gap,x.1\n",
    "then.csv": THEN,
    "people.csv": PEOPLE,
    "cells.csv": CELLS,
    "s.hex": "5e" * 31 + "01\n",
    "noise.csv": "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n",
    "tabb.csv": "code,parent\nT,\nG,T\nv,G\nw,G\nx,T\ny,T\nz,T\n",
}
RULE = ("firms.csv", "--dims", "A,B", "--p", "10")
Case = tuple[Sequence[str], Sequence[str]]
PLAIN = ("t.csv", "--dims", "A,B")
SUPPRESS: dict[str, Case] = {
    "method": (PLAIN, ("--method", "paths")),
    "cost": (PLAIN, ("--cost", "one")),
    "count_file": (("t.jj", "--cost", "frequency"), ("--count-file", "n.csv")),
    "link": (PLAIN, ("--link", "link.csv")),
    "apriori": (PLAIN, ("--apriori", "b.hst")),
    "previous": (PLAIN, ("--previous", "then.csv")),
    "keep": (PLAIN, ("--keep", "then.csv")),
    "keep_discount": (PLAIN, ("--keep-discount", "5")),
    "seconds": (PLAIN, ("--seconds", "5")),
    "gap": (PLAIN, ("--gap", "0.1")),
    "prove": (PLAIN, ("--prove",)),
    "attainable": (PLAIN, ("--attainable",)),
    "seed": (PLAIN, ("--seed", "2")),
    "place": (PLAIN, ("--out", "out.csv")),
    "facts": (PLAIN, ("--json", "out.json")),
    "published": (PLAIN, ("--published", "out.csv")),
    "flow": ((*PLAIN, "--published", "out.xml"), ("--flow", "OFFICE:TOWNS(1.0)")),
    "tolerance": (("off.csv", "--dims", "A,B"), ("--tolerance", "1")),
    "plot": (PLAIN, ("--plot", "out.svg")),
    "pattern": (PLAIN, ("--check", "then.csv")),
    "dims": (("t.csv",), ("--dims", "A,B")),
    "total": (PLAIN, ("--total", "ALL")),
    "hierarchy": (PLAIN, ("--hierarchy", "B=tree.csv")),
    "missing": (("gap.csv", "--dims", "A,B"), ("--missing", "zero")),
    "margins": (PLAIN, ("--margins", "2")),
    "min_contributors": (
        (*PLAIN, "--count", "FIRMS", "--cost", "frequency"),
        ("--min-contributors", "5"),
    ),
    "value": (PLAIN, ("--value", "PRICE")),
    "status": (PLAIN, ("--status", "KIND")),
    "primary": (PLAIN, ("--primary", "MARK")),
    "level": (PLAIN, ("--level", "LEVEL")),
    "lpl": (PLAIN, ("--lpl", "LOW")),
    "spl": (PLAIN, ("--spl", "LOW")),
    "lb": (PLAIN, ("--lb", "LOW")),
    "ub": (PLAIN, ("--ub", "ROOF")),
    "upl": (PLAIN, ("--upl", "HIGH")),
    "singleton": ((*PLAIN, "--primary", "MARK", "--level", "LEVEL"), ("--singleton", "ONE")),
    "respondent": ((*PLAIN, "--primary", "MARK", "--level", "LEVEL"), ("--respondent", "WHO")),
    "count": (PLAIN, ("--count", "FIRMS")),
}
PROTECT: dict[str, Case] = {
    "dims": (("firms.csv", "--p", "10", "--dims", "A"), ("--dims", "A,B")),
    "p": (("firms.csv", "--dims", "A,B", "--nk", "1,70"), ("--p", "40")),
    "q": (RULE, ("--q", "50")),
    "nk": (RULE, ("--nk", "1,70")),
    "minimum": (RULE, ("--min-frequency", "5")),
    "frequency_range": (RULE, ("--frequency-range", "20")),
    "requests": (RULE, ("--request-percent", "70")),
    "value": (RULE, ("--value", "OTHER")),
    "contributor": (RULE, ("--contributor", "FIRM")),
    "holding": (RULE, ("--holding", "GROUP")),
    "waiver": (RULE, ("--waiver", "WAIVES")),
    "request": (RULE, ("--request", "ASKS")),
    "weight": (RULE, ("--weight", "WEIGHT")),
    "top": (("tops.csv", "--dims", "A,B", "--p", "10"), ("--top", "T1,T2")),
    "count": (RULE, ("--count", "FIRM")),
    "tolerance": (RULE, ("--tolerance", "1")),
    "flow": ((*RULE, "--published", "out.xml"), ("--flow", "OFFICE:TOWNS(1.0)")),
    "total": (RULE, ("--total", "ALL")),
    "hierarchy": (RULE, ("--hierarchy", "B=tree.csv")),
    "margins": (RULE, ("--margins", "2")),
    "min_contributors": (RULE, ("--min-contributors", "9")),
    **{
        name: (RULE, SUPPRESS[name][1])
        for name in (
            "method",
            "cost",
            "seconds",
            "gap",
            "prove",
            "attainable",
            "seed",
            "place",
            "published",
            "facts",
            "plot",
            "pattern",
        )
    },
}
ROUND = ("counts.csv", "--dims", "A,B", "--count", "N", "--seed", "5")
ROUNDED: dict[str, Case] = {
    "dims": (("counts.csv", "--count", "N", "--seed", "5", "--dims", "A"), ("--dims", "A,B")),
    "count": (("counts.csv", "--dims", "A,B", "--seed", "5"), ("--count", "N")),
    "max_order": (ROUND, ("--max-order", "1")),
    "crossings": (ROUND, ("--crossings", "A")),
    "formula": (ROUND, ("--formula", "~A")),
    "hierarchy": (ROUND, ("--hierarchy", "A=tabb.csv")),
    "base": (ROUND, ("--base", "5")),
    "seed": (ROUND, ("--seed", "6")),
    "quality": (ROUND, ("--quality", "best")),
    "max_round": (ROUND, ("--max-round", "3")),
    "zero_candidates": (ROUND, ("--zero-candidates",)),
    "protect_zeros": (ROUND, ("--protect-zeros",)),
    "leverage": (ROUND, ("--leverage",)),
    "rule_aware": (ROUND, ("--rule-aware",)),
    "drawn": (ROUND, ("--drawn", "0.2")),
    "force": (ROUND, ("--force", "MUST")),
    "given": (ROUND, ("--given", "FIXED")),
    "steps": (ROUND, ("--steps", "4,2,4")),
    "batch": (ROUND, ("--batch", "2")),
    "inner": (ROUND, ("--out", "out.csv")),
    "published": (ROUND, ("--published", "out.csv")),
    "facts": (ROUND, ("--json", "out.json")),
    "plot": (ROUND, ("--plot", "out.svg")),
}
PERTURB = ("people.csv", "--dims", "A,B", "--max-step", "3", "--variance", "1.5", "--published", "p.csv")
NAMED = (*PERTURB, "--record", "ID", "--secret", "s.hex")
GIVEN = (*PERTURB, "--record-key", "KEY")
SUMS = (*NAMED[:3], *NAMED[7:], "--values", "W", "--share", "0.1")
PERTURBED: dict[str, Case] = {
    "dims": ((*NAMED[:1], *NAMED[3:], "--dims", "A"), ("--dims", "A,B")),
    "count": (("cells.csv", *GIVEN[1:]), ("--count", "N")),
    "secret": (GIVEN, ("--secret", "s.hex")),
    "record": (NAMED, ("--record", "B")),
    "record_key": (GIVEN, ("--record-key", "W")),
    "keys_below": ((*PERTURB, "--record-key", "WHOLE"), ("--keys-below", "256")),
    "weight": (NAMED, ("--weight", "W")),
    "unknown": (NAMED, ("--unknown", "?")),
    "max_order": (NAMED, ("--max-order", "1")),
    "crossings": (NAMED, ("--crossings", "A")),
    "formula": (NAMED, ("--formula", "~A")),
    "hierarchy": (NAMED, ("--hierarchy", "A=tabb.csv")),
    "ptable": ((*NAMED[:3], *NAMED[7:], "--max-step", "3", "--variance", "1"), ("--ptable", "noise.csv")),
    "max_step": (NAMED, ("--max-step", "4")),
    "values": ((*NAMED[:3], *NAMED[7:], "--max-step", "3", "--variance", "1"), ("--values", "W")),
    "share": (SUMS, ("--share", "0.2")),
    "large": ((*SUMS, "--flex-point", "1"), ("--large", "0.05")),
    "flex_point": ((*SUMS, "--large", "0.05"), ("--flex-point", "1")),
    "q": ((*SUMS, "--large", "0.01", "--flex-point", "1"), ("--q", "9")),
    "weights": (SUMS, ("--weights", "1,1")),
    "variance": (NAMED, ("--variance", "1.2")),
    "js": (NAMED, ("--js", "1")),
    "at_most": ((*NAMED, "--variance", "2.5", "--write-ptable", "t"), ("--at-most",)),
    "monotone": (
        (*NAMED, "--max-step", "5", "--variance", "3", "--js", "2", "--write-ptable", "t"),
        ("--monotone",),
    ),
    "stay": (NAMED, ("--stay", "0.6")),
    "published": ((*NAMED[:7], *NAMED[9:]), ("--published", "p.csv")),
    "cells": (NAMED, ("--out", "out.csv")),
    "told": (NAMED, ("--audit", "told.json")),
    "write_ptable": (NAMED, ("--write-ptable", "t")),
    "whole_keys": ((*NAMED, "--write-ptable", "t"), ("--whole-keys", "256")),
}
BATCH = ("b.arb",)
ARGUS: dict[str, Case] = {
    "folder": (BATCH, ("--out", "results")),
    "hst": (BATCH, ("--hst", "out.hst")),
    "seed": (BATCH, ("--seed", "5")),
}
COMMANDS: dict[str, tuple[Callable[..., None], dict[str, Case]]] = {
    "suppress": (suppress.suppress, SUPPRESS),
    "protect": (protect.protect, PROTECT),
    "round-counts": (round_counts, ROUNDED),
    "perturb": (perturb, PERTURBED),
    "argus": (argus.argus, ARGUS),
}
ALL = [(command, name) for command, (_, cases) in COMMANDS.items() for name in cases]
ARRAYS = (
    "a",
    "lb",
    "ub",
    "lpl",
    "upl",
    "spl",
    "cost",
    "primary",
    "fixed",
    "singleton",
    "respondent",
    "guarded",
    "count",
)


def told_of(table: Any) -> tuple[object, ...]:
    problem = table.problem
    arrays = [
        b"" if getattr(problem, name) is None else np.asarray(getattr(problem, name)).tobytes()
        for name in ARRAYS
    ]
    return (table.keys, *arrays, problem.minimum)


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    asked: list[object] = []

    def caught(files: Any, read: Any, search: Any, _: Any) -> None:
        asked.append((told_of(read()), search))
        raise typer.Exit(0)

    rounding = small_count.round_counts

    def rounded(dummy: Any, options: Any, *more: Any, **named: Any) -> Any:
        asked.append(
            (
                options,
                dummy.published,
                dummy.cells.y.tobytes(),
                *(None if each is None else each.tobytes() for each in more[:2]),
            )
        )
        return rounding(dummy, options, *more, **named)

    for room in (suppress, protect):
        monkeypatch.setattr(room, "search", caught)
    monkeypatch.setattr(small_count, "round_counts", rounded)

    def run(command: str, arguments: Sequence[str]) -> tuple[object, str]:
        """What was asked for and written; and what was said."""
        asked.clear()
        for each in sorted(tmp_path.rglob("*"), reverse=True):
            each.rmdir() if each.is_dir() else each.unlink()
        (tmp_path / "results").mkdir()
        for name, text in FILES.items():
            (tmp_path / name).write_text(text)
        micro = "x,1,9\nx,1,4\nx,1,3\nx,2,8\nx,2,7\nx,2,9\ny,1,7\ny,1,6\ny,1,9\ny,2,90\n"
        (tmp_path / "m.asc").write_text(micro)
        (tmp_path / "m.rda").write_text(
            '<SEPARATOR> ","\nA\n <RECODEABLE>\nB\n <RECODEABLE>\nV\n <NUMERIC>\n'
        )
        (tmp_path / "b.arb").write_text(
            '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "A""B"|"V"||\n<SAFETYRULE> '
            "P(10,1)\n<READMICRODATA>\n"
            '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"o.txt")\n'
        )
        before = {each for each in tmp_path.rglob("*") if each.is_file()}
        monkeypatch.chdir(tmp_path)
        ended = sdc(command, *arguments)
        assert ended.code in (0, 2, 3), ended.text
        after = {
            str(each): each.read_bytes()
            for each in tmp_path.rglob("*")
            if each.is_file() and each not in before
        }
        return (ended.code, list(asked), after), ended.text

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_has_its_line(command: str) -> None:
    function, cases = COMMANDS[command]
    assert {
        name
        for name in inspect.signature(as_command(function)).parameters
        if name not in ("context", "files", "file", "batch_file")
    } - ({"batch"} if command == "argus" else set()) == set(cases)


@pytest.mark.parametrize(("command", "name"), ALL)
def test_an_option_of_a_command_is_honoured_or_named(heard: Any, command: str, name: str) -> None:
    plain, option = COMMANDS[command][1][name]
    (one, _), (two, said) = heard(command, plain), heard(command, (*plain, *option))
    assert one != two or any(word in said for word in option), said


def test_a_pattern_is_judged_and_none_is_sought(heard: Any) -> None:
    """Beside --check, an option of the search is refused."""
    searches = (
        "--method paths|--gap 0.1|--prove|--seed 2|--seconds 3|--out o.csv|--plot o.svg|--published o.csv"
    )
    for option in map(str.split, searches.split("|")):
        said = heard("suppress", (*PLAIN, "--check", "then.csv", *option))[1]
        assert "leave out --out, --published, --plot, --seconds, --method, --gap, --prove and --seed" in said


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("command", "plain"), [("suppress", PLAIN), ("protect", RULE)])
def test_a_gap_is_for_methods_that_end_at_one(
    heard: Any, method: str, command: str, plain: Sequence[str]
) -> None:
    (code, asked, _), said = heard(command, (*plain, "--method", method, "--gap", "0.1"))  # type: ignore[misc]
    ends = method in ("auto", "exact", "hitas")
    assert (code, bool(asked)) == ((0, True) if ends else (2, False))
    assert ends or f"gap: method {method} proves no bound" in said
    assert heard(command, (*plain, "--method", method))[0][0] == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("command", "plain"), [("suppress", PLAIN), ("protect", RULE)])
def test_to_prove_is_for_methods_that_prove(
    heard: Any, method: str, command: str, plain: Sequence[str]
) -> None:
    (code, asked, _), said = heard(command, (*plain, "--method", method, "--prove"))  # type: ignore[misc]
    proves = method in ("auto", "exact")
    assert (code, bool(asked)) == ((0, True) if proves else (2, False))
    assert proves or f"prove: method {method} proves no bound" in said


@pytest.mark.parametrize(
    "alone", [("--q", "50"), ("--frequency-range", "20"), ("--count", "OTHER"), ("--request", "ASKS")]
)
def test_half_of_a_rule_is_refused(heard: Any, alone: tuple[str, str]) -> None:
    (code, asked, _), said = heard("protect", ("firms.csv", "--dims", "A,B", "--nk", "1,70", *alone))  # type: ignore[misc]
    assert (code, asked) == (2, [])
    assert "Remedy: " in said
