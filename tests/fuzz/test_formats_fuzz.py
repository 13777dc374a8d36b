"""Files of every format with damage inside: tokens of the text, parts of the package, bytes. Each
is read or refused within bounds.

100 000 inputs in all; those of Parquet and Arrow, each in a process of its own, are fewer.
"""

from __future__ import annotations

import gzip
import io
import random
import re
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable

import pytest

from sdc_tasks.domains import Domain
from sdc_tasks.intake import read_bytes
from support.deliveries import PERIOD, small_domain
from support.judged import wrong
from support.mutate import SECRETS, healthy
from support.tried import tried
from support.wire import FORMATS

TEXT = healthy()[3].decode()
APART = ("Parquet", "Arrow file", "Arrow stream")
FEW, MANY, APART_MANY = 60, 6_250, 100
WATCHED = 25  # of so many inputs, one is measured
MOST_MEMORY = 64 << 20  # bytes of Python's own, of a file of some kilobytes
TOKEN = re.compile(rb'(<[^<>]*>|"[^"]*"|[{}\[\],:;\t\n= ])')
WORDS = (
    b"",
    b"<Obs/>",
    b"</Obs>",
    b"<Series>",
    b"<c>",
    b"<row>",
    b"<v>9</v>",
    b'"',
    b"[",
    b"]",
    b"{}",
    b"null",
    b"true",
    b"1e999",
    b"-1",
    b"999999999999",
    b'"OBS_VALUE"',
    b'"REF_AREA"',
    b"NaN",
    b"&#1;",
    b"&x;",
    b"<!DOCTYPE a>",
    b"<![CDATA[",
    b"\xff\xfe",
    b":",
    b": c",
    b"\\",
    b'r="A1"',
    b't="s"',
    *(secret.encode() for secret in SECRETS),
)


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("fuzz"))


def by_token(chance: random.Random, data: bytes) -> bytes:
    """The text with one to four tokens taken out, moved, repeated or replaced."""
    tokens = TOKEN.split(data)
    for _ in range(chance.randrange(1, 5)):
        at, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.randrange(6):
            case 0:
                tokens[at] = b""
            case 1:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 2:
                tokens[at] = tokens[other]
            case 3:
                tokens[at] = chance.choice(WORDS)
            case 4:
                tokens[at] *= chance.choice((2, 50))
            case 5:
                tokens[at] = tokens[at][: chance.randrange(len(tokens[at]) + 1)]
    return b"".join(tokens)


def by_byte(chance: random.Random, data: bytes) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged[: chance.choice((len(damaged), len(damaged), chance.randrange(len(damaged))))])


def inside(chance: random.Random, data: bytes) -> bytes:
    """A package with damage in one of its parts, each of which is whole otherwise; now and
    then one is gone, or there twice.
    """
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as before,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        names = before.namelist()
        chosen = chance.choice([*names, *(name for name in names if "sheet" in name for _ in range(8))])
        for name in names:
            content = before.read(name)
            way = chance.random() if name == chosen else 1.0
            if way > 0.04:
                after.writestr(name, by_token(chance, content) if name == chosen else content)
            if way < 0.02:
                after.writestr(f"/{name}", content)
    return stream.getvalue()


def damaged(chance: random.Random, data: bytes, how: str) -> bytes:
    if how in APART or chance.random() < 0.25:
        return by_byte(chance, data)
    if data.startswith(b"PK"):
        return inside(chance, data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.compress(by_token(chance, zlib.decompress(data, wbits=31)))
    return by_token(chance, data)


def trial(domain: Domain, how: str, number: int, seed: int) -> None:
    suffix, write = FORMATS[how]
    data, chance = write(TEXT), random.Random(seed)
    assert wrong(data, domain, f"AT_2024{suffix}") is None
    for each in range(number):
        spoilt = damaged(chance, data, how)
        watched = each % WATCHED == 0
        if watched:
            tracemalloc.start()
        why = wrong(spoilt, domain, f"AT_2024{suffix}")
        if watched:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < MOST_MEMORY, f"input {each} of {how}, seed {seed}: {peak} bytes"
        if why is not None:
            pytest.fail(f"input {each} of {how}, seed {seed}: {why}\n{spoilt[:3000]!r}")
    tried("damaged files of every format", number)


@pytest.mark.parametrize("how", FORMATS)
def test_damage_inside_a_file_of_any_format_is_read_or_refused(domain, how):
    trial(domain, how, 3 if how in APART else FEW, seed=1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", FORMATS)
def test_a_hundred_thousand_damaged_files_are_read_or_refused(domain, how):
    trial(domain, how, APART_MANY if how in APART else MANY, seed=2)


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "entities": (".xml", lambda: b'<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>'),
    "levels": (".json", lambda: b"[" * 200_000),
    "gzip": (".csv.gz", lambda: gzip.compress(b"A" * 50_000_000)),
    "zip": (".zip", lambda: FORMATS["zip"][1]("A" * 50_000_000)),
    "workbook": (".xlsx", lambda: blown_up()),
}


def blown_up() -> bytes:
    """A workbook whose sheet has a cell of some megabytes."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(FORMATS["Excel"][1](TEXT))) as before,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            content = before.read(name)
            after.writestr(name, content.replace(b"<t>AT<", b"<t>" + b"A" * 50_000_000 + b"<", 1))
    return stream.getvalue()


@pytest.mark.parametrize("how", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_refused_in_little_memory(domain, how):
    suffix, write = BOMBS[how]
    data = write()
    tracemalloc.start()
    found = read_bytes(data, f"AT_2024{suffix}", domain, PERIOD)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not found.accepted
    assert peak < MOST_MEMORY
