"""Whatever an NSI sends, intake answers with findings: it never crashes, and never repeats a confidential
value.

100 000 seeded mutations of good deliveries, and more by Hypothesis. Looked through for the planted
values: findings, everything that is logged or printed, and the text of a traceback with local
variables where something is raised.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.checks import suite
from sdc_tasks.checks.registry import describe
from sdc_tasks.domains import Domain
from sdc_tasks.intake import read_bytes
from sdc_tasks.intake.formats import fields
from sdc_tasks.intake.formats.fields import FieldBytes
from support.deliveries import PERIOD, small_domain
from support.judged import PIECES, leaked, wrong
from support.laws import law
from support.mutate import SECRETS, healthy, mutated, nonsense
from support.tried import tried

PARTS, FAST, BEYOND, INPUTS = 40, 1, 5, 2_500  # of PARTS: FAST in make test, BEYOND in make test-beyond


def parts() -> list[Any]:
    """The others are an exhaustive search."""
    quick, slow = [()] * FAST, [(pytest.mark.slow,)] * (BEYOND - FAST)
    marks = [*quick, *slow, *[(pytest.mark.exhaustive,)] * (PARTS - BEYOND)]
    return [pytest.param(part, marks=each) for part, each in enumerate(marks)]


BASES = healthy()


class Heard(logging.Handler):
    """All that is logged, by whomever."""

    def __init__(self) -> None:
        super().__init__(level=1)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler, root = Heard(), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(1)
    yield handler
    root.removeHandler(handler)
    root.setLevel(before)


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("fuzz"))


def test_the_law_sees_what_it_should(domain):
    """Else nothing here could fail."""
    assert [each for each in BASES if wrong(each, domain)] == []
    for base in BASES:
        delivery = read_bytes(base, "AT_2024.csv", domain, PERIOD)
        assert delivery.accepted
        assert {f"{value:.0f}" for value in delivery.table.value} > set(SECRETS)
    assert leaked(read_bytes(b"", f"AT_{SECRETS[0]}.csv", domain, PERIOD))


@pytest.mark.parametrize("part", parts())
def test_mutated_deliveries_are_read_or_refused(domain, heard, capfd, part):
    chance = random.Random(part)
    codes, accepted = set(), 0
    for number in range(INPUTS):
        data = (nonsense if number % 10 == 0 else mutated)(chance, BASES)
        if (why := wrong(data, domain)) is not None:
            pytest.fail(f"input {number} of part {part}: {why}\n{data[:2000]!r}")
    for _ in range(200):  # what the mutations reach
        delivery = read_bytes(mutated(chance, BASES), "AT_2024.csv", domain, PERIOD)
        codes |= {finding.code for finding in delivery.findings}
        accepted += delivery.accepted
    assert accepted > 5, "some mutations do no harm"
    assert {"140", "150/904-2", "SDC/value"} <= codes
    printed = capfd.readouterr()
    assert PIECES.findall("\n".join(heard.said) + printed.out + printed.err) == []
    tried("inputs of intake", INPUTS)


def both_ways(data: bytes, domain: Domain, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether fields give the same answer: numbered by sorting, by pandas, and where pandas splits them."""
    found = [read_bytes(data, "AT_2024.csv", domain, PERIOD, digest="D")]
    for place, name, value in ((fields, "MANY", 0), (FieldBytes, "column", lambda *_: None)):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, value)
            found.append(read_bytes(data, "AT_2024.csv", domain, PERIOD, digest="D"))
    told = [
        (
            each.findings,
            None if each.table is None else (each.table.value.tolist(), each.table.flag.tolist()),
        )
        for each in found
    ]
    return told[0] == told[1] == told[2]


@pytest.mark.parametrize("number", [300, pytest.param(20_000, marks=pytest.mark.exhaustive)])
def test_fields_are_split_alike_by_bytes_and_by_pandas(domain, monkeypatch, number):
    chance, bases = random.Random(5), [each for each in BASES if b'"' not in each]
    for each in range(number):
        data = mutated(chance, bases)
        assert both_ways(data, domain, monkeypatch), f"input {each}: {data[:2000]!r}"
    tried("files that were split twice", number)


def test_a_field_of_any_length_and_any_letters_is_split_alike(domain, monkeypatch):
    """Around the ends of the words of eight bytes, and of what is short."""
    for length in (*range(1, 20), 63, 64, 65, 200):
        for letter in ("A", "é", "\N{SNOWMAN}", " "):
            assert both_ways(
                BASES[0].replace(b",_T,", f",{letter * length},".encode()), domain, monkeypatch
            ), (length, letter)


CODES = ("AT", "F", "D", "A", "TURNOVER", "C", "TOTAL", "_T", "S", "2024", "EUR", "3", *SECRETS)
ROWS = st.lists(st.lists(st.one_of(st.sampled_from(CODES), st.text(max_size=8)), max_size=17), max_size=6)
NUMBER = st.one_of(
    st.floats().map(repr),
    st.from_regex(r"[-+]?[0-9., ]{0,25}([eE][-+]?[0-9]{0,5})?"),
    st.text(alphabet="0123456789.,-+eE '_xINF", max_size=30),
)


@law(1500)
@given(rows=ROWS, separator=st.sampled_from(",;\t"), end=st.sampled_from(("\n", "\r\n", "\r", "")))
def test_lines_of_any_fields(domain, rows, separator, end):
    header = BASES[0].decode().splitlines()[0].replace(",", separator)
    body = end.join(separator.join(row) for row in rows)
    assert wrong(f"{header}\n{body}{end}".encode("utf-8", "surrogatepass"), domain) is None
    tried("inputs of intake")


@law(1500)
@given(data=st.binary(max_size=300))
def test_any_bytes(domain, data):
    assert wrong(data, domain) is None
    tried("inputs of intake")


@law(1000)
@given(number=NUMBER)
def test_any_number(domain, number):
    """In the place of a confidential value."""
    data = BASES[0].replace(SECRETS[2].encode(), number.replace("\n", "").encode())
    assert wrong(data, domain) is None
    tried("inputs of intake")


def test_what_is_accepted_can_be_checked(domain, heard):
    """Mutations that intake lets through: the checks answer with results that hold no value."""
    chance, done = random.Random(1), 0
    while done < 20:
        delivery = read_bytes(mutated(chance, BASES), "AT_2024.csv", domain, PERIOD)
        if delivery.table is None:
            continue
        results = suite.check(delivery.table, domain)
        assert PIECES.findall(repr(results) + "".join(map(describe, results))) == []
        done += 1
    assert PIECES.findall("\n".join(heard.said)) == []
    tried("mutated tables that were checked", done)
