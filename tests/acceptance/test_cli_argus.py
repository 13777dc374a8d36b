"""`sdc argus`: batches written after the manual of τ-ARGUS, and, where they are on the machine, its own
examples.
"""

from __future__ import annotations

import csv
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.argus.run import run_batch
from sdc_tasks.errors import SdcError
from sdc_tasks.intake.tables.jj import read_jj, write_all_private
from support.desk import sdc

PUBLIC = Path(__file__).parents[3] / "shared/data/argus"
SECRET = "731977"
HRC = "N\n@N1\n@N2\nS\n"
RDA = """   <SEPARATOR> ";"
   <UNSAFE> "U"
   <PROTECT> "P"
Region
   <RECODEABLE>
   <TOTCODE> "All"
   <HIERARCHICAL>
   <HIERCODELIST> "C:\\data\\REGION.HRC"
   <HIERLEADSTRING> "@"
Size "9"
   <RECODEABLE>
   <TOTCODE> "All"
Turnover
   <NUMERIC>
   <DECIMALS> 1
Firms
   <FREQUENCY>
Top1
   <MAXSCORE>
Top2
   <MAXSCORE>
State
   <STATUS>
"""
INNER = {
    ("N1", "1"): (731977.0, 9, 400000.0, 50000.0, "U"),
    ("N1", "2"): (900000.5, 12, 200000.0, 100000.0, "S"),
    ("N1", "9"): (650000.0, 7, 150000.0, 120000.0, "S"),
    ("N2", "1"): (820000.0, 8, 210000.0, 190000.0, "S"),
    ("N2", "2"): (1200000.0, 22, 180000.0, 150000.0, "S"),
    ("N2", "9"): (0.0, 0, 0.0, 0.0, "E"),
    ("S", "1"): (770000.0, 11, 310000.0, 100000.0, "S"),
    ("S", "2"): (910000.0, 14, 120000.0, 110000.0, "S"),
    ("S", "9"): (1000000.0, 15, 200000.0, 180000.0, "S"),
}
ABOVE = {"N1": ["N", "All"], "N2": ["N", "All"], "S": ["All"]}


def lines(comma: bool = True) -> list[str]:
    """A line for each cell, totals too."""
    cells: dict[tuple[str, str], list[tuple[float, int, float, float, str]]] = {}
    for (region, size), told in INNER.items():
        for row in (region, *ABOVE[region]):
            for column in (size, "All"):
                cells.setdefault((row, column), []).append(told)
    found = []
    for (row, column), parts in cells.items():
        tops = sorted((top for part in parts for top in part[2:4]), reverse=True)
        status = parts[0][4] if len(parts) == 1 and row in ABOVE and column != "All" else "S"
        told = [sum(part[0] for part in parts), sum(part[1] for part in parts), *tops[:2]]
        numbers = [
            f"{number:.1f}".replace(".", "," if comma else ".") if i != 1 else str(number)
            for i, number in enumerate(told)
        ]
        found.append(";".join([f'" {row}"', f'"{column}"', *numbers, status]))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "region.hrc").write_text(HRC)
    (tmp_path / "table.rda").write_text(RDA)
    (tmp_path / "table.tab").write_text("\r\n".join(lines()), newline="")
    return tmp_path


HEAD = (
    '// made by hand\n<OPENTABLEDATA> "TABLE.TAB"\n<OPENMETADATA> '
    '"table.rda"\n<SPECIFYTABLE> "Region""Size"|"Turnover"||"Turnover"\n'
)


def batch(folder: Path, *commands: str, head: str = HEAD) -> Path:
    path = folder / "batch.arb"
    path.write_text(head + "".join(f"{command}\n" for command in commands))
    return path


