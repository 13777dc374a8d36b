"""Encodings and packed files: the same table as plain UTF-8, what is guessed is told, and
what outgrows its bound is refused.
"""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from sdc_tasks.domains import Domain
from sdc_tasks.intake import look, most_bytes, read_bytes, sender
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.series import series_of
from support.deliveries import PERIOD, codes, sdmx_1, small_domain
from support.sdmx_ml import message

TEXT = sdmx_1()
LABELLED = TEXT.replace(",AT,", ",AT: Österreich,")


def zipped(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("packed"))


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", None),
        ("utf-16-le", "every second byte"),
        ("utf-16-be", "every second byte"),
        ("windows-1252", "Windows-1252"),
    ],
)
def test_an_encoding_is_read_and_a_guess_is_told(domain, encoding, told):
    text = TEXT if told == "every second byte" else LABELLED
    found = read_bytes(text.encode(encoding), "AT_2024.csv", domain, PERIOD)
    codes(found)
    assert found.accepted
    assert found.table.value.tolist()[:2] == [749391, 400]
    assert [told in each.message for each in found.findings] == ([True] if told else [])
    assert all(each.severity is Severity.WARNING for each in found.findings)
    assert sender(text.encode(encoding), "sent.csv", domain) == "AT"


@pytest.mark.parametrize("data", [b"\xff\xfe" + LABELLED.encode("utf-16-le")[:-1], b"FREQ,\x81\n"])
def test_bytes_that_no_encoding_has_are_refused(domain, data):
    found = read_bytes(data, "AT_2024.csv", domain, PERIOD)
    assert not found.accepted
    assert "save it as UTF-8" in found.findings[0].message


PACKED = {
    "AT_2024.csv.gz": gzip.compress(TEXT.encode()),
    "AT_2024.CSV.GZ": gzip.compress(TEXT.encode()[:300]) + gzip.compress(TEXT.encode()[300:]),
    "AT_2024.xml.gz": gzip.compress(message(TEXT).encode()),
    "AT_2024.zip": zipped({"deliveries/AT_2024.csv": TEXT.encode()}),
    "AT_2024.csv.zip": zipped({"table.xml": message(TEXT).encode()}),
}


@pytest.mark.parametrize("file", PACKED)
def test_a_packed_file_is_read_as_what_it_holds(domain, file):
    found = read_bytes(PACKED[file], file, domain, PERIOD)
    assert codes(found) == []
    assert found.table.value.tolist()[:2] == [749391, 400]
    assert len(PACKED[file]) <= most_bytes(domain, file)


def test_whom_to_ask_is_seen_in_what_a_file_holds(domain):
    assert sender(gzip.compress(TEXT.encode())[:-20], "sent.csv.gz", domain) == "AT"
    assert sender(zipped({"sent.csv": TEXT.encode()}), "sent.csv.zip", domain) == "AT"
    assert sender(b"PK", "sent.zip", domain) is None


NOUGHTS = bytes(50 << 20)
REFUSED = {
    "a bomb of gzip": ("AT_2024.csv.gz", lambda: gzip.compress(NOUGHTS), "unpacks to more than"),
    "a bomb of zip": ("AT_2024.zip", lambda: zipped({"AT_2024.csv": NOUGHTS}), "unpacks to more than"),
    "two files": (
        "AT_2024.zip",
        lambda: zipped({"AT_2024.csv": TEXT.encode(), "BE_2024.csv": b""}),
        "must hold one file",
    ),
    "no file": ("AT_2024.zip", lambda: zipped({}), "must hold one file"),
    "a folder": ("AT_2024.zip", lambda: zipped({"AT_2024.csv/": b""}), "not read here"),
    "another method": (
        "AT_2024.zip",
        lambda: PACKED["AT_2024.zip"].replace(b"\x08\x00", b"\x0e\x00"),
        "not read here",
    ),
    "a password": ("AT_2024.zip", lambda: _encrypted(PACKED["AT_2024.zip"]), "without a password"),
    "cut": ("AT_2024.csv.gz", lambda: PACKED["AT_2024.csv.gz"][:-9], "not whole"),
    "changed": (
        "AT_2024.zip",
        lambda: PACKED["AT_2024.zip"][:60] + b"\x00\x00" + PACKED["AT_2024.zip"][62:],
        "not whole",
    ),
    "packed twice": ("AT_2024.csv.gz.gz", lambda: gzip.compress(PACKED["AT_2024.csv.gz"]), "no format"),
    "something else": ("AT_2024.zip", lambda: zipped({"AT_2024.doc": b"x"}), "no format"),
    "no archive": ("AT_2024.zip", TEXT.encode, "must hold one file"),
    "a zip that is called text": (
        "AT_2024.csv",
        lambda: PACKED["AT_2024.zip"],
        "give it the name of what it is",
    ),
}


def _encrypted(data: bytes) -> bytes:
    at = data.index(b"PK\x01\x02") + 8
    return data[:at] + b"\x01" + data[at + 1 :]


@pytest.mark.parametrize("how", REFUSED)
def test_a_packed_file_that_leaves_a_doubt_is_refused(domain, how):
    file, write, said = REFUSED[how]
    data = write()
    tracemalloc.start()
    try:
        found = read_bytes(data, file, domain, PERIOD)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    codes(found)
    assert not found.accepted
    assert said in " ".join(each.message for each in found.findings)
    assert peak < 16 << 20


def test_a_correction_of_a_packed_file_has_its_version_before_the_suffixes():
    assert series_of("AT_2024_v2.csv.gz") == ("AT_2024.csv.gz", 2)
    assert series_of("AT_2024_v2.csv") == ("AT_2024.csv", 2)


def test_an_inbox_may_hold_packed_files(tmp_path: Path):
    for name in ("AT_2024.csv.gz", "BE_2024.zip", "CY_2024.tar.gz"):
        (tmp_path / name).write_bytes(b"")
    found = look(tmp_path)
    assert (found.files, list(found.unread)) == (("AT_2024.csv.gz", "BE_2024.zip"), ["CY_2024.tar.gz"])
