"""No option of a batch is without effect and without a word: each is honoured, or said not to be, or refused
by name.

The lists are those that the parsers know: a keyword, an argument or an option that is added there needs a
line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

import sdc_tasks
from sdc_tasks.argus import run
from sdc_tasks.argus.metadata import OF_COLUMN, OF_FILE, OF_ONE_COLUMN, OF_VALUE_NOISE
from sdc_tasks.argus.methods import METHODS, Argument
from sdc_tasks.argus.outputs import OPTIONS, WITH_EFFECT
from sdc_tasks.argus.run import ALONE, run_batch
from sdc_tasks.errors import SdcError

TABLE = """All;All;142,5;40;60;20;S;;;9;1
All;11;40,5;13;20;10;S;;;9;1
All;12;42;12;20;10;S;;;9;1
All;21;60;15;20;10;S;;;9;1
N;All;82,5;25;20;10;S;;;9;1
N;11;20,5;6;10;5;S;;;9;1
N;12;22;6;10;5;S;;;9;1
N;21;40;13;20;10;S;;;9;1
N1;All;42,5;13;10;5;S;;;9;1
N1;11;10,5;1;10,5;0;U;2;2;9;1
N1;12;12;5;10;2;S;;;9;1
N1;21;20;7;10;5;P;;;9;1
N2;All;40;12;10;5;S;;;9;1
N2;11;10;5;5;2;S;;;3;1
N2;12;10;1;10;0;S;;;2;1
N2;21;20;6;10;5;S;;;9;1
S;All;60;15;20;10;S;;;9;1
S;11;20;7;10;5;S;;;9;1
S;12;20;6;10;5;S;;;9;1
S;21;20;2;12;8;S;;;9;1
"""
RDA = """<SEPARATOR> ";"
<SAFE> "S"
<UNSAFE> "U"
<PROTECT> "P"
Region
 <RECODEABLE> <TOTCODE> "All"
 <HIERARCHICAL> <HIERCODELIST> "r.hrc" <HIERLEADSTRING> "@"
Size
 <RECODEABLE> <TOTCODE> "All"
Turnover
 <NUMERIC> <DECIMALS> 1
Firms
 <FREQUENCY>
Top1
 <NUMERIC>
Top2
 <NUMERIC>
State
 <STATUS>
Down
 <NUMERIC> <LOWERPL>
Up
 <NUMERIC> <UPPERPL>
Price
 <NUMERIC>
Other
 <NUMERIC>
"""
OPEN = '<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n'
SPECIFY = '<SPECIFYTABLE> "Region""Size"|"Turnover"||\n'
MAN, READ, OPT = "<SAFETYRULE> MAN(10)\n", "<READTABLE> 0\n", "<SUPPRESS> OPT(1,9)\n"
WRITE = '<WRITETABLE> (1,5,,"o.tab")\n'
INPUTS = {"t.tab", "t.rda", "r.hrc", "b.arb"}


DOCS = Path(sdc_tasks.__file__).parents[1] / "docs"


@dataclass
class Outcome:
    """What a batch wrote, told, asked the methods for, or was refused with."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refused: str = ""


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    asked: list[str] = []

    def recorded(name: str) -> None:
        whole = getattr(run, name)

        def method(problem: Any, options: Any = None) -> Any:
            asked.append(f"{options} {getattr(problem, 'minimum', '')}")
            return whole(problem, options)

        monkeypatch.setattr(run, name, method)

    recorded("suppress")
    recorded("round_controlled")

    def of(batch: str, rda: str = RDA, table: str = TABLE, **files: str) -> Outcome:
        found = Outcome()
        asked.clear()
        for each in tmp_path.iterdir():
            each.unlink()
        texts = {"t.tab": table, "t.rda": rda, "r.hrc": "N\n@N1\n@N2\nS\n", "b.arb": batch}
        for name, text in {**texts, **{name.replace("_", "."): text for name, text in files.items()}}.items():
            (tmp_path / name).write_text(text)
        given = {each.name for each in tmp_path.iterdir()}
        try:
            run_batch(tmp_path / "b.arb", None, 1, found.told.append)
        except SdcError as error:
            found.refused = str(error)
            assert "Remedy: " in found.refused
        found.files = {
            each.name: each.read_bytes() for each in sorted(tmp_path.iterdir()) if each.name not in given
        }
        found.asked = list(asked)
        return found

    return of