def pivot(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    with path.open(newline="") as stream:
        return {
            (row["Region"], row["Size"]): (row["Turnover"], row["Status"]) for row in csv.DictReader(stream)
        }


def test_a_table_with_statuses_is_protected_and_written_in_every_format(folder: Path):
    ended = sdc(
        "argus",
        batch(
            folder,
            "<LOGBOOK> run.log",
            "<SAFETYRULE> MAN(10)",
            "<READTABLE> 0T",
            "<SOLVER> CPLEX",
            "<SUPPRESS> OPT(1,1)",
            '<WRITETABLE> (1,1,,"one.csv")',
            '<WRITETABLE> (1,2,AS+,"C:\\\\out\\\\two.csv")',
            '<WRITETABLE> (1,3,AS+SE+QU-,"three.txt")',
            '<WRITETABLE> (1,4,,"four.sbs")',
            '<WRITETABLE> (1,5,,"five.tab")',
            '<WRITETABLE> (1,6,,"six.jj")',
            "<GOINTERACTIVE>",
        ),
        "--hst",
        folder / "pattern.hst",
    )
    assert ended.code == 0, ended.text
    assert ended.said.count("differs: ") == 6
    assert "HiGHS solves, whatever solver is named" in (folder / "run.log").read_text()
    told = pivot(folder / "two.csv")
    assert len(told) == 5 * 4
    assert told["N1", "1"] == ("x", "U")
    assert told["N2", "9"] == ("-", "E")
    assert told["All", "All"] == ("6981977.5", "S")
    hidden = {key for key, (value, _) in told.items() if value == "x"}
    assert len(hidden) >= 4
    for public in ("one.csv", "two.csv", "three.txt"):
        assert SECRET not in (folder / public).read_text()
    assert "N1,1,x,U" in (folder / "three.txt").read_text()
    assert "N2,9" not in (folder / "three.txt").read_text()
    assert SECRET not in ended.text + (folder / "run.log").read_text()
    assert '"N1";"1";731977.0;9;B' in (folder / "four.sbs").read_text()
    jj = read_jj(folder / "six.jj")
    assert {len(jj.a), int((jj.status == "u").sum()), int((np.isin(jj.status, ["u", "m"])).sum())} == {
        20,
        1,
        len(hidden),
    }
    assert jj.lpl[jj.status == "u"].tolist() == [73197.7]
    # what was written is read again, and gives the same pattern
    five = (
        '<OPENTABLEDATA> "five.tab"\n<OPENMETADATA> "five.rda"\n<SPECIFYTABLE> "Region""Size"|"Turnover"||\n'
    )
    again = batch(
        folder, "<READTABLE> 0", "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,2,AS+,"again.csv")', head=five
    )
    assert sdc("argus", again).code == 0
    assert pivot(folder / "again.csv") == told
    # and so does the a-priori file on a table in which nothing is marked
    unmarked = (folder / "table.tab").read_text().replace(";U", ";S")
    (folder / "table.tab").write_text(unmarked)
    apriori = batch(
        folder,
        "<SAFETYRULE> MAN(10)",
        "<READTABLE> 0",
        '<APRIORI> "pattern.hst",1,";",0',
        "<SUPPRESS> OPT(1)",
        '<WRITETABLE> (1,2,AS+,"apriori.csv")',
    )
    assert sdc("argus", apriori).code == 0
    assert pivot(folder / "apriori.csv") == told


@pytest.mark.parametrize("method", ["GH(1,75,0,1)", "MOD(1,5,1,1,1)", "NET(1)"])
def test_other_methods_protect_too(folder: Path, method: str):
    ended = sdc(
        "argus",
        batch(
            folder,
            "<SAFETYRULE> MAN(10)",
            "<READTABLE> 1T",
            f"<SUPPRESS> {method}",
            '<WRITETABLE> (1,2,AS+,"o.csv")',
        ),
    )
    assert ended.code == 0, ended.text
    assert "all 1 primaries protected" in ended.said
    told = pivot(folder / "o.csv")
    assert told["N1", "1"] == ("x", "U")


def test_rules_on_the_largest_contributions_of_a_table(folder: Path):
    rules = "<SAFETYRULE> P(20,1)|NK(0,0)|FREQ(3,10)"
    ended = sdc(
        "argus", batch(folder, rules, "<READTABLE>", "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,2,AS+,"o.csv")')
    )
    assert ended.code == 0, ended.text
    assert "20 cells, 0 primaries" in ended.said, "20 % of 400000 is less than 281977, the rest of N1.1"
    rules = "<SAFETYRULE> P(80,1)|"
    assert (
        "20 cells, 1 primaries" in sdc("argus", batch(folder, rules, "<READTABLE>", "<SUPPRESS> OPT(1)")).said
    )
    stricter = "<SAFETYRULE> FREQ(8,25)"
    ended = sdc(
        "argus", batch(folder, stricter, "<READTABLE>", "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,2,AS+,"f.csv")')
    )
    assert ended.code == 0, ended.text
    assert pivot(folder / "f.csv")["N1", "9"] == ("x", "U"), "seven firms"


def test_costs_of_a_column_count_beside_rules(folder: Path):
    """A cell that costs next to nothing is the one that is hidden."""
    (folder / "table.rda").write_text(f"{RDA}Price\n   <COSTVAR>\n")
    hidden = {}
    for cheap in ("N1,2,S,1,S,2", "N1,9,S,1,S,9"):
        wanted = set(zip(cheap.split(",")[::2], cheap.split(",")[1::2], strict=True))
        priced = []
        for line in lines():
            region, size = (text.strip('" ') for text in line.split(";")[:2])
            priced.append(f"{line};{1 if (region, size) in wanted or region == 'N' else 1000}")
        (folder / "table.tab").write_text("\r\n".join(priced), newline="")
        head = HEAD.replace('"Turnover"\n', '"Price"\n')
        commands = (
            "<SAFETYRULE> P(80,1)",
            "<READTABLE>",
            "<SUPPRESS> OPT(1)",
            '<WRITETABLE> (1,2,AS+,"o.csv")',
        )
        ended = sdc("argus", batch(folder, *commands, head=head))
        assert ended.code == 0, ended.text
        hidden[cheap] = {key for key, (value, _) in pivot(folder / "o.csv").items() if value == "x"}
        assert wanted <= hidden[cheap]
    assert len(set(map(frozenset, hidden.values()))) == 2


def test_rounding_and_adjustment(folder: Path):
    ended = sdc(
        "argus",
        batch(
            folder,
            "<SAFETYRULE> MAN(10)",
            "<READTABLE>",
            "<SUPPRESS> RND(1,250000,1,1)",
            '<WRITETABLE> (1,3,FL+QU-,"r.csv")',
            "<SUPPRESS> CTA(1)",
            '<WRITETABLE> (1,2,QU-,"c.csv")',
        ),
        "--seed",
        5,
    )
    assert ended.code == 0, ended.text
    with (folder / "r.csv").open(newline="") as stream:
        rounded = {(row["Region"], row["Size"]): row["Turnover_Round"] for row in csv.DictReader(stream)}
    assert {float(value) % 250000 for value in rounded.values() if value != "-"} == {0.0}
    with (folder / "c.csv").open(newline="") as stream:
        moved = {(row["Region"], row["Size"]): row["Turnover_CTA"] for row in csv.DictReader(stream)}
    assert abs(float(moved["N1", "1"]) - 731977) >= 73197.7 * (1 - 1e-6)
    assert float(moved["All", "1"]) == pytest.approx(
        sum(float(moved[row, "1"]) for row in ("N1", "N2", "S")), abs=0.5
    )
    assert sdc(
        "argus",
        batch(
            folder, "<SAFETYRULE> MAN(10)", "<READTABLE>", "<SUPPRESS> CTA(1)", '<WRITETABLE> (1,6,,"c.jj")'
        ),
    ).refused("format 6 holds patterns")


MICRO = "".join(
    f"{region}{size}{turnover:6}{weight:2}\n"
    for region, size, turnover, weight in [
        ("A", 1, 900, 1),
        ("A", 1, 40, 2),
        ("A", 2, 500, 1),
        ("A", 2, 450, 1),
        ("A", 2, 480, 1),
        ("B", 1, 300, 1),
        ("B", 1, 310, 1),
        ("B", 1, 305, 3),
        ("B", 2, 700, 1),
        ("B", 2, 720, 1),
        ("B", 2, 690, 1),
        ("C", 1, 410, 1),
        ("C", 1, 420, 1),
        ("C", 1, 400, 1),
        ("C", 2, 330, 1),
        ("C", 2, 350, 1),
        ("C", 2, 340, 1),
    ]
)
MICRO_RDA = (
    "Region 1 1\n<RECODEABLE>\nSize 2 1 9\n<RECODEABLE>\nTurnover 3 "
    "6\n<NUMERIC>\nWeight 9 2\n<NUMERIC> <WEIGHT>\n"
)


def test_microdata_at_fixed_places_by_rules_and_as_counts(tmp_path: Path):
    (tmp_path / "m.asc").write_text(MICRO)
    (tmp_path / "m.rda").write_text(MICRO_RDA)
    head = (
        '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> '
        '"Region""Size"|"Turnover"|"Turnover"|-1,1\n'
    )
    ended = sdc(
        "argus",
        batch(
            tmp_path,
            "<SAFETYRULE> P(10,100,1)|FREQ(3,20)|WGT(0)",
            "<READMICRODATA>",
            "<SUPPRESS> OPT(1)",
            '<WRITETABLE> (1,2,AS+,"o.csv")',
            head=head,
        ),
    )
    assert ended.code == 0, ended.text
    told = pivot(tmp_path / "o.csv")
    assert told["A", "1"] == ("x", "U")
    assert told["Total", "Total"] == (str(sum(int(line[2:8]) for line in MICRO.splitlines())), "S")
    counts = head.replace('"Turnover"|"Turnover"|-1,1', '"<FREQ>"|')
    ended = sdc(
        "argus",
        batch(
            tmp_path,
            "<SAFETYRULE> FREQ(3,20)",
            "<READMICRODATA>",
            "<SUPPRESS> OPT(1)",
            '<WRITETABLE> (1,1,,"n.csv")',
            head=counts,
        ),
    )
    assert ended.code == 0, ended.text
    assert '"A",5,x,x' in (tmp_path / "n.csv").read_text()
    weighted = batch(
        tmp_path, "<SAFETYRULE> NK(1,75)|WGT(1)", "<READMICRODATA>", "<SUPPRESS> OPT(1)", head=head
    )
    assert sdc("argus", weighted).code == 0


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (("<COVER>",), "line 5: <COVER>: not one of our commands"),
        (("READTABLE",), "line 5: a command is expected"),
        (("<SAFETYRULE> REQ(70,85,3,10)",), "REQ, and a table does not tell of single records"),
        (("<SAFETYRULE> P(20,1)|P(0,1)|P(10,1)",), "rules for contributors beside rules for holdings"),
        (("<SAFETYRULE> P(20,1)|P(10,1)",), "two p% rules"),
        (
            ("<SAFETYRULE> P(20,1)|FREQ(4,0)",),
            "FREQ with a second number of 0: left out, less would be protected",
        ),
        (("<SAFETYRULE> P(20,1)|NK(2,0)",), "NK with a second number of 0"),
        (("<SAFETYRULE> FREQ(2.7,20)",), "FREQ(2.7): a number of contributors is whole"),
        (("<SAFETYRULE> NK(2.9,75)",), "NK(2.9): a number of contributors is whole"),
        (("<SAFETYRULE> P(20,100,2.9)",), "P(2.9): a number of contributors is whole"),
        (("<SAFETYRULE> P(20,100,1,1)",), "P takes one, two or three numbers"),
        (("<SAFETYRULE> MAN(50)|MAN(1)",), "MAN twice"),
        (("<SAFETYRULE> P(20,1)|WGT(2)",), "the rule WGT is not ours, and without it less is protected"),
        (
            ("<SAFETYRULE> P(20,3)", "<READTABLE>"),
            "the rules look at 4 contributions of a cell, but 2 are named",
        ),
        (("<SAFETYRULE> P(20,1)", "<READTABLE> 0T"), "statuses of the file beside rules"),
        (("<READTABLE> 2",), "a table must add up"),
        (("<READTABLE>", "<SAFETYRULE> P(80,1)"), "the table has rules already, or was read without them"),
        (("<SAFETYRULE> P(80,1)", "<SAFETYRULE> MAN(1)"), "the table has rules already"),
        (
            ("<READTABLE>", "<SUPPRESS> OPT(1)", '<APRIORI> "a.hst",1,";"', '<WRITETABLE> (1,2,,"x.csv")'),
            "not protected yet",
        ),
        (
            ("<READTABLE>", "<SUPPRESS> GH(0,75)"),
            "table 0 means all tables together, and fewer than two were read",
        ),
        (("<READTABLE>", "<SUPPRESS> CKM(1)"), "no perturbation table is named"),
        (("<READTABLE>", "<SUPPRESS> RND(1,0)"), "RND takes a base of 1 or more"),
        (("<READTABLE>", '<WRITETABLE> (1,2,,"x.csv")'), "the table is not protected yet"),
        (("<READTABLE>", '<WRITETABLE> (1,8,,"x.csv")'), "format 8 is not ours"),
        (("<READTABLE>", '<WRITETABLE> (1,2,XX+,"x.csv")'), "the options are none of"),
        (("<READTABLE>", '<APRIORI> "none.hst",1,";"'), "the file none.hst is not in"),
    ],
)
def test_what_is_not_ours_is_refused_with_its_line(folder: Path, commands: tuple[str, ...], message: str):
    (folder / "a.hst").write_text("N2;1;U\n")
    ended = sdc("argus", batch(folder, *commands))
    assert ended.code == 2, ended.text
    assert message in ended.complained
    assert "Remedy: " in ended.complained
    assert SECRET not in ended.text


KINDS = """   <SEPARATOR> ";"
Region
   <RECODEABLE>
   <TOTCODE> "All"
Size
   <RECODEABLE>
   <TOTCODE> "All"
Kind
   <RECODEABLE>
   <TOTCODE> "All"
Turnover
   <NUMERIC>
   <DECIMALS> 0
Other
   <NUMERIC>
   <DECIMALS> 0
"""


@pytest.mark.parametrize("method", ["GH(0,75,0,1)", "MOD(0,5)", "OPT(0,1)"])
def test_linked_tables_are_protected_as_one(tmp_path: Path, method: str):
    chance = random.Random(5)
    rows = [(f"R{i % 4}", f"S{i % 3}", f"K{i // 7 % 3}", chance.randint(10, 900)) for i in range(160)]
    rows = [row for row in rows if row[:2] != ("R1", "S2")] + [("R1", "S2", "K1", 7777)]
    (tmp_path / "firms.rda").write_text(KINDS)
    (tmp_path / "firms.asc").write_text(
        "".join(f"{region};{size};{kind};{value};1\n" for region, size, kind, value in rows)
    )
    head = '<OPENMICRODATA> "firms.asc"\n<OPENMETADATA> "firms.rda"\n'
    tables = "".join(
        f'<SPECIFYTABLE> "Region""{other}"|"Turnover"||-2\n<SAFETYRULE> P(20,1)\n'
        for other in ("Size", "Kind")
    )
    written = [f'<WRITETABLE> ({number},2,AS+,"{number}.csv")' for number in (1, 2)]
    ended = sdc(
        "argus", batch(tmp_path, "<READMICRODATA>", f"<SUPPRESS> {method}", *written, head=head + tables)
    )
    assert ended.code == 0, ended.text
    assert "2 linked tables as one, with 5 shared cells" in ended.said
    one, two = (list(csv.DictReader((tmp_path / f"{number}.csv").open())) for number in (1, 2))
    margins = [
        {row["Region"]: row["Turnover"] for row in rows if row[other] == "All"}
        for rows, other in ((one, "Size"), (two, "Kind"))
    ]
    assert margins[0] == margins[1], "a cell that both tables have is hidden in both, or shown in both"
    assert "7777" not in (tmp_path / "1.csv").read_text() + (tmp_path / "2.csv").read_text()
    assert {row["Status"] for row in one if (row["Region"], row["Size"]) == ("R1", "S2")} == {"U"}
    apart = head + tables.replace('"Region""Kind"|"Turnover"', '"Region""Kind"|"Other"')
    ended = sdc("argus", batch(tmp_path, "<READMICRODATA>", f"<SUPPRESS> {method}", head=apart))
    assert (ended.code, "the tables share no cell" in ended.complained) == (2, True), ended.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X9;1;U", "X9.1 is no cell of the table"),
        ("N2;1;ML", "ML is no action of ours"),
        ("N2;1;C;-4", "a number is no number of at least 0"),
        ("N2;1;PL;4", "PL takes 2 numbers"),
        ("N2;1;U\nN2;1;P", "says the same of it, or another thing"),
    ],
)
def test_apriori_files_that_cannot_be(folder: Path, text: str, message: str):
    (folder / "a.hst").write_text(text)
    assert sdc("argus", batch(folder, "<READTABLE>", '<APRIORI> "a.hst",1,";",0')).refused(
        message, "Remedy: "
    )


