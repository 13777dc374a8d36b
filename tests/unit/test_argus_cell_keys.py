"""CKM in batches of τ-ARGUS: every count is what the method says, by hand; what is not understood is refused.

         1    2           records with keys; τ-ARGUS looks the cell key up as a decimal number
N1      3    1
N2      1    0
S       2    4
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from sdc_tasks.argus.run import run_batch
from sdc_tasks.errors import InvalidInput

KEYS = {
    ("N1", "1"): [".012345678901234", ".25", ".7"],
    ("N1", "2"): [".999999999999999"],
    ("N2", "1"): [".4"],
    ("S", "1"): [".333333333333333", ".5"],
    ("S", "2"): [".1", ".2", ".3", ".66"],
}
CODES = (("Total", "N", "N1", "N2", "S"), ("All", "1", "2"))
BELOW = {"Total": {"N1", "N2", "S"}, "N": {"N1", "N2"}, "All": {"1", "2"}}
PTABLE = """"i";"j";"p_ij";"v";"p_ij_ub"
0;0;1;0;1
1;0;0.5;-1;0.5
1;1;0.1;0;0.6
1;2;0.4;1;1
2;1;0.25;-1;0.25
2;2;0.5;0;0.75
2;3;0.25;1;1
"""
ENDS = {1: [(-1, "0.5"), (0, "0.6"), (1, "1")], 2: [(-1, "0.25"), (0, "0.75"), (1, "1")]}
RDA = """<SEPARATOR> ";"
Region 2
 <RECODEABLE> <TOTCODE> "Total" <HIERARCHICAL> <HIERCODELIST> "r.hrc" <HIERLEADSTRING> "@"
Size 1
 <RECODEABLE> <TOTCODE> "All"
Key 17
 <RECORDKEY> <DECIMALS> 15 <PFILE> "p.txt"
Weight 3
 <NUMERIC> <DECIMALS> 1 <WEIGHT>
Group 1
 <HOLDING>
Turnover 3
 <NUMERIC>
"""
OPEN = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n'
COUNTS = '<SPECIFYTABLE> "Region""Size"|"<FREQ>"||\n'
READ = "<READMICRODATA>\n"
CKM = "<SUPPRESS> CKM(1)\n"
Run = Callable[..., list[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a batch in a folder with the records, and says what it told."""
    rows = [f"{r};{s};0{key};2,5;1;7" for (r, s), keys in KEYS.items() for key in keys]
    (tmp_path / "m.asc").write_text("\n".join([*rows, ""]))
    (tmp_path / "r.hrc").write_text("N\n@N1\n@N2\nS\n")
    (tmp_path / "p.txt").write_text(PTABLE)

    def of(batch: str, rda: str = RDA) -> list[str]:
        said: list[str] = []
        (tmp_path / "m.rda").write_text(rda)
        (tmp_path / "b.arb").write_text(batch)
        run_batch(tmp_path / "b.arb", None, 1, said.append)
        return said

    return of


def by_hand() -> dict[tuple[str, str], tuple[int, int, Fraction]]:
    """Count, noise and cell key of each cell."""
    found = {}
    for row, column in product(*CODES):
        keys = [
            Fraction(key)
            for (r, s), own in KEYS.items()
            if r in BELOW.get(row, {row}) and s in BELOW.get(column, {column})
            for key in own
        ]
        key = sum(keys, Fraction(0)) % 1
        ends = ENDS.get(min(len(keys), 2), [(0, "1")])
        found[row, column] = len(keys), next(v for v, end in ends if key < Fraction(end)), key
    return found


def fields(path: Path, separator: str) -> list[list[str]]:
    return [line.split(separator) for line in path.read_text().splitlines()]


def test_every_count_has_the_noise_of_its_key(run: Run, tmp_path: Path) -> None:
    """Format 7 with all its columns; the hierarchy, and the total of both. N1 2 has the largest key there
    is.
    """
    run(OPEN + COUNTS + READ + CKM + '<WRITETABLE> (1,7,AO+AD+AC+QU-,"o.csv")\n')
    expected = by_hand()
    assert expected["N1", "2"] == (1, 1, Fraction("0.999999999999999"))
    assert {count for count, _, _ in expected.values()} >= {0, 1, 2, 11}
    told = {
        (r, s): (int(n), int(v), Fraction(key), int(x))
        for r, s, x, n, v, key in fields(tmp_path / "o.csv", ";")
    }
    assert told == {cell: (n, v, key, n + v) for cell, (n, v, key) in expected.items()}
    assert (
        "OrigVar\n   <NUMERIC>\nDifference\n   <NUMERIC>\nCellKey\n   <NUMERIC>\n"
        in (tmp_path / "o.rda").read_text()
    )


def test_no_zero_that_is_published_says_whether_somebody_is_there(run: Run, tmp_path: Path) -> None:
    """N2 2 is empty; noise empties N2 1. No status tells them apart, nor a cell that a rule calls unsafe."""
    writes = [
        f'<WRITETABLE> (1,{k},{options},"o{k}")\n'
        for k, options in ((1, ""), (2, "AS+QU-"), (3, "SE+QU-"), (7, "SE+QU-"))
    ]
    said = run(OPEN + COUNTS + "<SAFETYRULE> FREQ(3,20)\n" + READ + CKM + "".join(writes))
    shown = {cell: n + v for cell, (n, v, _) in by_hand().items()}
    assert by_hand()["N2", "1"][:2] == (1, -1)
    pivot = fields(tmp_path / "o2", ",")
    assert pivot[0] == ["Region", "Size", "<FREQ>", "Status"]
    assert {(r, s): (x, status) for r, s, x, status in pivot[1:]} == {
        cell: (str(x), "S") if x else ("-", "E") for cell, x in shown.items()
    }
    some = {cell: x for cell, x in shown.items() if x}
    for name, separator in (("o3", ","), ("o7", ";")):
        assert {(r, s): int(x) for r, s, x in fields(tmp_path / name, separator)} == some
    assert sum(line.count("-") for line in (tmp_path / "o1").read_text().splitlines()) == len(shown) - len(
        some
    )
    assert [line for line in said if "whatever rules" in line and line.startswith("differs: CKM: ")]
    assert not [line for line in said if line.endswith(", confidential")]