def heard(name: str, one: Outcome, two: Outcome) -> bool:
    """Whether an option that `two` has and `one` has not made a difference, or was spoken of by its name."""
    differs = (one.files, one.asked, bool(one.refused)) != (two.files, two.asked, bool(two.refused))
    return differs or any(name in line for line in two.told if line not in one.told) or name in two.refused


# --- metadata -----------------------------------------------------------------------------------------------

SIZE, PRICE = 'Size\n <RECODEABLE> <TOTCODE> "All"\n', "Price\n <NUMERIC>\n"
KEYWORDS = {
    "SEPARATOR": ('<SEPARATOR> ";"\n', ""),
    "SAFE": ('<SAFE> "S"', '<SAFE> "Y"'),
    "UNSAFE": ('<UNSAFE> "U"', '<UNSAFE> "Y"'),
    "PROTECT": ('<PROTECT> "P"', '<PROTECT> "Y"'),
    "RECODEABLE": (SIZE, 'Size\n <TOTCODE> "All"\n'),
    "RECODABLE": (SIZE.replace("RECODE", "RECOD"), 'Size\n <TOTCODE> "All"\n'),
    "TOTCODE": (SIZE, "Size\n <RECODEABLE>\n"),
    "HIERARCHICAL": (SIZE, f"{SIZE} <HIERARCHICAL>\n"),
    "HIERCODELIST": (' <HIERARCHICAL> <HIERCODELIST> "r.hrc" <HIERLEADSTRING> "@"\n', ""),
    "HIERLEADSTRING": ('<HIERLEADSTRING> "@"', '<HIERLEADSTRING> "#"'),
    "HIERLEVELS": (SIZE, f"{SIZE} <HIERARCHICAL> <HIERLEVELS> 1 1\n"),
    "CODELIST": (SIZE, f'{SIZE} <CODELIST> "x.cdl"\n'),
    "NUMERIC": ("Turnover\n <NUMERIC>", "Turnover\n"),
    "DECIMALS": ("<DECIMALS> 1", "<DECIMALS> 2"),
    "FREQUENCY": ("Firms\n <FREQUENCY>", "Firms\n <NUMERIC>"),
    "STATUS": ("State\n <STATUS>", "State\n <NUMERIC>"),
    "LOWERPL": ("<LOWERPL>", ""),
    "UPPERPL": ("<UPPERPL>", ""),
    **{
        word: (PRICE, f"{PRICE} <{word}>\n")
        for word in (
            "SHADOW",
            "COSTVAR",
            "COST",
            "MAXSCORE",
            "WEIGHT",
            "HOLDING",
            "REQUEST",
            "DISTANCE",
            "TRUNCABLE",
            "RESPONSE",
            "RECORDKEY",
            "PFILE",
            "PFILE_FREQ",
            *OF_VALUE_NOISE,
        )
    },
}


def test_every_keyword_of_metadata_has_its_line() -> None:
    assert set(KEYWORDS) == OF_FILE | OF_COLUMN


@pytest.mark.parametrize("word", KEYWORDS)
def test_a_keyword_of_metadata_is_honoured_or_named(outcome: Any, word: str) -> None:
    before, after = KEYWORDS[word]
    whole = RDA.replace("RECODEABLE", "RECODABLE") if word == "RECODABLE" else RDA
    after = after.replace("RECODEABLE", "RECODABLE") if word == "RECODABLE" else after
    assert before in whole
    batch = OPEN + SPECIFY + MAN + READ + OPT + WRITE
    one, two = outcome(batch, whole), outcome(batch, whole.replace(before, after, 1))
    assert not one.refused
    assert heard(f"<{word}>", one, two), word


@pytest.mark.parametrize("word", sorted(OF_FILE | OF_COLUMN))
def test_no_keyword_of_metadata_is_said_twice(outcome: Any, word: str) -> None:
    where = f"Price\n <{word}> <{word}>\n" if word in OF_COLUMN else f"<{word}> x\n<{word}> y\nPrice\n"
    rest = RDA.replace(f" <{word}>", "") if word in OF_ONE_COLUMN else RDA
    assert f"<{word}> stands there already" in outcome(OPEN, rest.replace("Price\n", where)).refused