LEVELS = "LevelDown\n   <LOWERPL>\nLevelUp\n   <UPPERPL>\n"


@pytest.mark.parametrize(
    ("before", "after", "rule", "message"),
    [
        (";U;10;10", ";U;;10", "MAN(10)", "a level for one side alone. Remedy: give both, or none"),
        (";U;10;10", ";U;10;", "MAN(10)", "a level for one side alone. Remedy: give both, or none"),
        (";U;10;10", ";;10;10", "MAN(10)", "its status is none of E M U P S"),
        (";9;", ";;", "FREQ(10,20)", "Firms is no number of contributors"),
        (";9;", ";2.5;", "MAN(10)", "Firms is no number of contributors"),
    ],
)
def test_doubt_of_a_table_is_refused_with_its_line(
    folder: Path, before: str, after: str, rule: str, message: str
):
    """A level, a status or a frequency that is not there protects less than the one that was meant."""
    (folder / "table.rda").write_text(RDA + LEVELS)
    told = "\r\n".join(f"{line};10;10" if line.endswith("U") else f"{line};;" for line in lines())
    assert before in told
    commands = (f"<SAFETYRULE> {rule}", "<READTABLE> 0", "<SUPPRESS> OPT(1)")
    (folder / "table.tab").write_text(told, newline="")
    assert sdc("argus", batch(folder, *commands)).code == 0
    (folder / "table.tab").write_text(told.replace(before, after, 1), newline="")
    assert sdc("argus", batch(folder, *commands)).refused(message, "table.tab, line 1")


