"""The parts of a workbook (ECMA-376, transitional and strict): which sheets it has, its shared texts,
the kinds of its number formats.

A part is unpacked and parsed as it goes, within a bound, and no part is taken for longer than its
bound. A document type is refused.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pyexpat import XMLParserType

from sdc_tasks.intake.formats.packed import directory
from sdc_tasks.untrusted import xml_parser

MOST_PARTS = 1024
_DIRECTORY_BYTES = 1 << 20
_SMALL_PART = 8 << 20  # bytes; of the book, its relations and its styles
_PIECE = 1 << 16
_MAIN = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_ID = re.compile(
    r"http://(?:schemas\.openxmlformats\.org/officeDocument/2006|purl\.oclc\.org/ooxml/officeDocument)"
    r"/relationships id"
)
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_PERCENTS = frozenset((9, 10))
_SAID_AS_TEXT = re.compile(r'"[^"]*"|\\.|[_*].|\[(?!h+\]|m+\]|s+\])[^\]]*\]')

Attributes = Mapping[str, str]
Started = Callable[[Attributes], None]


class UnfitWorkbook(Exception):
    """The whole file is refused: the message of the finding, and the line."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class ShownAs(Enum):
    """How a number is shown, where that may change what it says."""

    PLAIN = 0
    DATE = 1
    PERCENT = 2


@dataclass(frozen=True)
class Worksheet:
    """A worksheet: its name in the book, the path of its part, whether it is hidden."""

    name: str
    path: str
    hidden: bool


