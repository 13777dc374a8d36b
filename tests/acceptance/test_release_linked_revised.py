"""A cell that two published tables share is revised: the revised table comes out beside the other one, which
still has the former value. Each value is a secret of its own, and keeps what the tables that have it promise.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.optimize import linprog

from support.desk import sdc
from support.statistic import Office

KINDS = ("sizes", "regions")
ORDERS = [KINDS, KINDS[::-1]]
SIZES = """
    T _T 9000 F
    T S  4000 F
    T L  5000 F
    X _T 4000 D
    X S   900 A
    X L  3100 D
    Y _T 5000 D
    Y S  3100 D
    Y L  1900 D
"""
FREE = """
    T _T 900 F
    T S  400 F
    T L  500 F
    X _T 400 F
    X S  200 F
    X L  200 F
    Y _T 500 F
    Y S  200 F
    Y L  300 F
"""
MORE = FREE.replace("T _T 900", "T _T 950").replace("T S  400", "T S  450")
MORE = MORE.replace("X _T 400", "X _T 450").replace("X S  200", "X S  250")
MOST = MORE.replace("950", "960").replace("450", "460").replace("250", "260")
# Austria revises X of small enterprises, which is hidden, and with it totals that it shares.
REVISED = SIZES.replace("T _T 9000", "T _T 9040").replace("T S  4000", "T S  4040")
REVISED = REVISED.replace("X _T 4000", "X _T 4040").replace("X S   900", "X S   940")


def of(kind: str, drawing: str) -> str:
    """A drawing as the table of this kind has it."""
    if kind == "sizes":
        return drawing
    return drawing.replace("_T", "_N").replace(" S ", " N1 ").replace(" L ", " N2 ")


def deliver(office: Office, kind: str, **drawn: str) -> None:
    dimensions = "ACTIVITY SIZECLASS" if kind == "sizes" else "ACTIVITY REGION"
    office.deliver(kind, "2024", dimensions, **{country: of(kind, each) for country, each in drawn.items()})


def release(office: Office, kind: str) -> str:
    ended = office.release(kind, "2024")
    assert ended.code == 0, ended.text
    return ended.text


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A table by size and one by region, which share their totals, and are out."""
    office = Office.new(tmp_path)
    office.domain("sizes", "ACTIVITY SIZECLASS", "linked: {tables: [regions]}")
    office.domain("regions", "ACTIVITY REGION", "linked: {tables: [sizes]}")
    for kind in KINDS:
        deliver(office, kind, AT=SIZES, BE=FREE, DE=FREE)
        release(office, kind)
    return office


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_a_shared_cell_is_revised_in_one_table_and_then_in_the_other(office: Office, first: str, second: str):
    deliver(office, first, BE=MORE)
    told = release(office, first)
    root = "T._T" if first == "sizes" else "T._N"
    assert f"BE.TURNOVER.{root}" in told
    assert "still has the former value" in told
    certificate = office.certificate(first, "2024")
    assert [(each["domain"], each["version"]) for each in certificate["linked"]] == [(second, 1)]
    assert all(each["protected"] for each in certificate["primaries"])
    deliver(office, second, BE=MORE)
    assert "still has the former value" not in release(office, second)
    both = [(each["domain"], each["version"]) for each in office.certificate(second, "2024")["linked"]]
    assert both == [(first, 1), (first, 2)]


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_a_table_that_is_behind_may_revise_its_own_cells(office: Office, first: str, second: str):
    deliver(office, first, BE=MORE)
    release(office, first)
    inner = FREE.replace("X S  200", "X S  190").replace("X L  200", "X L  210")
    inner = inner.replace("T S  400", "T S  390").replace("T L  500", "T L  510")
    deliver(office, second, BE=inner)
    release(office, second)


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_a_total_with_a_revised_member_is_not_repeated_as_it_is_out(office: Office, first: str, second: str):
    before = office.published(second, "2024")
    deliver(office, first, BE=MORE)
    release(office, first)
    after, end = office.published(first, "2024"), ("_T" if first == "sizes" else "_N")
    low, high = after[f"T.{end}"]
    assert low <= 9000 + 950 + 900 <= high
    assert office.published(second, "2024") == before


