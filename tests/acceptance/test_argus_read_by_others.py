"""What `sdc argus` writes is read by others as it was written: by pytauargus, a port of τ-ARGUS, by this
program, and by Python's csv alone. What is recoded is what pytauargus makes of it.

             1,2    10    250+    T          G holds A;1 and B 2
    A;1      20.5u  12     0      …          0 with two firms: a zero that is public
    B 2      14     22     –      …          0 with no firm: empty
    C-3       9      0u   31      …          0 with two firms, primary
    D.4      40z    33    17      …          stays open
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.argus.run import run_batch
from sdc_tasks.intake.tables.jj import read_jj

RDA = """<SEPARATOR> "|"
"Place of work"
 <RECODEABLE> <TOTCODE> "All places"
 <HIERARCHICAL> <HIERCODELIST> "place.hrc" <HIERLEADSTRING> "@"
Size
 <RECODEABLE> <TOTCODE> "T"
"Net turnover"
 <NUMERIC> <DECIMALS> 1
"Number of firms"
 <FREQUENCY>
Status
 <STATUS>
Lpl
 <NUMERIC> <LOWERPL>
Upl
 <NUMERIC> <UPPERPL>
"""
Key = tuple[str, str]
Cell = tuple[float, int, str, float, float]  # value, firms, status, levels down and up
INNER: dict[Key, Cell] = {
    ("A;1", "1,2"): (20.5, 1, "U", 5, 5),
    ("A;1", "10"): (12, 4, "S", 0, 0),
    ("A;1", "250+"): (0, 2, "S", 0, 0),
    ("B 2", "1,2"): (14, 5, "S", 0, 0),
    ("B 2", "10"): (22, 6, "S", 0, 0),
    ("B 2", "250+"): (0, 0, "S", 0, 0),
    ("C-3", "1,2"): (9, 3, "S", 0, 0),
    ("C-3", "10"): (0, 2, "U", 0, 4),
    ("C-3", "250+"): (31, 8, "S", 0, 0),
    ("D.4", "1,2"): (40, 9, "P", 0, 0),
    ("D.4", "10"): (33, 7, "S", 0, 0),
    ("D.4", "250+"): (17, 6, "S", 0, 0),
}
ABOVE = {"A;1": ("G", "All places"), "B 2": ("G", "All places")}
NAMES = '"Place of work""Size"|"Net turnover"||'
OPEN = f'<OPENTABLEDATA> "{{0}}.tab"\n<OPENMETADATA> "{{0}}.rda"\n<SPECIFYTABLE> {NAMES}\n'
FORMATS = {1: "one.csv", 2: "two.csv", 3: "three.txt", 4: "four.sbs", 5: "five.tab", 6: "six.jj"}


def cells() -> dict[Key, Cell]:
    found = dict(INNER)
    for (row, column), cell in INNER.items():
        for whole in [row, *ABOVE.get(row, ("All places",))]:
            for size in (column, "T"):
                if (whole, size) != (row, column):
                    before = found.get((whole, size), (0.0, 0, "S", 0.0, 0.0))
                    found[whole, size] = (before[0] + cell[0], before[1] + cell[1], *before[2:])
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table, protected and written in each format."""
    place = tmp_path_factory.mktemp("argus")
    (place / "t.rda").write_text(RDA)
    (place / "place.hrc").write_text("G\n@A;1\n@B 2\nC-3\nD.4\n")
    lines = ["|".join([*map('"{}"'.format, key), *map(str, cell)]) for key, cell in cells().items()]
    (place / "t.tab").write_text("\n".join(lines) + "\n")
    options = {2: "AS+", 3: "AS+"}
    writes = [f'<WRITETABLE> (1,{k},{options.get(k, "")},"{name}")\n' for k, name in FORMATS.items()]
    said = OPEN.format("t") + "<SAFETYRULE> MAN(10)\n<READTABLE> 0\n<SUPPRESS> OPT(1)\n" + "".join(writes)
    (place / "t.arb").write_text(said)
    run_batch(place / "t.arb", None, 1, lambda line: None)
    return place


def rows(path: Path, separator: str) -> Iterator[list[str]]:
    with path.open(newline="") as file:
        yield from csv.reader(file, delimiter=separator)


def statuses(path: Path, separator: str, at: int) -> dict[Key, str]:
    """The status of each cell, in the column `at`; codes without the blanks that fill them to one width."""
    return {(row[0].strip(), row[1].strip()): row[at] for row in rows(path, separator)}


def expected(folder: Path) -> dict[Key, str]:
    """What format 5 says, and is right about what was given: primaries, what stays open, what is empty."""
    found = statuses(folder / FORMATS[5], "|", 4)
    given = {key: cell[2] for key, cell in cells().items() if cell[2] != "S"}
    assert {key: found[key] for key in given} == given
    assert {key for key, status in found.items() if status == "E"} == {("B 2", "250+")}
    assert found["A;1", "250+"] in "SM"
    assert sum(status == "M" for status in found.values()) >= 2, "nothing protects the primaries"
    return found