def test_metadata_and_data_that_do_not_fit(folder: Path):
    good = (folder / "table.rda").read_text()
    for wrong, message in (
        (good + "<SECRET>", "<SECRET> is not understood"),
        (good + "More\n", "8 columns"),
        (
            good.replace('<UNSAFE> "U"', '<UNSAFE> "S"'),
            "one letter for two of <UNSAFE>, <PROTECT> and <SAFE>",
        ),
        (good.replace('"C:\\data\\REGION.HRC"', '"none.hrc"'), "the file none.hrc is not in"),
    ):
        (folder / "table.rda").write_text(wrong)
        assert sdc("argus", batch(folder, "<READTABLE>")).refused(message)
    (folder / "table.rda").write_text(good)
    (folder / "table.tab").write_text("\n".join(lines()).replace("731977,0", "731976,0", 1))
    ended = sdc("argus", batch(folder, "<READTABLE> 0"))
    assert ended.refused("is not the sum of its parts")
    assert "731976" not in ended.text
    assert sdc("argus", batch(folder, "<READTABLE> 1")).code == 0, "totals are computed anew"


def refusal(path: Path) -> list[str]:
    """The message of a batch that ends with one of our errors; any other error goes on."""
    try:
        run_batch(path, None, 1, lambda _: None)
    except SdcError as error:
        return [str(error)]
    return []


