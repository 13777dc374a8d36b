"""Observations of SDMX-ML that are written alike, read many at a time.

Most of a large message are observations of one program, which differ in their texts only. A stretch of them
is cut at its quotation marks, and what stands between the texts, the markup, is looked up: only markup that
was seen to be one observation with concepts in their places is taken. Of anything else nothing is taken, and
the parser reads the stretch. This module reads no XML: whoever calls it has a parser that says where an
observation begins and that the stretch is well-formed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from sdc_tasks.intake.formats.groups import MEASURE

_NAME, _SPACE = r"[A-Za-z_][\w.-]*", r"(?:[A-Za-z_][\w.-]*:)?"
_VALUE = rf'<{_SPACE}Value id="" value="" ?/>\s*'
_SPECIFIC = re.compile(rf'<{_SPACE}Obs(?: {_NAME}="")+ ?/>\s*', re.ASCII)
_GENERIC = re.compile(
    rf"<{_SPACE}Obs>\s*(?:<{_SPACE}ObsKey>\s*(?:{_VALUE})+</{_SPACE}ObsKey>\s*"
    rf'|<{_SPACE}ObsDimension value="" ?/>\s*)'
    rf'(?:<{_SPACE}ObsValue value="" ?/>\s*)?'
    rf"(?:<{_SPACE}Attributes>\s*(?:{_VALUE})+</{_SPACE}Attributes>\s*)?</{_SPACE}Obs>\s*",
    re.ASCII,
)
OPENING = re.compile(rf"<{_SPACE}Obs[ >]".encode(), re.ASCII)
_READ_BY_THE_PARSER = ("&", "\t", "\r")  # it makes other characters of them
_MOST_LAYOUTS = 256  # of one message, which has a few

Names = tuple[str, ...]


@dataclass(frozen=True)
class Alike:
    """Observations of a stretch with the same concepts: `at`, which of the stretch they are, and their
    `texts`, for each observation those of `names` in this order.
    """

    at: list[int]
    texts: list[Names]


@dataclass(frozen=True)
class Stretch:
    """Observations one behind the other: those with each list of names, by the first that has it.
    `down`: (observations,): how many lines below the first one each begins.
    """

    alike: dict[Names, Alike]
    down: list[int]


@dataclass(frozen=True)
class _Layout:
    """What stands around the texts of an observation behind its opening; which of its parts, markup and texts
    by turns, are the names and the texts.
    """

    markup: list[str]
    names: Callable[[Sequence[str]], Names]
    texts: Callable[[Sequence[str]], Names]

    @cached_property
    def breaks(self) -> int:
        return "".join(self.markup).count("\n")


class Layouts:
    """The markup that observations of one message have. `opening`: the bytes that each begins with.
    `at_observation`: the concept of an ObsDimension.
    """

    def __init__(self, opening: bytes, generic: bool, at_observation: str) -> None:
        self.opening, self._opening = opening, opening.decode()
        self._generic, self._at_observation = generic, at_observation
        self._known: dict[str, _Layout] = {}

    def read(self, data: bytes) -> Stretch | None:
        """The observations of these bytes, of which one begins at the beginning; None where one is for the
        parser.
        """
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return None
        if any(each in text for each in _READ_BY_THE_PARSER):
            return None
        alike: dict[Names, Alike] = {}
        down, line = [], 0
        layout: _Layout | None = None
        names: Names = ()
        mine = Alike([], [])
        for number, one in enumerate(text.split(self._opening)[1:]):
            parts = one.split('"')
            if layout is None or parts[::2] != layout.markup:
                layout = self._layout(parts[::2])
                if layout is None:
                    return None
            before, names = names, layout.names(parts)
            if names != before:
                if len(set(names)) < len(names):
                    return None
                mine = alike.setdefault(names, Alike([], []))
            mine.at.append(number)
            mine.texts.append(layout.texts(parts))
            down.append(line)
            line += layout.breaks
        if text.count("\n") != line:  # one inside a text, which the parser reads as a blank
            return None
        return Stretch(alike, down)

    def _layout(self, markup: list[str]) -> _Layout | None:
        whole = self._opening + '""'.join(markup)
        if whole not in self._known and len(self._known) < _MOST_LAYOUTS:
            if not (_GENERIC if self._generic else _SPECIFIC).fullmatch(whole):
                return None
            self._known[whole] = self._of_generic(markup) if self._generic else _of_specific(markup, whole)
        return self._known.get(whole)

    def _of_generic(self, markup: list[str]) -> _Layout:
        """Those with an id of their own come first, then ObsDimension and ObsValue."""
        ids, texts, behind = [], [], []
        fixed: list[str] = []
        for number, before in enumerate(markup[:-1]):
            at = 2 * number + 1
            if before.endswith(" id="):
                ids.append(at)
            elif ids and ids[-1] == at - 2:
                texts.append(at)
            else:
                fixed.append(self._at_observation if "ObsDimension" in before else MEASURE)
                behind.append(at)
        given, always = _several(ids), tuple(fixed)
        return _Layout(markup, lambda parts: given(parts) + always, _several(texts + behind))


def _several(at: list[int]) -> Callable[[Sequence[str]], Names]:
    """Those parts of an observation, always as a tuple."""
    if len(at) > 1:
        return itemgetter(*at)
    return lambda parts: tuple(parts[each] for each in at)


def _of_specific(markup: list[str], whole: str) -> _Layout:
    names = tuple(re.findall(rf'({_NAME})=""', whole, re.ASCII))
    return _Layout(markup, lambda _: names, _several([2 * each + 1 for each in range(len(names))]))
