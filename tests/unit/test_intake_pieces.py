"""Files that are read by pieces: however a message is cut, its records and findings are the same, and what
changes while it is read is refused.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.domains import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake import file_content, most_bytes, named_content, read, read_bytes, read_sheet
from sdc_tasks.intake.content import PIECE, Content, UnreadableContentError
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats import gathered, sdmx_ml
from sdc_tasks.intake.formats.groups import UNSAID
from sdc_tasks.intake.formats.records import Concepts
from sdc_tasks.intake.formats.texts import AT_A_TIME, PackedTexts
from sdc_tasks.intake.sheet import Sheet
from sdc_tasks.model.secret import Secret, name_of_delivery
from support.deliveries import PERIOD, sdmx_1, small_domain
from support.laws import law
from support.sdmx_ml import message

SMALL = 100  # bytes that the reader takes at a time, so that observations of a small file are read together
NAME = "AT_2024.xml"


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("pieces"))


def cut(data: bytes, *at: int) -> Content:
    """The content in pieces that end at these bytes."""
    edges = [0, *at, len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(edges)]
    return Content(len(data), lambda: iter(pieces))


def every(data: bytes, number: int) -> Content:
    """The content in pieces of so many bytes."""
    return cut(data, *range(number, len(data), number))


CONCEPTS = Concepts(required=("A", "OBS_VALUE"), optional=("B",), dimensions=("A",), numbers=("OBS_VALUE",))
NS = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"


def tiny(generic: bool = False, several: bool = False) -> str:
    """A message of twelve records, every byte of which is tried. `several`: in two series, as one alone would
    be an observation each.
    """
    kind, v = ("Generic" if generic else "StructureSpecific"), "g:" if generic else ""
    found = []
    for at in range(12):
        if generic:
            found.append(
                f'<g:Obs><g:ObsKey><g:Value id="A" value="{at}"/></g:ObsKey>'
                f'<g:ObsValue value="{at}"/></g:Obs>'
            )
        else:
            found.append(f'<Obs A="a{at}" OBS_VALUE="{at}"/>')
    if several:
        series = f"<{v}Series>"
        found[:6] = [series, *found[:6], f"</{v}Series>", series]
        found.append(f"</{v}Series>")
    body = "\n".join(found)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<m:{kind}Data xmlns:m="{NS}/message" xmlns:g="{NS}/data/generic"><m:Header><m:ID>X</m:ID>
<m:Structure structureID="S" dimensionAtObservation="AllDimensions"><Ref agencyID="A" id="B"/></m:Structure>
</m:Header><m:DataSet structureRef="S">
{body}
</m:DataSet></m:{kind}Data>"""


def told(sheet: Sheet) -> object:
    entries = sheet.entries
    columns = None if entries is None else [column.tolist() for column in vars(entries).values()]
    return sheet.country, sheet.findings, str(columns)


MESSAGES: dict[str, Callable[[], bytes]] = {
    "structure-specific": lambda: tiny().encode(),
    "structure-specific, by series": lambda: tiny(several=True).encode(),
    "generic": lambda: tiny(generic=True).encode(),
    "generic, by series": lambda: tiny(generic=True, several=True).encode(),
    "with a mark": lambda: tiny().encode("utf-8-sig"),
    "with letters of several bytes": lambda: tiny().replace('"a1', '"\u00c9\u20ac\U0001d11e').encode(),
    "Latin 1": lambda: tiny().replace("UTF-8", "ISO-8859-1").replace('"a1', '"\u00c9').encode("latin-1"),
    "Windows-1252": lambda: tiny().replace("UTF-8", "cp1252").replace('"a1', '"\u20ac').encode("cp1252"),
    "UTF-16": lambda: tiny().replace("UTF-8", "UTF-16").encode("utf-16"),
    "UTF-16 without a mark": lambda: tiny().replace("UTF-8", "UTF-16").encode("utf-16-be"),
    "an encoding that is not read": lambda: tiny().replace("UTF-8", "UTF-32").encode("utf-32"),
    "no UTF-8": lambda: tiny().replace('"a10"', '"\u00c9"').encode("latin-1"),
    "a cut message": lambda: tiny().encode()[:-200],
    "a text between": lambda: tiny().replace('<Obs A="a10"', 'C<Obs A="a10"').encode(),
    "another concept": lambda: tiny().replace('A="a10"', 'A="a10" B="\n" C="1"').encode(),
    "a concept twice": lambda: tiny().replace('A="a10"', 'A="a10" a="a11"').encode(),
    "a comment": lambda: tiny().replace('<Obs A="a10"', '<!-- <Obs A="a10" --><Obs A="a10"').encode(),
    "a document type": lambda: tiny().replace("<m:Str", "<!DOCTYPE a>\n<m:Str", 1).encode(),
    "bytes behind the end": lambda: tiny().encode() + b"<a/>",
    "nothing": lambda: b"",
}  # fmt: skip