class Package:
    """An open workbook. `most`: bytes that a sheet, or all texts together, may have unpacked. Raises
    UnfitWorkbook, and what zipfile and expat raise of damaged bytes.
    """

    def __init__(self, data: bytes, most: int) -> None:
        told = directory(data)
        if told is None or not 0 < told[0] <= MOST_PARTS or told[1] > _DIRECTORY_BYTES:
            raise UnfitWorkbook(
                "not a whole workbook of Excel (.xlsx), or one with a password: save it again as .xlsx, "
                "without a password"
            )
        self._archive, self._most = zipfile.ZipFile(io.BytesIO(data)), most
        names = self._archive.namelist()
        self._names = {name.lstrip("/"): name for name in names}
        if len(self._names) < len(names):
            raise UnfitWorkbook("two parts of the workbook have one name: save it again")
        book = next((path for kind, path, _ in self._relations("") if kind == "officeDocument"), "")
        if book not in self._names:
            raise UnfitWorkbook(
                "a zip file, but no workbook of Excel (.xlsx): give the file the name of what it is"
            )
        self._related = {name: (kind, path) for kind, path, name in self._relations(book)}
        self.sheets: list[Worksheet] = []
        self.parse(book, {"sheet": self._sheet}, most=_SMALL_PART)

    def _sheet(self, attributes: Attributes) -> None:
        relation = next((text for name, text in attributes.items() if _ID.fullmatch(name)), "")
        kind, path = self._related.get(relation, ("", ""))
        if kind == "worksheet":
            self.sheets.append(
                Worksheet(attributes.get("name", ""), path, attributes.get("state", "visible") != "visible")
            )

    def _relations(self, of: str) -> list[tuple[str, str, str]]:
        """(kind, path, name) of what a part refers to inside the package."""
        folder, file = posixpath.split(of)
        path, found = posixpath.join(folder, "_rels", f"{file}.rels"), []

        def relation(attributes: Attributes) -> None:
            target = attributes.get("Target", "")
            where = (
                target.lstrip("/")
                if target.startswith("/")
                else posixpath.normpath(posixpath.join(folder, target))
            )
            if attributes.get("TargetMode") != "External":
                found.append((attributes.get("Type", "").rpartition("/")[2], where, attributes.get("Id", "")))

        if path in self._names:
            self.parse(path, {"Relationship": relation}, spaces=(_PACKAGE,), most=_SMALL_PART)
        return found

    def shared_texts(self) -> list[str]:
        """The shared texts of the book by number, without the reading aids of Japanese."""
        texts: list[str] = []
        said: list[str] = []
        aside = heard = False

        def start(name: str) -> Started:
            def started(_: Attributes) -> None:
                nonlocal aside, heard
                if name == "si":
                    said.clear()
                aside = aside or name == "rPh"
                heard = name == "t" and not aside

            return started

        def ended_text() -> None:
            nonlocal heard
            heard = False

        def ended_aside() -> None:
            nonlocal aside
            aside = False

        path = self._of_kind("sharedStrings")
        if path:
            ends = {"t": ended_text, "rPh": ended_aside, "si": lambda: texts.append("".join(said).strip())}
            starts = {name: start(name) for name in ("si", "t", "rPh")}
            self.parse(path, starts, ends, lambda text: said.append(text) if heard else None)
        return texts

    def number_formats(self) -> list[ShownAs]:
        """How the numbers of each style of a cell are shown."""
        own: dict[int, ShownAs] = {}
        found: list[ShownAs] = []
        inside = False

        def own_format(attributes: Attributes) -> None:
            own[natural(attributes.get("numFmtId"))] = _kind(attributes.get("formatCode", ""))

        def cell_formats(_: Attributes) -> None:
            nonlocal inside
            inside = True

        def no_cell_formats() -> None:
            nonlocal inside
            inside = False

        def cell_format(attributes: Attributes) -> None:
            if inside:
                number = natural(attributes.get("numFmtId", "0"))
                built_in = (
                    ShownAs.DATE
                    if number in _DATES
                    else ShownAs.PERCENT
                    if number in _PERCENTS
                    else ShownAs.PLAIN
                )
                found.append(own.get(number, built_in))

        if path := self._of_kind("styles"):
            starts = {"numFmt": own_format, "cellXfs": cell_formats, "xf": cell_format}
            self.parse(path, starts, {"cellXfs": no_cell_formats}, most=_SMALL_PART)
        return found

    def _of_kind(self, kind: str) -> str:
        return next((path for each, path in self._related.values() if each == kind), "")

    def parse(
        self,
        path: str,
        starts: Mapping[str, Started],
        ends: Mapping[str, Callable[[], None]] | None = None,
        text: Callable[[str], None] | None = None,
        spaces: tuple[str, ...] = _MAIN,
        most: int | None = None,
    ) -> None:
        """Parses a part: calls a function at the start or the end of each element of these names."""
        if path not in self._names:
            raise UnfitWorkbook("a part of the workbook is missing: save it again")
        parser = xml_parser(lambda why: UnfitWorkbook(f"{why}: save the workbook again"))
        at_start = {f"{space} {name}": call for space in spaces for name, call in starts.items()}
        at_end = {f"{space} {name}": call for space in spaces for name, call in (ends or {}).items()}

        def start(name: str, attributes: Attributes) -> None:
            if (call := at_start.get(name)) is not None:
                call(attributes)

        def end(name: str) -> None:
            if (call := at_end.get(name)) is not None:
                call()

        parser.StartElementHandler, parser.EndElementHandler = start, end
        if text is not None:
            parser.CharacterDataHandler = text
        _fed(parser, self._pieces(path, self._most if most is None else most))

    def _pieces(self, path: str, most: int) -> Iterator[bytes]:
        taken = 0
        entry = self._archive.getinfo(self._names[path])
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnfitWorkbook(
                "the workbook is packed in a way that is not read here: save it again as .xlsx, without a "
                "password"
            )
        with self._archive.open(entry) as stream:
            while piece := stream.read(_PIECE):
                taken += len(piece)
                if taken > most:
                    raise UnfitWorkbook(
                        f"a part of the workbook unpacks to more than {most} bytes: send the table and "
                        f"nothing else"
                    )
                yield piece


def _fed(parser: XMLParserType, pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        parser.Parse(piece, False)
    parser.Parse(b"", True)


def natural(text: str | None) -> int:
    """A whole number that the book itself needs. Raises UnfitWorkbook."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        raise UnfitWorkbook("a number of the workbook's own is none: save it again")
    return int(text)


def _kind(code: str) -> ShownAs:
    """How a format of this code shows a number, without the texts that it only adds."""
    plain = _SAID_AS_TEXT.sub("", code).lower().replace("general", "")
    if "%" in plain:
        return ShownAs.PERCENT
    return ShownAs.DATE if re.search("[dmyhs]", plain) else ShownAs.PLAIN