@pytest.mark.slow
def test_pytauargus_reads_the_statuses_and_the_levels_that_were_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own batch reads format 5 with its metadata and hierarchy, and writes what it has read."""
    engine = pytest.importorskip("pytauargus.engine", reason="no wheel of pytauargus for this machine")
    monkeypatch.chdir(folder)  # it leaves logs where it is called
    batch = folder / "back.arb"
    batch.write_text(OPEN.format("five") + '<SAFETYRULE>\n<READTABLE> 0\n<WRITETABLE> (1,5,SO+,"back.tab")\n')
    engine.run_batch(str(batch))
    back = folder / "back.tab"
    assert statuses(back, ";", -3) == expected(folder)
    levels = {(row[0].strip(), row[1].strip()): (float(row[-2]), float(row[-1])) for row in rows(back, ";")}
    assert levels == {key: cell[3:] for key, cell in cells().items()}


def test_a_batch_of_ours_reads_them_too(folder: Path) -> None:
    again = OPEN.format("five") + "<READTABLE> 0\n<SUPPRESS> OPT(1)\n"
    (folder / "again.arb").write_text(again + '<WRITETABLE> (1,5,,"again.tab")\n')
    run_batch(folder / "again.arb", None, 1, lambda line: None)
    assert (folder / "again.tab").read_text() == (folder / FORMATS[5]).read_text()


def test_formats_1_to_4_and_6_say_the_same(folder: Path) -> None:
    """1 hides primaries and secondaries behind an x, and 2 and 3 with their status. 4 leaves empty cells out,
    and its flags are A or B for a primary and D for a secondary. 6 has the cells in the order of 5; what is
    empty is z.
    """
    truth = expected(folder)
    order, hidden = list(truth), {key for key, status in truth.items() if status in "UM"}
    head, sizes, *lines = rows(folder / FORMATS[1], ",")
    assert head == ["Place of work x Size | Net turnover"]
    matrix = {(line[0], size): line[1 + i] for line in lines for i, size in enumerate(sizes[1:])}
    assert {key for key, shown in matrix.items() if shown == "x"} == hidden
    assert {key for key, shown in matrix.items() if shown == "-"} == {("B 2", "250+")}
    for kind, skipped in ((2, 1), (3, 0)):
        told = list(rows(folder / FORMATS[kind], ","))[skipped:]
        assert {(row[0], row[1]): row[3] for row in told} == truth
        assert {(row[0], row[1]) for row in told if row[2] == "x"} == hidden
    flags = statuses(folder / FORMATS[4], ";", -1)
    assert set(flags) == {key for key, status in truth.items() if status != "E"}
    letter = {"A": "U", "B": "U", "D": "M", "V": "SP"}
    assert all(truth[key] in letter[flag] for key, flag in flags.items())
    of_jj = {"u": "U", "m": "M", "s": "S", "z": "PSE"}
    assert all(
        truth[key] in of_jj[status]
        for key, status in zip(order, read_jj(folder / FORMATS[6]).status.tolist(), strict=True)
    )


def test_the_separator_of_format_5_stands_in_no_code(folder: Path) -> None:
    """τ-ARGUS takes it for a separator between quotation marks too."""
    lines = (folder / FORMATS[5]).read_text().splitlines()
    assert {line.count("|") for line in lines} == {6}
    assert (folder / "five.rda").read_text().startswith('<SEPARATOR> "|"\n')


RECORDS_RDA = """Region 1 3
 <RECODEABLE>
 <TOTCODE> "Total"
 <HIERARCHICAL>
 <HIERCODELIST> "r.hrc"
 <HIERLEADSTRING> "@"
Size 5 2 99
 <RECODEABLE>
 <TOTCODE> "Total"
Turnover 8 6
 <NUMERIC>
"""
RECODED = """<OPENMICRODATA> "m.asc"
<OPENMETADATA> "m.rda"
<SPECIFYTABLE> "Region""Size"|"Turnover"||
<SAFETYRULE> NK(1,60)
<READMICRODATA>
<RECODE> 1,{}
<SUPPRESS> OPT(1,1)
<WRITETABLE> (1,5,QU-,"o.tab")
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ['Size,"s.grc"', "Region,1", 'Region,"t.grc"'])
def test_pytauargus_recodes_the_same_records_to_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Codes, values, contributors and primaries of every cell. It has cells of the missing value, which no
    record has; ours has none.
    """
    engine = pytest.importorskip("pytauargus.engine", reason="no wheel of pytauargus for this machine")
    monkeypatch.chdir(tmp_path)  # it leaves logs where it is called
    chance = np.random.default_rng(5)
    lines = [
        f"{chance.choice(['N1A', 'N2A', 'N2B', 'S1A'])} {chance.choice(['01', '02', '03', '10', '12'])} "
        f"{int(chance.lognormal(4, 1.4)) + 1:6d}"
        for _ in range(90)
    ]
    (tmp_path / "m.asc").write_text("\n".join([*lines, ""]))
    (tmp_path / "m.rda").write_text(RECORDS_RDA)
    (tmp_path / "r.hrc").write_text("N00\n@N1A\n@N20\n@@N2A\n@@N2B\nS00\n@S1A\n")
    (tmp_path / "s.grc").write_text("AA: - 02\nBB: 10 , 12\n")
    (tmp_path / "t.grc").write_text("<TREERECODE>\nN20\n")
    (tmp_path / "b.arb").write_text(RECODED.format(what))
    engine.run_batch("b.arb")
    theirs = {tuple(row[:4]): row[-3] == "U" for row in rows(tmp_path / "o.tab", ";") if row[1] != "99"}
    run_batch(tmp_path / "b.arb", None, 1, lambda line: None)
    ours = {tuple(row[:4]): row[-3] == "U" for row in rows(tmp_path / "o.tab", ";")}
    assert ours == theirs
    assert any(ours.values())