def test_nothing_that_is_damaged_crashes_or_tells_a_secret(folder: Path):
    """Mutated batches, metadata, lists and tables end with our errors."""
    chance = random.Random(4)
    path = batch(folder, "<SAFETYRULE> MAN(10)", "<READTABLE> 1T", '<APRIORI> "a.hst",1,";"')
    (folder / "a.hst").write_text("N2;1;U\nS;2;P\n")
    files = [path, *(folder / name for name in ("table.rda", "region.hrc", "table.tab", "a.hst"))]
    kept = {each: each.read_bytes() for each in files}
    told: list[str] = []
    for _ in range(300):
        each = chance.choice(files)
        content = bytearray(kept[each])
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(content))
            content[at : at + chance.randint(0, 4)] = chance.choice(
                [b"", b";", b"<", b'"', b"\xff", b"\0", b"(", b"9e9", b"\n", b"@@"]
            )
        each.write_bytes(bytes(content))
        told += refusal(path)
        each.write_bytes(kept[each])
    assert len(told) > 100
    assert [message for message in told if SECRET in message] == []


@pytest.mark.skipif(not PUBLIC.is_dir(), reason=f"the examples of τ-ARGUS are not on this machine ({PUBLIC})")
def test_the_public_batches_run_as_they_are(tmp_path: Path):
    for name, start in (("ex1", "batch_ex1.arb"), ("ex2", "batch_ex2.arb"), ("pp", "TestTable.arb")):
        here = tmp_path / name
        shutil.copytree(PUBLIC / name, here)
        ended = sdc("argus", here / start)
        assert ended.code == 0, ended.text
        if name != "pp":
            assert "gap 0.00%" in ended.said
            assert (here / f"tabout_{name}.txt").read_text().count(",x,") == 4
        else:
            assert "162 cells, 9 primaries" in ended.said