def parsed(content: Content) -> object:
    """The records and the findings of the reader."""
    found = Findings()
    records = sdmx_ml.parse(content, CONCEPTS, found, 1000)
    if records is None:
        return found.all()
    columns = {
        name: [records.text(name, row) for row in range(len(records))] for name in sorted(records.columns)
    }
    return found.all(), records.line.tolist(), columns


@pytest.mark.parametrize("what", MESSAGES)
def test_a_cut_message_is_the_same(monkeypatch, what):
    cuts_make_no_difference(what, 13, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", MESSAGES)
def test_a_message_cut_at_any_byte_is_the_same(monkeypatch, what):
    cuts_make_no_difference(what, 1, monkeypatch)


def cuts_make_no_difference(what: str, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message is cut at every byte, or at each of so many bytes."""
    monkeypatch.setattr(sdmx_ml, "TAKEN", SMALL)
    data = MESSAGES[what]()
    expected = parsed(Content.of(data))
    for at in range(0, len(data) + 1, step):
        assert parsed(cut(data, at)) == expected, f"cut at {at}"
    for number in (1, 7, 64):
        assert parsed(every(data, number)) == expected, f"pieces of {number}"


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_these_messages_are_read_together(monkeypatch, generic, several):
    """In part, so that the cuts above are also between observations that are."""
    monkeypatch.setattr(sdmx_ml, "TAKEN", SMALL)
    seen = []
    stretch = gathered.Gathered.stretch
    monkeypatch.setattr(gathered.Gathered, "stretch", lambda *given: seen.append(given) or stretch(*given))
    parsed(every(tiny(generic, several).encode(), 7))
    assert seen


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_a_delivery_in_pieces_is_the_same(domain, monkeypatch, generic, flat):
    data = message(sdmx_1(), generic=generic, flat=flat).encode()
    expected = told(read_sheet(data, NAME, domain, PERIOD))
    for taken in (600, 1 << 18):
        monkeypatch.setattr(sdmx_ml, "TAKEN", taken)
        for number in (1, 7, 64):
            assert told(read_sheet(every(data, number), NAME, domain, PERIOD)) == expected


def zipped(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(NAME, data)
    return stream.getvalue()


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": (f"{NAME}.gz", gzip.compress),
    "gzip in parts": (f"{NAME}.gz", lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])),
    "gzip with zeros behind it": (f"{NAME}.gz", lambda data: gzip.compress(data) + bytes(99)),
    "zip": (f"{NAME}.zip", zipped),
    "cut gzip": (f"{NAME}.gz", lambda data: gzip.compress(data)[:-12]),
    "gzip with a wrong sum": (f"{NAME}.gz", lambda data: gzip.compress(data)[:-8] + bytes(8)),
}


@pytest.mark.parametrize("what", PACKED)
def test_a_packed_file_cut_anywhere_is_the_same(domain, what):
    name, pack = PACKED[what]
    data = pack(message("".join(sdmx_1().splitlines(keepends=True)[:3])).encode())
    expected = told(read_sheet(data, name, domain, PERIOD))
    assert ("wrong" in what or "cut" in what) is (expected[0] is None)  # type: ignore[index]
    for at in range(len(data) + 1):
        assert told(read_sheet(cut(data, at), name, domain, PERIOD)) == expected, f"cut at {at}"
    for number in (1, 7, 64):
        assert told(read_sheet(every(data, number), name, domain, PERIOD)) == expected


def test_the_file_itself_is_the_delivery_of_its_bytes(domain, tmp_path):
    salt = Secret.fresh()
    for name, data in (
        (NAME, message(sdmx_1()).encode()),
        (f"{NAME}.gz", gzip.compress(message(sdmx_1()).encode())),
        ("AT_2024.csv", sdmx_1().encode()),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        found = read(path, domain, PERIOD, salt)
        assert found.accepted
        assert found.sheets[0].digest == name_of_delivery(data, salt)
        expected = read_bytes(data, name, domain, PERIOD)
        assert told(found.sheets[0]) == told(expected.sheets[0])


def changed_meanwhile(path: Path, data: bytes, domain: Domain, change: Callable[[], object]) -> Sheet:
    """What is read of a file that changes between its digest and its records."""
    path.write_bytes(data)
    content, _ = named_content(path, most_bytes(domain, path.name), Secret.fresh())
    change()
    return read_sheet(content, path.name, domain, PERIOD)


@pytest.mark.parametrize("name", [NAME, f"{NAME}.gz", f"{NAME}.zip", "AT_2024.csv", "AT_2024.csv.gz"])
@pytest.mark.parametrize("how", ["other bytes", "more", "fewer", "gone", "a link"])
def test_a_file_that_changes_while_it_is_read_is_refused(domain, tmp_path, name, how):
    path = tmp_path / name
    plain = (message(sdmx_1()) if NAME in name else sdmx_1()).encode()
    pack = gzip.compress if name.endswith(".gz") else zipped if name.endswith(".zip") else bytes
    data, other = pack(plain), pack(plain.replace(b"749391", b"749392"))
    assert data != other
    (tmp_path / "other").write_bytes(data)

    def change() -> None:
        path.unlink()
        if how == "a link":
            path.symlink_to(tmp_path / "other")
        elif how != "gone":
            path.write_bytes({"other bytes": other, "more": data + b"\n", "fewer": data[:-1]}[how])

    sheet = changed_meanwhile(path, data, domain, change)
    assert sheet.entries is None
    assert ["changed while it was read" in each.message for each in sheet.findings] == [True]


def test_a_file_that_changes_is_refused_where_it_first_fits_in_length(domain, tmp_path):
    """The second reading is compared with the first: a value is another one, and nothing else tells."""
    path = tmp_path / NAME
    data = message(sdmx_1()).encode()
    sheet = changed_meanwhile(
        path, data, domain, lambda: path.write_bytes(data.replace(b"749391", b"749392"))
    )
    assert sheet.refused
    assert sheet.entries is None


def test_a_file_that_changes_in_its_first_reading_is_refused(tmp_path):
    """Nothing has named it before: its first half would be of one file, its second of another."""
    path = tmp_path / NAME
    path.write_bytes(b"1" * (4 * PIECE))
    pieces = file_content(path, 4 * PIECE).pieces()
    assert next(pieces) == b"1" * PIECE
    path.write_bytes(b"2" * (4 * PIECE))
    with pytest.raises(UnreadableContentError, match="changed while it was read"):
        list(pieces)


def test_a_file_that_cannot_be_named_is_told(domain, tmp_path, monkeypatch):
    path = tmp_path / NAME
    path.write_bytes(b"<a/>")

    def gone(*_: object) -> None:
        raise UnreadableContentError("it changed")

    monkeypatch.setattr("sdc_tasks.intake.inbox.unchanged", gone)
    with pytest.raises(InvalidInput, match=r"AT_2024\.xml: it changed"):
        named_content(path, 100, Secret.fresh())


def test_no_more_is_read_than_a_refusal_needs(tmp_path):
    path = tmp_path / NAME
    path.write_bytes(b"x" * 1000)
    assert file_content(path, 10).size == 11
    assert file_content(path, 10).whole() == b"x" * 11
    assert file_content(path, 1000).whole() == b"x" * 1000


@pytest.mark.parametrize("make", ["link", "folder", "nothing"])
def test_only_a_regular_file_has_content(tmp_path, make):
    path = tmp_path / NAME
    (tmp_path / "secret").write_text("secret")
    if make == "link":
        path.symlink_to(tmp_path / "secret")
    elif make == "folder":
        path.mkdir()
    with pytest.raises(InvalidInput, match=r"AT_2024\.xml"):
        file_content(path, 100)


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("levels", [False, True])
def test_texts_beyond_many_are_packed_and_read_alike(domain, monkeypatch, generic, levels):
    """Of a key, a value, an attribute; said by a group too, or not said at all."""
    monkeypatch.setattr(sdmx_ml, "TAKEN", 800 if generic else 300)
    data = message(sdmx_1(), generic=generic, flat=True, levels=levels).replace(' UNITS="', ' UNITS=" ')
    expected = told(read_sheet(data.encode(), NAME, domain, PERIOD))
    packed = []
    extend = PackedTexts.extend
    monkeypatch.setattr(
        PackedTexts, "extend", lambda self, more: packed.append(1) or extend(self, more)  # type: ignore[func-returns-value]
    )  # fmt: skip
    for many in (0, 1, 2, 3):
        monkeypatch.setattr(gathered, "MANY_TEXTS", many)
        assert told(read_sheet(data.encode(), NAME, domain, PERIOD)) == expected
    assert packed


def test_numbers_alone_are_packed(monkeypatch):
    """Findings on other texts are one for each distinct text, in the order in which they stand."""
    monkeypatch.setattr(gathered, "MANY_TEXTS", 0)
    found = gathered.Gathered(CONCEPTS, 10)
    assert found._numbers("B", ["x", "y", "x"]).tolist() == [0, 1, 0]
    assert (found._numbers("OBS_VALUE", ["1", "2"]) < UNSAID).all()


@law(100)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4)), st.integers(0, 40))
def test_packed_texts_are_the_texts(some, first):
    found = PackedTexts(some[:first])
    found.extend(some[first:])
    assert list(found) == some
    assert len(found) == len(some)
    assert found[1:] == some[1:]
    assert [found[at] for at in range(-len(some), len(some))] == [*some, *some]
    with pytest.raises(IndexError):
        found[len(some)]


def test_packed_texts_beyond_a_part_are_the_texts():
    some = [f"{number}" if number < AT_A_TIME + 5 else f"é{number}" for number in range(3 * AT_A_TIME + 1)]
    assert list(PackedTexts(some)) == some
    assert np.array_equal(np.array(PackedTexts(some)[-3:]), np.array(some[-3:]))
