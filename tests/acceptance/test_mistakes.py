"""Mistakes that a national office makes with a good delivery, and what is said of each.
None is published without a word.

CZ delivers beside four other countries, and everybody delivered last year. A row of the table is one mistake,
and what somebody reads of it on the console and in findings.csv, from which the pages tell the same.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from sdc_tasks.demo import write_demo
from support.deliveries import scaled
from support.desk import Desk, Ended, sdc
from support.payload_key import PAYLOAD_KEY

Record = dict[str, str]
Mistake = Callable[["Sent"], None]
MINE, OTHER, PERIOD, LAST = "CZ", "AT", "2024", "2023"


@dataclass
class Sent:
    """The file of a country as records, before it is written: what the office may spoil.
    `other` are the records of another country, `last` those of the year before. `text` is the
    last thing that is done to the file.
    """

    records: list[Record]
    other: list[Record]
    last: list[Record]
    separator: str = ","
    text: Callable[[str], str] = field(default=lambda text: text)

    @property
    def file(self) -> bytes:
        written = io.StringIO()
        writer = csv.DictWriter(written, self.records[0], delimiter=self.separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records)
        return self.text(written.getvalue()).encode()

    def put(
        self,
        column: str,
        new: str | Callable[[str], str],
        where: Callable[[Record], bool] = lambda record: True,
    ) -> None:
        """Another entry in a column, of all records or of some; somewhere at least."""
        rows = [record for record in self.records if where(record)]
        assert rows
        for record in rows:
            record[column] = new(record[column]) if callable(new) else new

    def exchange(self, one: str, other: str, where: Callable[[Record], bool] = lambda record: True) -> None:
        for record in filter(where, self.records):
            record[one], record[other] = record[other], record[one]

    def shift(self, column: str) -> None:
        """The column stands one row further down than the others."""
        entries = [record[column] for record in self.records]
        for record, entry in zip(self.records, [entries[-1], *entries[:-1]], strict=True):
            record[column] = entry

    def sort(self, column: str) -> None:
        """The column is sorted, and no other."""
        for record, entry in zip(
            self.records, sorted((record[column] for record in self.records), key=int), strict=True
        ):
            record[column] = entry

    def take(self, records: list[Record], **fields: str) -> None:
        """The records of somebody else, with some entries put right."""
        self.records = [record | fields for record in records]

    def rename(self, *pairs: tuple[str, str]) -> None:
        names = dict(pairs)
        self.records = [
            {names.get(column, column): entry for column, entry in record.items()} for record in self.records
        ]

    def first(self, **entries: str) -> Callable[[Record], bool]:
        """Only the first record with these entries."""
        mine = next(record for record in self.records if entries.items() <= record.items())
        return lambda record: record is mine


def times(factor: float) -> Callable[[str], str]:
    return lambda entry: str(round(int(entry) * factor))


def grouped(sign: str) -> Callable[[str], str]:
    return lambda entry: f"{int(entry):,}".replace(",", sign)


def top(record: Record) -> bool:
    return (record["ACTIVITY"], record["SIZECLASS"]) == ("B-N_S95", "_T")


def shared(record: Record) -> bool:
    return bool(record["SHARE_1"])


def small(record: Record) -> bool:
    return record["CONF_STATUS"] == "A"


def dominated(record: Record) -> bool:
    return record["CONF_STATUS"] == "M"


def as_share(entry: str) -> str:
    return f"{int(entry) / 100:g}"


def in_thousands(record: Record) -> bool:
    return 1000 <= int(record["OBS_VALUE"]) < 10**6


def with_semicolons(each: list[str]) -> list[str]:
    return [*each[:9], *(line.replace(",", ";") for line in each[9:])]


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    return lambda text: "\n".join([*change(text.splitlines()), ""])


OF_UNIT: list[tuple[str, str, Mistake]] = [
    ("UNIT_MULT is 6, the values are in thousands", "period_proportion", lambda s: s.put("UNIT_MULT", "6")),
    ("UNIT_MULT is 0, the values are in thousands", "period_proportion", lambda s: s.put("UNIT_MULT", "0")),
    (
        "the values are in units, UNIT_MULT says thousands",
        "period_proportion",
        lambda s: s.put("OBS_VALUE", times(1000)),
    ),
    ("value and units exchanged", "period_proportion", lambda s: s.exchange("OBS_VALUE", "UNITS")),
]

REFUSED: list[tuple[str, str, Mistake]] = [
    *OF_UNIT,
    (
        "the values are in millions, UNIT_MULT says thousands",
        "SDC/absent",
        lambda s: s.put("OBS_VALUE", times(0.001)),
    ),
    ("another currency is declared", "SDC/unit", lambda s: s.put("UNIT_MEASURE", "USD")),
    ("crowns, declared as EUR", "period_proportion", lambda s: s.put("OBS_VALUE", times(11))),
    (
        "one branch is in another unit",
        "SDC/absent",
        lambda s: s.put("OBS_VALUE", times(1000), lambda r: r["ACTIVITY"] == "B"),
    ),
    # numbers
    (
        "points as thousands separators",
        "SDC/decimal",
        lambda s: s.put("OBS_VALUE", grouped("."), in_thousands),
    ),
    ("commas as thousands separators", "SDC/value", lambda s: s.put("OBS_VALUE", grouped(","))),
    ("blanks as thousands separators", "SDC/value", lambda s: s.put("OBS_VALUE", grouped(" "))),
    (
        "decimal comma in one record, point in another",
        "SDC/decimal",
        lambda s: (
            s.put("OBS_VALUE", lambda v: f"{v},0", top),
            s.put("SHARE_1", lambda v: f"{v}.5", s.first(CONF_STATUS="A")),
        ),
    ),
    (
        "decimal comma in a file with commas",
        "150/904-1",
        lambda s: setattr(s, "text", lambda text: re.sub(r",EUR", ",0,EUR", text)),
    ),
    ("rounded to thousands", "SDC/absent", lambda s: s.put("OBS_VALUE", lambda v: str(round(int(v), -3)))),
    (
        "the sign of a value",
        "SDC/negative",
        lambda s: s.put("OBS_VALUE", lambda v: f"-{v}", s.first(CONF_STATUS="D")),
    ),
    ("a letter for what is confidential", "SDC/value", lambda s: s.put("OBS_VALUE", "c", small)),
    ("nothing for what is confidential", "SDC/missing", lambda s: s.put("OBS_VALUE", "", small)),
    ("0 for what is confidential", "SDC/absent", lambda s: s.put("OBS_VALUE", "0", small)),
    # rows and columns
    ("the values stand one row further down", "SDC/absent", lambda s: s.shift("OBS_VALUE")),
    ("the values are sorted", "SDC/absent", lambda s: s.sort("OBS_VALUE")),
    (
        "a total taken from another row",
        "additivity",
        lambda s: s.put("OBS_VALUE", s.records[3]["OBS_VALUE"], top),
    ),
    ("activity and size class exchanged", "150/904-2", lambda s: s.exchange("ACTIVITY", "SIZECLASS")),
    ("shares exchanged", "shares", lambda s: s.exchange("SHARE_1", "SHARE_2", shared)),
    ("a record twice", "SDC/duplicate", lambda s: s.records.append(dict(s.records[4]))),
    ("the whole table twice", "SDC/duplicate", lambda s: s.records.extend(map(dict, list(s.records)))),
    (
        "only the inner cells",
        "SDC/absent",
        lambda s: setattr(s, "records", [r for r in s.records if r["SIZECLASS"] != "_T"]),
    ),
    (
        "the total of a branch is 0",
        "complete_keys",
        lambda s: s.put("OBS_VALUE", "0", s.first(ACTIVITY="B", SIZECLASS="_T")),
    ),
    ("the end of the file cut off in a line", "140", lambda s: setattr(s, "text", lambda text: text[:-9])),
    (
        "the end of the file cut off at a line",
        "SDC/absent",
        lambda s: setattr(s, "text", lines(lambda each: each[:-6])),
    ),
    ("no header", "140", lambda s: setattr(s, "text", lines(lambda each: each[1:]))),
    ("semicolons and commas mixed", "150/904-1", lambda s: setattr(s, "text", lines(with_semicolons))),
    ("no column of flags", "150/003", lambda s: [record.pop("CONF_STATUS") for record in s.records]),
    ("an empty value", "SDC/missing", lambda s: s.put("OBS_VALUE", "", s.first(CONF_STATUS="F"))),
    # shares
    (
        "shares as fractions",
        "shares",
        lambda s: (s.put("SHARE_1", as_share, shared), s.put("SHARE_2", as_share, shared)),
    ),
    ("shares in per mille", "shares", lambda s: s.put("SHARE_1", times(10), shared)),
    (
        "amounts in place of shares",
        "shares",
        lambda s: [r.update(SHARE_1=r["OBS_VALUE"]) for r in s.records if shared(r)],
    ),
    ("the larger share under another name", "shares", lambda s: s.rename(("SHARE_1", "LARGEST"))),
    # codes, periods, countries
    ("a flag that nobody knows", "150/904-2", lambda s: s.put("CONF_STATUS", "Z", small)),
    ("empty flags", "150/904-2", lambda s: s.put("CONF_STATUS", "", lambda r: r["CONF_STATUS"] == "F")),
    ("a status that says missing beside a value", "SDC/status", lambda s: s.put("OBS_STATUS", "M", small)),
    ("codes in small letters", "150/904-2", lambda s: s.put("ACTIVITY", str.lower)),
    ("another frequency", "150/904-2", lambda s: s.put("FREQ", "Q")),
    ("the file of last year", "SDC/period", lambda s: s.take(s.last)),
    ("a quarter", "SDC/period", lambda s: s.put("TIME_PERIOD", "2024-Q1")),
    ("another dataflow", "SDC/structure", lambda s: s.put("DATAFLOW", "ESTAT:SBS_EU(2.0)")),
    ("the code of another country", "SDC/file-name", lambda s: s.put("REF_AREA", OTHER)),
    ("the file of another country", "SDC/file-name", lambda s: s.take(s.other)),
    ("two countries in one file", "SDC/area", lambda s: s.records.extend(map(dict, s.other))),
    (
        "the aggregate beside the country",
        "SDC/area",
        lambda s: s.records.append(s.records[0] | {"REF_AREA": "EU27_2020"}),
    ),
]

TOLD: list[tuple[str, str, Mistake]] = [
    ("zlotys, declared as EUR", "period_change", lambda s: s.put("OBS_VALUE", times(4))),
    ("last year's values under this year", "repeated", lambda s: s.take(s.last, TIME_PERIOD=PERIOD)),
    ("the values of another country under the own code", "copied", lambda s: s.take(s.other, REF_AREA=MINE)),
    ("all flags lost", "all_free", lambda s: s.put("CONF_STATUS", "F")),
    (
        "the flag of a cell of few units lost",
        "unflagged",
        lambda s: s.put("CONF_STATUS", "F", s.first(CONF_STATUS="A")),
    ),
    (
        "the flag of a dominated cell lost",
        "unflagged",
        lambda s: s.put("CONF_STATUS", "F", s.first(CONF_STATUS="M")),
    ),
    (
        "secondary flags lost",
        "lone_suppressed",
        lambda s: s.put("CONF_STATUS", "F", lambda r: r["CONF_STATUS"] == "D"),
    ),
    ("the flags stand one row further down", "unflagged", lambda s: s.shift("CONF_STATUS")),
    (
        "flag and status exchanged",
        "all_suppressed",
        lambda s: (s.put("CONF_STATUS", "F", dominated), s.exchange("CONF_STATUS", "OBS_STATUS")),
    ),
    ("the units stand one row further down", "units_fit", lambda s: s.shift("UNITS")),
    ("the units left out", "columns_lost", lambda s: [record.pop("UNITS") for record in s.records]),
    ("shares left out", "shares_for_rule", lambda s: (s.put("SHARE_1", ""), s.put("SHARE_2", ""))),
    (
        "two size classes exchanged",
        "code_change",
        lambda s: s.put("SIZECLASS", lambda c: {"S1": "S2", "S2": "S1"}.get(c, c)),
    ),
    (
        "a column that nobody knows",
        "150/007",
        lambda s: [record.update(REMARK="checked") for record in s.records],
    ),
    (
        "decimals that the indicator has not",
        "SDC/precision",
        lambda s: s.put("OBS_VALUE", lambda v: f"{v}.4", top),
    ),
]


UNUSED = "unused.db"  # a warehouse that nobody has used, in the folder of the office


@pytest.fixture(scope="module", autouse=True)
def one_key() -> Iterator[None]:
    """The copies of a warehouse are read with the key of the first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDC_PAYLOAD_KEYS", PAYLOAD_KEY)
        yield


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, one_key: None, migrated_file: Path) -> Desk:
    """Five countries, and a warehouse in which all of them have delivered the year before."""
    folder = tmp_path_factory.mktemp("mistakes")
    domain = write_demo(folder, countries=5, activities=8, sizes=3)
    settings = yaml.safe_load(domain.read_text()) | {
        "cta": {"ladder": []}
    }  # how well a release is protected is asked elsewhere
    domain.write_text(yaml.safe_dump(settings))
    desk = Desk(folder)
    for file in sorted(desk.inbox.iterdir()):
        text = file.read_bytes()
        scaled(file, 105)
        (folder / LAST).mkdir(exist_ok=True)
        before = folder / LAST / file.name.replace(PERIOD, LAST)
        before.write_bytes(text)
        scaled(before, 100)
        before.write_text(
            before.read_text().replace(f",{PERIOD},", f",{LAST},").replace(f";{PERIOD};", f";{LAST};")
        )
    (folder / "out").mkdir()
    shutil.copy(migrated_file, folder / "out" / "warehouse.db")
    shutil.copy(migrated_file, folder / UNUSED)
    where = ["--domain", domain, "--period", LAST, "--inbox", folder / LAST]
    ended = sdc("release", *where, "--out", folder / "out")
    assert ended.code == 0, ended.text
    return desk


