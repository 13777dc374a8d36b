"""What `sdc argus` writes is read back by `sdc argus` as it was: primaries, secondaries, levels and verdict.

Tables of two dimensions are drawn: codes with separators, quotation marks, blanks and dots, a code
below another one, zeros, values below zero, values up to 1e15, cells that stay open, primaries of value
0 and with a level on one side.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.argus.run import run_batch
from sdc_tasks.errors import SdcError, Unprotectable
from sdc_tasks.intake.tables.jj import read_jj
from sdc_tasks.intake.tables.suppression import suppression_of
from sdc_tasks.judge.pattern import verify
from sdc_tasks.model.tolerances import OPTIMALITY
from support.laws import law

ROWS = ["A;1", 'B"2', "C,3 x"]  # C,3 x is the part of D.4
COLUMNS = ["m", "f.x", "<5", "a'b"]
HRC = 'A;1\nB"2\nD.4\n@C,3 x\n'
RDA = """<SEPARATOR> ";"
"Place|of work, daily"
 <RECODEABLE> <TOTCODE> "All, of it"
 <HIERARCHICAL> <HIERCODELIST> "place.hrc" <HIERLEADSTRING> "@"
Sex
 <RECODEABLE> <TOTCODE> "T""x"
"Turnover, net|gross"
 <NUMERIC> <DECIMALS> 0
Firms
 <FREQUENCY>
Status
 <STATUS>
Lpl
 <NUMERIC> <LOWERPL>
Upl
 <NUMERIC> <UPPERPL>
"""
HEAD = (
    '<OPENTABLEDATA> "{0}.tab"\n<OPENMETADATA> "{0}.rda"\n<SPECIFYTABLE> "Place|'
    'of work, daily""Sex"|"Turnover, net|gross"||\n<READTABLE> 0\n'
)
WRITE = '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,5,{1},"{0}.tab")\n<WRITETABLE> (1,6,,"{0}.jj")\n'
Key = tuple[str, str]


@dataclass
class Cell:
    value: float
    firms: int
    status: str
    lpl: float = 0.0
    upl: float = 0.0


@st.composite
def inner(draw: st.DrawFn) -> Cell:
    size = draw(st.sampled_from([10, 10_000, 10**14]))
    value = (
        draw(st.sampled_from([0, 0, 1, 1, 1, 1]))
        * draw(st.integers(-size // 10, size))
        / draw(st.sampled_from([1, 1, 10] if size < 10**9 else [1]))
    )
    firms = draw(st.integers(1, 30)) if value else draw(st.integers(0, 2))
    status = draw(st.sampled_from("SSSUP"))
    level = st.integers(0, 3).map(lambda k: k * (abs(value) or 4) / 10)
    lpl, upl = draw(level), draw(level)
    if status == "U" and not lpl and not upl:
        upl = 4.0
    return Cell(
        value,
        firms,
        status if firms or status != "U" else "S",
        *((lpl, upl) if status == "U" and firms else (0.0, 0.0)),
    )


TABLES = st.lists(inner(), min_size=11, max_size=11).map(lambda drawn: [Cell(7.0, 3, "S"), *drawn])


def cells_of(drawn: list[Cell]) -> dict[Key, Cell]:
    found = {
        (row, column): drawn[4 * i + k] for i, row in enumerate(ROWS) for k, column in enumerate(COLUMNS)
    }
    above = {"A;1": ["All, of it"], 'B"2': ["All, of it"], "C,3 x": ["D.4", "All, of it"]}
    for (row, column), cell in dict(found).items():
        for key in [(r, c) for r in [row, *above[row]] for c in (column, 'T"x') if (r, c) != (row, column)]:
            whole = found.setdefault(key, Cell(0.0, 0, "S"))
            whole.value, whole.firms = round(whole.value + cell.value, 1), whole.firms + cell.firms
    return found


def write(folder: Path, cells: dict[Key, Cell]) -> None:
    (folder / "t.rda").write_text(RDA)
    (folder / "place.hrc").write_text(HRC)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    for key, cell in cells.items():
        number = repr(cell.value).replace(".", ",")
        writer.writerow([*key, number, cell.firms, cell.status, repr(cell.lpl), repr(cell.upl)])
    (folder / "t.tab").write_text(text.getvalue())


def read(place: Path) -> dict[Key, list[str]]:
    """The lines of an intermediate file, read by Python's csv alone."""
    separator = place.with_suffix(".rda").read_text().removeprefix('<SEPARATOR> "')[0]
    return {(row[0], row[1]): row[2:] for row in csv.reader(place.open(newline=""), delimiter=separator)}


def run(folder: Path, name: str, *commands: str) -> list[str]:
    (folder / name).write_text("".join(commands))
    told: list[str] = []
    run_batch(folder / name, None, 1, told.append, folder / f"{name}.hst")
    return told