# --- contributors -------------------------------------------------------------------------------------------

OPEN = (
    '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> '
    '"Region""Size"|"Turnover"|"Turnover"|-1,1\n'
)


def holdings(folder: Path, cells: dict[str, dict[str, int]]) -> None:
    """Microdata at fixed places: region, size, turnover, holding."""
    told = [
        f"{key}{turnover:6}{holding:>4}\n"
        for key, mine in cells.items()
        for holding, turnover in mine.items()
    ]
    (folder / "m.asc").write_text("".join(told))
    (folder / "m.rda").write_text(
        "Region 1 1\n<RECODEABLE>\nSize 2 1\n<RECODEABLE>\nTurnover 3 6\n<NUMERIC>\nGroup 9 4\n<HOLDING>\n"
    )


def test_the_second_holding_of_a_cell_is_not_told_to_the_first(tmp_path: Path):
    """F has 90 beside the 10 of G, and is alone in the three other cells of the square;
    hidden alone, they tell him the 10.
    """
    fill = {key: {f"{key}{i}": 50 for i in range(6)} for key in ("A3", "B3", "C1", "C2", "C3")}
    holdings(tmp_path, {"A1": {"F": 90, "G": 10}, "A2": {"F": 70}, "B1": {"F": 60}, "B2": {"F": 80}} | fill)
    for method in ("OPT(1)", "MOD(1)", "GH(1,75,0)", "NET(1)"):
        ended = sdc(
            "argus",
            batch(
                tmp_path,
                "<SAFETYRULE> P(0,1)|P(0,1)|P(10,100,1)",
                "<READMICRODATA>",
                f"<SUPPRESS> {method}",
                '<WRITETABLE> (1,2,AS+,"o.csv")',
                head=OPEN,
            ),
        )
        assert ended.code == 0, ended.text
        told = pivot(tmp_path / "o.csv")
        hidden = {key for key, (shown, _) in told.items() if shown == "x"}
        assert {("A", "1"), ("A", "2"), ("B", "1"), ("B", "2")} < hidden, method
        assert "Not judged: other sums" in ended.text, method