# Austria hides parts of X and Y by size; their totals, which a table by activity has, are public.
OPEN = """
    T _T 9000 F
    T S  4000 F
    T L  5000 F
    X _T 4000 F
    X S  1900 A
    X L  2100 D
    Y _T 5000 F
    Y S  2100 D
    Y L  2900 D
"""


def test_public_cells_are_revised_beside_a_table_that_hides_their_parts(tmp_path: Path):
    """The former values are public in each table: nobody learns of a relation with a hidden cell."""
    office = Office.new(tmp_path)
    office.domain("main", "ACTIVITY", "linked: {tables: [sizes]}")
    office.domain("sizes", "ACTIVITY SIZECLASS", "linked: {tables: [main]}")
    small = "T 900 F\nX 400 F\nY 500 F"
    office.deliver("main", "2024", "ACTIVITY", AT="T 9000 F\nX 4000 F\nY 5000 F", BE=small, DE=small)
    release(office, "main")
    office.deliver("sizes", "2024", "ACTIVITY SIZECLASS", AT=OPEN, BE=FREE, DE=FREE)
    release(office, "sizes")
    office.deliver("main", "2024", "ACTIVITY", AT="T 9100 F\nX 4000 F\nY 5100 F", BE=small, DE=small)
    assert "still has the former value" in release(office, "main")


def test_two_tables_that_revise_a_cell_to_other_values_are_refused(office: Office):
    deliver(office, "sizes", BE=MORE)
    release(office, "sizes")
    deliver(office, "regions", BE=MOST)
    ended = office.release("regions", "2024")
    assert ended.refused("one cell, and two values", "BE.TURNOVER", "of sizes 2024", "Remedy")
    assert "960" not in ended.text


def test_a_first_version_with_another_value_is_refused(tmp_path: Path):
    """Nobody revised anything: one of the two is wrong."""
    office = Office.new(tmp_path)
    office.domain("sizes", "ACTIVITY SIZECLASS", "linked: {tables: [regions]}")
    office.domain("regions", "ACTIVITY REGION", "linked: {tables: [sizes]}")
    deliver(office, "sizes", AT=SIZES, BE=FREE, DE=FREE)
    deliver(office, "regions", AT=SIZES, BE=MORE, DE=FREE)
    release(office, "sizes")
    assert office.release("regions", "2024").refused("one cell, and two values", "Remedy")