def another(folder: Path, name: str) -> bool:
    """Whether a table has another pattern than the first one: only where values are a million times a level,
    so that levels are near what a linear program can tell. It costs as much, or it hides more.
    """
    again, first = read(folder / f"{name}.tab"), read(folder / "five.tab")
    hidden, before = ({key for key, row in rows.items() if row[2] == "M"} for rows in (again, first))
    if hidden == before:
        return False
    levels = [float(each) for row in first.values() for each in row[3:] if float(each) > 0]
    assert max(abs(float(row[0])) for row in first.values()) > 1e6 * min(levels)
    cost = [sum(abs(float(first[key][0])) for key in keys) for keys in (hidden, before)]
    assert hidden > before or cost[0] == pytest.approx(cost[1], rel=OPTIMALITY)
    return True


@law(160)
@given(TABLES, st.sampled_from(["", "QU-", "SE+"]))
def test_what_a_batch_writes_is_read_back_as_it_was(drawn: list[Cell], options: str) -> None:
    with TemporaryDirectory() as name:
        folder, cells = Path(name), cells_of(drawn)
        write(folder, cells)
        try:
            run(folder, "one.arb", HEAD.format("t"), WRITE.format("five", options))
        except Unprotectable:
            return
        told, primaries = (
            read(folder / "five.tab"),
            {key for key, cell in cells.items() if cell.status == "U"},
        )
        assert {key for key, row in told.items() if row[2] == "U"} == primaries
        for key in primaries:
            assert tuple(map(float, (told[key][0], *told[key][3:]))) == (
                cells[key].value,
                cells[key].lpl,
                cells[key].upl,
            )
        jj = read_jj(folder / "five.jj")
        assert int((jj.status == "u").sum()) == len(primaries)
        assert int((jj.status == "m").sum()) == sum(row[2] == "M" for row in told.values())
        problem = suppression_of(jj)
        assert not len(verify(problem, np.isin(jj.status, ["u", "m"])).unprotected)
        # the same again, from what was written
        run(folder, "two.arb", HEAD.format("five"), WRITE.format("again", options))
        if another(folder, "again"):
            return
        for file in (
            ("tab", "jj") if options != "SE+" else ("tab",)
        ):  # a code all of whose cells are empty is left out
            assert (folder / f"again.{file}").read_bytes() == (folder / f"five.{file}").read_bytes()
        assert (folder / "two.arb.hst").read_bytes() == (folder / "one.arb.hst").read_bytes()
        # and from the a-priori file, where no cell is marked
        plain = {key: Cell(cell.value, cell.firms, "S") for key, cell in cells.items()}
        write(folder, plain)
        given_there = '<APRIORI> "one.arb.hst",1,";",0\n'
        run(folder, "three.arb", HEAD.format("t"), given_there, WRITE.format("apart", options))
        if not another(folder, "apart"):
            assert (folder / "apart.tab").read_bytes() == (folder / "five.tab").read_bytes()


MICRO = (
    '<SEPARATOR> ","\nREG\n <RECODEABLE> <TOTCODE> "T"\nPR\n <RECODEABLE> <TOTCODE> '
    '"T"\nV\n <NUMERIC> <DECIMALS> 0\n'
)


@pytest.mark.parametrize("values", [(5, -5), (3, 4, -7)])
def test_a_cell_whose_contributions_net_to_zero_is_not_empty(tmp_path: Path, values: tuple[int, ...]) -> None:
    """By a rule it is primary. It was written as empty, and what was written had no primary."""
    rows = [("N", "x", value) for value in values]
    rows += [(r, p, v) for r, p in (("N", "y"), ("S", "x"), ("S", "y")) for v in (40, 41, 42, 43)]
    (tmp_path / "m.asc").write_text("".join(f"{r},{p},{v}\n" for r, p, v in rows))
    (tmp_path / "m.rda").write_text(MICRO)
    head = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "REG""PR"|"V"||\n'
    head += "<SAFETYRULE> FREQ(4,20)|P(10,1)\n<READMICRODATA>\n"
    again = '<OPENTABLEDATA> "f.tab"\n<OPENMETADATA> "f.rda"\n<SPECIFYTABLE> "REG""PR"|"V"||\n<READTABLE> 0\n'
    written = [(5, "", "tab"), (6, "", "jj"), (4, "", "sbs"), (3, "AS+", "txt")]
    tail = "<SUPPRESS> OPT(1)\n" + "".join(
        f'<WRITETABLE> (1,{kind},{options},"{{0}}.{ending}")\n' for kind, options, ending in written
    )
    run(tmp_path, "one.arb", head, tail.format("f"))
    assert read(tmp_path / "f.tab")["N", "x"][:3] == ["0", str(len(values)), "U"]
    assert '"N","x",x,"U"' in (tmp_path / "f.txt").read_text()
    assert '"N";"x";0;' in (tmp_path / "f.sbs").read_text()
    run(tmp_path, "two.arb", again, tail.format("g"))
    for ending in ("tab", "jj", "sbs", "txt"):
        assert (tmp_path / f"g.{ending}").read_bytes() == (tmp_path / f"f.{ending}").read_bytes()