def sent(office: Desk) -> Sent:
    own, other = (records_of(office.inbox / f"{country}_{PERIOD}.csv") for country in (MINE, OTHER))
    return Sent(own, other, records_of(office.folder / LAST / f"{MINE}_{LAST}.csv"))


def records_of(file: Path) -> list[Record]:
    """The records, in SDMX-CSV 1.0 whatever the file is."""
    text = file.read_text(encoding="utf-8-sig")
    found = list(csv.DictReader(io.StringIO(text), delimiter=";" if ";" in text.splitlines()[0] else ","))
    known = [{"DATAFLOW": record.get("DATAFLOW") or record["STRUCTURE_ID"], **record} for record in found]
    return [
        {name: entry for name, entry in each.items() if name not in ("STRUCTURE", "STRUCTURE_ID", "ACTION")}
        for each in known
    ]


def released(
    office: Desk, folder: Path, content: bytes, first: bool = False, domain: Path | None = None
) -> tuple[Ended, list[Record]]:
    """The release with this file of the country, in a copy of the office, and its findings on it.
    `first`: nobody has delivered before.
    """
    (folder / "out").mkdir()
    (folder / "inbox").mkdir()
    before, own = office.folder / "out" / "warehouse.db", folder / "out" / "warehouse.db"
    if first:
        shutil.copy(office.folder / UNUSED, own)
    else:
        own.write_bytes(b"")
        with closing(sqlite3.connect(before)) as kept, closing(sqlite3.connect(own)) as copy:
            kept.backup(copy)
    for file in office.inbox.iterdir():
        (folder / "inbox" / file.name).write_bytes(
            content if file.name.startswith(MINE) else file.read_bytes()
        )
    where = [
        "--domain",
        domain or office.folder / "domain.yaml",
        "--period",
        PERIOD,
        "--inbox",
        folder / "inbox",
    ]
    ended = sdc("release", *where, "--out", folder / "out")
    assert (folder / "out" / "findings.csv").exists(), ended.text
    found = list(csv.DictReader((folder / "out" / "findings.csv").read_text().splitlines()))
    return ended, [row for row in found if row["COUNTRY"] == MINE or row["FILE"].startswith(MINE)]