def test_what_stands_between_keywords_is_no_text_that_is_lost(outcome: Any) -> None:
    for line in ('<TOTCODE> "All" and more "', "<TOTCODE All", '<TOTCODE> "All" < "x'):
        assert "are expected" in outcome(OPEN, RDA.replace('<TOTCODE> "All"', line, 1)).refused


def test_a_record_with_the_code_of_a_missing_number_is_refused(outcome: Any) -> None:
    batch = OPEN + SPECIFY + MAN + READ + OPT
    assert "Price: the code of a missing value" in outcome(batch, RDA.replace("Price\n", "Price 9\n")).refused
    assert not outcome(batch, RDA.replace("Price\n", "Price 99\n")).refused


# --- commands -----------------------------------------------------------------------------------------------

GOOD = {
    "LOGBOOK": '<LOGBOOK> "l.log"',
    "VERSIONINFO": '<VERSIONINFO> "v.txt"',
    "OPENTABLEDATA": '<OPENTABLEDATA> "t.tab"',
    "OPENMICRODATA": '<OPENMICRODATA> "m.asc"',
    "OPENMETADATA": '<OPENMETADATA> "t.rda"',
    "SPECIFYTABLE": SPECIFY.strip(),
    "SAFETYRULE": MAN.strip(),
    "READTABLE": READ.strip(),
    "READMICRODATA": "<READMICRODATA>",
    "APRIORI": '<APRIORI> "a.hst",1,";"',
    "APRIORY": '<APRIORY> "a.hst",1,";"',
    "SUPPRESS": OPT.strip(),
    "RECODE": '<RECODE> 1,"Size",1',
    "WRITETABLE": WRITE.strip(),
    "CLEAR": "<CLEAR>",
    "SOLVER": "<SOLVER> FREE",
    "GOINTERACTIVE": "<GOINTERACTIVE>",
    "SILENT": "<SILENT>",
    "ANCO": "<ANCO>",
}
ORDER = (
    "OPENTABLEDATA",
    "OPENMETADATA",
    "SPECIFYTABLE",
    "SAFETYRULE",
    "READTABLE",
    "APRIORI",
    "SUPPRESS",
    "WRITETABLE",
)


def test_every_command_has_its_line() -> None:
    assert set(GOOD) == set(run.DO) | set(run.NOTED)
    assert set(ALONE) <= set(GOOD)


@pytest.mark.parametrize("word", sorted(set(GOOD) - {"SOLVER", "RECODE"}))
def test_nothing_behind_a_command_is_passed_over(outcome: Any, word: str) -> None:
    before = {"READMICRODATA": "READTABLE", "OPENMICRODATA": "OPENTABLEDATA", "APRIORY": "APRIORI"}.get(
        word, word
    )
    place = ORDER.index(before) if before in ORDER else len(ORDER)
    head = "".join(f"{GOOD[each]}\n" for each in ORDER[:place])
    tail = "".join(f"{GOOD[each]}\n" for each in ORDER[place + 1 :])
    assert outcome(f"{head}{GOOD[word]} junk\n{tail}", a_hst="S;12;C;1\n").refused
    assert (
        word in ("READMICRODATA", "OPENMICRODATA")
        or not outcome(f"{head}{GOOD[word]}\n{tail}", a_hst="S;12;C;1\n").refused
    )


