"""The records of an SDMX message as they are gathered: what is said at the data set, a group, a series or an observation.

The readers of SDMX-ML and SDMX-JSON find what a message says, and where; what makes records of it is here, once. Each distinct text is
kept once, and a record is a number for each concept, of one byte where a concept has few texts: most have.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from sdc_tasks.intake.findings import Findings, shown
from sdc_tasks.intake.formats.groups import UNSAID, Group, spread
from sdc_tasks.intake.formats.records import Concepts, Numbers, Records, WireFormat

_WIDER = {127: "h", 2**15 - 1: "i"}  # where a concept has so many texts, its numbers get this type of `array`
ACTIONS = {"Append": "A", "Replace": "R", "Information": "I", "Delete": "D", "Merge": "M"}


class UnfitMessage(Exception):
    """The whole file is refused: the message of the finding."""


class Gathered:
    """What was read so far. `line` is where a record stands; None in a format without lines, whose records are counted as rows below a
    header.
    """

    def __init__(self, concepts: Concepts, most: int) -> None:
        self._concepts, self._most = concepts, most
        self.texts: dict[str, dict[str, int]] = {name: {} for name in (*concepts.required, *concepts.optional, "DATAFLOW", "ACTION")}
        self._which: dict[str, array[int]] = {name: array("b") for name in self.texts}
        self._columns = [(name, texts, self._which[name].append) for name, texts in self.texts.items()]
        self._lines = array("i")
        self._records = 0
        self._names: dict[str, int | None] = {}  # → the line on which it stands first
        self._twice: dict[str, int | None] = {}
        self._groups: list[Group] = []

    def seen(self, names: Iterable[str], line: int | None = None) -> None:
        """Notes that the message has these concepts."""
        for name in names:
            self._names.setdefault(name, line)

    def differs(self, name: str, line: int | None = None) -> None:
        """Notes that a concept is said twice of one observation, differently."""
        self._twice.setdefault(name, line)

    def both(self, before: Mapping[str, str], more: Mapping[str, str], line: int | None = None) -> dict[str, str]:
        """What is said at two levels. Where they differ in a concept, it is noted."""
        for name in before:
            if name in more and before[name] != more[name]:
                self.differs(name, line)
        return {**before, **more}

    def group(self, said: Mapping[str, str], line: int | None = None) -> None:
        """A group, or attributes of a part of a key: what it says holds for every record with its dimensions."""
        self.seen(said, line)
        dimensions = self._concepts.dimensions
        key = {name: text for name, text in said.items() if name in dimensions}
        self._groups.append((key, {name: text for name, text in said.items() if name not in dimensions and name in self.texts}))

    def record(self, said: Mapping[str, str], line: int | None = None) -> None:
        """One observation with all that is said of it. Raises UnfitMessage where there are too many."""
        if self._records == self._most:
            raise UnfitMessage(f"the file has more than {self._most} observations: send the table and nothing else")
        self._records += 1
        if line is not None:
            self._lines.append(line)
        if not said.keys() <= self._names.keys():
            self.seen(said, line)
        for name, texts, append in self._columns:
            text = said.get(name)
            if text is None:
                append(UNSAID)
            elif text in texts:
                append(texts[text])
            else:
                self._first(name, text)

    def _first(self, name: str, text: str) -> None:
        """A text that no record before had."""
        texts = self.texts[name]
        texts[text] = len(texts)
        if wider := _WIDER.get(len(texts)):
            self._which[name] = array(wider, self._which[name])
            self._columns = [(each, of, self._which[each].append) for each, of in self.texts.items()]
        self._which[name].append(texts[text])

    def records(self, wire: WireFormat, found: Findings, plain: Callable[[str, str], str] | None = None) -> Records | None:
        """All that was read, with findings on what is missing, said twice or not known. `plain(name, text)` makes the text of a record."""
        known = self.texts.keys()
        for name in self._concepts.required:
            if name not in self._names:
                found.missing(f"concept {name}", "add it, at the observation, its series, a group or the data set")
        for name, line in self._names.items():
            if name not in known:
                told = shown(name, known)
                found.unread(f"concept{f' {told}' if told else ''}", line)
        if not self._records:
            found.add("140", "the message has no observation: send the complete table")
        which: dict[str, Numbers] = {name: np.array(self._which.pop(name)) for name in list(self._which)}
        if self._groups:  # they may add texts
            which = {name: numbers.astype(np.int64) for name, numbers in which.items()}
        for name in sorted(spread(self._groups, self.texts, which)):
            self._twice.setdefault(name, self._names[name])
        for name, line in self._twice.items():
            message = f"concept{f' {name}' if name in known else ''} is said twice of one observation, differently: say it once"
            found.add("150/007", message, line)
        if found.refused:
            return None
        columns = {}
        for name in list(which):
            numbers = which.pop(name)
            if name in self._names:
                texts = [plain(name, text) for text in self.texts[name]] if plain else list(self.texts[name])
                self.texts[name] = {}
                numbers[numbers == UNSAID] = len(texts)
                columns[name] = [*texts, ""], numbers
        lines = np.array(self._lines, dtype=np.int64) if self._lines else np.arange(2, self._records + 2)
        return Records(wire, lines, columns)
