"""A code list of a structure message of SDMX-ML 2.1, 3.0 or 3.1, as a registry or an NSI sends it: codes, parents, English names."""

from __future__ import annotations

import re
from pyexpat import ExpatError, ParserCreate

from sdc_tasks.errors import InvalidInput

_SPACE = re.compile(r"http://www\.sdmx\.org/resources/sdmxml/schemas/v(?:2_1|3_0|3_1)/(message|structure|common) (\w+)")
_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
ENGLISH = "en"


class StructureLists:
    """The code lists of a message: identifier → rows (code, parent, label). Raises InvalidInput naming the file, line and remedy."""

    def __init__(self, text: str, path: object) -> None:
        self.lists: dict[str, list[tuple[str, str, str]]] = {}
        self._path, self._where = path, list[str]()
        self._list: list[tuple[str, str, str]] | None = None
        self._code, self._parent = "", ""
        self._names: dict[str, str] = {}
        self._language, self._said = "", ""
        self._parser = ParserCreate("utf-8", namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        self._parser.CharacterDataHandler, self._parser.StartDoctypeDeclHandler = self._text, self._no_doctype
        try:
            self._parser.Parse(text.encode(), True)
        except ExpatError as error:
            raise InvalidInput(f"{path}, line {error.lineno}: not well-formed XML. Remedy: get the structure again") from error
        if not self.lists:
            raise InvalidInput(f"{path}: no code list. Remedy: name a structure message of SDMX-ML with a Codelist, or a CSV file")

    def _refused(self, why: str) -> InvalidInput:
        return InvalidInput(f"{self._path}, line {self._parser.CurrentLineNumber}: {why}")

    def _no_doctype(self, *_: object) -> None:
        raise self._refused("a document type (DOCTYPE), which no structure message has. Remedy: get the structure again")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        match = _SPACE.fullmatch(name)
        local = match[2] if match else name
        if not self._where and (match is None or match[1] != "message" or local != "Structure"):
            raise self._refused("no structure message of SDMX-ML 2.1, 3.0 or 3.1. Remedy: get the structure as one, or write a CSV file")
        inside = self._where[-1] if self._where else ""
        self._where.append(local)
        self._said = ""
        if match and local == "Codelist":
            identifier = attributes.get("id", "")
            if identifier in self.lists:
                raise self._refused(f"code list {identifier} stands twice. Remedy: keep one version in the file")
            self._list = self.lists.setdefault(identifier, [])
        elif local == "Code" and inside == "Codelist":
            self._code, self._parent, self._names = attributes.get("id", ""), "", {}
        elif local == "Ref" and inside == "Parent":
            self._parent = attributes.get("id", "")
        elif local == "Name":
            self._language = attributes.get(_LANGUAGE, ENGLISH)

    def _text(self, text: str) -> None:
        self._said += text

    def _end(self, name: str) -> None:
        local = self._where.pop()
        inside = self._where[-1] if self._where else ""
        if local == "Name" and inside == "Code":
            self._names[self._language] = self._said.strip()
        elif local == "Parent" and inside == "Code":
            self._parent = self._parent or self._said.strip()
        elif local == "Code" and inside == "Codelist" and self._list is not None:
            label = self._names.get(ENGLISH) or next(iter(self._names.values()), "")
            self._list.append((self._code, self._parent, label or self._code))
        elif local == "Codelist":
            self._list = None
        self._said = ""

    def named(self, identifier: str | None) -> list[tuple[str, str, str]]:
        """The list of this identifier; without one, the only list of the file."""
        known = ", ".join(self.lists)
        if identifier is None and len(self.lists) > 1:
            raise InvalidInput(f"{self._path}: several code lists. Remedy: say which as codelist_id: one of {known}")
        if identifier is not None and identifier not in self.lists:
            raise InvalidInput(f"{self._path}: no code list {identifier}. Remedy: name one of {known}")
        return self.lists[identifier] if identifier is not None else next(iter(self.lists.values()))
