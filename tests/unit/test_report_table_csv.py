"""The disseminated table: what is written is read back, by us and by others, and what is unclear is refused
by line.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given

from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.model.results import Publication
from sdc_tasks.report.table_csv import printed, read_own, read_table
from support.laws import law
from support.small_tables import CELLS, DOMAIN, MIXED, VISIBLE, publication, small_domain, write_table

UNITS = "UNIT_MEASURE,UNIT_MULT,DECIMALS"
HEADER = "STRUCTURE,STRUCTURE_ID,ACTION,FREQ,REF_AREA,INDICATOR,ACTIVITY,SIZECLASS,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS,ROUNDING_BASE"  # noqa: E501
ROW = "dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,_T,2024,{value},,,{base}"


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("small"))


def read(domain: Domain, path: Path, text: str | bytes, period: str = "2024") -> Publication:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, domain, domain.space, period)


def test_the_file_is_exactly_this(domain: Domain, tmp_path: Path) -> None:
    path = tmp_path / "out" / "table.csv"
    write_table(path, domain, domain.space, "2024", publication(domain, MIXED))
    assert path.read_bytes().decode().split("\n") == [
        f"{HEADER},{UNITS}",
        "dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,_T,2024,1000000000000,A,F,,EUR,3,0",
        "dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,S,2024,1500,E,F,500,EUR,3,0",
        "dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,L,2024,,Q,S,,EUR,3,0",
        "dataflow,TEST:SMALL(1.0),I,A,EU,WAGES,A,_T,2024,0.01,A,F,,EUR,0,2",
        "dataflow,TEST:SMALL(1.0),I,A,EU,WAGES,A,S,2024,-12.50,E,F,0.50,EUR,0,2",
        "dataflow,TEST:SMALL(1.0),I,A,EU,WAGES,A,L,2024,,Q,S,,EUR,0,2",
        "",
    ]
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]


def test_a_sum_of_visible_countries_is_marked(domain: Domain, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    told = publication(domain, VISIBLE)
    write_table(path, domain, domain.space, "2024", told)
    lines = path.read_text().splitlines()
    assert lines[0] == f"{HEADER},{UNITS},VISIBLE_SHARE"
    assert lines[1:4] == [
        "dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,_T,2024,1000000000000,A,F,,EUR,3,0,",
        "dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,S,2024,1500,E,F,500,EUR,3,0,",
        "dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,L,2024,950,D,F,,EUR,3,0,0.95",
    ]
    again = read_table(path, domain, domain.space, "2024")
    assert again.digest == told.digest
    assert (again.lower[2], again.upper[2]) == (950.0, pytest.approx(1000.0))


def test_the_column_stands_wherever_the_domain_asks_for_such_sums(domain: Domain, tmp_path: Path) -> None:
    asking = domain.model_copy(update={"bases": BasesOptions(visible_share=0.95)})
    write_table(tmp_path / "table.csv", asking, domain.space, "2024", publication(domain, MIXED))
    assert (tmp_path / "table.csv").read_text().splitlines()[0] == f"{HEADER},{UNITS},VISIBLE_SHARE"


def test_a_failed_write_leaves_the_old_file(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")

    def broken(self: Path, target: Path) -> Path:
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(OSError, match="no"):
        write_table(path, domain, domain.space, "2024", publication(domain, MIXED))
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("table.csv", "old")]


def test_a_national_cell_is_never_written(domain: Domain, tmp_path: Path) -> None:
    leak = Publication(np.array([0]), np.array([7.0]), np.array([0.0]))
    with pytest.raises(ValueError, match="aggregate cells only"):
        write_table(tmp_path / "table.csv", domain, domain.space, "2024", leak)
    assert list(tmp_path.iterdir()) == []


@law(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CELLS)
def test_what_is_written_is_read(
    domain: Domain, tmp_path: Path, cells: tuple[tuple[float, ...], ...]
) -> None:
    written = publication(domain, list(cells))
    write_table(tmp_path / "table.csv", domain, domain.space, "2024", written)
    again = read_table(tmp_path / "table.csv", domain, domain.space, "2024")
    assert np.array_equal(again.cells, written.cells)
    assert np.array_equal(again.base, written.base)
    assert np.allclose(again.covers, written.covers, rtol=1e-11, atol=0)
    assert np.array_equal(again.value, written.value, equal_nan=True) or np.allclose(
        again.value, written.value, rtol=1e-14, atol=0, equal_nan=True
    )
    assert "e+" not in (tmp_path / "table.csv").read_text()


def test_same_publication_same_bytes(domain: Domain, tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        write_table(tmp_path / name, domain, domain.space, "2024", publication(domain, MIXED))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


@pytest.mark.parametrize(
    ("value", "decimals", "noise", "text"),
    [
        (5.0, 0, 0.0, "5"),
        (-0.0, 0, 0.0, "0"),
        (1e15, 0, 0.0, "1000000000000000"),
        (0.1 + 0.2, 1, 0.0, "0.3"),
        (1e9 + 0.1 - 1e9, 1, 1e-7, "0.1"),  # what is left when large parts cancel
        (0.5, 0, 0.0, "0.5"),
        (1e-9, 0, 0.0, "0.000000001"),
        (12.25, 1, 0.0, "12.25"),
        (2.5e-7, 2, 0.0, "0.00000025"),
    ],
)
def test_numbers_are_decimals_without_exponent(value: float, decimals: int, noise: float, text: str) -> None:
    assert printed(value, decimals, noise) == text


def test_pysdmx_reads_the_file(domain: Domain, tmp_path: Path) -> None:
    io = pytest.importorskip("pysdmx.io")
    path = tmp_path / "table.csv"
    write_table(path, domain, domain.space, "2024", publication(domain, MIXED))
    (dataset,) = io.read_sdmx(path).data
    assert len(dataset.data) == domain.space.national_size
    assert list(dataset.data["OBS_VALUE"].astype(str))[:2] == ["1000000000000", "1500"]
    assert list(dataset.data["CONF_STATUS"]) == ["F", "F", "S", "F", "F", "S"]


def test_tables_made_elsewhere(domain: Domain, tmp_path: Path) -> None:
    """SDMX-CSV 1.0, BOM, CRLF, other column order, no base, known extra columns,
    exponent; a missing row is withheld.
    """
    text = (
        "\ufeffDATAFLOW,INDICATOR,REF_AREA,SIZECLASS,ACTIVITY,TIME_PERIOD,OBS_VALUE,UNIT_MULT,LAST UPDATE\r\n"
        "TEST:SMALL(1.0),TURNOVER,EU,_T,A,2024,1.5e3,3,now\r\n"
        '"TEST:SMALL(1.0)",WAGES,EU,L,A,2024,-2.50,0,now\r\n'
        "\r\n"
        "TEST:SMALL(1.0),WAGES,EU,S,A,2024,NaN,0,now\r\n"
    )
    found = read(domain, tmp_path / "t.csv", text)
    assert np.array_equal(found.value, [1500.0, np.nan, np.nan, np.nan, np.nan, -2.5], equal_nan=True)
    assert found.exact.tolist() == [True, False, False, False, False, True]


def test_a_base_of_zero_is_exact(domain: Domain, tmp_path: Path) -> None:
    assert read(domain, tmp_path / "t.csv", f"{HEADER}\n{ROW.format(value=7, base=0)}\n").exact[0]


GOOD = ROW.format(value=7, base="")
BAD = {
    "empty": ("", "line 1: the file is empty"),
    "separator": (HEADER.replace(",", ";") + "\n", "line 1: .*separated by commas"),
    "not sdmx": ("A,B\n1,2\n", "line 1: .*first column"),
    "repeated column": (HEADER + ",OBS_VALUE\n", "line 1: repeated columns OBS_VALUE"),
    "missing column": (HEADER.replace("ACTIVITY,", "") + "\n", "line 1: missing columns ACTIVITY"),
    "duplicate": (f"{HEADER}\n{GOOD}\n{GOOD}\n", "line 3: EU.TURNOVER.A._T is already in line 2"),
    "country": (f"{HEADER}\n{GOOD.replace(',EU,', ',AT,')}\n", "line 2: AT is a country; .* EU only: remove"),
    "area": (f"{HEADER}\n{GOOD.replace(',EU,', ',ZZ,')}\n", "line 2: REF_AREA 'ZZ' is unknown; allowed: EU"),
    "size": (
        f"{HEADER}\n{GOOD.replace(',_T,', ',M,')}\n",
        "line 2: SIZECLASS 'M' is unknown; allowed: _T, S, L",
    ),
    "shifted": (f"{HEADER}\n{GOOD.replace(',_T,', ',123454321,')}\n", "line 2: SIZECLASS .not shown"),
    "period": (
        f"{HEADER}\n{GOOD.replace('2024', '2023')}\n",
        "line 2: TIME_PERIOD '2023' is not the period 2024",
    ),
    "frequency": (f"{HEADER}\n{GOOD.replace(',A,EU', ',Q,EU')}\n", "line 2: FREQ 'Q'"),
    "delete": (f"{HEADER}\n{GOOD.replace(',I,', ',D,')}\n", "line 2: ACTION 'D' publishes nothing"),
    "text": (
        f"{HEADER}\n{ROW.format(value='123454321x', base='')}\n",
        "line 2: OBS_VALUE of EU.TURNOVER.A._T is not a number",
    ),
    "decimal comma": (
        f"{HEADER}\n{ROW.format(value=chr(34) + '12,5' + chr(34), base='')}\n",
        "line 2: OBS_VALUE of .* not a number",
    ),
    "underscore": (
        f"{HEADER}\n{ROW.format(value='1_000', base='')}\n",
        "line 2: OBS_VALUE of .* not a number",
    ),
    "infinite": (f"{HEADER}\n{ROW.format(value='1e999', base='')}\n", "line 2: OBS_VALUE of .* not a number"),
    "negative base": (
        f"{HEADER}\n{ROW.format(value='123454321', base='-5')}\n",
        "line 2: ROUNDING_BASE of .* is negative",
    ),
    "text base": (
        f"{HEADER}\n{ROW.format(value='123454321', base='inf')}\n",
        "line 2: ROUNDING_BASE of .* is not a number",
    ),
    "share without value": (
        f"{HEADER},VISIBLE_SHARE\n{ROW.format(value='', base='')},0.9\n",
        "line 2: VISIBLE_SHARE of .* without an OBS",
    ),
    "share in percent": (
        f"{HEADER},VISIBLE_SHARE\n{GOOD},95\n",
        "line 2: VISIBLE_SHARE of .* at most 1; 0.95 says",
    ),
    "share of nothing": (f"{HEADER},VISIBLE_SHARE\n{GOOD},0\n", "line 2: VISIBLE_SHARE of .* is not above 0"),
    "share and base": (
        f"{HEADER},VISIBLE_SHARE\n{ROW.format(value=7, base=5)},0.9\n",
        "line 2: .* a VISIBLE_SHARE and a ROUNDING_BASE",
    ),
    "negative sum": (
        f"{HEADER},VISIBLE_SHARE\n{ROW.format(value='-123454321', base='')},0.9\n",
        "line 2: OBS_VALUE of .* is negative",
    ),
    "decimals": (f"{HEADER},DECIMALS\n{GOOD},x\n", "line 2: DECIMALS of TURNOVER is not a whole number"),
    "too many decimals": (
        f"{HEADER},DECIMALS\n{ROW.format(value='7.25', base='')},1\n",
        "line 2: OBS_VALUE of TURNOVER has more decimals",
    ),
    "unit measure": (
        f"{HEADER},UNIT_MEASURE\n{GOOD},KG\n",
        "line 2: UNIT_MEASURE of TURNOVER is not EUR; convert",
    ),
    "unit": (f"{HEADER},UNIT_MULT\n{GOOD},6\n", "line 2: UNIT_MULT of TURNOVER is not 3; convert"),
    "unknown column": (
        f"{HEADER},MARGIN\n{GOOD},5\n",
        "line 1: unknown columns 'MARGIN' .* remove them, or name them ROUNDING_BASE",
    ),
    "structure": (
        f"{HEADER}\n{GOOD.replace('SMALL', 'LARGE')}\n",
        "line 2: STRUCTURE_ID 'TEST:LARGE.1.0.' is not the TEST:SMALL",
    ),
    "no structure": (HEADER.replace("STRUCTURE_ID,", "") + "\n", "line 1: missing columns STRUCTURE_ID"),
    "base beyond": (
        f"{HEADER}\n{ROW.format(value=123454321, base=5e8)}\n",
        "line 2: ROUNDING_BASE of EU.* is larger than its value",
    ),
    "base beyond all": (
        f"{HEADER}\n{ROW.format(value=0, base=5)}\n",
        "line 2: ROUNDING_BASE of EU.* is larger than its value",
    ),
    "lower alone": (f"{HEADER},LOWER,UPPER\n{GOOD},5,\n", "line 2: EU.TURNOVER.A._T has only LOWER"),
    "crossed": (f"{HEADER},LOWER,UPPER\n{GOOD},9,5\n", "line 2: LOWER of EU.* is above UPPER"),
    "outside": (
        f"{HEADER},LOWER,UPPER\n{GOOD},8,9\n",
        "line 2: OBS_VALUE of EU.* is not between LOWER and UPPER",
    ),
    "base without value": (
        f"{HEADER}\n{ROW.format(value='', base='AT=123454321')}\n",
        "line 2: ROUNDING_BASE of .* without an OBS_VALUE",
    ),
    "status": (
        f"{HEADER}\n{GOOD.replace(',7,,', ',7,E,')}\n",
        "line 2: OBS_STATUS of EU.TURNOVER.A._T is not A, but its value and",
    ),
    "status of a base": (
        f"{HEADER}\n{ROW.format(value='50,A', base=5).replace(',,,', ',,')}\n",
        "line 2: OBS_STATUS of EU.* is not E",
    ),
    "status of nothing": (
        f"{HEADER}\n{ROW.format(value=',A', base='').replace(',,,', ',,')}\n",
        "line 2: OBS_STATUS of EU.* is not Q",
    ),
    "confidential": (
        f"{HEADER}\n{GOOD.replace(',7,,,', ',7,A,C,')}\n",
        "line 2: CONF_STATUS of EU.TURNOVER.A._T is not F",
    ),
    "cut": (f"{HEADER}\n{GOOD}\n{GOOD[:40]}", "line 3: .* fields, the header has 13"),
    "cut in quotes": (f'{HEADER}\n"dataflow,TEST', "not CSV .* cut inside a quoted field"),
    "latin-1": (f"{HEADER}\n".encode() + b"\xe9", "byte .* is not UTF-8"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_unclear_is_refused_by_line_and_without_values(
    domain: Domain, tmp_path: Path, case: str
) -> None:
    text, message = BAD[case]
    path = tmp_path / "t.csv"
    with pytest.raises(InvalidInput, match=message) as refusal:
        read(domain, path, text)
    assert str(refusal.value).startswith(str(path))
    assert not re.search("12345|12,5", str(refusal.value).removeprefix(str(path)))


def test_an_absent_file_is_invalid_input(domain: Domain, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_table(tmp_path / "none.csv", domain, domain.space, "2024")


@pytest.mark.parametrize(
    ("value", "base", "bounds", "interval"),
    [
        ("1000", "500", "", (750, 1250)),
        ("1100", "500", "", (1100, 1100)),  # no multiple: exact
        ("1100", "500", "900,1400", (900, 1400)),  # but explained
        ("1000", "500", "900,1400", (900, 1250)),  # both hold
        ("1000", "", "900,1400", (900, 1400)),
        ("", "", "900,1400", (900, 1400)),
        ("1000", "", "1000,1000", (1000, 1000)),
    ],
)
def test_the_interval_that_the_world_reads(domain, tmp_path, value, base, bounds, interval):
    text = f"{HEADER},LOWER,UPPER\n{ROW.format(value=value, base=base)},{bounds or ','}\n"
    found = read(domain, tmp_path / "t.csv", text)
    assert (found.lower[0], found.upper[0]) == interval


def test_additive_values_are_off_their_base(domain, tmp_path):
    additive = domain.model_copy(update={"bases": BasesOptions(additive=True)})
    found = read(additive, tmp_path / "t.csv", f"{HEADER}\n{ROW.format(value=1100, base=500)}\n")
    assert (found.lower[0], found.upper[0]) == (850, 1350)


def test_a_count_rounded_to_nothing_has_a_base_of_the_others(domain, tmp_path):
    other = ROW.replace(",_T,", ",S,").format(value=10, base=5)
    found = read(domain, tmp_path / "t.csv", f"{HEADER}\n{ROW.format(value=0, base=5)}\n{other}\n")
    assert (found.lower[0], found.upper[0]) == (-2.5, 2.5)


def test_a_table_must_be_in_the_unit_of_each_code(domain, tmp_path):
    for name in ("area", "activity", "small"):
        suffix = "yaml" if name == "small" else "csv"
        (tmp_path / f"{name}.{suffix}").write_text((domain.folder / f"{name}.{suffix}").read_text())
    (tmp_path / "small.yaml").write_text(
        DOMAIN.replace("unit: EUR, unit_multiplier: 3}", "unit_of: SIZECLASS}")
    )
    (tmp_path / "size.csv").write_text(
        "code,parent,unit,unit_multiplier\n_T,,kg,3\nS,_T,kg,3\nL,_T,kg,3\nP,,NR,\n"
    )
    by_code = load_domain(tmp_path / "small.yaml")
    cells = np.arange(by_code.space.size - by_code.space.national_size, by_code.space.size)
    write_table(tmp_path / "t.csv", by_code, by_code.space, "2024", Publication.nothing(cells))
    with (tmp_path / "t.csv").open(newline="") as lines:
        told = [
            (row["INDICATOR"], row["SIZECLASS"], row["UNIT_MEASURE"], row["UNIT_MULT"])
            for row in csv.DictReader(lines)
        ]
    assert told[:4] == [
        ("TURNOVER", "_T", "kg", "3"),
        ("TURNOVER", "S", "kg", "3"),
        ("TURNOVER", "L", "kg", "3"),
        ("TURNOVER", "P", "NR", "0"),
    ]
    assert {row[2:] for row in told[4:]} == {("EUR", "0")}
    plain = "STRUCTURE,STRUCTURE_ID,ACTION,FREQ,REF_AREA,INDICATOR,ACTIVITY,SIZECLASS,TIME_PERIOD,OBS_VALUE,UNIT_MEASURE,UNIT_MULT"  # noqa: E501
    row, pieces = (f"dataflow,TEST:SMALL(1.0),I,A,EU,TURNOVER,A,{size},2024,7" for size in ("_T", "P"))
    assert read(by_code, tmp_path / "t.csv", f"{plain}\n{row},kg,3\n{pieces},NR,0\n").exact.sum() == 2
    with pytest.raises(
        InvalidInput, match=r"line 2: UNIT_MEASURE of TURNOVER\.A\.P is not NR; convert its values"
    ):
        read(by_code, tmp_path / "t.csv", f"{plain}\n{pieces},kg,3\n")


def test_our_own_table_has_each_cell_and_bases_that_hold(domain: Domain, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_table(path, domain, domain.space, "2024", publication(domain, MIXED))
    assert read_own(path, domain, domain.space, "2024").digest == publication(domain, MIXED).digest
    whole = path.read_text()
    lines = whole.splitlines()
    [withheld] = [i for i, line in enumerate(lines) if ",Q,S," in line][:1]
    path.write_text("\n".join(lines[:withheld] + lines[withheld + 1 :]))
    with pytest.raises(InvalidInput, match=r"EU\.TURNOVER\.A\.L has no row"):
        read_own(path, domain, domain.space, "2024")
    path.write_text(whole.replace("1500,E,F,500", "1500,E,F,700"))
    with pytest.raises(InvalidInput, match=r"EU\.TURNOVER\.A\.S is not a multiple of its ROUNDING_BASE"):
        read_own(path, domain, domain.space, "2024")