def test_a_delivery_without_mistakes_is_published_and_nothing_is_said_of_it(office, tmp_path):
    ended, found = released(office, tmp_path, sent(office).file)
    assert (ended.code, found) == (0, []), ended.text
    assert "no delivery with warnings" in ended.said
    assert "first period" not in ended.said, "all were compared with the last one"


def test_the_first_deliveries_are_told_to_be_compared_with_no_earlier_period(office, tmp_path):
    """Twice every value of a country: nothing there contradicts it, and nobody may take that for a proof."""
    spoilt = sent(office)
    spoilt.put("OBS_VALUE", times(2))
    ended, found = released(office, tmp_path, spoilt.file, first=True)
    assert (ended.code, found) == (0, []), ended.text
    told = " ".join(ended.said.replace("│", "").split())
    assert re.search(rf"first period no earlier period to compare with: .*\b{MINE}\b.*; what is wrong", told)


def test_there_are_forty_mistakes():
    named = [name for name, *_ in (*REFUSED, *TOLD)]
    assert len(set(named)) == len(named) >= 40


@pytest.mark.parametrize(
    ("code", "mistake"), [each[1:] for each in REFUSED], ids=[name for name, *_ in REFUSED]
)
def test_a_mistake_that_refuses_the_delivery(office, tmp_path, code, mistake):
    spoilt = sent(office)
    mistake(spoilt)
    ended, found = released(office, tmp_path, spoilt.file)
    assert code in [row["CODE"] for row in found if row["SEVERITY"] == "error"], (found, ended.text)
    assert (ended.code, code in ended.text) == (2, True), ended.text
    assert not (tmp_path / "out" / "table.csv").exists()