@pytest.mark.parametrize(("rule", "told"), [("P(0,1)|P(0,1)|P(10,1)", True), ("FREQ(0,1)|FREQ(2,20)", False)])
def test_whoever_has_contributions_below_zero_is_told_how_rules_take_them(
    tmp_path: Path, rule: str, told: bool
):
    """F has −90 beside the 8 of G. By sizes he has 90 of 98, and the level is 1; by the signed sum of −82 it
    would exceed the cell.
    """
    fill = {key: {f"{key}{i}": 50 for i in range(6)} for key in ("A2", "B1", "B2")}
    for sign in (1, -1):
        holdings(tmp_path, {"A1": {"F": 90 * sign, "G": 8}} | fill)
        commands = (f"<SAFETYRULE> {rule}", "<READMICRODATA>", "<SUPPRESS> OPT(1)")
        ended = sdc("argus", batch(tmp_path, *commands, '<WRITETABLE> (1,5,,"o.tab")', head=OPEN))
        assert ended.code == 0, ended.text
        assert ("go by the sizes of contributions below 0" in ended.text) == (told and sign < 0)


def test_who_reports_nothing_is_counted(tmp_path: Path):
    """Thirteen records, one of them 0: the cell of Z is hidden and no empty one, and 5
    and 13 are counted, not 4 and 12.
    """
    holdings(
        tmp_path,
        {
            "A1": {"Z": 0},
            "A2": {f"a{i}": 50 for i in range(4)},
            "B1": {f"b{i}": 60 for i in range(4)},
            "B2": {f"c{i}": 70 for i in range(4)},
        },
    )
    ended = sdc(
        "argus",
        batch(
            tmp_path,
            "<SAFETYRULE> FREQ(3,20)",
            "<READMICRODATA>",
            "<SUPPRESS> OPT(1)",
            '<WRITETABLE> (1,2,AS+,"o.csv")',
            '<WRITETABLE> (1,5,,"o.tab")',
            head=OPEN,
        ),
    )
    assert ended.code == 0, ended.text
    told = pivot(tmp_path / "o.csv")
    assert told["A", "1"] == ("x", "U")
    assert sum(shown == "x" for shown, _ in told.values()) >= 4
    rows = {
        tuple(row[:2]): row[2:]
        for row in csv.reader((tmp_path / "o.tab").read_text().splitlines(), delimiter=";")
    }
    assert rows["A", "1"][1:3] == ["1", "U"]
    assert rows["A", "Total"][1] == "5"
    assert rows["Total", "Total"][1] == "13"


@pytest.mark.parametrize(("levels", "way"), [("0;40000", 1), ("40000;0", -1)])
def test_a_level_on_one_side_moves_the_cell_to_that_side(folder: Path, levels: str, way: int):
    """An a-priori PL with 0 below asks for a rise: the cell may not stay where it is."""
    (folder / "one.hst").write_text(f"N1;1;U\nN1;1;PL;{levels}\n")
    ended = sdc(
        "argus",
        batch(
            folder,
            "<SAFETYRULE> MAN(10)",
            "<READTABLE>",
            '<APRIORI> "one.hst",1,";"',
            "<SUPPRESS> CTA(1)",
            '<WRITETABLE> (1,2,QU-,"c.csv")',
        ),
    )
    assert ended.code == 0, ended.text
    with (folder / "c.csv").open(encoding="utf-8") as stream:
        moved = {(row["Region"], row["Size"]): row["Turnover_CTA"] for row in csv.DictReader(stream)}
    assert way * (float(moved["N1", "1"]) - float(SECRET)) >= 40000 * (1 - 1e-6)


READ = ("<SAFETYRULE> MAN(20)", "<READTABLE> 0", "<SUPPRESS> OPT(1)")
WRITTEN = '<WRITETABLE> (1, 5, , "out.txt")'


