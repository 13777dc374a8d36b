"""Formulas, hierarchies and tables of counts: what is read, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.codes import read_hierarchy, read_tree
from sdc_tasks.intake.tables.counts import Counts, read_counts, table_bytes
from sdc_tasks.methods.rounding.small_count import (
    CodeTree,
    InnerCells,
    by_formula,
    by_hierarchies,
    by_list,
    inner_cells,
)
from sdc_tasks.methods.rounding.small_count.cells import joint_codes
from sdc_tasks.methods.rounding.small_count.formula import expand

LABELS = ("AT", "BE", "NO", "UK")


def terms(formula: str) -> list[str]:
    return [":".join(sorted(term)) for term in expand(formula)]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("~(a+b)*c", ["", "a", "b", "c", "a:c", "b:c"]),
        ("a*b", ["", "a", "b", "a:b"]),
        ("~a:b + c", ["", "c", "a:b"]),
        ("~a*b*c - a:b:c", ["", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("~(a+b+c)^2", ["", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("~a*b - 1", ["a", "b", "a:b"]),
        ("~0 + a", ["a"]),
        ("~a + 0 + 1", ["", "a"]),
        ("~a:a + a", ["", "a"]),
        ("~a + b:(c + d)", ["", "a", "b:c", "b:d"]),
        ("~`geo level` * v_1.x", ["", "geo level", "v_1.x", "geo level:v_1.x"]),
        ("~1", [""]),
    ],
)
def test_formulas(formula: str, expected: list[str]) -> None:
    assert terms(formula) == expected


@pytest.mark.parametrize(
    "formula", ["~(a+b", "~a b", "~a +", "~", "", "~a^x", "~a^99", "~a & b", "~a)", "~0", "~*a"]
)
def test_what_is_no_formula_is_refused(formula: str) -> None:
    if formula in ("~", ""):
        with pytest.raises(InvalidInput, match="its end is not expected"):
            expand(formula)
    else:
        with pytest.raises(InvalidInput, match="Remedy"):
            expand(formula)


def levels(hierarchy: CodeTree, labels: tuple[str, ...] = LABELS) -> list[dict[str, set[str]]]:
    return [
        {name: {labels[i] for i in np.flatnonzero(group == k)} for k, name in enumerate(names)}
        for names, group in hierarchy.levels(labels)
    ]


def test_overlapping_groups_take_as_many_levels_as_they_need(tmp_path: Path) -> None:
    file = tmp_path / "geo.csv"
    file.write_text(
        "code,parent\nAT,EU27\nBE,EU27\nEU27,EU28\nUK,EU28\nEU28,EEA\nNO,EEA\nEEA,\n?T,SMALL\nB*,SMALL\n",
        encoding="utf-8",
    )
    hierarchy = read_hierarchy(file)
    assert hierarchy.root(LABELS) == "EEA"
    assert levels(hierarchy) == [
        {"EU28": {"AT", "BE", "UK"}},
        {"EU27": {"AT", "BE"}},
        {"SMALL": {"AT", "BE"}},
    ]
    assert hierarchy.groups(("AT", "BE"))["EU28"] == {0, 1}


def test_an_hrc_file_has_a_total_that_is_not_listed(tmp_path: Path) -> None:
    file = tmp_path / "geo.hrc"
    file.write_text("EU\r\n@AT\r\n@BE\r\nREST\r\n@NO\r\n@UK\r\n", encoding="utf-8")
    hierarchy = read_hierarchy(file)
    assert hierarchy.root(LABELS) == "TOTAL"
    assert levels(hierarchy) == [{"EU": {"AT", "BE"}, "REST": {"NO", "UK"}}]


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("h.csv", "a,b\nAT,EU\n", "line 1: the header is code,parent"),
        ("h.csv", "code,parent\nAT,EU,x\n", "line 2: a code and its parent"),
        ("h.csv", "code,parent\nAT,E*\n", "line 2: .* is a wildcard"),
        ("h.csv", "code,parent\nAT,\n", "no code has a parent"),
        ("h.csv", "code,parent\nAT,EU\nEU,EEA\nEEA,EU\n", "below itself"),
        ("h.hrc", "EU\n@@AT\n", "line 2: one code, at most one level"),
        ("h.hrc", "\n\n", "no code"),
        ("h.hrc", None, "cannot be read"),
        ("h.csv", "", "line 1: the header is code,parent"),
    ],
)
def test_what_is_no_hierarchy_is_refused(tmp_path: Path, name: str, text: str | None, match: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=match):
        read_hierarchy(tmp_path / name)


@pytest.mark.parametrize("name", ["geo.hrc", "geo.csv"])
def test_either_kind_of_file_is_the_same_tree(tmp_path: Path, name: str) -> None:
    text = (
        "EU\n@AT\n@BE\nNO\n"
        if name.endswith("hrc")
        else "code;parent;label\nALL;;\nEU;ALL;x\nAT;EU;y\nBE;EU;\nNO;ALL;\n"
    )
    (tmp_path / name).write_text(text, encoding="utf-8")
    tree = read_tree(tmp_path / name, "geo", "ALL")
    assert dict(zip(tree.codes, tree.parent, strict=True)) == {
        "ALL": None,
        "EU": "ALL",
        "AT": "EU",
        "BE": "EU",
        "NO": "ALL",
    }


@pytest.mark.parametrize(
    ("text", "match"),
    [("A*,ALL\nALL,\n", "is a wildcard"), ("A,B\nA,C\nB,\nC,\n", "line 3: A stands in line 2 already")],
)
def test_a_tree_has_one_parent_for_each_code(tmp_path: Path, text: str, match: str) -> None:
    (tmp_path / "geo.csv").write_text(f"code,parent\n{text}", encoding="utf-8")
    with pytest.raises(InvalidInput, match=match):
        read_tree(tmp_path / "geo.csv", "geo", "ALL")


def test_codes_and_hierarchy_must_fit() -> None:
    tree = CodeTree("geo", (("AT", "EU"), ("BE", "EU")))
    with pytest.raises(InvalidInput, match="the code NO of the table is missing"):
        tree.groups(LABELS)
    with pytest.raises(InvalidInput, match="EU is a total, and has records too"):
        tree.groups(("AT", "BE", "EU"))


def one(*labels: str) -> InnerCells:
    return inner_cells(
        ["geo"], [(np.arange(len(labels), dtype=np.int32), labels)], np.ones(len(labels), dtype=np.int64)
    )[0]


def test_what_does_not_exist_is_no_crossing() -> None:
    for state in (lambda: by_list(one("AT"), [("geo", "size")]), lambda: by_formula(one("AT"), "~geo*size")):
        with pytest.raises(
            InvalidInput, match=r"size is not a dimension of the table\. Remedy: name one of geo"
        ):
            state()
    with pytest.raises(InvalidInput, match="the code TOTAL also names a total"):
        by_hierarchies(one("AT", "TOTAL"), {})


def test_a_joint_key_tells_rows_apart_whatever_its_size() -> None:
    """Twelve columns of 2 000 codes: 2 000¹² does not fit into any integer."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2000, 500).astype(np.int32) % rng.integers(2, 2000) for _ in range(12)]
    rows = np.array(columns).T
    rows[250:] = rows[:250]
    keys, bound = joint_codes(list(rows.T), [2000] * 12)
    assert bound.bit_length() <= 62
    assert len(np.unique(keys)) == len(np.unique(rows, axis=0))
    assert np.array_equal(keys[:250], keys[250:])
    assert np.array_equal(np.argsort(keys[:250]), np.lexsort(rows[:250].T[::-1]))