@pytest.mark.parametrize("mistake", [mistake for *_, mistake in OF_UNIT], ids=[name for name, *_ in OF_UNIT])
def test_another_unit_is_seen_in_a_first_delivery_beside_the_other_countries(office, tmp_path, mistake):
    spoilt = sent(office)
    mistake(spoilt)
    ended, found = released(office, tmp_path, spoilt.file, first=True)
    assert [row["CODE"] for row in found if row["SEVERITY"] == "error"] == ["proportion"], (found, ended.text)
    assert (ended.code, f"{MINE}_{PERIOD}.csv refused: proportion" in ended.text) == (2, True), ended.text
    assert not (tmp_path / "out" / "table.csv").exists()


def test_an_audit_of_a_table_made_elsewhere_refuses_it_too(office, tmp_path):
    spoilt = sent(office)
    OF_UNIT[0][2](spoilt)
    (tmp_path / "inbox").mkdir()
    for file in office.inbox.iterdir():
        (tmp_path / "inbox" / file.name).write_bytes(
            spoilt.file if file.name.startswith(MINE) else file.read_bytes()
        )
    where = ["--domain", office.folder / "domain.yaml", "--period", PERIOD, "--inbox", tmp_path / "inbox"]
    assert sdc("audit", *where, "--national").refused(f"{MINE}: this delivery is refused; proportion (error)")