@pytest.mark.parametrize("word", sorted(run.NOTED))
def test_a_command_that_does_nothing_is_spoken_of(outcome: Any, word: str) -> None:
    batch = OPEN + SPECIFY + MAN + READ + OPT + WRITE
    assert any(
        line.startswith("differs: ")
        for line in outcome(f"{batch}{GOOD[word]}\n").told
        if line not in outcome(batch).told
    )


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("shadow", SPECIFY, '<SPECIFYTABLE> "Region""Size"|"Turnover"|"Other"|\n'),
        ("cost", SPECIFY, '<SPECIFYTABLE> "Region""Size"|"Turnover"||"Price"\n'),
        (
            "lambda",
            '<SPECIFYTABLE> "Region""Size"|"Turnover"||"Price",1\n',
            '<SPECIFYTABLE> "Region""Size"|"Turnover"||"Price",0.1\n',
        ),
        ("a fifth part", SPECIFY, '<SPECIFYTABLE> "Region""Size"|"Turnover"|||1\n'),
        ("a sign between dimensions", SPECIFY, '<SPECIFYTABLE> "Region"x"Size"|"Turnover"||\n'),
    ],
)
def test_the_parts_of_a_table_are_honoured_or_named(outcome: Any, name: str, one: str, two: str) -> None:
    costs = '<WRITETABLE> (1,6,,"o.jj")\n'
    assert heard(name, *(outcome(OPEN + each + MAN + READ + OPT + costs) for each in (one, two)))


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("additivity", "<READTABLE> 0\n", "<READTABLE> 1\n"),
        ("F", "<READTABLE> 0\n", "<READTABLE> 0F\n"),
        ("another letter", "<READTABLE> 0\n", "<READTABLE> 0X\n"),
    ],
)
def test_how_a_table_is_read_is_honoured_or_named(outcome: Any, name: str, one: str, two: str) -> None:
    table = TABLE.replace("N1;11;10,5", "N1;11;11,5")
    found = [
        outcome(OPEN + SPECIFY + MAN + each + OPT + WRITE, table=table if name == "additivity" else TABLE)
        for each in (one, two)
    ]
    assert heard(name, *found)


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("separator", '"a.hst",1,";",1', '"a.hst",1,",",1'),
        ("several signs", '"a.hst",1,";",1', '"a.hst",1,";;",1'),
        ("errors", '"a.hst",1,";",1', '"a.hst",1,";",0'),
        ("another switch", '"a.hst",1,";",1', '"a.hst",1,";",2'),
        ("trivial levels", '"a.hst",1,";",1,0', '"a.hst",1,";",1,1'),
        ("a sixth argument", '"a.hst",1,";",1,0', '"a.hst",1,";",1,0,1'),
    ],
)
def test_arguments_of_apriori_are_honoured_or_named(outcome: Any, name: str, one: str, two: str) -> None:
    batch = OPEN + SPECIFY + MAN + READ + "<APRIORI> {}\n" + OPT + WRITE
    assert heard(name, *(outcome(batch.format(each), a_hst="X;12;C;1\nS;12;U\n") for each in (one, two)))


def test_a_separator_inside_quotation_marks_is_none(outcome: Any) -> None:
    """The line was split there, told of no cell, and was passed over: the cell that was to be unsafe was
    published.
    """
    batch = (
        OPEN
        + SPECIFY
        + MAN
        + READ
        + '<APRIORI> "a.hst",1,";"\n'
        + OPT
        + '<WRITETABLE> (1,2,AS+QU-,"o.csv")\n'
    )
    table, tree = (
        TABLE.replace("S;", '"S; or ""so""";').replace(';"S; or ""so""";;', ";S;;"),
        'N\n@N1\n@N2\nS; or "so"\n',
    )
    found = outcome(batch, table=table, r_hrc=tree, a_hst='"S; or ""so""";12;U\n')
    assert (found.refused, '"S; or ""so""",12,x,U' in found.files["o.csv"].decode()) == ("", True)
    for line in ("S; or so;12;U", "N2;12;U;5", "N2;12;C", '"N2;12;U', "N2;12;M;3"):
        assert "a.hst, line 1" in outcome(batch, a_hst=f"{line}\n").refused, line


def test_a_secondary_that_somebody_chose_is_hidden(outcome: Any) -> None:
    batch = (
        OPEN
        + SPECIFY
        + MAN
        + READ
        + '<APRIORI> "a.hst",1,";"\n'
        + OPT
        + '<WRITETABLE> (1,2,AS+QU-,"o.csv")\n'
    )
    told = outcome(batch, a_hst="S;12;M\n")
    assert "S,12,x,M" in told.files["o.csv"].decode()
    assert "primary or open as well" in outcome(batch, a_hst="S;12;M\nS;12;P\n").refused


# --- rules --------------------------------------------------------------------------------------------------