def read(tmp_path: Path, text: str, name: str = "t.csv", freq: str | None = "n", **columns: str) -> Counts:
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return read_counts(tmp_path / name, ["a", "b"], freq, **columns)


def as_dict(cells: InnerCells) -> dict[str, int]:
    return {cells.key(i): int(cells.y[i]) for i in range(len(cells))}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_records_of_one_cell_are_added(tmp_path: Path, name: str, separator: str) -> None:
    text = "\ufeffb,x,n,a\r\nu,9,2,q\r\nv,9,1,p\r\n\r\nu,9,3.0,q\r\n".replace(",", separator)
    assert as_dict(read(tmp_path, text, name).cells) == {"p.v": 1, "q.u": 5}
    assert as_dict(read(tmp_path, text, name, freq=None).cells) == {"p.v": 1, "q.u": 2}


def test_parquet_is_read_as_csv_is(tmp_path: Path) -> None:
    columns = {
        "a": np.array(["q", "p", "q"], dtype=object),
        "b": np.array([2011, 2012, 2011]),
        "n": np.array([2.0, 1.0, 3.0]),
    }
    (tmp_path / "t.parquet").write_bytes(table_bytes(tmp_path / "t.parquet", columns))
    (tmp_path / "t.csv").write_bytes(table_bytes(tmp_path / "t.csv", columns))
    found = [read_counts(tmp_path / name, ["a", "b"], "n").cells for name in ("t.parquet", "t.csv")]
    assert as_dict(found[0]) == as_dict(found[1]) == {"p.2012": 1, "q.2011": 5}