def test_who_has_asked_the_office_lets_it_pass_with_a_warning(office, tmp_path):
    """The figures are right: somebody names the country, and the others are judged as before."""
    spoilt = sent(office)
    OF_UNIT[0][2](spoilt)
    text = (office.folder / "domain.yaml").read_text()
    assert "\nchecks:\n" in text
    domain = office.folder / "confirmed.yaml"
    domain.write_text(text.replace("\nchecks:\n", f"\nchecks:\n  proportion_confirmed: [{MINE}]\n"))
    ended, found = released(office, tmp_path, spoilt.file, first=True, domain=domain)
    assert (ended.code, {row["SEVERITY"] for row in found}) == (0, {"warning"}), ended.text
    assert {"SDC/unit", "proportion"} <= {row["CODE"] for row in found}
    domain.write_text(text.replace("\nchecks:\n", "\nchecks:\n  proportion_confirmed: [XX]\n"))
    assert sdc(
        "release", "--domain", domain, "--period", PERIOD, "--inbox", office.inbox, "--out", tmp_path / "no"
    ).refused("XX")


@pytest.mark.parametrize(("code", "mistake"), [each[1:] for each in TOLD], ids=[name for name, *_ in TOLD])
def test_a_mistake_that_is_told(office, tmp_path, code, mistake):
    spoilt = sent(office)
    mistake(spoilt)
    ended, found = released(office, tmp_path, spoilt.file)
    told = [row["CODE"] for row in found]
    assert {row["SEVERITY"] for row in found} == {"warning"}, (found, ended.text)
    assert code in told
    assert "with warnings: " in ended.said
    assert f"{MINE} ({', '.join(sorted(set(told)))})" in " ".join(ended.said.replace("│", "").split()), (
        ended.said
    )
