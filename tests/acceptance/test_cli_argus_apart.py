"""Tables of one batch that share cells: what two patterns, each of them safe, tell together.

Turnover   1     2     9   All         one is hidden for its firm: N1 of size 1
N1        (7)    9     6    22
N2         8    12     3    23
S          9     9    10    28
All       24    30    19    73
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sdc_tasks.argus.run import run_batch
from sdc_tasks.errors import InvalidInput, Unprotectable

INNER = {"N1": (7, 9, 6), "N2": (8, 12, 3), "S": (9, 9, 10)}
RDA = """<SEPARATOR> ";"
<UNSAFE> "U"
Region
<RECODEABLE> <TOTCODE> "All"
Size
<RECODEABLE> <TOTCODE> "All"
Turnover
<NUMERIC>
Dear
<NUMERIC> <COSTVAR>
State
<STATUS>
"""
OPEN = ('<OPENTABLEDATA> "table.tab"', '<OPENMETADATA> "table.rda"')
BY_VALUE, BY_DEAR = '"Turnover"', '"Dear"'  # of what a secondary costs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """By Dear other secondaries are cheap than by turnover: N2 and size 9 are dear."""
    rows = {**INNER, "All": tuple(map(sum, zip(*INNER.values(), strict=True)))}
    lines = []
    for region, values in rows.items():
        for size, value in zip(("1", "2", "9", "All"), (*values, sum(values)), strict=True):
            dear = 900 if region == "N2" or size == "9" else 1
            state = "U" if (region, size) == ("N1", "1") else "S"
            lines.append(f"{region};{size};{value};{dear};{state}\n")
    (tmp_path / "table.tab").write_text("".join(lines))
    (tmp_path / "table.rda").write_text(RDA)
    return tmp_path


def of_two(folder: Path, *costs: str, method: str = "OPT({number})", between: tuple[str, ...] = ()) -> Path:
    """A batch that protects the table once for each of these costs, in files out1.csv, out2.csv, …"""
    told = [*OPEN]
    for number, cost in enumerate(costs, start=1):
        at = 1 if between else number
        told += [
            f'<SPECIFYTABLE> "Region""Size"|"Turnover"||{cost}',
            "<SAFETYRULE> MAN(20)",
            "<READTABLE> 0",
            f"<SUPPRESS> {method.format(number=at)}",
            f'<WRITETABLE> ({at}, 2, AS+, "out{number}.csv")',
            *between,
        ]
    path = folder / "batch.arb"
    path.write_text("".join(f"{line}\n" for line in told))
    return path


def outputs(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.glob("out*"))


def test_each_pattern_is_safe_alone(folder: Path):
    for cost in (BY_VALUE, BY_DEAR):
        said: list[str] = []
        run_batch(of_two(folder, cost), None, 1, said.append)
        assert any("3 secondaries, all 1 primaries protected" in line for line in said)


@pytest.mark.parametrize("between", [(), ("<CLEAR>", *OPEN)], ids=["one after the other", "after CLEAR"])
def test_two_patterns_of_one_table_are_not_written_where_both_give_a_primary_away(
    folder: Path, between: tuple[str, ...]
):
    """What the one hides beside N1 of size 1, the other shows."""
    path = of_two(folder, BY_VALUE, BY_DEAR, between=between)
    with pytest.raises(Unprotectable, match=r"out1\.csv and out2\.csv share 16 cells .* Remedy: <SUPPRESS>"):
        run_batch(path, None, 1, lambda _: None)
    assert outputs(folder) == []


def test_two_patterns_that_are_one_are_written_and_told(folder: Path):
    said: list[str] = []
    run_batch(of_two(folder, BY_VALUE, BY_VALUE), None, 1, said.append)
    assert any("protect every primary from those who read both" in line for line in said)
    assert len(outputs(folder)) == 2


def test_a_pattern_beside_another_method_of_the_same_table_is_told(folder: Path):
    path = of_two(folder, BY_VALUE, BY_VALUE)
    path.write_text(path.read_text().replace("OPT(2)", "CTA(2)"))
    said: list[str] = []
    run_batch(path, None, 1, said.append)
    assert any(line.endswith("nothing is proven against those who read both") for line in said)


def test_the_log_is_not_written_over_what_is_read_behind_it(folder: Path):
    before = (folder / "table.tab").read_bytes()
    path = folder / "batch.arb"
    path.write_text('<LOGBOOK> "TABLE.tab"\n<OPENTABLEDATA> "table.tab"\n')
    with pytest.raises(InvalidInput, match=r"line 2: <OPENTABLEDATA>: table\.tab is a file that this batch"):
        run_batch(path, None, 1, lambda _: None)
    assert (folder / "table.tab").read_bytes() == before


def test_a_second_log_is_refused(folder: Path):
    path = folder / "batch.arb"
    path.write_text('<LOGBOOK> "a.log"\n<LOGBOOK> "b.log"\n')
    with pytest.raises(InvalidInput, match="line 2: <LOGBOOK>: the batch has a log already"):
        run_batch(path, None, 1, lambda _: None)


def test_names_that_differ_in_case_are_one_file(folder: Path):
    path = of_two(folder, BY_VALUE)
    path.write_text(path.read_text().replace("out1.csv", "TABLE.TAB"))
    with pytest.raises(InvalidInput, match=r"line 7: <WRITETABLE>: TABLE\.TAB is a file that this batch"):
        run_batch(path, None, 1, lambda _: None)


def test_a_meaning_that_two_columns_have_is_refused(folder: Path):
    (folder / "table.rda").write_text(RDA + "Firms\n<FREQUENCY>\nOthers\n<FREQUENCY>\n")
    with pytest.raises(InvalidInput, match="<FREQUENCY> of Others, and of Firms"):
        run_batch(of_two(folder, BY_VALUE), None, 1, lambda _: None)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('<SPECIFYTABLE> "Region""Size"|"Turnover"||"Turnover"', "table 2 was specified, and not read"),
        ('<OPENTABLEDATA> "other.tab"', "other.tab was opened in vain"),
        (
            '<OPENTABLEDATA> "other.tab"\n<OPENTABLEDATA> "table.tab"',
            "other.tab was opened in vain",
        ),
    ],
)
def test_what_a_batch_begins_and_does_not_use_is_told(folder: Path, more: str, told: str):
    (folder / "other.tab").write_text("")
    path = of_two(folder, BY_VALUE)
    path.write_text(path.read_text() + more + "\n")
    said: list[str] = []
    run_batch(path, None, 1, said.append)
    assert any(line.startswith(told) for line in said)


def test_a_table_that_is_protected_and_not_written_is_told(folder: Path):
    path = of_two(folder, BY_VALUE)
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "WRITETABLE" not in line))
    said: list[str] = []
    run_batch(path, None, 1, said.append)
    assert said[-1] == "table 1 is protected, and not written"