TOPS = RDA.replace("Top1\n <NUMERIC>", "Top1\n <MAXSCORE>").replace("Top2\n <NUMERIC>", "Top2\n <MAXSCORE>")
RULES = {
    "P": ("P(20,1)", "P(90,1)"),
    "P q": ("P(20,100,1)", "P(20,25,1)"),
    "P n": ("P(20,1)", "P(20,2)"),
    "NK": ("NK(1,75)", "NK(1,20)"),
    "FREQ": ("FREQ(3,20)", "FREQ(7,20)"),
    "FREQ range": ("FREQ(3,20)", "FREQ(3,30)"),
    "MAN": ("MAN(10)", "MAN(20)"),
    "WGT": ("MAN(10)", "MAN(10)|WGT(1)"),
    "WGT with a rule": ("FREQ(3,20)", "FREQ(3,20)|WGT(1)"),
    "MIS": ("FREQ(3,20)", "FREQ(3,20)|MIS(1)"),
    "REQ": ("FREQ(3,20)", "FREQ(3,20)|REQ(1,1,1,1)"),
    "holdings": ("P(20,1)", "P(0,1)|P(0,1)|P(20,1)"),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_honoured_or_named(outcome: Any, name: str) -> None:
    rda = TOPS.replace("<LOWERPL>", "").replace("<UPPERPL>", "")
    one, two = (
        outcome(OPEN + SPECIFY + f"<SAFETYRULE> {each}\n" + READ + OPT + WRITE, rda) for each in RULES[name]
    )
    assert not one.refused
    assert heard(name.split()[0], one, two), name


RECORDS = "".join(
    f"{region};{size};{10 * i + j};0.{i}{j};{1 + i % 2}\n"
    for i, region in enumerate(("N1", "N2", "S"))
    for j, size in enumerate(("11", "12", "21", "11", "12", "21", "11", "12", "21", "11"))
)
RECORDS_RDA = """<SEPARATOR> ";"
Region 2
 <RECODEABLE> <TOTCODE> "All" <HIERARCHICAL> <HIERCODELIST> "r.hrc" <HIERLEADSTRING> "@"
Size 2
 <RECODEABLE> <TOTCODE> "All"
Turnover 4
 <NUMERIC>
Key 4
 <RECORDKEY>
Asked 1
 <REQUEST> "1" "2"
"""
NO_NOISE = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;1;0;1\n"
CSV = '<WRITETABLE> (1,2,,"o.csv")\n'
PAGE = yaml.safe_load((DOCS / "argus.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", PAGE, ids=[row["line"] for row in PAGE])
def test_what_the_page_says_of_a_rule_or_command_is_so(outcome: Any, row: dict[str, Any]) -> None:
    """`honoured`: no line says otherwise. `stricter` or `otherwise`: a line names it. `refused`: by its name,
    and nothing is written.
    """
    word, said = row["line"].split(">")[0] + ">", row["line"]
    records = row.get("of") == "records"
    rule, command = "<SAFETYRULE> FREQ(3,20)\n" if records else MAN, f"{said}\n"
    if word == "<SAFETYRULE>":
        rule, command = f"{said}\n", ""
        if said.split()[1].split("(")[0] in (
            "MIS",
            "WGT",
            "REQ",
            "ZERO",
        ):  # beside a rule that makes primaries
            rule = rule.replace("<SAFETYRULE> ", "<SAFETYRULE> FREQ(3,20)|")
    method, opened, read = "" if word == "<SUPPRESS>" else OPT, OPEN, READ
    if records:
        opened, read = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n', "<READMICRODATA>\n"
    specify = SPECIFY.replace("Turnover", "<FREQ>") if "CKM" in said else SPECIFY
    batch = opened + specify + rule + read + command + method + (CSV if records else WRITE)
    rda = TOPS.replace("<LOWERPL>", "").replace("<UPPERPL>", "")
    found = outcome(batch, rda, m_asc=RECORDS, m_rda=RECORDS_RDA, p_txt=NO_NOISE, r_grc="<TREERECODE>\nN\n")
    differs = [line for line in found.told if line.startswith("differs: ") and " OPT: " not in line]
    assert bool(found.refused) == (row["verdict"] == "refused")
    if found.refused:
        line = batch.splitlines().index((command or rule).strip()) + 1
        assert row["names"] in found.refused
        assert f"b.arb, line {line}" in found.refused
        assert not found.files
    else:
        assert any(row["names"] in line for line in differs) if "names" in row else not differs


def test_the_page_has_every_rule_and_every_method_that_is_not_ours() -> None:
    said = " ".join(row["line"] for row in PAGE)
    for name in (
        "P(",
        "NK(",
        "FREQ(",
        "ZERO(",
        "REQ(",
        "MIS(",
        "MAN(",
        "WGT(",
        "<RECODE>",
        "<COVER>",
        "CKM(",
    ):
        assert name in said


def test_a_cell_of_zeros_is_primary_where_the_rule_asks_for_it(outcome: Any) -> None:
    """Two firms with 0 in N1 × 21: ZERO(5) hides the cell, so that nobody excludes a value of 5."""
    line = "N1;21;20;7;10;5;P;;;9;1"
    zero = TABLE.replace(line, "N1;21;0;2;0;0;S;;;9;1").replace("N1;All;42,5;13", "N1;All;22,5;8")
    zero = zero.replace("N;21;40;13", "N;21;20;8").replace("N;All;82,5;25", "N;All;62,5;20")
    zero = zero.replace("All;21;60;15", "All;21;40;10").replace("All;All;142,5;40", "All;All;122,5;35")
    rda = TOPS.replace("<LOWERPL>", "").replace("<UPPERPL>", "")

    def status(rule: str) -> list[str]:
        found = outcome(OPEN + SPECIFY + f"<SAFETYRULE> {rule}\n" + READ + OPT + WRITE, rda, zero)
        assert found.refused == ""
        rows = [line.split(";") for line in found.files["o.tab"].decode().splitlines()]
        return next(row[4:] for row in rows if row[:2] == ['"N1"', '"21"'])

    assert status("FREQ(2,20)") == ["S", "0", "0"]
    assert status("FREQ(2,20)|ZERO(0)") == ["S", "0", "0"]
    assert status("FREQ(2,20)|ZERO(5)") == ["U", "0", "5"]
    batch = OPEN + SPECIFY + "<SAFETYRULE> ZERO(5)|MAN(10)\n" + READ + OPT + WRITE
    assert (
        "ZERO needs a column <FREQUENCY>"
        in outcome(batch, RDA.replace("<FREQUENCY>", "<NUMERIC>"), zero).refused
    )


# --- methods ------------------------------------------------------------------------------------------------

NUMBERS = {
    "GH": ("75", "0", "1"),
    "MOD": ("5", "1", "1", "0", "2"),
    "OPT": ("9",),
    "NET": (),
    "RND": ("5", "1", "9", "0", "2", "0"),
    "CTA": (),
}
OTHERS = {
    "GH": ("50", "1", "0"),
    "MOD": ("6", "0", "0", "1", "3"),
    "OPT": ("8",),
    "NET": (),
    "RND": ("10", "2", "8", "1", "1", "1"),
    "CTA": (),
}
ARGUMENTS = [(method, i, each) for method, told in METHODS.items() for i, each in enumerate(told.arguments)]
FREQ = "<SAFETYRULE> FREQ(3,20)\n"


@pytest.mark.parametrize(
    ("method", "i", "argument"),
    ARGUMENTS,
    ids=lambda each: each.name if isinstance(each, Argument) else str(each),
)
def test_an_argument_of_a_method_is_honoured_or_named(
    outcome: Any, method: str, i: int, argument: Argument
) -> None:
    one = list(NUMBERS[method])
    two = [*one[:i], OTHERS[method][i], *one[i + 1 :]]
    batch = (
        OPEN
        + SPECIFY
        + FREQ
        + READ
        + "<SUPPRESS> {}\n"
        + WRITE.replace("1,5", "1,3" if method == "RND" else "1,5")
    )
    found = [outcome(batch.format(f"{method}({','.join(['1', *each])})")) for each in (one, two)]
    assert [each.refused for each in found] == ["", ""]
    assert heard(argument.name, *found)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_takes_no_more_arguments_than_τ_argus_has(outcome: Any, method: str) -> None:
    batch = OPEN + SPECIFY + FREQ + READ + f"<SUPPRESS> {method}({','.join(['1', *NUMBERS[method], '1'])})\n"
    assert f"{method} takes {1 + len(NUMBERS[method])} arguments at most: table" in outcome(batch).refused
    for i, argument in enumerate(METHODS[method].arguments):
        wrong = [*NUMBERS[method][:i], "2.5", *NUMBERS[method][i + 1 :]]
        assert (
            f"{method}: {argument.name} is no whole number"
            in outcome(batch.replace(batch.split("(")[-1], f"1,{','.join(wrong)})\n")).refused
        )


# the hidden cells of each column have 5 + 3 = 8 people, and 8 < 11: their sum is public
PEOPLE = "".join(
    f"{row};{column};{count}\n"
    for row, column, count in [
        ("R1", "Z1", 5),
        ("R1", "Z2", 40),
        ("R1", "T", 45),
        ("R2", "Z1", 3),
        ("R2", "Z2", 33),
        ("R2", "T", 36),
        ("R3", "Z1", 20),
        ("R3", "Z2", 25),
        ("R3", "T", 45),
        ("T", "Z1", 28),
        ("T", "Z2", 98),
        ("T", "T", 126),
    ]
)
PEOPLE_RDA = (
    '<SEPARATOR> ";"\nREG\n <RECODEABLE> <TOTCODE> "T"\nZON\n <RECODEABLE> <TOTCODE> "T"\nN\n <FREQUENCY>\n'
)


def test_the_minimum_frequency_of_a_hidden_sum_is_kept(outcome: Any) -> None:
    batch = OPEN + '<SPECIFYTABLE> "REG""ZON"|"<FREQ>"||"-2"\n<SAFETYRULE> FREQ(11,20)\n' + READ
    batch += '<SUPPRESS> MOD(1,5,1,1,{})\n<WRITETABLE> (1,3,QU-,"o.txt")\n'

    def sums(smallest: int) -> dict[str, int]:
        """The people in the hidden parts of each column whose total is open: everybody can subtract."""
        lines = outcome(batch.format(smallest), PEOPLE_RDA, PEOPLE).files["o.txt"].decode().splitlines()
        hidden = {tuple(line.split(",")[:2]) for line in lines if line.endswith(",x")}
        told = [line.split(";") for line in PEOPLE.splitlines()]
        return {
            zone: sum(int(n) for r, z, n in told if z == zone and r != "T" and (r, z) in hidden)
            for zone in ("Z1", "Z2")
            if ("T", zone) not in hidden
        }

    assert sums(0)["Z1"] == 8
    assert all(people >= 11 for people in sums(1).values())


def test_singletons_are_asked_for_only_where_somebody_tells_of_them(outcome: Any) -> None:
    without = RDA.replace("Firms\n <FREQUENCY>", "Firms\n <NUMERIC>")
    for method, named in (
        ("GH(1,75,0,1)", "singleton option"),
        ("MOD(1,5,1,0,0)", "singletons"),
        ("MOD(1,5,0,1)", "singletons and others"),
    ):
        batch = OPEN + SPECIFY + MAN + READ + f"<SUPPRESS> {method}\n"
        assert (
            f"{named} 1, and nothing tells which cells have a single contributor"
            in outcome(batch, without).refused
        )
        assert not outcome(batch).refused
    assert not outcome(OPEN + SPECIFY + MAN + READ + "<SUPPRESS> GH(1,75,0,0)\n", without).refused
    told = outcome(OPEN + SPECIFY + MAN + READ + "<SUPPRESS> MOD(1,5,1,1,1)\n").told
    assert any("minimum frequency 1: no rule FREQ says which" in line for line in told)


# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", sorted(set(WITH_EFFECT) - {7})
)  # of perturbed counts: test_argus_cell_keys.py
@pytest.mark.parametrize("option", sorted(OPTIONS))
def test_an_option_of_a_file_is_honoured_or_named(outcome: Any, kind: int, option: str) -> None:
    empty = TABLE + "".join(f"{region};31;0;0;0;0;E;;;9;1\n" for region in ("N1", "N2", "N", "S", "All"))
    batch = OPEN + SPECIFY + MAN + READ + OPT + f'<WRITETABLE> (1,{kind},{option}{{}},"o.txt")\n'
    plain = outcome(OPEN + SPECIFY + MAN + READ + OPT + f'<WRITETABLE> (1,{kind},,"o.txt")\n', table=empty)
    on, off = (outcome(batch.format(sign), table=empty) for sign in "+-")
    assert not on.refused + off.refused + plain.refused
    if option in WITH_EFFECT[kind]:
        assert on.files != off.files
        assert plain.files in (on.files, off.files)
    else:
        assert all(heard(option, plain, each) for each in (on, off))
    assert "each once" in outcome(batch.format(f"+{option}-"), table=empty).refused