def test_forced_and_given_columns(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b,n,f,g\nq,u,2,1,\np,v,1,0,3\np,u,7,0,0\n", force="f", given="g")
    assert [found.cells.key(i) for i in range(3)] == ["p.u", "p.v", "q.u"]
    assert found.force is not None
    assert found.force.tolist() == [False, False, True]
    assert found.given is not None
    assert found.given.tolist() == [0, 3, -1]
    with pytest.raises(InvalidInput, match=r"p\.v occurs twice"):
        read(tmp_path, "a,b,n,f\np,v,1,0\np,v,1,1\n", force="f")
    with pytest.raises(InvalidInput, match="line 3: column f: 1 or 0 is expected"):
        read(tmp_path, "a,b,n,f\np,v,1,0\np,u,1,\n", force="f")


SECRET = "748591"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "the file is empty"),
        ("a,b,n\n", "no record"),
        ("a,b\np,u\n", "line 1: there is no column n"),
        ("a,a,b,n\np,p,u,1\n", "line 1: two columns are called a"),
        ("a,b,n\np,u,1\np,,2\n", "line 3: column b: the code is missing"),
        (f"a,b,n\np,u,1\nq,u,-{SECRET}\n", "line 3: column n: counts are whole numbers"),
        (f"a,b,n\np,u,1\n\nq,u,{SECRET}.5\n", "line 4: column n: counts are whole numbers"),
        ("a,b,n\np,u,\n", "line 2: column n: counts are whole numbers"),
        ("a,b,n\np,u,1e3\n", "line 2: column n: counts are whole numbers"),
        ("a,b,n\np,u\n", "line 2: 3 fields are expected"),
        (
            f"a,b,n\np,u,{SECRET}{SECRET}999\nq,u,{SECRET}{SECRET}998\n"
            + "".join(f"r{i},u,{SECRET}{SECRET}997\n" for i in range(20)),
            "too large",
        ),
    ],
)
def test_what_is_no_table_of_counts_is_refused(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(InvalidInput, match=match) as refused:
        read(tmp_path, text)
    assert SECRET not in str(refused.value)
    assert "Remedy" in str(refused.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"a,b,n\n\xff\xfe,u,1\n")
    (tmp_path / "b.parquet").write_bytes(b"a,b,n\np,u,1\n")
    (tmp_path / "b.csv.gz").write_bytes(b"a,b,n\np,u,1\n")
    for name in ("b.csv", "b.parquet", "b.csv.gz", "none.csv", "none.parquet"):
        with pytest.raises(InvalidInput, match="Remedy"):
            read_counts(tmp_path / name, ["a", "b"], "n")
    with pytest.raises(InvalidInput, match="each is named once"):
        read_counts(tmp_path / "b.csv", ["a", "a"], None)
    with pytest.raises(InvalidInput, match="one column cannot be"):
        read_counts(tmp_path / "b.csv", ["a", "b"], "b")


def test_a_column_of_counts_that_nobody_named_is_not_passed_over(tmp_path):
    """Each record counts one where no column is named: a file with counts would be published as something
    else.
    """
    file = tmp_path / "people.csv"
    file.write_text("AGE,SEX,COUNT\n0,f,12\n0,m,9\n1,f,7\n", encoding="utf-8")
    frame = pd.read_csv(file, dtype=str)
    frame.to_parquet(tmp_path / "people.parquet")
    for name in ("people.csv", "people.parquet"):
        with pytest.raises(InvalidInput, match=rf"{name}, line 1: a column COUNT.*Remedy: --count COUNT"):
            read_counts(tmp_path / name, ["AGE", "SEX"], None)
    assert int(read_counts(file, ["AGE", "SEX"], "COUNT").cells.y.sum()) == 28
    assert int(read_counts(file, ["AGE", "COUNT"], None).cells.y.sum()) == 3
    with pytest.raises(InvalidInput, match=r"a column COUNT, and .*Remedy: count='COUNT', or drop it"):
        sdc.round_counts(frame, ["AGE", "SEX"], base=3)
