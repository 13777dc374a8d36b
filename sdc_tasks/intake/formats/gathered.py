"""The records of an SDMX message as they are gathered: what is said at the data set, a
group, a series or an observation.

The readers of SDMX-ML and SDMX-JSON find what a message says, and where; what makes records of it is here,
once. Each distinct text is kept once, and a record is a number for each concept, of one byte where a
concept has few texts: most have.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from sdc_tasks.intake.findings import Findings, shown
from sdc_tasks.intake.formats.groups import MEASURE, UNSAID, Group, spread, unreached
from sdc_tasks.intake.formats.records import Concepts, Numbers, Records, WireFormat
from sdc_tasks.intake.formats.sdmx_ml_alike import Stretch
from sdc_tasks.intake.formats.texts import PackedTexts
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.table import Ints

_WIDER = {127: "h", 2**15 - 1: "i"}  # where a concept has so many texts, its numbers get this type of `array`
MANY_TEXTS = 2**15  # texts of a concept; beyond them, most are new: values, mostly
_NOTES = "annotations and comments are not read: check that they hold nothing of the data"
ACTIONS = {"Append": "A", "Replace": "R", "Information": "I", "Delete": "D", "Merge": "M"}


_WITHOUT = "it has none, so send them, one without a value where there is none, or take the series away"


def _numbered() -> defaultdict[str, int]:
    """Texts, each with its number; one that is new gets the next."""
    return defaultdict(count().__next__)


class UnfitMessage(Exception):
    """The whole file is refused: the message of the finding."""


class Gathered:
    """What was read so far. `line` is where a record stands; None in a format without lines, whose records
    are counted as rows below a header.
    """

    def __init__(self, concepts: Concepts, most: int) -> None:
        self.concepts, self._most = concepts, most
        self.texts: dict[str, MutableMapping[str, int]] = {
            name: _numbered() for name in (*concepts.required, *concepts.optional, "DATAFLOW", "ACTION")
        }
        self._which: dict[str, array[int]] = {name: array("b") for name in self.texts}
        self._columns = [(name, texts, self._which[name].append) for name, texts in self.texts.items()]
        self._packed: defaultdict[str, PackedTexts] = defaultdict(PackedTexts)
        self._lines = array("i")
        self._records = 0
        self._names: dict[str, int | None] = {}  # → the line on which it stands first
        self._own: dict[str, str] = {}  # the concept of each name that the message has
        self._twice: dict[str, int | None] = {}
        self._sets: list[
            tuple[int, list[Group], int | None]
        ] = []  # the first record, the groups and the line of each data set
        self._unreached: list[Group] = []
        self._notes: tuple[int | None] | None = None

    def concept(self, name: str) -> str:
        """The concept of this name: Eurostat writes `geo` in XML too."""
        if name not in self._own:
            self._own[name] = self.concepts.own(name)
        return self._own[name]

    def named(self, said: Mapping[str, str], line: int | None = None) -> Mapping[str, str]:
        """The same under the names of the concepts."""
        found: dict[str, str] = {}
        for name, text in said.items():
            own = self.concept(name)
            if found.setdefault(own, text) != text:
                self.differs(own, line)
        return found

    def seen(self, names: Iterable[str], line: int | None = None) -> None:
        """Notes that the message has these concepts."""
        for name in names:
            self._names.setdefault(name, line)

    def differs(self, name: str, line: int | None = None) -> None:
        """Notes that a concept is said twice of one observation, differently."""
        self._twice.setdefault(name, line)

    def both(
        self, before: Mapping[str, str], more: Mapping[str, str], line: int | None = None
    ) -> dict[str, str]:
        """What is said at two levels. Where they differ in a concept, it is noted."""
        for name in before:
            if name in more and before[name] != more[name]:
                self.differs(name, line)
        return {**before, **more}

    @property
    def number(self) -> int:
        """The records so far."""
        return self._records

    def data_set(self, line: int | None = None) -> None:
        """A data set begins. What stands in it says nothing of another one."""
        self._sets.append((self._records, [], line))

    @property
    def in_set(self) -> bool:
        """Whether the data set has a record already."""
        return self._records > self._sets[-1][0]

    def note(self, line: int | None = None) -> None:
        """Something that no reader understands, where the format allows it."""
        self._notes = self._notes or (line,)

    def group(self, said: Mapping[str, str], line: int | None = None, kind: str = "a group") -> None:
        """A group, or attributes of a part of a key: what it says holds for every record of
        the data set with its dimensions.
        """
        said = self.named(said, line)
        self.above(said)
        self.seen(said, line)
        dimensions = self.concepts.dimensions
        key = {name: text for name, text in said.items() if name in dimensions}
        rest = {name: text for name, text in said.items() if name not in dimensions and name in self.texts}
        self._sets[-1][1].append(Group(key, rest, kind, line))

    def says(self, said: Mapping[str, str]) -> bool:
        """Whether anything but dimensions is said of the records."""
        return any(
            text
            for name, text in self.named(said).items()
            if name in self.texts and name not in self.concepts.dimensions
        )

    def of_known(self, names: Iterable[str]) -> None:
        """Raises UnfitMessage where one of these may be a dimension that is not in the structure."""
        if not {self.concept(name) for name in names} <= self.texts.keys():
            raise UnfitMessage(
                "a group with a concept that is not in the structure, so it is not known of which records it "
                "speaks: correct it"
            )

    def series(
        self, said: Mapping[str, str], since: int, line: int | None = None, kind: str = "a series"
    ) -> None:
        """A series ends that says this of the records that came `since`."""
        self.above(said)
        if self._records == since:
            said = self.named(said, line)
            self.seen(said, line)
            self._unreached.append(
                Group(
                    {},
                    {name: said[name] for name in said if name not in self.concepts.dimensions},
                    kind,
                    line,
                )
            )

    def above(self, said: Mapping[str, str]) -> None:
        """Raises UnfitMessage where a data set, a series or a group says a value."""
        if any(text and (name == MEASURE or self.concept(name) == MEASURE) for name, text in said.items()):
            raise UnfitMessage(
                f"{MEASURE} stands above an observation: a value stands at its own observation only"
            )

    def record(self, said: Mapping[str, str], line: int | None = None) -> None:
        """One observation with all that is said of it. Raises UnfitMessage where there are too many."""
        if self._records == self._most:
            raise UnfitMessage(
                f"the file has more than {self._most} observations: send the table and nothing else"
            )
        self._records += 1
        if line is not None:
            self._lines.append(line)
        if not said.keys() <= self._names.keys():  # a new name, or one in another case
            said = self.named(said, line)
            self.seen(said, line)
        for name, texts, append in self._columns:
            text = said.get(name)
            if text is None:
                append(UNSAID)
            elif text in texts:
                append(texts[text])
            else:
                self._first(name, text)

    def stretch(self, above: Mapping[str, str], stretch: Stretch, line: int) -> bool:
        """Many observations at once, of all of which the same is said above, the first of them on this line.
        False, with nothing done, where one says something twice or there are too many: `record` is for them.
        """
        number = len(stretch.down)
        over = [self.concept(name) for name in above]
        own = [[self.concept(name) for name in alike.names] for alike in stretch.alike]
        said_twice = any(len({*over, *mine}) < len(over) + len(mine) for mine in own)
        if said_twice or self._records + number > self._most:
            return False
        self._records += number
        lines = line + stretch.down
        self._lines.frombytes(lines.astype(self._lines.typecode).tobytes())
        for mine, alike in zip(own, stretch.alike, strict=True):
            self.seen((*over, *mine), int(lines[alike.at[0]]))
        which = self._of_stretch(own, stretch)
        for name, text in zip(over, above.values(), strict=True):
            if name in which:
                which[name][:] = self.texts[name][text]
        for name, found in which.items():
            self._widen(name)
            self._which[name].frombytes(found.astype(self._which[name].typecode).tobytes())
        return True

    def _of_stretch(self, own: Sequence[Sequence[str]], stretch: Stretch) -> dict[str, Ints]:
        """(observations,) for each concept: the numbers of its texts, UNSAID where it is not said. `own`: the
        concepts of the observations that are alike.
        """
        which: dict[str, Ints] = {
            name: np.full(len(stretch.down), UNSAID, dtype=np.int32) for name in self.texts
        }
        for names, alike in zip(own, stretch.alike, strict=True):
            for name, (texts, those) in zip(names, alike.columns, strict=True):
                if name in which:
                    which[name][alike.at] = self._numbers(name, texts)[those]
        return which

    def _numbers(self, name: str, texts: list[str]) -> Ints:
        """The number of each of these texts of a concept. Where one that holds numbers has many already, they
        are packed, and no longer compared with those before: each packed text has a number below UNSAID.
        """
        numbers = self.texts[name]
        if len(numbers) < MANY_TEXTS or name not in self.concepts.numbers:
            return np.array([numbers[text] for text in texts])
        packed = self._packed[name]
        before = len(packed)
        packed.extend(self.concepts.all_plain(name, texts))
        return UNSAID - 1 - np.arange(before, len(packed))

    def _widen(self, name: str) -> None:
        """Gives the numbers of a concept a type that holds all of its texts."""
        for most, wider in _WIDER.items():
            if len(self.texts[name]) >= most and self._which[name].itemsize < array(wider).itemsize:
                self._which[name] = array(wider, self._which[name])
                self._columns = [(each, of, self._which[each].append) for each, of in self.texts.items()]

    def _first(self, name: str, text: str) -> None:
        """A text that no record before had."""
        texts = self.texts[name]
        number = texts[text]
        self._widen(name)
        self._which[name].append(number)

    def records(self, wire: WireFormat, found: Findings) -> Records | None:
        """All that was read, with findings on what is missing, said twice or not known."""
        for each in self._unreached:
            unreached(each.kind, each.said, self.texts.keys(), each.line, found, _WITHOUT)
        if not self._records:
            found.add("140", "the message has no observation: send the complete table")
            return None
        self._compare_concepts(found)
        which: dict[str, Numbers] = {
            name: np.frombuffer(numbers, dtype=numbers.typecode) for name, numbers in self._which.items()
        }
        self._which.clear()
        self._spread(which, found)
        self._refuse_differences(found)
        if found.refused:
            return None
        if self._notes:
            found.add("140", _NOTES, self._notes[0], severity=Severity.WARNING)
            found.pass_over()
        columns = {}
        for name in list(which):
            numbers = which.pop(name)
            if name in self._names:
                columns[name] = self._column(name, numbers)
        lines = np.array(self._lines, dtype=np.int64) if self._lines else np.arange(2, self._records + 2)
        self._lines = array("i")
        return Records(wire, lines, columns)

    def _compare_concepts(self, found: Findings) -> None:
        """Adds findings for concepts that the message lacks, and for those that the domain does not have."""
        for name in self.concepts.required:
            if name not in self._names:
                found.missing(
                    f"concept {name}", "add it, at the observation, its series, a group or the data set"
                )
        known = self.texts.keys()
        for name, line in self._names.items():
            if name not in known:
                told = shown(name, known)
                found.unread(f"concept{f' {told}' if told else ''}", line)

    def _refuse_differences(self, found: Findings) -> None:
        for name, line in self._twice.items():
            message = (
                f"concept{f' {name}' if name in self.texts else ''} is said twice of one observation, "
                f"differently: say it once"
            )
            found.add("150/007", message, line)

    def _column(self, name: str, numbers: Numbers) -> tuple[Sequence[str], Numbers]:
        """The texts of a concept and the text of each record, once all is read. What was gathered of it is
        given away.
        """
        texts = self.concepts.all_plain(name, self.texts[name])
        self.texts[name] = {}
        if (unsaid := numbers == UNSAID).any():
            numbers[unsaid] = len(texts)
            texts.append("")
        if name not in self._packed:
            return texts, numbers
        packed = self._packed.pop(name)
        first = numbers >= 0
        numbers[first] += len(packed)
        np.subtract(UNSAID - 1, numbers, out=numbers, where=~first)
        packed.extend(texts)
        return packed, numbers

    def _spread(self, which: dict[str, Numbers], found: Findings) -> None:
        """Gives records what the groups of their data set say, in place. What reaches no record
        is a finding.
        """
        ends = [first for first, _, _ in self._sets[1:]] + [self._records]
        self._refuse_empty_sets(ends, found)
        for name in self._of_groups():
            self._merge(name, which)
        for end, (first, groups, _) in zip(ends, self._sets, strict=True):
            if first == end:
                continue
            mine = {name: numbers[first:end] for name, numbers in which.items()}
            plain = [replace(each, key=self._plain(each.key), said=self._plain(each.said)) for each in groups]
            for name in sorted(spread(plain, self.texts, mine, found)):
                self._twice.setdefault(name, self._names[name])

    def _refuse_empty_sets(self, ends: Sequence[int], found: Findings) -> None:
        for end, (first, _, line) in zip(ends, self._sets, strict=True):
            if first == end:
                found.add(
                    "140",
                    "a data set without an observation: send it with its observations, or take it away",
                    line,
                )

    def _of_groups(self) -> set[str]:
        """The concepts of all groups."""
        groups = [group for _, groups, _ in self._sets for group in groups]
        return {name for group in groups for name in (*group.key, *group.said)}

    def _merge(self, name: str, which: dict[str, Numbers]) -> None:
        """Numbers the texts of a concept of groups anew, as they are compared: without surrounding blanks,
        each once. Groups may add texts.
        """
        merged: dict[str, int] = {}
        at = [merged.setdefault(self.concepts.plain(name, text), len(merged)) for text in self.texts[name]]
        packed = self._packed.pop(name, PackedTexts())  # plain already; their numbers count from the end
        at += reversed([merged.setdefault(text, len(merged)) for text in packed])
        self.texts[name], which[name] = merged, np.array([*at, UNSAID], dtype=np.int64)[which[name]]

    def _plain(self, said: Mapping[str, str]) -> dict[str, str]:
        return {name: self.concepts.plain(name, text) for name, text in said.items()}