def test_the_batch_says_what_the_counts_tell(run: Run) -> None:
    said = run(OPEN + COUNTS + READ + CKM)
    assert [line for line in said if line.startswith("CKM: 14 counts perturbed, by 1 at most")]
    audit = next(line for line in said if "perturbation table, 15 cells" in line)
    assert "empty ones too, tell at least " in audit
    assert not [line for line in said if "does not use" in line and "RECORDKEY" in line]


def test_a_perturbed_count_of_weights_is_it_times_the_mean_weight(run: Run, tmp_path: Path) -> None:
    run(OPEN + COUNTS + "<SAFETYRULE> WGT(1)\n" + READ + CKM + '<WRITETABLE> (1,7,QU-,"o.csv")\n')
    told = {(r, s): float(x) for r, s, x in fields(tmp_path / "o.csv", ";")}
    assert told == {cell: 2.5 * (n + v) for cell, (n, v, _) in by_hand().items()}


def test_the_file_behind_the_method_counts_before_that_of_the_metadata(run: Run, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;1;0;1\n")
    run(OPEN + COUNTS + READ + '<SUPPRESS> CKM(1) "none.txt"\n<WRITETABLE> (1,7,AD+QU-,"o.csv")\n')
    assert {noise for *_, noise in fields(tmp_path / "o.csv", ";")} == {"0"}


VALUES = COUNTS.replace("<FREQ>", "Turnover")
WRITE = '<WRITETABLE> (1,7,,"o.csv")\n'
TWO = COUNTS * 2 + READ + "<SUPPRESS> OPT(0)\n" + CKM + CKM.replace("1", "2")
HOLDINGS, FEW = "<SAFETYRULE> FREQ(0,0)|FREQ(3,10)\n", "<SAFETYRULE> FREQ(2,10)\n"
REFUSED = {
    "sums of values": (VALUES + READ + CKM, 5, "CKM of sums of Turnover"),
    "parameters of values": (COUNTS + READ + '<SUPPRESS> CKM(1) "p.txt"|"q.txt"|2.7\n', 5, "CKM of sums"),
    "holdings": (COUNTS + HOLDINGS + READ + CKM, 6, "beside rules for holdings"),
    "two files": (COUNTS + READ + '<SUPPRESS> CKM(1) "p.txt","q.txt"\n', 5, "the name of a file"),
    "no such file": (COUNTS + READ + '<SUPPRESS> CKM(1) "q.txt"\n', 5, "the file q.txt is not in"),
    "no such table": (COUNTS + READ + "<SUPPRESS> CKM(2)\n", 4, "microdata without a rule"),
    "a pattern without a rule": (COUNTS + READ + "<SUPPRESS> OPT(1)\n" + CKM, 5, "microdata without a rule"),
    "a pattern of all without a rule": (TWO, 6, "microdata without a rule"),
    "a format of patterns": (COUNTS + READ + CKM + WRITE.replace("7", "5"), 6, "format 5 holds patterns"),
    "a pattern as counts": (
        COUNTS + FEW + READ + "<SUPPRESS> OPT(1)\n" + WRITE,
        7,
        "format 7 holds perturbed counts",
    ),
    "cleared": (COUNTS + READ + "<CLEAR>\n" + OPEN + COUNTS + CKM, 4, "microdata without a rule"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_understood_is_refused_and_nothing_is_written(
    run: Run, tmp_path: Path, case: str
) -> None:
    batch, line, why = REFUSED[case]
    before = {each.name for each in tmp_path.iterdir()} | {"b.arb", "m.rda"}
    with pytest.raises(InvalidInput, match=r"Remedy: ") as refused:
        run(OPEN + batch + ("" if "<WRITE" in batch else WRITE))
    assert why in str(refused.value)
    assert f"line {line}:" in str(refused.value) or "m.asc" in str(refused.value)
    assert {each.name for each in tmp_path.iterdir()} == before


KEY_LINE = '<RECORDKEY> <DECIMALS> 15 <PFILE> "p.txt"'


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("<NUMERIC>", "one column <RECORDKEY>"),
        ("<RECORDKEY>", "no perturbation table is named"),
        ('<RECORDKEY> <PTABLE> "p.txt"', "<PTABLE> is not understood"),
    ],
)
def test_metadata_without_keys_or_a_table_of_noise_are_refused(run: Run, said: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        run(
            OPEN + COUNTS + READ + ('<SUPPRESS> CKM(1) "p.txt"\n' if said == "<NUMERIC>" else CKM),
            RDA.replace(KEY_LINE, said),
        )


def test_a_key_that_is_none_is_refused_with_its_line(run: Run, tmp_path: Path) -> None:
    text = (tmp_path / "m.asc").read_text()
    for wrong in ("1.2", "-0.1", "x", ""):
        (tmp_path / "m.asc").write_text(text.replace("0.25", wrong, 1))
        with pytest.raises(InvalidInput, match=r"m\.asc, line 2: column Key: a key is missing") as refused:
            run(OPEN + COUNTS + READ + CKM)
        assert "0.012" not in str(refused.value)
