"""Observations of SDMX-ML that are written alike, read many at a time.

Most of a large message are observations of one program, or series with one observation each, which differ in
their texts only. The first one of a
stretch says where its concepts and their texts stand; all others of which every byte but these texts is the
same are read with it, a concept at a time. Where one is not an observation with concepts in their places,
nothing of the stretch is taken, and the parser reads it. This module reads no XML: whoever calls it has a
parser that says where an observation begins and that the stretch is well-formed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sdc_tasks.intake.formats.fields import FieldBytes
from sdc_tasks.intake.formats.groups import MEASURE
from sdc_tasks.model.table import Bools, Ints

_NAME, _SPACE, _BLANKS = rb"[A-Za-z_][\w.-]*", rb"(?:[A-Za-z_][\w.-]*:)?", rb"(?:[ \t\n]|\r\n)*"
_OBS = re.compile(rb"<%bObs[ >]" % _SPACE, re.ASCII)
OPENING = re.compile(rb"<%b(?:Obs|Series)[ >]" % _SPACE, re.ASCII)


def _element(name: bytes, inside: bytes, attributes: bytes = b"") -> bytes:
    names = {b"space": _SPACE, b"name": name, b"inside": inside, b"more": attributes, b"blanks": _BLANKS}
    return rb"<%(space)b%(name)b%(more)b>%(blanks)b%(inside)b</%(space)b%(name)b>%(blanks)b" % names


def _empty(name: bytes, attributes: bytes) -> bytes:
    return rb"<%b%b%b ?/>%b" % (_SPACE, name, attributes, _BLANKS)


_TEXTS = rb'(?: (?!xmlns=)%b="")+' % _NAME  # xmlns is no concept
_VALUES = rb"(?:%b)+" % _empty(b"Value", b' id="" value=""')
_ATTRIBUTES = rb"(?:%b)?" % _element(b"Attributes", _VALUES)
_PLACE = rb"(?:%b|%b)" % (_element(b"ObsKey", _VALUES), _empty(b"ObsDimension", b' value=""'))
_SPECIFIC = _empty(b"Obs", _TEXTS)
_GENERIC = _element(b"Obs", _PLACE + rb"(?:%b)?" % _empty(b"ObsValue", b' value=""') + _ATTRIBUTES)
_KEY = _element(b"SeriesKey", _VALUES)
_WHOLE = {  # (generic, series with one observation each) → what is read here
    (False, False): re.compile(_SPECIFIC, re.ASCII),
    (False, True): re.compile(_element(b"Series", _SPECIFIC, _TEXTS + b" ?"), re.ASCII),
    (True, False): re.compile(_GENERIC, re.ASCII),
    (True, True): re.compile(_element(b"Series", _KEY + _ATTRIBUTES + _GENERIC), re.ASCII),
}
_CONCEPT = re.compile(_NAME, re.ASCII)
_NAMED = re.compile(rb'(%b)=""' % _NAME, re.ASCII)
_MADE_BLANK = (b"\n", b"\t", b"\r")  # by the parser, in a text
_QUOTE = ord('"')
_MOST_LAYOUTS = 64  # of one stretch, which has a few

Names = tuple[str, ...]


@dataclass(frozen=True)
class Alike:
    """Observations of a stretch with the same concepts: `at`, which of the stretch they are, and for each of
    the `names` its distinct texts and the text of each observation.
    """

    at: Ints
    names: Names
    columns: list[tuple[list[str], Ints]]


@dataclass(frozen=True)
class Stretch:
    """Observations one behind the other, by what they have in common, the first of a kind in order.
    `down`: (observations,): how many lines below the beginning of the stretch each begins.
    """

    alike: list[Alike]
    down: Ints


@dataclass(frozen=True)
class _Layout:
    """An observation without its texts: the concepts of these, which of its parts between quotation marks
    they are, and the bytes before, between and behind them. `down`: how many lines below the beginning of its
    series it begins.
    """

    names: Names
    texts: tuple[int, ...]
    around: tuple[bytes, ...]
    down: int

    def count(self, sign: bytes) -> int:
        return sum(each.count(sign) for each in self.around)


class Layouts:
    """How observations of one message are written. `opening`: the bytes that each begins with, or the series
    of each. `at_observation`: the concept of an ObsDimension.
    """

    def __init__(self, opening: bytes, generic: bool, at_observation: str) -> None:
        self.opening = opening
        self._each = re.compile(re.escape(opening))
        self._generic, self._at_observation = generic, at_observation
        self._whole = _WHOLE[generic, b"Series" in opening]

    def read(self, data: bytes) -> Stretch | None:
        """The observations of these bytes, of which one, or its series, begins at the beginning; None where
        one is for the parser.
        """
        if b"&" in data:
            return None
        pieces = _Pieces(data, self._each)
        found: list[tuple[_Layout, Ints]] = []
        left = np.arange(len(pieces.begin))
        while left.size:
            layout = self._layout(data[pieces.begin[left[0]] : pieces.end[left[0]]])
            if layout is None or len(found) == _MOST_LAYOUTS:
                return None
            like = pieces.like(layout, left)
            found.append((layout, left[like]))
            left = left[~like]
        if any(data.count(sign) > _in_markup(sign, found) for sign in _MADE_BLANK):
            return None
        breaks = np.zeros(len(pieces.begin), dtype=np.int64)
        down = np.zeros_like(breaks)
        for layout, at in found:
            breaks[at], down[at] = layout.count(b"\n"), layout.down
        try:
            alike = [Alike(at, layout.names, pieces.columns(layout, at)) for layout, at in found]
        except UnicodeDecodeError:
            return None
        return Stretch(alike, np.cumsum(breaks) - breaks + down)

    def _layout(self, one: bytes) -> _Layout | None:
        """That of this observation; None where it is for the parser."""
        parts = one.split(b'"')
        markup = b'""'.join(parts[::2])
        begins = _OBS.search(one)
        if begins is None or not self._whole.fullmatch(markup):
            return None
        if self._generic:
            names, texts = self._of_generic(parts)
        else:
            names, texts = _NAMED.findall(markup), list(range(1, len(parts), 2))
        if len(set(names)) < len(names) or not all(map(_CONCEPT.fullmatch, names)):
            return None
        before = one[: begins.start()]
        of_series = sum(text < before.count(b'"') for text in texts)
        if any(name.upper() == MEASURE.encode() for name in names[:of_series]):
            return None
        told = tuple(name.decode() for name in names)
        return _Layout(told, tuple(texts), _around(parts, texts), before.count(b"\n"))

    def _of_generic(self, parts: list[bytes]) -> tuple[list[bytes], list[int]]:
        """The concepts of a generic observation, and which of its parts are their texts."""
        names, texts = [], []
        for at in range(1, len(parts), 2):
            if parts[at - 1].endswith(b" id="):
                names.append(parts[at])
                continue
            texts.append(at)
            if len(names) < len(texts):  # of an element without an id
                dimension = b"ObsDimension" in parts[at - 1]
                names.append((self._at_observation if dimension else MEASURE).encode())
        return names, texts


def _in_markup(sign: bytes, found: list[tuple[_Layout, Ints]]) -> int:
    """How often a sign stands in observations of these layouts, outside their texts."""
    return sum(layout.count(sign) * len(at) for layout, at in found)


def _around(parts: list[bytes], texts: list[int]) -> tuple[bytes, ...]:
    """The bytes before, between and behind the texts, with the quotation marks of these."""
    edges = [-1, *texts, len(parts)]
    found = [b'"'.join(parts[last + 1 : text]) for last, text in pairwise(edges)]
    found[:-1] = [each + b'"' for each in found[:-1]]
    found[1:] = [b'"' + each for each in found[1:]]
    return tuple(found)


class _Pieces:
    """The bytes of a stretch, cut where observations begin and at quotation marks."""

    def __init__(self, data: bytes, each: re.Pattern[bytes]) -> None:
        self._data, self._fields = data, FieldBytes(data)
        self.begin = np.array([one.start() for one in each.finditer(data)], dtype=np.int64)
        self.end = np.append(self.begin[1:], len(data))
        self._quotes = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _QUOTE)
        self._first = np.searchsorted(self._quotes, self.begin)
        self._number = np.diff(self._first, append=len(self._quotes))

    def like(self, layout: _Layout, at: Ints) -> Bools:
        """(at,): which of these observations differ from the layout in nothing but texts."""
        found: Bools = self._number[at] == sum(each.count(b'"') for each in layout.around)
        rows = np.flatnonzero(found)
        for number, around in enumerate(layout.around):
            first = self._first[at[rows]]
            start, end = self.begin[at[rows]], self.end[at[rows]]
            if number > 0:
                start = self._quotes[first + layout.texts[number - 1]]
            if number < len(layout.texts):
                end = self._quotes[first + layout.texts[number] - 1] + 1
            same = self._fields.same(start, end, around)
            found[rows[~same]] = False
            rows = rows[same]
        return found

    def columns(self, layout: _Layout, at: Ints) -> list[tuple[list[str], Ints]]:
        """For each text of a layout, those of these observations."""
        first = self._first[at]
        return [
            self._column(self._quotes[first + text - 1] + 1, self._quotes[first + text])
            for text in layout.texts
        ]

    def _column(self, start: Ints, end: Ints) -> tuple[list[str], Ints]:
        column = self._fields.column(start, end)
        if column is not None:
            return column
        numbers: dict[str, int] = {}
        spans = zip(start.tolist(), end.tolist(), strict=True)
        which = [numbers.setdefault(self._data[begin:stop].decode(), len(numbers)) for begin, stop in spans]
        return list(numbers), np.array(which)
