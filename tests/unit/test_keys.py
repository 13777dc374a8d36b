"""Printed keys: two cells have two of them; and a tuple of codes names one cell."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdc_tasks as sdc
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.codes import read_hierarchy, read_tree
from sdc_tasks.model.keys import codes_in, printed_key, twins
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.warehouse.dissemination.publisher import cells_of
from sdc_tasks.warehouse.forms.canonical import PRINTED
from support import desk
from support.deliveries import small_domain
from support.laws import law

CODES = st.text(st.sampled_from('."ab '), max_size=4)


@law(400)
@given(st.lists(CODES, min_size=1, max_size=4), st.lists(CODES, min_size=1, max_size=4))
def test_two_cells_have_two_keys(one: list[str], two: list[str]) -> None:
    assert codes_in(printed_key(one)) == tuple(one)
    assert (printed_key(one) == printed_key(two)) == (one == two)


def test_codes_without_dots_are_joined_by_dots_as_ever() -> None:
    assert printed_key(("AT", "TURNOVER", "C10", "GE250")) == "AT.TURNOVER.C10.GE250"
    assert (printed_key(("C.S", "_T")), printed_key(("C", "S._T"))) == ('"C.S"._T', 'C."S._T"')


@pytest.mark.parametrize("text", ['"a', '"a"b', 'a."b', 'a"."b'])
def test_what_is_no_printed_key_is_refused(text: str) -> None:
    if text == 'a"."b':
        text += '"x'
    with pytest.raises(ValueError, match="quotation mark"):
        codes_in(text)


def test_no_two_cells_of_a_release_have_one_key() -> None:
    """Codes with full stops gave `C.S` × `_T` and `C` × `S._T` one key, and the release
    ended in the message of a database.
    """
    activity = Hierarchy("ACTIVITY", ("T", "C", "C.S"), (None, "T", "T"))
    size = Hierarchy("SIZE", ("_T", "S._T", "X"), (None, "_T", "_T"))
    space = CellSpace(("A", "A.X"), (Aggregate("EU", ("A", "A.X")),), ("X", "X.T"), (activity, size))
    assert len({space.key(cell) for cell in range(space.size)}) == space.size
    assert [codes_in(space.key(cell)) for cell in range(space.size)] == list(
        product(space.areas, *space.axes)
    )
    cells = np.arange(space.first_aggregate, space.size)
    stored = [
        row[PRINTED.index("cell")]
        for row in cells_of(Publication(cells, np.ones(len(cells)), np.zeros(len(cells))), space)
    ]
    assert stored == [space.key(cell) for cell in cells], "what the warehouse stores"


def dotted() -> sdc.api.suppression.PrimaryResult:
    firms = {
        "A": ["1", "1", "1.2", "1.2", "1.2"],
        "B": ["2.3", "2.3", "3", "3", "3"],
        "VALUE": [90, 4, 30, 40, 50],
    }
    return sdc.primary(pd.DataFrame(firms), ["A", "B"], rules=sdc.Rules(p=10))


def test_a_tuple_names_one_cell() -> None:
    """("1", "2.3") is primary, and ("1.2", "3") is not; joined by dots the two were one."""
    found = dotted()
    assert (found.explain(("1", "2.3")).status, found.explain(("1", "2.3")).cell) == ("primary", '1."2.3"')
    assert found.explain(("1.2", "3")).status == "not primary"
    assert found.explain('1."2.3"').status == "primary"
    for text in ("1.2.3", '"1'):
        with pytest.raises(InvalidInput, match="in a tuple"):
            found.explain(text)


def test_the_code_of_a_table_with_one_dimension_may_hold_dots() -> None:
    firms = {"A": ["85.1", "85.1", "85.2", "85.2", "85.2"], "VALUE": [90, 4, 30, 40, 50]}
    found = sdc.primary(pd.DataFrame(firms), ["A"], rules=sdc.Rules(p=10))
    assert found.explain("85.1").status == found.explain(("85.1",)).status == "primary"


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        (["C10", "C11", "c10"], ("C10", "c10")),
        (["C10", "C 10"], ("C10", "C 10")),
        (["C10", "C10\u200b"], ("C10", "C10\u200b")),
        (["C10", "\u042110"], ("C10", "\u042110")),
        (["10-19", "10\u201319"], ("10-19", "10\u201319")),
        (["caf\u00e9", "cafe\u0301"], ("caf\u00e9", "cafe\u0301")),
        (["C10", "C1O", "I", "1", "l2", "12", "O", "0"], None),
        (["_T", "T", "C.1", "C1", "C_1"], None),
    ],
)
def test_twins_are_codes_that_a_reader_takes_for_one_another(
    codes: list[str], found: tuple[str, str] | None
) -> None:
    assert twins(codes) == found


CYRILLIC = "\u0421"  # looks as C


def domain_with(folder: Path, file: str, before: str, after: str) -> Path:
    small_domain(folder)
    place = folder / file
    assert before in place.read_text()
    place.write_text(place.read_text().replace(before, after))
    load_domain(folder / "small.yaml")
    return place


def codes_with(suffix: str, text: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        place = folder / f"codes{suffix}"
        place.write_text(text)
        return (read_hierarchy(place), read_tree(place, "A", "TOTAL"))

    return read


@pytest.mark.parametrize(
    ("read", "where", "codes"),
    [
        (
            lambda folder: domain_with(folder, "activities.csv", "D,TOTAL", f"{CYRILLIC},TOTAL"),
            "activities.csv",
            r"'C' and '\u0421'",
        ),
        (lambda folder: domain_with(folder, "sizes.csv", "L,_T", "S ,_T"), "sizes.csv", "'S' and 'S '"),
        (lambda folder: domain_with(folder, "areas.csv", "BE,EU", "At,EU"), "areas.csv", "'AT' and 'At'"),
        (
            lambda folder: domain_with(folder, "small.yaml", "code: EU,", "code: \u0391T,"),
            "aggregates",
            r"'AT'",
        ),
        (codes_with(".csv", "code,parent\nT,\n10-19,T\n10\u201319,T\n"), "codes.csv", "look like one code"),
        (codes_with(".hrc", "N\n@N1\n@n1\n"), "codes.hrc", "'N1' and 'n1'"),
        (
            lambda folder: sdc.primary(
                pd.DataFrame({"A": ["x", "y"], "VALUE": [1, 2]}),
                ["A"],
                rules=sdc.Rules(p=10),
                hierarchy={"A": {"T": None, "x": "T", "X": "T", "y": "T"}},
            ),
            "hierarchy of A",
            "'x' and 'X'",
        ),
    ],
    ids=["look-alike", "blank", "case", "aggregate", "dash", "hrc", "frame"],
)
def test_twins_are_refused_in_code_lists(
    tmp_path: Path, read: Callable[[Path], object], where: str, codes: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read(tmp_path)
    for text in (where, codes, "Remedy: "):
        assert text in str(refusal.value)


def table_with(*codes: str) -> pd.DataFrame:
    cells = list(product(codes, "xy"))
    return pd.DataFrame(cells, columns=["A", "B"]).assign(VALUE=range(10, 10 + len(cells)), STATUS="s", N=7)


IN_TABLES: dict[str, Callable[[pd.DataFrame], object]] = {
    "suppress": lambda table: sdc.suppress(table, ["A", "B"]),
    "primary": lambda table: sdc.primary(table, ["A", "B"], rules=sdc.Rules(p=10)),
    "adjust": lambda table: sdc.adjust(table, ["A", "B"]),
    "round_table": lambda table: sdc.round_table(table, ["A", "B"], base=3),
    "round_counts": lambda table: sdc.round_counts(table, ["A", "B"], "N", base=3),
}


@pytest.mark.parametrize("step", IN_TABLES)
def test_twins_are_refused_in_tables_without_a_code_list(step: str) -> None:
    for code in (CYRILLIC, "c"):
        with pytest.raises(InvalidInput) as refusal:
            IN_TABLES[step](table_with("D", "C", code))
        for text in ("the frame, row 4: ", "A", f"'C' and {code!a} look like one code", "Remedy: "):
            assert text in str(refusal.value)
    assert IN_TABLES[step](table_with("D", "C", "E"))


def test_a_code_that_looks_like_the_total_that_is_made_is_refused() -> None:
    table = table_with("D", "C", "total")
    with pytest.raises(
        InvalidInput, match=r"row 4: A 'total' looks like 'TOTAL'.*Remedy: total={'A': 'total'}"
    ):
        sdc.suppress(table, ["A", "B"])


def test_twins_in_a_file_are_refused_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    table_with("D", "C", CYRILLIC).to_csv(file, index=False)
    for asked in (
        ("suppress", file, "--dims", "A,B"),
        ("protect", file, "--dims", "A,B", "--p", 10),
        ("round-counts", file, "--dims", "A,B", "--count", "N"),
    ):
        assert desk.sdc(*asked).refused("t.csv, line 6", "look like one code", "Remedy: ")