class Reader:
    """What somebody finds of Austria's hidden cells by a program of its own: each cell has one unknown for
    each of its values, in whatever table and version it stands.
    """

    def __init__(self) -> None:
        self.names: list[tuple[str, float]] = []
        self.equal: list[tuple[dict[int, float], float]] = []
        self.below: list[tuple[dict[int, float], float]] = []

    def column(self, name: str, value: float) -> int:
        if (name, value) not in self.names:
            self.names.append((name, value))
        return self.names.index((name, value))

    def reads(self, kind: str, drawing: str, published: dict[str, tuple[float, float]]) -> None:
        """A national table of Austria, and what was published of the totals: twice FREE are the others."""
        rows = [line.split() for line in drawing.strip().splitlines()]
        value = {f"{a}.{b}": float(v) for a, b, v, _ in rows}
        public = {f"{a}.{b}" for a, b, _, flag in rows if flag == "F"}

        def at(key: str) -> int:
            return self.column(key if key.endswith("._T") else f"{kind} {key}", value[key])

        for a in "TXY":
            self.add({at(f"{a}._T"): -1.0, at(f"{a}.S"): 1.0, at(f"{a}.L"): 1.0})
        for b in ("_T", "S", "L"):
            self.add({at(f"T.{b}"): -1.0, at(f"X.{b}"): 1.0, at(f"Y.{b}"): 1.0})
        for key in public:
            self.equal.append(({at(key): 1.0}, value[key]))
        twice = {f"{a}.{b}": 2 * float(v) for a, b, v, _ in map(str.split, FREE.strip().splitlines())}
        for key, others in twice.items():
            code = of(kind, f" {key.replace('.', ' ')} ").split()
            low, high = published[".".join(code)]
            for sign, end in ((1.0, high - others), (-1.0, others - low)):
                if abs(end) < float("inf"):
                    self.below.append(({at(key): sign}, end))

    def add(self, terms: dict[int, float]) -> None:
        self.equal.append((terms, 0.0))

    def finds(self, name: str, value: float) -> tuple[float, float]:
        n, k = len(self.names), self.column(name, value)

        def matrix(rows: list[tuple[dict[int, float], float]]) -> tuple[list[list[float]], list[float]]:
            return [[terms.get(i, 0.0) for i in range(n)] for terms, _ in rows], [end for _, end in rows]

        ends = []
        for sign in (1.0, -1.0):
            goal = [sign if i == k else 0.0 for i in range(n)]
            found = linprog(goal, *matrix(self.below), *matrix(self.equal), bounds=[(0, None)] * n)
            assert found.status in (0, 3), found.message
            ends.append(sign * found.fun if found.status == 0 else -sign * float("inf"))
        return ends[0], ends[1]


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_the_former_and_the_new_value_are_protected_in_both_tables(office: Office, first: str, second: str):
    """Austria revises a hidden cell beside the totals that both tables have, which are hidden, too."""
    reader = Reader()
    for kind in KINDS:
        reader.reads(kind, SIZES, office.published(kind, "2024"))
    deliver(office, first, AT=REVISED)
    release(office, first)
    reader.reads(first, REVISED, office.published(first, "2024"))
    for kind, value in ((first, 940.0), (second, 900.0)):
        low, high = reader.finds(f"{kind} X.S", value)
        assert low <= 0.9 * value
        assert high >= 1.1 * value
    deliver(office, second, AT=REVISED)
    release(office, second)
    reader.reads(second, REVISED, office.published(second, "2024"))
    for kind in KINDS:
        low, high = reader.finds(f"{kind} X.S", 940.0)
        assert low <= 0.9 * 940
        assert high >= 1.1 * 940


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_a_primary_of_the_former_value_stays_one_where_that_is_in_force(
    office: Office, first: str, second: str
):
    """X of Austria is primary in the first table alone. It revises it; the other table still has the former
    value, which is hidden there, and the level that the first one promised of it.
    """
    primary = SIZES.replace("X _T 4000 D", "X _T 4000 A")
    deliver(office, first, AT=primary)
    release(office, first)
    deliver(office, first, AT=REVISED)
    release(office, first)
    root = {"sizes": "X._T", "regions": "X._N"}
    named = {each["cell"] for each in office.certificate(first, "2024")["primaries"]}
    assert f"AT.TURNOVER of {second} 2024.{root[second]}" in named
    assert f"AT.TURNOVER.{root[first]}" in named, "and of the value of now, as of every version"


def test_somebody_else_verifies_a_revised_table(office: Office):
    """At the shell, without the warehouse: the judge ties the former values as the release does."""
    folder = office.folder
    old = folder / "old"
    old.mkdir()
    for file in (folder / "sizes-2024").iterdir():
        (old / file.name).write_bytes(file.read_bytes())
    table = old.with_name("old.csv")
    table.write_bytes((office.out("sizes", "2024") / "table.csv").read_bytes())
    deliver(office, "sizes", AT=REVISED)
    release(office, "sizes")
    where = ("--domain", folder / "sizes.yaml", "--period", "2024", "--inbox", folder / "sizes-2024")
    where += ("--published", office.out("sizes", "2024") / "table.csv")
    where += ("--earlier", table, "--earlier-inbox", old)
    regions = f"{folder}/regions.yaml,2024,{folder}/regions-2024,{office.out('regions', '2024')}/table.csv"
    files = [folder / name for name in ("again.json", "again.zip")]
    audited = sdc("audit", *where, "--linked", regions, "--json", files[0], "--witnesses", files[1])
    assert audited.code == 0, audited.text
    given = ("--certificate", files[0], "--witnesses", files[1])
    verified = sdc("verify-certificate", *where, "--linked", regions, *given)
    assert verified.code == 0, verified.text