@pytest.mark.parametrize(
    ("commands", "hst", "message"),
    [
        (('<LOGBOOK> "table.tab"', *READ, WRITTEN), None, "table.tab is a file that this batch reads"),
        (('<LOGBOOK> "batch.arb"', *READ, WRITTEN), None, "batch.arb is a file that this batch reads"),
        ((*READ, '<VERSIONINFO> "table.rda"', WRITTEN), None, "table.rda is a file that this batch reads"),
        ((*READ, '<WRITETABLE> (1, 1, , "region.hrc")'), None, "region.hrc is a file that this batch reads"),
        ((*READ, WRITTEN), "table.tab", "table.tab is a file that this batch writes"),
        ((*READ, WRITTEN, '<WRITETABLE> (1, 1, , "out.txt")'), None, "out.txt would be written twice"),
        ((*READ, WRITTEN, '<WRITETABLE> (1, 5, , "out.csv")'), None, "out_Region.hrc would be written twice"),
        ((*READ, '<WRITETABLE> (1, 5, , "out.rda")'), None, "its metadata have this name"),
        ((*READ, WRITTEN, '<LOGBOOK> "out.txt"'), None, "out.txt would be written twice"),
        ((*READ, WRITTEN), "out.txt", "out.txt would be written twice"),
        ((*READ, WRITTEN, '<RECODE> 1, "Region", 1'), None, "the codes of a table"),
        ((*READ, WRITTEN, "<SUPPRESS> MOD(2)"), None, "no table 2 was read"),
        ((*READ, WRITTEN, '<APRIORI> "bad.hst", 1, ";", 0, 0'), None, "is written already"),
        ((READ[0], READ[1], "<GOINTERACTIVE>", READ[2], WRITTEN), None, "commands stand behind it"),
        (("<SAFETYRULE> NK(1,175)", *READ[1:], WRITTEN), None, "line 5: <SAFETYRULE>"),
        (("<SAFETYRULE> P(200,1)", *READ[1:], WRITTEN), None, "line 5: <SAFETYRULE>"),
    ],
)
def test_a_batch_that_ends_in_an_error_has_written_nothing(
    folder: Path, commands: tuple[str, ...], hst: str | None, message: str
):
    """What it reads is as it was, and no output is there, however late the line that is refused."""
    (folder / "bad.hst").write_text("N1;1;U\n")
    path = batch(folder, *commands)
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    with pytest.raises(SdcError, match=message):
        run_batch(path, None, 1, lambda _: None, None if hst is None else folder / hst)
    log = {"out.txt"} if any("LOGBOOK" in each and "out.txt" in each for each in commands) else set()
    assert {each.name: each.read_bytes() for each in folder.iterdir() if each.name not in log} == before


def test_the_log_of_a_batch_that_ends_in_an_error_says_so(folder: Path):
    path = batch(folder, '<LOGBOOK> "log.txt"', *READ, WRITTEN, "<SUPPRESS> MOD(2)")
    with pytest.raises(SdcError):
        run_batch(path, None, 1, lambda _: None)
    assert "nothing was written but this log" in (folder / "log.txt").read_text()
    assert not (folder / "out.txt").exists()


def test_an_output_whose_place_is_a_folder_is_refused_by_its_line(folder: Path):
    (folder / "out.txt").mkdir()
    with pytest.raises(SdcError, match=r"line 8: <WRITETABLE>: out\.txt is a folder"):
        run_batch(batch(folder, *READ, WRITTEN), None, 1, lambda _: None)


def test_files_are_written_all_or_none(tmp_path: Path):
    """The second place became a folder in the meantime: the first file is as it was."""
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("old")
    second.mkdir()
    with pytest.raises(IsADirectoryError):
        write_all_private({first: "new", second: "new"})
    assert first.read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["first.txt", "second.txt"]


def test_a_pattern_that_is_read_back_is_hidden_again(folder: Path):
    """Its secondaries are known to all who saw it: another pattern of the table would tell more."""
    run_batch(batch(folder, *READ, '<WRITETABLE> (1, 5, , "first.tab")'), None, 1, lambda _: None)
    head = HEAD.replace("TABLE.TAB", "first.tab").replace("table.rda", "first.rda")
    said: list[str] = []
    again = batch(
        folder, "<READTABLE> 0", "<SUPPRESS> MOD(1)", '<WRITETABLE> (1, 5, , "second.tab")', head=head
    )
    run_batch(again, None, 1, said.append)
    assert any("secondaries of the file, hidden in any case" in line for line in said)
    assert (folder / "second.tab").read_bytes() == (folder / "first.tab").read_bytes()


def test_what_is_left_without_a_method_is_told(folder: Path):
    said: list[str] = []
    run_batch(batch(folder, *READ[:2]), None, 1, said.append)
    assert said[-1] == "table 1 is not protected: 1 primaries, and no method for them"


def test_our_measure_of_distance_is_told(folder: Path):
    head = HEAD.replace('"Turnover"||"Turnover"', '"Turnover"||-3')
    said: list[str] = []
    run_batch(batch(folder, *READ, WRITTEN, head=head), None, 1, said.append)
    assert any(line.startswith("differs: costs −3") for line in said)


def test_a_list_that_no_table_uses_may_be_missing(folder: Path):
    (folder / "region.hrc").unlink()
    head = HEAD.replace('"Region""Size"', '"Size"')
    rows = [line for line in lines() if line.startswith('" All"')]
    (folder / "table.tab").write_text("\r\n".join(rows), newline="")
    said: list[str] = []
    run_batch(batch(folder, *READ[:2], head=head), None, 1, said.append)
    assert said[0].startswith("table 1: 4 cells")