def test_a_zero_that_nobody_protects_is_shown_as_zero_where_it_has_contributors(tmp_path: Path) -> None:
    (tmp_path / "t.tab").write_text("T;9;5;S\na;9;3;S\nb;0;2;S\nc;0;0;E\n")
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ";"\nB\n <RECODEABLE> <TOTCODE> "T"\nV\n <NUMERIC>\nN\n <FREQUENCY>\nST\n <STATUS>\n'
    )
    head = (
        '<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n<SPECIFYTABLE> '
        '"B"|"V"||\n<READTABLE>\n<SUPPRESS> OPT(1)\n'
    )
    run(tmp_path, "b.arb", head, '<WRITETABLE> (1,3,AS+QU-,"o.txt")\n<WRITETABLE> (1,5,SE+QU-,"o.tab")\n')
    assert (tmp_path / "o.txt").read_text() == "T,9,S\na,9,S\nb,0,S\nc,-,E\n"
    assert (tmp_path / "o.tab").read_text() == "T;9;5;S;0;0\na;9;3;S;0;0\nb;0;2;S;0;0\n"


def test_levels_and_costs_beyond_a_trillion_are_read(tmp_path: Path) -> None:
    """1e15 has a level of 1e14 with MAN(10); the a-priori file that tells it was refused as no number."""
    (tmp_path / "t.tab").write_text(f"T;{3 * 10**15};S\na;{10**15};U\nb;{10**15};S\nc;{10**15};S\n")
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ";"\nB\n <RECODEABLE> <TOTCODE> "T"\nV\n <NUMERIC>\nST\n <STATUS>\n'
    )
    head = (
        '<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n<SPECIFYTABLE> '
        '"B"|"V"||\n<SAFETYRULE> MAN(10)\n<READTABLE>\n'
    )
    tail = '<SUPPRESS> OPT(1)\n<WRITETABLE> (1,5,,"{0}.tab")\n'
    run(tmp_path, "one.arb", head, tail.format("f"))
    assert "a;PL;100000000000000;100000000000000" in (tmp_path / "one.arb.hst").read_text()
    run(tmp_path, "two.arb", head, '<APRIORI> "one.arb.hst",1,";",0\n', tail.format("g"))
    assert (tmp_path / "f.tab").read_bytes() == (tmp_path / "g.tab").read_bytes()
    (tmp_path / "costs.hst").write_text("b;C;5000000000000000\n")
    run(tmp_path, "three.arb", head, '<APRIORI> "costs.hst",1,";",0\n', tail.format("h"))
    assert read_status(tmp_path / "h.tab") == {"T": "S", "a": "U", "b": "S", "c": "M"}


def read_status(place: Path) -> dict[str, str]:
    return {row[0]: row[2] for row in csv.reader(place.open(newline=""), delimiter=";")}


def test_an_output_is_never_written_over_what_the_batch_reads(tmp_path: Path) -> None:
    write(tmp_path, cells_of([Cell(5.0 + i, 9, "S") for i in range(12)]))
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    for name in ("t.tab", "t.rda", "t.txt", "one.arb"):  # t.txt would bring its t.rda
        with pytest.raises(SdcError, match="is a file that this batch reads"):
            run(tmp_path, "one.arb", HEAD.format("t"), f'<SUPPRESS> OPT(1)\n<WRITETABLE> (1,5,,"{name}")\n')
        assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_counts_and_names_that_are_taken_are_read_back(tmp_path: Path) -> None:
    """A table of counts has no column of values, and a dimension may be called as a column that format 5
    adds.
    """
    cells = {("x", "a"): 2, ("x", "b"): 4, ("y", "a"): 4, ("y", "b"): 5, ("z", "a"): 4, ("z", "b"): 3}
    (tmp_path / "m.asc").write_text("".join(f"{row},{column},1\n" * n for (row, column), n in cells.items()))
    (tmp_path / "m.rda").write_text(
        '<SEPARATOR> ","\n"Status of / <x"\n <RECODEABLE>\nfreq\n <RECODEABLE>\nV\n <NUMERIC>\n'
    )
    head = (
        '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "Status of / '
        '<x""freq"|"<FREQ>"||-2\n'
    )
    head += "<SAFETYRULE> FREQ(3,40)\n<READMICRODATA>\n"
    again = (
        '<OPENTABLEDATA> "f.tab"\n<OPENMETADATA> "f.rda"\n<SPECIFYTABLE> "Status of / '
        '<x""freq"|"Count"||-2\n<READTABLE> 0\n'
    )
    run(tmp_path, "one.arb", head, WRITE.format("f", ""))
    run(tmp_path, "two.arb", again, WRITE.format("g", ""))
    assert read(tmp_path / "f.tab")["x", "a"] == ["2", "2", "U", "0.8", "0.8"]
    for ending in ("tab", "jj"):
        assert (tmp_path / f"g.{ending}").read_bytes() == (tmp_path / f"f.{ending}").read_bytes()
